"""The scene, and its text."""

from imgui_bundle import icons_fontawesome_6 as icons

from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, label, menu, prose
from ui.requests import LoadScene, Request


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Menu of scenes and what the present one is about."""
    requests: list[Request] = []
    label(context, "Scene")
    scenes = context.catalogue.scenes
    here = scenes.get(snapshot.scene)
    entries = [Item(entry.name, entry.title, entry.text) for entry in scenes.values()]
    shown = here.title if here else snapshot.scene
    chosen = menu(context, "scene", entries, snapshot.scene, shown=shown)
    if chosen is not None and chosen != snapshot.scene:
        requests.append(LoadScene(chosen))
    if here is not None and here.text:
        prose(here.text)
    doc = "Everything as the scene's file has it: vehicle, parameters, method, lanes."
    if button(context, "scene/reload", f"{icons.ICON_FA_ROTATE_LEFT}  Load again", doc):
        requests.append(LoadScene(snapshot.scene))
    return requests
