"""Takes in the window: read and written beside the frames, in the user's folder.

What is flown is on disk while it is flown: whatever ends the app, next to nothing of it is lost.
"""

import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import perf_counter

from sim.commands import KeepTake
from sim.planner.result.record import PlanRecord
from sim.platform.errors import InputError
from sim.recordings import Take, load_take, save_take
from sim.recordings.file import described, free_path
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.features.feature import Actions, App, News
from ui.features.recordings import ExportPlan, OpenTake, SaveTake, ShowTake, StoredTake, TakesView
from ui.settings.view_settings import config_dir

FIRST_S, PERIOD_S = 2.0, 15.0
"""Wall time before the first copy of a flight, and between two later ones: twice as long each time, up to that."""
WORTH_KEEPING_S = 2.0
_OWN = re.compile(r"flying-(\d+)-\d+\.npz")
_log = logging.getLogger("holonomy")


class Autosave:
    """One file for the present flight and one for each that has ended, until the app is closed as it should be."""

    def __init__(
        self, folder: Path, period_s: float = PERIOD_S, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`folder`: created with the first file. period_s: the longest between two copies, by that clock."""
        self._folder, self._longest_s, self._clock = folder, period_s, clock
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="autosave")
        self._number = 0
        self._known: tuple[Take, ...] = ()
        self._asked: Future[Take] | None = None
        self._asked_s, self._clock_s = clock(), 0.0
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
        now_s = self._clock()
        if (
            now_s - self._asked_s < min(self._period_s, self._longest_s)
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
    steered = any(len(segment.change_steps) > 1 for segment in take.segments)
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


MOST_UNSAVED = 12
"""Flights that are remembered without a file, from scene to scene."""
AUTOSAVED = "autosaved"
"""Folder within that of the takes. Its files belong to the app, which removes the oldest."""
MOST_AUTOSAVED = 10


class Takes:
    """Lives as long as the window. Nothing here overwrites a file, or removes one that the user has asked for."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        period_s: float = PERIOD_S,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """folder: of takes; period_s and clock: as `Autosave` has them."""
        self._folder = folder or config_dir() / "takes"
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="takes")
        self._asked: list[tuple[Future[Take], World]] = []
        self._pending: list[Future[News]] = []
        self._left: tuple[Take, ...] = ()
        self._saved: list[Take] = []
        self._autosave = Autosave(self._folder / AUTOSAVED, period_s, clock)
        self._first_news: list[News] = []
        if count := recovered(self._folder / AUTOSAVED):
            flights = "a flight was" if count == 1 else f"{count} flights were"
            self._first_news = [News(f"The app ended unexpectedly: {flights} kept, see Takes, Autosaved")]
        self._view = TakesView(self._folder, _stored(self._folder), _stored(self._folder / AUTOSAVED))

    @property
    def view(self) -> TakesView:
        """For the panels."""
        return self._view

    def open(self, path: str) -> None:
        """Begin to read a take; `poll` tells what has come of it."""
        self._pending.append(self._worker.submit(_opened, path))

    def export(self, plan: PlanRecord, simulation: Simulation, world: World) -> None:
        """Begin to write a plan as a take."""
        scene = simulation.snapshot.scene
        self._pending.append(self._worker.submit(_exported, plan, scene, self._folder, world))

    def save(self, take: Take | None, simulation: Simulation, world: World) -> None:
        """Begin to write a take; None: what is recorded now, or shown of it."""
        if take is not None:
            self._write(take, world)
            return
        reply: Future[Take] = Future()
        simulation.submit(KeepTake(reply))
        self._asked.append((reply, world))

    def poll(self, simulation: Simulation) -> list[News]:
        """Once a frame: what is finished."""
        self._autosave.poll(simulation)
        answered = [asked for asked in self._asked if asked[0].done()]
        self._asked = [asked for asked in self._asked if asked not in answered]
        news, self._first_news = self._first_news, []
        for reply, world in answered:
            if reply.exception() is None:
                self._write(reply.result(), world)
            else:
                news.append(News(str(reply.exception()), error=True))
        done = [future for future in self._pending if future.done()]
        self._pending = [future for future in self._pending if future not in done]
        told = [future.result() for future in done]
        self._saved += [one.saved for one in told if one.saved is not None]
        stored = _stored(self._folder) if done else self._view.stored
        takes = (*self._left, *simulation.snapshot.former)
        unsaved = tuple(take for take in reversed(takes) if take not in self._saved)
        self._view = replace(
            self._view, stored=stored, unsaved=unsaved, saving=bool(self._pending or self._asked)
        )
        return news + told

    def leave(self, simulation: Simulation) -> None:
        """The scene is left and its simulation has been stopped: remember what was flown in it."""
        self._settle()
        self._autosave.keep(simulation.takes())
        self._left = (*self._left, *simulation.takes())[-MOST_UNSAVED:]

    def close(self, simulation: Simulation, world: World) -> None:
        """Finish what is being written, and keep what was flown and is in no file. The simulation has been stopped."""
        self._settle()
        saved = [*self._saved, *(future.result().saved for future in self._pending)]
        flights = [
            take for take in (*self._left, *simulation.takes()) if take not in saved and worth_keeping(take)
        ]
        for take in flights[-MOST_AUTOSAVED:]:
            self._worker.submit(_autosaved, take, self._folder / AUTOSAVED, world)
        self._worker.shutdown(wait=True)
        self._autosave.close()

    def _settle(self) -> None:
        """Of a simulation that has been stopped: write what it has answered; nothing more will come."""
        for reply, world in self._asked:
            if reply.done() and reply.exception() is None:
                self._write(reply.result(), world)
        self._asked = []

    def _write(self, take: Take, world: World) -> None:
        self._pending.append(self._worker.submit(_written, take, self._folder, world))


def _opened(path: str) -> News:
    try:
        # Not Path.expanduser: that raises for a user whom nobody knows.
        take = load_take(os.path.expanduser(path))
    except InputError as error:
        return News(str(error), error=True)
    return News(f"Take opened: {take.name}", opened=take)


def _exported(plan: PlanRecord, scene: str, folder: Path, world: World) -> News:
    take = Take.of_plan(plan, scene=scene, world=world.name, seed=world.seed)
    return _written(take, folder, world)


def _written(take: Take, folder: Path, world: World) -> News:
    try:
        path = _saved(take, folder, world)
    except OSError as error:
        return News(f"the take cannot be written: {error.strerror or error}", error=True)
    except InputError as error:
        return News(str(error), error=True)
    return News(f"Take saved: {path}", saved=take)


def _saved(take: Take, folder: Path, world: World) -> Path:
    """Under a name that is not taken."""
    when = datetime.fromisoformat(take.created) if take.created else datetime.now()
    stem = f"{take.scene or take.name}-{when:%Y%m%d-%H%M%S}"
    here = (world.name, world.seed) == (take.world, take.seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = free_path(folder, stem)
    named = replace(take, name=path.stem)
    return save_take(named, path, playback=named.playback((lambda: world) if here else None))


def _autosaved(take: Take, folder: Path, world: World) -> None:
    kept_somewhere(lambda place: _saved(take, place, world), folder)
    files = [path for path in folder.glob("*.npz") if not path.name.startswith("flying-")]
    for path in sorted(files, key=_age_s)[MOST_AUTOSAVED:]:
        path.unlink(missing_ok=True)


def _stored(folder: Path) -> tuple[StoredTake, ...]:
    """The takes in a folder, the latest first; what cannot be read is left out."""
    if not folder.is_dir():
        return ()
    found = []
    for path in sorted(folder.glob("*.npz"), key=_age_s):
        try:
            found.append(StoredTake(path, described(path)))
        except InputError:
            continue
    return tuple(found)


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


class TakesActions(Actions):
    """Keeps what is flown, and opens what was."""

    handles = (SaveTake, OpenTake, ExportPlan)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._takes = Takes()

    def leave(self) -> None:
        self._takes.leave(self.app.simulation)

    def poll(self, snapshot: Snapshot) -> None:
        for news in self._takes.poll(self.app.simulation):
            self.app.tell(news.text, error=news.error)
            if news.opened is not None:
                self.app.do(ShowTake(news.opened))

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (self._takes.view,)

    def carry_out(self, action: object) -> None:
        match action:
            case SaveTake(take):
                self._takes.save(take, self.app.simulation, self.app.world)
            case OpenTake(path):
                self._takes.open(path)
            case ExportPlan(plan):
                self._takes.export(plan, self.app.simulation, self.app.world)

    def close(self) -> None:
        self._takes.close(self.app.simulation, self.app.world)
