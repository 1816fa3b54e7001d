"""What the requests about bookmarks do: to the file, to the view, to the simulation."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from sim.commands import StartAt
from sim.snapshot import Snapshot
from ui.bookmarks import Bookmark, Bookmarks, eye_of, read_bookmarks, start_of, write_bookmarks
from ui.requests import BookmarkRequest, ChangeView, DropBookmark, OpenBookmark, Request, SetBookmark
from ui.view_settings import ViewSettings


class BookmarkKeeper:
    """Of one window."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = read_bookmarks(folder)

    def of(self, scene: str) -> tuple[Bookmark, ...]:
        """A scene's."""
        return self._kept.of(scene)

    def resolved(
        self, request: BookmarkRequest, snapshot: Snapshot, view: ViewSettings, camera: np.ndarray | None
    ) -> list[Request]:
        """What it comes down to. `camera`: (4, 4) world to camera of what is seen. Raises InputError."""
        scene = snapshot.scene
        match request:
            case SetBookmark("start"):
                self._keep(self._kept.with_one(scene, "Start", start=start_of(snapshot.lanes[0])))
            case SetBookmark() if camera is not None:
                self._keep(self._kept.with_one(scene, "View", eye=eye_of(camera)))
            case DropBookmark(name):
                self._keep(self._kept.without(scene, name))
            case OpenBookmark(name):
                return [each for mark in self.of(scene) if mark.name == name for each in _opened(mark, view)]
        return []

    def _keep(self, kept: Bookmarks) -> None:
        self._kept = kept
        write_bookmarks(self._folder, kept)


def _opened(mark: Bookmark, view: ViewSettings) -> list[Request]:
    asked: list[Request] = []
    if mark.start is not None:
        asked.append(StartAt(mark.start))
    if mark.eye is not None:
        asked.append(ChangeView(replace(view, camera="free", eye=mark.eye, eyes=view.eyes + 1)))
    return asked
