"""Exports and videos of a window, made beside its frames."""

import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from time import perf_counter

import numpy as np

from export.output import OutputError
from export.pictures import Film
from export.request import FORMATS, format_of
from render.errors import DisplayError
from sim.commands import KeepGhosts, KeepTake
from sim.planner.service.session import PlanView
from sim.platform.errors import InputError
from sim.platform.processes import GivenUp, run_in_process
from sim.platform.replacing import file_stem
from sim.platform.values import dataclass
from sim.recordings import Take, save_take
from sim.recordings.segment import SAME_S
from sim.scene import Scene
from sim.shapes import Shape
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, LookBack, Snapshot
from sim.simulation.runs.reference import Ghosts
from sim.vehicles.forms.custom import OwnClass
from sim.world import World
from ui.features.feature import Actions, App, News
from ui.features.notices import CrashReplay
from ui.features.takes.sharing import (
    VIDEO,
    CancelExport,
    ExportKind,
    ExportShown,
    FilmView,
    RecordVideo,
    SharingView,
    StopVideo,
    Work,
)
from ui.settings.view_settings import exports_folder

KINDS = (
    *(
        ExportKind(kind.endings[0], kind.text, not kind.table and not kind.steps, bool(kind.live))
        for kind in FORMATS
    ),
    ExportKind(VIDEO, "A video drawn anew: any camera, motion blur", ground=False),
)
"""What the panel offers."""
_TIDY_S = 5.0
"""In which a video that is given up takes its files back."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An export that waits for the simulation's answers."""

    request: ExportShown
    snapshot: Snapshot
    """When it was asked for."""
    scene: Scene | None
    """That the user has opened."""
    world: World
    lanes: tuple[tuple[LaneSnapshot, Future[Take]], ...]
    """Each with what is recorded of it."""
    ghosts: Future[Ghosts]
    """What was measured."""
    planned: PlanView | None


@dataclass(slots=True)
class _Filmed:
    film: Film
    began_s: float
    take: tuple[float, float] | None
    """From where to where of a take that is played."""


