"""A run without a window: the simulation as fast as it goes, into video, picture and table."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from export.output import replacing
from export.picture import write_png
from export.progress import Report
from export.request import CONTAINERS, FPS, Request
from export.table import TableWriter
from export.video import VideoWriter
from sim.commands import KeepTake, SetDemo
from sim.simulation import Simulation
from sim.snapshot import Snapshot
from sim.take import Take, save_take
from sim.vehicles import vehicle

if TYPE_CHECKING:
    from export.studio import Studio


def run(
    simulation: Simulation, request: Request, *, studio: Callable[[], "Studio"], report: Report
) -> Snapshot:
    """Carry out a request; returns the last snapshot.

    `studio` is called where pictures are asked for. Raises OutputError where a file cannot be written, and
    then leaves none of the files behind.
    """
    if request.demo:
        simulation.submit(SetDemo(True))
    simulation.advance(0.0)
    with ExitStack() as stack:
        kept = stack.enter_context(replacing(request.take)) if request.take else None
        outlets = _Outlets(stack, simulation.snapshot, request, studio)
        outlets.start(simulation.snapshot)
        for number, moment_s in enumerate(steps := _moments(request.seconds)):
            simulation.advance(moment_s)
            outlets.add(simulation.snapshot)
            report(f"{simulation.snapshot.clock_s:.1f} s", (number + 1) / len(steps))
        outlets.finish()
        if kept is not None and request.take is not None:
            _write_take(simulation, kept, request.take.stem)
    return simulation.snapshot


def _write_take(simulation: Simulation, path: Path, name: str) -> None:
    """What is recorded of the flown lane, or the take that was played."""
    reply: Future[Take] = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    save_take(replace(reply.result(0), name=name), path)


def _moments(seconds: float) -> list[float]:
    """Lengths [s] of the intervals between pictures; the last one may be shorter."""
    whole = int(seconds * FPS + 1e-9)
    rest = seconds - whole / FPS
    return [1.0 / FPS] * whole + ([rest] if rest > 1e-9 else [])


class _Outlets:
    """The files of one run, open for writing."""

    def __init__(
        self, stack: ExitStack, first: Snapshot, request: Request, studio: Callable[[], "Studio"]
    ) -> None:
        self._table = self._open_table(stack, request.csv, first) if request.csv else None
        self._video = self._open_video(stack, request.video, request.size_px) if request.video else None
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
    def _open_video(stack: ExitStack, path: Path, size_px: tuple[int, int]) -> VideoWriter:
        temporary = stack.enter_context(replacing(path))
        container = CONTAINERS[path.suffix.lower()]
        writer = VideoWriter(temporary, container=container, size_px=size_px, fps=FPS)
        stack.callback(writer.close)
        return writer

    def start(self, snapshot: Snapshot) -> None:
        """The moment before the first step."""
        if self._table is not None:
            self._table.add(snapshot)
        if self._studio is not None:
            self._studio.follow(snapshot, 0.0)

    def add(self, snapshot: Snapshot) -> None:
        """The next moment."""
        if self._table is not None:
            self._table.add(snapshot)
        if self._studio is not None:
            self._studio.follow(snapshot, 1.0 / FPS)
        if self._video is not None and self._studio is not None:
            self._video.add(self._studio.picture())

    def finish(self) -> None:
        """Complete the files."""
        if self._still is not None and self._studio is not None:
            write_png(self._still, self._studio.still())
        if self._video is not None:
            self._video.finish()
