"""Laws of what is noted of goals: by hand and not skipped, the best grade counts, kept whole, wiped only on asking."""

import csv
import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sim.scene.goals import Landing, SceneGoal
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.judge import Progress
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.achievements import (
    GRADES,
    MOST_TRIES,
    PROGRESS,
    Achievement,
    ExportProgress,
    ProgressRecord,
    SceneRecord,
    Try,
    WipeProgress,
    export_progress,
)
from ui.features.goals import GoalsView
from ui.features.lanes import draw_labels
from ui.features.progress.actions import TABLE, ProgressActions
from ui.features.progress.panel import SHOWN_S, draw_flourish, draw_progress
from ui.window.context import LoadScene, PanelContext
from ui.window.widgets import overlap

GOALS = (
    SceneGoal("Take off", "Up.", (), ()),
    SceneGoal("Land", "Down.", (), (), grade=Landing),
    SceneGoal("Rest", "Stay.", (), ()),
)
BUTTER, FAIR = Landing(0.3, 0.1, 1.0), Landing(1.9, 0.1, 1.0)


class Flight:
    """A window's progress, told of goals and snapshots."""

    def __init__(self, bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOLONOMY_CONFIG", str(folder))
        monkeypatch.chdir(folder)
        self.told: list[str] = []
        self.context: PanelContext = bench.context
        self.folder = folder
        self.scene = SimpleNamespace(name="canyon", title="The canyon", path=None, goals=GOALS)
        self.actions = ProgressActions(self)  # type: ignore[arg-type]
        self.actions.begin()

    def tell(self, text: str, *, error: bool = False) -> None:
        self.told.append(text)

    def sees(self, progress: Progress, **changes: object) -> ProgressRecord:
        self.context.show(GoalsView(progress))
        self.actions.poll(replace(fakes.snapshot(), **changes))  # type: ignore[arg-type]
        self.context.show(*self.actions.views(fakes.snapshot()))
        return self.context.of(ProgressRecord)


@pytest.fixture
def flight(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flight:
    return Flight(bench, tmp_path, monkeypatch)


def scene_record(*grades: str, of: int = 1) -> SceneRecord:
    record = SceneRecord()
    for k, grade in enumerate(grades):
        record = record.tried(f"goal {k}", Try(grade, f"so {grade}", "2026-03-01"), of, "Somewhere")
    return record


def test_what_is_done_by_hand_is_kept_with_its_grade_and_what_is_skipped_or_flown_by_the_autopilot_is_not(
    flight: Flight,
) -> None:
    flight.sees(Progress(GOALS))
    flight.sees(Progress(GOALS, at=1))
    flight.sees(Progress(GOALS, at=2, graded=BUTTER))
    record = flight.sees(Progress(GOALS, at=3, skipped=frozenset({2}), graded=BUTTER)).of("canyon")
    assert list(record.tries) == ["Take off", "Land"]
    assert record.best("Land") == "butter"
    assert record.best("Take off") == ""
    assert (record.done, record.of, record.medal) == (2, 3, "")
    flight.sees(Progress(GOALS, at=2))
    assert flight.sees(Progress(GOALS, at=3, graded=BUTTER), demo=True).of("canyon") == record
    assert PROGRESS.read(flight.folder).of("canyon") == record


def test_a_second_try_is_told_with_the_best_before_it_and_what_is_due_next(flight: Flight) -> None:
    for graded in (FAIR, BUTTER):
        flight.sees(Progress(GOALS, at=1))
        flight.sees(Progress(GOALS, at=2, graded=graded))
    told = flight.context.of(Achievement)
    assert (told.number, told.title, told.grade, told.best) == (2, "Land", "butter", "fair")
    assert told.history == ("fair", "butter")
    assert told.following == "Rest"
    assert time.perf_counter() - told.at_s < SHOWN_S


def test_a_medal_needs_every_goal_and_is_as_good_as_the_worst_of_the_best_grades() -> None:
    assert scene_record("butter", of=2).medal == ""
    assert scene_record("butter", "").medal == "gold"
    assert scene_record("butter", "good").medal == "silver"
    assert scene_record("butter", "rough").medal == "bronze"
    better = scene_record("rough").tried("goal 0", Try("good"), 1, "Somewhere")
    assert better.medal == "silver"
    assert SceneRecord().lapped(61.2, 0, "Race").medal == "silver"
    assert SceneRecord().medal == ""


def test_the_shortest_lap_counts_and_the_latest_tries_are_kept() -> None:
    record = SceneRecord().lapped(60.0, 0, "Race").lapped(63.0, 0, "Race").lapped(58.5, 0, "Race")
    assert (record.lap_s, record.laps) == (58.5, 3)
    for k in range(MOST_TRIES + 5):
        record = record.tried("Land", Try("good", f"try {k}"), 1, "Race")
    assert len(record.tries["Land"]) == MOST_TRIES
    assert record.tries["Land"][-1].words == f"try {MOST_TRIES + 4}"


def test_it_is_read_as_it_was_written_and_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    record = ProgressRecord().with_scene("canyon", scene_record("good", "").lapped(9.5, 2, "Somewhere"))
    PROGRESS.write(tmp_path, record)
    assert PROGRESS.read(tmp_path) == record
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS.name]
    told = json.loads((tmp_path / PROGRESS.name).read_text())
    told["scenes"]["canyon"]["tries"]["goal 0"][0]["grade"] = "superb"
    (tmp_path / PROGRESS.name).write_text(json.dumps(told))
    assert PROGRESS.read(tmp_path) == ProgressRecord()
    assert (tmp_path / f"{PROGRESS.name}.damaged").exists()


def test_its_table_has_a_row_for_every_try_and_one_for_the_best_lap(tmp_path: Path) -> None:
    record = ProgressRecord().with_scene("race", scene_record("good", "fair").lapped(9.5, 2, "Somewhere"))
    export_progress(tmp_path / "progress.csv", record)
    with (tmp_path / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["goal"], row["grade"]) for row in rows] == [
        ("goal 0", "good"),
        ("goal 1", "fair"),
        ("best lap", ""),
    ]
    assert rows[-1]["words"] == "9.500 s, of 1"


