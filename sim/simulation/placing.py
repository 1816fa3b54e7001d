"""Vehicles in the three-dimensional world, whatever their configuration leaves open."""

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.control.rotation import attitude_of, heading_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support
from sim.world import World

_UP_W = np.array([0.0, 0.0, 1.0])
LAID = (Support.GROUND, Support.SURFACE)
"""What moves in a plane and is put on a world's ground or water."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where a vehicle's main body is and how it moves."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    twist_b: np.ndarray
    """(6,) omega [rad/s], v [m/s]."""


def stand_at(world: World, x_w: np.ndarray, height_m: float) -> np.ndarray:
    """(3,) the fixed point of a stand on the ground at (x, y) of `x_w` [m]."""
    x, y = float(x_w[0]), float(x_w[1])
    return np.array([x, y, float(world.terrain.height(x, y)) + height_m])


def in_world(support: Support, poses: np.ndarray, world: World, pivot_w: np.ndarray | None) -> np.ndarray:
    """(bodies, 4, 4) poses in the world of bodies whose poses in the vehicle's own frame are given, the main one first.

    pivot_w: (3,) where the origin of what is on a stand has its place.
    """
    if support is Support.STAND and pivot_w is not None:
        poses = poses.copy()
        poses[:, :3, 3] += pivot_w
    if support in LAID:
        poses = _laid(support, poses[0], world) @ _inverse(poses[0]) @ poses
    return poses


def _laid(support: Support, T: np.ndarray, world: World) -> np.ndarray:
    """A pose in the plane, on the ground or on the water."""
    x, y = float(T[0, 3]), float(T[1, 3])
    height, normal = float(world.terrain.height(x, y)), world.terrain.normal(x, y)
    if support is Support.SURFACE and float(world.surface_m(x, y)) > height:
        height, normal = float(world.surface_m(x, y)), _UP_W
    T_wb = np.eye(4)
    T_wb[:3, :3] = attitude_of(normal, float(np.arctan2(T[1, 0], T[0, 0])))
    T_wb[:3, 3] = x, y, height
    return T_wb


def _inverse(T: np.ndarray) -> np.ndarray:
    back = np.eye(4)
    back[:3, :3] = T[:3, :3].T
    back[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return back


def placement(
    vehicle: Vehicle, node: np.ndarray, world: World, pivot_w: np.ndarray | None = None
) -> Placement:
    """Of a flat node. What turns about a fixed point does so about `pivot_w` (3,)."""
    T, twist_b = _main_body(Structure.of(vehicle))(node, vehicle.parameter_vector)
    (T_wb,) = in_world(vehicle.support, np.array(T)[None], world, pivot_w)
    return Placement(T_wb, np.array(twist_b).ravel())


@lru_cache(maxsize=64)
def _main_body(structure: Structure) -> ca.Function:
    """(node, parameters) -> pose and twist of the main body."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    main = next(iter(vehicle.bodies(node, q).values()))
    return ca.Function("main", [node, p], [ca.densify(main), ca.densify(vehicle.twist(node, q))])


def node_at(vehicle: Vehicle, there: Placement) -> np.ndarray:
    """A flat node of the vehicle at a place."""
    T_wb = there.T_wb
    if vehicle.support in LAID:
        T_wb = T_wb.copy()
        T_wb[:3, :3] = attitude_of(_UP_W, heading_of(there.T_wb[:3, :3]))
    return vehicle.state_in_space(T_wb, there.twist_b).node


def taken_over(old: Vehicle, new: Vehicle, there: Placement, pivot_w: np.ndarray | None = None) -> Placement:
    """Where another vehicle takes the old one's place: of what is on a stand, that of its fixed point `pivot_w` (3,).

    Onto a stand and off it everything comes upright and at rest: a spin about a fixed point is no flight. Else its
    attitude is the rotation next to the old one's, which a method that leaves the group may have lost.
    """
    T_wb = there.T_wb.copy()
    if Support.STAND not in (old.support, new.support):
        left, _, right = np.linalg.svd(there.T_wb[:3, :3])
        T_wb[:3, :3] = left @ right
        return Placement(T_wb, there.twist_b)
    T_wb[:3, :3] = attitude_of(_UP_W, heading_of(there.T_wb[:3, :3]))
    if pivot_w is not None:
        T_wb[:3, 3] = pivot_w
    return Placement(T_wb, np.zeros(6))
