"""A map at the lower right: water, walls, what stands about, pads, the goal, who is where; and the wind's arrow."""

import math

import numpy as np
from imgui_bundle import imgui

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.world.world import World
from ui.hud.pen import Pen, Point, Vertex
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.widgets import placed

_STEP_M = 10.0
_FARTHEST_M = 120.0
_WALL_M = 14.0
"""Height above the water where the side of a canyon counts as a wall."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanOutlines:
    """Closed outlines (n, 2) [m], strips (rows, 2, 2) of two sides each, and places (n, 2)."""

    floor: np.ndarray
    """Strip between the walls of a canyon; none where there are none."""
    water: np.ndarray
    """Strip of river or lake."""
    blocks: tuple[np.ndarray, ...]
    """(4, 2) each: walls, ledges, parked cars."""
    pads: np.ndarray
    """(n, 3) x, y, radius."""
    lap: np.ndarray
    """(n, 2) middle of a closed way; none where there is none."""
    half_m: float | None
    """Of a level ground, all of which fits on a map; None where a map has to move along."""


def outlines(world: World) -> PlanOutlines | None:
    """Of a world; None where there is nothing to find one's way by."""
    pads = np.array([[*pad.centre_w[:2], pad.radius_m] for pad in world.pads]).reshape(-1, 3)
    none = np.zeros((0, 2, 2))
    if world.river is not None:
        terrain, river = world.terrain, world.river
        low = terrain.origin_m[0]
        x = np.arange(low, low + (terrain.heights.shape[1] - 1) * terrain.spacing_m, _STEP_M)
        middle = np.asarray(river.centre(x))
        side = np.array([-river.half_width_m, river.half_width_m])
        water = np.stack([np.broadcast_to(x[:, None], (len(x), 2)), middle[:, None] + side], axis=-1)
        return PlanOutlines(_between_walls(world, x, middle), water, (), pads, np.zeros((0, 2)), None)
    if world.grounds is None:
        return None
    grounds = world.grounds
    blocks = tuple(block.corners for block in grounds.blocks)
    water = none
    if grounds.lake is not None:
        (cx, cy), (hx, hy) = grounds.lake.centre_m, grounds.lake.half_m
        water = np.array([[[cx - hx, cy - hy], [cx - hx, cy + hy]], [[cx + hx, cy - hy], [cx + hx, cy + hy]]])
    return PlanOutlines(none, water, blocks, pads, grounds.lap, float(max(grounds.half_m)))


