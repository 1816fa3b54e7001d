"""What a planning process is asked for, and what it answers."""

from dataclasses import field
from typing import TYPE_CHECKING

from sim.control.mpc import MpcRequest
from sim.planner.result.record import PlanRecord
from sim.planner.task.refusal import Refusal
from sim.planner.task.task import Task
from sim.planner.task.terrain import SafeGround
from sim.platform.values import dataclass
from sim.vehicles import Vehicle

if TYPE_CHECKING:
    from sim.planner.service.planner import Iterate
    from sim.planner.service.receding import Motion

TIME_LIMIT_S, TOUCHING_S, FOLLOWING_S = 30.0, 120.0, 2.0
"""For a plan that was asked for, for one that has to find what touches when, and for one that follows a hand: what
takes longer is looked for afresh."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanJob:
    """One thing to plan. Its ground stays behind: it is large and travels by itself, once."""

    number: int
    vehicle: Vehicle
    task: Task
    method: str
    warm: bool = False
    """Go on from `start` or else the last plan, and do not look into failures."""
    start: PlanRecord | None = None
    """What is shown, where that is not the last plan."""
    only_build: bool = False
    """Make the problem ready, so that planning will not wait for it."""
    options: dict[str, float | str] = field(default_factory=dict)
    """Of the method."""


@dataclass(frozen=True, slots=True, eq=False)
class Replan:
    """A plan for a vehicle that moves, from the last one where that is of such a task. Its ground stays behind, too."""

    request: MpcRequest
    task: Task
    guess: "Motion | None" = None
    """What a flight's first plan begins with."""


@dataclass(frozen=True, slots=True)
class SetGround:
    ground: SafeGround | None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Give up the job at hand."""


@dataclass(frozen=True, slots=True)
class Progressed:
    """An iterate of a job."""

    number: int
    iterate: "Iterate"


@dataclass(frozen=True, slots=True)
class Built:
    """The answer to a job that was only to be built."""

    number: int


@dataclass(frozen=True, slots=True)
class Planned:
    """The answer to a job, or the best one by now."""

    number: int
    record: PlanRecord
    last: bool = True
    """No better one will come."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A job that cannot be."""

    number: int
    refusal: Refusal


Answer = Progressed | Built | Planned | Refused
