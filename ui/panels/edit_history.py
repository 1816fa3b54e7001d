"""What has been edited, by name; a click goes back to it."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ui import theme
from ui.panels.context import PanelContext
from ui.panels.widgets import button, note
from ui.requests import Request, StepEdits

SHOWN = 8
"""Of the latest; the rest is a scroll away."""


def draw(context: PanelContext) -> list[Request]:
    """Two buttons, and the list once it is opened; nothing before the first edit."""
    edits, requests = context.edits, []
    if len(edits.names) < 2:
        return []
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    for by, name, word, icon in (
        (-1, "undo", "Undo", icons.ICON_FA_ROTATE_LEFT),
        (1, "redo", "Redo", icons.ICON_FA_ROTATE_RIGHT),
    ):
        what = edits.step_name(by)
        doc = f"{word} {what}{context.keymap.hint(name)}"
        if button(context, f"edits/{name}", f"{icon}  {word}", doc, width=width, enabled=bool(what)):
            requests.append(StepEdits(by))
        if by < 0:
            imgui.same_line(0.0, gap)
    opened = imgui.tree_node(f"Edits ({len(edits.names) - 1})##edits")
    note(context, "edits/list")
    if opened:
        requests += _list(context)
        imgui.tree_pop()
    return requests


def _list(context: PanelContext) -> list[Request]:
    edits, requests = context.edits, []
    rows = min(len(edits.names), SHOWN)
    imgui.begin_child("edits", (0.0, rows * imgui.get_text_line_height_with_spacing()))
    for index in reversed(range(len(edits.names))):
        undone = index > edits.at
        if undone:
            imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
        picked, _ = imgui.selectable(f"{edits.names[index]}##{index}", index == edits.at)
        if undone:
            imgui.pop_style_color()
        note(context, f"edits/{index}")
        if picked:
            requests.append(StepEdits(index - edits.at))
    imgui.end_child()
    return requests
