"""What flies as points, each as large as it is in the picture: places in a buffer, one draw call.

Drops that are too small to be a surface are white by sky and sun, fainter where they are less than a pixel wide.
"""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.passes.context import PassContext
from render.programs import Programs, uniform, vertex_array
from sim.water.picture import MOST_DROPS


class FlyingPoints:
    """Owns the buffer and the program of one kind."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        shaders: tuple[str, str],
        *,
        name: str,
        numbers: int,
        most: int,
        **constants: object,
    ) -> None:
        """`numbers` float32 of a point are the attribute `name`; of more than `most` points the rest is left out.
        constants: uniforms that stay."""
        self._ctx, self._resources, self._most, self._count = ctx, ExitStack(), most, 0
        self._buffer = ctx.buffer(reserve=most * numbers * 4, dynamic=True)
        self._program = programs.load(*shaders)
        self._constants = constants
        self._array = vertex_array(ctx, self._program, [(self._buffer, f"{numbers}f", name)])
        for resource in (self._array, self._buffer):
            self._resources.callback(resource.release)

    def take_up(self, points: np.ndarray) -> None:
        """Show points (n, numbers)."""
        self._count = min(len(points), self._most)
        if self._count:
            self._buffer.write(np.ascontiguousarray(points[: self._count], np.float32))

    def draw(self, context: PassContext) -> None:
        """In the blended pass."""
        if not self._count:
            return
        for constant, value in self._constants.items():
            uniform(self._program, constant).value = value
        uniform(self._program, "high_px").value = float(context.size_px[1])
        self._ctx.enable(moderngl.PROGRAM_POINT_SIZE)
        self._array.render(moderngl.POINTS, vertices=self._count)
        self._ctx.disable(moderngl.PROGRAM_POINT_SIZE)

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()


_DROP_M = 0.008
"""Radius."""


def drops(ctx: moderngl.Context, programs: Programs) -> FlyingPoints:
    """Of places (n, 3) [m]."""
    shaders = "spray.vert", "drop.frag"
    return FlyingPoints(ctx, programs, shaders, name="place", numbers=3, most=MOST_DROPS, drop_m=_DROP_M)