class Sharing:
    """Lives as long as the window. Files go to the user's folder of exports, under names that are not taken."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or exports_folder()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="exports")
        self._asked: list[_Asked] = []
        self._pending: list[Future[News]] = []
        self._filmed: _Filmed | None = None
        self._work: Work | None = None
        """Of an export that tells how far it is."""
        self._given_up = threading.Event()
        self._ending: list[tuple[Film, bool]] = []

    def view(self, snapshot: Snapshot) -> SharingView:
        """For the panels."""
        film = None
        if self._filmed is not None:
            film = FilmView(self._filmed.film.seconds, _share(self._filmed.take, snapshot.look_back))
        return SharingView(KINDS, bool(self._asked or self._pending), self._work, film)

    def export(
        self,
        request: ExportShown,
        simulation: Simulation,
        world: World,
        planned: PlanView | None = None,
        scene: Scene | None = None,
    ) -> None:
        """Begin to write what is recorded of all lanes, or shown of it.

        planned: what is planned in it, of which a page has the plans. scene: what the user has opened, which says it.
        """
        snapshot, ghosts = simulation.snapshot, Future[Ghosts]()
        lanes = tuple((lane, Future[Take]()) for lane in snapshot.lanes)
        self._given_up = threading.Event()
        self._work = Work() if request.ending == VIDEO else None
        for lane, reply in lanes:
            simulation.submit(KeepTake(reply, lane.name))
        simulation.submit(KeepGhosts(ghosts))
        self._asked.append(_Asked(request, snapshot, scene, world, lanes, ghosts, planned))

    def cancel(self) -> None:
        """Give up what is being written, where that takes long."""
        self._given_up.set()

    def record(self, snapshot: Snapshot, size_px: tuple[int, int]) -> str:
        """Begin a video; what to tell where that cannot be."""
        try:
            path = free_file(self._folder, snapshot.scene, VIDEO)
        except OSError as error:
            return f"{self._folder} cannot be made: {error.strerror or error}"
        look = snapshot.look_back
        playing = look is not None and not snapshot.paused
        span = (look.time_s, look.end_s) if look is not None and playing else None
        self._filmed = _Filmed(Film(path, size_px), perf_counter(), span)
        return ""

    def stop(self, *, keep: bool) -> None:
        """End the video."""
        if self._filmed is not None:
            film, self._filmed = self._filmed.film, None
            film.finish() if keep else film.cancel()
            self._ending.append((film, keep))

    def look(self, snapshot: Snapshot, picture: Callable[[], np.ndarray], *, falls: bool = False) -> None:
        """Once a frame, when the scene is drawn and the panels are not: `picture` reads what is seen.

        falls: whether a wreck still does, which belongs to a take that ends in a crash.
        """
        filmed = self._filmed
        if filmed is None:
            return
        elapsed_s = perf_counter() - filmed.began_s
        if filmed.film.due(elapsed_s):
            filmed.film.picture(picture(), elapsed_s)
        look = snapshot.look_back
        over = filmed.take is not None and (look is None or look.time_s >= filmed.take[1] - SAME_S)
        if (over and not falls) or filmed.film.done:
            self.stop(keep=True)

    def poll(self) -> list[News]:
        """Once a frame: what is finished."""
        for asked in [asked for asked in self._asked if asked.ghosts.done()]:  # that is asked for last
            self._asked.remove(asked)
            work = self._drawn if asked.request.ending == VIDEO else self._written
            self._pending.append(self._worker.submit(work, asked))
        done = [future for future in self._pending if future.done()]
        self._pending = [future for future in self._pending if future not in done]
        news = [future.result() for future in done]
        if not (self._asked or self._pending):
            self._work = None
        for film, keep in [ending for ending in self._ending if ending[0].done]:
            self._ending.remove((film, keep))
            if film.error:
                news.append(News(film.error, error=True))
            else:
                news.append(News(f"Video saved: {film.path}" if keep else "No video was kept"))
        return news

    def close(self) -> None:
        """Finish what is being written."""
        self.stop(keep=True)
        self.cancel()
        for film, _ in self._ending:
            film.join()
        self._worker.shutdown(wait=True)

    def _drawn(self, asked: _Asked) -> News:
        """The take of the flown lane as a video, beside it those of the others, in a process of its own."""
        from export.headless import TakeVideo, draw_take  # with the encoder, which few windows need

        given_up = self._given_up

        def tell(share: float) -> None:
            self._work = Work("", share)

        try:
            take, path = asked.lanes[0][1].result(), free_file(self._folder, asked.snapshot.scene, VIDEO)
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "take.npz"
                save_take(take, file)
                beside = []
                for k, (lane, reply) in enumerate(asked.lanes[1:]):
                    if reply.exception() is None:
                        beside.append(
                            (
                                lane.name,
                                save_take(reply.result(), Path(folder) / f"beside-{k}.npz"),
                                lane.tint,
                            )
                        )
                order = TakeVideo(
                    file, path, asked.request.camera, asked.request.subframes, beside=tuple(beside)
                )
                run_in_process(
                    draw_take,
                    order,
                    name="video",
                    prepare=OwnClass.of(type(take.vehicle)),
                    progress=tell,
                    given_up=given_up,
                    tidy_s=_TIDY_S,
                    refusals=(InputError, OutputError, DisplayError),
                    allowed="allowed: Record, or another format",
                )
        except GivenUp:
            return News("No video was kept")
        except (InputError, OutputError, DisplayError) as error:
            return News(str(error), error=True)
        except OSError as error:
            return News(f"{self._folder}: {error.strerror or error}", error=True)
        return News(f"Video saved: {path}")

    def _written(self, asked: _Asked) -> News:
        from export.fall import with_fall  # as above
        from export.file import export_motions
        from export.ground import ground_under
        from export.motion import EVERY_S, STEPS_S, motions_of_ghosts, motions_of_takes
        from export.page import caption_of

        snapshot, planned, scene, given_up = asked.snapshot, asked.planned, asked.scene, self._given_up

        def tell(text: str, share: float) -> None:
            self._work = Work(text, share)
            if given_up.is_set():
                raise GivenUp

        if scene is not None and scene.name != snapshot.scene:
            scene = None  # a take of another one is shown
        try:
            # Of the others nothing has been recorded.
            takes = [(lane, reply.result()) for lane, reply in asked.lanes if reply.exception() is None]
            free = free_file(self._folder, snapshot.scene, asked.request.ending)
            steps = format_of(free).steps
            every_s = STEPS_S if steps else EVERY_S
            motions = motions_of_takes(takes, asked.world, every_s=every_s, solids=snapshot.environment)
            if not motions:
                return News("nothing has been recorded yet", error=True)
            motions = with_fall(motions, takes, snapshot, asked.world)
            motions += motions_of_ghosts(asked.ghosts.result(), snapshot.lanes[0], motions[0].time)
            ground, plan = None, None
            if asked.request.ground or steps:
                obstacles = () if planned is None else planned.obstacles_w
                ground = ground_under(asked.world, motions, obstacles)
            if planned is not None:
                from export.plan import plan_drawing  # with the planner, as there is one

                plan = plan_drawing(asked.world, planned, float(motions[0].time[0]))
            path = export_motions(
                free, motions, ground=ground, plan=plan,
                title=snapshot.scene if scene is None else scene.title,
                caption=() if scene is None else caption_of(scene),
                report=tell,
            )  # fmt: skip
        except GivenUp:
            return News("No file was kept")
        except (InputError, OutputError, DisplayError) as error:
            return News(str(error), error=True)
        except OSError as error:
            return News(f"{self._folder}: {error.strerror or error}", error=True)
        return News(f"Exported: {path}")


def obstacles_of(app: App) -> tuple[Shape, ...]:
    """What the plan's task keeps clear of, in the world; nothing where there is none."""
    view = app.context.find(PlanView)
    return () if view is None else view.obstacles_w


