"""Which boxes a camera can see and how far they are; which faces it cannot see."""

from collections.abc import Iterator
from contextlib import contextmanager

import moderngl
import numpy as np

from render.passes import PassContext


def frustum_planes(clip_from_world: np.ndarray) -> np.ndarray:
    """(6, 4) planes (n, d) with unit n, inside where n.x + d >= 0, of a (4, 4) camera matrix."""
    m = np.asarray(clip_from_world)
    planes = np.stack([m[3] + m[0], m[3] - m[0], m[3] + m[1], m[3] - m[1], m[3] + m[2], m[3] - m[2]])
    return planes / np.linalg.norm(planes[:, :3], axis=1, keepdims=True)


class Boxes:
    """Many axis-aligned boxes, tested together."""

    def __init__(self, low: np.ndarray, high: np.ndarray):
        """`low`, `high` (n, 3) world metres."""
        self._low = np.asarray(low, dtype=float)
        self._high = np.asarray(high, dtype=float)
        self._centre = 0.5 * (self._low + self._high)
        self._half = 0.5 * (self._high - self._low)

    def visible(self, frustum: np.ndarray) -> np.ndarray:
        """(n,) bool: not wholly outside any plane of `frustum` (6, 4)."""
        normals, offsets = frustum[:, :3], frustum[:, 3]
        reach = self._centre @ normals.T + self._half @ np.abs(normals).T + offsets
        return (reach >= 0.0).all(axis=1)

    def distance(self, eye_w: np.ndarray) -> np.ndarray:
        """(n,) m from the eye to the nearest point of each box."""
        outside = np.maximum(np.maximum(self._low - eye_w, eye_w - self._high), 0.0)
        return np.sqrt((outside * outside).sum(axis=1))


@contextmanager
def culled(context: PassContext) -> Iterator[None]:
    """Leave out back faces, except in the shadow pass: there they keep light from leaking under edges."""
    if context.name == "shadow":
        yield
        return
    context.ctx.front_face = "cw" if context.mirrored else "ccw"
    context.ctx.enable(moderngl.CULL_FACE)
    yield
    context.ctx.disable(moderngl.CULL_FACE)
    context.ctx.front_face = "ccw"
