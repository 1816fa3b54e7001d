"""One window at work: simulation, renderer, camera and features of a scene, wired frame by frame."""

import gc
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from export.output import OutputError, replacing
from export.pictures import write_png
from export.tables import save_curves
from render.process import give_way
from render.programs import Programs
from render.quality import PRESETS, is_software
from sim.commands import Command, SetSpeed
from sim.planner.service.requests import PlanRequest
from sim.platform.errors import InputError
from sim.scene import Scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.desktop.picture import Backdrop, Drawn, Picture
from ui.desktop.plot_files import save_plot
from ui.desktop.probing import Probe, probed
from ui.features.feature import Actions
from ui.features.goals import GoalsView
from ui.features.modes.panel import mode_seen
from ui.features.notices import CrashReplay
from ui.features.photo import Developing, TakePhoto
from ui.features.plan.planning import Planning
from ui.features.plots.curves import SaveCurves, table_of
from ui.features.plots.forms import SavePlot
from ui.features.plots.parts import hovered_moment
from ui.features.scenes.actions import SceneActions
from ui.features.scenes.coming import PictureComes
from ui.features.scenes.loader import Loader
from ui.features.scenes.preparation import Loaded
from ui.features.scenes.view import OpenControls, OpenPath
from ui.features.takes.actions import TakesActions
from ui.features.takes.sharing import SharingView
from ui.hud.pen import covered_parts
from ui.input.desk import CameraMotion
from ui.settings.catalogue import load_catalogue
from ui.settings.view_settings import (
    MEMORY,
    Remembered,
    ViewSettings,
    config_dir,
    exports_folder,
    opened,
    prepares_ahead,
)
from ui.shell.features import FEATURES
from ui.shell.shell import Shell
from ui.window import theme
from ui.window.app_window import AppWindow
from ui.window.context import Action, PanelContext, SceneCamera, ShellState, TakeScreenshot

EVERY_S = 5.0
"""Changes are written no more often."""


class Memories:
    """Of one session. `quality`: what the machine or the command line has chosen for it."""

    def __init__(self, folder: Path, quality: str) -> None:
        self._folder, self._quality = folder, quality
        self.kept = self._written = MEMORY.read(folder)
        self._written_s = perf_counter()

    def opened(self, view: ViewSettings, scene: Scene) -> ViewSettings:
        """The settings with which a scene opens that is the last one now."""
        name = scene.name if scene.path is None else ""
        if scene.path is None:
            self.kept = self.kept.opened_scene(name)
        elif os.path.exists(scene.path):
            self.kept = self.kept.opened_file(os.path.abspath(scene.path))
        view = opened(view, scene)
        return replace(view, camera=self.kept.camera_of(name, view.camera))

    def observe(self, state: ShellState, scene: Scene) -> None:
        """Told once a frame how things are shown."""
        view = state.view
        kept = replace(self.kept.looked_at(view), panels=state.panels, plots=state.plots)
        if view.quality != self._quality:
            self._quality = view.quality
            kept = replace(kept, quality=view.quality)
        if scene.path is None:
            by_itself = state.followed and (scene.camera, view.camera) == ("overview", "chase")
            chosen = scene.camera if by_itself else view.camera
            kept = kept.with_camera(scene.name, chosen, scene.camera)
        self.kept = kept
        if self.kept != self._written and perf_counter() - self._written_s > EVERY_S:
            self.keep()

    def keep(self) -> None:
        """Write it, where something has changed."""
        if self.kept != self._written:
            MEMORY.write(self._folder, self.kept)
        self._written, self._written_s = self.kept, perf_counter()


PANELS_HZ = 10.0
"""Where the processor draws: panels and instruments that nobody touches."""
AT_REST_S = 1.0 / 30.0
"""Between two looks whether anything has changed."""
CARD_S = 0.6
"""For so long what was in the window before a session stays there while the first picture comes: panels about nothing
would flash up otherwise."""
READING_SPEED = 0.25
"""At which methods are compared at first: there is a caption to be read."""

A = TypeVar("A", bound=Actions)


