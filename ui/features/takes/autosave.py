"""What is flown, on disk while it is flown: whatever ends the app, next to nothing of it is lost."""

import logging
import os
import re
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sim.commands import KeepTake
from sim.platform.errors import InputError
from sim.recordings import Take, save_take
from sim.recordings.file import free_path
from sim.simulation import Simulation

FIRST_S, PERIOD_S = 2.0, 15.0
"""Wall time before the first copy of a flight, and between two later ones: twice as long each time, up to that."""
WORTH_KEEPING_S = 2.0
_OWN = re.compile(r"flying-(\d+)-\d+\.npz")
_log = logging.getLogger("holonomy")


class Autosave:
    """One file for the present flight and one for each that has ended, until the app is closed as it should be."""

    def __init__(self, folder: Path) -> None:
        """`folder`: created with the first file."""
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="autosave")
        self._number = 0
        self._known: tuple[Take, ...] = ()
        self._asked: Future[Take] | None = None
        self._asked_s, self._clock_s = time.perf_counter(), 0.0
        self._period_s = FIRST_S

    def poll(self, simulation: Simulation) -> None:
        """Once a frame. Nothing here waits: simulation and worker answer when they can."""
        snapshot = simulation.snapshot
        self.keep(snapshot.former)
        if self._asked is not None:
            if self._asked.done():
                asked, self._asked = self._asked, None
                if asked.exception() is None and self._write(asked.result()):
                    self._period_s *= 2.0
            return
        now_s = time.perf_counter()
        if (
            now_s - self._asked_s < min(self._period_s, PERIOD_S)
            or snapshot.look_back
            or snapshot.clock_s == self._clock_s
        ):
            return
        self._asked, self._asked_s, self._clock_s = Future(), now_s, snapshot.clock_s
        simulation.submit(KeepTake(self._asked))

    def keep(self, ended: tuple[Take, ...]) -> None:
        """All flights of a simulation that will not go on; each is written once. Others are held no longer."""
        known, self._known = self._known, ended
        for take in ended:
            if take not in known:
                self._asked = None  # asked before that one ended
                self._write(take)
                self._number += 1
                self._period_s = FIRST_S

    def close(self) -> None:
        """What has been flown is safe elsewhere: remove the files."""
        self._worker.shutdown(wait=True)
        for number in range(self._number + 1):
            with suppress(OSError):
                self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"flying-{os.getpid()}-{number}.npz"

    def _write(self, take: Take) -> bool:
        """Whether it is worth it."""
        worth = worth_keeping(take)
        if worth:
            self._worker.submit(self._written, take, self._number)
        return worth

    def _written(self, take: Take, number: int) -> None:
        def write(folder: Path) -> None:
            self._folder = folder
            save_take(take, self._path(number), brief=True)

        kept_somewhere(write, self._folder)


def worth_keeping(take: Take) -> bool:
    """Somebody steered, for a while."""
    steered = any(len(leg.change_steps) > 1 for leg in take.legs)
    return steered and take.duration_s >= WORTH_KEEPING_S


def kept_somewhere(write: Callable[[Path], object], folder: Path) -> None:
    """Have a flight written to `folder`, or to a temporary one; the terminal is told where it had to go."""
    try:
        write(folder)
    except (OSError, InputError) as error:
        reason = (
            f"holonomy: the flight cannot be kept in {folder} ({getattr(error, 'strerror', None) or error})"
        )
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="holonomy-takes-"))
            write(elsewhere)
        except (OSError, InputError) as second:
            _log.warning(
                "%s, nor elsewhere (%s): it is lost", reason, getattr(second, "strerror", None) or second
            )
        else:
            _log.warning("%s; it is kept in %s", reason, elsewhere)


def recovered(folder: Path) -> int:
    """Give what an app has left that did not come to its end names of its own; returns how many there are."""
    count = 0
    for path in sorted(folder.glob("flying-*.npz")) if folder.is_dir() else ():
        match = _OWN.fullmatch(path.name)
        with suppress(OSError):
            if match and not _at_work(int(match[1]), path):
                when = datetime.fromtimestamp(path.stat().st_mtime)
                path.rename(free_path(folder, f"recovered-{when:%Y%m%d-%H%M%S}"))
                count += 1
    return count


def _at_work(process: int, path: Path) -> bool:
    """Whether another app still writes this file."""
    if os.name != "posix":
        return time.time() - path.stat().st_mtime < 4.0 * PERIOD_S
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
