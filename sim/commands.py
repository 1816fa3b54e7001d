"""What panels, keys, planner and scripts ask of the simulation: plain values put in its queue.

Every command is carried out between two steps by the simulation thread. One that cannot be
(unknown name, value out of range) changes nothing and is answered in `Snapshot.message`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.control.course import FollowCourse
from sim.control.mpc.plans import StartMpc
from sim.control.pilot import PilotInput
from sim.control.plan_following import FlyPlan

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sim.recordings import Take
    from sim.scene.measured import Measured
    from sim.scene.race_timing import Rival
    from sim.scene.tables import Start
    from sim.vehicle_config.registry import Renewal

__all__ = [
    "SPEED_RANGE",
    "AddLane",
    "BackToNow",
    "Command",
    "FlyPlan",
    "FollowCourse",
    "GiveUpWaiting",
    "KeepTake",
    "LetGo",
    "PilotInput",
    "PlayTake",
    "Pull",
    "RaceAgainst",
    "RemoveLane",
    "RenewVehicle",
    "Reset",
    "Resimulate",
    "Retake",
    "Scrub",
    "SetDemo",
    "SetFlightMode",
    "SetIntegrator",
    "SetLanePilot",
    "SetLaneTint",
    "SetParameter",
    "SetPaused",
    "SetPilotInput",
    "SetReference",
    "SetSpeed",
    "SetStep",
    "SetVehicle",
    "ShowMeasured",
    "SingleStep",
    "StartAt",
    "StartMpc",
    "StopMpc",
    "StopPlan",
]


@dataclass(frozen=True, slots=True)
class SetVehicle:
    """Swap the vehicle of all lanes; the new one starts where the old one was."""

    name: str
    parameters: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    """(name, value in SI units) that it takes up; all others are as it had them last."""
    integrators: tuple[tuple[str, str], ...] = ()
    """(lane, method) that it begins with there; other lanes keep theirs where those serve it."""


@dataclass(frozen=True, slots=True)
class RenewVehicle:
    """A vehicle of one's own takes the place of the one of that name: its files have changed."""

    renewal: "Renewal"


@dataclass(frozen=True, slots=True)
class SetParameter:
    """One vehicle parameter in SI units, on all lanes."""

    name: str
    value: float | tuple[float, ...]
    vehicle: str = ""
    """That it is meant for, which has to be the present one; empty: whichever is flown."""


@dataclass(frozen=True, slots=True)
class SetIntegrator:
    """Swap the integrator of a lane in flight; pose and node velocity are kept."""

    name: str
    lane: str = ""
    """Empty: the flown lane."""


@dataclass(frozen=True, slots=True)
class SetStep:
    """Change h of a lane in flight [s]; pose and node velocity are kept."""

    step_s: float
    lane: str = ""


@dataclass(frozen=True, slots=True)
class GiveUpWaiting:
    """What waits for a kernel that is being compiled is not done after all; everything stays as it is."""


@dataclass(frozen=True, slots=True)
class AddLane:
    """A further lane from the flown lane's present state, same inputs, other method or step.

    There are `sim.scene.MOST_LANES` at most.
    """

    integrator: str
    step_s: float
    tint: tuple[float, float, float] | None = None
    name: str = ""
    own_pilot: bool = False
    """A pilot of its own flies it; else it gets the flown lane's controls, bit for bit."""


@dataclass(frozen=True, slots=True)
class RemoveLane:
    lane: str


@dataclass(frozen=True, slots=True)
class SetLaneTint:
    """Recolour a lane."""

    lane: str
    tint: tuple[float, float, float]
    """Linear RGB, 0..1."""


@dataclass(frozen=True, slots=True)
class SetLanePilot:
    """Give a comparison lane a pilot of its own, or the flown lane's controls."""

    lane: str
    own: bool


@dataclass(frozen=True, slots=True)
class SetReference:
    """Start a tight integration from the flown lane's present state, or stop it."""

    on: bool


