"""What has been done in which scene, and how well: kept in a file of the user's, told by the gallery and a page."""

import csv
import math
from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.values import dataclass
from ui.settings.view_settings import KeptFile
from ui.window.context import Action

VERSION = 1
MOST_SCENES, MOST_GOALS, MOST_TRIES = 400, 24, 12
_LONGEST = 512
GRADES = ("rough", "fair", "good", "butter")
"""The worst first."""
GOLD, SILVER, BRONZE = "gold", "silver", "bronze"


@dataclass(frozen=True, slots=True)
class Try:
    """One time that a goal was done."""

    grade: str = ""
    """One of GRADES; empty where nothing is graded."""
    words: str = ""
    on: str = ""
    """Day, as 2026-11-24."""


@dataclass(frozen=True, slots=True)
class SceneRecord:
    """Of one scene."""

    title: str = ""
    of: int = 0
    """Goals that there are."""
    tries: dict[str, tuple[Try, ...]] = field(default_factory=dict)
    """By goal's title: the latest last."""
    lap_s: float | None = None
    """The best one."""
    laps: int = 0

    @property
    def done(self) -> int:
        """Goals that have been done, ever."""
        return len(self.tries)

    def best(self, goal: str) -> str:
        """The best grade of a goal; empty without any."""
        grades = [each.grade for each in self.tries.get(goal, ()) if each.grade]
        return max(grades, key=GRADES.index, default="")

    @property
    def medal(self) -> str:
        """Once every goal has been done: by the worst of the best grades; of races for a lap."""
        if not self.of:
            return SILVER if self.lap_s is not None else ""
        if self.done < self.of:
            return ""
        graded = [best for best in map(self.best, self.tries) if best]
        worst = min(map(GRADES.index, graded), default=len(GRADES) - 1)
        return (BRONZE, BRONZE, SILVER, GOLD)[worst]

    def tried(self, goal: str, now: Try, of: int, title: str) -> "SceneRecord":
        """With one more."""
        before = self.tries.get(goal, ())
        tries = {**self.tries, goal: (*before, now)[-MOST_TRIES:]}
        return replace(self, title=title, of=of, tries=tries)

    def lapped(self, lap_s: float, of: int, title: str) -> "SceneRecord":
        """With one more lap."""
        best = lap_s if self.lap_s is None else min(lap_s, self.lap_s)
        return replace(self, title=title, of=of, lap_s=best, laps=self.laps + 1)


@dataclass(frozen=True, slots=True)
class ProgressRecord:
    """All of it."""

    version: int = VERSION
    scenes: dict[str, SceneRecord] = field(default_factory=dict)

    def of(self, scene: str) -> SceneRecord:
        """Of a scene by name; an empty one where nothing is known."""
        return self.scenes.get(scene, SceneRecord())

    def with_scene(self, name: str, record: SceneRecord) -> "ProgressRecord":
        """The same with this one."""
        return replace(self, scenes={**self.scenes, name: record})

    @property
    def medals(self) -> dict[str, int]:
        """How many of each."""
        all_of = [record.medal for record in self.scenes.values()]
        return {medal: all_of.count(medal) for medal in (GOLD, SILVER, BRONZE)}


def export_progress(path: Path, record: ProgressRecord) -> None:
    """As a table, a row for every time that a goal was done, and one for the best lap of a scene. Raises OSError."""
    with replacing(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("scene", "goal", "on", "grade", "words"))
        table.writerows(_rows(record))


def _rows(record: ProgressRecord) -> Iterable[tuple[str, str, str, str, str]]:
    for name, scene in sorted(record.scenes.items()):
        for goal, tries in scene.tries.items():
            for each in tries:
                yield name, goal, each.on, each.grade, each.words
        if scene.lap_s is not None:
            yield name, "best lap", "", "", f"{scene.lap_s:.3f} s, of {scene.laps}"


def _check(record: ProgressRecord) -> None:
    if record.version != VERSION or len(record.scenes) > MOST_SCENES:
        raise InputError("another version, or too much")
    for name, scene in record.scenes.items():
        tries = [each for all_of in scene.tries.values() for each in all_of]
        texts = [
            name,
            scene.title,
            *scene.tries,
            *(each.words for each in tries),
            *(each.on for each in tries),
        ]
        if any(len(text) > _LONGEST or not text.isprintable() for text in texts):
            raise InputError("a text that cannot be shown")
        if any(each.grade not in ("", *GRADES) for each in tries):
            raise InputError("an unknown grade")
        if len(scene.tries) > MOST_GOALS or not 0 <= scene.of <= MOST_GOALS or scene.laps < 0:
            raise InputError("more goals than there can be")
        if scene.lap_s is not None and not (0.0 < scene.lap_s < math.inf):
            raise InputError("a lap of no time")


PROGRESS = KeptFile("progress.json", ProgressRecord, "progress", _check)


@dataclass(frozen=True, slots=True)
class Achievement:
    """What has just come off."""

    number: int = 0
    """Of the session: another one is another number."""
    at_s: float = -math.inf
    """Wall time."""
    title: str = ""
    words: str = ""
    grade: str = ""
    best: str = ""
    """The best grade before this one; empty without any."""
    history: tuple[str, ...] = ()
    """Grades, the latest last, this one with them."""
    following: str = ""
    """Title of the goal that is due now."""
    medal: str = ""
    """Of the scene, where this has brought it."""

    @property
    def height(self) -> int:
        """How good: 0 to 2."""
        return 1 if not self.grade else max(GRADES.index(self.grade) - 1, 0)


@dataclass(frozen=True, slots=True)
class ExportProgress(Action):
    """Write it as a table."""


@dataclass(frozen=True, slots=True)
class WipeProgress(Action):
    """Forget all of it."""
