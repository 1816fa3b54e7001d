"""Commands to the clock and the sticks: pause, single steps, speed, starting over."""

import math
from dataclasses import replace

from sim.controllers import PilotInput
from sim.platform.errors import InputError, whole
from sim.platform.values import dataclass
from sim.scene import SPEED_RANGE, Start
from sim.simulation.commands.executing import checked_start, execute
from sim.simulation.runs.scene_run import SceneRun

"""Of a start, in metres and their like."""


@dataclass(frozen=True, slots=True)
class SetPilotInput:
    """Replaces the live stick position until the next one."""

    pilot: PilotInput


@execute.register
def _(command: SetPilotInput, run: SceneRun) -> str:
    axes = (command.pilot.pitch, command.pilot.roll, command.pilot.yaw, command.pilot.throttle)
    if not all(-1.0 <= axis <= 1.0 for axis in axes):
        raise InputError(f"stick positions {axes} are refused; allowed: -1 to 1 each")
    run.sticks = command.pilot
    return ""


@dataclass(frozen=True, slots=True)
class SetPaused:
    paused: bool


@execute.register
def _(command: SetPaused, run: SceneRun) -> str:
    run.clock.forget()
    replay = run.rewind.replay
    if replay is not None and replay.at_end and not command.paused:
        if replay.opened:
            replay.seek(replay.begin_s)
        else:
            run.rewind.leave()
    run.clock.paused = command.paused
    return "paused" if command.paused else "running"


@dataclass(frozen=True, slots=True)
class SingleStep:
    """Advance every lane by `count` steps of the flown lane, then stay paused."""

    count: int = 1


@execute.register
def _(command: SingleStep, run: SceneRun) -> str:
    count = whole("count", command.count, "steps")
    run.clock.paused = True
    replay = run.rewind.replay
    if replay is not None:
        replay.step(count)
        return f"t = {replay.time_s:.4g} s"
    lane = run.flown
    if lane.running:
        run.advance_to(max(lane.time_s + count * lane.dynamics.step_s, run.clock.time_s))
    return f"t = {lane.time_s:.4g} s"


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Simulated seconds per wall second, within SPEED_RANGE. Never changes h."""

    speed: float


@execute.register
def _(command: SetSpeed, run: SceneRun) -> str:
    low, high = SPEED_RANGE
    if not low <= command.speed <= high:
        raise InputError(f"speed {command.speed:g} is refused; allowed: 1/32 to {high:g}")
    run.clock.speed = command.speed
    run.clock.forget()
    return f"speed {_speed_text(command.speed)}"


def _speed_text(speed: float) -> str:
    return (
        f"{speed:g}"
        if speed >= 1.0 or not math.isclose(1.0 / speed, round(1.0 / speed))
        else f"1/{1.0 / speed:.0f}"
    )


@dataclass(frozen=True, slots=True)
class Reset:
    """All lanes back to the scene's start. Out of a look back time goes on: it only waited there."""


@execute.register
def _(command: Reset, run: SceneRun) -> str:
    if run.rewind.replay is not None:
        run.rewind.leave()
        run.clock.paused = False
    run.reset()
    return "back at the start"


@dataclass(frozen=True, slots=True)
class StartAt:
    """All lanes begin there, now and whenever they start over."""

    start: Start


@execute.register
def _(command: StartAt, run: SceneRun) -> str:
    run.set_layout(replace(run.layout, start=checked_start(command.start)))
    run.reset()
    return "another start"
