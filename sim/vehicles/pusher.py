"""An arm over a bench and a box that stands on it: what planning through contact with something free is tried on."""

from dataclasses import replace

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import WORLD, Body, Joint
from sim.multibody.robots.robot import Geom, Motor, Robot
from sim.multibody.shapes import UNSEEN, Link
from sim.multibody.tree import tree
from sim.vehicles.forms.robot import RobotVehicle

Vector = tuple[float, float, float]
Colour = tuple[float, float, float, float]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ORANGE, _DARK, _STEEL = (0.93, 0.42, 0.06, 1.0), (0.13, 0.14, 0.15, 1.0), (0.74, 0.75, 0.77, 1.0)
_GREY, _CARD = (0.52, 0.54, 0.55, 1.0), (0.72, 0.55, 0.36, 1.0)
SHOULDER_M, UPPER_M, FORE_M = 0.95, 0.60, 0.60
"""How high the shoulder is, and lengths of the links."""
HALF_M, FOOT_M, TIP_M = (0.15, 0.15, 0.10), 0.015, 0.035
"""Of the box; radii of its feet and of the ball at the arm's end."""
_BOX_KG = 4.0


_ABOUT_Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
_LOW_M = -HALF_M[2] + FOOT_M
"""Of the middles of the feet, which the box ends with."""
_SHAPES = (
    Geom.placed(WORLD, "box", (0.0, 0.42, 0.60), (0.06, 0.06, 0.60), _GREY),
    Geom.placed(WORLD, "cylinder", (0.0, 0.24, SHOULDER_M), (0.06, 0.20, 0.0), _DARK, _ABOUT_Y),
    Geom.placed("upper arm", "cylinder", (0.0, 0.0, 0.0), (0.075, 0.06, 0.0), _ORANGE, _ABOUT_Y),
    Geom.placed("upper arm", "box", (0.0, 0.0, -UPPER_M / 2), (0.045, 0.04, UPPER_M / 2), _ORANGE),
    Geom.placed("upper arm", "cylinder", (0.0, 0.0, -UPPER_M), (0.06, 0.055, 0.0), _DARK, _ABOUT_Y),
    Geom.placed("forearm", "box", (0.0, 0.0, -FORE_M / 2), (0.028, 0.026, FORE_M / 2), _STEEL),
    Geom.placed("forearm", "sphere", (0.0, 0.0, -FORE_M), (TIP_M, 0.0, 0.0), _DARK),
    Geom.placed("box", "box", (0.0, 0.0, 0.0), HALF_M, _CARD),
)


def _link(name: str, parent: str, place: Vector, length: float, mass: float, joint: Joint) -> Body:
    across = mass * length**2 / 12.0
    inertia = (across, across, 0.1 * across)
    return Body(
        name, parent, joint, position=place, mass=mass, centre=(0.0, 0.0, -length / 2), inertia=inertia
    )


def _robot() -> Robot:
    x, y, z = HALF_M
    gyration = _BOX_KG / 3.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    free = [
        Joint("prismatic", axis=_X, name="box ahead"),
        Joint("prismatic", axis=_Z, name="box up"),
        Joint(axis=_Y, name="box pitch"),
    ]
    turns = [
        Joint(axis=_Y, limits=(-2.6, 2.6), armature=0.4, damping=0.4, name="shoulder"),
        Joint(axis=_Y, limits=(-2.6, 2.6), armature=0.2, damping=0.2, name="elbow"),
    ]
    declared = tree(
        [
            _link("upper arm", WORLD, (0.0, 0.0, SHOULDER_M), UPPER_M, 3.0, turns[0]),
            _link("forearm", "upper arm", (0.0, 0.0, -UPPER_M), FORE_M, 2.0, turns[1]),
            Body("box", WORLD, free, mass=_BOX_KG, inertia=triple(gyration)),
        ],
        (0.0, 0.0, -9.81),
    )
    strengths = {"shoulder": 120.0, "elbow": 60.0}
    return Robot(
        name="pusher",
        tree=declared,
        geoms=_SHAPES,
        motors=tuple(Motor(name, name, 1.0, (-most, most)) for name, most in strengths.items()),
        start=declared.state({"shoulder": 1.0, "elbow": -1.6, "box ahead": 0.35, "box up": HALF_M[2]}),
        keyframes={},
        step_s=0.01,
        notes=(),
        loose=("box ahead", "box up", "box pitch"),
    )


class Pusher(RobotVehicle):
    """An arm of two links in a vertical plane, whose ball pushes a box that stands on the ground."""

    name = "pusher"
    meets_itself = False
    robot = _robot()
    feet = ("box",)
    pushes = (("forearm", "box"),)

    def shapes(self) -> tuple[Link, ...]:
        """The box alone stands on the ground, on both its lower edges."""
        x, _, _ = HALF_M
        edge = Link(
            "box", (-x + FOOT_M, 0.0, _LOW_M), (x - FOOT_M, 0.0, _LOW_M), FOOT_M, UNSEEN, (True, True)
        )
        arm = (link for link in super().shapes() if link.body != "box")
        return (*(replace(link, touches=(False, False)) for link in arm), edge)

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its heights are over the ground."""
        return 0.0
