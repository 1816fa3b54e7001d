"""Between pyglet and imgui: keys, mouse and clipboard, and what lies around the scene as a picture of its own, drawn
anew only where it has changed, and not often: software GL pays for every pixel, and twice for those of a window's
ground."""

import ctypes
import math
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import moderngl
import numpy as np
from imgui_bundle import imgui, implot, implot3d
from pyglet.window import BaseWindow, key, mouse

from render.passes.targets import colour_of
from render.programs import FIRST_FREE_UNIT, Programs, uniform
from ui.window import theme
from ui.window.layout import LayoutFile

Rect = tuple[float, float, float, float]
_AT_LEAST_S, _AT_LEAST_FRAMES = 0.2, 3
"""From one picture to the next while nothing is touched."""
_DOCK_SPACE = "WindowOverViewport_"
"""How imgui names what lies behind all docked windows; it leaves the scene free."""


def keeps_drawn(ctx: moderngl.Context) -> bool:
    """Whether a window still has what was drawn before it was presented: nobody promises that, but software GL copies
    it to the screen."""
    return "llvmpipe" in ctx.info["GL_RENDERER"]


class _Split:
    """Lists of one of imgui's frames: of panels, and of what lies over the scene."""

    def __init__(self, data: imgui.ImDrawData, scene: Rect) -> None:
        self.frame, self.scene = imgui.get_frame_count(), scene
        """imgui's lists stay as they are until its next frame."""
        self.panels, self.over = imgui.ImDrawData(), imgui.ImDrawData()
        for part in (self.panels, self.over):
            part.valid, part.owner_viewport = True, data.owner_viewport
            part.display_pos, part.display_size = data.display_pos, data.display_size
            part.framebuffer_scale, part.textures = data.framebuffer_scale, data.textures
        for drawn in data.cmd_lists:
            (self.panels if _keeps_out(drawn, scene) else self.over).add_draw_list(drawn)
        self.apart = all(within(drawn, scene) for drawn in self.over.cmd_lists)
        """Whether nothing that lies over the scene reaches beyond it."""


class PanelPicture:
    """Owns the picture of one window's panels. The window's GL context has to be current."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._canvas: moderngl.Framebuffer | None = None
        self._drawn: tuple[object, ...] = ()
        """What is in it."""
        self._drawn_s, self._frames = -math.inf, 0
        self._laid_in = False
        """Whether the window has what is in it, and nothing over that."""
        self._keeps = keeps_drawn(ctx)
        self._split: _Split | None = None
        self._programs = Programs(ctx, defines={})
        copying = self._programs.load("fullscreen.vert", "present.frag", COPY=1)
        uniform(copying, "source_map").value = FIRST_FREE_UNIT
        self._copy = ctx.vertex_array(copying, [])

    def draw(
        self, scene: Rect, scene_px: tuple[int, int, int, int], *, in_use: bool, cleared: bool = False
    ) -> None:
        """Draw imgui's frame over the window: what keeps out of the scene from the picture, all else anew.

        cleared: nothing is left of the frame before.

        scene: (x, y, w, h) in the window's coordinates, origin top left; scene_px: the same in pixels, origin bottom
        left. in_use: the picture is to be as new as the frame.
        """
        data, screen = imgui.get_draw_data(), self._ctx.screen
        if self._split is None or self._split.frame != imgui.get_frame_count() or self._split.scene != scene:
            self._split = _Split(data, scene)
        split = self._split
        width, height = (round(data.display_size[k] * data.framebuffer_scale[k]) for k in (0, 1))
        self._keep_up((width, height), scene_px, split.panels, in_use=in_use)
        apart = split.apart
        if cleared or not (self._keeps and self._laid_in and apart):
            self._laid_in = apart
            assert self._canvas is not None
            # Drawn: for copying software GL compiles a program at every start, and waits for all that it has to shade.
            self._ctx.enable_only(moderngl.NOTHING)
            colour_of(self._canvas).use(FIRST_FREE_UNIT)
            for screen.scissor in _around(scene_px, (width, height)):
                screen.use()
                self._copy.render(moderngl.TRIANGLES, vertices=3)
            screen.scissor = None  # type: ignore[assignment]  # the declaration lacks None
        screen.use()
        imgui.backends.opengl3_render_draw_data(split.over)

    def _keep_up(
        self,
        size_px: tuple[int, int],
        scene_px: tuple[int, int, int, int],
        panels: imgui.ImDrawData,
        *,
        in_use: bool,
    ) -> None:
        now_s = perf_counter()
        if self._canvas is not None and self._canvas.size != size_px:
            self._drop()
        self._frames += 1
        early = now_s - self._drawn_s < _AT_LEAST_S or self._frames < _AT_LEAST_FRAMES
        if early and not in_use and self._canvas is not None and self._drawn[:1] == (scene_px,):
            return
        wanted = scene_px, *(_content(drawn) for drawn in panels.cmd_lists)
        if wanted == self._drawn:
            return
        if self._canvas is None:
            self._canvas = self._ctx.framebuffer([self._ctx.texture(size_px, 4)])
        self._canvas.use()
        self._canvas.clear(
            *theme.SURFACE[:3]
        )  # the ground of what is docked: to shade it takes longer than all else
        imgui.backends.opengl3_render_draw_data(panels)
        self._drawn, self._drawn_s, self._frames = wanted, now_s, 0
        self._laid_in = False

    def release(self) -> None:
        """Free everything."""
        self._drop()
        self._copy.release()
        self._programs.release()

    def _drop(self) -> None:
        if self._canvas is not None:
            self._ctx.screen.use()
            colour = colour_of(self._canvas)
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


def within(drawn: imgui.ImDrawList, scene: Rect) -> bool:
    """Whether all that is seen of it lies in the scene's part of the window."""
    low, high = np.array(scene[:2]) - 0.5, np.array(scene[:2]) + scene[2:] + 0.5
    free = [
        (command.idx_offset, command.elem_count)
        for command in drawn.cmd_buffer
        if command.elem_count
        and not (
            command.clip_rect.x >= low[0]
            and command.clip_rect.y >= low[1]
            and command.clip_rect.z <= high[0]
            and command.clip_rect.w <= high[1]
        )
    ]
    if not free:
        return True
    vertices = _raw(drawn.vtx_buffer, imgui.VERTEX_SIZE, np.float32)
    numbers = _raw(drawn.idx_buffer, imgui.INDEX_SIZE, np.dtype(f"u{imgui.INDEX_SIZE}")).ravel()
    used = np.concatenate([numbers[first : first + count] for first, count in free])
    places = vertices[used, :2]
    return bool((places >= low).all() and (places <= high).all())