def test_the_page_opens_scenes_exports_and_wipes_only_when_asked_twice(bench: Bench, flight: Flight) -> None:
    record = (
        ProgressRecord().with_scene("canyon", scene_record("butter")).with_scene("race", scene_record("good"))
    )
    bench.context.show(record)
    present = fakes.snapshot()
    other = next(name for name in bench.context.catalogue.scenes if name != present.scene)
    bench.context.show(record.with_scene(other, scene_record("good")))
    assert bench.click(f"progress/scene/{other}", draw_progress, present) == [LoadScene(other)]
    assert bench.click("progress/export", draw_progress, present) == [ExportProgress()]
    assert bench.click("progress/wipe", draw_progress, present) == []
    assert bench.click("progress/keep", draw_progress, present) == []
    assert bench.click("progress/wipe", draw_progress, present) == []
    assert bench.click("progress/wipe", draw_progress, present) == [WipeProgress()]
    PROGRESS.write(flight.folder, record)
    flight.actions.carry_out(ExportProgress())
    table = flight.folder / "exports" / TABLE
    assert table.exists()
    flight.actions.carry_out(WipeProgress())
    assert PROGRESS.read(flight.folder) == ProgressRecord()
    assert flight.told == [f"Progress saved: {table}", "Progress is wiped"]


def test_the_flourish_tells_what_came_off_for_some_seconds_clear_of_the_goals(bench: Bench) -> None:
    def draw(now: object, context: PanelContext) -> None:
        context.rects["goals"] = (12.0, 12.0, 700.0, 150.0)
        draw_flourish(fakes.snapshot(), context)

    words = "Landing butter: sink 0.3 m/s, drift 0.1 m/s, 1.0 m from the centre"
    done = Achievement(
        1, time.perf_counter() - 1.0, "Land", words, "butter", "good", ("good", "butter"), "Rest"
    )
    bench.context.show(done)
    bench.frame(draw, fakes.snapshot())
    assert not overlap(bench.context.rects["flourish"], bench.context.rects["goals"])
    left, top, wide, tall = bench.context.rects["flourish"]
    assert left >= 0.0
    assert left + wide <= bench.context.scene_rect[2]
    assert top + tall < 0.6 * bench.context.scene_rect[3]
    bench.context.show(replace(done, at_s=done.at_s - SHOWN_S))
    bench.frame(draw, fakes.snapshot())
    assert "flourish" not in bench.context.rects


def test_the_flourish_keeps_clear_of_a_caption_in_a_small_window(bench: Bench) -> None:
    def draw(now: object, context: PanelContext) -> None:
        context.rects["caption"] = (12.0, 12.0, 700.0, 150.0)
        draw_flourish(fakes.snapshot(), context)

    bench.context.show(Achievement(1, time.perf_counter() - 1.0, "Watch", "", "", "", (), "Lead the load"))
    bench.frame(draw, fakes.snapshot())
    assert not overlap(bench.context.rects["flourish"], bench.context.rects["caption"])


def test_a_lanes_name_keeps_clear_of_the_flourish(bench: Bench) -> None:
    def draw(now: Snapshot, context: PanelContext) -> list:
        draw_flourish(now, context)
        x, y, wide, tall = context.rects["flourish"]
        draw_labels({"flown": (x + 0.5 * wide, y + tall, y + tall + 9.0)}, now, context, split=False)
        return []

    bench.context.show(Achievement(1, time.perf_counter() - 1.0, "Push it", "Pushed"))
    bench.frame(draw, fakes.snapshot())
    assert not overlap(bench.context.rects["flourish"], bench.context.rects["label/flown"])


def test_better_grades_sound_higher() -> None:
    heights = [Achievement(grade=grade).height for grade in GRADES]
    assert heights == sorted(heights)
    assert (heights[0], heights[-1]) == (0, 2)
