"""Translucent surfaces: ribbons of plans, obstacles, marks."""

from collections.abc import Sequence

import moderngl
import numpy as np

from render.frame import Surface
from render.programs import Programs
from render.vertex_arrays import vertex_array

_FLOATS = 10
"""Position, normal (3 each), colour (4)."""


class Surfaces:
    """Owns one growing vertex buffer that all surfaces of a frame share."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx = ctx
        self._program = programs.load("overlay/surface.vert", "overlay/surface.frag")
        self._reserve(4096)

    def _reserve(self, vertices: int) -> None:
        self._capacity = vertices
        self._buffer = self._ctx.buffer(reserve=4 * _FLOATS * vertices, dynamic=True)
        content = [(self._buffer, "3f 3f 4f", "position", "normal", "surface_colour")]
        self._array = vertex_array(self._ctx, self._program, content)

    def draw(self, surfaces: Sequence[Surface]) -> None:
        """Draw all surfaces in their order, from both sides; those with numbers that are not finite are skipped."""
        for surface in surfaces:
            table = vertices(surface)
            if len(table) == 0:
                continue
            if len(table) > self._capacity:
                self.release()
                self._reserve(2 * len(table))
            self._buffer.orphan()
            self._buffer.write(table)
            self._array.render(moderngl.TRIANGLES, vertices=len(table))

    def release(self) -> None:
        """Free the buffer and its array."""
        self._array.release()
        self._buffer.release()


def vertices(surface: Surface) -> np.ndarray:
    """(3 n, 10) float32 rows of a surface's triangles."""
    corners = np.asarray(surface.corners_w, float).reshape(-1, 3)
    if not np.isfinite(corners).all():
        return np.zeros((0, _FLOATS), "f4")
    alpha = np.broadcast_to(np.asarray(surface.alpha, float), (len(corners),))
    colour = np.broadcast_to(np.asarray(surface.colour, float), (len(corners), 3))
    return np.ascontiguousarray(np.column_stack([corners, surface.normals_w, colour, alpha]), "f4")