def free_file(folder: Path, scene: str, ending: str) -> Path:
    """One that is not there yet, after the scene and the time. Raises OSError where the folder cannot be made."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{file_stem(Path(scene).stem, 'scene')}-{datetime.now():%Y%m%d-%H%M%S}"
    path, count = folder / f"{stem}{ending}", 2
    while path.exists():
        path, count = folder / f"{stem}-{count}{ending}", count + 1
    return path


def _share(span: tuple[float, float] | None, look: LookBack | None) -> float | None:
    if span is None or span[1] <= span[0]:
        return None
    return 1.0 if look is None else min(max((look.time_s - span[0]) / (span[1] - span[0]), 0.0), 1.0)


class SharingActions(Actions):
    """Exports, and videos of what is seen."""

    handles = (ExportShown, CancelExport, RecordVideo, StopVideo)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._sharing = Sharing()

    def poll(self, snapshot: Snapshot) -> None:
        for news in self._sharing.poll():
            self.app.tell(news.text, error=news.error)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (self._sharing.view(snapshot),)

    def carry_out(self, action: object) -> None:
        match action:
            case ExportShown():
                planned, scene = self.app.context.find(PlanView), self.app.context.find(Scene)
                self._sharing.export(action, self.app.simulation, self.app.world, planned, scene)
            case CancelExport():
                self._sharing.cancel()
            case StopVideo(keep):
                self._sharing.stop(keep=keep)
            case RecordVideo():
                refusal = self._sharing.record(self.app.simulation.snapshot, self.app.scene_size_px)
                self.app.tell(refusal or "Recording what is seen", error=bool(refusal))

    def drawn(self, snapshot: Snapshot, picture: Callable[[], np.ndarray]) -> None:
        self._sharing.look(snapshot, picture, falls=self.app.context.of(CrashReplay).falls)

    def close(self) -> None:
        self._sharing.close()
