"""Several linked pictures in one: the same camera, each following its own lane."""

import numpy as np

from render.frame import View

Rect = tuple[int, int, int, int]
"""(x, y, width, height) px, origin bottom left."""
_FARTHEST_M = 2000.0
"""A lane that has been flung further away, out of the world, is not followed."""


def panes(rect: Rect, count: int, *, gap_px: int = 2) -> tuple[Rect, ...]:
    """`count` (1 to 4) rectangles that share `rect`, in reading order: side by side, or two by two."""
    x, y, width, height = rect
    columns = {1: 1, 2: 2, 3: 3}.get(count, 2)
    rows = -(-count // columns)
    pane_w = (width - gap_px * (columns - 1)) // columns
    pane_h = (height - gap_px * (rows - 1)) // rows
    places = []
    for index in range(count):
        row, column = divmod(index, columns)
        bottom = y + height - (row + 1) * pane_h - row * gap_px
        places.append((x + column * (pane_w + gap_px), bottom, pane_w, pane_h))
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