def _between_walls(world: World, x: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """(n, 2, 2) where the ground first rises above the walls' height on either side of the river."""
    assert world.river is not None
    away = np.arange(0.0, _FARTHEST_M, 2.0)
    sides = []
    for sign in (-1.0, 1.0):
        y = middle[:, None] + sign * away
        high = world.terrain.height(x[:, None] + 0.0 * away, y) > world.river.level_m + _WALL_M
        first = np.where(high.any(axis=1), high.argmax(axis=1), len(away) - 1)
        sides.append(np.stack([x, middle + sign * away[first]], axis=-1))
    return np.stack(sides, axis=1)


SIDE, MARGIN = 150.0, 14.0
AHEAD_M = 170.0
"""From the middle of a map that moves along to its edge."""
WIND, LEAST_WIND_MPS = (104.0, 36.0), 0.1
"""Size of the arrow's pane; less is still air."""
SMALLEST_SCENE = (520.0, 400.0)
FLOOR, WATER = theme.rgb(0x6E563F), theme.rgb(0x3F7386)
BLOCK, PAD, LAP = theme.rgb(0xB9A68C, 0.9), theme.rgb(0xE9E4DC, 0.9), theme.rgb(0x55504B, 0.95)


class MapFrame:
    """From world x, y to the window: x to the right, y up."""

    def __init__(self, middle_w: np.ndarray, half_m: float, corner: Point, side: float) -> None:
        self._middle_w, self._scale = np.asarray(middle_w, float)[:2], 0.5 * side / half_m
        self._centre = np.array(corner) + 0.5 * side

    def place(self, x_w: np.ndarray) -> np.ndarray:
        """(..., 2) of world places (..., 2)."""
        off = (np.asarray(x_w, float)[..., :2] - self._middle_w) * self._scale
        return self._centre + off * [1.0, -1.0]

    def length(self, metres: float) -> float:
        return metres * self._scale


def draw_map(
    outlines: PlanOutlines, snapshot: Snapshot, goal_w: np.ndarray | None, context: PanelContext
) -> None:
    """North (world y) is up; a level ground is shown whole, a canyon as far as one sees ahead."""
    x, y, width, height = context.scene_rect
    flown = snapshot.lanes[0]
    at_w = flown.T_wb[:3, 3]
    if width < context.px(SMALLEST_SCENE[0]) or height < context.px(SMALLEST_SCENE[1]):
        return
    if not np.isfinite(flown.T_wb).all():
        return
    pen = Pen.over(context)
    side, margin = pen.px(SIDE), pen.px(MARGIN)
    corner = (x + width - margin - side, y + height - margin - side)
    opposite = (corner[0] + side, corner[1] + side)
    pen.glass(corner, opposite, 10.0)
    pen.draw_list.push_clip_rect(corner, opposite, True)
    whole = outlines.half_m is not None
    frame = MapFrame(np.zeros(2) if whole else at_w, outlines.half_m or AHEAD_M, corner, side)
    _strip(pen, frame, outlines.floor, FLOOR, corner, opposite)
    _strip(pen, frame, outlines.water, WATER, corner, opposite)
    if len(outlines.lap):
        points: list[Vertex] = [imgui.ImVec2(*place) for place in frame.place(outlines.lap).tolist()]
        pen.draw_list.add_polyline(points, theme.packed(LAP), pen.px(3.0), imgui.ImDrawFlags_.closed.value)
    for block in outlines.blocks:
        _filled(pen, frame.place(block), BLOCK)
    for pad_x, pad_y, radius in outlines.pads:
        low, high = (frame.place(np.array([pad_x, pad_y]) + s * radius * np.array([1, -1])) for s in (-1, 1))
        pen.draw_list.add_rect_filled(tuple(low), tuple(high), theme.packed(PAD), 1.0)
    for lane in snapshot.lanes[:0:-1]:
        if np.isfinite(lane.T_wb).all():
            middle = frame.place(lane.T_wb[:2, 3])
            pen.draw_list.add_circle_filled(tuple(middle), pen.px(2.5), theme.packed(theme.MUTED))
    if goal_w is not None:
        _goal(pen, frame.place(goal_w[:2]), corner, opposite)
    _arrow(pen, frame.place(at_w[:2]), flown.T_wb[:2, 0])
    pen.draw_list.pop_clip_rect()
    context.rects["hud/minimap"] = (*corner, side, side)


def outline_of(places: np.ndarray, corner: Point, opposite: Point) -> np.ndarray:
    """(n, 2) around what is seen of a strip (rows, 2, 2), clockwise: imgui fills something else where it is not."""
    seen = (places.max(axis=1) >= corner).all(axis=1) & (places.min(axis=1) <= opposite).all(axis=1)
    rows = np.flatnonzero(seen)
    there = places[max(rows[0] - 1, 0) : rows[-1] + 2] if len(rows) else places[:0]
    return np.concatenate([there[:, 1], there[::-1, 0]])


def _strip(
    pen: Pen, frame: MapFrame, strip: np.ndarray, colour: theme.Colour, corner: Point, opposite: Point
) -> None:
    outline = outline_of(frame.place(strip), corner, opposite)
    if len(outline) > 2:
        points: list[Vertex] = [imgui.ImVec2(*place) for place in outline.tolist()]
        pen.draw_list.add_concave_poly_filled(points, theme.packed(colour))


def _filled(pen: Pen, places: np.ndarray, colour: theme.Colour) -> None:
    a, b, c, d = (tuple(place) for place in places)
    pen.draw_list.add_quad_filled(a, b, c, d, theme.packed(colour))


def _goal(pen: Pen, place: np.ndarray, corner: Point, opposite: Point) -> None:
    """A diamond; at the edge where it lies beyond."""
    room = pen.px(7.0)
    x, y = np.clip(place, np.array(corner) + room, np.array(opposite) - room)
    size = pen.px(5.0)
    top, right, below, left = (x, y - size), (x + size, y), (x, y + size), (x - size, y)
    pen.draw_list.add_quad_filled(top, right, below, left, theme.packed(theme.ACCENT_BRIGHT))


def _arrow(pen: Pen, place: np.ndarray, nose_w: np.ndarray) -> None:
    bearing = math.atan2(-float(nose_w[1]), float(nose_w[0]))
    size = pen.px(8.0)
    tip, left, back, right = (
        (
            float(place[0]) + r * size * math.cos(bearing + turn),
            float(place[1]) + r * size * math.sin(bearing + turn),
        )
        for turn, r in ((0.0, 1.2), (2.5, 1.0), (math.pi, 0.4), (-2.5, 1.0))
    )
    for half in ((tip, left, back), (tip, back, right)):
        pen.draw_list.add_triangle_filled(*half, theme.packed(theme.INK))


def wind_of(lane: LaneSnapshot) -> np.ndarray | None:
    """(2,) m/s in the world, level, as its parameters have it; None in still air."""
    wind = lane.parameters.get("wind")
    if not isinstance(wind, tuple) or len(wind) < 2 or max(abs(wind[0]), abs(wind[1])) < LEAST_WIND_MPS:
        return None
    return np.array(wind[:2], float)


def draw_wind(snapshot: Snapshot, context: PanelContext) -> None:
    """Where the air goes, the flown vehicle's nose being up, and how fast; above the map, or in its place.

    Not where its dial has it, as boats' have.
    """
    flown = snapshot.lanes[0]
    if "wind_x" in flown.config.instruments.dial.terms:
        return
    wind_w, nose_w = wind_of(flown), flown.T_wb[:2, 0]
    if wind_w is None or not np.isfinite(nose_w).all() or np.linalg.norm(nose_w) < 1e-6:
        return
    pen = Pen.over(context)
    x, y, width, height = context.scene_rect
    wide, tall, margin = pen.px(WIND[0]), pen.px(WIND[1]), pen.px(MARGIN)
    map_rect = context.rects.get("hud/minimap")
    foot = y + height - margin if map_rect is None else map_rect[1] - pen.px(6.0)
    names = ("hud/heading", "hud/badges", "hud/numbers", "goals", "race", "caption")
    taken = [context.rects[name] for name in names if name in context.rects]
    wanted = (x + width - margin - wide, foot - tall, wide, tall)
    left, top, *_ = placed(wanted, context.scene_rect, taken, step=pen.px(6.0))
    pen.glass((left, top), (left + wide, top + tall), 8.0)
    bearing = math.atan2(wind_w[1], wind_w[0]) - math.atan2(nose_w[1], nose_w[0])
    way = np.array([-math.sin(bearing), -math.cos(bearing)])
    across, middle = np.array([-way[1], way[0]]), np.array([left + 0.5 * tall, top + 0.5 * tall])
    size = 0.36 * tall
    tip, tail = middle + size * way, middle - size * way
    head = [tip - 0.75 * size * way + side * 0.42 * size * across for side in (-1.0, 1.0)]
    pen.line((tail[0], tail[1]), (tip[0] - 0.4 * size * way[0], tip[1] - 0.4 * size * way[1]), theme.SKY, 2.5)
    a, b, c = ((float(place[0]), float(place[1])) for place in (tip, *head))
    pen.draw_list.add_triangle_filled(a, b, c, theme.packed(theme.SKY))
    speed = f"{float(np.linalg.norm(wind_w)):.1f} m/s"
    at = (left + wide - pen.px(8.0), top + 0.5 * (tall - pen.px(14.0)))
    pen.text(at, speed, size=14.0, align=1.0)
    context.rects["hud/wind"] = (left, top, wide, tall)
