"""Runs without a window: of a scene, perhaps by a plan that is solved first, and of a take that is drawn anew.

Progress is told on the terminal, one line a stage, with a bar while it runs.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from export.file import export_motions
from export.ground import ground_under
from export.motion import STEPS_S, LaneMotion, MotionRecorder, motions_of_takes
from export.nodes import CameraTrack, camera_track
from export.output import OutputError, check_places, naming_file, replacing
from export.pictures import FrameFiles, VideoWriter, averaged, write_png
from export.request import CONTAINERS, FPS, Request, format_of
from export.tables import TableWriter, chosen_channels
from sim.commands import Command, FlyPlan, KeepTake, PlayTake, SetDemo, ShowMeasured
from sim.platform.errors import InputError
from sim.platform.progress import Tell, TellShare, unheard
from sim.platform.values import dataclass
from sim.recordings import Take, load_take, save_take
from sim.scene import Scene
from sim.shapes import Shape
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot, Tint
from sim.simulation.opening import scene_of, take_as_ghost
from sim.simulation.runs.scene_setup import fixed_point_w
from sim.vehicles import vehicle
from sim.world import World, load_world

if TYPE_CHECKING:
    from export.studio import Studio
    from render.frame import View
    from sim.planner import Plan
    from sim.planner.service.session import PlanView


@contextmanager
def shown(title: str) -> Iterator[TellShare]:
    """A bar on stderr that follows the reports and leaves one line with the time it took."""
    console = Console(stderr=True)
    started = time.perf_counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[detail]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(title, total=None, detail="")

        def report(detail: str, share: float) -> None:
            bar.update(task, total=1.0, completed=share, detail=detail)

        yield report
    console.print(f"{title} [dim]{time.perf_counter() - started:.1f} s[/dim]", highlight=False)


class RunExports:
    """Scenes and tables of all lanes, written when the run is over."""

    def __init__(self, request: Request, first: Snapshot, scene: Scene, world: World) -> None:
        """Raises InputError for channels that are none."""
        self._request, self._scene, self._world = request, scene, world
        self._recorder = MotionRecorder()
        self._recorder.add(first)
        self._camera: _CameraRecorder | None = None
        if not request.exports:
            return
        if any(format_of(path).table for path in request.exports):
            chosen_channels(self._recorder.motions(), request.channels)
        if "camera" in request.include:
            self._camera = _CameraRecorder(scene, world, request.size_px)
            self._camera.add(first, 0.0)

    def add(self, snapshot: Snapshot, dt_s: float) -> None:
        """The next moment, `dt_s` later."""
        if self._request.exports:
            self._recorder.add(snapshot)
        if self._camera is not None:
            self._camera.add(snapshot, dt_s)

    def finish(
        self,
        simulation: Simulation,
        planned: "PlanView | None" = None,
        report: TellShare = unheard,
    ) -> None:
        """Write the files. A page and a log have every step that was recorded, and always their ground; a page has what
        was planned, too.
        """
        if not self._request.exports:
            return
        from export.fall import with_fall  # with what draws vehicles, as files are written
        from export.page import caption_of

        last, takes = simulation.snapshot, self._takes(simulation)
        motions = with_fall(self._recorder.motions(), takes, last, self._world)
        ground = ground_under(self._world, motions, self._obstacles())
        plan = None
        if planned is not None:
            from export.plan import plan_drawing  # with the planner, as there is a plan

            plan = plan_drawing(self._world, planned, float(motions[0].time[0]))
        said = () if planned is None else (planned.message,)
        for path in self._request.exports:
            steps = format_of(path).steps
            export_motions(
                path,
                self._by_steps(motions, takes, last) if steps else motions,
                title=self._scene.title or self._scene.name,
                channels=self._request.channels,
                ground=ground if steps or "terrain" in self._request.include else None,
                camera=None if self._camera is None else self._camera.track(),
                plan=plan,
                caption=(*caption_of(self._scene), *said),
                report=report,
            )

    def _obstacles(self) -> tuple[Shape, ...]:
        """What the scene's plan keeps clear of."""
        if self._scene.plan is None:
            return ()
        from sim.planner import task_of_scene

        return task_of_scene(self._scene, world=self._world)[1].obstacles

    def _takes(self, simulation: Simulation) -> list[tuple[LaneSnapshot, Take]]:
        """Of the lanes that are recorded."""
        takes = []
        for lane in simulation.snapshot.lanes:
            reply: Future[Take] = Future()
            simulation.submit(KeepTake(reply, lane.name))
            simulation.advance(0.0)
            if reply.exception(0) is None:
                takes.append((lane, reply.result(0)))
        return takes

    def _by_steps(
        self,
        motions: Sequence[LaneMotion],
        takes: Sequence[tuple[LaneSnapshot, Take]],
        last: Snapshot,
    ) -> list[LaneMotion]:
        """Motions of the lanes, step by step of those that are recorded so."""
        from export.fall import with_fall

        recorded = motions_of_takes(takes, self._world, every_s=STEPS_S, solids=last.environment)
        found = {motion.name: motion for motion in with_fall(recorded, takes, last, self._world)}
        return [found.get(motion.name, motion) for motion in motions]


