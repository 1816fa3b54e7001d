"""What has to be said over the scene: toasts, and the banner of a lane that has stopped."""

import re
from dataclasses import field
from time import perf_counter

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import Reset
from sim.contact.obstacles.blows import Blow
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from ui.hud.instruments import MARGIN
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.widgets import OVERLAY, button, jumped, note, placed

LIFETIME_S = 5.0
ERROR_LIFETIME_S = 9.0
ONGOING_LIFETIME_S = 2.0
"""Of what ends in "...": it is said again as long as it goes on."""
FADE_S = 0.6
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?")
MOST = 4


@dataclass(frozen=True, slots=True)
class Toast:
    text: str
    error: bool
    born_s: float

    @property
    def dies_s(self) -> float:
        if self.text.endswith("..."):
            return self.born_s + ONGOING_LIFETIME_S
        return self.born_s + (ERROR_LIFETIME_S if self.error else LIFETIME_S)

    def opacity(self, now_s: float) -> float:
        """1, falling to 0 at the end of its life."""
        return min(max((self.dies_s - now_s) / FADE_S, 0.0), 1.0)


def _worded(text: str) -> str:
    """A message without its numbers."""
    return _NUMBER.sub("#", text)


class Toasts:
    """The messages of the last seconds, newest last."""

    def __init__(self) -> None:
        self._toasts: list[Toast] = []
        self._heard = ("", 0)

    def add(self, text: str, now_s: float, *, error: bool = False) -> None:
        """Show `text`; one that is already shown starts its life again. What differs from the newest in its numbers
        alone, as a slider says while it is dragged, takes its place."""
        self._toasts = [toast for toast in self._toasts if toast.text != text]
        newest = self._toasts[-1] if self._toasts else None
        if newest is not None and not (error or newest.error) and _worded(newest.text) == _worded(text):
            self._toasts.pop()
        self._toasts.append(Toast(text, error, now_s))
        self._toasts = self._toasts[-MOST:]

    def stand(self, text: str, now_s: float, *, instead_of: str = "") -> None:
        """An error that is said once a frame, as long as it lasts; another one, or none, takes its place at once."""
        if instead_of and instead_of != text:
            self._toasts = [toast for toast in self._toasts if toast.text != instead_of]
        at = next((k for k, toast in enumerate(self._toasts) if toast.text == text), None)
        if at is not None:
            self._toasts[at] = Toast(text, True, now_s)
        elif text:
            self.add(text, now_s, error=True)

    def hear(self, message: str, now_s: float, answers: int = 0) -> None:
        """The simulation's last message: shown once, when it is another one, or as long as it tells of what goes on.

        `answers`: how many there have been, which tells two that are alike apart.
        """
        heard = (message, answers)
        if message and (heard != self._heard or message.endswith("...")):
            self.add(message, now_s)
        self._heard = heard

    def visible(self, now_s: float) -> tuple[Toast, ...]:
        self._toasts = [toast for toast in self._toasts if toast.dies_s > now_s]
        return tuple(self._toasts)


@dataclass(frozen=True, slots=True)
class CrashReplay:
    """What the picture shows of a crash."""

    before_s: float | None = None
    """Simulated time before it that is shown once more; None: the present."""
    struck: tuple[Blow, ...] = ()
    """Since the frame before, by what falls."""
    falls: bool = False
    """Whether the wreck has not come to rest yet."""


REWIND_S = 3.0
BANNER_PX = 450.0
"""Room that it takes at most."""
BANNER_TALL_PX = 140.0
LEAST_TALL_PX = 480.0
"""Of a scene in whose lowest quarter it has room."""
CLEAR_SHARE = 0.42
"""Of the scene's height: below is what the camera looks at."""
TOAST_PX = 320.0
_TOAST = (OVERLAY | imgui.WindowFlags_.no_inputs) & ~imgui.WindowFlags_.always_auto_resize
UNDER_TOASTS = ("caption", "goals", "hud/numbers", "hud/minimap", "hud/wind", "key_hint")
"""What no toast lies on, as far as there is room."""
TITLES = {
    LaneStatus.CRASHED: (f"{icons.ICON_FA_BURST}  Crashed", theme.WARNING),
    LaneStatus.OFF_MAP: (f"{icons.ICON_FA_MAP}  End of the map", theme.WARNING),
    LaneStatus.GIVEN_UP: (f"{icons.ICON_FA_ROBOT}  Controller gave up", theme.DANGER),
    LaneStatus.DIVERGED: (f"{icons.ICON_FA_TRIANGLE_EXCLAMATION}  Diverged", theme.DANGER),
}


