"""Drops of spray that are too small to be a surface: points, white by sky and sun, fainter where they are less than a
pixel wide."""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.passes import PassContext
from render.programs import Programs
from render.vertex_arrays import vertex_array
from sim.environment.drops import MOST_DROPS

_DROP_M = 0.008
"""Radius."""


class Drops:
    """Owns their places and the program that draws them."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._ctx, self._resources, self._count = ctx, ExitStack(), 0
        self._buffer = ctx.buffer(reserve=MOST_DROPS * 12, dynamic=True)
        self._program = programs.load("spray.vert", "drop.frag")
        self._array = vertex_array(ctx, self._program, [(self._buffer, "3f", "place")])
        for resource in (self._array, self._buffer):
            self._resources.callback(resource.release)

    def take_up(self, places_w: np.ndarray) -> None:
        """Show drops at places (n, 3) [m]."""
        self._count = len(places_w)
        if self._count:
            self._buffer.write(np.ascontiguousarray(places_w, np.float32))

    def draw(self, context: PassContext) -> None:
        """In the blended pass."""
        if not self._count:
            return
        self._program["drop_m"].value = _DROP_M
        self._program["high_px"].value = float(context.size_px[1])
        self._ctx.enable(moderngl.PROGRAM_POINT_SIZE)
        self._array.render(moderngl.POINTS, vertices=self._count)
        self._ctx.disable(moderngl.PROGRAM_POINT_SIZE)

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()
