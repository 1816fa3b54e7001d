"""Environments that move: coupled to a vehicle by impulses that are exchanged on a fixed grid of moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.world import World


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """A body as an environment sees it."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    twist_b: np.ndarray
    """(6,) omega [rad/s], v [m/s], body frame."""
    inertia_b: np.ndarray
    """(6, 6) by which its twist answers an impulse [kg m^2, kg], body frame."""


@dataclass(frozen=True, slots=True, eq=False)
class JointedState:
    """Bodies that share velocities, as an environment sees them: a tree of joints."""

    poses_w: np.ndarray
    """(k + 1, 4, 4) bodies to world; of the last one, which holds the tree, nothing moves."""
    jacobian_w: np.ndarray
    """(k + 1, 6, nv) of their twists (omega, v) about their places, in the world."""
    mobility: np.ndarray
    """(nv, nv) by which mean velocities over the time to come answer generalised impulses now."""
    velocity: np.ndarray
    """(nv,) mean over that time, if nothing is met."""
    grounded: bool
    """Whether there is a ground that bears it, by itself."""


@dataclass(frozen=True, slots=True)
class Grip:
    """A hand at a body of an environment."""

    body: int
    at_b: tuple[float, float, float]
    """Of the body, in its principal axes [m]."""
    to_w: tuple[float, float, float]
    """Where it is pulled to, in the world [m]."""


class Touch(NamedTuple):
    """What contacts do to a vehicle in an exchange."""

    impulse_Ns: float = 0.0
    """Sum of their normal impulses."""
    slip_mps: float = 0.0
    """How fast the fastest of those that bear moves along what it touches."""


class CoupledEnvironment(Protocol):
    """Something with a state of its own that bodies push and are pushed by."""

    def exchange(
        self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]
    ) -> Mapping[str, np.ndarray]:
        """Go on by dt_s from a moment of the grid; impulses (6,) (torque [N m s], force [N s]) on bodies, body frame.

        They act on the bodies at `time_s`, at once; what acts on the environment is their opposite.
        """

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """The vehicle has these numbers from then on."""

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        """Whether it has to know of a body (pose (4, 4) to world, twist (6,) in body frame) in the next dt."""

    def take_impact_mps(self) -> float:
        """Greatest speed at which a body met something that stays in place since the last call; else 0."""

    def touch(self) -> Touch:
        """In the last exchange; nothing of what is no contact."""

    def checkpoint(self) -> np.ndarray:
        """(k,) float64: its whole state."""

    def restore(self, checkpoint: np.ndarray) -> None:
        """Back to a state that `checkpoint` gave."""

    def picture(self) -> object:
        """What is to be drawn: immutable."""


class CoupledSpec(Protocol):
    """A coupled environment as a scene says it, before there is a world."""

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> CoupledEnvironment:
        """As it is when the vehicle's main body starts at (4, 4) T_wb. Raises InputError where it cannot be."""


@runtime_checkable
class JointedEnvironment(CoupledEnvironment, Protocol):
    """One that trees of joints push as well, and are pushed by."""

    def near(self, poses_w: np.ndarray, fast_mps: float, bending_mps: float, dt_s: float) -> bool:
        """Whether bodies at poses (k + 1, 4, 4), as `JointedState` has them, may meet anything within dt, none of them
        faster, and none faster against another one than the latter."""

    def meet(self, time_s: float, dt_s: float, jointed: JointedState | None) -> np.ndarray | None:
        """As `exchange`: the generalised impulse (nv,) on what is jointed; None where nothing is met."""


@runtime_checkable
class SolidsEnvironment(CoupledEnvironment, Protocol):
    """One of bodies that takes and exports hold."""

    @property
    def bodies(self) -> int:
        """How many there are."""

    def solids(self) -> np.ndarray:
        """(n, 7) float32: where they are, place [m] and quaternion (w, x, y, z)."""

    def picture_of(self, solids: np.ndarray) -> object:
        """As `picture`, with the bodies (n, 7) elsewhere."""

    def take_over(self, other: "SolidsEnvironment") -> None:
        """Have bodies that both have be where they are there, moving as they do."""

    def hold(self, grip: Grip | None) -> None:
        """A hand pulls a body from now on; None: none does. It is no part of a checkpoint."""


def can_be_met(vehicle: Vehicle) -> bool:
    """Whether bodies of an environment may touch it."""
    return can_be_coupled(vehicle) or isinstance(vehicle, ArticulatedVehicle)


def can_be_coupled(vehicle: Vehicle) -> bool:
    """Whether its main body answers impulses by itself, within what its wheels allow."""
    return isinstance(vehicle, HolonomicVehicle | NonholonomicVehicle)