class _CameraRecorder:
    """Where the scene's camera was, without drawing anything."""

    def __init__(self, scene: Scene, world: World, size_px: tuple[int, int]) -> None:
        from export.studio import Follower

        self._follower = Follower(scene, world)
        self._aspect = size_px[0] / size_px[1]
        self._time: list[float] = []
        self._views: list[View] = []

    def add(self, snapshot: Snapshot, dt_s: float) -> None:
        self._views.append(self._follower.follow(snapshot, dt_s, self._aspect))
        self._time.append(snapshot.clock_s)

    def track(self) -> CameraTrack:
        return camera_track(self._time, self._views)


def run(
    simulation: Simulation,
    request: Request,
    *,
    studio: Callable[[], "Studio"],
    report: TellShare,
    scene: "Scene",
    world: "World",
    planned: "PlanView | None" = None,
) -> Snapshot:
    """Carry out a request; returns the last snapshot.

    `studio` is called where pictures are asked for; scene and world are the simulation's. planned: what is flown, for
    pages. Raises OutputError where a file cannot be written, and then leaves none of the files behind but whole
    pictures of a sequence.
    """
    if request.demo:
        simulation.submit(SetDemo(True))
    simulation.advance(0.0)
    with ExitStack() as stack:
        kept = stack.enter_context(replacing(request.take)) if request.take else None
        outlets = _Outlets(stack, simulation.snapshot, request, studio)
        outlets.start(simulation.snapshot)
        exports = RunExports(request, simulation.snapshot, scene, world)
        moments = request.moments
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
        exports.finish(simulation, planned, report)
        if kept is not None and request.take is not None:
            _write_take(simulation, kept, request.take.stem)
    return simulation.snapshot


def _write_take(simulation: Simulation, path: Path, name: str) -> None:
    """What is recorded of the flown lane, or the take that was played."""
    reply: Future[Take] = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    save_take(replace(reply.result(0), name=name), path)


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
            with naming_file(self._csv):  # not of a file that was opened later
                self._table.add(snapshot)

    def finish(self) -> None:
        """Complete the files."""
        if self._still is not None and self._studio is not None:
            write_png(self._still, self._studio.still())
        if self._video is not None:
            self._video.finish()


def solved(scene: Scene, world: World) -> "Plan":
    """The plan of the scene's task.

    Raises InputError for a scene without a task or a task that cannot be, OutputError where no plan is found.
    """
    from sim.planner import plan, task_of_scene

    vehicle, task = task_of_scene(scene, world=world)
    found = plan(vehicle, task, method=scene.integrator)
    if not found.solved:
        raise OutputError(f"{scene.name}: {found.message}")
    return found


def flight(plan: "Plan") -> FlyPlan:
    """The command to fly it."""
    return FlyPlan(plan.vehicle, plan.integrator, plan.step_s, plan.motion.nodes, plan.controls)


def plan_line(plan: "Plan") -> str:
    """Its message, cost, defect and steps in one line."""
    return (
        f"{plan.message} Cost {plan.cost:.6g}, defect {plan.defect:.1e}, "
        f"{len(plan.controls) - 1} steps of {plan.step_s:.6g} s"
    )


def overlooked(scene: Scene, world: World, plan: "Plan | None" = None) -> "PlanView | None":
    """What the overview is of: the scene's task and its plan; None where it plans nothing, or another camera looks.

    Raises InputError for a task that cannot be.
    """
    if scene.plan is None or scene.race is not None or scene.camera != "overview":
        return None
    return task_view(scene, world, plan)


def task_view(scene: Scene, world: World, plan: "Plan | None" = None) -> "PlanView":
    """What is to be shown of the task of a scene, and of its plan. Raises InputError for a task that cannot be."""
    from sim.planner import task_of_scene
    from sim.planner.result.record import record_of
    from sim.planner.service.session import PlanView

    vehicle, task = task_of_scene(scene, world=world)
    record = None if plan is None else record_of(plan, scene.name)
    message = "" if plan is None else plan_line(plan)
    origin_w = fixed_point_w(scene.start, vehicle, world)
    return PlanView(vehicle, task, origin_w, scene.integrator, message=message, plan=record)


