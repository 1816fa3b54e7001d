"""What the line of a recording spans, and where one gets on it. Pure."""

import math

from sim.commands import (
    SPEED_RANGE,
    BackToNow,
    Retake,
    Scrub,
    SetIntegrator,
    SetPaused,
    SetVehicle,
)
from sim.scene import Scene
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.window import theme

JUMP_S = 1.0
"""Of the keys and of the buttons beside the line."""
FLY_ON = Retake(paused=False)


def shown_s(snapshot: Snapshot) -> tuple[float, float, float]:
    """(begin, end, moment that is shown) of the line [s]."""
    look = snapshot.look_back
    if look is not None:
        return look.begin_s, look.end_s, look.time_s
    begin_s, end_s = snapshot.recorded_s
    return begin_s, end_s, end_s


def is_recorded(snapshot: Snapshot) -> bool:
    """Whether there is anything to look back at."""
    begin_s, end_s, _ = shown_s(snapshot)
    return end_s > begin_s


def in_past(snapshot: Snapshot) -> bool:
    """Whether an earlier moment of the present flight is shown, from which whatever is steered flies on."""
    return snapshot.look_back is not None and not snapshot.look_back.opened


def played_or_paused(snapshot: Snapshot) -> SetPaused | Retake:
    """Time stands still, or goes on: in the past of the present flight by flying on from there."""
    return FLY_ON if snapshot.paused and in_past(snapshot) else SetPaused(not snapshot.paused)


def jumped(snapshot: Snapshot, seconds: float) -> Scrub | BackToNow | None:
    """So far back or on along the line; on from its end is the present."""
    begin_s, end_s, at_s = shown_s(snapshot)
    look = snapshot.look_back
    if seconds > 0.0 and (look is None or at_s >= end_s):
        return BackToNow() if look is not None and not look.opened else None
    return Scrub(min(max(at_s + seconds, begin_s), end_s)) if is_recorded(snapshot) else None


def step_text(step_s: float) -> str:
    """As one writes it: 1/15 s where that is what it is, else milliseconds."""
    rate = 1.0 / step_s
    if step_s > 0.015 and abs(2.0 * rate - round(2.0 * rate)) < 1e-6:
        return f"1/{rate:g} s"
    return f"{step_s * 1e3:.4g} ms"


def off_text(lane: LaneSnapshot) -> str:
    """How far a lane is from the reference; nothing without one."""
    off = lane.deviation
    return "" if off is None else f"{length_text(off.position_m)} and {off.rotation_rad:.2g} rad off"


def length_text(metres: float) -> str:
    """With the prefix that suits it."""
    for size, unit in ((1.0, "m"), (1e-3, "mm"), (1e-6, "\N{MICRO SIGN}m"), (1e-9, "nm")):
        if metres >= size:
            return f"{metres / size:.2g} {unit}" if metres < 100.0 * size else f"{metres / size:.0f} {unit}"
    return "under 1 nm"


def real_time(snapshot: Snapshot) -> tuple[str, theme.Colour]:
    """Simulated seconds a second in words, and how worried to be about it."""
    if snapshot.paused:
        return "paused", theme.WARNING
    if math.isnan(snapshot.real_time_factor):
        return "", theme.MUTED
    colour = theme.MUTED if snapshot.real_time_factor > 0.95 else theme.WARNING
    achieved = snapshot.real_time_factor * snapshot.speed
    return f"real time \N{MULTIPLICATION SIGN} {achieved:.2f}", colour


def speed_label(speed: float) -> str:
    """'1/4x', '1x', '8x'."""
    if speed < 1.0:
        return f"1/{round(1.0 / speed)}\N{MULTIPLICATION SIGN}"
    return f"{speed:g}\N{MULTIPLICATION SIGN}"


def halved(speed: float) -> float:
    """The next lower speed, a power of two."""
    return max(speed / 2.0, SPEED_RANGE[0])


def doubled(speed: float) -> float:
    """The next higher speed, a power of two."""
    return min(speed * 2.0, SPEED_RANGE[1])


def swaps(snapshot: Snapshot) -> tuple[str, str]:
    """(method, vehicle) that the flown lane waits for; empty: none."""
    flown, method, vehicle = snapshot.lanes[0].name, "", ""
    for each in snapshot.waiting:
        match each.command:
            case SetIntegrator(name, lane) if lane in ("", flown):
                method = name
            case SetVehicle(name):
                vehicle = name
    return method, vehicle


def menu_text(present: str, coming: str) -> str:
    """Of a menu: what there is, and what takes its place once it is compiled."""
    return f"{present} \N{RIGHTWARDS ARROW} {coming} ..." if coming else present


def has_caption(scene: Scene, snapshot: Snapshot) -> bool:
    """Whether there is a caption."""
    return bool(scene.comparison.caption) and snapshot.scene == scene.name
