"""Comparison lanes: the same vehicle and inputs under other methods or steps, as ghosts."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import AddLane, RemoveLane
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.context import PanelContext
from ui.panels.integrator import items, step_field
from ui.panels.widgets import LABEL_WIDTH, button, heading, label, menu, note, prose, right_edge, tooltip
from ui.requests import Request

STATUS_COLOURS = {
    LaneStatus.RUNNING: theme.GOOD,
    LaneStatus.DIVERGED: theme.DANGER,
    LaneStatus.CRASHED: theme.WARNING,
}


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """One row a lane, then what the next one would be."""
    requests: list[Request] = []
    prose("Ghosts start from where you are and get the same inputs, under another method or step.")
    for index, lane in enumerate(snapshot.lanes):
        requests += _row(context, lane, flown=index == 0)
    return requests + _new_lane(snapshot, context)


def _row(context: PanelContext, lane: LaneSnapshot, *, flown: bool) -> list[Request]:
    imgui.align_text_to_frame_padding()
    _swatch(context, lane)
    imgui.same_line()
    imgui.text_unformatted("flown" if flown else lane.name)
    tooltip(f"{lane.vehicle} under {lane.integrator}, h = {lane.step_s * 1e3:g} ms\n{lane.status_text}")
    imgui.same_line(context.px(118.0))
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), f"{lane.integrator}  {lane.step_s * 1e3:g} ms")
    width = context.px(26.0)
    imgui.same_line(right_edge() - width - context.px(22.0))
    imgui.text_colored(imgui.ImVec4(*STATUS_COLOURS[lane.status]), icons.ICON_FA_CIRCLE)
    note(context, f"lanes/status/{lane.name}")
    tooltip(lane.status_text or lane.status.value)
    if flown:
        return []
    imgui.same_line(right_edge() - width)
    pressed = button(
        context, f"lanes/remove/{lane.name}", icons.ICON_FA_XMARK, "Remove this lane", width=width
    )
    return [RemoveLane(lane.name)] if pressed else []


def _swatch(context: PanelContext, lane: LaneSnapshot) -> None:
    size, corner = imgui.get_frame_height(), imgui.get_cursor_screen_pos()
    centre = (corner.x + context.px(6.0), corner.y + size / 2.0)
    draw_list = imgui.get_window_draw_list()
    draw_list.add_circle_filled(centre, context.px(5.0), theme.packed(line_colour(lane)))
    imgui.dummy((context.px(12.0), size))


def _new_lane(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    new = context.new_lane
    heading(context, "Add a ghost")
    label(context, "Method")
    chosen = menu(
        context, "lanes/integrator", items(context.catalogue, snapshot.lanes[0].vehicle), new.integrator
    )
    if chosen is not None:
        new.integrator = chosen
    label(context, "Step h")
    step_s = step_field(context, "lanes/step", new.step_s)
    if step_s is not None:
        new.step_s = step_s
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + context.px(LABEL_WIDTH))
    if button(
        context, "lanes/add", f"{icons.ICON_FA_PLUS}  Add", "Start it from the present state", width=-1.0
    ):
        return [AddLane(new.integrator, new.step_s)]
    return []
