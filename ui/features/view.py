"""Starts and views that the user comes back to."""

import math
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from render.light import Day, Sun
from sim.commands import StartAt
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene import CAMERAS
from sim.scene.tables import Start
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.settings.view_settings import (
    AIR,
    EXPOSURE_RANGE,
    SI,
    UNITS,
    KeptFile,
    ViewSettings,
)
from ui.window.context import (
    ChangeView,
    Indirect,
    Pace,
    PanelContext,
    Request,
    ResetLayout,
    SetInterfaceScale,
    ShowPhoto,
    TakeScreenshot,
    ToggleFullscreen,
)
from ui.window.widgets import Item, button, checkbox, heading, label, log_slider, note, segmented, tooltip


@dataclass(frozen=True, slots=True)
class SetBookmark(Indirect):
    """Remember a place of this scene."""

    kind: str
    """`start` or `view`."""


@dataclass(frozen=True, slots=True)
class OpenBookmark(Indirect):
    """Go there."""

    name: str


@dataclass(frozen=True, slots=True)
class DropBookmark(Indirect):
    """Forget it."""

    name: str


BookmarkRequest = SetBookmark | OpenBookmark | DropBookmark


@dataclass(frozen=True, slots=True)
class SceneBookmarks:
    """Those of the scene that is open, for the panel."""

    marks: "tuple[Bookmark, ...]" = ()


MOST, MOST_SCENES = 12, 60
"""Of one scene, and of all."""
Eye = tuple[float, float, float, float, float]
"""Of the free camera: x, y, z [m], bearing and pitch of what it looks at [rad]."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One of the two."""

    name: str
    start: Start | None = None
    eye: Eye | None = None


@dataclass(frozen=True, slots=True)
class Bookmarks:
    """All of them, by the scene's name."""

    scenes: dict[str, tuple[Bookmark, ...]] = field(default_factory=dict)

    def of(self, scene: str) -> tuple[Bookmark, ...]:
        """In the order in which they were set."""
        return self.scenes.get(scene, ())

    def with_one(
        self, scene: str, kind: str, *, start: Start | None = None, eye: Eye | None = None
    ) -> "Bookmarks":
        """One more, under a number that is free. Raises InputError where there are too many."""
        here = self.of(scene)
        if len(here) >= MOST or (not here and len(self.scenes) >= MOST_SCENES):
            raise InputError(f"no more than {MOST} bookmarks in a scene, in {MOST_SCENES} scenes")
        taken = {mark.name for mark in here}
        name = next(n for n in (f"{kind} {number}" for number in range(1, MOST + 2)) if n not in taken)
        return replace(self, scenes={**self.scenes, scene: (*here, Bookmark(name, start, eye))})

    def without(self, scene: str, name: str) -> "Bookmarks":
        """All but that one."""
        left = tuple(mark for mark in self.of(scene) if mark.name != name)
        others = {other: marks for other, marks in self.scenes.items() if other != scene}
        return replace(self, scenes={**others, scene: left} if left else others)


def start_of(lane: LaneSnapshot) -> Start:
    """Place, attitude and motion of the main body."""
    R, (x, y, z) = lane.T_wb[:3, :3], lane.T_wb[:3, 3].tolist()
    return Start(
        position_w=(x, y, z),
        heading_rad=math.atan2(R[1, 0], R[0, 0]),
        pitch_rad=-math.asin(min(max(float(R[2, 0]), -1.0), 1.0)),
        roll_rad=math.atan2(R[2, 1], R[2, 2]),
        omega_b=tuple(lane.twist_b[:3].tolist()),
        velocity_b=tuple(lane.twist_b[3:6].tolist()),
    )


def eye_of(view: np.ndarray) -> Eye:
    """Of a camera (4, 4), world to camera."""
    R, t = view[:3, :3], view[:3, 3]
    x, y, z = (-R.T @ t).tolist()
    forward = -R[2]
    return x, y, z, math.atan2(forward[1], forward[0]), math.asin(min(max(float(forward[2]), -1.0), 1.0))


def _check(kept: Bookmarks) -> None:
    if len(kept.scenes) > MOST_SCENES or any(len(marks) > MOST for marks in kept.scenes.values()):
        raise InputError("too many")
    for mark in (mark for marks in kept.scenes.values() for mark in marks):
        numbers = [*(mark.eye or ())]
        if mark.start is not None:
            numbers += [*mark.start.position_w, *mark.start.velocity_b, *mark.start.omega_b]
        if any(abs(number) > 1e5 for number in numbers) or not mark.name.isprintable() or len(mark.name) > 80:
            raise InputError("a place that cannot be")


BOOKMARKS = KeptFile("bookmarks.json", Bookmarks, "bookmarks", _check)


