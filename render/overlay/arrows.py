"""Arrows for forces, velocities and frame axes: solid, of a thickness that stays legible from afar."""

from collections.abc import Sequence

import moderngl
import numpy as np

from render.frame import Arrow
from render.programs import Programs
from render.vertex_arrays import vertex_array

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
        """Draw all arrows that are finite and longer than nothing."""
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
