"""An arm of six axes on a pedestal, as those that weld and lift: what a robot is where no file is given."""

import math

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import WORLD, Body, Joint
from sim.multibody.robots.robot import Geom, Motor, Robot
from sim.multibody.tree import tree
from sim.vehicles.forms.robot import RobotVehicle

Vector = tuple[float, float, float]
Colour = tuple[float, float, float, float]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ORANGE, _DARK = (0.93, 0.42, 0.06, 1.0), (0.13, 0.14, 0.15, 1.0)
_GREY, _STEEL = (0.52, 0.54, 0.55, 1.0), (0.74, 0.75, 0.77, 1.0)
_DENSITY_KGPM3 = 1400.0
"""Castings with motors in them."""
_START = {"turn": 0.0, "shoulder": -0.2, "elbow": 0.25, "roll": 0.0, "wrist": 0.7, "flange": 0.0}


def _turned(axis: Vector) -> np.ndarray:
    """(3, 3) a rotation that takes z to the axis."""
    z = np.array(axis) / np.linalg.norm(axis)
    aside = np.array(_X) if abs(z[0]) < 0.8 else np.array(_Y)
    x = np.cross(aside, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


_SHAPES = (
    Geom.placed(WORLD, "cylinder", (0.0, 0.0, 0.03), (0.34, 0.03, 0.0), _DARK),
    Geom.placed(WORLD, "cylinder", (0.0, 0.0, 0.16), (0.24, 0.10, 0.0), _GREY),
    Geom.placed("carousel", "cylinder", (0.0, 0.0, 0.05), (0.23, 0.05, 0.0), _ORANGE),
    Geom.placed("carousel", "box", (0.06, 0.0, 0.20), (0.15, 0.13, 0.12), _ORANGE),
    Geom.placed("carousel", "cylinder", (0.10, 0.0, 0.26), (0.13, 0.19, 0.0), _DARK, _turned(_Y)),
    Geom.placed("upper arm", "cylinder", (0.0, 0.0, 0.0), (0.115, 0.15, 0.0), _ORANGE, _turned(_Y)),
    Geom.placed("upper arm", "box", (0.0, 0.0, 0.34), (0.075, 0.065, 0.30), _ORANGE),
    Geom.placed("upper arm", "cylinder", (0.0, 0.0, 0.68), (0.10, 0.14, 0.0), _DARK, _turned(_Y)),
    Geom.placed("elbow", "cylinder", (0.0, 0.0, 0.0), (0.09, 0.155, 0.0), _ORANGE, _turned(_Y)),
    Geom.placed("elbow", "box", (-0.02, 0.0, 0.08), (0.13, 0.085, 0.08), _ORANGE),
    Geom.placed("forearm", "cylinder", (0.17, 0.0, 0.0), (0.070, 0.17, 0.0), _ORANGE, _turned(_X)),
    Geom.placed("forearm", "cylinder", (0.42, 0.0, 0.0), (0.052, 0.10, 0.0), _DARK, _turned(_X)),
    Geom.placed("forearm", "box", (0.50, 0.0, 0.0), (0.05, 0.075, 0.045), _ORANGE),
    Geom.placed("hand", "cylinder", (0.0, 0.0, 0.0), (0.048, 0.09, 0.0), _DARK, _turned(_Y)),
    Geom.placed("hand", "cylinder", (0.06, 0.0, 0.0), (0.042, 0.06, 0.0), _ORANGE, _turned(_X)),
    Geom.placed("gripper", "cylinder", (0.015, 0.0, 0.0), (0.050, 0.015, 0.0), _STEEL, _turned(_X)),
    Geom.placed("gripper", "box", (0.05, 0.0, 0.0), (0.022, 0.075, 0.03), _DARK),
    Geom.placed("gripper", "box", (0.115, 0.06, 0.0), (0.05, 0.010, 0.022), _STEEL),
    Geom.placed("gripper", "box", (0.115, -0.06, 0.0), (0.05, 0.010, 0.022), _STEEL),
)


def _weight(geom: Geom) -> tuple[float, np.ndarray]:
    """(mass [kg], (3, 3) inertia about its middle in the body's frame) of a cylinder or a box."""
    a, b, c = geom.size_m
    if geom.shape == "cylinder":
        mass = _DENSITY_KGPM3 * 2.0 * math.pi * a**2 * b
        across = mass * (a**2 / 4.0 + b**2 / 3.0)
        own = np.diag([across, across, 0.5 * mass * a**2])
    else:
        mass = _DENSITY_KGPM3 * 8.0 * a * b * c
        own = mass / 3.0 * np.diag([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    R = geom.T[:3, :3]
    return mass, R @ own @ R.T


def _body(name: str, parent: str, place: Vector, joint: Joint) -> Body:
    """With the mass of its shapes."""
    weights = [(*_weight(geom), geom.T[:3, 3]) for geom in _SHAPES if geom.body == name]
    mass = sum(m for m, _, _ in weights)
    centre = np.sum([m * at for m, _, at in weights], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, own, at in weights:
        arm = at - centre
        inertia += own + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Body(name, parent, joint, position=place, mass=mass, centre=triple(centre), inertia=inertia)


def _axis(name: str, axis: Vector, reach_rad: tuple[float, float], rotor: float) -> Joint:
    return Joint(axis=axis, limits=reach_rad, armature=rotor, damping=1.5 * math.sqrt(rotor), name=name)


def _robot() -> Robot:
    bodies = [
        _body("carousel", WORLD, (0.0, 0.0, 0.26), _axis("turn", _Z, (-2.9, 2.9), 4.0)),
        _body("upper arm", "carousel", (0.10, 0.0, 0.26), _axis("shoulder", _Y, (-1.2, 1.9), 4.0)),
        _body("elbow", "upper arm", (0.0, 0.0, 0.68), _axis("elbow", _Y, (-2.2, 1.6), 2.0)),
        _body("forearm", "elbow", (0.05, 0.0, 0.10), _axis("roll", _X, (-3.0, 3.0), 0.3)),
        _body("hand", "forearm", (0.56, 0.0, 0.0), _axis("wrist", _Y, (-2.0, 2.0), 0.2)),
        _body("gripper", "hand", (0.12, 0.0, 0.0), _axis("flange", _X, (-3.1, 3.1), 0.1)),
    ]
    declared = tree(bodies)
    strengths = {
        "turn": 900.0,
        "shoulder": 1500.0,
        "elbow": 700.0,
        "roll": 60.0,
        "wrist": 60.0,
        "flange": 30.0,
    }
    return Robot(
        name="six-axis-arm",
        tree=declared,
        geoms=_SHAPES,
        motors=tuple(Motor(name, name, 1.0, (-most, most)) for name, most in strengths.items()),
        start=declared.state(_START),
        keyframes={},
        step_s=0.002,
        notes=(),
    )


class SixAxisArm(RobotVehicle):
    """An arm of six axes on a pedestal. Servos hold it; motors turn it by the sticks, targets in the panel pose it."""

    name = "six-axis-arm"
    robot = _robot()
