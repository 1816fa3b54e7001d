"""The scenes as pictures: the last ones first, then all by kind; a search leaves those that fit."""

from collections.abc import Iterable

from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui import theme
from ui.catalogue import SCENE_KINDS, SceneEntry
from ui.panels.context import PanelContext
from ui.panels.widgets import heading, note, tooltip
from ui.requests import LoadScene, Request
from ui.thumbnails import SIZE_PX

COLUMNS = 3
LAST = 3


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A field to search in, then the pictures."""
    imgui.set_next_item_width(-1.0)
    _, context.scene_search = imgui.input_text_with_hint(
        "##scene_search", "Search scenes", context.scene_search
    )
    note(context, "scene/search")
    entries = list(context.catalogue.scenes.values())
    words = context.scene_search.lower().split()
    if words:
        return _grid([entry for entry in entries if fits(entry, words)], snapshot, context)
    requests: list[Request] = []
    last = [
        context.catalogue.scenes[name] for name in context.last_scenes if name in context.catalogue.scenes
    ]
    last = [entry for entry in last if entry.name != snapshot.scene][:LAST]
    if last:
        heading(context, "Last")
        requests += _grid(last, snapshot, context)
    for kind in SCENE_KINDS:
        members = [entry for entry in entries if entry.kind == kind and entry not in last]
        if members:
            heading(context, kind)
            requests += _grid(members, snapshot, context)
    return requests


def fits(entry: SceneEntry, words: list[str]) -> bool:
    """Whether each word stands somewhere in what is said of the scene."""
    text = " ".join((entry.name, entry.title, entry.text, entry.kind)).lower()
    return all(word in text for word in words)


def _grid(entries: Iterable[SceneEntry], snapshot: Snapshot, context: PanelContext) -> list[Request]:
    gap = context.px(6.0)
    width = (imgui.get_content_region_avail().x - gap * (COLUMNS - 1)) / COLUMNS
    requests: list[Request] = []
    left = imgui.get_cursor_pos_x()
    for index, entry in enumerate(entries):
        if index % COLUMNS:
            imgui.same_line(left + (index % COLUMNS) * (width + gap))
        if _card(entry, width, snapshot.scene == entry.name, context):
            requests.append(LoadScene(entry.name))
    return requests


def _card(entry: SceneEntry, width: float, present: bool, context: PanelContext) -> bool:
    """Whether another scene than the present one was clicked."""
    height = width * SIZE_PX[1] / SIZE_PX[0]
    line = imgui.get_text_line_height()
    clicked = imgui.invisible_button(f"##scene/{entry.name}", (width, height + 2.0 * line + context.px(4.0)))
    note(context, f"scene/open/{entry.name}")
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    hovered = imgui.is_item_hovered()
    tooltip(f"{entry.title}\n\n{entry.text}" if entry.text else entry.title)
    pen, corner = imgui.get_window_draw_list(), (high.x, low.y + height)
    texture = context.thumbnail(entry.name) if imgui.is_item_visible() else None
    if texture is None:
        pen.add_rect_filled(low, corner, theme.packed(theme.FIELD), context.px(4.0))
    else:
        pen.add_image(imgui.ImTextureRef(texture), low, corner)
    edge = theme.ACCENT if present else theme.ACCENT_BRIGHT if hovered else theme.LINE
    pen.add_rect(
        low, corner, theme.packed(edge), context.px(4.0), thickness=context.px(2.0 if present else 1.0)
    )
    pen.push_clip_rect((low.x, corner[1]), high, True)
    ink = theme.packed(theme.ACCENT_BRIGHT if present else theme.INK)
    size = imgui.get_font_size() * 0.87
    place = (low.x, corner[1] + context.px(2.0))
    pen.add_text(imgui.get_font(), size, place, ink, entry.title, width)
    pen.pop_clip_rect()
    return clicked and not present
