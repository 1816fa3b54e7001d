"""How lanes share a picture: one for all, or linked ones beside each other, drawn by one renderer."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import moderngl
import numpy as np

from render.frame import Frame, View
from render.renderer import Renderer
from render.scene_view import SceneView, ViewOptions
from render.split import Rect, linked, on_screen, panes


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
    drawn: bool
    """False where it shows this already."""


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
    again: bool = True,
) -> tuple[Pane, ...]:
    """Draw the lanes as last observed: all into one rectangle, or the first of them into one each.

    `view` follows the first lane; the others' pictures, and that of a lane shown alone, are moved with their lanes.
    `add` puts more into each frame. If not `again`, a single picture that is like the last one is not drawn.
    """
    if renderer.size_px != rects[0][2:]:
        renderer.resize(rects[0][2:])
    split = len(rects) > 1
    places = scene_view.places_w()
    drawn = []
    for rect, name in zip(rects, lanes, strict=False):
        followed = name if split else options.solo
        own = linked(view, places[followed] - places[lanes[0]]) if followed in places else view
        if split:
            # Alone: ghosts that turn in the same place would only hide what is compared.
            options = replace(options, solo=name, highlight=name, spread_w=(0.0, 0.0, 0.0))
        frame = add(scene_view.frame(own, options, wall_s=wall_s, exposure=exposure))
        anew = renderer.draw(frame, target, viewport=rect, again=again or split)
        drawn.append(Pane(rect, own, name if split else "", frame, anew))
    return tuple(drawn)


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
