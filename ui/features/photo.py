"""Photo mode: the simulation rests, nothing lies over the scene but a bar; pictures are taken through a lens."""

from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetPaused
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App
from ui.settings.view_settings import EXPOSURE_RANGE
from ui.window.context import Action, ChangeView, PanelContext, Request, ShellState, ShowPhoto
from ui.window.widgets import OVERLAY, Item, button, label, log_slider, note, segmented, tooltip

SIZES = (1, 2, 4)
MOST_BLUR = 0.02
"""Radius of the lens, of its distance from what is sharp."""
LENS_POINTS = 24


def lens_points(count: int) -> np.ndarray:
    """(count, 2) points of the unit disc, evenly spread (Vogel's spiral); the middle alone where there is one."""
    if count == 1:
        return np.zeros((1, 2))
    k = np.arange(count)
    radius, turn = np.sqrt((k + 0.5) / count), k * np.pi * (3.0 - np.sqrt(5.0))
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])


@dataclass(frozen=True, slots=True)
class TakePhoto(Action):
    """Draw the scene without anything over it and write it to a file."""

    times: int
    """As large as the window."""
    blur: float
    """Radius of the lens as a share of the distance of what is sharp, the flown vehicle."""


@dataclass(frozen=True, slots=True, eq=False)
class Developing:
    """How far a photo is that has been taken."""

    done: int = 0
    of: int = 0
    picture: np.ndarray | None = None
    """(height, width, 3) uint8, once it is finished."""
    told: str = ""
    """The file that it is in."""


@dataclass(slots=True)
class PhotoFields:
    """What the bar remembers."""

    times: int = 4
    blur: float = 0.004


class PhotoActions(Actions):
    """The simulation rests in photo mode, and goes on after it where it ran before."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._on = self._ran = False

    def poll(self, snapshot: Snapshot) -> None:
        state = self.app.context.find(ShellState)
        on = state is not None and state.photo
        if on and not self._on:
            self._ran = not snapshot.paused
            self.app.submit(SetPaused(True))
        elif self._on and not on and self._ran:
            self.app.submit(SetPaused(False))
        self._on = on


_WIDTH_PX, _ABOVE_PX = 420.0, 24.0


def draw_photo(context: PanelContext) -> list[Request]:
    """The bar in the lower left corner, off what cameras look at; while a photo develops, how far it is."""
    fields, developing, requests = context.of(PhotoFields), context.of(Developing), list[Request]()
    x, y, width, height = context.scene_rect
    corner = (x + context.px(_ABOVE_PX), y + height - context.px(_ABOVE_PX))
    imgui.set_next_window_pos(corner, imgui.Cond_.always, (0.0, 1.0))
    imgui.set_next_window_size((min(context.px(_WIDTH_PX), width - 2.0 * context.px(_ABOVE_PX)), 0.0))
    imgui.begin("##photo", None, OVERLAY)
    if developing.done < developing.of:
        text = f"{developing.done} of {developing.of} pictures through the lens"
        imgui.progress_bar(developing.done / developing.of, (-1.0, 0.0), text)
        note(context, "photo/progress")
        imgui.end()
        return []
    label(
        context,
        "Blur",
        "Width of the lens: what is nearer or farther than the vehicle is drawn out of focus.",
    )
    share = 100.0 * fields.blur / MOST_BLUR
    changed, share = imgui.slider_float("##blur", share, 0.0, 100.0, "%.0f %%" if share else "all sharp")
    note(context, "photo/blur")
    tooltip("0: all is sharp, and the photo is done at once.")
    if changed:
        fields.blur = min(max(share, 0.0), 100.0) / 100.0 * MOST_BLUR
    label(context, "Exposure")
    view, doc = context.view, "Brightness, relative to the scene's own."
    exposure = log_slider(context, "photo/exposure", view.exposure, EXPOSURE_RANGE, "%.2f", doc)
    if exposure is not None:
        low, high = EXPOSURE_RANGE
        requests.append(ChangeView(replace(view, exposure=min(max(exposure, low), high))))
    label(context, "Size", "Of the picture, beside the window's.")
    items = [Item(f"{times}", f"{times} x", f"{width * times:.0f} x {height * times:.0f}") for times in SIZES]
    chosen = segmented(context, "photo/size", items, f"{fields.times}")
    fields.times = int(chosen) if chosen is not None else fields.times
    if button(context, "photo/take", f"{icons.ICON_FA_CAMERA}  Take it", "Into the folder out", lit=True):
        requests.append(TakePhoto(fields.times, fields.blur))
    imgui.same_line()
    if button(context, "photo/close", "Back", f"Leave the photo mode{context.keymap.hint('escape')}"):
        requests.append(ShowPhoto(on=False))
    imgui.same_line()
    imgui.text_wrapped(developing.told or "Drag to turn, wheel to come nearer.")
    imgui.end()
    return requests
