"""Vehicles in the three-dimensional world, whatever group they move on."""

from dataclasses import dataclass

import numpy as np

from sim.pilot.rotation import attitude_of, heading_of
from sim.vehicles import NonholonomicVehicle, Vehicle
from sim.world import World


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


def placement(vehicle: Vehicle, node: np.ndarray, world: World) -> Placement:
    """Of a flat node; planar vehicles are laid on the ground."""
    layout = vehicle.node_layout
    matrix = vehicle.group.to_matrix(node[layout.pose])
    if not planar(vehicle):
        return Placement(matrix, node[layout.velocity].copy())
    x, y = float(matrix[0, 2]), float(matrix[1, 2])
    T_wb = np.eye(4)
    T_wb[:3, :3] = attitude_of(world.terrain.normal(x, y), float(np.arctan2(matrix[1, 0], matrix[0, 0])))
    T_wb[:3, 3] = x, y, float(world.terrain.height(x, y))
    return Placement(T_wb, twist_in_space(node[layout.velocity]))


def twist_in_space(velocity: np.ndarray) -> np.ndarray:
    """(6,) from (omega, v), or from (omega_z, vx, vy) of the plane; wrenches have the same order."""
    if len(velocity) == 6:
        return velocity.copy()
    turn, ahead, aside = velocity
    return np.array([0.0, 0.0, turn, ahead, aside, 0.0])


def node_at(vehicle: Vehicle, there: Placement) -> np.ndarray:
    """A flat node of the vehicle at a place; what has wheels starts there at rest."""
    R, x = there.T_wb[:3, :3], there.T_wb[:3, 3]
    if planar(vehicle):
        pose = np.array([heading_of(R), float(x[0]), float(x[1])])
        twist = np.array([there.twist_b[2], *there.twist_b[3:5]])
        rolls = isinstance(vehicle, NonholonomicVehicle)
        return vehicle.state_of(pose, np.zeros(3) if rolls else twist).node
    return vehicle.state(R=R, x=x, omega=there.twist_b[:3], v=there.twist_b[3:]).node