def draw_banner(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Why the flown lane has stopped, and a way on."""
    lane = snapshot.lanes[0]
    if lane.status not in TITLES:
        return []
    requests: list[Request] = []
    title, colour = TITLES[lane.status]
    place, pivot = _banner_place(context)
    imgui.set_next_window_pos(place, imgui.Cond_.always, pivot)
    imgui.set_next_window_bg_alpha(0.92)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(22.0), context.px(16.0)))
    imgui.push_style_color(imgui.Col_.border, imgui.ImVec4(*colour))
    imgui.begin("##banner", None, OVERLAY)
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 1.3)
    imgui.text_colored(imgui.ImVec4(*colour), title)
    imgui.pop_font()
    imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + context.px(380.0))
    imgui.text_unformatted(lane.status_text)
    imgui.pop_text_wrap_pos()
    before_s = context.of(CrashReplay).before_s
    if before_s is not None:
        camera = context.keymap.first("camera")
        text = f"Seen again slowly: {before_s:.1f} s before. {camera}: next camera"
        imgui.text_colored(imgui.ImVec4(*theme.MUTED), text)
        note(context, "banner/replay")
    imgui.spacing()
    text, key = f"{icons.ICON_FA_ROTATE_LEFT}  Back to the start", context.keymap.first("reset")
    if button(context, "banner/reset", text, key, lit=True):
        requests.append(Reset())
    imgui.same_line()
    back = jumped(snapshot, -REWIND_S)
    text = f"{icons.ICON_FA_CLOCK_ROTATE_LEFT}  {REWIND_S:g} s back"
    if back is not None and button(
        context, "banner/back", text, "Look back; it waits there, and flies on with the first control"
    ):
        requests.append(back)
    imgui.end()
    imgui.pop_style_color()
    imgui.pop_style_var()
    return requests


def _banner_place(context: PanelContext) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where it is, and which of its points is there: between the instruments, below the wreck. Without room there, in
    the upper middle of what caption or goals leave of the scene, below a label of the past; over the instruments where
    it would lie on the wreck."""
    x, y, width, height = context.scene_rect
    margin = context.px(MARGIN)
    numbers, minimap = context.rects.get("hud/numbers"), context.rects.get("hud/minimap")
    if numbers is not None and minimap is not None and height > context.px(LEAST_TALL_PX):
        begin, end = numbers[0] + numbers[2], minimap[0]
        if end - begin > context.px(BANNER_PX) and "caption" not in context.rects:
            _, bottom, *_ = context.rects.get("key_hint", (0.0, y + height, 0.0, 0.0))
            return ((begin + end) / 2.0, bottom - margin), (0.5, 1.0)
    left, top, wide, tall = context.rects.get("caption") or context.rects.get("goals", (x, y, 0.0, 0.0))
    aside = left + wide if top < y + 0.24 * height else x
    if x + width - aside < context.px(BANNER_PX):
        aside = x
    *_, past = context.rects.get("past", (0.0, 0.0, 0.0, 0.0))
    middle = y + 0.24 * height + past
    if aside == x and wide > 0.0 and top < middle:  # under them
        middle = max(middle, top + tall + context.px(BANNER_TALL_PX) / 2.0)
    if middle + context.px(BANNER_TALL_PX) / 2.0 > y + CLEAR_SHARE * height:
        return (x + margin, y + height - margin), (0.0, 1.0)
    return ((aside + x + width) / 2.0, middle), (0.5, 0.5)


def draw_toasts(toasts: tuple[Toast, ...], now_s: float, context: PanelContext) -> None:
    """At the lower right of the scene, the newest at the bottom: clear of what stands there for longer."""
    x, y, width, height = context.scene_rect
    gap, wrap = context.px(14.0), context.px(TOAST_PX)
    taken = [context.rects[name] for name in UNDER_TOASTS if name in context.rects]
    within = (x + gap, y + gap, width - 2.0 * gap, height - 2.0 * gap)
    style = imgui.get_style()
    for index, toast in enumerate(reversed(toasts)):
        opacity = toast.opacity(now_s)
        icon, colour = _mark(toast)
        text = imgui.calc_text_size(toast.text, wrap_width=wrap)
        wide = imgui.calc_text_size(icon).x + style.item_spacing.x + text.x + 2.0 * style.window_padding.x
        tall = text.y + 2.0 * style.window_padding.y
        box = placed(
            (x + width - gap - wide, y + height - gap - tall, wide, tall), within, taken, step=0.5 * gap
        )
        taken.append(box)
        imgui.set_next_window_pos(box[:2], imgui.Cond_.always)
        imgui.set_next_window_size(box[2:])  # a window that fits itself would cut a new toast off for a frame
        imgui.set_next_window_bg_alpha(0.88 * opacity)
        imgui.push_style_var(imgui.StyleVar_.alpha, max(opacity, 0.02))
        imgui.begin(f"##toast{index}", None, _TOAST)
        imgui.text_colored(imgui.ImVec4(*colour), icon)
        imgui.same_line()
        imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + wrap)
        imgui.text_unformatted(toast.text)
        imgui.pop_text_wrap_pos()
        context.rects[f"toast/{index}"] = box
        imgui.end()
        imgui.pop_style_var()


def _mark(toast: Toast) -> tuple[str, theme.Colour]:
    if toast.error:
        return icons.ICON_FA_TRIANGLE_EXCLAMATION, theme.DANGER
    return icons.ICON_FA_CIRCLE_INFO, theme.ACCENT_BRIGHT


@dataclass(slots=True)
class LanesRunning:
    """Of the lanes that have been told of, by name: whether they ran."""

    by_name: dict[str, bool] = field(default_factory=dict)


def observe_notices(snapshot: Snapshot, context: PanelContext) -> None:
    """What the simulation says, and ghosts that stop, which have no banner: each is said once."""
    toasts, scene, now_s = context.of(Toasts), context.find(Scene), perf_counter()
    if not snapshot.waiting:  # which is told of at length
        toasts.hear(snapshot.message, now_s, snapshot.answers)
    if context.view.caption and scene is not None and scene.comparison.caption:
        return
    running = context.of(LanesRunning).by_name
    for lane in snapshot.lanes[1:]:
        runs = lane.status is LaneStatus.RUNNING
        if not runs and running.get(lane.name, True):
            toasts.add(f"{lane.name}: {lane.status_text or lane.status.value}", now_s, error=True)
        running[lane.name] = runs


def draw_notices(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The banner of a lane that has stopped, then the toasts."""
    now_s = perf_counter()
    requests = draw_banner(snapshot, context)
    draw_toasts(context.of(Toasts).visible(now_s), now_s, context)
    return requests
