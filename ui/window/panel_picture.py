"""What lies around the scene as a picture of its own, drawn anew only where it has changed, and not often: software GL
pays for every pixel of it, and twice for those of a window's ground."""

import ctypes
import math
import time
import zlib
from collections.abc import Iterator

import moderngl
import numpy as np
from imgui_bundle import imgui
from pyglet import gl

from ui.window import theme

Rect = tuple[float, float, float, float]
_AT_LEAST_S, _AT_LEAST_FRAMES = 0.2, 3
"""From one picture to the next while nothing is touched."""
_BUFFERS = 3
"""Pictures after which a window that is not drawn into shows the same in each of its buffers."""
_DOCK_SPACE = "WindowOverViewport_"
"""How imgui names what lies behind all docked windows; it leaves the scene free."""


class PanelPicture:
    """Owns the picture of one window's panels. The window's GL context has to be current."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._canvas: moderngl.Framebuffer | None = None
        self._drawn: tuple[object, ...] = ()
        """What is in it."""
        self._drawn_s, self._frames = -math.inf, 0
        self._shown = 0
        """How often the window has got what is in it."""
        # Nobody promises that a window keeps what was drawn; this renderer copies it to the screen.
        self._keeps = "llvmpipe" in ctx.info["GL_RENDERER"]

    def draw(
        self, scene: Rect, scene_px: tuple[int, int, int, int], *, in_use: bool, cleared: bool = False
    ) -> None:
        """Draw imgui's frame over the window: what keeps out of the scene from the picture, all else anew.

        cleared: nothing is left of the frame before.

        scene: (x, y, w, h) in the window's coordinates, origin top left; scene_px: the same in pixels, origin bottom
        left. in_use: the picture is to be as new as the frame.
        """
        data, screen = imgui.get_draw_data(), self._ctx.screen
        panels, over = imgui.ImDrawData(), imgui.ImDrawData()
        for part in (panels, over):
            part.valid, part.owner_viewport = True, data.owner_viewport
            part.display_pos, part.display_size = data.display_pos, data.display_size
            part.framebuffer_scale, part.textures = data.framebuffer_scale, data.textures
        for drawn in data.cmd_lists:
            (panels if _keeps_out(drawn, scene) else over).add_draw_list(drawn)
        width, height = (round(data.display_size[k] * data.framebuffer_scale[k]) for k in (0, 1))
        self._keep_up((width, height), scene_px, panels, in_use=in_use)
        if cleared or not self._keeps or not all(_within(drawn, scene) for drawn in over.cmd_lists):
            self._shown = 0
        if self._shown < _BUFFERS:
            self._shown += 1
            assert self._canvas is not None
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._canvas.glo)
            gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, screen.glo)
            for rect in _around(scene_px, (width, height)):
                gl.glBlitFramebuffer(*rect, *rect, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        screen.use()
        imgui.backends.opengl3_render_draw_data(over)

    def _keep_up(
        self,
        size_px: tuple[int, int],
        scene_px: tuple[int, int, int, int],
        panels: imgui.ImDrawData,
        *,
        in_use: bool,
    ) -> None:
        now_s = time.perf_counter()
        if self._canvas is not None and self._canvas.size != size_px:
            self.release()
        self._frames += 1
        early = now_s - self._drawn_s < _AT_LEAST_S or self._frames < _AT_LEAST_FRAMES
        if early and not in_use and self._canvas is not None and self._drawn[:1] == (scene_px,):
            return
        wanted = scene_px, *(_content(drawn) for drawn in panels.cmd_lists)
        if wanted == self._drawn:
            return
        if self._canvas is None:
            self._canvas = self._ctx.framebuffer([self._ctx.renderbuffer(size_px)])
        self._canvas.use()
        self._canvas.clear(*theme.GROUND[:3])
        imgui.backends.opengl3_render_draw_data(panels)
        self._drawn, self._drawn_s, self._frames, self._shown = wanted, now_s, 0, 0

    def release(self) -> None:
        """Free the picture."""
        if self._canvas is not None:
            self._ctx.screen.use()
            colour = self._canvas.color_attachments[0]
            self._canvas.release()
            colour.release()
        self._canvas, self._drawn = None, ()


def _keeps_out(drawn: imgui.ImDrawList, scene: Rect) -> bool:
    """Whether nothing of it can be in the scene's part of the window."""
    if drawn._owner_name.startswith(_DOCK_SPACE):
        return True
    x, y, width, height = scene
    clips = [command.clip_rect for command in drawn.cmd_buffer if command.elem_count]
    return not any(c.x < x + width and c.z > x and c.y < y + height and c.w > y for c in clips)


def _within(drawn: imgui.ImDrawList, scene: Rect) -> bool:
    """Whether all of it lies in the scene's part of the window."""
    size = drawn.vtx_buffer.size()
    if not size:
        return True
    kept = ctypes.string_at(drawn.vtx_buffer.data_address(), size * imgui.VERTEX_SIZE)
    places = np.frombuffer(kept, np.float32).reshape(size, -1)[:, :2]
    corner, extent = np.array(scene[:2]), np.array(scene[2:])
    return bool(
        (places.min(axis=0) >= corner - 0.5).all() and (places.max(axis=0) <= corner + extent + 0.5).all()
    )


def _content(drawn: imgui.ImDrawList) -> tuple[object, ...]:
    """Of a list: alike where the same is drawn."""
    buffers = (
        (drawn.vtx_buffer, imgui.VERTEX_SIZE),
        (drawn.idx_buffer, imgui.INDEX_SIZE),
    )
    sums = [
        zlib.crc32(ctypes.string_at(buffer.data_address(), buffer.size() * size)) for buffer, size in buffers
    ]
    textures = [(command.get_tex_id(), command.elem_count) for command in drawn.cmd_buffer]
    return drawn._owner_name, *sums, *textures


def _around(
    scene_px: tuple[int, int, int, int], size_px: tuple[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Corners (x0, y0, x1, y1) of the parts of a window that its scene leaves."""
    (x, y, w, h), (width, height) = scene_px, size_px
    for rect in ((0, 0, width, y), (0, y + h, width, height), (0, y, x, y + h), (x + w, y, width, y + h)):
        if rect[2] > rect[0] and rect[3] > rect[1]:
            yield rect
