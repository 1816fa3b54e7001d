"""The present scene's text, the gallery of all scenes, and the history of edits."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import moderngl
import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from PIL import Image

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.edits import draw_edit_history
from ui.features.progress.panel import draw_medal
from ui.features.scenes.own import MINE, is_own, own_picture, own_scenes
from ui.features.scenes.view import BrowseFiles, OpenPath, PendingScene
from ui.settings.catalogue import SCENE_KINDS, SceneEntry
from ui.settings.view_settings import Remembered
from ui.window import theme
from ui.window.context import LoadScene, PanelContext, Request
from ui.window.opening_screen import THUMBNAILS
from ui.window.widgets import Item, button, heading, menu, note, prose, right_edge, tooltip


@dataclass(slots=True)
class GalleryFields:
    """What is typed into the scene panel."""

    search: str = ""
    path: str = ""


SIZE_PX = (192, 120)


def path_of(scene: str) -> Path:
    """Where the picture of a scene lies that comes with the project."""
    return THUMBNAILS / f"{scene}.jpg"


class Thumbnails:
    """Of one window, whose GL context has to be current."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._textures: dict[str, moderngl.Texture | None] = {}
        self._may_read = True

    def begin_frame(self) -> None:
        """One more may be read."""
        self._may_read = True

    def renew(self, scene: str) -> None:
        """Its picture has changed."""
        texture = self._textures.pop(scene, None)
        if texture is not None:
            texture.release()

    def of(self, scene: str) -> int | None:
        """Its texture's number, by its name or the path of its file; None where there is no picture, or none yet."""
        if scene not in self._textures and self._may_read:
            self._may_read = False
            self._textures[scene] = self._read(own_picture(scene) if is_own(scene) else path_of(scene))
        texture = self._textures.get(scene)
        return None if texture is None else texture.glo

    def release(self) -> None:
        """Before the window closes."""
        for texture in self._textures.values():
            if texture is not None:
                texture.release()
        self._textures.clear()

    def _read(self, path: Path) -> moderngl.Texture | None:
        # A picture that is missing or cannot be read is none: the gallery shows the title alone.
        with suppress(OSError, ValueError, Image.DecompressionBombError), Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB").resize(SIZE_PX), np.uint8)
            return self._ctx.texture(SIZE_PX, 3, pixels.tobytes(), alignment=1)
        return None


COLUMNS = 3
LAST = 3


