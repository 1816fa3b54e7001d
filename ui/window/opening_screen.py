"""What the window shows before there is a scene: what is being made ready, and for how long."""

import math
from contextlib import suppress
from time import perf_counter

import moderngl
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from PIL import Image, ImageFilter

from sim.platform.progress import Preparation
from sim.scene import SCENE_FOLDER, Scene
from ui.input.keymap import Keymap, keymap_of
from ui.settings import view_settings
from ui.window import theme
from ui.window.app_window import AppWindow
from ui.window.backend import ImguiBackend, keeps_drawn

THUMBNAILS = SCENE_FOLDER.parent / "assets" / "thumbnails"
"""Pictures of scenes, by name."""
WIDTH_PX = 520.0
BAR_PX = 4.0
SLOW_S = 4.0
"""After this long the screen tells why."""
WHY = "The first start compiles and grows what later ones load."
FRAME_S = 1.0 / 8.0
"""More often nothing changes, and the processor has other work."""
FIXED_STEPS = 4
"""Libraries, the world, all set up, and the first picture; a step more for each method."""
TIP_S = 5.0
"""For which a tip is shown."""
KEYS_SHOWN = 6
_WHOLE_FRAMES = 3
"""After which the card has the size that it was laid out with; from then on nothing changes outside of it."""
_BACKDROP_PX = (480, 300)
"""So smooth is it that more could not be told apart once it fills the window."""
_BLUR_PX = 2.0
_DARK = 0.42
"""How much of the scene's picture is seen behind the card."""


Rect = tuple[float, float, float, float]
"""Left, top, right and bottom in the window's coordinates, origin top left."""


def tips_of(keymap: Keymap) -> list[str]:
    """A line each, with the keys as they are bound."""
    told = (
        ("help", "{} shows every key of what you fly"),
        ("pause", "{} pauses; a drag on the time line looks back"),
        ("back", "{} looks a second back, also after a crash"),
        ("demo", "{} hands the controls to the autopilot, or takes them back"),
        ("camera", "{} is the next camera; a drag in the view looks round"),
        ("panels", "{} hides all panels"),
    )
    lines = [text.format(keymap.first(action)) for action, text in told if keymap.first(action)]
    return [*lines, "Ctrl and a drag of the left mouse button pull anything by a spring"]


