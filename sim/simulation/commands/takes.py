"""Commands to what is recorded: look back, fly on from there, play, resimulate, keep."""

from concurrent.futures import Future

from sim.platform.errors import InputError, number
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.simulation.commands.clock import Reset, SetPaused, SetPilotInput, SetSpeed, SingleStep
from sim.simulation.commands.executing import checked_step, execute
from sim.simulation.commands.lanes import KeepGhosts, RemoveLane, ShowMeasured
from sim.simulation.lanes.lane import lane_name
from sim.simulation.lanes.snapshot import LaneLook, next_tint
from sim.simulation.runs.flight_control import Hand
from sim.simulation.runs.scene_run import SceneRun, check_lane_count
from sim.steppers.dynamics import Dynamics


@dataclass(frozen=True, slots=True)
class Scrub:
    """Pause and show the recording at a moment [s of simulated time]; what is simulated waits."""

    time_s: float


@execute.register
def _(command: Scrub, run: SceneRun) -> str:
    run.rewind.look_back(number("moment", command.time_s))
    run.clock.paused = True
    return ""


@dataclass(frozen=True, slots=True)
class BackToNow:
    """Show the present again; it stays paused."""


@execute.register
def _(command: BackToNow, run: SceneRun) -> str:
    if run.rewind.replay is not None:
        run.rewind.leave()
        run.clock.paused = True
    return ""


@dataclass(frozen=True, slots=True)
class Retake:
    """Go on from the moment that is shown: all lanes are put back to it, to the bit."""

    paused: bool = True
    """Wait there; else time goes on at once."""


@execute.register
def _(command: Retake, run: SceneRun) -> str:
    retake(run)
    run.clock.paused = command.paused
    return f"back at t = {run.clock.time_s:.2f} s, and {'paused' if command.paused else 'flying on'}"


def retake(run: SceneRun) -> None:
    """All lanes to the moment that is shown, to the bit; who was not there yet starts from the flown one.

    Pilots begin anew. The clock stands still.
    """
    replay = run.rewind.replay
    if replay is None:
        raise InputError("nothing is shown to go on from: go back in time first")
    moment = replay.moment()
    vehicle, now_s = moment.segment.vehicle, moment.time_s
    each, other = run.dynamics_for(vehicle), vehicle.name != run.vehicle.name
    run.comparison.prepare(vehicle)
    run.rewind.put_away()
    run.rewind.leave()
    if run.control.plan is not None:
        run.control.now = Hand()
    run.clock.time_s, run.clock.paused = now_s, True
    run.clock.forget()
    run.vehicles[vehicle.name] = vehicle
    for lane, dynamics in zip(run.lanes, each, strict=True):
        if not replay.put(lane, now_s):
            node, footing = run.flown.node.copy(), run.flown.footing.again()
            lane.restart(node, lane.pilot, now_s, dynamics=dynamics, footing=footing)
    flown = run.flown
    known_s = now_s + flown.controls_left_s
    run.history.clear()
    for time_s, controls in replay.inputs(min(lane.time_s for lane in run.lanes), moment):
        run.history.record(time_s, controls, known_s)
    if flown.dynamics.every_step:
        flown.swap(Dynamics(vehicle, flown.dynamics.kernel, flown.dynamics.step_s), flown.footing)
    run.control.suit(vehicle, other=other)
    for lane in run.lanes:
        lane.pilot = run.pilot(lane)
    run.comparison.restart(vehicle, flown.footing, flown.node, now_s)


@dataclass(frozen=True, slots=True, eq=False)
class PlayTake:
    """Show a take instead of the present, from its beginning."""

    take: Take
    paused: bool = False


@execute.register
def _(command: PlayTake, run: SceneRun) -> str:
    run.rewind.play(command.take)
    run.clock.forget()
    run.clock.paused = command.paused
    return ", ".join(part for part in (f"take: {command.take.name}", command.take.note) if part)


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


@execute.register
def _(command: Resimulate, run: SceneRun) -> str:
    step_s = None if command.step_s is None else checked_step(command.step_s)
    rewind = run.rewind
    present = rewind.replay is None
    if present:
        rewind.look_back(rewind.span_s[1])
    replay = rewind.replay
    assert replay is not None
    looks = replay.looks
    check_lane_count(len(looks))
    take = replay.take
    name = command.name
    if not name:
        name = lane_name(command.integrator or take.integrator.name, step_s or take.step_s)
        name += "".join(f" {key}={value}" for key, value in command.parameters)
    while name in {look.name for look in looks}:
        name += " again"
    tint = next_tint(look.tint for look in looks)
    replay.resimulate(LaneLook(name, tint, ghost=True), command.integrator, step_s, dict(command.parameters))
    run.clock.paused = run.clock.paused or present
    return ", ".join(part for part in (f"resimulated: {name}", take.note) if part)


@dataclass(frozen=True, slots=True, eq=False)
class KeepTake:
    """Hand out what is recorded of a lane, or of what is shown."""

    reply: Future[Take]
    """Gets the take, or an InputError."""
    lane: str = ""
    """Empty: the flown one."""


@execute.register
def _(command: KeepTake, run: SceneRun) -> str:
    rewind = run.rewind
    try:
        take = rewind.recorded(command.lane) if rewind.replay is None else rewind.replay.named(command.lane)
    except InputError as refusal:
        command.reply.set_exception(refusal)
        return ""
    command.reply.set_result(take)
    return ""


KEEP_LOOKING = (
    BackToNow,
    KeepGhosts,
    KeepTake,
    PlayTake,
    RemoveLane,
    Reset,
    Resimulate,
    Retake,
    Scrub,
    SetPaused,
    SetPilotInput,
    SetSpeed,
    ShowMeasured,
    SingleStep,
)
"""Commands that mean what is shown, or whether anything is; all others mean the present, and go back to it first."""
