"""The clock of a race over the view: gates, the time of the lap, and what is lost to each ghost."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from imgui_bundle import imgui

from sim.commands import RaceAgainst
from sim.planner.result.record import PlanRecord
from sim.planner.task.open_start import is_lap
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.scene.measured import Measured
from sim.scene.race import Lap, Rival, Standing, best_file, read_best, write_best
from sim.simulation.lanes.placing import placement
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.reference import RIVAL_TINTS
from sim.world import World
from ui.features.feature import Actions
from ui.hud.pen import Pen
from ui.settings.view_settings import config_dir, set_aside
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.widgets import placed

WIDTH, PAD, ROW, BIG = 196.0, 12.0, 21.0, 30.0
TOP = 56.0
MARGIN = 14.0


def clock(seconds: float) -> str:
    """'1:02.34'; a dash where there is no time."""
    if not math.isfinite(seconds):
        return "\N{EM DASH}"
    hundredths = round(100.0 * abs(seconds))
    sign = "-" if seconds < 0.0 and hundredths else ""
    minutes, rest = divmod(hundredths, 6000)
    return f"{sign}{minutes}:{rest // 100:02d}.{rest % 100:02d}" if minutes else f"{sign}{rest / 100:.2f}"


def difference(standing: Standing, rival: Rival) -> tuple[str, theme.Colour]:
    """What is told of a rival: time lost (+) or won (-) at the last gate, else its time for the whole."""
    behind_s = standing.behind_s(rival)
    if behind_s is None or len(standing.shown_splits_s) < 2:
        return clock(rival.splits_s[-1]), theme.MUTED
    return f"{behind_s:+.2f}", theme.GOOD if behind_s <= 0.0 else theme.WARNING


def rows(standing: Standing, x_w: np.ndarray) -> list[tuple[str, str, theme.Colour]]:
    """(what, value, colour), the first two above the ghosts."""
    course = standing.course
    passed = len(standing.shown_splits_s)
    if standing.running:
        gate = f"{passed} of {course.passages}"
    else:
        gate = "finished" if standing.lap is not None else "to the first"
    lines = [("GATE", gate, theme.INK)]
    if standing.running:
        done_m, whole_m = standing.done_m(x_w)
        lines.append(("LEFT", f"{whole_m - done_m:.0f} m", theme.INK))
    for rival in standing.rivals[: len(RIVAL_TINTS)]:
        lines.append((rival.name.upper(), *difference(standing, rival)))
    if standing.lap is not None:
        lines.append(("LAST", clock(standing.lap.lap_s), theme.INK))
    return lines


def draw_race(snapshot: Snapshot, context: PanelContext) -> None:
    """At the right, under the badges; its place is left in `context.rects`."""
    standing = snapshot.race
    if standing is None or snapshot.look_back is not None:
        return
    pen = Pen.over(context, fitting=False)
    time_s = snapshot.lanes[0].time_current_s
    x_w = snapshot.lanes[0].T_wb[:3, 3]
    lines = rows(standing, x_w)
    x, y, width, _ = context.scene_rect
    wide = pen.px(WIDTH)
    tall = pen.px(2.0 * PAD + BIG + ROW * len(lines))
    left, top = x + width - wide - pen.px(MARGIN), y + pen.px(TOP)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges", "goals") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    pen.glass((left, top), (left + wide, top + tall), 12.0)
    right = left + wide - pen.px(PAD)
    lap_s = standing.lap_time_s(time_s)
    ink = theme.ACCENT_BRIGHT if standing.running else theme.INK
    pen.text((right, top + 0.6 * pen.px(PAD)), clock(lap_s), size=26.0, colour=ink, align=1.0)
    tints = {rival.name.upper(): tint for rival, tint in zip(standing.rivals, RIVAL_TINTS, strict=False)}
    row = top + pen.px(PAD + BIG)
    for what, value, colour in lines:
        if what in tints:
            _swatch(pen, (left + pen.px(PAD), row + pen.px(5.0)), tints[what])
        pen.text(
            (left + pen.px(PAD + (14.0 if what in tints else 0.0)), row + pen.px(2.0)),
            what,
            size=12.0,
            colour=theme.MUTED,
        )
        pen.text((right, row), value, size=15.0, colour=colour, align=1.0)
        row += pen.px(ROW)
    if standing.running and np.isfinite(x_w).all():
        done_m, whole_m = standing.done_m(x_w)
        pen.bar((left, top + tall - pen.px(4.0)), wide, done_m / max(whole_m, 1e-9), theme.ACCENT)
        context.rects["race/bar"] = (
            left,
            top + tall - pen.px(4.0),
            wide * done_m / max(whole_m, 1e-9),
            pen.px(4.0),
        )
    context.rects["race"] = (left, top, wide, tall)


def _swatch(pen: Pen, at: tuple[float, float], tint: tuple[float, float, float]) -> None:
    side = pen.px(9.0)
    red, green, blue = (part ** (1.0 / 2.2) for part in tint)
    colour = imgui.get_color_u32(imgui.ImVec4(red, green, blue, 1.0))
    pen.draw_list.add_rect_filled(at, (at[0] + side, at[1] + side), colour, pen.px(2.0))


OPTIMUM, BEST = "optimum", "your best"


@dataclass(frozen=True, slots=True, eq=False)
class Rivalry:
    """What the planner of a race has come to."""

    plan: PlanRecord | None = None
    """The best plan by now."""


class Racing:
    """Lives as long as its scene; a scene without a race has nothing to do."""

    def __init__(self, scene: Scene, world: World) -> None:
        self._scene, self._world = scene, world
        self._path: Path | None = None
        self._best: Lap | None = None
        self._seen: Lap | None = None
        self._shown: PlanRecord | None = None
        self.told: list[tuple[str, bool]] = []
        """(news, whether it is a mistake) for the user; whoever tells them empties it."""
        if scene.race is not None:
            self._path = best_file(config_dir() / "bests", scene.name, scene.vehicle.name, scene.race)
            self._best = self._read()

    def opening(self) -> list[RaceAgainst]:
        """Who is there from the start."""
        return [] if self._best is None else [RaceAgainst(Rival.of_lap(BEST, self._best))]

    def poll(self, snapshot: Snapshot, plan: PlanRecord | None) -> list[RaceAgainst]:
        """Once a frame: new ghosts. plan: the best that is known by now."""
        asked: list[RaceAgainst] = []
        course = self._scene.race
        if course is None or snapshot.race is None:
            return asked
        if plan is not None and plan.solved and plan is not self._shown:
            self._shown = plan
            try:
                motion = planned_motion(plan, self._world)
                asked.append(RaceAgainst(Rival.of_motion(OPTIMUM, course, motion)))
            except InputError as error:
                self.told.append((str(error), True))
        lap = snapshot.race.lap
        if lap is not None and lap is not self._seen:
            self._seen = lap
            if lap.counts and snapshot.lanes[0].vehicle == self._scene.vehicle.name:
                asked += self._finished(lap)
        return asked

    def _finished(self, lap: Lap) -> list[RaceAgainst]:
        if self._best is not None and lap.lap_s >= self._best.lap_s:
            self.told.append((f"{lap.lap_s:.2f} s; your best is {self._best.lap_s:.2f} s", False))
            return []
        self._best = lap
        assert self._path is not None
        try:
            write_best(self._path, lap)
            self.told.append((f"Your best: {lap.lap_s:.2f} s, kept as a ghost", False))
        except InputError as error:
            self.told.append((str(error), True))
        return [RaceAgainst(Rival.of_lap(BEST, lap))]

    def _read(self) -> Lap | None:
        assert self._path is not None
        assert self._scene.race is not None
        try:
            return read_best(self._path, self._scene.race)
        except InputError as error:
            set_aside(self._path)
            self.told.append((f"{error}; set aside", True))
            return None


def planned_motion(plan: PlanRecord, world: World) -> Measured:
    """The motion of a plan's main body; twice around a closed lap, which may begin anywhere and so passes all gates."""
    poses = [placement(plan.vehicle, node, world, None).T_wb for node in plan.nodes]
    if plan.task is not None and is_lap(plan.vehicle, plan.task):
        poses += poses[1:]
    return Measured(plan.name, plan.step_s * np.arange(len(poses)), np.array(poses))


def draw_race_over(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The clock."""
    draw_race(snapshot, context)
    return []


class RaceActions(Actions):
    """Looks after the ghosts of a scene's race."""

    def begin(self) -> None:
        self._race_in(self.app.scene)

    def _race_in(self, scene: Scene) -> None:
        self._course = scene.race
        self._racing = Racing(scene, self.app.world)
        self.app.submit(*self._racing.opening())

    def poll(self, snapshot: Snapshot) -> None:
        course = None if snapshot.race is None else snapshot.race.course
        if course != self._course:  # gates were put elsewhere
            self._race_in(replace(self.app.scene, race=course))
        planned = course == self.app.scene.race
        rival = self.app.context.find(Rivalry) if planned else None
        self.app.submit(*self._racing.poll(snapshot, None if rival is None else rival.plan))
        for text, error in self._racing.told:
            self.app.tell(text, error=error)
        self._racing.told.clear()
