"""The values under the mouse: a line through a plot, and what each lane had there."""

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.snapshot import LaneSnapshot, LaneStatus
from ui import theme
from ui.colours import line_colour
from ui.panels.caption import outcome
from ui.panels.context import PanelContext
from ui.panels.labels import step_text


def draw(
    lanes: list[LaneSnapshot], channel: str, unit: str, context: PanelContext, times: float = 1.0
) -> None:
    """Within a plot over simulated time; nothing while the mouse is elsewhere. `times`: to that unit."""
    corner, size, mouse = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_mouse_pos()
    inside = corner.x <= mouse.x <= corner.x + size.x and corner.y <= mouse.y <= corner.y + size.y
    if not (inside and imgui.is_window_hovered()):
        return
    time_s = float(implot.pixels_to_plot(mouse).x)
    line = implot.Spec()
    line.line_color, line.line_weight = imgui.ImVec4(*theme.MUTED), context.px(1.0)
    implot.plot_inf_lines("##under the mouse", np.array([time_s]), line)
    if not imgui.begin_tooltip():
        return
    imgui.text_unformatted(f"t = {time_s:.2f} s")
    for lane in lanes:
        imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
        imgui.same_line()
        imgui.text_unformatted(
            f"{lane.integrator} {step_text(lane.step_s)}: {told(lane, channel, unit, time_s, context, times)}"
        )
    imgui.end_tooltip()


def told(
    lane: LaneSnapshot, channel: str, unit: str, time_s: float, context: PanelContext, times: float = 1.0
) -> str:
    """A lane's value at a time, or what had become of it by then."""
    if lane.status is not LaneStatus.RUNNING and time_s > lane.time_current_s:
        return outcome(lane)
    value = times * context.histories[lane.name].at(channel, time_s)
    return f"{value:.4g} {unit}".rstrip() if np.isfinite(value) else "nothing known"