@dataclass(frozen=True, slots=True, eq=False)
class ShowMeasured:
    """Show measured poses as a ghost beside the lanes."""

    measured: "Measured"


@dataclass(frozen=True, slots=True, eq=False)
class RaceAgainst:
    """Show somebody as a ghost in the scene's race, in place of one of the same name."""

    rival: "Rival"


@dataclass(frozen=True, slots=True)
class SetPilotInput:
    """Replaces the live stick position until the next one."""

    pilot: PilotInput


@dataclass(frozen=True, slots=True)
class SetFlightMode:
    mode: str


@dataclass(frozen=True, slots=True)
class SetDemo:
    """Hand the controls to the autopilot or take them back."""

    on: bool


@dataclass(frozen=True, slots=True)
class Pull:
    """A hand's spring between a point of a body and a place, until `LetGo` or another one."""

    lane: str
    body: str
    at_b: tuple[float, float, float]
    """Of the body, in its frame [m]."""
    to_w: tuple[float, float, float]
    """Where it is pulled to, in the world [m]."""


@dataclass(frozen=True, slots=True)
class LetGo:
    """No hand pulls any more."""


@dataclass(frozen=True, slots=True)
class StopPlan:
    """Give the vehicle back to the pilot where it is."""


@dataclass(frozen=True, slots=True)
class StopMpc:
    """Give the vehicle back to the pilot of its flight mode."""


SPEED_RANGE = (1.0 / 32.0, 8.0)
"""Simulated seconds per wall second."""


@dataclass(frozen=True, slots=True)
class SetPaused:
    paused: bool


@dataclass(frozen=True, slots=True)
class SingleStep:
    """Advance every lane by `count` steps of the flown lane, then stay paused."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Simulated seconds per wall second, within SPEED_RANGE. Never changes h."""

    speed: float


@dataclass(frozen=True, slots=True)
class Reset:
    """All lanes back to the scene's start."""


@dataclass(frozen=True, slots=True)
class StartAt:
    """All lanes begin there, now and whenever they start over."""

    start: "Start"


@dataclass(frozen=True, slots=True)
class Scrub:
    """Pause and show the recording at a moment [s of simulated time]; what is simulated waits."""

    time_s: float


@dataclass(frozen=True, slots=True)
class BackToNow:
    """Show the present again; it stays paused."""


@dataclass(frozen=True, slots=True)
class Retake:
    """Go on from the moment that is shown: all lanes are put back to it, to the bit."""

    paused: bool = True
    """Wait there; else time goes on at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PlayTake:
    """Show a take instead of the present, from its beginning."""

    take: "Take"
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Resimulate:
    """The inputs of what is shown under another method, as a ghost beside it."""

    integrator: str = ""
    """Empty: its own."""
    step_s: float | None = None
    """None: its own."""
    parameters: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    """(name, value) of those that differ."""
    name: str = ""
    """Of the ghost; empty: it is named after what differs."""


@dataclass(frozen=True, slots=True, eq=False)
class KeepTake:
    """Hand out what is recorded of a lane, or of what is shown."""

    reply: "Future[Take]"
    """Gets the take, or an InputError."""
    lane: str = ""
    """Empty: the flown one."""


Command = (
    SetPilotInput
    | SetPaused
    | SingleStep
    | SetSpeed
    | Reset
    | StartAt
    | SetIntegrator
    | GiveUpWaiting
    | SetStep
    | SetVehicle
    | RenewVehicle
    | SetParameter
    | SetFlightMode
    | SetDemo
    | AddLane
    | RemoveLane
    | SetLaneTint
    | SetLanePilot
    | SetReference
    | Pull
    | LetGo
    | FlyPlan
    | FollowCourse
    | StopPlan
    | StartMpc
    | StopMpc
    | Scrub
    | BackToNow
    | Retake
    | PlayTake
    | Resimulate
    | KeepTake
    | ShowMeasured
    | RaceAgainst
)
