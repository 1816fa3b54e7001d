"""One window at work: simulation, renderer, camera and panels of a scene, wired frame by frame."""

import math
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from export.curves import save_curves
from export.output import OutputError, replacing
from export.picture import write_png
from export.probe import Probe
from render.arrangement import draw_panes, label_places, pane_rects, spread_along
from render.background_threads import give_way
from render.camera import CameraRig
from render.cameras.framing import framing_of
from render.light import Sun
from render.memory import give_back
from render.quality import PRESETS
from render.renderer import Renderer
from render.scene_view import SceneView, ViewOptions
from render.scenery import Scenery
from sim.commands import Command, PlayTake, SetPaused, ShowMeasured
from sim.errors import InputError, UntrustedFile
from sim.goals.judge import Judge, Progress
from sim.measured import load_measured
from sim.planner.service.requests import PlanRequest
from sim.scene import Scene, load_scene
from sim.snapshot import Snapshot
from sim.take import Take
from sim.take.scene import scene_of
from sim.vehicles import VEHICLES
from ui.catalogue import load_catalogue
from ui.desktop.loader import Loader
from ui.desktop.own_vehicle import OwnVehicle
from ui.desktop.planning import Planning
from ui.desktop.preparation import Loaded
from ui.desktop.sharing import Sharing
from ui.desktop.takes import Takes
from ui.requests import (
    Action,
    AnswerTrust,
    CameraMotion,
    ExportPlan,
    ExportShown,
    LoadScene,
    OpenPath,
    OpenTake,
    RecordVideo,
    RestartGoals,
    SaveCurves,
    SaveTake,
    SkipGoal,
    StopVideo,
    TakeScreenshot,
)
from ui.shell import Shell, ViewSettings
from ui.trust_question import TrustQuestion, question_of
from ui.view_settings import opened
from ui.window import AppWindow

SCREENSHOT_FOLDER = Path("out")


