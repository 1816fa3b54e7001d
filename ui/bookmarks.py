"""Places that one comes back to: starts of the vehicle, views of the free camera. By scene, in `bookmarks.json`."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sim.commands import StartAt
from sim.platform.errors import InputError
from sim.scene.tables import Start
from sim.snapshot import LaneSnapshot, Snapshot
from ui.memory import read_kept, write_kept
from ui.requests import BookmarkRequest, ChangeView, DropBookmark, OpenBookmark, Request, SetBookmark
from ui.view_settings import ViewSettings

FILE = "bookmarks.json"
MOST, MOST_SCENES = 12, 60
"""Of one scene, and of all."""
Eye = tuple[float, float, float, float, float]
"""Of the free camera: x, y, z [m], bearing and pitch of what it looks at [rad]."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One of the two."""

    name: str
    start: Start | None = None
    eye: Eye | None = None


@dataclass(frozen=True, slots=True)
class Bookmarks:
    """All of them, by the scene's name."""

    scenes: dict[str, tuple[Bookmark, ...]] = field(default_factory=dict)

    def of(self, scene: str) -> tuple[Bookmark, ...]:
        """In the order in which they were set."""
        return self.scenes.get(scene, ())

    def with_one(
        self, scene: str, kind: str, *, start: Start | None = None, eye: Eye | None = None
    ) -> "Bookmarks":
        """One more, under a number that is free. Raises InputError where there are too many."""
        here = self.of(scene)
        if len(here) >= MOST or (not here and len(self.scenes) >= MOST_SCENES):
            raise InputError(f"no more than {MOST} bookmarks in a scene, in {MOST_SCENES} scenes")
        taken = {mark.name for mark in here}
        name = next(n for n in (f"{kind} {number}" for number in range(1, MOST + 2)) if n not in taken)
        return replace(self, scenes={**self.scenes, scene: (*here, Bookmark(name, start, eye))})

    def without(self, scene: str, name: str) -> "Bookmarks":
        """All but that one."""
        left = tuple(mark for mark in self.of(scene) if mark.name != name)
        others = {other: marks for other, marks in self.scenes.items() if other != scene}
        return replace(self, scenes={**others, scene: left} if left else others)


def start_of(lane: LaneSnapshot) -> Start:
    """Place, attitude and motion of the main body."""
    R, (x, y, z) = lane.T_wb[:3, :3], lane.T_wb[:3, 3].tolist()
    return Start(
        position_w=(x, y, z),
        heading_rad=math.atan2(R[1, 0], R[0, 0]),
        pitch_rad=-math.asin(min(max(float(R[2, 0]), -1.0), 1.0)),
        roll_rad=math.atan2(R[2, 1], R[2, 2]),
        omega_b=tuple(lane.twist_b[:3].tolist()),
        velocity_b=tuple(lane.twist_b[3:6].tolist()),
    )


def eye_of(view: np.ndarray) -> Eye:
    """Of a camera (4, 4), world to camera."""
    R, t = view[:3, :3], view[:3, 3]
    x, y, z = (-R.T @ t).tolist()
    forward = -R[2]
    return x, y, z, math.atan2(forward[1], forward[0]), math.asin(min(max(float(forward[2]), -1.0), 1.0))


def read_bookmarks(folder: Path) -> Bookmarks:
    """Of earlier sessions; a file that is damaged gets the ending `.damaged`, and there are none."""
    return read_kept(folder / FILE, Bookmarks, "no bookmarks", _check)


def write_bookmarks(folder: Path, kept: Bookmarks) -> None:
    """A folder that cannot be written costs only the memory."""
    write_kept(folder / FILE, kept)


def _check(kept: Bookmarks) -> None:
    if len(kept.scenes) > MOST_SCENES or any(len(marks) > MOST for marks in kept.scenes.values()):
        raise InputError("too many")
    for mark in (mark for marks in kept.scenes.values() for mark in marks):
        numbers = [*(mark.eye or ())]
        if mark.start is not None:
            numbers += [*mark.start.position_w, *mark.start.velocity_b, *mark.start.omega_b]
        if any(abs(number) > 1e5 for number in numbers) or not mark.name.isprintable() or len(mark.name) > 80:
            raise InputError("a place that cannot be")


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
