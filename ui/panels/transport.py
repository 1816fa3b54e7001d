"""Time: play, pause, step, reset, speed, and the recording."""

import math

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SPEED_RANGE, Reset, SetSpeed, SingleStep
from sim.snapshot import Snapshot
from ui import theme
from ui.input.viewer import doubled, halved
from ui.panels import timeline
from ui.panels.context import PanelContext
from ui.panels.widgets import button, note, right_edge, tooltip
from ui.requests import Request
from ui.timeline import in_past, played_or_paused


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Buttons in one row, the clock in the next, then the recording."""
    requests: list[Request] = []
    wide, small = context.px(46.0), context.px(32.0)
    icon = icons.ICON_FA_PLAY if snapshot.paused else icons.ICON_FA_PAUSE
    keys = context.keymap
    going_on = "Fly on from here" if in_past(snapshot) else "Continue"
    doc = (going_on if snapshot.paused else "Pause") + keys.hint("pause")
    if button(context, "transport/play", icon, doc, width=wide, lit=snapshot.paused):
        requests.append(played_or_paused(snapshot))
    imgui.same_line(0.0, context.px(4.0))
    doc = "One step, then stay paused" + keys.hint("step")
    if button(context, "transport/step", icons.ICON_FA_FORWARD_STEP, doc, width=small):
        requests.append(SingleStep())
    imgui.same_line(0.0, context.px(4.0))
    doc = "Back to the start" + keys.hint("reset")
    if button(context, "transport/reset", icons.ICON_FA_ROTATE_LEFT, doc, width=small):
        requests.append(Reset())
    requests += _speed(snapshot, context)
    _clock(snapshot, context)
    return requests + timeline.draw(snapshot, context)


def _speed(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    small, field = context.px(30.0), context.px(52.0)
    imgui.same_line(right_edge() - 2.0 * small - field - context.px(6.0))
    doc = "Half the speed" + context.keymap.hint("slower")
    slower = button(
        context, "transport/speed_down", icons.ICON_FA_BACKWARD, doc, width=small,
        enabled=snapshot.speed > SPEED_RANGE[0],
    )  # fmt: skip
    if slower:
        requests.append(SetSpeed(halved(snapshot.speed)))
    imgui.same_line(0.0, context.px(3.0))
    if imgui.button(f"{speed_label(snapshot.speed)}##speed", (field, 0.0)):
        requests.append(SetSpeed(1.0))
    note(context, "transport/speed")
    tooltip(
        "Simulated seconds per second, 1/32 to 8. Slow motion takes fewer steps, never shorter ones. Click for 1."
    )
    imgui.same_line(0.0, context.px(3.0))
    doc = "Twice the speed" + context.keymap.hint("faster")
    faster = button(
        context, "transport/speed_up", icons.ICON_FA_FORWARD, doc, width=small,
        enabled=snapshot.speed < SPEED_RANGE[1],
    )  # fmt: skip
    if faster:
        requests.append(SetSpeed(doubled(snapshot.speed)))
    return requests


def _clock(snapshot: Snapshot, context: PanelContext) -> None:
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), "t")
    imgui.same_line(0.0, context.px(6.0))
    imgui.push_font(context.fonts.bold, 0.0)
    imgui.text_unformatted(f"{snapshot.clock_s:.2f} s")
    imgui.pop_font()
    text, colour = real_time(snapshot)
    width = imgui.calc_text_size(text).x
    imgui.same_line(right_edge() - width)
    imgui.text_colored(imgui.ImVec4(*colour), text)
    note(context, "transport/rtf")
    tooltip(
        "Real-time factor: achieved over asked for. Below 1 the machine cannot keep up and time is given up."
    )


def real_time(snapshot: Snapshot) -> tuple[str, theme.Colour]:
    """The real-time factor in words, and how worried to be about it."""
    if snapshot.paused:
        return "paused", theme.WARNING
    if math.isnan(snapshot.real_time_factor):
        return "", theme.MUTED
    colour = theme.MUTED if snapshot.real_time_factor > 0.95 else theme.WARNING
    return f"real time \N{MULTIPLICATION SIGN} {snapshot.real_time_factor:.2f}", colour


def speed_label(speed: float) -> str:
    """'1/4x', '1x', '8x'."""
    if speed < 1.0:
        return f"1/{round(1.0 / speed)}\N{MULTIPLICATION SIGN}"
    return f"{speed:g}\N{MULTIPLICATION SIGN}"
