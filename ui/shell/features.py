"""All features of the window, each registered once: the order is that of the tabs, and of what lies over the scene."""

from ui.features.controllers import ControllerActions, draw_controllers
from ui.features.controls import draw_controls
from ui.features.edits import Edits
from ui.features.feature import BELOW, UPPER, Feature
from ui.features.fit import FitActions
from ui.features.flight import draw_simulation
from ui.features.goals import GoalActions, draw_goals_over
from ui.features.help import draw_help_over
from ui.features.lanes import draw_caption_over, draw_lanes, draw_lanes_out_of_view
from ui.features.live_actions import LiveActions
from ui.features.model.actions import ModelActions
from ui.features.model.panel import ModelFields, draw_model
from ui.features.model.picking import draw_choice_over
from ui.features.notices import LanesRunning, draw_notices, observe_notices
from ui.features.photo import PhotoActions
from ui.features.placing.actions import PlacingActions
from ui.features.placing.gizmo import GizmoFields
from ui.features.placing.panel import PlacingFields, draw_placing
from ui.features.plan.actions import PlanActions
from ui.features.plan.panel import draw_plan
from ui.features.plots.curves import Curves, observe_curves
from ui.features.plots.panel import draw_errors, draw_plots
from ui.features.plots.polhode import draw_polhode
from ui.features.progress.actions import ProgressActions
from ui.features.progress.panel import ProgressFields, draw_flourish, draw_progress
from ui.features.race import RaceActions, draw_race_over
from ui.features.recordings import PlotWindow
from ui.features.scenes.actions import SceneActions
from ui.features.scenes.coming import draw_arrival, draw_what_comes
from ui.features.scenes.gallery import draw_scene
from ui.features.sound import SoundActions
from ui.features.takes.actions import TakesActions
from ui.features.takes.export_actions import SharingActions
from ui.features.takes.panel import draw_takes
from ui.features.vehicle import FlownParameters, VehicleActions, draw_vehicle, observe_parameters
from ui.features.view import draw_view
from ui.shell.overlays import draw_hud, draw_key_hint, draw_plates

FEATURES: tuple[Feature, ...] = (
    Feature("Arrival", overlay=draw_arrival),
    Feature("Instruments", overlay=draw_hud),
    Feature("Simulation", draw_simulation, UPPER),
    Feature("Scene", draw_scene, actions=SceneActions, of_scene=(Edits,)),
    Feature(
        "Vehicle",
        draw_vehicle,
        observe=observe_parameters,
        actions=VehicleActions,
        of_scene=(FlownParameters,),
    ),
    Feature("Model", draw_model, overlay=draw_choice_over, actions=ModelActions, of_scene=(ModelFields,)),
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
