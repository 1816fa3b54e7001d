"""What panels, gizmos and scripts ask of a planning session, and plans in flight as a window has them: on or off, how
far they look ahead, how often, and towards which goal."""

from dataclasses import replace
from typing import TYPE_CHECKING

from sim.control.helm import Berth
from sim.control.mpc import MpcStatus, StartMpc
from sim.planner.result.record import PlanRecord
from sim.planner.task.mpc import RATE_HZ, MpcSettings, mpc_task
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.vehicles import Vehicle

if TYPE_CHECKING:
    from sim.planner.service.worker import PlanStream


@dataclass(frozen=True, slots=True)
class StartPlanning:
    """Plan the task as it stands, from scratch, with its iterates shown."""


@dataclass(frozen=True, slots=True)
class StopPlanning:
    """At the present iteration."""


@dataclass(frozen=True, slots=True, eq=False)
class EditTask:
    """Take another task; a plan that is there follows it at once."""

    task: Task


@dataclass(frozen=True, slots=True)
class ChooseMethod:
    """Plan with another integrator from now on; a plan that is there is made anew."""

    name: str


@dataclass(frozen=True, slots=True)
class FlyShown:
    """Fly the chosen plan."""

    tracked: bool = False
    wind_mps: tuple[float, float] = (0.0, 0.0)
    """Wind in the world, x and y, that comes on top of what was planned for."""


@dataclass(frozen=True, slots=True)
class KeepPlan:
    """Put the present plan into the list, to compare others with it."""


@dataclass(frozen=True, slots=True)
class ChoosePlan:
    """Make a plan of the list the present one, with its task and its method, to be flown or edited."""

    name: str


@dataclass(frozen=True, slots=True)
class TakeAlternative:
    """Make another way of the present plan the present one, to be flown or edited; the present one becomes another."""

    index: int


@dataclass(frozen=True, slots=True)
class ShowPlan:
    """Draw a plan of the list in the scene, or leave it out."""

    name: str
    shown: bool


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """Out of the list, and its file too."""

    name: str


@dataclass(frozen=True, slots=True)
class SavePlan:
    """Write a plan of the list into the user's folder."""

    name: str


@dataclass(frozen=True, slots=True)
class FlyByMpc:
    """Have the vehicle flown by plans that are made anew all the time."""


@dataclass(frozen=True, slots=True)
class LeaveMpc:
    """Give it back to the pilot of its flight mode."""


@dataclass(frozen=True, slots=True)
class SetMpc:
    """How such plans are made from now on."""

    how: MpcSettings
    rate_hz: float


PlanRequest = (
    StartPlanning
    | StopPlanning
    | EditTask
    | ChooseMethod
    | FlyShown
    | KeepPlan
    | ChoosePlan
    | TakeAlternative
    | ShowPlan
    | DeletePlan
    | SavePlan
    | FlyByMpc
    | LeaveMpc
    | SetMpc
)


@dataclass(frozen=True, slots=True, eq=False)
class MpcView:
    """What there is to see of it."""

    how: MpcSettings
    rate_hz: float = RATE_HZ
    """Plans a second at most."""
    on: bool = False
    seen: MpcStatus | None = None
    """As the simulation had it last; None before it flies."""


class MpcControl:
    """Owns the process that plans, from the first time on that it is switched on."""

    def __init__(self, how: MpcSettings, rate_hz: float = RATE_HZ) -> None:
        self.view = MpcView(how, rate_hz)
        self._stream: PlanStream | None = None
        self._followed: tuple[Task, MpcSettings] | None = None

    def begin(self, vehicle: Vehicle, task: Task, *, plan: PlanRecord | None = None) -> StartMpc:
        """What the simulation is to be told. plan: what the first of such plans begins with."""
        from sim.planner.service.worker import PlanStream  # with all that solves, which few windows need

        if self._stream is None:
            self._stream = PlanStream(mpc_task(vehicle, task, self.view.how), self.view.rate_hz)
        self.view = replace(self.view, on=True, seen=None)
        self._stream.guess = None if plan is None else (plan.nodes, plan.controls)
        self.follow(vehicle, task)
        return StartMpc(self._stream)

    def end(self) -> None:
        """No plans from now on; the process stays for the next time."""
        self.view = replace(self.view, on=False, seen=None)

    def change(self, request: SetMpc) -> None:
        """Of the plans that are asked for from now on."""
        self.view = replace(self.view, how=request.how, rate_hz=request.rate_hz)

    def follow(self, vehicle: Vehicle, task: Task) -> None:
        """Plans are for this task from now on: its goal, obstacles, weights and limits."""
        how, known = self.view.how, self._followed
        if self._stream is None or (known is not None and known[0] is task and known[1] == how):
            return
        self._followed = task, how
        self._stream.task = mpc_task(vehicle, task, how)
        self._stream.rate_hz, self._stream.berth = self.view.rate_hz, None
        if vehicle.looks is not None and task.goal.rotation != "free":
            heading_rad, x, y = task.goal.state.node[vehicle.node_layout.pose].tolist()
            self._stream.berth = Berth((x, y), heading_rad)

    def observe(self, status: MpcStatus | None) -> None:
        """Take note of how it goes in the present, and of its end: another pilot may have been chosen."""
        if not self.view.on:
            return
        if status is None and self.view.seen is not None:
            self.end()
        else:
            self.view = replace(self.view, seen=status)

    def close(self) -> None:
        """End the process; the simulation has to be over, or flown otherwise."""
        if self._stream is not None:
            self._stream.close()
