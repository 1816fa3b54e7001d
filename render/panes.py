"""Several linked pictures in one: the same camera, each following its own lane."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import moderngl
import numpy as np

from render.frame import Frame, View
from render.renderer import Renderer
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.platform.values import dataclass

Rect = tuple[int, int, int, int]
"""(x, y, width, height) px, origin bottom left."""
_GAP_PX = 2
"""Between two panes."""
_FARTHEST_M = 2000.0
"""A lane that has been flung further away, out of the world, is not followed."""


def panes(rect: Rect, count: int) -> tuple[Rect, ...]:
    """`count` (1 to 4) rectangles that share `rect`, in reading order: side by side, or two by two."""
    x, y, width, height = rect
    columns = {1: 1, 2: 2, 3: 3}.get(count, 2)
    rows = -(-count // columns)
    pane_w = (width - _GAP_PX * (columns - 1)) // columns
    pane_h = (height - _GAP_PX * (rows - 1)) // rows
    places = []
    for index in range(count):
        row, column = divmod(index, columns)
        bottom = y + height - (row + 1) * pane_h - row * _GAP_PX
        places.append((x + column * (pane_w + _GAP_PX), bottom, pane_w, pane_h))
    return tuple(places)


def linked(view: View, offset_w: np.ndarray) -> View:
    """The same camera, moved with a lane that is `offset_w` (3,) m away from the flown one."""
    if not np.isfinite(offset_w).all() or np.linalg.norm(offset_w) > _FARTHEST_M:
        return view
    back = np.eye(4)
    back[:3, 3] = -offset_w
    return View(
        eye_w=view.eye_w + offset_w, view=view.view @ back, projection=view.projection, inside=view.inside
    )


def on_screen(view: View, point_w: np.ndarray, rect: Rect) -> tuple[float, float] | None:
    """Where (px, origin bottom left) a point (3,) is seen in a picture; None behind the camera or outside."""
    clip = view.projection @ view.view @ np.append(point_w, 1.0)
    if not np.isfinite(clip).all() or clip[3] <= 0.1:
        return None
    right, up = clip[:2] / clip[3]
    if max(abs(right), abs(up)) > 1.0:
        return None
    x, y, width, height = rect
    return x + 0.5 * (1.0 + right) * width, y + 0.5 * (1.0 + up) * height


@dataclass(frozen=True, slots=True)
class Pane:
    """One of the pictures that were drawn."""

    rect: Rect
    """px of the target, origin bottom left."""
    view: View
    lane: str
    """The lane it follows; empty where it shows all."""
    frame: Frame
    """What it shows."""


def spread_along(bearing_rad: float, spread_m: float) -> tuple[float, float, float]:
    """Step (3,) m from lane to lane, to the right of who looks along the bearing."""
    return (spread_m * math.sin(bearing_rad), -spread_m * math.cos(bearing_rad), 0.0)


def pane_rects(rect: Rect, views: int, lanes: tuple[str, ...]) -> tuple[Rect, ...]:
    """Where the pictures come, no more than there are lanes."""
    return panes(rect, max(min(views, len(lanes)), 1))


def draw_panes(
    renderer: Renderer,
    target: moderngl.Framebuffer,
    scene_view: SceneView,
    view: View,
    options: ViewOptions,
    rects: tuple[Rect, ...],
    lanes: tuple[str, ...],
    *,
    wall_s: float,
    exposure: float = 1.0,
    add: Callable[[Frame], Frame] = lambda frame: frame,
    adds_up: bool = False,
) -> tuple[tuple[Pane, ...], Callable[[bool], bool]]:
    """Draw the lanes as last observed: all into one rectangle, or the first of them into one each.

    `view` follows the first lane; the others' pictures, and that of a lane shown alone, are moved with their lanes.
    `add` puts more into each frame. adds_up: a single picture is one of many that follow one another. Returned is, too,
    what has to be called for the last picture to be there, as `Renderer.begin` has it.
    """
    if renderer.size_px != rects[0][2:]:
        renderer.resize(rects[0][2:])
    split = len(rects) > 1
    places = scene_view.places_w()
    drawn: list[Pane] = []
    show: Callable[[bool], bool] = lambda again: again  # noqa: E731
    for rect, name in zip(rects, lanes, strict=False):
        followed = name if split else options.solo
        own = linked(view, places[followed] - places[lanes[0]]) if followed in places else view
        if split:
            # Alone: ghosts that turn in the same place would only hide what is compared.
            options = replace(options, solo=name, highlight=name, spread_w=(0.0, 0.0, 0.0))
        frame = add(scene_view.frame(own, options, wall_s=wall_s, exposure=exposure))
        if drawn:
            show(True)
        show = renderer.begin(frame, target, viewport=rect, adds_up=adds_up and not split)
        drawn.append(Pane(rect, own, name if split else "", frame))
    return tuple(drawn), show


def label_places(
    drawn: tuple[Pane, ...], ends_w: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> dict[str, tuple[float, float, float]]:
    """Where lanes' names belong: x and y above each, and the y of its foot, in one picture; else their corners.

    In px, origin bottom left. ends_w: by lane, its upper and lower end (3,) [m].
    """
    if drawn[0].lane:
        corners = {p.lane: (float(p.rect[0]), float(p.rect[1] + p.rect[3])) for p in drawn}
        return {lane: (x, y, y) for lane, (x, y) in corners.items()}
    found = {}
    for name, (top_w, foot_w) in ends_w.items():
        top, foot = (on_screen(drawn[0].view, end_w, drawn[0].rect) for end_w in (top_w, foot_w))
        if top is not None:
            found[name] = (*top, top[1] if foot is None else foot[1])
    return found
