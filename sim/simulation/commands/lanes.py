"""Commands to lanes: added, removed, coloured, flown by whom; references, ghosts, and the hand that pulls."""

import math
from concurrent.futures import Future
from dataclasses import replace

from sim.controllers import Controller
from sim.platform.errors import InputError, array_of, quote
from sim.platform.values import dataclass
from sim.scene.measured import Measured
from sim.scene.race import Rival
from sim.simulation.commands.executing import checked_step, execute
from sim.simulation.lanes.impulses import Pull, unpulled
from sim.simulation.lanes.snapshot import Tint
from sim.simulation.runs.reference import Ghosts
from sim.simulation.runs.scene_run import SceneRun
from sim.steppers.dynamics import Dynamics


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
    controller: Controller | None = None
    """That flies it."""


@execute.register
def _(command: AddLane, run: SceneRun) -> str:
    step_s = checked_step(command.step_s)
    kernel = run.kernels.get(run.vehicle, command.integrator)
    dynamics = Dynamics(run.vehicle, kernel, step_s)
    tint = None if command.tint is None else _tint(command.tint)
    lane = run.add_lane(
        dynamics, command.name, tint, own_pilot=command.own_pilot, controller=command.controller
    )
    return f"new lane: {lane.look.name}"


@dataclass(frozen=True, slots=True)
class RemoveLane:
    lane: str


@execute.register
def _(command: RemoveLane, run: SceneRun) -> str:
    if run.ghosts.remove(command.lane):
        return f"removed lane: {command.lane}"
    if run.rewind.replay is not None:
        run.rewind.replay.remove(command.lane)
        return f"removed lane: {command.lane}"
    lane = run.lane(command.lane)
    if lane is run.flown:
        raise InputError("the flown lane stays; allowed: any other")
    run.lanes.remove(lane)
    return f"removed lane: {lane.look.name}"


@dataclass(frozen=True, slots=True)
class SetLaneTint:
    """Recolour a lane."""

    lane: str
    tint: tuple[float, float, float]
    """Linear RGB, 0..1."""


@execute.register
def _(command: SetLaneTint, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    lane.look = replace(lane.look, tint=_tint(command.tint))
    return ""


def _tint(given: Tint) -> Tint:
    """Raises InputError for what is no colour."""
    red, green, blue = (float(part) for part in array_of("tint", given, (3,)))
    if not (min(red, green, blue) >= 0.0 and max(red, green, blue) <= 1.0):
        raise InputError(f"tint {quote(given)} is refused; allowed: 0 to 1 each")
    return red, green, blue


@dataclass(frozen=True, slots=True)
class SetLanePilot:
    """Give a comparison lane a pilot of its own, or the flown lane's controls."""

    lane: str
    own: bool


@execute.register
def _(command: SetLanePilot, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    if lane is run.flown:
        raise InputError("the flown lane has a pilot of its own; allowed: any other")
    run.set_lane_pilot(lane, own=command.own)
    return f"{lane.look.name}: {'a pilot of its own' if command.own else 'controls of the flown lane'}"


@dataclass(frozen=True, slots=True)
class SetReference:
    """Start a tight integration from the flown lane's present state, or stop it."""

    on: bool


@execute.register
def _(command: SetReference, run: SceneRun) -> str:
    run.set_reference(command.on)
    return "the reference starts here" if command.on else "no reference"


@dataclass(frozen=True, slots=True)
class KeepAccount:
    """Sum up, from now on, what controls put into the momentum of every lane and what its method loses, or stop it."""

    on: bool


@execute.register
def _(command: KeepAccount, run: SceneRun) -> str:
    run.keep_accounts(on=command.on)
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class ShowMeasured:
    """Show measured poses as a ghost beside the lanes."""

    measured: Measured
    tint: Tint | None = None
    """None: one that nothing else has."""


@execute.register
def _(command: ShowMeasured, run: SceneRun) -> str:
    return f"measured: {run.ghosts.add(command.measured, run.pictures(0.0), command.tint)}"


@dataclass(frozen=True, slots=True, eq=False)
class KeepGhosts:
    """Hand out what was measured and is shown."""

    reply: Future[Ghosts]


@execute.register
def _(command: KeepGhosts, run: SceneRun) -> str:
    command.reply.set_result(run.ghosts.copied())
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class RaceAgainst:
    """Show somebody as a ghost in the scene's race, in place of one of the same name."""

    rival: Rival


@execute.register
def _(command: RaceAgainst, run: SceneRun) -> str:
    if run.timing is None:
        raise InputError("this scene has no race; allowed: one with gates")
    run.timing.race_against(command.rival)
    return f"ghost: {command.rival.name}, {command.rival.splits_s[-1]:.2f} s"


@execute.register
def _(command: Pull, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    if not all(math.isfinite(x) for x in (*command.at_b, *command.to_w)):
        raise InputError(f"a pull of {command.body!r} to {command.to_w} is refused; allowed: finite numbers")
    refusal = unpulled(lane.dynamics.vehicle, command.body, lane.observation.layout, lane.coupling)
    if refusal:
        raise InputError(refusal)
    for other in run.lanes:
        other.pull = None
    lane.pull = command
    return ""


@dataclass(frozen=True, slots=True)
class LetGo:
    """No hand pulls any more."""


@execute.register
def _(command: LetGo, run: SceneRun) -> str:
    for lane in run.lanes:
        lane.pull = None
    return ""
