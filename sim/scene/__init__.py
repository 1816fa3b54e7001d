"""Scenes: what is simulated, where, how it starts, its goals and its race; read strictly from `scenes/NAME.toml`.

`load_scene` is the door.
"""

from sim.scene.file import (
    CAMERAS,
    FLOWN_LANE,
    MOST_LANES,
    PADS,
    SPEED_RANGE,
    STEP_RANGE_S,
    WORLDS,
    Scene,
    entered,
    load_scene,
    with_overrides,
)
from sim.scene.heading import SCENE_FOLDER, scene_names
from sim.scene.tables import Comparison, LaneSpec, Start

__all__ = [
    "CAMERAS",
    "FLOWN_LANE",
    "MOST_LANES",
    "PADS",
    "SCENE_FOLDER",
    "SPEED_RANGE",
    "STEP_RANGE_S",
    "WORLDS",
    "Comparison",
    "LaneSpec",
    "Scene",
    "Start",
    "entered",
    "load_scene",
    "scene_names",
    "with_overrides",
]
