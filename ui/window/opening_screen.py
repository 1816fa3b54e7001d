"""What the window shows before there is a scene: what is being made ready, and for how long."""

import time

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.platform.progress import Preparation
from ui.settings import files
from ui.window import theme
from ui.window.app_window import AppWindow
from ui.window.backend import ImguiBackend

WIDTH_PX = 460.0
BAR_PX = 3.0
SLOW_S = 4.0
"""After this long the screen tells why."""
WHY = "The first start compiles and grows what later ones load."
FRAME_S = 1.0 / 8.0
"""More often nothing changes, and the processor has other work."""


class OpeningScreen:
    """Draws over the whole window, whose GL context has to be current; close it before anything else draws."""

    def __init__(self, window: AppWindow, title: str) -> None:
        self._window, self._title = window, title
        self._scale = files.read_scale(files.config_dir())
        self._backend = ImguiBackend(window, None)
        theme.apply(self._scale)
        self._fonts = theme.load_fonts()
        self._began_s = time.perf_counter()

    def draw(self, dt_s: float, jobs: tuple[Preparation, ...]) -> None:
        """One frame, `dt_s` after the last one."""
        now_s = time.perf_counter()
        self._window.ctx.screen.clear(*theme.GROUND[:3])
        self._backend.new_frame(dt_s)
        room = imgui.get_io().display_size
        width = min(WIDTH_PX * self._scale, room.x)
        imgui.set_next_window_pos(((room.x - width) / 2.0, 0.36 * room.y))
        imgui.set_next_window_size((width, 0.0))
        imgui.push_style_var(imgui.StyleVar_.window_border_size, 0.0)
        imgui.push_style_color(imgui.Col_.window_bg, imgui.ImVec4(*theme.GROUND))
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_inputs
        imgui.begin("##opening", None, flags | imgui.WindowFlags_.no_saved_settings)
        self._heading(now_s - self._began_s)
        for job in jobs:
            self._line(job, now_s)
        if now_s - self._began_s > SLOW_S and any(job.functions for job in jobs):
            imgui.dummy((0.0, 6.0 * self._scale))
            imgui.text_disabled(WHY)
        imgui.end()
        imgui.pop_style_color()
        imgui.pop_style_var()
        self._backend.render()

    def close(self) -> None:
        """Free what was made; the window stays."""
        self._backend.release()

    def _heading(self, elapsed_s: float) -> None:
        imgui.text_colored(imgui.ImVec4(*theme.ACCENT), "Holonomy")
        _right(f"{elapsed_s:.0f} s", theme.MUTED)
        imgui.push_font(self._fonts.bold, theme.FONT_PX * 1.7)
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(self._title)
        imgui.pop_text_wrap_pos()
        imgui.pop_font()
        imgui.dummy((0.0, 2.0 * self._scale))
        self._bar(elapsed_s)
        imgui.dummy((0.0, 6.0 * self._scale))

    def _bar(self, elapsed_s: float) -> None:
        """A light that wanders: the window lives."""
        place, width, height = (
            imgui.get_cursor_screen_pos(),
            imgui.get_content_region_avail().x,
            BAR_PX * self._scale,
        )
        pen = imgui.get_window_draw_list()
        right = place.x + width
        pen.add_rect_filled(place, (right, place.y + height), theme.packed(theme.LINE), height)
        head = place.x + 1.3 * width * (0.5 * elapsed_s % 1.0)
        left = max(head - 0.3 * width, place.x)
        pen.add_rect_filled(
            (left, place.y), (min(head, right), place.y + height), theme.packed(theme.ACCENT), height
        )
        imgui.dummy((width, height))

    def _line(self, job: Preparation, now_s: float) -> None:
        icon, mark, ink = _look(job)
        imgui.text_colored(imgui.ImVec4(*mark), icon)
        imgui.same_line(36.0 * self._scale)
        imgui.text_colored(imgui.ImVec4(*ink), job.title)
        if job.function:
            imgui.same_line()
            imgui.text_disabled(f"compiling {job.function} ({job.functions})")
        _right(f"{(now_s if job.ended_s is None else job.ended_s) - job.began_s:.1f} s", theme.MUTED)


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
