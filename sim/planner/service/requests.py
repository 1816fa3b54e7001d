"""What panels, gizmos and scripts ask of a planning session: plain values."""

from dataclasses import dataclass

from sim.planner.task.mpc import MpcSettings
from sim.planner.task.task import Task


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
