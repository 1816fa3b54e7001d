"""Draw calls during which other threads run.

Software GL finishes a picture inside the draw call that first reads it: tens of milliseconds in which moderngl holds
the interpreter's lock, so that a simulation in another thread stands still. A call through ctypes lets go of it.
"""

import ctypes

import moderngl

_DRAW_ARRAYS = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_int)


class UnlockedDraw:
    """Draws vertex arrays that have no index buffer, in one context."""

    def __init__(self, ctx: moderngl.Context) -> None:
        # Not part of moderngl's interface: where a version lacks it, arrays are drawn as ever.
        loader = getattr(ctx.mglo, "_context", None)
        self._draw = _DRAW_ARRAYS(loader.load_opengl_function("glDrawArraysInstanced")) if loader else None

    def __call__(self, array: moderngl.VertexArray, mode: int, vertices: int) -> None:
        """As `array.render(mode, vertices)`."""
        if self._draw is None:
            array.render(mode, vertices)
            return
        array.render(mode, vertices=0)  # binds program and array
        self._draw(mode, 0, vertices, 1)
