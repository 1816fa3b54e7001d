"""One window at work: simulation, renderer, camera and panels of a scene, wired frame by frame."""

import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from export.output import OutputError
from export.probe import Probe
from render.process import give_way
from render.quality import PRESETS, is_software
from sim.commands import Command, PlayTake, SetSpeed, ShowMeasured
from sim.measured import load_measured
from sim.planner.service.requests import PlanRequest
from sim.platform.errors import InputError
from sim.recordings import Take
from sim.recordings.opening import scene_of
from sim.scene import Scene, load_scene
from sim.simulation.judge import Judge
from sim.snapshot import Snapshot
from sim.vehicles import VEHICLES
from sim.world import World
from ui import theme
from ui.catalogue import load_catalogue
from ui.config import config_dir, prepares_ahead
from ui.desktop.fitting import Fitting
from ui.desktop.loader import Loader
from ui.desktop.memories import Memories
from ui.desktop.own_vehicle import OwnVehicle
from ui.desktop.picture import Picture
from ui.desktop.planning import Planning
from ui.desktop.preparation import Loaded
from ui.desktop.probing import passed, probed
from ui.desktop.racing import Racing
from ui.desktop.saving import curves_saved, screenshot_saved, task_saved
from ui.desktop.scene_change import Read, SceneChange
from ui.desktop.sharing import Sharing
from ui.desktop.takes import Takes
from ui.input.control_setup import ENDING as CONTROLS
from ui.requests import (
    Action,
    AnswerTrust,
    CameraMotion,
    CancelExport,
    CancelFit,
    CancelLoading,
    ExportPlan,
    ExportShown,
    FitTake,
    LoadScene,
    OpenPath,
    OpenTake,
    RecordVideo,
    RestartGoals,
    SaveCurves,
    SaveTake,
    SaveTask,
    SkipGoal,
    StopVideo,
    TakeScreenshot,
)
from ui.shell import Shell
from ui.sound.player import Sound
from ui.window import AppWindow

PANELS_HZ = 15.0
"""Where the processor draws: panels and instruments that nobody touches."""
AT_REST_S = 1.0 / 30.0
"""Between two looks whether anything has changed."""
READING_SPEED = 0.25
"""At which methods are compared at first: there is a caption to be read."""


