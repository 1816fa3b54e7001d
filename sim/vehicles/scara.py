"""An arm that turns over a floor, a box that glides on it and a block: what going round a corner is planned with."""

from dataclasses import replace

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import WORLD, Body, Joint
from sim.multibody.robots.robot import Geom, Motor, Robot
from sim.multibody.shapes import STAND, Link, Touching
from sim.multibody.tree import tree
from sim.shapes import Box, Sphere
from sim.vehicles.forms.robot import RobotVehicle

Vector = tuple[float, float, float]
Colour = tuple[float, float, float, float]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ORANGE, _DARK, _STEEL = (0.93, 0.42, 0.06, 1.0), (0.13, 0.14, 0.15, 1.0), (0.74, 0.75, 0.77, 1.0)
_GREY, _CARD = (0.52, 0.54, 0.55, 1.0), (0.72, 0.55, 0.36, 1.0)
UPPER_M, FORE_M, _OVER_M, PEG_M = 0.62, 0.52, 0.34, 0.03
"""Lengths of the links, how high over the floor they turn, radius of the peg that the outer one ends with."""
HALF_M, ROUND_M = (0.10, 0.10, 0.10), 0.05
"""Of the box, and the radius of its upright edges, and of the block's."""
BASE_M: Vector = (0.30, -0.45, 0.0)
"""Where the arm stands."""
BLOCK: tuple[Vector, Vector] = ((0.60, 0.60, 0.10), (0.40, 0.40, 0.10))
"""Middle and half of what the box goes round."""
EDGE: Vector = (0.25, 0.25, 0.10)
"""Middle of the upright edge of the block that sticks out towards the box."""
_BOX_KG = 2.0
_DRAG = (10.0, 0.1)
"""Of the film that the box glides on [N s/m, N m s/rad]."""


def _edges(half: Vector) -> list[Vector]:
    """Middles of the upright edges of a box."""
    x, y = half[0] - ROUND_M, half[1] - ROUND_M
    return [(a * x, b * y, 0.0) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]


def _rounded(body: str, middle: Vector, half: Vector, rgba: Colour) -> list[Geom]:
    """A box whose upright edges are round, as contact has them."""
    x, y, z = half
    return [
        Geom.placed(body, "box", middle, (x - ROUND_M, y, z), rgba),
        Geom.placed(body, "box", middle, (x, y - ROUND_M, z), rgba),
        *(
            Geom.placed(body, "cylinder", triple(np.add(middle, edge)), (ROUND_M, z, 0.0), rgba)
            for edge in _edges(half)
        ),
    ]


_PEG_M = 0.5 * (_OVER_M - 0.06)
_SHAPES = (
    Geom.placed(
        WORLD, "cylinder", (*BASE_M[:2], 0.5 * _OVER_M - 0.03), (0.09, 0.5 * _OVER_M - 0.03, 0.0), _DARK
    ),
    *_rounded(WORLD, *BLOCK, _GREY),
    Geom.placed("upper arm", "cylinder", (0.0, 0.0, 0.0), (0.08, 0.05, 0.0), _ORANGE),
    Geom.placed("upper arm", "box", (0.5 * UPPER_M, 0.0, 0.0), (0.5 * UPPER_M, 0.045, 0.03), _ORANGE),
    Geom.placed("upper arm", "cylinder", (UPPER_M, 0.0, 0.01), (0.06, 0.07, 0.0), _DARK),
    Geom.placed("forearm", "box", (0.5 * FORE_M, 0.0, 0.05), (0.5 * FORE_M, 0.032, 0.02), _STEEL),
    Geom.placed("forearm", "cylinder", (FORE_M, 0.0, -_PEG_M + 0.06), (PEG_M, _PEG_M, 0.0), _DARK),
    *_rounded("box", (0.0, 0.0, 0.0), HALF_M, _CARD),
)


def _link(name: str, parent: str, place: Vector, length: float, mass: float, joint: Joint) -> Body:
    across = mass * length**2 / 12.0
    inertia = (0.1 * across, across, across)
    return Body(
        name, parent, joint, position=place, mass=mass, centre=(0.5 * length, 0.0, 0.0), inertia=inertia
    )


def _robot() -> Robot:
    x, y, z = HALF_M
    gyration = _BOX_KG / 3.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    free = [
        Joint("prismatic", axis=_X, damping=_DRAG[0], name="box ahead"),
        Joint("prismatic", axis=_Y, damping=_DRAG[0], name="box left"),
        Joint(axis=_Z, damping=_DRAG[1], name="box turn"),
    ]
    turns = [
        Joint(axis=_Z, limits=(-2.8, 2.8), armature=0.3, damping=0.4, name="shoulder"),
        Joint(axis=_Z, limits=(-2.7, 2.7), armature=0.15, damping=0.2, name="elbow"),
    ]
    declared = tree(
        [
            _link("upper arm", WORLD, (*BASE_M[:2], _OVER_M), UPPER_M, 3.0, turns[0]),
            _link("forearm", "upper arm", (UPPER_M, 0.0, 0.0), FORE_M, 2.0, turns[1]),
            Body("box", WORLD, free, position=(0.0, 0.0, z), mass=_BOX_KG, inertia=triple(gyration)),
        ],
        (0.0, 0.0, -9.81),
    )
    strengths = {"shoulder": 60.0, "elbow": 30.0}
    start = {"shoulder": -0.3, "elbow": 0.9, "box ahead": 0.60, "box left": 0.08}
    return Robot(
        name="scara",
        tree=declared,
        geoms=_SHAPES,
        motors=tuple(Motor(name, name, 1.0, (-most, most)) for name, most in strengths.items()),
        start=declared.state(start),
        keyframes={},
        step_s=0.01,
        notes=(),
        loose=("box ahead", "box left", "box turn"),
    )


class Scara(RobotVehicle):
    """An arm of two links that turn over a floor; its peg pushes a box that glides on a film of oil round a block."""

    name = "scara"
    meets_itself = False
    robot = _robot()
    pushes = (("forearm", "box"), ("forearm", STAND), ("box", STAND), (STAND, "box"))
    across = (0.0, 0.0, 1.0)

    def shapes(self) -> tuple[Link, ...]:
        """Nothing of it feels the ground, over which all of it stays as high as it is."""
        return tuple(replace(link, touches=(False, False)) for link in super().shapes())

    def touching(self) -> tuple[Touching, ...]:
        """Peg, box and block, what is round of them at the height of the box's middle."""
        boxes = [("box", Box((0.0, 0.0, 0.0), HALF_M)), (STAND, Box(*BLOCK))]
        balls = [("forearm", Sphere((FORE_M, 0.0, HALF_M[2] - _OVER_M), PEG_M))]
        balls += [("box", Sphere(edge, ROUND_M)) for edge in _edges(HALF_M)]
        balls.append((STAND, Sphere(EDGE, ROUND_M)))
        return tuple(Touching(body, shape, np.eye(4)) for body, shape in (*boxes, *balls))

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its heights are over the ground."""
        return 0.0
