"""The user interface around the scene: feeds on snapshots, hands out commands, actions and camera motion."""

import math
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from imgui_bundle import imgui

from render.light import Day, Sun
from sim.commands import Command
from sim.planner.service.view import PlanView
from sim.platform.progress import Job
from sim.scene import Scene
from sim.simulation.judge import Progress
from sim.snapshot import Snapshot
from sim.world import World
from sim.world.plan_view import outlines
from ui import config, theme
from ui.backend import ImguiBackend
from ui.bookmarks import BookmarkKeeper
from ui.catalogue import Catalogue, load_catalogue
from ui.channels import columns
from ui.dock import Dock
from ui.edits import Edits
from ui.input.control_setup import ControlSetup
from ui.input.desk import InputDesk
from ui.input.jolts import Jolts
from ui.layout import LayoutFile
from ui.memory import Remembered
from ui.observer import Observer
from ui.overlays import Overlays
from ui.own_requests import Keyed, OwnRequests
from ui.pace import Offers, Pace
from ui.panels import labels
from ui.panels.context import PanelContext, Rect
from ui.plot_window import PlotWindow
from ui.requests import (
    Action,
    CameraMotion,
    ChangeView,
    Output,
    Request,
    control_view,
)
from ui.scene_tools import SceneTools
from ui.shell_state import OWN, ShellState, applied
from ui.takes_view import FitView, SharingView, TakesView
from ui.thumbnails import Thumbnails
from ui.toasts import Toasts
from ui.trust_question import TrustQuestion
from ui.view_settings import ViewSettings
from ui.window import AppWindow

_IN_USE_S = 0.4
"""After the last touch, for which panels are built with every picture."""
_LONGEST_S = 0.1
"""Of time that passes for panels from one frame to the next."""
_RESTING_HZ = 4.0
"""Panels a second while the simulation is paused and nothing is touched."""
LAYOUT_FILE = "layout-5.ini"
"""The number grows when the windows change, so that an old file cannot hide a new window."""