def draw_gallery(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A field to search in, then the pictures."""
    fields = context.of(GalleryFields)
    imgui.set_next_item_width(-1.0)
    _, fields.search = imgui.input_text_with_hint("##scene_search", "Search scenes", fields.search)
    note(context, "scene/search")
    entries = list(context.catalogue.scenes.values())
    own = own_scenes(context.of(Remembered).files)
    words = fields.search.lower().split()
    if words:
        return _grid([entry for entry in (*entries, *own) if fits(entry, words)], snapshot, context)
    requests: list[Request] = []
    last = [
        context.catalogue.scenes[name]
        for name in context.of(Remembered).scenes
        if name in context.catalogue.scenes
    ]
    last = [entry for entry in last if entry.name != snapshot.scene][:LAST]
    if last:
        heading(context, "Last")
        requests += _grid(last, snapshot, context)
    if own:
        heading(context, MINE)
        requests += _grid(own, snapshot, context)
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
    coming = context.of(PendingScene).name
    left = imgui.get_cursor_pos_x()
    for index, entry in enumerate(entries):
        if index % COLUMNS:
            imgui.same_line(left + (index % COLUMNS) * (width + gap))
        comes = bool(coming) and Path(entry.name).name == coming
        if _card(entry, width, comes or snapshot.scene == entry.name, context):
            requests.append(OpenPath(entry.name) if entry.kind == MINE else LoadScene(entry.name))
    return requests


def _card(entry: SceneEntry, width: float, present: bool, context: PanelContext) -> bool:
    """Whether it was clicked, and is neither present nor coming already."""
    height = width * SIZE_PX[1] / SIZE_PX[0]
    line = imgui.get_text_line_height()
    clicked = imgui.invisible_button(f"##scene/{entry.name}", (width, height + 2.0 * line + context.px(4.0)))
    note(context, f"scene/open/{entry.name}")
    if not imgui.is_item_visible():
        return False
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    hovered = imgui.is_item_hovered()
    tooltip(f"{entry.title}\n\n{entry.text}" if entry.text else entry.title)
    pen, corner = imgui.get_window_draw_list(), (high.x, low.y + height)
    thumbnails = context.find(Thumbnails)
    texture = None if thumbnails is None else thumbnails.of(entry.name)
    if texture is None:
        pen.add_rect_filled(low, corner, theme.packed(theme.FIELD), context.px(4.0))
    else:
        pen.add_image(imgui.ImTextureRef(texture), low, corner)
    edge = theme.ACCENT if present else theme.ACCENT_BRIGHT if hovered else theme.LINE
    pen.add_rect(
        low, corner, theme.packed(edge), context.px(4.0), thickness=context.px(2.0 if present else 1.0)
    )
    draw_medal(entry.name, (high.x, low.y), context)
    pen.push_clip_rect((low.x, corner[1]), high, True)
    ink = theme.packed(theme.ACCENT_BRIGHT if present else theme.INK)
    size = imgui.get_font_size() * 0.87
    place = (low.x, corner[1] + context.px(2.0))
    pen.add_text(imgui.get_font(), size, place, ink, entry.title, width)
    pen.pop_clip_rect()
    return clicked and not present


def draw_scene(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What the present scene is about, then all of them; while somebody searches, what is found alone."""
    requests: list[Request] = []
    if context.of(GalleryFields).search.strip():
        return draw_gallery(snapshot, context)
    scenes = context.catalogue.scenes
    here = scenes.get(snapshot.scene)
    if here is not None and here.text:
        prose(here.text)
    doc = "Everything as the scene's file has it: vehicle, parameters, method, lanes."
    if button(context, "scene/reload", f"{icons.ICON_FA_ROTATE_LEFT}  Load again", doc):
        requests.append(LoadScene(snapshot.scene))
    requests += draw_edit_history(context)
    requests += _open(context)
    return requests + draw_gallery(snapshot, context)


def _open(context: PanelContext) -> list[Request]:
    """A path, for what does not come with the project; the same may be dropped onto the window."""
    fields = context.of(GalleryFields)
    kept = context.of(Remembered)
    heading(context, "Open...")
    gap, width = context.px(6.0), context.px(62.0)
    browse = context.px(34.0)
    imgui.set_next_item_width(right_edge() - imgui.get_cursor_pos_x() - width - browse - 2.0 * gap)
    entered, fields.path = imgui.input_text_with_hint(
        "##open_path",
        "vehicle's folder, robot, scene or take",
        fields.path,
        imgui.InputTextFlags_.enter_returns_true,
    )
    note(context, "open/path")
    tooltip(
        "A folder with vehicle.py, a robot (.urdf, .xml), a scene (.toml) or a take (.npz). "
        "Dropping it onto the window does the same."
    )
    imgui.same_line(0.0, gap)
    path = fields.path.strip()
    doc = "A vehicle's file is a program: it is run."
    clicked = button(context, "open/button", "Open", doc, width=width, enabled=bool(path))
    imgui.same_line(0.0, gap)
    doc = "Choose a file"
    if button(context, "open/browse", icons.ICON_FA_FOLDER_OPEN, doc, width=browse):
        return [BrowseFiles()]
    if kept.files:
        items = [Item(recent, Path(recent).name, recent) for recent in kept.files]
        recent = menu(context, "open/recent", items, "", "Opened before")
        if recent is not None:
            return [OpenPath(recent)]
    return [OpenPath(path)] if path and (clicked or entered) else []
