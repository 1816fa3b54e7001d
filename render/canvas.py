"""A picture off the screen, to be read back."""

import moderngl
import numpy as np


def unbind(ctx: moderngl.Context) -> None:
    """Bind the default framebuffer: one that is released while bound makes the next one made an error."""
    ctx.detect_framebuffer(0).use()


class Canvas:
    """An encoded RGB framebuffer of one size."""

    def __init__(self, ctx: moderngl.Context, size_px: tuple[int, int]):
        self._ctx = ctx
        self._texture = ctx.texture(size_px, 4)
        self.framebuffer = ctx.framebuffer([self._texture])

    def image(self) -> np.ndarray:
        """(ny, nx, 3) uint8, top row first."""
        pixels = np.frombuffer(self.framebuffer.read(components=3, alignment=1), dtype=np.uint8)
        return pixels.reshape(self.framebuffer.height, self.framebuffer.width, 3)[::-1]

    def release(self) -> None:
        """Free the framebuffer."""
        unbind(self._ctx)
        self.framebuffer.release()
        self._texture.release()
