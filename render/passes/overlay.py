"""Surfaces, lines and arrows drawn over the scene, hidden by what stands before them.

Arrows are solid, of a thickness that stays legible from afar; lines have a constant width in pixels, are mitred and
anti-aliased by their own fall-off; surfaces are translucent.
"""

from collections.abc import Sequence
from contextlib import ExitStack

import moderngl
import numpy as np

from render.frame import Arrow, Frame, Polyline, Surface
from render.passes.targets import PassContext
from render.programs import Programs, uniform, vertex_array

_SIDES = 12
_MOST = 128


class Arrows:
    """Owns the arrow mesh and an instance buffer."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx = ctx
        self._mesh = ctx.buffer(_arrow_mesh())
        self._instances = ctx.buffer(reserve=_MOST * 36, dynamic=True)
        content = [
            (self._mesh, "3f 3f 1f", "position", "normal", "head"),
            (self._instances, "3f 3f 3f/i", "origin", "vector", "arrow_colour"),
        ]
        self._array = vertex_array(ctx, programs.load("overlay/arrow.vert", "overlay/arrow.frag"), content)

    def draw(self, arrows: Sequence[Arrow]) -> None:
        """Draw all arrows that are finite and longer than nothing; those that are seen through all at last."""
        self._draw([arrow for arrow in arrows if not arrow.through])
        self._ctx.disable(moderngl.DEPTH_TEST)
        self._draw([arrow for arrow in arrows if arrow.through])
        self._ctx.enable(moderngl.DEPTH_TEST)

    def _draw(self, arrows: Sequence[Arrow]) -> None:
        rows = [(*arrow.origin_w, *arrow.vector_w, *arrow.colour) for arrow in arrows]
        table = np.array(rows, "f4").reshape(-1, 9)
        long = np.linalg.norm(table[:, 3:6], axis=1) > 1e-3
        table = table[np.isfinite(table).all(axis=1) & long][:_MOST]
        if len(table) == 0:
            return
        self._instances.orphan()
        self._instances.write(np.ascontiguousarray(table))
        self._ctx.enable(moderngl.CULL_FACE)
        self._array.render(moderngl.TRIANGLES, instances=len(table))
        self._ctx.disable(moderngl.CULL_FACE)

    def release(self) -> None:
        """Free mesh, instances and array."""
        for owned in (self._array, self._instances, self._mesh):
            owned.release()


def _arrow_mesh() -> np.ndarray:
    """(n, 7) float32 triangles along +z: position (radius 1 = shaft), normal, head; z is 0..1 along the shaft
    for head = 0 and along the head for head = 1."""
    angle = np.linspace(0, 2 * np.pi, _SIDES + 1)
    c, s = np.cos(angle), np.sin(angle)
    rows = []
    for k in range(_SIDES):
        (c0, s0), (c1, s1) = (c[k], s[k]), (c[k + 1], s[k + 1])
        shaft = [(c0, s0, 0), (c1, s1, 0), (c1, s1, 1), (c0, s0, 1)]
        normals = [(c0, s0, 0), (c1, s1, 0), (c1, s1, 0), (c0, s0, 0)]
        for i in (0, 1, 2, 0, 2, 3):
            rows.append([*shaft[i], *normals[i], 0.0])
        cone = [(2.6 * c0, 2.6 * s0, 0), (2.6 * c1, 2.6 * s1, 0), (0, 0, 1)]
        slant = [(0.9 * c0, 0.9 * s0, 0.43), (0.9 * c1, 0.9 * s1, 0.43), (0.9 * c0, 0.9 * s0, 0.43)]
        rows += [[*cone[i], *slant[i], 1.0] for i in range(3)]
        rows += [[*p, 0, 0, -1, 1.0] for p in ((0, 0, 0), cone[1], cone[0])]
        rows += [[*p, 0, 0, -1, 0.0] for p in ((0, 0, 0), (c1, s1, 0), (c0, s0, 0))]
    return np.array(rows, "f4")


_LINE_FLOATS = 14
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
        self._buffer = self._ctx.buffer(reserve=4 * _LINE_FLOATS * vertices, dynamic=True)
        names = ("point", "previous", "next", "side", "alpha", "line_colour")
        self._array = vertex_array(self._ctx, self._program, [(self._buffer, "3f 3f 3f 1f 1f 3f", *names)])

    def draw(self, lines: Sequence[Polyline]) -> None:
        """Draw all lines, those that are seen through all at last; what has fewer than two distinct finite points is
        skipped."""
        self._draw([line for line in lines if not line.through])
        self._ctx.disable(moderngl.DEPTH_TEST)
        self._draw([line for line in lines if line.through])
        self._ctx.enable(moderngl.DEPTH_TEST)

    def _draw(self, lines: Sequence[Polyline]) -> None:
        for line in lines:
            strip = line_strip(line)
            if len(strip) == 0:
                continue
            if len(strip) > self._capacity:
                self.release()
                self._reserve(2 * len(strip))
            self._buffer.orphan()
            self._buffer.write(strip)
            uniform(self._program, "half_width_px").value = 0.5 * self._supersampling * line.width_px
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
        return np.zeros((0, _LINE_FLOATS), "f4")
    before = np.vstack([2 * points[0] - points[1], points[:-1]])
    after = np.vstack([points[1:], 2 * points[-1] - points[-2]])
    colour = np.broadcast_to(np.asarray(line.colour, float), (len(points), 3))
    one_side = np.column_stack([points, before, after, np.ones(len(points)), alpha, colour])
    strip = np.repeat(one_side, 2, axis=0).astype("f4")
    strip[1::2, 9] = -1.0
    return np.ascontiguousarray(strip)


_SURFACE_FLOATS = 10
"""Position, normal (3 each), colour (4)."""


class Surfaces:
    """Owns one growing vertex buffer that all surfaces of a frame share."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx = ctx
        self._program = programs.load("overlay/surface.vert", "overlay/surface.frag")
        self._reserve(4096)

    def _reserve(self, vertices: int) -> None:
        self._capacity = vertices
        self._buffer = self._ctx.buffer(reserve=4 * _SURFACE_FLOATS * vertices, dynamic=True)
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
        return np.zeros((0, _SURFACE_FLOATS), "f4")
    alpha = np.broadcast_to(np.asarray(surface.alpha, float), (len(corners),))
    colour = np.broadcast_to(np.asarray(surface.colour, float), (len(corners), 3))
    return np.ascontiguousarray(np.column_stack([corners, surface.normals_w, colour, alpha]), "f4")


class Overlay:
    """Draws a frame's surfaces, polylines and arrows in the blended pass."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, supersampling: int = 1):
        self._stack = ExitStack()
        self._surfaces = Surfaces(ctx, programs)
        self._stack.callback(self._surfaces.release)
        self._lines = Lines(ctx, programs, supersampling)
        self._stack.callback(self._lines.release)
        self._arrows = Arrows(ctx, programs)
        self._stack.callback(self._arrows.release)

    def draw(self, frame: Frame, context: PassContext) -> None:
        """Draw in the pass "blend"; other passes show no overlay."""
        if context.name != "blend":
            return
        self._surfaces.draw(frame.surfaces)
        self._lines.draw(frame.lines)
        self._arrows.draw(frame.arrows)

    def release(self) -> None:
        """Free every GL object."""
        self._stack.close()
