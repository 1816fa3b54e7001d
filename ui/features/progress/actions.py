"""Notes what has been done in a scene, and keeps it."""

from collections.abc import Iterable
from datetime import date
from time import perf_counter

from export.output import OutputError
from sim.scene.layout import Layout
from sim.scene.race import Lap
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.judge import Progress
from ui.features.achievements import (
    PROGRESS,
    Achievement,
    ExportProgress,
    ProgressRecord,
    SceneRecord,
    Try,
    WipeProgress,
    export_progress,
)
from ui.features.feature import Actions, App
from ui.features.goals import GoalsView
from ui.settings.view_settings import config_dir, exports_folder

TABLE = "progress.csv"
"""In the user's folder of exports."""


class ProgressActions(Actions):
    """Of one window; what the autopilot does is nobody's progress."""

    handles = (ExportProgress, WipeProgress)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._folder = config_dir()
        self._record = PROGRESS.read(self._folder)
        self._achieved = Achievement()

    def begin(self) -> None:
        self._at: int | None = None
        self._lap: Lap | None = None
        self._as_made = True

    def poll(self, snapshot: Snapshot) -> None:
        goals, before = self.app.context.of(GoalsView).progress, self._at
        self._at = None if goals is None else goals.at
        flown = snapshot.look_back is None and not snapshot.demo
        self._as_made = snapshot.layout is None or snapshot.layout == Layout.of(self.app.scene)
        if goals is not None and before is not None and flown:
            for index in range(before, goals.at):
                if index not in goals.skipped:
                    self._done(index, goals)
        self._lapped(snapshot)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (self._record, self._achieved)

    def carry_out(self, action: object) -> None:
        if isinstance(action, WipeProgress):
            self._keep(ProgressRecord())
            self.app.tell("Progress is wiped")
            return
        path = exports_folder() / TABLE
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            export_progress(path, self._record)
        except OSError as error:
            raise OutputError(str(error)) from None
        self.app.tell(f"Progress saved: {path}")

    def _done(self, index: int, progress: Progress) -> None:
        scene, goal = self.app.scene, progress.goals[index]
        before = self._record.of(scene.name)
        graded = progress.graded if goal.grade is not None and index == progress.at - 1 else None
        grade, words = ("", "") if graded is None else (graded.grade, graded.words)
        after = before.tried(
            goal.title, Try(grade, words, date.today().isoformat()), len(progress.goals), scene.title
        )
        due = progress.due
        self._achieved = Achievement(
            number=self._achieved.number + 1,
            at_s=perf_counter(),
            title=goal.title,
            words=words,
            grade=grade,
            best=before.best(goal.title),
            history=tuple(each.grade for each in after.tries[goal.title] if each.grade),
            following="" if due is None else due.title,
            medal=after.medal if after.medal != before.medal else "",
        )
        self._keep_of_scene(after)

    def _lapped(self, snapshot: Snapshot) -> None:
        race, scene = snapshot.race, self.app.scene
        lap = None if race is None else race.lap
        if lap is None or lap is self._lap:
            return
        self._lap = lap
        if not lap.counts or snapshot.demo or snapshot.lanes[0].vehicle != scene.vehicle.name:
            return
        before = self._record.of(scene.name)
        after = before.lapped(lap.lap_s, len(scene.goals), scene.title)
        told = "the first" if before.lap_s is None else f"{lap.lap_s - before.lap_s:+.2f} s against your best"
        self._achieved = Achievement(
            number=self._achieved.number + 1,
            at_s=perf_counter(),
            title=f"Lap in {lap.lap_s:.2f} s",
            words=told,
            grade="butter" if after.lap_s == lap.lap_s else "",
            medal=after.medal if after.medal != before.medal else "",
        )
        self._keep_of_scene(after)

    def _keep_of_scene(self, record: SceneRecord) -> None:
        # A file of somebody's own may have any name, and what was put elsewhere by hand is another task.
        if self.app.scene.path is None and self._as_made:
            self._keep(self._record.with_scene(self.app.scene.name, record))

    def _keep(self, record: ProgressRecord) -> None:
        self._record = record
        PROGRESS.write(self._folder, record)
