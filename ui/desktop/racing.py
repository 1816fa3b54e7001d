"""A race in the window: its ghosts are the plan that needs the least time, and the user's own best lap."""

from pathlib import Path

import numpy as np

from sim.commands import RaceAgainst
from sim.measured import Measured
from sim.planner.result.record import PlanRecord
from sim.platform.errors import InputError
from sim.scene import Scene
from sim.scene.race import Lap
from sim.scene.race_timing import Rival, best_file, read_best, write_best
from sim.simulation.placing import placement
from sim.snapshot import Snapshot
from sim.world import World
from ui.config import config_dir, set_aside

OPTIMUM, BEST = "optimum", "your best"


class Racing:
    """Lives as long as its scene; a scene without a race has nothing to do."""

    def __init__(self, scene: Scene, world: World, *, folder: Path | None = None) -> None:
        self._scene, self._world = scene, world
        self._path: Path | None = None
        self._best: Lap | None = None
        self._seen: Lap | None = None
        self._shown: PlanRecord | None = None
        self.told: list[tuple[str, bool]] = []
        """(news, whether it is a mistake) for the user; whoever tells them empties it."""
        if scene.race is not None:
            folder = folder or config_dir() / "bests"
            self._path = best_file(folder, scene.name, scene.vehicle, scene.race)
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
            if lap.counts and snapshot.lanes[0].vehicle == self._scene.vehicle:
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
    """The motion of a plan's main body."""
    poses = [placement(plan.vehicle, node, world, None).T_wb for node in plan.nodes]
    return Measured(plan.name, plan.step_s * np.arange(len(poses)), np.array(poses))
