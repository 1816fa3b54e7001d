"""The text of the present scene, what can be opened besides, and all scenes, each a click away."""

from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.panels import edit_history, gallery
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, heading, menu, note, prose, right_edge, tooltip
from ui.requests import BrowseFiles, LoadScene, OpenPath, Request


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What the present scene is about, then all of them."""
    requests: list[Request] = []
    scenes = context.catalogue.scenes
    here = scenes.get(snapshot.scene)
    if here is not None and here.text:
        prose(here.text)
    doc = "Everything as the scene's file has it: vehicle, parameters, method, lanes."
    if button(context, "scene/reload", f"{icons.ICON_FA_ROTATE_LEFT}  Load again", doc):
        requests.append(LoadScene(snapshot.scene))
    requests += edit_history.draw(context)
    requests += _open(context)
    return requests + gallery.draw(snapshot, context)


def _open(context: PanelContext) -> list[Request]:
    """A path, for what does not come with the project; the same may be dropped onto the window."""
    heading(context, "Open...")
    gap, width = context.px(6.0), context.px(62.0)
    browse = context.px(34.0)
    imgui.set_next_item_width(right_edge() - imgui.get_cursor_pos_x() - width - browse - 2.0 * gap)
    entered, context.open_path = imgui.input_text_with_hint(
        "##open_path",
        "vehicle's folder, robot, scene or take",
        context.open_path,
        imgui.InputTextFlags_.enter_returns_true,
    )
    note(context, "open/path")
    tooltip(
        "A folder with vehicle.py, a robot (.urdf, .xml), a scene (.toml) or a take (.npz). "
        "Dropping it onto the window does the same."
    )
    imgui.same_line(0.0, gap)
    path = context.open_path.strip()
    doc = "A vehicle's file is a program: it is run."
    clicked = button(context, "open/button", "Open", doc, width=width, enabled=bool(path))
    imgui.same_line(0.0, gap)
    doc = "Choose a file"
    if button(context, "open/browse", icons.ICON_FA_FOLDER_OPEN, doc, width=browse):
        return [BrowseFiles()]
    if context.recent_files:
        items = [Item(recent, Path(recent).name, recent) for recent in context.recent_files]
        recent = menu(context, "open/recent", items, "", "Opened before")
        if recent is not None:
            return [OpenPath(recent)]
    return [OpenPath(path)] if path and (clicked or entered) else []