class Session:
    """Lives as long as its window. Commands go down to the simulation, snapshots come up; it is the features' `App`."""

    def __init__(
        self, window: AppWindow, loader: Loader, loaded: Loaded, programs: Programs | None = None
    ) -> None:
        """`loaded` is what is shown first, `loader` gets what is asked for later; the window stays the caller's.

        programs: of the quality of `loaded`, which the session takes over, where some are compiled already.
        """
        self._window = window
        self._resources = ExitStack()
        self._wants_screenshot = False
        self._photo: Iterator[Developing] = iter(())
        self._taken: TakePhoto | None = None
        """A photo that begins to develop with the next picture, which is seen meanwhile."""
        self._behind: Backdrop | None = None
        self._memories = Memories(config_dir(), loaded.quality)
        view = self._memories.opened(self._memories.kept.view(loaded.quality), loaded.scene)
        kept = self._memories.kept
        self._shell = Shell(
            window,
            scene=loaded.scene,
            view=view,
            panels=kept.panels,
            plots=kept.plots,
            qualities=tuple(reversed(PRESETS)),
            panels_hz=PANELS_HZ if is_software(window.ctx) else math.inf,
        )
        self._resources.callback(self._shell.release)
        self.context.show(loader, kept)
        self._actions = tuple(feature.actions(self) for feature in FEATURES if feature.actions is not None)
        self._handlers = {kind: actions for actions in self._actions for kind in actions.handles}
        self._take_over(loaded)
        self._picture = Picture(window, loaded.scene, loaded.world, view, loaded.scenery, programs)
        self._card_until_s = perf_counter() + CARD_S
        window.push_handlers(on_file_drop=self._dropped)
        window.on_display_lost = self._keep

    @property
    def scene(self) -> Scene:
        """That is open."""
        return self._scene

    @property
    def world(self) -> World:
        """In which it takes place."""
        return self._world

    @property
    def simulation(self) -> Simulation:
        """Of that scene."""
        return self._simulation

    @property
    def context(self) -> PanelContext:
        """What panels see and remember."""
        return self._shell.context

    @property
    def view(self) -> ViewSettings:
        """How the scene is looked at."""
        return self._shell.view

    @property
    def scene_size_px(self) -> tuple[int, int]:
        """(width, height) of the part of the window that shows the scene."""
        return self._shell.scene_rect_px[2:]

    def submit(self, *commands: Command) -> None:
        """To the simulation."""
        for command in commands:
            self._simulation.submit(command)

    def tell(self, text: str, *, error: bool = False) -> None:
        """Tell the user in passing."""
        self._shell.notify(text, error=error)

    def do(self, action: Action | PlanRequest) -> None:
        """Have it carried out by the feature that handles it; what cannot be is told."""
        with self._telling():
            match action:
                case TakeScreenshot():
                    self._wants_screenshot = True
                case SaveCurves():
                    columns, curves = table_of(self.context, self._simulation.snapshot.lanes[0].units)
                    path = save_curves(exports_folder(), self._scene.name, columns, curves)
                    self.tell(f"Curves saved: {path}")
                case SavePlot(figure, ending):
                    path = save_plot(exports_folder(), self._scene.name, figure, ending)
                    self.tell(f"Plot saved: {path}")
                case TakePhoto():
                    self._taken = action
                case OpenControls(path):
                    self._shell.open_controls(path)
                case _:
                    self._handlers[type(action)].carry_out(action)

    def open(self, asked: str, read: Callable[..., Scene], *commands: Command) -> None:
        """Show another scene as soon as it is ready, and its program trusted; then it gets the commands."""
        self._of(SceneActions).open(asked, read, *commands)

    def run(self, probe: Probe | None = None) -> None:
        """Fly until the window is closed. `probe` is told of every frame."""
        self._window.run(lambda dt_s: self._frame(dt_s, probe))

    def close(self) -> None:
        """Stop the simulation, write what was flown, and free everything but the window."""
        self._window.set_visible(False)  # at once: what was flown is still to be written
        self._simulation.stop()
        for actions in self._actions:
            actions.close()
        self._memories.keep()
        self._picture.release()
        self._resources.close()

    def _keep(self) -> None:
        """What was flown and chosen, where the window is gone and cannot be asked for anything."""
        self._simulation.stop()
        self._of(TakesActions).close()
        self._memories.keep()
        print("holonomy: the display is gone; what was flown is kept: see Takes, Autosaved", file=sys.stderr)

    def _of(self, kind: type[A]) -> A:
        return next(actions for actions in self._actions if isinstance(actions, kind))

    def _take_over(self, loaded: Loaded) -> None:
        """Its scene is the one that there is from now on."""
        scene, world = loaded.scene, loaded.world
        self._scene, self._world, self._simulation = scene, world, loaded.simulation
        self._starts = True
        """The simulation waits for its first picture."""
        self._shell.begin_scene(scene, world)
        self.context.show(loaded.planning)
        if scene.comparison.caption and scene.lanes:
            self.submit(SetSpeed(READING_SPEED))
        for actions in self._actions:
            with self._telling():
                actions.begin()

    def _frame(self, dt_s: float, probe: Probe | None) -> None:
        self._take_loaded_scene()
        snapshot = self._simulation.snapshot
        self._poll(snapshot)
        comes = self._picture.comes_along()
        self.context.show(self.context.of(PictureComes).now(yes=comes))
        waits = self._develops() or comes
        fresh = self._shell.begin_frame(dt_s, snapshot)
        rect_px = self._shell.scene_rect_px
        drawn = None if waits else self._draw(snapshot, dt_s, self._shell.motion)
        output = self._shell.build(snapshot)  # while software GL shades the scene
        self.submit(*output.commands)
        for action in output.actions:
            self.do(action)
        if comes and perf_counter() < self._card_until_s:
            self._shell.leave_unseen()
            self._window.stay()
            return
        if drawn is None:
            self._window.ctx.screen.use()
            self._window.ctx.screen.clear(*theme.GROUND[:3])
            if self._behind is not None:
                self._behind.show()
            self._shell.render(cleared=True)
            return
        if self._shell.scene_rect_px != rect_px:
            drawn = self._draw(snapshot, 0.0, CameraMotion())
        self._shell.label(drawn.labels_px, snapshot)
        again = fresh or self._taken is not None or self.context.of(SharingView).film is not None
        if drawn.show(again):
            self._tell_drawn(snapshot)
            self._begin_photo()
            self._shell.render()
        else:
            self._window.stay()
            self._window.apart_s = AT_REST_S
        self._set_going()
        if self._wants_screenshot:
            self._wants_screenshot = False
            with self._telling():
                self.tell(f"Screenshot saved: {self._screenshot()}")
        if probe is not None:
            goals, plan = self.context.of(GoalsView).progress, self._planning.probe()
            probed(probe, self._window, self._shell, snapshot, goals, plan, self._picture.pace)

    @property
    def _planning(self) -> Planning:
        planning = self.context.find(Planning)
        assert planning is not None
        return planning

    def _poll(self, snapshot: Snapshot) -> None:
        """What the features have to do and to show in a frame."""
        for actions in self._actions:
            with self._telling():
                actions.poll(snapshot)
        self._shell.show(value for actions in self._actions for value in actions.views(snapshot))
        self._memories.kept = self.context.of(Remembered)
        self._memories.observe(self._shell.state, self._scene)
        self.context.show(self._memories.kept)

    def _tell_drawn(self, snapshot: Snapshot) -> None:
        def picture() -> np.ndarray:
            return self._window.screenshot(self._shell.scene_rect_px)

        for actions in self._actions:
            actions.drawn(snapshot, picture)

    def _set_going(self) -> None:
        """Time runs from a scene's first picture on: that one compiles shaders and uploads the world."""
        if self._starts:
            self._starts = False
            gc.freeze()  # what there is now stays, and is not worth being searched
            gc.enable()  # it rests while the program starts
            give_way()
            self._simulation.start(ahead=prepares_ahead())

    def _draw(self, snapshot: Snapshot, dt_s: float, motion: CameraMotion) -> Drawn:
        """The scene, for the part of the window that the panels leave."""
        rect_px, view = self._shell.scene_rect_px, self._shell.view
        covered = covered_parts(self.context) if view.views == 1 else None
        moment = hovered_moment(self.context) or mode_seen(self.context, snapshot.lanes[0])
        drawn = self._picture.draw(
            snapshot, view, rect_px, dt_s, motion, self._planning, covered=covered, moment=moment
        )
        camera = SceneCamera(drawn.view, drawn.projection, drawn.shifts_w, drawn.bodies_w)
        crash = CrashReplay(drawn.replay_s, drawn.struck, drawn.falls)
        self.context.show(self._picture.pace, camera, crash)
        return drawn

    def _dropped(self, x: int, y: int, paths: list[str]) -> None:
        """Onto the window: the first one is opened."""
        self.do(OpenPath(paths[0]))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What cannot be done is told, and the frames go on."""
        try:
            yield
        except (InputError, OutputError) as error:
            self.tell(str(error), error=True)

    def _screenshot(self) -> Path:
        """Of the window with its panels. Raises OutputError."""
        return self._written(self._window.screenshot())

    def _written(self, picture: np.ndarray, kind: str = "") -> Path:
        """A picture in a new file. Raises OutputError."""
        path = exports_folder() / f"{self._scene.name}-{kind}{datetime.now():%Y%m%d-%H%M%S}.png"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                write_png(temporary, picture)
        except OSError as error:
            raise OutputError(str(error)) from None
        return path

    def _begin_photo(self) -> None:
        """Of what has just been drawn, where one is wanted."""
        taken, self._taken = self._taken, None
        if taken is not None:
            self._behind = Backdrop(self._window.ctx, self._window.screenshot())
            self._photo = self._picture.photo(taken.times, taken.blur)

    def _develops(self) -> bool:
        """Do a share of a photo that has been taken; whether there was anything to do."""
        with self._telling():
            for state in self._photo:
                if state.picture is not None:
                    path = self._written(state.picture, "photo-")
                    state = replace(state, told=str(path), picture=None)
                self.context.show(state)
                return True
        if self._behind is not None:
            self._behind.release()
            self._behind = None
        return False

    def _take_loaded_scene(self) -> None:
        """Change over to a scene once the loader has it."""
        loaded = None
        with self._telling():
            loaded = self._of(SceneActions).take()
        if loaded is None:
            return
        self._photo = iter(())
        self._simulation.stop()
        for actions in self._actions:
            actions.leave()
        scene, world = loaded.scene, loaded.world
        self.context.catalogue = load_catalogue()
        self._take_over(loaded)
        self._memories.kept = self.context.of(Remembered)
        self._shell.view = self._memories.opened(self._shell.view, scene)
        self.context.show(self._memories.kept)
        self._window.set_caption(f"Holonomy: {scene.title}")
        fits = loaded.quality == self._shell.view.quality
        self._picture.show(scene, world, self._shell.view, loaded.scenery if fits else None)