class BookmarkKeeper:
    """Of one window."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = BOOKMARKS.read(folder)

    def of(self, scene: str) -> tuple[Bookmark, ...]:
        """A scene's."""
        return self._kept.of(scene)

    def resolved(
        self, request: BookmarkRequest, snapshot: Snapshot, view: ViewSettings, camera: np.ndarray | None
    ) -> list[Request]:
        """What it comes down to. `camera`: (4, 4) world to camera of what is seen. Raises InputError."""
        scene = snapshot.scene
        match request:
            case SetBookmark("start"):
                self._keep(self._kept.with_one(scene, "Start", start=start_of(snapshot.lanes[0])))
            case SetBookmark() if camera is not None:
                self._keep(self._kept.with_one(scene, "View", eye=eye_of(camera)))
            case DropBookmark(name):
                self._keep(self._kept.without(scene, name))
            case OpenBookmark(name):
                return [each for mark in self.of(scene) if mark.name == name for each in _opened(mark, view)]
        return []

    def _keep(self, kept: Bookmarks) -> None:
        self._kept = kept
        BOOKMARKS.write(self._folder, kept)


def _opened(mark: Bookmark, view: ViewSettings) -> list[Request]:
    asked: list[Request] = []
    if mark.start is not None:
        asked.append(StartAt(mark.start))
    if mark.eye is not None:
        asked.append(ChangeView(replace(view, camera="free", eye=mark.eye, eyes=view.eyes + 1)))
    return asked


@dataclass(slots=True)
class HourSlider:
    """The time of day, while its slider is held."""

    hour: float | None = None


