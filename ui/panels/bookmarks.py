"""Starts and views that the user comes back to."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import button, heading
from ui.requests import DropBookmark, OpenBookmark, Request, SetBookmark


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
