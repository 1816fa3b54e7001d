"""The user interface around the scene: feeds on snapshots, hands out commands, actions and camera motion.

Its docked windows tell which panel is in which, and how much of the window they leave to the scene.
"""

import math
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from imgui_bundle import imgui
from imgui_bundle.imgui import internal

from render.light import Day, Sun
from sim.commands import Command
from sim.planner.service.requests import PlanRequest
from sim.planner.service.session import PlanView
from sim.scene import Scene
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.features.controls import control_view
from ui.features.edits import Edits
from ui.features.feature import BELOW, Draw
from ui.features.lanes import draw_labels
from ui.features.model.view import draw_choice
from ui.features.notices import Toasts
from ui.features.photo import draw_photo
from ui.features.scenes.gallery import Thumbnails
from ui.features.view import BookmarkKeeper, SceneBookmarks
from ui.hud.minimap import PlanOutlines, outlines
from ui.input.control_setup import ControlSetup
from ui.input.controllers import Jolts
from ui.input.desk import CameraMotion, InputDesk
from ui.settings import view_settings
from ui.settings.catalogue import Catalogue, load_catalogue
from ui.settings.view_settings import ViewSettings
from ui.shell.features import FEATURES, PLACES, SceneTools
from ui.shell.keys import Keyed, OwnRequests
from ui.window import theme
from ui.window.app_window import AppWindow
from ui.window.backend import ImguiBackend, PanelPicture
from ui.window.context import (
    OWN,
    Action,
    ChangeView,
    Offers,
    Output,
    Pace,
    PanelContext,
    Rect,
    Request,
    ShellState,
    applied,
    flies_off,
    following,
)
from ui.window.layout import (
    ERRORS,
    LANES,
    PLAN,
    PLOTS,
    TABS,
    UPPER,
    LayoutFile,
    build,
    dock_newcomer,
    in_front,
    is_built,
    scene_rect,
)

# Without the second flag imgui paints its background over the whole window.
_KEPT = imgui.DockNodeFlags_.keep_alive_only.value | imgui.DockNodeFlags_.passthru_central_node.value
# What comes back does not push itself before the tab that was in front.
_WINDOW = imgui.WindowFlags_.no_collapse.value | imgui.WindowFlags_.no_focus_on_appearing.value
_BARE = _WINDOW | imgui.WindowFlags_.no_background.value


class Dock:
    """The dock space over the whole window; the scene shows through its middle."""

    def __init__(self, layouts_reset: int, *, bare: bool = False) -> None:
        """bare: what is docked has no ground of its own; whoever draws the panels begins with it."""
        self._layouts_built, self._bare = layouts_reset, bare
        self._docked: set[str] = set()
        self._front: tuple[str, ...] = (UPPER, TABS[0], PLOTS)
        self._to_raise: list[str] = []
        self._left = 0
        """Frames in which that is still tried: windows are docked in the course of their first ones."""

    def open_with(self, *, comparison: bool, plan: bool) -> None:
        """Bring the tabs to the front that a scene needs first."""
        lower, below = (LANES, ERRORS) if comparison else (TABS[0], PLOTS)
        self._front = (UPPER, lower, below)
        if plan:
            self._front = (PLAN, PLOTS)
        self._raise_front()

    def _raise_front(self) -> None:
        self._to_raise, self._left = [*self._front], _RAISED_WITHIN

    def draw(self, snapshot: Snapshot, context: PanelContext, state: ShellState) -> list[Request]:
        """All windows that are shown. Leaves the scene's place in `context.scene_rect`."""
        viewport = imgui.get_main_viewport()
        size = (viewport.work_size.x, viewport.work_size.y)
        if not state.panels:
            # Keeps every window's place while none of them is submitted.
            imgui.dock_space_over_viewport(0, None, _KEPT)
            context.scene_rect = (0.0, 0.0, *size)
            return []
        dock_id = self._space()
        if state.layouts_reset != self._layouts_built or not is_built(dock_id):
            build(dock_id, size, context.scale, PLACES)
            self._layouts_built = state.layouts_reset
            self._raise_front()
        context.scene_rect = scene_rect(dock_id)
        requests: list[Request] = []
        for feature in FEATURES:
            if feature.panel is not None and (state.plots or feature.place != BELOW):
                dock_newcomer(feature.place, PLACES)
                requests += self._window(feature.name, feature.panel, snapshot, context, dock_id)
        self._raise_tabs()
        return requests

    def _space(self) -> int:
        if self._bare:
            imgui.push_style_color(imgui.Col_.window_bg, 0)
        dock_id = imgui.dock_space_over_viewport(0, None, imgui.DockNodeFlags_.passthru_central_node.value)
        if self._bare:
            imgui.pop_style_color()
        return dock_id

    def _window(
        self, name: str, panel: Draw, snapshot: Snapshot, context: PanelContext, dock_id: int
    ) -> list[Request]:
        shown = imgui.begin(name, None, _BARE if self._bare and name in self._docked else _WINDOW)[0]
        requests: list[Request] = []
        _note_tab(name, context)
        (self._docked.add if _is_docked(dock_id) else self._docked.discard)(name)
        if shown:
            position, size = imgui.get_window_pos(), imgui.get_window_size()
            context.rects[f"window/{name}"] = (position.x, position.y, size.x, size.y)
            requests = panel(snapshot, context)
        imgui.end()
        return requests

    @property
    def settles(self) -> bool:
        """Whether tabs are on their way to the front."""
        return bool(self._to_raise)

    def _raise_tabs(self) -> None:
        # In all of them: each window that is docked comes to the front by itself, and may do so after these.
        for name in self._to_raise:
            in_front(name)
        self._left = max(self._left - 1, 0)
        if not self._left:
            self._to_raise = []


