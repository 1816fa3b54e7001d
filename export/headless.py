"""A run without a window: the simulation as fast as it goes, into video, picture and table."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from export.output import replacing, told_of
from export.picture import FrameFiles, averaged, write_png
from export.progress import Report
from export.request import CONTAINERS, Request
from export.run_exports import RunExports
from export.table import TableWriter
from export.video import VideoWriter
from sim.commands import KeepTake, SetDemo
from sim.recordings import Take, save_take
from sim.simulation import Simulation
from sim.snapshot import Snapshot
from sim.vehicles import vehicle

if TYPE_CHECKING:
    from export.studio import Studio
    from sim.scene import Scene
    from sim.world import World


def run(
    simulation: Simulation,
    request: Request,
    *,
    studio: Callable[[], "Studio"],
    report: Report,
    scene: "Scene",
    world: "World",
) -> Snapshot:
    """Carry out a request; returns the last snapshot.

    `studio` is called where pictures are asked for; scene and world are the simulation's. Raises OutputError where
    a file cannot be written, and then leaves none of the files behind but whole pictures of a sequence.
    """
    if request.demo:
        simulation.submit(SetDemo(True))
    simulation.advance(0.0)
    with ExitStack() as stack:
        kept = stack.enter_context(replacing(request.take)) if request.take else None
        outlets = _Outlets(stack, simulation.snapshot, request, studio)
        outlets.start(simulation.snapshot)
        exports = RunExports(request, simulation.snapshot, scene, world)
        moments = _moments(request.seconds, request.fps)
        for number, moment_s in enumerate(moments):
            for part in range(request.subframes):
                simulation.advance(moment_s / request.subframes)
                outlets.look(
                    simulation.snapshot, moment_s / request.subframes, last=part == request.subframes - 1
                )
            outlets.add(simulation.snapshot)
            exports.add(simulation.snapshot, moment_s)
            report(f"{simulation.snapshot.clock_s:.1f} s", (number + 1) / len(moments))
        outlets.finish()
        exports.finish()
        if kept is not None and request.take is not None:
            _write_take(simulation, kept, request.take.stem)
    return simulation.snapshot


def _write_take(simulation: Simulation, path: Path, name: str) -> None:
    """What is recorded of the flown lane, or the take that was played."""
    reply: Future[Take] = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    save_take(replace(reply.result(0), name=name), path)


def _moments(seconds: float, fps: int) -> list[float]:
    """Lengths [s] of the intervals between pictures; the last one may be shorter."""
    whole = int(seconds * fps + 1e-9)
    rest = seconds - whole / fps
    return [1.0 / fps] * whole + ([rest] if rest > 1e-9 else [])


class _Outlets:
    """The files of one run, open for writing."""

    def __init__(
        self, stack: ExitStack, first: Snapshot, request: Request, studio: Callable[[], "Studio"]
    ) -> None:
        self._csv = request.csv
        self._table = self._open_table(stack, request.csv, first) if request.csv else None
        self._video = self._open_video(stack, request.video, request) if request.video else None
        self._frames = FrameFiles(request.frames) if request.frames else None
        self._transparent = request.transparent
        self._pictures: list[np.ndarray] = []
        self._cutouts: list[np.ndarray] = []
        self._still = stack.enter_context(replacing(request.screenshot)) if request.screenshot else None
        self._studio = studio() if request.asks_for_pictures else None
        if self._studio is not None:
            stack.callback(self._studio.release)

    @staticmethod
    def _open_table(stack: ExitStack, path: Path, first: Snapshot) -> TableWriter:
        temporary = stack.enter_context(replacing(path))
        file = stack.enter_context(temporary.open("w", encoding="utf-8", newline=""))
        controls = [control.name for control in vehicle(first.lanes[0].vehicle).controls]
        return TableWriter(file, controls)

    @staticmethod
    def _open_video(stack: ExitStack, path: Path, request: Request) -> VideoWriter:
        temporary = stack.enter_context(replacing(path))
        container = CONTAINERS[path.suffix.lower()]
        writer = VideoWriter(temporary, container=container, size_px=request.size_px, fps=request.fps)
        stack.callback(writer.close)
        return writer

    def start(self, snapshot: Snapshot) -> None:
        """The moment before the first step."""
        self.add(snapshot)
        if self._studio is not None:
            self._studio.follow(snapshot, 0.0)

    def look(self, snapshot: Snapshot, dt_s: float, *, last: bool) -> None:
        """A part of the way to the next moment, `dt_s` long; `last`: the moment itself."""
        if self._studio is None:
            return
        self._studio.follow(snapshot, dt_s)
        if self._video is not None:
            self._pictures.append(self._studio.picture())
        if self._frames is not None:
            self._cutouts.append(self._studio.cutout() if self._transparent else self._studio.picture())
        if last and self._video is not None:
            self._video.add(averaged(self._pictures))
            self._pictures.clear()
        if last and self._frames is not None:
            self._frames.add(averaged(self._cutouts))
            self._cutouts.clear()

    def add(self, snapshot: Snapshot) -> None:
        """The next moment."""
        if self._table is not None and self._csv is not None:
            with told_of(self._csv):  # not of a file that was opened later
                self._table.add(snapshot)

    def finish(self) -> None:
        """Complete the files."""
        if self._still is not None and self._studio is not None:
            write_png(self._still, self._studio.still())
        if self._video is not None:
            self._video.finish()
