"""A robot as its file describes it: what moves, what is drawn, what drives it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.multibody.declaration import Loop
from sim.multibody.state import Given, TreeState, numbers
from sim.multibody.tree import Tree

SHAPES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")


@dataclass(frozen=True, eq=False)
class Geom:
    """A shape on a body."""

    body: str
    """Of the tree, or "world"."""
    shape: str
    """One of SHAPES."""
    T: np.ndarray
    """(4, 4) pose in the body's frame."""
    size_m: np.ndarray
    """(3,) Sphere: radius. Capsule and cylinder: radius and half the length along z, without a capsule's ends.
    Ellipsoid and box: half of each extent. Plane: half of each extent, 0 without bound. Mesh: half of its box."""
    rgba: tuple[float, float, float, float]
    drawn: bool
    """Its file shows it; what is not drawn is there for contact alone."""
    vertices: np.ndarray
    """(k, 3) of a mesh in the shape's own frame [m]; none for other shapes."""
    faces: np.ndarray
    """(m, 3) indices of vertices."""


@dataclass(frozen=True)
class Motor:
    """An actuator that turns its command into a torque or force of one joint."""

    name: str
    joint: str
    """Name of the velocity that it drives."""
    gear: float
    """N m or N for a command of 1."""
    limits: tuple[float, float]
    """Of the command."""


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of joints with its shapes and motors."""

    name: str
    tree: Tree
    geoms: tuple[Geom, ...]
    motors: tuple[Motor, ...]
    start: TreeState
    """As its file places it, at rest."""
    keyframes: Mapping[str, TreeState]
    """States that its file names."""
    step_s: float
    """The time step that its file asks for."""
    notes: tuple[str, ...]
    """What its file says and the tree does not have, a line each."""
    loops: tuple[Loop, ...] = ()
    """Which the tree leaves open: `sim.multibody.loops.ClosedTree(robot.tree, robot.loops, step)` closes them."""

    def torques(self, commands: Given) -> np.ndarray:
        """(nv,) `controls` of the tree from the motors' commands, all or by name; each is kept to its limits.

        Raises InputError.
        """
        names = tuple(motor.name for motor in self.motors)
        given = numbers(f"commands of {self.name}", commands, names)
        torques = np.zeros(self.tree.nv)
        for motor, command in zip(self.motors, given, strict=True):
            at = self.tree.velocity_names.index(motor.joint)
            torques[at] += motor.gear * np.clip(command, *motor.limits)
        return torques
