"""All features of the window, each registered once: the order is that of the tabs, and of what lies over the scene
beside what is there whatever the features are: instruments and map, plates, and what the mouse takes hold of."""

from time import perf_counter

import numpy as np
from imgui_bundle import imgui

from sim.planner.service.requests import EditTask
from sim.planner.service.session import PlanView
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.features.controllers import ControllerActions, draw_controllers
from ui.features.controls import draw_controls
from ui.features.edits import Edits
from ui.features.feature import BELOW, UPPER, Feature
from ui.features.fit import FitActions
from ui.features.flight import draw_simulation
from ui.features.goals import GoalActions, GoalsView, draw_goals_over
from ui.features.help import draw_help_over
from ui.features.lanes import draw_caption_over, draw_lanes, draw_lanes_out_of_view
from ui.features.model.actions import ModelActions
from ui.features.model.panel import ModelFields, draw_model
from ui.features.model.view import BodyPicker
from ui.features.modes.actions import ModesActions
from ui.features.modes.locus import Watched
from ui.features.modes.panel import ModesFields, draw_modes
from ui.features.notices import LanesRunning, draw_notices, observe_notices
from ui.features.photo import PhotoActions
from ui.features.placing.actions import PlacingActions
from ui.features.placing.gizmo import GizmoFields
from ui.features.placing.panel import PlacingFields, PlacingTool, draw_placing
from ui.features.plan.actions import PlanActions
from ui.features.plan.marks import Alternatives, draw_violations
from ui.features.plan.panel import draw_plan
from ui.features.plan.pointing import BodyPulling, Pointing, Ray
from ui.features.plots.curves import Curves, observe_curves
from ui.features.plots.panel import draw_errors, draw_plots
from ui.features.plots.polhode import draw_polhode
from ui.features.progress.actions import ProgressActions
from ui.features.progress.panel import ProgressFields, draw_flourish, draw_progress
from ui.features.race import RaceActions, draw_race_over
from ui.features.recordings import PlotWindow
from ui.features.scenes.actions import SceneActions
from ui.features.scenes.coming import draw_arrival, draw_what_comes
from ui.features.scenes.gallery import GalleryFields, draw_scene
from ui.features.sound import SoundActions
from ui.features.sweep import SweepFields, draw_sweep
from ui.features.sweep_actions import SweepActions
from ui.features.takes.actions import TakesActions
from ui.features.takes.export_actions import SharingActions
from ui.features.takes.live_actions import LiveActions
from ui.features.takes.panel import draw_takes
from ui.features.vehicle import FlownParameters, VehicleActions, draw_vehicle, observe_parameters
from ui.features.view import draw_view
from ui.hud.instruments import KeyHint, draw_instruments, draw_mpc, draw_past
from ui.hud.minimap import PlanOutlines, draw_map, draw_wind
from ui.window.app_window import AppWindow
from ui.window.context import PanelContext, Request, SceneCamera


