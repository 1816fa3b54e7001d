"""The data of a vehicle: its form, how its states are laid out, what carries it, and what can be observed of it."""

from enum import Enum
from functools import cache

import casadi as ca
import numpy as np

from sim.groups import LieGroup
from sim.platform.values import dataclass


class Form(Enum):
    """By name; the value says it in words."""

    EULER_POINCARE = "an inertia and forces on a group (holonomic)"
    """`HolonomicVehicle`."""
    REDUCED_DALEMBERT = "a shape and constraints on its velocity (nonholonomic)"
    """`NonholonomicVehicle`."""
    GROUP_ACTION = "a group that moves it about a space of its own"
    """`ActionVehicle`."""
    TREE = "a tree of bodies and joints"
    """`ArticulatedVehicle`."""
    CLOSED_TREE = "a tree of bodies and joints with closed loops"
    """`ClosedVehicle`."""

    @property
    def ground(self) -> str:
        """Name of the environment (`sim.environment`) by which those that move in space meet the ground."""
        if self in TREES:
            return "tree-ground"
        return "impulsive-ground" if self is Form.GROUP_ACTION else "ground"


TREES = (Form.TREE, Form.CLOSED_TREE)
"""Those that recursions over joints advance. A tuple: an enumeration's hash takes longer than a look at two."""


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """Where pose, velocity and shape stand in the flat array of a node."""

    pose: slice
    velocity: slice
    """Body twist, (omega, v) on SE(3), (omega, vx, vy) on SE(2), omega on SO(3)."""
    shape: slice
    shape_velocity: slice
    acting: slice
    """What acts of controls that lag."""
    size: int


@dataclass(frozen=True, eq=False)
class State:
    """A vehicle's state at one time: `node` is flat, laid out as `layout` says, SI units."""

    node: np.ndarray
    layout: NodeLayout
    group: LieGroup | None
    """None for systems whose configuration is no single group element."""

    @property
    def pose(self) -> np.ndarray:
        """Homogeneous matrix T_wb; on SO(3) the rotation R_wb alone; of other systems the flat configuration."""
        flat = self.node[self.layout.pose]
        return flat.copy() if self.group is None else self.group.to_matrix(flat)

    @property
    def velocity(self) -> np.ndarray:
        """Body twist at the node."""
        return self.node[self.layout.velocity].copy()

    @property
    def R(self) -> np.ndarray:
        """R_wb: (3, 3), in a plane (2, 2)."""
        n = 2 if self._turns == 1 else 3
        return self.pose[:n, :n]

    @property
    def x(self) -> np.ndarray:
        """(3,) place of the body origin in the world [m], in a plane (2,); none of what turns about a fixed point."""
        n = 2 if self._turns == 1 else 3
        return self.pose[:n, n:].ravel()

    @property
    def omega(self) -> np.ndarray:
        """(3,) body angular velocity [rad/s], in a plane (1,)."""
        return self.velocity[: self._turns]

    @property
    def v(self) -> np.ndarray:
        """(3,) body velocity [m/s], in a plane (2,); none of what turns about a fixed point."""
        return self.velocity[self._turns :]

    @property
    def _turns(self) -> int:
        if self.group is None:
            raise AttributeError("this state has no body with R, x, omega and v; its numbers are in node")
        return _turns_of(self.group)

    @property
    def shape(self) -> np.ndarray:
        return self.node[self.layout.shape].copy()

    @property
    def shape_velocity(self) -> np.ndarray:
        return self.node[self.layout.shape_velocity].copy()


@cache
def _turns_of(group: LieGroup) -> int:
    """Asked for with every state that a controller sees."""
    return group.turns


class Support(Enum):
    """Data by which a configuration without height, or without a place, gets one in a world."""

    NOTHING = "nothing"
    """It moves in space: its bodies tell their places in the world, and it may touch the ground."""
    GROUND = "ground"
    """It moves in a plane, which is laid on the ground."""
    SURFACE = "surface"
    """Its plane is laid on the water where there is some, else on the ground."""
    WATER = "water"
    """It moves in space and floats: water carries it by its hull."""
    STAND = "stand"
    """Its origin is a fixed point of the world, above the ground."""


@cache
def natural_support(group: LieGroup) -> Support:
    """By what a group's motions leave out: all linear motion, or that along the vertical."""
    linear = np.any(group.twist_embedding[3:], axis=1)
    if not linear.any():
        return Support.STAND
    return Support.NOTHING if linear[2] else Support.SURFACE


@dataclass(frozen=True, slots=True)
class Observable:
    """A named quantity of a vehicle."""

    name: str
    unit: str
    value: ca.SX
    """A scalar or a column."""
    traced: bool = False
    """Its way since the start is kept, with all its turns between two pictures; it depends on bodies' places only."""
    direction: bool = False
    """A unit vector, and so is all that lies on its way."""
    through_water_b: tuple[float, float, float] | None = None
    """Of a speed through the water: along which direction, body frame. A vehicle knows the current of its parameters;
    how a river's stream changes it is told by what surrounds the vehicle (`Environment.told`)."""
