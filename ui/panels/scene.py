"""The scenes, each a click away, and the text of the present one."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.catalogue import SCENE_KINDS
from ui.panels import edit_history
from ui.panels.context import PanelContext
from ui.panels.widgets import button, heading, note, prose, right_edge, tooltip
from ui.requests import LoadScene, OpenPath, Request


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What the present scene is about, then all of them by kind."""
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
    for kind in SCENE_KINDS:
        members = [entry for entry in scenes.values() if entry.kind == kind]
        if members:
            heading(context, kind)
        for entry in members:
            present = entry.name == snapshot.scene
            picked, _ = imgui.selectable(f"{entry.title}##scene/{entry.name}", present)
            note(context, f"scene/open/{entry.name}")
            if not present:  # its text stands above
                tooltip(entry.text)
            if picked and not present:
                requests.append(LoadScene(entry.name))
    return requests


def _open(context: PanelContext) -> list[Request]:
    """A path, for what does not come with the project; the same may be dropped onto the window."""
    heading(context, "Open...")
    gap, width = context.px(6.0), context.px(62.0)
    imgui.set_next_item_width(right_edge() - imgui.get_cursor_pos_x() - width - gap)
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
    return [OpenPath(path)] if path and (clicked or entered) else []
