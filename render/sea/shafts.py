"""Shafts of light in the water about an eye below its surface, where what is seen through it is known by its depth."""

import moderngl

from render.programs import Programs


class Shafts:
    """Owns the program that draws them over the scene."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._ctx = ctx
        self._array = ctx.vertex_array(programs.load("fullscreen.vert", "shafts.frag"), [])

    def draw(self) -> None:
        """In the blended pass: light is added, and taken away between them."""
        ctx = self._ctx
        ctx.disable(moderngl.DEPTH_TEST)
        ctx.blend_func = moderngl.ONE, moderngl.ONE
        self._array.render(moderngl.TRIANGLES, vertices=3)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        ctx.enable(moderngl.DEPTH_TEST)

    def release(self) -> None:
        """Free the array."""
        self._array.release()