def prepare(scene: Scene) -> tuple[World, Simulation]:
    """World and simulation of a scene, with progress on the terminal."""
    with shown(f"World: {scene.world}"):
        world = load_world(scene.world, seed=scene.seed)
    with shown("Compiled kernels") as report:
        simulation = Simulation(scene, world, progress=report)
    return world, simulation


def run_headless(
    scene: Scene,
    request: Request,
    *,
    plan: bool = False,
    seconds: float | None = None,
    at_first: tuple[Command, ...] = (),
    read: Callable[[], Scene] | None = None,
) -> None:
    """Simulate without a window and write the files asked for.

    plan: solve the scene's task first and fly the outcome, to its end unless `seconds` says otherwise.
    at_first: what is asked of the simulation. read: gives the scene anew, for a sweep.
    Raises OutputError where a file could not be created, before anything is made ready; InputError where something is
    asked for that only a window does.
    """
    gc.enable()  # it rests while the program starts
    if request.listen:
        raise InputError("--listen: refused without a window; allowed: with one")
    if request.sweep:
        if read is None or plan:
            raise InputError("--sweep: refused of takes and plans; allowed: of a scene")
        from export.scene_sweep import run_sweep

        with shown(f"Runs of {scene.name}") as report:
            table = run_sweep(read, request, report)
        print(f"{scene.name}: {len(table)} runs of {request.seconds:g} s")
        for path in request.exports:
            print(f"wrote {path}")
        return
    check_places(request.files)
    world, simulation = prepare(scene)
    found = None
    if plan:
        with shown("Planned"):
            found = solved(scene, world)
        print(plan_line(found))
        simulation.submit(flight(found))
        request = replace(request, seconds=found.duration_s if seconds is None else seconds)

    for asked in at_first:
        simulation.submit(asked)
        answer = simulation.advance(0.0).message
        if answer:
            print(answer)

    def studio() -> "Studio":
        from export.studio import Studio

        seen = overlooked(scene, world, found)
        return Studio(scene, world, size_px=request.size_px, quality=request.quality, planned=seen)

    planned = None if found is None else task_view(scene, world, found)
    with shown("Running") as report:
        last = run(
            simulation, request, studio=studio, report=report, scene=scene, world=world, planned=planned
        )
    lane = last.lanes[0]
    x, y, z = lane.T_wb[:3, 3]
    print(
        f"{scene.name}: {last.clock_s:g} s, {lane.vehicle} under {lane.integrator}, h = {lane.step_s:g} s, "
        f"{lane.status.value} at ({x:.1f}, {y:.1f}, {z:.1f}) m {lane.status_text}".rstrip()
    )
    for path in request.files:
        print(f"wrote {path}")


SIZE_PX = (1280, 720)


@dataclass(frozen=True, slots=True)
class TakeVideo:
    """A video of a take, with a camera and motion blur that are chosen when it has long been flown."""

    take: Path
    """The file of the take."""
    path: Path
    camera: str = ""
    """One of the scene's kinds; empty: the scene's own."""
    subframes: int = 1
    """Pictures that are averaged into each one."""
    size_px: tuple[int, int] = SIZE_PX
    """Even."""
    beside: tuple[tuple[str, Path, Tint | None], ...] = ()
    """Names, takes and tints of other lanes on the same clock: ghosts, each with the model of its vehicle."""


def draw_take(order: TakeVideo, tell: Tell) -> None:
    """Write the video; tells the share that is done.

    Raises InputError for a take's file, OutputError and DisplayError; then there is no video.
    """
    take = load_take(order.take)
    scene = scene_of(take)
    if order.camera:
        scene = replace(scene, camera=order.camera)
    world = load_world(scene.world, seed=scene.seed)
    simulation = Simulation(scene, world)
    simulation.submit(PlayTake(take))
    for name, file, tint in order.beside:
        beside = load_take(file)
        here = (beside.world, beside.seed) == (scene.world, scene.seed)
        simulation.submit(ShowMeasured(take_as_ghost(beside, name, world if here else None), tint))
    simulation.advance(0.0)
    request = Request(
        seconds=max(take.shown_s, 1.0 / FPS),
        size_px=order.size_px,
        video=order.path,
        screenshot=None,
        csv=None,
        quality="auto",
        demo=False,
        subframes=order.subframes,
    )

    def studio() -> "Studio":
        from export.studio import Studio

        return Studio(scene, world, size_px=order.size_px, quality=request.quality)

    run(
        simulation,
        request,
        studio=studio,
        report=lambda told, share: tell(share),
        scene=scene,
        world=world,
    )
