"""Surfaces, lines and arrows drawn over the scene, hidden by what stands before them."""

from contextlib import ExitStack

import moderngl

from render.frame import Frame
from render.overlay.arrows import Arrows
from render.overlay.lines import Lines
from render.overlay.surfaces import Surfaces
from render.passes import PassContext
from render.programs import Programs


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


__all__ = ["Overlay"]