class Session:
    """Lives as long as its window. Commands go down to the simulation, snapshots come up."""

    def __init__(self, window: AppWindow, loader: Loader, loaded: Loaded) -> None:
        """`loaded` is what is shown first, `loader` gets what is asked for later; the window stays the caller's."""
        self._window, self._change = window, SceneChange(loader)
        self._resources = ExitStack()
        self._wants_screenshot = False
        scene, world = loaded.scene, loaded.world
        self._memories = Memories(config_dir(), loaded.quality)
        view = self._memories.opened(self._memories.kept.view(loaded.quality), scene)
        kept = self._memories.kept
        qualities = tuple(reversed(PRESETS))
        self._shell = Shell(
            window,
            scene=scene,
            view=view,
            panels=kept.panels,
            plots=kept.plots,
            qualities=qualities,
            panels_hz=PANELS_HZ if is_software(window.ctx) else math.inf,
        )
        self._resources.callback(self._shell.release)
        self._takes, self._sharing, self._own = Takes(), Sharing(), OwnVehicle()
        self._fitting, self._sound = Fitting(), Sound()
        self._take_over(loaded)
        self._picture = Picture(window, scene, world, view, loaded.scenery)
        window.push_handlers(on_file_drop=self._dropped)

    def _take_over(self, loaded: Loaded) -> None:
        """Its scene is the one that there is from now on."""
        scene, world = loaded.scene, loaded.world
        self._scene, self._world = scene, world
        self._simulation, self._planning = loaded.simulation, loaded.planning
        self._starts = True
        """The simulation waits for its first picture."""
        self._shell.show_world(world)
        self._judge = Judge(scene.goals, scene.vehicle, world)
        self._kind = VEHICLES.get(scene.vehicle)
        self._open(scene, world)

    def run(self, probe: Probe | None = None) -> None:
        """Fly until the window is closed. `probe` is told of every frame."""
        self._window.run(lambda dt_s: self._frame(dt_s, probe))

    def close(self) -> None:
        """Stop the simulation, write what was flown, and free everything but the window."""
        self._window.set_visible(False)  # at once: what was flown is still to be written
        self._change.close()
        self._simulation.stop()
        self._planning.close()
        self._sharing.close()
        self._fitting.close()
        self._sound.close()
        self._takes.close(self._simulation, self._world)
        self._memories.keep()
        self._picture.release()
        self._resources.close()

    def _frame(self, dt_s: float, probe: Probe | None) -> None:
        self._take_loaded_scene()
        snapshot = self._simulation.snapshot
        self._take_up_own_files(snapshot)
        self._poll_plan(snapshot)
        self._poll_race(snapshot)
        self._shell.show_plan(self._planning.view)
        self._tell_of_takes()
        self._shell.show_takes(self._takes.view)
        self._shell.show_sharing(self._sharing.view(snapshot))
        self._shell.show_fit(self._fitting.view)
        goals = self._judge.observe(snapshot) if self._scene.goals else None
        self._shell.show_goals(goals, self._scene.onward)
        self._shell.show_question(self._change.question)
        self._memories.observe(self._shell.state, self._scene)
        self._shell.show_memory(self._memories.kept)
        fresh = self._shell.begin_frame(dt_s)
        output = self._shell.build(snapshot)
        for command in output.commands:
            self._simulation.submit(command)
        for action in output.actions:
            self._carry_out(action)
        if self._picture.comes_along():
            self._window.ctx.screen.use()
            self._window.ctx.screen.clear(*theme.GROUND[:3])
            self._shell.render()
            return
        # Anew: building the panels took a while.
        again = fresh or self._sharing.filming
        if self._draw(self._simulation.snapshot, dt_s, output.camera, again=again):
            self._sharing.look(snapshot, lambda: self._window.screenshot(self._shell.scene_rect_px))
            self._shell.render()
        else:
            self._window.stay()
            self._window.apart_s = AT_REST_S
        self._set_going()
        self._sound.observe(snapshot, passed(snapshot, goals), self._shell.view.loudness)
        if self._wants_screenshot:
            self._wants_screenshot = False
            self._save(lambda: screenshot_saved(self._scene.name, self._window))
        if probe is not None:
            pace, plan = self._picture.pace, self._planning.probe()
            probed(probe, self._window, self._shell, snapshot, goals, plan, pace)

    def _set_going(self) -> None:
        """Time runs from a scene's first picture on: that one compiles shaders and uploads the world."""
        if self._starts:
            self._starts = False
            gc.freeze()  # what there is now stays, and is not worth being searched
            gc.enable()  # it rests while the program starts
            give_way()
            self._simulation.start(ahead=prepares_ahead())

    def _draw(self, snapshot: Snapshot, dt_s: float, motion: CameraMotion, *, again: bool) -> bool:
        """The scene, into the part of the window that the panels leave; whether it was drawn.

        If not `again`, what is there already is not drawn once more.
        """
        rect_px = self._shell.scene_rect_px
        view, planning = self._shell.view, self._planning
        drawn = self._picture.draw(snapshot, view, rect_px, dt_s, motion, planning, again=again)
        self._shell.show_pace(self._picture.pace)
        self._shell.use_camera(drawn.view, drawn.projection, drawn.shifts_w)
        self._shell.label_lanes(drawn.labels_px, snapshot)
        return drawn.anew

    def _open(self, scene: Scene, world: World) -> None:
        """How a scene begins: its plan, its comparison, whoever is there to race against from the start."""
        self._racing = Racing(scene, world)
        reads = scene.comparison.caption and scene.lanes
        slowly = [SetSpeed(READING_SPEED)] if reads else []
        for command in (*self._planning.opening(), *slowly, *self._racing.opening()):
            self._simulation.submit(command)

    def _poll_race(self, snapshot: Snapshot) -> None:
        for command in self._racing.poll(snapshot, self._planning.rival):
            self._simulation.submit(command)
        for text, error in self._racing.told:
            self._shell.notify(text, error=error)
        self._racing.told.clear()

    def _carry_out(self, action: Action) -> None:
        match action:
            case TakeScreenshot():
                self._wants_screenshot = True
            case LoadScene(name):
                again = self._scene.path if name == self._scene.name else None
                self._open_scene(again or name)
            case OpenPath(path):
                self._open_path(path)
            case CancelLoading():
                self._change.cancel()
            case AnswerTrust(trusted):
                self._answer(trusted=trusted)
            case SkipGoal():
                if self._scene.onward and self._scene.goals and self._judge.progress.due is None:
                    self._open_scene(self._scene.onward)
                self._judge.skip()
            case RestartGoals():
                self._judge.restart()
            case SaveCurves():
                units = self._simulation.snapshot.lanes[0].units
                self._save(lambda: curves_saved(self._scene.name, *self._shell.curves(units)))
            case SaveTask():
                self._save_task()
            case SaveTake(take):
                self._takes.save(take, self._simulation, self._world)
            case OpenTake(path):
                self._takes.open(path)
            case ExportShown():
                self._sharing.export(action, self._simulation, self._world)
            case CancelExport():
                self._sharing.cancel()
            case RecordVideo():
                self._record_video()
            case StopVideo(keep):
                self._sharing.stop(keep=keep)
            case FitTake():
                self._fitting.begin(action, self._simulation)
            case CancelFit():
                self._fitting.cancel()
            case ExportPlan(plan):
                self._takes.export(plan, self._simulation, self._world)
            case _:
                self._plan(action)

    def _open_path(self, path: str) -> None:
        """A vehicle's folder, a scene, a take, a table of poses or controls, as the user has named it."""
        path = os.path.expanduser(path)
        self._memories.opened_file(path)
        if path.endswith(".npz"):
            self._carry_out(OpenTake(path))
        elif path.endswith(".csv"):
            with self._telling():
                self._simulation.submit(ShowMeasured(load_measured(path)))
        elif path.endswith(CONTROLS):
            with self._telling():
                self._shell.open_controls(path)
        else:
            self._open_scene(path)

    def _open_scene(self, asked: str | Path) -> None:
        self.open(str(asked), partial(load_scene, asked))

    def open(self, asked: str, read: Read, *commands: Command) -> None:
        """Show another scene as soon as it is ready, and its program trusted; then it gets the commands."""
        self._change.open(asked, read, self._shell.view.quality, self._world.key, *commands)

    def _answer(self, *, trusted: bool) -> None:
        with self._telling():
            told = self._change.answer(self._shell.view.quality, self._world.key, trusted=trusted)
            if told:
                self._shell.notify(told)

    def _dropped(self, x: int, y: int, paths: list[str]) -> None:
        """Onto the window: the first one is opened."""
        self._open_path(paths[0])

    def _take_up_own_files(self, snapshot: Snapshot) -> None:
        """What has been saved of a vehicle of one's own since, once a moment; it flies on with a mistake, which is told
        until it is mended."""
        name = snapshot.lanes[0].vehicle
        before = self._own.mistake
        with self._telling():
            renewed = self._own.poll(name, time.perf_counter())
            if renewed is not None:
                self._simulation.submit(renewed)
            if VEHICLES.get(self._scene.vehicle) is not self._kind:
                self._kind = VEHICLES.get(self._scene.vehicle)
                self._shell.use_catalogue(load_catalogue())
                planning = Planning(self._scene, self._world)
                self._planning.close()
                self._planning = planning
        self._shell.stand(self._own.mistake, instead_of=before)

    def _record_video(self) -> None:
        _, _, width, height = self._shell.scene_rect_px
        refusal = self._sharing.record(self._simulation.snapshot, (width, height))
        self._shell.notify(refusal or "Recording what is seen", error=bool(refusal))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What cannot be done is told, and the frames go on."""
        try:
            yield
        except (InputError, OutputError) as error:
            self._shell.notify(str(error), error=True)

    def _save(self, write: Callable[[], str]) -> None:
        """Do so, and tell what has come of it."""
        with self._telling():
            self._shell.notify(write())

    def _save_task(self) -> None:
        view = self._planning.view
        if view is not None:
            self._save(lambda: task_saved(self._scene, view.vehicle, view.task))

    def _plan(self, request: PlanRequest) -> None:
        with self._telling():
            command = self._planning.handle(request)
            if command is not None:
                self._simulation.submit(command)

    def _poll_plan(self, snapshot: Snapshot) -> None:
        try:
            command = self._planning.poll(snapshot)
        except InputError as error:
            self._shell.notify(str(error), error=True)
        else:
            if command is not None:
                self._simulation.submit(command)

    def _tell_of_takes(self) -> None:
        """What has come of saving and opening."""
        simulation = self._simulation
        told = *self._takes.poll(simulation), *self._sharing.poll(), *self._fitting.poll(simulation)
        for news in told:
            self._shell.notify(news.text, error=news.error)
            if news.opened is not None:
                self._show_take(news.opened)

    def _show_take(self, take: Take) -> None:
        """In its world, which may have to be loaded first."""
        if (take.world, take.seed) == (self._world.name, self._world.seed):
            self._simulation.submit(PlayTake(take))
        else:
            quality, shown = self._shell.view.quality, self._world.key
            self._change.load(
                take.scene or take.world, lambda: scene_of(take), quality, shown, PlayTake(take)
            )

    def _take_loaded_scene(self) -> None:
        """Change over to a scene once the loader has it."""
        loaded = None
        with self._telling():
            loaded = self._change.take()
            self._shell.show_coming(self._change.coming, self._change.jobs)
        if loaded is None:
            return
        self._simulation.stop()
        self._fitting.cancel()
        self._takes.leave(self._simulation)
        self._planning.close()
        scene, world = loaded.scene, loaded.world
        self._shell.use_catalogue(load_catalogue())
        self._shell.use_scene(scene)
        self._take_over(loaded)
        self._shell.view = self._memories.opened(self._shell.view, scene)
        self._window.set_caption(f"Holonomy: {scene.title}")
        fits = loaded.quality == self._shell.view.quality
        self._picture.show(scene, world, self._shell.view, loaded.scenery if fits else None)
