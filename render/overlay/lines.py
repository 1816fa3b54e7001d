"""Polylines of constant width in pixels, mitred and anti-aliased by their own fall-off."""

from collections.abc import Sequence

import moderngl
import numpy as np

from render.frame import Polyline
from render.programs import Programs
from render.vertex_arrays import vertex_array

_FLOATS = 14
"""Point, previous, next (3 each), side, alpha, colour (3)."""
_LEAST_M = 1e-4


class Lines:
    """Owns one growing vertex buffer that all lines of a frame share."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, supersampling: int):
        """`supersampling`: of the picture, whose lines are as wide as without."""
        self._ctx, self._supersampling = ctx, supersampling
        self._program = programs.load("overlay/line.vert", "overlay/line.frag")
        self._reserve(4096)

    def _reserve(self, vertices: int) -> None:
        self._capacity = vertices
        self._buffer = self._ctx.buffer(reserve=4 * _FLOATS * vertices, dynamic=True)
        names = ("point", "previous", "next", "side", "alpha", "line_colour")
        self._array = vertex_array(self._ctx, self._program, [(self._buffer, "3f 3f 3f 1f 1f 3f", *names)])

    def draw(self, lines: Sequence[Polyline]) -> None:
        """Draw all lines; those of fewer than two distinct finite points are skipped."""
        for line in lines:
            strip = line_strip(line)
            if len(strip) == 0:
                continue
            if len(strip) > self._capacity:
                self.release()
                self._reserve(2 * len(strip))
            self._buffer.orphan()
            self._buffer.write(strip)
            self._program["half_width_px"].value = 0.5 * self._supersampling * line.width_px
            self._array.render(moderngl.TRIANGLE_STRIP, vertices=len(strip))

    def release(self) -> None:
        """Free the buffer and its array."""
        self._array.release()
        self._buffer.release()


def line_strip(line: Polyline) -> np.ndarray:
    """(2 n, 14) float32 triangle strip; the shader spreads the two vertices of a point sideways on the screen."""
    points = np.asarray(line.points_w, float).reshape(-1, 3)
    alpha = np.broadcast_to(np.asarray(line.alpha, float), (len(points),))
    keep = np.isfinite(points).all(axis=1)
    points, alpha = points[keep], alpha[keep]
    if len(points) > 1:
        step = np.linalg.norm(np.diff(points, axis=0), axis=1)
        keep = np.concatenate([[True], step > _LEAST_M])
        points, alpha = points[keep], alpha[keep]
    if len(points) < 2:
        return np.zeros((0, _FLOATS), "f4")
    before = np.vstack([2 * points[0] - points[1], points[:-1]])
    after = np.vstack([points[1:], 2 * points[-1] - points[-2]])
    colour = np.broadcast_to(np.asarray(line.colour, float), (len(points), 3))
    one_side = np.column_stack([points, before, after, np.ones(len(points)), alpha, colour])
    strip = np.repeat(one_side, 2, axis=0).astype("f4")
    strip[1::2, 9] = -1.0
    return np.ascontiguousarray(strip)
