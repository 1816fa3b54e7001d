"""A log of a running simulation, written while it flies: what has happened so far can be read at any moment.

What it has that a take has not: models and land, for Foxglove and Rerun, without anything to be done afterwards. What a
take has that it has not: every step. Its time only goes on: where the flight goes back, the log does not.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

from export.ground import GroundMesh, ground_under
from export.motion import LaneMotion, MotionRecorder
from export.nodes import Assets, Node, nodes_of, scene_key
from export.output import OutputError, naming_file
from export.request import live_format_of
from sim.platform.errors import InputError
from sim.shapes import Shape
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot

EVERY_S = 0.02
"""Between two looks at the simulation."""
FLUSH_S = 0.5
"""After which what was logged is in the file."""
_MARGIN_M = 250.0
"""Of the land about the lanes, where a scene begins."""


class Log(Protocol):
    """What writes one kind of file."""

    def scene(self, time_s: float, nodes: Sequence[Node], ground: GroundMesh | None) -> None:
        """What is there from a moment on, instead of what was."""

    def poses(self, nodes: Sequence[Node]) -> None:
        """Where nodes are, at the moments of their tracks."""

    def channels(self, motion: LaneMotion) -> None:
        """Its numbers, at its moments."""

    def flush(self) -> None:
        """What has been logged is in the file after it."""

    def close(self) -> None:
        """The file is whole after it."""


class LiveLog:
    """Looks at a simulation from a thread of its own, until it is closed."""

    def __init__(
        self,
        path: Path,
        simulation: Callable[[], Simulation],
        solids: Callable[[], Sequence[Shape]] = tuple,
    ) -> None:
        """simulation: the present one. solids: what is to be shown beside what its world has.

        Raises InputError for an ending that is no log's, OutputError where the file cannot be written.
        """
        module, kind = live_format_of(path).live.split(":")
        with naming_file(path):
            self._log: Log = getattr(import_module(module), kind)(path, path.stem)
        self.path, self._simulation, self._solids = path, simulation, solids
        self.fault = ""
        """Why it has ended; empty while it goes on."""
        self._assets, self._key = Assets(), ""
        self._time_s, self._seen_s = 0.0, np.inf
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="live log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it, and the file. Raises OutputError."""
        self._over.set()
        self._thread.join()
        with naming_file(self.path):
            self._log.close()

    def _watch(self) -> None:
        looks = 0
        while not self._over.wait(EVERY_S):
            try:
                with naming_file(self.path):
                    self._look(self._simulation().snapshot)
                    looks += 1
                    if looks * EVERY_S >= FLUSH_S:
                        self._log.flush()
                        looks = 0
            except (InputError, OutputError) as error:
                self.fault = str(error)
                return

    def _look(self, snapshot: Snapshot) -> None:
        if snapshot.clock_s == self._seen_s and self._key:
            return
        self._time_s += max(snapshot.clock_s - self._seen_s, 0.0)
        self._seen_s = snapshot.clock_s
        motions = _now(snapshot, self._time_s)
        nodes = nodes_of(motions, self._assets)
        solids = self._solids()
        key = scene_key(snapshot, nodes, solids)
        if key != self._key:
            land = ground_under(self._simulation().run.world, motions, solids, _MARGIN_M)
            self._log.scene(self._time_s, nodes, land)
            self._key = key
        self._log.poses(nodes)
        for motion in motions:
            self._log.channels(motion)


def _now(snapshot: Snapshot, time_s: float) -> list[LaneMotion]:
    """The lanes at one moment, with the scene's own time among what they report."""
    recorder, now = MotionRecorder(), np.array([time_s])
    recorder.add(snapshot)
    found = []
    for motion in recorder.motions():
        solids = None if motion.solids is None else replace(motion.solids, time=now)
        clock = {"scene time": motion.time}
        found.append(
            replace(
                motion, time=now, solids=solids, observables={**motion.observables, **clock},
                units={**motion.units, "scene time": "s"},
            )
        )  # fmt: skip
    return found