class Shell:
    """Panels, instruments and input of one window. The window's GL context has to be current.

    Each frame: `begin_frame`, `build`, draw the scene into `scene_rect_px`, `render`.
    """

    def __init__(
        self,
        window: AppWindow,
        *,
        scene: Scene,
        view: ViewSettings | None = None,
        panels: bool = True,
        plots: bool = True,
        qualities: tuple[str, ...] = ("software", "low", "medium", "high"),
        config_folder: Path | None = None,
        catalogue: Catalogue | None = None,
        panels_hz: float = math.inf,
    ) -> None:
        """`panels_hz`: how often panels and instruments are built anew while nothing is touched; in the pictures
        between they are drawn as they were."""
        self._window = window
        self._folder = config.config_dir() if config_folder is None else config_folder
        scale = config.read_scale(self._folder)
        self._state = ShellState(
            view or ViewSettings(camera=scene.camera), panels=panels, plots=plots, scale=scale
        )
        self._dt_s = 0.0
        self._panels_hz, self._untold_s = panels_hz, math.inf
        self._fresh, self._rests = True, False
        self._keyed, self._jolts = Keyed(), Jolts()
        self._toasts = Toasts()
        self._offers = Offers()
        self._thumbnails = Thumbnails(window.ctx)
        self._resources = ExitStack()
        self._backend = ImguiBackend(window, LayoutFile(self._folder / LAYOUT_FILE))
        self._resources.callback(self._backend.release)
        theme.apply(scale)
        fonts = theme.load_fonts()
        self._context = PanelContext(catalogue or load_catalogue(), fonts, self._state.view, qualities, scale)
        self._observer = Observer(scene, self._toasts)
        self._context.day = Day.of(Sun.of(scene.sun))
        self._tools = SceneTools(window, self._context)
        self._overlays = Overlays(self._context, self._toasts)
        self._context.thumbnail = self._thumbnails.of
        self._resources.callback(self._thumbnails.release)
        self._dock = Dock(self._state.layouts_reset)
        self._dock.open_with(comparison=bool(scene.lanes), plan=scene.plan is not None and scene.race is None)
        self._controls = ControlSetup(self._folder)
        self._bookmarks = BookmarkKeeper(self._folder)
        self._desk = InputDesk(self._controls, typing=_is_typing, scene_has=self._tools.free_at)
        window.push_handlers(self._desk)
        self._resources.callback(self._desk.close)
        self._resources.callback(window.remove_handlers, self._desk)
        self._own = OwnRequests(
            self._context,
            self._tools,
            self._overlays,
            self._controls,
            self._bookmarks,
            self._desk,
            self.notify,
        )

    @property
    def view(self) -> ViewSettings:
        """How the scene is to be drawn; read it every frame."""
        return self._state.view

    @view.setter
    def view(self, view: ViewSettings) -> None:
        self._apply(ChangeView(view))

    def curves(
        self, units: Mapping[str, str]
    ) -> tuple[tuple[str, ...], dict[str, tuple[np.ndarray, np.ndarray]]]:
        """(columns of a table, by lane its times (n,) and values (columns, n)): all that the plots remember.

        units: of the observables, by name.
        """
        histories = self._context.histories
        keys = tuple(dict.fromkeys(key for history in histories.values() for key in history.channels))
        return columns(keys, units), {name: history.kept(keys) for name, history in histories.items()}

    @property
    def widget_rects(self) -> dict[str, Rect]:
        """Named widgets of the last frame: (x, y, w, h) in window coordinates, origin top left."""
        return dict(self._context.rects)

    @property
    def scene_rect_px(self) -> tuple[int, int, int, int]:
        """(x, y, w, h) of the scene in framebuffer pixels, origin bottom left; valid after `build`."""
        x, y, width, height = self._context.scene_rect
        size, pixels = self._window.get_size(), self._window.framebuffer_px
        sx, sy = pixels[0] / max(size[0], 1), pixels[1] / max(size[1], 1)
        left, bottom = round(x * sx), round((size[1] - y - height) * sy)
        return left, bottom, max(round(width * sx), 1), max(round(height * sy), 1)

    def use_catalogue(self, catalogue: Catalogue) -> None:
        """What there is to choose from now: vehicles of one's own come and change."""
        self._context.catalogue = catalogue

    def use_scene(self, scene: Scene) -> None:
        """Another scene runs now: forget what was known of the old one."""
        self._untold_s = math.inf
        self._observer = Observer(scene, self._toasts)
        self._context.histories, self._context.flights = {}, ()
        self._context.plot_window = PlotWindow()
        self._context.edits = Edits()
        self._context.day = Day.of(Sun.of(scene.sun))
        self._keyed.forget()
        self._dock.open_with(comparison=bool(scene.lanes), plan=scene.plan is not None and scene.race is None)

    def show_world(self, world: World) -> None:
        """Where it all takes place, from now on."""
        self._tools.show_world(world)
        self._context.outlines = outlines(world)

    def show_plan(self, plan: PlanView | None) -> None:
        """What there is to plan, for the next frame."""
        self._context.plan = plan

    def show_goals(self, progress: Progress | None, onward: str = "") -> None:
        """What is to be done and how far it is, and the scene that follows, for the next frame."""
        self._context.goals, self._context.onward = progress, onward

    def show_memory(self, kept: Remembered) -> None:
        """What was open before, for the next frame."""
        self._context.last_scenes, self._context.recent_files = kept.scenes, kept.files

    @property
    def state(self) -> ShellState:
        """What is open and how things are shown."""
        return self._state

    def show_coming(self, name: str, jobs: tuple[Job, ...]) -> None:
        """The scene that is being made ready, for the next frame; no name: none is."""
        self._overlays.coming = name, jobs

    def show_pace(self, pace: Pace) -> None:
        """How the frames do, for the next one."""
        self._context.pace = pace

    def show_takes(self, takes: TakesView) -> None:
        """What there is of takes, for the next frame."""
        self._context.takes = takes

    def show_sharing(self, sharing: SharingView) -> None:
        """What is being exported and filmed, for the next frame."""
        self._context.sharing = sharing

    def show_fit(self, fit: FitView) -> None:
        """What has come of fitting parameters to a take, for the next frame."""
        self._context.fit = fit

    def show_question(self, question: TrustQuestion | None) -> None:
        """What has to be answered before anything else, for the next frame."""
        self._context.question = question

    def use_camera(
        self, view: np.ndarray, projection: np.ndarray, shifts_w: dict[str, np.ndarray] | None = None
    ) -> None:
        """Matrices (4, 4) of the scene as it was drawn, so that what is in it can be moved by hand.

        shifts_w: by lane, (3,) m by which it was drawn apart from its true place.
        """
        self._tools.use_camera(view, projection, shifts_w or {})

    def notify(self, text: str, *, error: bool = False) -> None:
        """Tell the user in passing."""
        self._toasts.add(text, time.perf_counter(), error=error)

    def stand(self, text: str, *, instead_of: str = "") -> None:
        """Tell what is wrong, once a frame as long as it is; empty: nothing is. What stood before goes at once."""
        self._toasts.stand(text, time.perf_counter(), instead_of=instead_of)

    def begin_frame(self, dt_s: float) -> bool:
        """`dt_s` wall seconds after the last one; whether panels are built anew in this one."""
        self._dt_s = dt_s
        self._untold_s += dt_s
        in_use = time.perf_counter() - self._backend.touched_s < _IN_USE_S
        rate_hz = min(self._panels_hz, _RESTING_HZ) if self._rests else self._panels_hz
        # Of two pictures one at most, however slow they are: what moves comes first.
        due = self._untold_s >= 1.0 / rate_hz and not (self._fresh and math.isfinite(rate_hz))
        self._fresh = in_use or due or math.isinf(self._untold_s)
        if not self._fresh:
            return False
        if self._context.scale != self._state.scale:
            self._context.scale = self._state.scale
            theme.apply(self._state.scale)
            config.write_scale(self._folder, self._state.scale)
        self._thumbnails.begin_frame()
        self._backend.new_frame(min(self._untold_s, max(dt_s, _LONGEST_S)))
        self._untold_s = 0.0
        return True

    def build(self, snapshot: Snapshot) -> Output:
        """All panels and instruments for `snapshot`; returns what the user asked for since the last frame."""
        context = self._context
        context.vehicle = snapshot.lanes[0].vehicle
        self._rests = math.isfinite(self._panels_hz) and snapshot.paused
        self._desk.serve(context.vehicle)
        sample = self._desk.sample(self._dt_s)
        context.keymap = self._desk.keymap
        context.bookmarks = self._bookmarks.of(snapshot.scene)
        context.view = self._state.view
        context.pilot, context.controls = sample.pilot, control_view(self._controls, self._desk.devices)
        self._observer.observe(snapshot, context, time.perf_counter())
        self._offer(snapshot)
        shaken = self._jolts.felt(snapshot)
        if shaken is not None:
            self._desk.rumble(*shaken)
        self._observe_edits(snapshot)
        requests = self._keyed.requests(sample, snapshot, self._state.view)
        if not self._fresh:
            return self._sorted(requests, sample.camera, snapshot)
        context.rects.clear()
        requests += self._dock.draw(snapshot, context, self._state)
        context.rects["scene"] = context.scene_rect
        view = self._state.view
        requests += self._tools.draw(sample.hand_px, snapshot, views=view.views)
        requests += self._overlays.draw(snapshot, self._state, self._observer.scene, self._tools.camera)
        requests += self._tools.draw_violations()
        return self._sorted(requests, sample.camera, snapshot)

    def render(self) -> None:
        """Draw over the window's framebuffer."""
        screen = self._window.ctx.screen
        screen.use()
        screen.viewport = (0, 0, *self._window.framebuffer_px)
        if self._fresh:
            self._backend.render()
        else:
            self._backend.repeat()

    def label_lanes(self, places_px: dict[str, tuple[float, float, float]], snapshot: Snapshot) -> None:
        """Name the lanes in the scene, after `build` and before `render`.

        places_px: by lane, x and y above it and y of its foot, framebuffer pixels, origin bottom left.
        """
        if len(snapshot.lanes) < 2 or not self._state.view.caption or not self._fresh:
            return
        size, pixels = self._window.get_size(), self._window.framebuffer_px
        scale = size[0] / max(pixels[0], 1), size[1] / max(pixels[1], 1)
        places = {
            name: (x * scale[0], size[1] - y * scale[1], size[1] - foot * scale[1])
            for name, (x, y, foot) in places_px.items()
        }
        labels.draw(places, snapshot, self._context, split=self._state.view.views > 1)

    def release(self) -> None:
        """Before the window closes."""
        self._resources.close()

    def _offer(self, snapshot: Snapshot) -> None:
        """What would help where frames or simulation do not keep up."""
        qualities = self._context.qualities
        at = qualities.index(self._state.view.quality) if self._state.view.quality in qualities else 0
        lesser = qualities[at - 1] if at else ""
        slower = self._context.keymap.first("slower")
        told = self._offers.heard(self._context.pace, snapshot, self._dt_s, lesser=lesser, slower=slower)
        if told:
            self.notify(told)

    def _observe_edits(self, snapshot: Snapshot) -> None:
        busy = imgui.is_any_item_active() or imgui.is_mouse_down(imgui.MouseButton_.left.value)
        self._context.edits.observe(snapshot, self._context.plan, time.perf_counter(), busy=busy)

    def _sorted(self, requests: list[Request], camera: CameraMotion, snapshot: Snapshot) -> Output:
        """Do the shell's own requests, hand out the others."""
        actions: list[Action] = []
        commands: list[Command] = []
        view = self._state.view
        for request in (each for asked in requests for each in self._own.resolved(asked, snapshot, view)):
            if isinstance(request, OWN):
                self._apply(request)
            elif isinstance(request, Action):
                actions.append(request)
            else:
                commands.append(request)
        return Output(tuple(commands), tuple(actions), camera)

    def open_controls(self, path: str) -> None:
        """A file that was exported: its profiles and keys count from now on. Raises InputError."""
        self._own.open_controls(path)

    def _apply(self, request: Request) -> None:
        before = replace(self._state, fullscreen=self._window.fullscreen)
        self._state = applied(before, request)
        if self._state.fullscreen != before.fullscreen:
            self._window.toggle_fullscreen()
        if self._state.rescans != before.rescans:
            self._desk.rescan_controllers()
            names = ", ".join(device.name for device in self._desk.devices)
            self.notify(f"Used: {names or 'no gamepad or joystick was found'}")


def _is_typing() -> bool:
    # Not want_capture_keyboard: that is set as soon as any panel has the focus.
    return imgui.get_io().want_text_input