def _raw(buffer: Any, size: int, dtype: Any) -> np.ndarray:
    """(n, k) of a buffer of imgui's, whose entries take so many bytes."""
    kept = ctypes.string_at(buffer.data_address(), buffer.size() * size)
    return np.frombuffer(kept, dtype).reshape(buffer.size(), -1)


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
    """(x, y, w, h) of the parts of a window that its scene leaves."""
    (x, y, w, h), (width, height) = scene_px, size_px
    for x0, y0, x1, y1 in (
        (0, 0, width, y),
        (0, y + h, width, height),
        (0, y, x, y + h),
        (x + w, y, width, y + h),
    ):
        if x1 > x0 and y1 > y0:
            yield x0, y0, x1 - x0, y1 - y0


NAMED = {
    "TAB": "tab", "BACKSPACE": "backspace", "RETURN": "enter", "ESCAPE": "escape", "INSERT": "insert",
    "DELETE": "delete", "SPACE": "space", "LEFT": "left_arrow", "RIGHT": "right_arrow", "UP": "up_arrow",
    "DOWN": "down_arrow", "PAGEUP": "page_up", "PAGEDOWN": "page_down", "HOME": "home", "END": "end",
    "NUM_ENTER": "keypad_enter", "NUM_DECIMAL": "keypad_decimal", "NUM_DIVIDE": "keypad_divide",
    "NUM_MULTIPLY": "keypad_multiply", "NUM_SUBTRACT": "keypad_subtract", "NUM_ADD": "keypad_add",
    "LCTRL": "left_ctrl", "RCTRL": "right_ctrl", "LSHIFT": "left_shift", "RSHIFT": "right_shift",
    "LALT": "left_alt", "RALT": "right_alt", "LCOMMAND": "left_super", "RCOMMAND": "right_super",
    "GRAVE": "grave_accent", "MINUS": "minus", "EQUAL": "equal", "BRACKETLEFT": "left_bracket",
    "BRACKETRIGHT": "right_bracket", "BACKSLASH": "backslash", "SEMICOLON": "semicolon",
    "APOSTROPHE": "apostrophe", "COMMA": "comma", "PERIOD": "period", "SLASH": "slash",
    **{letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    **{f"_{digit}": f"_{digit}" for digit in range(10)},
    **{f"NUM_{digit}": f"keypad{digit}" for digit in range(10)},
    **{f"F{number}": f"f{number}" for number in range(1, 13)},
}  # fmt: skip
IMGUI_KEYS: dict[int, imgui.Key] = {
    getattr(key, symbol): getattr(imgui.Key, name) for symbol, name in NAMED.items()
}
MODIFIERS = (
    (imgui.Key.mod_ctrl, key.MOD_CTRL, (key.LCTRL, key.RCTRL)),
    (imgui.Key.mod_shift, key.MOD_SHIFT, (key.LSHIFT, key.RSHIFT)),
    (imgui.Key.mod_alt, key.MOD_ALT, (key.LALT, key.RALT)),
    (imgui.Key.mod_super, key.MOD_COMMAND | key.MOD_WINDOWS, (key.LCOMMAND, key.RCOMMAND)),
)


def modifiers_of(symbol: int, modifiers: int, *, down: bool) -> list[tuple[imgui.Key, bool]]:
    """Which modifiers are held once this event has happened: its mask speaks of the moment before it."""
    return [(name, down if symbol in keys else bool(modifiers & mask)) for name, mask, keys in MODIFIERS]


def open_context(layout: str = "") -> Callable[[], None]:
    """Create both contexts and make them current; returns what closes them.

    layout: as imgui has written it. It reads and writes no files by itself.
    """
    context = imgui.create_context()
    plots = implot.create_context()
    space_plots = implot3d.create_context()
    io = imgui.get_io()
    io.config_flags |= imgui.ConfigFlags_.docking_enable.value
    io.config_windows_move_from_title_bar_only = True
    io.config_input_text_cursor_blink = True
    io.set_ini_filename(None)
    if layout:
        imgui.load_ini_settings_from_memory(layout)

    def close() -> None:
        implot3d.destroy_context(space_plots)
        implot.destroy_context(plots)
        imgui.destroy_context(context)

    return close


NOWHERE = -3.4028234663852886e38
"""imgui's mark of a mouse that is not in the window."""
SHORTEST_FRAME_S = 1e-4
_MOST_AWAITED = 30
"""Frames, for a press that was handed on."""
BUTTONS = {mouse.LEFT: 0, mouse.RIGHT: 1, mouse.MIDDLE: 2}
CURSORS = {
    imgui.MouseCursor_.arrow: BaseWindow.CURSOR_DEFAULT,
    imgui.MouseCursor_.text_input: BaseWindow.CURSOR_TEXT,
    imgui.MouseCursor_.resize_all: BaseWindow.CURSOR_SIZE,
    imgui.MouseCursor_.resize_ns: BaseWindow.CURSOR_SIZE_UP_DOWN,
    imgui.MouseCursor_.resize_ew: BaseWindow.CURSOR_SIZE_LEFT_RIGHT,
    imgui.MouseCursor_.resize_nesw: BaseWindow.CURSOR_SIZE_DOWN_LEFT,
    imgui.MouseCursor_.resize_nwse: BaseWindow.CURSOR_SIZE_DOWN_RIGHT,
    imgui.MouseCursor_.hand: BaseWindow.CURSOR_HAND,
}


class ImguiBackend:
    """imgui and implot contexts of one window, fed with its events. The window's GL context has to be current.

    layout_file: None: no layout is remembered.
    """

    def __init__(self, window: BaseWindow, layout_file: LayoutFile | None) -> None:
        self._window, self._layout_file = window, layout_file
        self._cursor: int | None = None
        self._close_contexts = open_context(layout_file.read() if layout_file else "")
        self._io = imgui.get_io()
        self._io.backend_flags |= imgui.BackendFlags_.has_mouse_cursors.value
        platform = imgui.get_platform_io()
        platform.platform_get_clipboard_text_fn = lambda _: window.get_clipboard_text()
        platform.platform_set_clipboard_text_fn = lambda _, text: window.set_clipboard_text(text)
        self.touched_s = perf_counter()
        """When something of the window was last used or came into sight."""
        self._waiting: deque[tuple[tuple[float, float] | None, Callable[[], None]]] = deque()
        """Events that imgui has not been given, and where the mouse has to be before."""
        self._unseen: deque[tuple[int, bool]] = deque()
        """Presses and releases that imgui was given, and that no frame has had: it takes them one after the other."""
        self._waits, self._awaited = False, 0
        imgui.backends.opengl3_init("#version 410 core")
        window.push_handlers(self)

    @property
    def behind(self) -> bool:
        """Whether a press or a release waits for a further frame."""
        return self._waits or bool(self._unseen)

    def _tell(self, event: Callable[[], None], at: tuple[float, float] | None = None) -> None:
        """Hand an event on with the coming frame, in order; with a place, once a frame has seen the mouse there."""
        self.touched_s = perf_counter()
        self._waiting.append((at, event))

    def _hand_on(self) -> None:
        """imgui's tabs take a press only where the mouse was the frame before; imgui itself takes one key a frame, so
        that a move may be behind many, and reach it together with the press."""
        self._waits = False
        while self._waiting:
            at, event = self._waiting[0]
            if (
                at is not None
                and max(abs(at[0] - self._io.mouse_pos.x), abs(at[1] - self._io.mouse_pos.y)) >= 1.0
            ):
                self._io.add_mouse_pos_event(*at)
                self._waits = True
                return
            self._waiting.popleft()
            event()

    def new_frame(self, dt_s: float) -> None:
        """Start a frame that is `dt_s` wall seconds after the last one."""
        self._hand_on()
        size, pixels = self._window.get_size(), self._window.get_framebuffer_size()
        self._io.delta_time = max(dt_s, SHORTEST_FRAME_S)
        self._io.display_size = imgui.ImVec2(*size)
        self._io.display_framebuffer_scale = imgui.ImVec2(
            pixels[0] / max(size[0], 1), pixels[1] / max(size[1], 1)
        )
        imgui.backends.opengl3_new_frame()
        imgui.new_frame()
        self._look_for_presses()

    def _look_for_presses(self) -> None:
        while self._unseen:
            button, down = self._unseen[0]
            if not (imgui.is_mouse_clicked(button) if down else imgui.is_mouse_released(button)):
                break
            self._unseen.popleft()
        # What is told twice imgui leaves out: nothing is waited for without end.
        self._awaited = self._awaited + 1 if self._unseen else 0
        if self._awaited > _MOST_AWAITED:
            self._unseen.clear()

    def _button(self, button: int, *, down: bool) -> None:
        self._io.add_mouse_button_event(button, down)
        self._unseen.append((button, down))

    def render(self) -> None:
        """Finish the frame and draw it over the bound framebuffer."""
        self.finish()
        self.repeat()

    def finish(self) -> None:
        """Have all that is to be drawn of the frame, and its textures as they are now."""
        imgui.render()
        for (
            texture
        ) in imgui.get_platform_io().textures:  # drawn or not: what is drawn later may speak of them
            if texture.status != imgui.ImTextureStatus.ok:
                imgui.backends.opengl3_update_texture(texture)  # type: ignore[attr-defined]
        self._show_cursor(imgui.get_mouse_cursor())
        if self._io.want_save_ini_settings:
            self._io.want_save_ini_settings = False
            self._keep_layout()

    def repeat(self) -> None:
        """Draw the frame that was finished last over the bound framebuffer, once more."""
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())

    def _keep_layout(self) -> None:
        if self._layout_file is not None:
            self._layout_file.write(imgui.save_ini_settings_to_memory())

    def release(self) -> None:
        """In the reverse order of the start, while the GL context still lives."""
        self._keep_layout()
        self._window.remove_handlers(self)
        imgui.backends.opengl3_shutdown()
        self._close_contexts()

    def _show_cursor(self, cursor: int) -> None:
        if cursor != self._cursor:
            self._cursor = cursor
            shape = CURSORS.get(imgui.MouseCursor_(cursor), BaseWindow.CURSOR_DEFAULT)
            self._window.set_mouse_cursor(self._window.get_system_mouse_cursor(shape))  # type: ignore[arg-type]  # None is the usual one

    def _down(self, y: float) -> float:
        """Of a height in the window, as pyglet has it, from the top."""
        return self._window.get_size()[1] - y

    def _point(self, x: float, y: float) -> None:
        self._tell(partial(self._io.add_mouse_pos_event, x, self._down(y)))

    def _press(self, x: float, y: float, button: int, *, down: bool) -> None:
        self._point(x, y)
        if button in BUTTONS:
            event = partial(self._button, BUTTONS[button], down=down)
            self._tell(event, (x, self._down(y)) if down else None)

    def on_mouse_motion(self, x: int, y: int, dx: int, dy: int) -> None:
        self._point(x, y)

    def on_mouse_drag(self, x: int, y: int, dx: int, dy: int, buttons: int, modifiers: int) -> None:
        self._point(x, y)

    def on_mouse_press(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._press(x, y, button, down=True)

    def on_mouse_release(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._press(x, y, button, down=False)

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        self._tell(partial(self._io.add_mouse_wheel_event, scroll_x, scroll_y))

    def on_mouse_leave(self, x: int, y: int) -> None:
        self._tell(partial(self._io.add_mouse_pos_event, NOWHERE, NOWHERE))

    def on_activate(self) -> None:
        self._tell(partial(self._io.add_focus_event, True))

    def on_deactivate(self) -> None:
        self._tell(partial(self._io.add_focus_event, False))

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        self._key(symbol, modifiers, down=True)

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        self._key(symbol, modifiers, down=False)

    def on_text(self, text: str) -> None:
        for character in text:
            if character.isprintable():
                self._tell(partial(self._io.add_input_character, ord(character)))

    def _key(self, symbol: int, modifiers: int, *, down: bool) -> None:
        for modifier, held in modifiers_of(symbol, modifiers, down=down):
            self._tell(partial(self._io.add_key_event, modifier, held))
        if symbol in IMGUI_KEYS:
            self._tell(partial(self._io.add_key_event, IMGUI_KEYS[symbol], down))

    def on_resize(self, width: int, height: int) -> None:
        self.touched_s = perf_counter()

    def on_expose(self) -> None:
        self.touched_s = perf_counter()
