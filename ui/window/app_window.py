"""The app's one window: a GL 4.1 core context, a paced frame loop, full screen, screenshots."""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter, sleep
from typing import Any

import moderngl
import numpy as np
import pyglet
from pyglet import gl

from render.errors import DisplayError
from render.quality import require_gl

LONGEST_FRAME_S = 0.1
"""A longer gap (a dragged window, a breakpoint) counts as this much wall time."""
SMALLEST = (800, 500)
_FRAME_LIMIT_HZ = 250.0
"""Frames begin no sooner one after the other."""
EXIT_DISPLAY_LOST = 1


class AppWindow(pyglet.window.Window):
    """A resizable window that calls one function a frame and knows nothing of what it shows.

    Raises DisplayError, one line, where no display or no OpenGL 4.1 is to be had.
    """

    def __init__(
        self,
        size: tuple[int, int] = (1280, 800),
        *,
        title: str = "Holonomy",
    ) -> None:
        self._frame: Callable[[float], None] | None = None
        self._frames_left: int | None = None
        self._until: Callable[[], bool] | None = None
        self._shortest_s = 1.0 / _FRAME_LIMIT_HZ
        self._stays = False
        self.apart_s = 0.0
        """Frames begin no sooner one after the other, whatever the limit."""
        self._last_s = perf_counter()
        self._open(size, title)
        self.set_minimum_size(*SMALLEST)
        self.ctx: moderngl.Context = moderngl.create_context(require=410)
        require_gl(self.ctx)
        self.on_display_lost: Callable[[], None] = lambda: None
        """Called before the process ends because there is no X server any more, which draws and answers nothing."""
        self._lost_handler = self._watch_display()

    def _open(self, size: tuple[int, int], title: str) -> None:
        # No multisampling: the scene is drawn off-screen and panels do not need it.
        config = gl.Config(  # type: ignore[abstract]  # the way to ask for one
            major_version=4, minor_version=1, forward_compatible=True, double_buffer=True, depth_size=24
        )
        try:
            super().__init__(
                *size,
                caption=title,
                resizable=True,
                vsync=True,
                config=config,
                file_drops=True,
            )
        except Exception as error:  # pyglet's platforms share no class for "no display" and "no context"
            why = f" ({error})" if str(error) else ""
            raise DisplayError(
                f"no window with OpenGL 4.1 could be opened{why}; {_what_there_is()}"
            ) from error

    def _watch_display(self) -> object:
        """On X: when the server is gone Xlib ends the process at once, unless it is told what to do instead.

        Returns what has to live as long as the window.
        """
        if not sys.platform.startswith("linux"):
            return None
        handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._display_lost)
        with suppress(OSError, AttributeError):  # there is no Xlib
            ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(handler)
        return handler

    def _display_lost(self, display: int | None) -> int:
        try:
            self.on_display_lost()
        finally:
            os._exit(EXIT_DISPLAY_LOST)  # whatever would tidy up in between would ask the server, or draw

    def _event_drag_enter(self, event: Any) -> None:
        """On X: pyglet fails where what is dragged has three types at most, which then stand in the event itself."""
        data = event.xclient.data.l
        if data[1] & 1:
            super()._event_drag_enter(event)
            return
        self._xdnd_source, self._xdnd_version = data[0], data[1] >> 24
        files = self._xdnd_atoms["text/uri-list"]
        self._xdnd_format = files if files in (data[2], data[3], data[4]) else None

    @property
    def framebuffer_px(self) -> tuple[int, int]:
        """(width, height) in physical pixels."""
        width, height = self.get_framebuffer_size()
        return int(width), int(height)

    def run(
        self,
        frame: Callable[[float], None],
        *,
        frames: int | None = None,
        until: Callable[[], bool] | None = None,
    ) -> None:
        """Call `frame(dt_s)` until the window is closed by the user, `frames` times, or until that is so after one.

        dt_s is wall time since the last frame, at most LONGEST_FRAME_S. The context is current and the
        window's framebuffer bound. What `frame` raises comes out of here. The window stays open afterwards,
        so that GL objects can still be released; then call `close()`.
        """
        self._frame, self._frames_left, self._until = frame, frames, until
        self._last_s = perf_counter()
        try:
            pyglet.app.run(interval=0)
        finally:
            self._frame = None
            # app.run leaves its redraw scheduled; a second run must not draw twice a frame.
            pyglet.clock.unschedule(pyglet.app.event_loop._redraw_windows)

    def leave(self) -> None:
        """End `run` after this frame."""
        pyglet.app.exit()

    def screenshot(self, rect_px: tuple[int, int, int, int] | None = None) -> np.ndarray:
        """(h, w, 3) uint8, top row first: what has been drawn of this frame so far.

        rect_px: (x, y, w, h) of a part, origin bottom left.
        """
        x, y, width, height = rect_px or (0, 0, *self.framebuffer_px)
        pixels = np.empty((height, width, 3), np.uint8)
        # Not by moderngl: its read of the window's framebuffer leaves a GL error behind.
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        gl.glReadPixels(x, y, width, height, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, pixels.ctypes.data)
        return np.ascontiguousarray(pixels[::-1])

    def toggle_fullscreen(self) -> None:
        self.set_fullscreen(not self.fullscreen)

    def on_draw(self) -> None:
        if self._frame is None:
            return
        dt_s = self._paced()
        screen = self.ctx.screen
        screen.use()
        screen.viewport = (0, 0, *self.framebuffer_px)
        self._frame(min(dt_s, LONGEST_FRAME_S))
        if self._frames_left is not None:
            self._frames_left -= 1
            if self._frames_left <= 0:
                self.leave()
        if self._until is not None and self._until():
            self.leave()

    def stay(self) -> None:
        """Go on showing what is shown: nothing has been drawn in this frame."""
        self._stays = True

    def flip(self) -> None:
        if self._stays:
            self._stays = False
            return
        if sys.platform == "win32" and not self.fullscreen:
            # Windows ignores the swap interval of windows; waiting for the compositor paces the loop.
            ctypes.windll.dwmapi.DwmFlush()
        super().flip()

    def _paced(self) -> float:
        """Wall seconds since the last frame, after waiting for the shortest frame time."""
        early_s = self._last_s + max(self._shortest_s, self.apart_s) - perf_counter()
        if early_s > 0.0:
            sleep(early_s)
        now_s = perf_counter()
        dt_s, self._last_s = now_s - self._last_s, now_s
        return dt_s

    def on_resize(self, width: int, height: int) -> None:
        """Nothing is kept that depends on the size: viewport and sizes are read afresh every frame."""

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        """pyglet would close the window on Escape; here no key does."""

    def on_close(self) -> None:
        """Leave the loop; the caller releases its GL objects and closes the window."""
        self.leave()


def _what_there_is() -> str:
    """In words: the OpenGL that a window without special wishes gets."""
    try:
        window = pyglet.window.Window(visible=False)
    except Exception:  # as above; no display is an answer, too
        return (
            f"no display, or no OpenGL at all, was found (DISPLAY is {os.environ.get('DISPLAY', 'not set')})"
        )
    info = window.context.get_info()
    found = f"found OpenGL {info.get_version_string()} ({info.get_renderer()})"
    window.close()
    return f"{found}; update the graphics driver"