class Session:
    """Lives as long as its window. Commands go down to the simulation, snapshots come up."""

    def __init__(self, window: AppWindow, loader: Loader, loaded: Loaded) -> None:
        """`loaded` is what is shown first, `loader` gets what is asked for later; the window stays the caller's."""
        self._window, self._loader = window, loader
        self._resources = ExitStack()
        self._loads = ""
        """What the loader was asked for."""
        self._asked: str | Path = ""
        """The scene among it, by name or path; empty: it came with a take."""
        self._question: TrustQuestion | None = None
        """About it, where its vehicle's file needs the user's word."""
        self._wants_screenshot = False
        scene, world = loaded.scene, loaded.world
        view = opened(ViewSettings(quality=loaded.quality), scene)
        self._shell = Shell(window, scene=scene, view=view, qualities=tuple(reversed(PRESETS)))
        self._resources.callback(self._shell.release)
        self._scene, self._world = scene, world
        self._simulation, self._planning = loaded.simulation, loaded.planning
        self._starts = True
        """The simulation waits for its first picture."""
        self._shell.show_world(world)
        self._judge = Judge(scene.goals, scene.vehicle, world)
        self._takes, self._sharing, self._own = Takes(), Sharing(), OwnVehicle()
        self._kind = VEHICLES.get(scene.vehicle)
        self._scene_view, self._rig = SceneView(world.water_level_m), CameraRig(scene.camera)
        self._framings = view.framings
        self._frame_scene()
        self._wait_for_plan()
        self._began_s = time.perf_counter()
        self._renderer = self._make_renderer(loaded.scenery)
        window.push_handlers(on_file_drop=self._dropped)

    def run(self, probe: Probe | None = None) -> None:
        """Fly until the window is closed. `probe` is told of every frame."""
        self._window.run(lambda dt_s: self._frame(dt_s, probe))

    def close(self) -> None:
        """Stop the simulation, write what was flown, and free everything but the window."""
        self._window.set_visible(False)  # at once: what was flown is still to be written
        self._loader.close()
        self._simulation.stop()
        self._planning.close()
        self._sharing.close()
        self._takes.close(self._simulation, self._world)
        self._renderer.release()
        self._resources.close()

    def _frame(self, dt_s: float, probe: Probe | None) -> None:
        self._take_loaded_scene()
        snapshot = self._simulation.snapshot
        self._take_up_own_files(snapshot)
        self._planning.poll()
        self._shell.show_plan(self._planning.view)
        self._tell_of_takes()
        self._shell.show_takes(self._takes.view)
        self._shell.show_sharing(self._sharing.view(snapshot))
        goals = self._judge.observe(snapshot) if self._scene.goals else None
        self._shell.show_goals(goals)
        self._shell.show_question(self._question)
        self._shell.begin_frame(dt_s)
        output = self._shell.build(snapshot)
        for command in output.commands:
            self._simulation.submit(command)
        for action in output.actions:
            self._carry_out(action)
        # Anew: building the panels took a while.
        self._draw(self._simulation.snapshot, dt_s, output.camera)
        self._sharing.look(snapshot, lambda: self._window.screenshot(self._shell.scene_rect_px))
        self._shell.render()
        self._set_going()
        self._save_screenshot()
        if probe is not None:
            probe.frame(
                snapshot,
                widgets=self._shell.widget_rects,
                size=self._window.get_size(),
                gl_error=self._window.ctx.error,
                camera=self._shell.view.camera,
                plan=self._planning.probe(),
                goals=_told(goals),
                recorded_s=snapshot.recorded_s,
                look_back=None if snapshot.look_back is None else asdict(snapshot.look_back),
            )

    def _set_going(self) -> None:
        """Time runs from a scene's first picture on: that one compiles shaders and uploads the world."""
        if self._starts:
            self._starts = False
            give_way()
            self._simulation.start()

    def _draw(self, snapshot: Snapshot, dt_s: float, motion: CameraMotion) -> None:
        """The scene, into the part of the window that the panels leave."""
        settings = self._shell.view
        lanes = tuple(lane.name for lane in snapshot.lanes)
        rects = pane_rects(self._shell.scene_rect_px, settings.views, lanes)
        if settings.quality != self._renderer.quality.name:
            self._renderer.release()
            self._renderer = self._make_renderer()
        now_s = time.perf_counter()
        subject = self._scene_view.observe(snapshot, now_s)
        self._rig.kind = settings.camera
        self._rig.watch(self._planning.places_w)
        if settings.framings != self._framings:
            self._framings = settings.framings
            self._rig.frame_places()
        view = self._rig.update(
            subject.T_wb,
            subject.twist_b,
            dt_s,
            model=subject.model,
            reach_m=subject.reach_m,
            held=subject.held,
            motion=motion,
            world=self._world,
            aspect=rects[0][2] / max(rects[0][3], 1),
        )
        options = ViewOptions(
            show_trail=settings.trail,
            show_forces=settings.arrows,
            show_frame=settings.axes,
            solo=settings.solo,
            spread_w=spread_along(self._bearing_rad, settings.spread_m),
        )
        drawn = draw_panes(
            self._renderer,
            self._window.ctx.screen,
            self._scene_view,
            view,
            options,
            rects,
            lanes,
            wall_s=now_s - self._began_s,
            exposure=settings.exposure,
            add=self._planning.added,
        )
        true, apart = self._scene_view.places_w(), self._scene_view.places_w(options)
        shifts_w = {name: place - true[name] for name, place in apart.items()}
        self._shell.use_camera(drawn[0].view.view, drawn[0].view.projection, shifts_w)
        lift_m = 0.3 * framing_of(subject.model).distance_m
        self._shell.label_lanes(label_places(drawn, self._scene_view, options, lift_m=lift_m), snapshot)

    def _frame_scene(self) -> None:
        """The camera as the scene wants it at first."""
        comparison = self._scene.comparison
        self._bearing_rad = math.radians(comparison.bearing_deg or 0.0)
        bearing_rad = None if comparison.bearing_deg is None else self._bearing_rad
        self._rig.frame_scene(distance=comparison.distance, bearing_rad=bearing_rad)

    def _wait_for_plan(self) -> None:
        """What is to be planned starts where the plan does, and waits there."""
        if self._scene.plan is not None:
            self._simulation.submit(SetPaused(True))

    def _make_renderer(self, scenery: Scenery | None = None) -> Renderer:
        """`scenery`: of the world in the present quality, where it has been loaded."""
        sun = self._scene.sun
        return Renderer(
            self._window.ctx,
            self._window.framebuffer_px,
            self._world,
            quality=self._shell.view.quality,
            sun=Sun(math.radians(sun.azimuth_deg), math.radians(sun.elevation_deg)),
            scenery=scenery,
        )

    def _carry_out(self, action: Action) -> None:
        match action:
            case TakeScreenshot():
                self._wants_screenshot = True
            case LoadScene(name):
                again = self._scene.path if name == self._scene.name else None
                self._open_scene(again or name)
            case OpenPath(path):
                self._open_path(path)
            case AnswerTrust(trusted):
                self._answer(trusted=trusted)
            case SkipGoal():
                self._judge.skip()
            case RestartGoals():
                self._judge.restart()
            case SaveCurves():
                self._save_curves()
            case SaveTake(take):
                self._takes.save(take, self._simulation, self._world)
            case OpenTake(path):
                self._takes.open(path)
            case ExportShown(ending):
                self._sharing.export(ending, self._simulation, self._world)
            case RecordVideo():
                self._record_video()
            case StopVideo(keep):
                self._sharing.stop(keep=keep)
            case ExportPlan(plan):
                self._takes.export(plan, self._simulation, self._world)
            case _:
                self._plan(action)

    def _open_path(self, path: str) -> None:
        """A vehicle's folder, a scene, a take or a table of poses, as the user has named it."""
        path = os.path.expanduser(path)
        if path.endswith(".npz"):
            self._carry_out(OpenTake(path))
        elif path.endswith(".csv"):
            self._show_measured(path)
        else:
            self._open_scene(path)

    def _open_scene(self, asked: str | Path, *, trusted: Path | None = None) -> None:
        """By name or path. `trusted`: a file from outside its folder that it may run."""
        self._load(Path(asked).name, lambda: load_scene(asked, trusted=trusted or False))
        self._asked = asked

    def _answer(self, *, trusted: bool) -> None:
        """Open the scene with the file that was asked about, or leave it."""
        question, self._question = self._question, None
        if question is None:
            return
        if trusted:
            self._ask(question.file)
            if self._question != question:
                return  # it was written to meanwhile
            self._open_scene(self._asked, trusted=question.file)
        else:
            self._shell.notify(f"{question.file.name} was not run; {question.scene} stays closed")

    def _show_measured(self, path: str) -> None:
        try:
            self._simulation.submit(ShowMeasured(load_measured(path)))
        except InputError as error:
            self._shell.notify(str(error), error=True)

    def _dropped(self, x: int, y: int, paths: list[str]) -> None:
        """Onto the window: the first one is opened."""
        self._open_path(paths[0])

    def _take_up_own_files(self, snapshot: Snapshot) -> None:
        """What has been saved of a vehicle of one's own since, once a moment; a mistake is told, and it flies on."""
        name = snapshot.lanes[0].vehicle
        try:
            renewed = self._own.poll(name, time.perf_counter())
            if renewed is not None:
                self._simulation.submit(renewed)
            if VEHICLES.get(self._scene.vehicle) is not self._kind:
                self._kind = VEHICLES.get(self._scene.vehicle)
                self._shell.use_catalogue(load_catalogue())
                planning = Planning(self._scene, self._world)
                self._planning.close()
                self._planning = planning
        except InputError as error:
            self._shell.notify(str(error), error=True)

    def _record_video(self) -> None:
        _, _, width, height = self._shell.scene_rect_px
        refusal = self._sharing.record(self._simulation.snapshot, (width, height))
        self._shell.notify(refusal or "Recording what is seen", error=bool(refusal))

    def _save_curves(self) -> None:
        columns, curves = self._shell.curves(self._simulation.snapshot.lanes[0].units)
        try:
            path = save_curves(SCREENSHOT_FOLDER, self._scene.name, columns, curves)
        except OutputError as error:
            self._shell.notify(str(error), error=True)
        else:
            self._shell.notify(f"Curves saved: {path}")

    def _plan(self, request: PlanRequest) -> None:
        try:
            command = self._planning.handle(request)
        except InputError as error:
            self._shell.notify(str(error), error=True)
        else:
            if command is not None:
                self._simulation.submit(command)

    def _tell_of_takes(self) -> None:
        """What has come of saving and opening."""
        for news in (*self._takes.poll(self._simulation), *self._sharing.poll()):
            self._shell.notify(news.text, error=news.error)
            if news.opened is not None:
                self._show_take(news.opened)

    def _show_take(self, take: Take) -> None:
        """In its world, which may have to be loaded first."""
        if (take.world, take.seed) == (self._world.name, self._world.seed):
            self._simulation.submit(PlayTake(take))
        else:
            self._load(take.scene or take.world, lambda: scene_of(take), PlayTake(take))

    def _load(self, name: str, scene: Callable[[], Scene], *commands: Command) -> None:
        self._loads, self._asked, self._question = name, "", None
        self._loader.load(scene, self._shell.view.quality, shown=self._world.key, commands=commands)

    def _take_loaded_scene(self) -> None:
        """Change over to a scene once the loader has it."""
        try:
            loaded = self._loader.take()
        except UntrustedFile as refusal:
            self._ask(refusal.file)
            return
        except InputError as error:
            self._shell.notify(str(error), error=True)
            return
        if loaded is None:
            if self._loader.busy:
                self._shell.notify(f"Loading {self._loads} ...")
            return
        self._simulation.stop()
        self._takes.leave(self._simulation)
        self._planning.close()
        scene, world = loaded.scene, loaded.world
        changed = (world.key, scene.sun) != (self._world.key, self._scene.sun)
        self._scene, self._world = scene, world
        self._simulation, self._planning = loaded.simulation, loaded.planning
        self._judge = Judge(scene.goals, scene.vehicle, world)
        self._kind = VEHICLES.get(scene.vehicle)
        self._shell.use_catalogue(load_catalogue())
        self._shell.use_scene(scene)
        self._shell.show_world(world)
        self._shell.view = opened(self._shell.view, scene)
        self._window.set_caption(f"Holonomy: {scene.title}")
        self._scene_view = SceneView(world.water_level_m)
        self._frame_scene()
        self._wait_for_plan()
        if changed:
            self._renderer.release()
            fits = loaded.quality == self._shell.view.quality
            self._renderer = self._make_renderer(loaded.scenery if fits else None)
        else:
            give_back()
        self._starts = True

    def _ask(self, file: Path) -> None:
        """Whether the scene that was to be opened may run its vehicle's file."""
        try:
            self._question = question_of(str(self._asked), file)
        except InputError as error:
            self._shell.notify(str(error), error=True)

    def _save_screenshot(self) -> None:
        if not self._wants_screenshot:
            return
        self._wants_screenshot = False
        path = SCREENSHOT_FOLDER / f"{self._scene.name}-{datetime.now():%Y%m%d-%H%M%S}.png"
        try:
            path.parent.mkdir(exist_ok=True)
            with replacing(path) as temporary:
                write_png(temporary, self._window.screenshot())
        except (OutputError, OSError) as error:
            self._shell.notify(str(error), error=True)
        else:
            self._shell.notify(f"Screenshot saved: {path}")


def _told(goals: Progress | None) -> dict[str, object] | None:
    """What a test wants to know."""
    if goals is None:
        return None
    due = "" if goals.due is None else goals.due.title
    return {"at": goals.at, "due": due, "held": goals.held, "distance_m": goals.distance_m}
