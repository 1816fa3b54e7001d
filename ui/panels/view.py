"""Starts and views that the user comes back to."""

from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, checkbox, heading, label, log_slider, note, segmented, tooltip
from ui.requests import (
    ChangeView,
    DropBookmark,
    OpenBookmark,
    Request,
    ResetLayout,
    SetBookmark,
    SetInterfaceScale,
    TakeScreenshot,
    ToggleFullscreen,
)
from ui.units import AIR, SI, UNITS
from ui.view_settings import CAMERA_KINDS, EXPOSURE_RANGE, ViewSettings


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
    for mark in context.bookmarks:
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
    "free": "Flies where the mouse takes it.",
    "overview": "Frames the whole plan, or what there is.",
}
TOGGLES = (
    ("trail", "Trail", "Where the vehicle has been."),
    ("arrows", "Forces", "Forces and torques on the vehicle; of a top its angular momentum."),
    ("axes", "Body axes", "x red, y green, z blue."),
    ("hud", "Instruments", "Speed, height, attitude over the scene."),
    ("minimap", "Map", "Where one is, at the lower right."),
    (
        "sound",
        "Sound",
        "Rotor, engine, wheels, water and wind of what is flown; silent without an audio device.",
    ),
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
    for kind in CAMERA_KINDS:
        doc = f"{CAMERA_DOCS[kind]} {following}: the next camera."
        doc += f" {anew}: frame it anew." if kind == "overview" else ""
        kinds.append(Item(kind, kind.capitalize(), doc))
    chosen = segmented(context, "view/camera", kinds, view.camera)
    return view if chosen is None else replace(view, camera=chosen)


def _toggles(context: PanelContext, view: ViewSettings) -> ViewSettings:
    left, half = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 2.0
    for index, (name, text, doc) in enumerate(TOGGLES):
        if index % 2:
            imgui.same_line(left + half)
        if checkbox(context, f"view/{name}", text, getattr(view, name), doc + context.keymap.hint(name)):
            view = replace(view, **{name: not getattr(view, name)})
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
    imgui.text_unformatted(context.pace.words)
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
    day = context.day
    low, high = day.span
    doc = "By the sun, on the day that the scene's own light belongs to."
    label(context, "Time of day", doc)
    hour = context.hour if context.hour is not None else view.hour
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
        context.hour = chosen
    if done and context.hour is not None:
        view, context.hour = replace(view, hour=context.hour), None
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