def _is_docked(dock_id: int) -> bool:
    """Whether the present window is in that dock space, not afloat."""
    node: Any = internal.get_current_window().dock_node  # there may be none, whatever its type says
    while node is not None and node.parent_node is not None:
        node = node.parent_node
    return node is not None and bool(node.id_ == dock_id)


def _note_tab(name: str, context: PanelContext) -> None:
    tab = internal.get_current_window().dc.dock_tab_item_rect
    if tab.max.x > tab.min.x:
        context.rects[f"tab/{name}"] = (tab.min.x, tab.min.y, tab.max.x - tab.min.x, tab.max.y - tab.min.y)


_RAISED_WITHIN = 6
"""Frames."""
_SETTLES = 2
"""Frames until what is new is seen: imgui lays windows out in their first, and hides them."""
_IN_USE_S = 0.4
"""After the last touch, for which panels are built with every picture."""
_LONGEST_S = 0.1
"""Of time that passes for panels from one frame to the next."""
_RESTING_HZ = 4.0
"""Panels a second while the simulation is paused and nothing is touched."""
LAYOUT_FILE = "layout-7.ini"
"""The number grows when an old file would show windows as they are no longer meant."""


class Shell:
    """Panels, instruments and input of one window. The window's GL context has to be current.

    Each frame: `begin_frame`, begin to draw the scene into `scene_rect_px`, `build`, finish it, `render`.
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
        self._folder = view_settings.config_dir() if config_folder is None else config_folder
        scale = view_settings.read_scale(self._folder)
        self._state = ShellState(
            view or ViewSettings(camera=scene.camera), panels=panels, plots=plots, scale=scale
        )
        self._dt_s = 0.0
        self._panels_hz, self._untold_s, self._settles = panels_hz, math.inf, _SETTLES
        self._fresh, self._rests, self._in_use = True, False, True
        self._keyed, self._jolts = Keyed(), Jolts()
        self._offers = Offers()
        self._thumbnails = Thumbnails(window.ctx)
        self._resources = ExitStack()
        self._backend = ImguiBackend(window, LayoutFile(self._folder / LAYOUT_FILE))
        self._resources.callback(self._backend.release)
        self._panels: PanelPicture | None = None
        """Where drawing the panels themselves takes long."""
        if math.isfinite(panels_hz):
            self._panels = PanelPicture(window.ctx)
            self._resources.callback(self._panels.release)
        theme.apply(scale)
        fonts = theme.load_fonts()
        self._context = PanelContext(catalogue or load_catalogue(), fonts, self._state.view, qualities, scale)
        self._tools = SceneTools(window, self._context)
        self._context.show(self._thumbnails)
        self._shown: tuple[type, ...] = ()
        self._resources.callback(self._thumbnails.release)
        self._dock = Dock(self._state.layouts_reset, bare=self._panels is not None)
        self._controls = ControlSetup(self._folder)
        self._bookmarks = BookmarkKeeper(self._folder)
        self._desk = InputDesk(self._controls, typing=_is_typing, scene_has=self._tools.free_at)
        window.push_handlers(self._desk)
        self._resources.callback(self._desk.close)
        self._resources.callback(window.remove_handlers, self._desk)
        self._own = OwnRequests(
            self._context,
            self._tools,
            self._controls,
            self._bookmarks,
            self._desk,
            self.notify,
        )
        self.begin_scene(scene, None)

    @property
    def view(self) -> ViewSettings:
        """How the scene is to be drawn; read it every frame."""
        return self._state.view

    @view.setter
    def view(self, view: ViewSettings) -> None:
        self._apply(ChangeView(view))

    @property
    def widget_rects(self) -> dict[str, Rect]:
        """Named widgets of the last frame: (x, y, w, h) in window coordinates, origin top left."""
        return dict(self._context.rects)

    @property
    def scene_rect_px(self) -> tuple[int, int, int, int]:
        """(x, y, w, h) of the scene in framebuffer pixels, origin bottom left; as the last `build` left it."""
        x, y, width, height = self._context.scene_rect
        size, pixels = self._window.get_size(), self._window.framebuffer_px
        sx, sy = pixels[0] / max(size[0], 1), pixels[1] / max(size[1], 1)
        left, bottom = round(x * sx), round((size[1] - y - height) * sy)
        return left, bottom, max(round(width * sx), 1), max(round(height * sy), 1)

    @property
    def context(self) -> PanelContext:
        """What panels see and remember."""
        return self._context

    def begin_scene(self, scene: Scene, world: World | None) -> None:
        """Another scene runs now, in that world: forget what was known of the old one."""
        self._untold_s, self._settles = math.inf, _SETTLES
        self._state = replace(self._state, followed=False)
        context = self._context
        for feature in FEATURES:
            context.forget(*feature.of_scene)
        context.forget(PlanOutlines, World)
        found = None if world is None else outlines(world)
        context.show(scene, Day.of(Sun.of(scene.sun)), *(each for each in (found, world) if each is not None))
        self._tools.world = world
        self._keyed.forget()
        self._dock.open_with(comparison=bool(scene.lanes), plan=scene.plan is not None and scene.race is None)

    def show(self, values: Iterable[object]) -> None:
        """What the features have to be seen in the next frame, one value of a type; what was shown before is gone."""
        self._context.forget(*self._shown)
        values = tuple(values)
        self._shown = tuple(map(type, values))
        self._context.show(*values)

    @property
    def state(self) -> ShellState:
        """What is open and how things are shown."""
        return self._state

    def notify(self, text: str, *, error: bool = False) -> None:
        """Tell the user in passing."""
        self._context.of(Toasts).add(text, perf_counter(), error=error)

    def begin_frame(self, dt_s: float, snapshot: Snapshot) -> bool:
        """`dt_s` wall seconds after the last one; whether panels are built anew in this one.

        snapshot: whose vehicle is steered.
        """
        self._dt_s = dt_s
        self._untold_s += dt_s
        waits = self._backend.behind or self._desk.undecided
        self._in_use = waits or perf_counter() - self._backend.touched_s < _IN_USE_S
        rate_hz = min(self._panels_hz, _RESTING_HZ) if self._rests else self._panels_hz
        # Of two pictures one at most, however slow they are: what moves comes first.
        due = self._untold_s >= 1.0 / rate_hz and not (self._fresh and math.isfinite(rate_hz))
        self._fresh = self._in_use or due or self._settles > 0 or self._dock.settles
        if self._fresh:
            self._begin_panels(dt_s)
        self._desk.serve(snapshot.lanes[0].vehicle)
        self._sample = self._desk.sample(dt_s, seen=self._fresh and not self._backend.behind)
        return self._fresh

    @property
    def motion(self) -> CameraMotion:
        """What is asked of the camera in this frame."""
        return self._sample.camera

    def _begin_panels(self, dt_s: float) -> None:
        if self._context.scale != self._state.scale:
            self._context.scale = self._state.scale
            theme.apply(self._state.scale)
            view_settings.write_scale(self._folder, self._state.scale)
        self._thumbnails.begin_frame()
        self._backend.new_frame(min(self._untold_s, max(dt_s, _LONGEST_S)))
        self._untold_s, self._settles = 0.0, max(self._settles - 1, 0)

    def build(self, snapshot: Snapshot) -> Output:
        """All panels and instruments for `snapshot`; returns what the user asked for since the last frame."""
        context = self._context
        self._rests = math.isfinite(self._panels_hz) and snapshot.paused
        sample = self._sample
        context.keymap = self._desk.keymap
        self._state = following(self._state, flies=flies_off(snapshot))
        context.view = self._state.view
        context.show(
            self._state,
            SceneBookmarks(self._bookmarks.of(snapshot.scene)),
            replace(control_view(self._controls, self._desk.devices), pilot=sample.pilot),
        )
        for feature in FEATURES:
            if feature.observe is not None:
                feature.observe(snapshot, context)
        self._offer(snapshot)
        shaken = self._jolts.felt(snapshot)
        if shaken is not None:
            self._desk.rumble(*shaken)
        self._observe_edits(snapshot)
        requests = self._keyed.requests(sample, snapshot, self._state.view)
        if not self._fresh:
            return self._sorted(requests, snapshot)
        context.rects.clear()
        if self._state.photo:
            self._dock.draw(snapshot, context, replace(self._state, panels=False))
            context.rects["scene"] = context.scene_rect
            return self._sorted([*requests, *draw_photo(context)], snapshot)
        requests += self._dock.draw(snapshot, context, self._state)
        context.rects["scene"] = context.scene_rect
        view = self._state.view
        requests += self._tools.draw(sample.hand_px, snapshot, views=view.views)
        for feature in FEATURES:
            if feature.overlay is not None:
                requests += feature.overlay(snapshot, context)
        requests += self._tools.draw_violations()
        return self._sorted(requests, snapshot)

    def render(self, *, cleared: bool = False) -> None:
        """Draw over the window's framebuffer; `cleared`: nothing is left there of the frame before."""
        screen = self._window.ctx.screen
        screen.use()
        screen.viewport = (0, 0, *self._window.framebuffer_px)
        if self._fresh:
            self._backend.finish()
        if self._panels is None:
            self._backend.repeat()
        else:
            self._panels.draw(
                self._context.scene_rect, self.scene_rect_px, in_use=self._in_use, cleared=cleared
            )

    def leave_unseen(self) -> None:
        """End a frame of which nothing is drawn."""
        if self._fresh:
            self._backend.finish()

    def label(self, places_px: dict[str, tuple[float, float, float]], snapshot: Snapshot) -> None:
        """Name the chosen body and the lanes where the picture has them: after `build` and before `render`.

        places_px: by lane, x and y above it and y of its foot, framebuffer pixels, origin bottom left.
        """
        if self._state.photo or not self._fresh:
            return
        draw_choice(snapshot, self._context)
        if len(snapshot.lanes) < 2 or not self._state.view.caption:
            return
        size, pixels = self._window.get_size(), self._window.framebuffer_px
        scale = size[0] / max(pixels[0], 1), size[1] / max(pixels[1], 1)
        places = {
            name: (x * scale[0], size[1] - y * scale[1], size[1] - foot * scale[1])
            for name, (x, y, foot) in places_px.items()
        }
        draw_labels(places, snapshot, self._context, split=self._state.view.views > 1)

    def release(self) -> None:
        """Before the window closes."""
        self._resources.close()

    def _offer(self, snapshot: Snapshot) -> None:
        """What would help where frames or simulation do not keep up."""
        qualities = self._context.qualities
        at = qualities.index(self._state.view.quality) if self._state.view.quality in qualities else 0
        lesser = qualities[at - 1] if at else ""
        slower = self._context.keymap.first("slower")
        told = self._offers.heard(self._context.of(Pace), snapshot, self._dt_s, lesser=lesser, slower=slower)
        if told:
            self.notify(told)

    def _observe_edits(self, snapshot: Snapshot) -> None:
        busy = imgui.is_any_item_active() or imgui.is_mouse_down(imgui.MouseButton_.left.value)
        edits, plan = self._context.of(Edits), self._context.find(PlanView)
        edits.observe(snapshot, plan, perf_counter(), busy=busy)

    def _sorted(self, requests: list[Request], snapshot: Snapshot) -> Output:
        """Do the shell's own requests, hand out the others."""
        actions: list[Action | PlanRequest] = []
        commands: list[Command] = []
        view = self._state.view
        for request in (each for asked in requests for each in self._own.resolved(asked, snapshot, view)):
            if isinstance(request, OWN):
                self._apply(request)
            elif isinstance(request, Action | PlanRequest):
                actions.append(request)
            elif isinstance(request, Command):
                commands.append(request)
            else:
                raise TypeError(f"nobody carries it out: {request!r}")
        return Output(tuple(commands), tuple(actions))

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
