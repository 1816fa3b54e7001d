"""A file chosen by the user: with the desktop's own dialog, or with a list of ours where there is none."""

import shutil
import sys
from pathlib import Path

from imgui_bundle import portable_file_dialogs as dialogs

from ui.panels.context import PanelContext
from ui.panels.file_list import FileList

ENDINGS = (".toml", ".npz", ".csv", ".urdf", ".xml", ".py", ".controls.json")
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
