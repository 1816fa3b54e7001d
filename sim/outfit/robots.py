"""The outfit of a robot: what all robots are given, sticks for its first motors, its shapes on its bodies."""

from dataclasses import replace
from pathlib import Path

from sim.outfit.key_reading import STICK_KEYS
from sim.outfit.moving_model import Part
from sim.outfit.outfit import Keys, Mix, Outfit, Raw, StickKeys
from sim.outfit.reading import read_outfit
from sim.trees.declaration import WORLD
from sim.trees.shapes import STAND
from sim.vehicles.base import Vehicle
from sim.vehicles.parameter import Control
from sim.vehicles.robot import RobotVehicle

STICKS = ("yaw", "pitch", "throttle", "roll")
"""In the order of the motors that follow them."""


def robot_outfit(kind: type[RobotVehicle], file: Path, fallback: Outfit) -> Outfit:
    """Of a robot's class; `file` is what all robots are given. Raises InputError."""
    usual = read_outfit(file, f"assets/{file.name}", None, kind, fallback)
    driven = list(zip(STICKS, kind.controls, strict=False))
    outfit = replace(
        usual,
        raw=Raw(tuple(Mix(control.name, ((stick, 1.0),)) for stick, control in driven)),
        keys=Keys(
            held=tuple(_held(stick, sign, control) for stick, control in driven for sign in "+-"),
            words={stick: control.name.replace("_", " ") for stick, control in driven},
        ),
    )
    return on_bodies(kind, outfit)


def on_bodies(kind: type[Vehicle], outfit: Outfit) -> Outfit:
    """The outfit with the shapes that the vehicle tells of on their bodies, where it says of no other parts."""
    bodies = dict.fromkeys(geom.body for geom in kind.solids)
    parts = tuple(Part((body,), body=STAND if body == WORLD else body) for body in bodies)
    return replace(outfit, model=replace(outfit.model, parts=outfit.model.parts or parts))


def _held(stick: str, sign: str, control: Control) -> StickKeys:
    action = f"{stick}{sign}"
    way = "Drive" if sign == "+" else "Drive back"
    return StickKeys(action, STICK_KEYS[action], f"{way}: {control.name.replace('_', ' ')}", "Motors")
