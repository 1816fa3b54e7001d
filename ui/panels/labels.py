"""Names of the lanes over the scene: above each vehicle, or in the corner of its own picture."""

from imgui_bundle import imgui

from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.context import PanelContext
from ui.panels.placing import Box, overlap, placed

Places = dict[str, tuple[float, float, float]]
"""By lane name: x and y of the place of its name, y of the lane's foot, logical units, origin top left."""
WAIST = 0.5
"""Of a lane's height: the width about its middle that no name covers."""

OVER_THE_SCENE = (
    "caption",
    "key_hint",
    "hud/heading",
    "hud/numbers",
    "hud/badges",
    "hud/minimap",
    "hud/pursuit",
    "race",
    "past",
    "goals",
)


def draw(places: Places, snapshot: Snapshot, context: PanelContext, *, split: bool) -> None:
    """Each lane's name beside its colour, what has become of it where it has a picture of its own, or why it stopped.

    Within the scene, clear of its caption, of the instruments and of one another, as far as there is room.
    """
    pen = imgui.get_background_draw_list()
    row, pad = imgui.get_text_line_height(), context.px(5.0)
    chip = context.px(5.0)
    taken = [context.rects[name] for name in OVER_THE_SCENE if name in context.rects]
    figures = [] if split else [_figure(*place) for place in places.values()]
    for lane in snapshot.lanes:
        if lane.name not in places:
            continue
        lines = _lines(lane, split=split)
        width = max(imgui.calc_text_size(text).x for text, _ in lines) + chip + 3.0 * pad
        height = row * len(lines) + 1.2 * pad
        x, y, _ = places[lane.name]
        corner = (x + context.px(8.0), y + context.px(8.0)) if split else (x - width / 2.0, y - height)
        wanted = (*corner, width, height)
        box = placed(wanted, _room(context), taken + figures, step=0.5 * row)
        if any(overlap(box, other) for other in taken):  # rather on a vehicle than on what is read
            box = placed(wanted, _room(context), taken, step=0.5 * row)
        taken.append(box)
        context.rects[f"label/{lane.name}"] = box
        left, top = box[:2]
        low, high = (left, top), (left + width, top + height)
        pen.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.72), context.px(4.0))
        pen.add_rect_filled(low, (left + chip, high[1]), theme.packed(line_colour(lane)), context.px(2.0))
        for number, (text, colour) in enumerate(lines):
            pen.add_text((left + chip + pad, top + 0.6 * pad + number * row), theme.packed(colour), text)


def _figure(x: float, y: float, foot: float) -> Box:
    """About what is seen of a lane."""
    tall = max(foot - y, 0.0)
    return x - 0.5 * WAIST * tall, y, WAIST * tall, tall


def _room(context: PanelContext) -> Box:
    x, y, width, height = context.scene_rect
    edge = context.px(4.0)
    return x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge


def _lines(lane: LaneSnapshot, *, split: bool) -> list[tuple[str, theme.Colour]]:
    title = lane.name if lane.measured else f"{lane.integrator}, h = {step_text(lane.step_s)}"
    lines = [(title, line_colour(lane))]
    if lane.status is not LaneStatus.RUNNING:
        lines.append((f"{lane.status.value} at t = {lane.time_current_s:.2f} s", theme.DANGER))
    elif split and lane.deviation is not None:
        lines.append((off_text(lane), theme.INK))
    return lines


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