def draw_hud(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Instruments, and a map for what goes somewhere."""
    view, outlines, goals = context.view, context.find(PlanOutlines), context.of(GoalsView).progress
    if not view.hud:
        return []
    draw_instruments(snapshot, context)
    if outlines is not None and view.minimap and view.views == 1 and "hud/heading" in context.rects:
        draw_map(outlines, snapshot, None if goals is None else goals.marker_w, context)
    if view.views == 1:
        draw_wind(snapshot, context)
    return []


def draw_plates(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """How long ago it was what is shown, and how plans in flight go."""
    draw_past(snapshot, context)
    draw_mpc(snapshot, context)
    return []


def draw_key_hint(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The keys of a vehicle that has just come."""
    context.of(KeyHint).draw(snapshot.lanes[0].vehicle, perf_counter(), context)
    return []


class SceneTools:
    """Of the one picture that there is; the camera is that of the frame before."""

    def __init__(self, window: AppWindow, context: PanelContext) -> None:
        self._window, self._context = window, context
        self._placing, self._alternatives = PlacingTool(), Alternatives()
        self._pointing, self._hand, self._picker = Pointing(), BodyPulling(), BodyPicker()
        self.world: World | None = None
        """Where it all takes place."""

    @property
    def camera(self) -> tuple[np.ndarray, np.ndarray] | None:
        """View and projection (4, 4) of the scene as it was drawn last."""
        camera = self._context.find(SceneCamera)
        return None if camera is None else (camera.view, camera.projection)

    def draw(self, hand_px: tuple[float, float] | None, snapshot: Snapshot, *, views: int) -> list[Request]:
        """hand_px: where a body is pulled to (logical, y up)."""
        context = self._context
        plan, camera = context.find(PlanView), self.camera
        drawn = context.find(SceneCamera)
        shifts_w = {} if drawn is None else dict(drawn.shifts_w)
        seen = snapshot if drawn is None else drawn.as_drawn(snapshot)
        requests: list[Request] = []
        requests += self._hand.requests(self._mouse(hand_px, views), self._ray_at, seen, shifts_w)
        if camera is not None and views == 1:
            requests += self._picker.requests(self._ray_at, seen, shifts_w, context)
        if camera is not None:
            requests += self._placing.draw(self._ray_at, camera, snapshot, context, views=views)
        if plan is not None and camera is not None:
            requests += self._pointed(plan, views)
            if not self._placing.wants_mouse:
                requests += self._alternatives.draw(plan, *camera, context)
        return requests

    def draw_violations(self) -> list[Request]:
        """Over everything else."""
        plan, camera = self._context.find(PlanView), self.camera
        return [] if plan is None or camera is None else [*draw_violations(plan, *camera, self._context)]

    def edited(self, action: str, snapshot: Snapshot) -> list[Request]:
        """What a key asks to be done with what is chosen."""
        return self._placing.edited(action, snapshot, self._context)

    def free_at(self, x: float, y: float, pulls: bool) -> bool:
        """Whether the mouse there (logical, y up) is over the scene, over no window and nothing to be moved.

        pulls: with Ctrl held, with which nothing is moved: what tools have under the mouse may date from before that.
        """
        left, top, width, height = self._context.scene_rect
        down = self._window.get_size()[1] - y
        inside = left <= x < left + width and top <= down < top + height
        tools = (self._placing, self._alternatives, self._pointing)
        if pulls:  # no gizmo, which has imgui keep the mouse as well
            return inside and not imgui.is_window_hovered(imgui.HoveredFlags_.any_window.value)
        taken = any(tool.wants_mouse for tool in tools)
        return inside and not imgui.get_io().want_capture_mouse and not taken

    def _pointed(self, plan: PlanView, views: int) -> list[EditTask]:
        """Where plans in flight are to lead."""
        if self.world is None or self.camera is None or views > 1:
            return []
        if plan.mpc is None or not plan.mpc.on or self._placing.wants_mouse:
            self._pointing.leave()
            return []
        view, projection = self.camera
        return self._pointing.draw(plan, self._ray_at, projection @ view, self.world, self._context)

    def _mouse(self, place_px: tuple[float, float] | None, views: int) -> tuple[float, float] | None:
        """A place (logical, y up) from the top left of the one picture; None where there is none to reach into."""
        if place_px is None or self.camera is None or views > 1:
            return None
        return place_px[0], self._window.get_size()[1] - place_px[1]

    def _ray_at(self, right_px: float, down_px: float) -> Ray:
        """Through window coordinates, origin top left."""
        assert self.camera is not None
        left, top, width, height = self._context.scene_rect
        x, y = 2.0 * (right_px - left) / width - 1.0, 1.0 - 2.0 * (down_px - top) / height
        return Ray.through(x, y, *self.camera)


FEATURES: tuple[Feature, ...] = (
    Feature("Arrival", overlay=draw_arrival),
    Feature("Instruments", overlay=draw_hud),
    Feature("Simulation", draw_simulation, UPPER),
    Feature("Scene", draw_scene, actions=SceneActions, of_scene=(Edits, GalleryFields)),
    Feature(
        "Vehicle",
        draw_vehicle,
        observe=observe_parameters,
        actions=VehicleActions,
        of_scene=(FlownParameters,),
    ),
    Feature("Model", draw_model, actions=ModelActions, of_scene=(ModelFields,)),
    Feature("Plan", draw_plan, actions=PlanActions),
    Feature("Goals", overlay=draw_goals_over, actions=GoalActions),
    Feature("Plates", overlay=draw_plates),
    Feature("Ghosts", overlay=draw_lanes_out_of_view),
    Feature("Race", overlay=draw_race_over, actions=RaceActions),
    Feature("Lanes", draw_lanes, overlay=draw_caption_over),
    Feature("Takes", draw_takes, actions=TakesActions),
    Feature("Export", actions=SharingActions),
    Feature("Fit", actions=FitActions),
    Feature("Controls", draw_controls, UPPER),
    Feature("Controller", draw_controllers, UPPER, actions=ControllerActions),
    Feature("Polhode", draw_polhode, UPPER),
    Feature("View", draw_view, UPPER),
    Feature("Plots", draw_plots, BELOW, observe=observe_curves, of_scene=(Curves, PlotWindow)),
    Feature("Errors", draw_errors, BELOW),
    Feature(
        "Progress",
        draw_progress,
        BELOW,
        overlay=draw_flourish,
        actions=ProgressActions,
        of_scene=(ProgressFields,),
    ),
    Feature(
        "Placing",
        draw_placing,
        BELOW,
        actions=PlacingActions,
        of_scene=(PlacingFields, GizmoFields),
    ),
    Feature("Modes", draw_modes, BELOW, actions=ModesActions, of_scene=(ModesFields, Watched)),
    Feature("Sweep", draw_sweep, BELOW, actions=SweepActions, of_scene=(SweepFields,)),
    Feature("Photo", actions=PhotoActions),
    Feature("Sound", actions=SoundActions),
    Feature("Live", actions=LiveActions),
    Feature("Keys", overlay=draw_key_hint),
    Feature("Notices", observe=observe_notices, overlay=draw_notices, of_scene=(LanesRunning,)),
    Feature("Help", overlay=draw_help_over),
    Feature("Opening", overlay=draw_what_comes),
)
PLACES = {feature.name: feature.place for feature in FEATURES if feature.panel is not None}
"""Of every panel, in the order of the tabs."""
