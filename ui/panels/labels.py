"""Names of the lanes over the scene: above each vehicle, or in the corner of its own picture."""

from imgui_bundle import imgui

from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.context import PanelContext

Places = dict[str, tuple[float, float]]
"""By lane name: (x, y), logical units, origin top left."""


def draw(places: Places, snapshot: Snapshot, context: PanelContext, *, split: bool) -> None:
    """One line a lane in its colour, and in red why it has stopped."""
    pen = imgui.get_background_draw_list()
    row = imgui.get_text_line_height()
    taken: list[tuple[float, float, float]] = []
    for lane in snapshot.lanes:
        if lane.name not in places:
            continue
        lines = _lines(lane)
        width = max(imgui.calc_text_size(text).x for text, _ in lines)
        x, y = places[lane.name]
        left, top = (x + context.px(12.0), y + context.px(10.0)) if split else (x - width / 2.0, y - row)
        # Vehicles that are in one place would have their names on one another.
        while any(
            abs(top - t) < row * len(lines) and left < r and left + width > begin for begin, r, t in taken
        ):
            top -= 0.5 * row
        taken.append((left, left + width, top))
        pad = context.px(5.0)
        low = (left - pad, top - pad * 0.6)
        high = (left + width + pad, top + row * len(lines) + pad * 0.6)
        pen.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.72), context.px(4.0))
        for number, (text, colour) in enumerate(lines):
            pen.add_text((left, top + number * row), theme.packed(colour), text)


def _lines(lane: LaneSnapshot) -> list[tuple[str, theme.Colour]]:
    name = f"{lane.integrator}, h = {step_text(lane.step_s)}"
    lines = [(name, line_colour(lane))]
    if lane.status is not LaneStatus.RUNNING:
        lines.append((f"{lane.status.value} at t = {lane.time_current_s:.2f} s", theme.DANGER))
    return lines


def step_text(step_s: float) -> str:
    """As one writes it: 1/15 s where that is what it is, else milliseconds."""
    rate = 1.0 / step_s
    if step_s > 0.015 and abs(2.0 * rate - round(2.0 * rate)) < 1e-6:
        return f"1/{rate:g} s"
    return f"{step_s * 1e3:.4g} ms"