def draw_bookmarks(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Two to set one, then a row for each."""
    requests: list[Request] = []
    heading(context, "Bookmarks")
    doc = (
        "Where the vehicle is and how it moves: opening it starts all lanes there, and so does starting over."
    )
    held = snapshot.lanes[0].pivot_w is not None
    if button(context, "bookmarks/start", f"{icons.ICON_FA_PLUS}  Start here", doc, enabled=not held):
        requests.append(SetBookmark("start"))
    imgui.same_line()
    doc = "What is seen now, for the free camera."
    if button(context, "bookmarks/view", f"{icons.ICON_FA_PLUS}  This view", doc):
        requests.append(SetBookmark("view"))
    for mark in context.of(SceneBookmarks).marks:
        icon = icons.ICON_FA_LOCATION_DOT if mark.start is not None else icons.ICON_FA_CAMERA
        if button(context, f"bookmarks/open/{mark.name}", f"{icon}  {mark.name}", "Go there"):
            requests.append(OpenBookmark(mark.name))
        imgui.same_line()
        if button(context, f"bookmarks/drop/{mark.name}", f"{icons.ICON_FA_XMARK}##{mark.name}", "Forget it"):
            requests.append(DropBookmark(mark.name))
    return requests


CAMERA_DOCS = {
    "chase": "Follows the vehicle. Drag to look round it.",
    "orbit": "Turns about the vehicle and keeps its own heading.",
    "cockpit": "From the pilot's seat.",
    "tower": "Stands on the ground and looks after the vehicle.",
    "fly-by": "Waits close beside the way ahead and lets the vehicle rush past, again and again.",
    "crane": "Rises and sweeps about the vehicle, slowly.",
    "director": "Cuts from one of them to the next, as in a film: for what has been flown, and for crashes.",
    "free": "Flies where the mouse takes it.",
    "overview": "Frames the whole plan, or what there is.",
}
TOGGLES = (
    ("trail", "Trail", "Where the vehicle has been."),
    ("arrows", "Forces", "Forces and torques on the vehicle; of a top its angular momentum."),
    ("axes", "Body axes", "x red, y green, z blue."),
    (
        "inertia",
        "Inertia",
        "Centre of mass, and the ellipsoid that has the same mass and moments of inertia if it is equally dense: "
        "the farther out mass lies, the larger it is.",
    ),
    ("hud", "Instruments", "Speed, height, attitude over the scene."),
    ("minimap", "Map", "Where one is, at the lower right."),
    (
        "sound",
        "Sound",
        "Rotor, engine, wheels, water and wind of what is flown; silent without an audio device.",
    ),
)
FLUENT, SHARP = "fluent", "sharp"
PREFERENCES = (
    Item(FLUENT, "Fluent", "Thirty pictures a second, at down to half of the window's scale."),
    Item(SHARP, "Sharp", "At least 80 % of the window's scale, at down to fifteen pictures a second."),
)
SCALES = (0.85, 1.0, 1.25, 1.5, 2.0)


def draw_view(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Camera, what is shown, quality, exposure; then the window."""
    view = context.view
    changed = _camera(context, view)
    changed = _toggles(context, changed)
    changed = _picture(context, _units(context, changed))
    requests: list[Request] = [] if changed == view else [ChangeView(changed)]
    return requests + draw_bookmarks(snapshot, context) + _window(context)


def _camera(context: PanelContext, view: ViewSettings) -> ViewSettings:
    heading(context, "Camera")
    following, anew = context.keymap.first("camera"), context.keymap.first("overview")
    kinds = []
    for kind in CAMERAS:
        doc = f"{CAMERA_DOCS[kind]} {following}: the next camera."
        doc += f" {anew}: frame it anew." if kind == "overview" else ""
        kinds.append(Item(kind, kind.capitalize(), doc))
    half = len(kinds) // 2
    chosen = segmented(context, "view/camera", kinds[:half], view.camera)
    chosen = segmented(context, "view/camera", kinds[half:], view.camera) or chosen
    return view if chosen is None else replace(view, camera=chosen)


def _toggles(context: PanelContext, view: ViewSettings) -> ViewSettings:
    left, half = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 2.0
    for index, (name, text, doc) in enumerate(TOGGLES):
        if index % 2:
            imgui.same_line(left + half)
        if checkbox(context, f"view/{name}", text, getattr(view, name), doc + context.keymap.hint(name)):
            shown: dict[str, Any] = {name: not getattr(view, name)}
            view = replace(view, **shown)
    return view


def _units(context: PanelContext, view: ViewSettings) -> ViewSettings:
    label(context, "Units", "Of speeds, heights and distances on the instruments.")
    docs = {SI: "Metres, metres a second, kilometres an hour.", AIR: "Knots and feet."}
    chosen = segmented(context, "view/units", [Item(name, name, docs[name]) for name in UNITS], view.units)
    return view if chosen is None else replace(view, units=chosen)


def _picture(context: PanelContext, view: ViewSettings) -> ViewSettings:
    heading(context, "Picture")
    qualities = [Item(name, name.capitalize()) for name in context.qualities]
    chosen = segmented(context, "view/quality", qualities, view.quality)
    if chosen is not None:
        view = replace(view, quality=chosen)
    label(
        context, "Motion", "What is given up where there is too little time: sharpness, or pictures a second."
    )
    chosen = segmented(context, "view/motion", PREFERENCES, SHARP if view.sharp else FLUENT)
    if chosen is not None:
        view = replace(view, sharp=chosen == SHARP)
    view = _hour(context, view)
    label(context, "Volume")
    slid, volume = imgui.slider_float(
        "##volume", view.volume, 0.0, 1.0, "%.2f", imgui.SliderFlags_.always_clamp
    )
    note(context, "view/volume")
    if slid:
        view = replace(view, volume=round(volume, 2))
    label(
        context,
        "Frames",
        "The scene's scale follows the time that a frame takes; a picture at rest is whole.",
    )
    imgui.text_unformatted(context.of(Pace).words)
    note(context, "view/pace")
    doc = "Relative to the scene's own; 1 is the scene as it was meant."
    label(context, "Exposure", doc)
    exposure = log_slider(context, "view/exposure", view.exposure, EXPOSURE_RANGE, "%.2f", doc)
    if exposure is None:
        return view
    low, high = EXPOSURE_RANGE
    return replace(view, exposure=min(max(exposure, low), high))


def _hour(context: PanelContext, view: ViewSettings) -> ViewSettings:
    """The sun goes on when the slider is let go: its shadows take a moment."""
    held = context.of(HourSlider)
    day = context.find(Day) or Day.of(Sun())
    low, high = day.span
    doc = "By the sun, on the day that the scene's own light belongs to."
    label(context, "Time of day", doc)
    hour = held.hour if held.hour is not None else view.hour
    hour = day.hour if hour is None else hour
    reset = context.px(26.0)
    imgui.set_next_item_width(imgui.get_content_region_avail().x - reset - context.px(4.0))
    slid, chosen = imgui.slider_float(
        "##hour", hour, low, high, clock(hour), imgui.SliderFlags_.always_clamp.value
    )
    done = imgui.is_item_deactivated_after_edit()
    note(context, "view/hour")
    tooltip(doc)
    if slid:
        held.hour = chosen
    if done and held.hour is not None:
        view, held.hour = replace(view, hour=held.hour), None
    imgui.same_line(0.0, context.px(4.0))
    if button(context, "view/hour/own", icons.ICON_FA_ROTATE_LEFT, "The scene's own", width=reset):
        view = replace(view, hour=None)
    return view


def clock(hour: float) -> str:
    """'14:05'."""
    minutes = round(60.0 * hour)
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def _window(context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    heading(context, "Photo")
    doc = "Large pictures with blur by depth, without panels" + context.keymap.hint("screenshot") + " held"
    if button(context, "view/photo", f"{icons.ICON_FA_CAMERA_RETRO}  Photo mode", doc):
        requests.append(ShowPhoto(on=True))
    heading(context, "Window")
    label(context, "Text size")
    scales = [Item(f"{scale:g}", f"{scale:.0%}") for scale in SCALES]
    chosen = segmented(context, "view/scale", scales, f"{context.scale:g}")
    if chosen is not None:
        requests.append(SetInterfaceScale(float(chosen)))
    keys = context.keymap
    doc = "Save what the window shows" + keys.hint("screenshot")
    if button(context, "view/screenshot", f"{icons.ICON_FA_CAMERA}  Picture", doc):
        requests.append(TakeScreenshot())
    imgui.same_line()
    doc = "Full screen" + keys.hint("fullscreen")
    if button(context, "view/fullscreen", icons.ICON_FA_EXPAND, doc):
        requests.append(ToggleFullscreen())
    imgui.same_line()
    if button(context, "view/layout", "Reset layout", "Panels back to where they were at first."):
        requests.append(ResetLayout())
    return requests
