"""A file or folder chosen from a list, where the desktop has no dialog of its own."""

import shutil
import sys
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from imgui_bundle import portable_file_dialogs as dialogs

from ui.window.context import PanelContext
from ui.window.widgets import button, note

SIZE = (520.0, 420.0)
MOST = 400
"""Entries that are listed of a folder."""


class FileList:
    """Open until something is chosen or it is left."""

    def __init__(self, folder: Path, endings: tuple[str, ...]) -> None:
        self._endings = endings
        self._go(folder)

    def draw(self, context: PanelContext) -> str | None:
        """Over everything; the chosen path, empty where it was left, None as long as nothing is decided."""
        room = imgui.get_io().display_size
        imgui.set_next_window_pos((room.x / 2.0, room.y / 2.0), imgui.Cond_.appearing, (0.5, 0.5))
        imgui.set_next_window_size((context.px(SIZE[0]), context.px(SIZE[1])), imgui.Cond_.appearing)
        imgui.begin("Open##files", None, imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_docking)
        chosen = self._draw(context)
        imgui.end()
        return chosen

    def _draw(self, context: PanelContext) -> str | None:
        imgui.text_wrapped(str(self._folder))
        if button(context, "files/up", f"{icons.ICON_FA_ARROW_UP}  Up", "The folder above"):
            self._go(self._folder.parent)
        imgui.same_line()
        if button(context, "files/folder", "Open this folder", "A vehicle's folder, with vehicle.py in it"):
            return str(self._folder)
        imgui.same_line()
        if button(context, "files/leave", "Leave"):
            return ""
        imgui.begin_child("##entries")
        chosen: str | None = None
        for path, is_folder in self._entries:
            icon = icons.ICON_FA_FOLDER if is_folder else icons.ICON_FA_FILE
            picked, _ = imgui.selectable(f"{icon}  {path.name}", False)
            note(context, f"files/{path.name}")
            if picked and is_folder:
                self._go(path)
            elif picked:
                chosen = str(path)
        imgui.end_child()
        return chosen

    def _go(self, folder: Path) -> None:
        self._folder = folder
        self._entries = listed(folder, self._endings)


def listed(folder: Path, endings: tuple[str, ...]) -> list[tuple[Path, bool]]:
    """(path, whether it is a folder): folders first, then files of these kinds; hidden ones are left out."""
    try:
        found = [(path, path.is_dir()) for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []
    kept = [(path, is_folder) for path, is_folder in found if is_folder or path.name.endswith(endings)]
    return sorted(kept, key=lambda entry: (not entry[1], entry[0].name.lower()))[:MOST]


ENDINGS = (".toml", ".npz", ".csv", ".ulg", ".bin", ".mcap", ".urdf", ".xml", ".py", ".controls.json")
"""Scenes, takes, plans, tables of poses, robots, vehicles, controls."""
_PROGRAMS = ("zenity", "kdialog", "matedialog", "qarma")
"""Of which the library needs one on Linux."""


def has_native() -> bool:
    """Whether the desktop has a dialog that can be used."""
    return not sys.platform.startswith("linux") or any(map(shutil.which, _PROGRAMS))


class FileDialog:
    """At most one is open; drawn once a frame."""

    def __init__(self) -> None:
        self._native: dialogs.open_file | None = None
        self._list: FileList | None = None

    def open(self, folder: Path) -> None:
        """Begin to ask, unless it is being asked."""
        if self._native is not None or self._list is not None:
            return
        if has_native():
            kinds = ["What can be opened", " ".join(f"*{ending}" for ending in ENDINGS), "All files", "*"]
            self._native = dialogs.open_file("Open", str(folder), kinds)
        else:
            self._list = FileList(folder, ENDINGS)

    def draw(self, context: PanelContext) -> str:
        """What has been chosen since the last frame; empty: nothing."""
        if self._native is not None and self._native.ready(0):
            chosen, self._native = self._native.result(), None
            return chosen[0] if chosen else ""
        if self._list is not None:
            path = self._list.draw(context)
            if path is not None:
                self._list = None
                return path
        return ""
