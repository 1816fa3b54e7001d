"""Vehicles in the three-dimensional world, whatever group they move on."""

from dataclasses import dataclass

import numpy as np

from sim.pilot.rotation import attitude_of, heading_of
from sim.vehicles import NonholonomicVehicle, Vehicle
from sim.world import World

STAND_M = 1.0
"""Height of the fixed point above the ground, for what turns about one."""
_UPRIGHT = 1.0 - 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where a vehicle is and how it moves."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    twist_b: np.ndarray
    """(6,) omega [rad/s], v [m/s]."""


def planar(vehicle: Vehicle) -> bool:
    """Whether it moves on SE(2): drawn on the ground, which it neither leaves nor feels."""
    return vehicle.group.name == "SE2"


def pivoted(vehicle: Vehicle) -> bool:
    """Whether it moves on SO(3): it turns about a fixed point, the body's origin, on a stand."""
    return vehicle.group.name == "SO3"


def stand_at(world: World, x_w: np.ndarray) -> np.ndarray:
    """(3,) the fixed point of a stand on the ground at (x, y) of `x_w` [m]."""
    x, y = float(x_w[0]), float(x_w[1])
    return np.array([x, y, float(world.terrain.height(x, y)) + STAND_M])


def placement(
    vehicle: Vehicle, node: np.ndarray, world: World, pivot_w: np.ndarray | None = None
) -> Placement:
    """Of a flat node; planar vehicles are laid on the ground, those without wheels on the water where there is some.

    Pivoted ones turn about `pivot_w` (3,).
    """
    layout = vehicle.node_layout
    matrix, twist_b = vehicle.group.to_matrix(node[layout.pose]), in_space(vehicle, node[layout.velocity])
    if pivoted(vehicle):
        T_wb = np.eye(4)
        T_wb[:3, :3] = matrix
        T_wb[:3, 3] = 0.0 if pivot_w is None else pivot_w
        return Placement(T_wb, twist_b)
    if not planar(vehicle):
        return Placement(matrix, twist_b)
    x, y = float(matrix[0, 2]), float(matrix[1, 2])
    height, normal = float(world.terrain.height(x, y)), world.terrain.normal(x, y)
    if not isinstance(vehicle, NonholonomicVehicle) and float(world.surface_m(x, y)) > height:
        height, normal = float(world.surface_m(x, y)), np.array([0.0, 0.0, 1.0])
    T_wb = np.eye(4)
    T_wb[:3, :3] = attitude_of(normal, float(np.arctan2(matrix[1, 0], matrix[0, 0])))
    T_wb[:3, 3] = x, y, height
    return Placement(T_wb, twist_b)


def in_space(vehicle: Vehicle, vector: np.ndarray) -> np.ndarray:
    """(6,) angular then linear, from a velocity, wrench or momentum of the vehicle's group.

    On SE(2) that is (about z, ahead, aside), on SO(3) the angular part alone.
    """
    if planar(vehicle):
        turn, ahead, aside = vector
        return np.array([0.0, 0.0, turn, ahead, aside, 0.0])
    return np.concatenate((vector, np.zeros(3))) if pivoted(vehicle) else vector.copy()


def centre_b(vehicle: Vehicle) -> np.ndarray:
    """(3,) the point by which its place is told [m], body frame: the origin, or what swings about it."""
    return np.asarray(vehicle.values["arm"], float) if "arm" in vehicle.values else np.zeros(3)


def node_at(vehicle: Vehicle, there: Placement) -> np.ndarray:
    """A flat node of the vehicle at a place; what has wheels starts there at rest."""
    R, x = there.T_wb[:3, :3], there.T_wb[:3, 3]
    if planar(vehicle):
        pose = np.array([heading_of(R), float(x[0]), float(x[1])])
        twist = np.array([there.twist_b[2], *there.twist_b[3:5]])
        rolls = isinstance(vehicle, NonholonomicVehicle)
        return vehicle.state_of(pose, np.zeros(3) if rolls else twist).node
    if pivoted(vehicle):
        return _turned_node(vehicle, R, there.twist_b[:3])
    return vehicle.state(R=R, x=x, omega=there.twist_b[:3], v=there.twist_b[3:]).node


def _turned_node(vehicle: Vehicle, R: np.ndarray, omega_b: np.ndarray) -> np.ndarray:
    """What is put down upright and at rest starts as the vehicle itself would, with that heading."""
    if R[2, 2] > _UPRIGHT and not np.any(omega_b):
        own = vehicle.default_state()
        heading = attitude_of(np.array([0.0, 0.0, 1.0]), heading_of(R))
        return vehicle.state_of(vehicle.group.from_matrix(heading @ own.pose), own.velocity).node
    return vehicle.state_of(vehicle.group.from_matrix(R), omega_b).node


def taken_over(old: Vehicle, new: Vehicle, there: Placement) -> Placement:
    """Where another vehicle takes the old one's place.

    Onto a stand and off it everything comes upright and at rest: a spin about a fixed point is no flight.
    """
    if not (pivoted(old) or pivoted(new)):
        return there
    T_wb = there.T_wb.copy()
    T_wb[:3, :3] = attitude_of(np.array([0.0, 0.0, 1.0]), heading_of(there.T_wb[:3, :3]))
    return Placement(T_wb, np.zeros(6))