class OpeningScreen:
    """Draws over the whole window, whose GL context has to be current; close it before anything else draws."""

    def __init__(self, window: AppWindow, scene: Scene) -> None:
        self._window, self._title = window, scene.title
        self._steps = FIXED_STEPS + len({scene.integrator, *(lane.integrator for lane in scene.lanes)})
        self._scale = view_settings.read_scale(view_settings.config_dir())
        self._backend = ImguiBackend(window, None)
        theme.apply(self._scale)
        self._fonts = theme.load_fonts()
        keymap = keymap_of(scene.vehicle.name)
        self._keys, self._tips = keymap.summary()[:KEYS_SHOWN], tips_of(keymap)
        self._backdrop = _backdrop(window, scene)
        self._began_s = perf_counter()
        self._keeps = keeps_drawn(window.ctx)
        self._whole, self._drawn_px = _WHOLE_FRAMES, (0, 0)
        """How many frames are still to be drawn as a whole, at which size of the window."""
        self._card: Rect = (0.0, 0.0, 0.0, 0.0)
        """The part of the window that changes."""

    def draw(self, dt_s: float, jobs: tuple[Preparation, ...], *, spoilt: bool = False) -> None:
        """One frame, `dt_s` after the last one. spoilt: something else has been drawn over that."""
        now_s = perf_counter()
        if spoilt or not self._keeps or self._drawn_px != self._window.framebuffer_px:
            self._whole, self._drawn_px = _WHOLE_FRAMES, self._window.framebuffer_px
        self._backend.new_frame(dt_s)
        room = imgui.get_io().display_size
        width = min(WIDTH_PX * self._scale, room.x)
        imgui.set_next_window_pos((room.x / 2.0, 0.5 * room.y), imgui.Cond_.always, (0.5, 0.5))
        imgui.set_next_window_size((width, 0.0))
        imgui.set_next_window_bg_alpha(0.88)
        imgui.push_style_var(imgui.StyleVar_.window_border_size, 0.0)
        imgui.push_style_var(imgui.StyleVar_.window_padding, (22.0 * self._scale, 18.0 * self._scale))
        imgui.push_style_var(imgui.StyleVar_.window_rounding, 10.0 * self._scale)
        imgui.push_style_color(imgui.Col_.window_bg, imgui.ImVec4(*theme.GROUND))
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_inputs
        imgui.begin("##opening", None, flags | imgui.WindowFlags_.no_saved_settings)
        self._heading(now_s - self._began_s, sum(job.ended_s is not None for job in jobs))
        for job in jobs:
            self._line(job, now_s)
        if now_s - self._began_s > SLOW_S and any(job.functions for job in jobs):
            imgui.dummy((0.0, 6.0 * self._scale))
            imgui.text_disabled(WHY)
        self._advice(now_s - self._began_s)
        place, size = imgui.get_window_pos(), imgui.get_window_size()
        imgui.end()
        imgui.pop_style_color()
        imgui.pop_style_var(3)
        before, self._card = self._card, (place.x, place.y, place.x + size.x, place.y + size.y)
        if self._whole:
            self._whole -= 1
            part = (0.0, 0.0, room.x, room.y)
        else:
            left, top, right, bottom = zip(before, self._card, strict=True)
            part = (min(left) - 1.0, min(top) - 1.0, max(right) + 1.0, max(bottom) + 1.0)
        self._clear(part, room)
        self._draw_backdrop(room, part)
        self._backend.render()

    def close(self) -> None:
        """Free what was made; the window stays."""
        self._backend.release()
        if self._backdrop is not None:
            self._backdrop.release()

    def _clear(self, part: Rect, room: imgui.ImVec2) -> None:
        width, height = self._window.framebuffer_px
        left, right = (math.floor(x * width / room.x) for x in part[::2])
        low, high = (math.floor(height - y * height / room.y) for y in part[3::-2])
        viewport = max(left, 0), max(low, 0), right - max(left, 0), high - max(low, 0)
        self._window.ctx.screen.clear(*theme.GROUND[:3], viewport=viewport)

    def _draw_backdrop(self, room: imgui.ImVec2, part: Rect) -> None:
        """The scene's picture over the whole window, cut where the shapes differ, and darkened; a part of it."""
        if self._backdrop is None:
            return
        wide, tall = self._backdrop.size
        size = max(room.x / wide, room.y / tall)
        left, top = 0.5 * (room.x - size * wide), 0.5 * (room.y - size * tall)
        low, high = (left, top), (left + size * wide, top + size * tall)
        pen = imgui.get_background_draw_list()
        pen.push_clip_rect(part[:2], part[2:])
        pen.add_image(imgui.ImTextureRef(self._backdrop.glo), low, high)
        pen.pop_clip_rect()

    def _heading(self, elapsed_s: float, done: int) -> None:
        imgui.text_colored(imgui.ImVec4(*theme.ACCENT), "Holonomy")
        _right(f"step {min(done + 1, self._steps)} of {self._steps}, {elapsed_s:.0f} s", theme.MUTED)
        imgui.push_font(self._fonts.bold, theme.FONT_PX * 1.7)
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(self._title)
        imgui.pop_text_wrap_pos()
        imgui.pop_font()
        imgui.dummy((0.0, 2.0 * self._scale))
        self._bar(elapsed_s, min(done / self._steps, 1.0))
        imgui.dummy((0.0, 6.0 * self._scale))

    def _bar(self, elapsed_s: float, share: float) -> None:
        """Steps that are done; a light wanders over what is left: how long that takes nobody knows."""
        place, width = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
        height = BAR_PX * self._scale
        pen, right, low = imgui.get_window_draw_list(), place.x + width, place.y + height
        pen.add_rect_filled(place, (right, low), theme.packed(theme.LINE), height)
        filled = place.x + share * width
        head = filled + 1.3 * (right - filled) * (0.5 * elapsed_s % 1.0)
        left = max(head - 0.3 * (right - filled), filled)
        pen.add_rect_filled((left, place.y), (min(head, right), low), theme.packed(theme.ACCENT_DIM), height)
        if share > 0.0:
            pen.add_rect_filled(place, (filled, low), theme.packed(theme.ACCENT), height)
        imgui.dummy((width, height))

    def _advice(self, elapsed_s: float) -> None:
        """The keys of what will be flown, and one tip after the other."""
        imgui.dummy((0.0, 8.0 * self._scale))
        imgui.separator()
        imgui.dummy((0.0, 4.0 * self._scale))
        left, half = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 2.0
        for k, (keys, what) in enumerate(self._keys):
            if k % 2:
                imgui.same_line(left + half)
            imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), keys)
            imgui.same_line(0.0, 8.0 * self._scale)
            imgui.text_unformatted(what)
        imgui.dummy((0.0, 4.0 * self._scale))
        imgui.push_text_wrap_pos(0.0)
        imgui.text_colored(imgui.ImVec4(*theme.MUTED), self._tips[int(elapsed_s / TIP_S) % len(self._tips)])
        imgui.pop_text_wrap_pos()

    def _line(self, job: Preparation, now_s: float) -> None:
        icon, mark, ink = _look(job)
        imgui.text_colored(imgui.ImVec4(*mark), icon)
        imgui.same_line(48.0 * self._scale)
        imgui.text_colored(imgui.ImVec4(*ink), job.title)
        if job.functions:
            imgui.same_line()
            imgui.text_disabled(f"{job.functions} parts")
        _right(f"{(now_s if job.ended_s is None else job.ended_s) - job.began_s:.1f} s", theme.MUTED)


def _backdrop(window: AppWindow, scene: Scene) -> moderngl.Texture | None:
    """Of the scene's own picture, smooth and dark; None where there is none."""
    path = THUMBNAILS / f"{scene.name}.jpg"
    if scene.path is not None or not path.is_file():
        return None
    # A picture that cannot be read is none: the card stands on plain ground.
    with suppress(OSError, ValueError, Image.DecompressionBombError), Image.open(path) as picture:
        large = picture.convert("RGB").resize(_BACKDROP_PX, Image.Resampling.BICUBIC)
        large = large.filter(ImageFilter.GaussianBlur(_BLUR_PX))
        dark = large.point([round(_DARK * value) for value in range(256)] * 3)
        texture = window.ctx.texture(_BACKDROP_PX, 3, dark.tobytes(), alignment=1)
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        return texture
    return None


def _look(job: Preparation) -> tuple[str, theme.Colour, theme.Colour]:
    """(icon, its colour, the text's): done, being compiled, or waiting for a processor or for its start."""
    if job.ended_s is not None:
        return icons.ICON_FA_CHECK, theme.GOOD, theme.MUTED
    if job.functions:
        return icons.ICON_FA_GEAR, theme.ACCENT_BRIGHT, theme.INK
    return icons.ICON_FA_HOURGLASS_HALF, theme.FAINT, theme.MUTED


def _right(text: str, colour: theme.Colour) -> None:
    """At the right end of the line."""
    imgui.same_line(
        imgui.get_window_width() - imgui.get_style().window_padding.x - imgui.calc_text_size(text).x
    )
    imgui.text_colored(imgui.ImVec4(*colour), text)
