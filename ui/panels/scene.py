"""The scenes, each a click away, and the text of the present one."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.catalogue import SCENE_KINDS
from ui.panels.context import PanelContext
from ui.panels.widgets import button, heading, note, prose, tooltip
from ui.requests import LoadScene, Request


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
