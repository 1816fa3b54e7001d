"""Where a scene's vehicle starts."""

import numpy as np

from sim.scene import Start
from sim.simulation.footing import Footing
from sim.simulation.placing import Placement, node_at
from sim.target_path import TargetPath
from sim.vehicles import Vehicle
from sim.vehicles.leading import Leader, has_leader
from sim.vehicles.support import Support
from sim.world import World


def turn(axis: int, angle_rad: float) -> np.ndarray:
    """Rotation (3, 3) about a coordinate axis."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def fixed_point_w(start: Start, vehicle: Vehicle, world: World) -> tuple[float, float, float]:
    """About which what a stand holds turns at the scene's start; the world's origin for all else."""
    if vehicle.support is not Support.STAND:
        return (0.0, 0.0, 0.0)
    footing = Footing(vehicle, world)
    start_node(start, vehicle, footing)
    assert footing.pivot_w is not None
    x, y, z = map(float, footing.pivot_w)
    return x, y, z


def start_node(
    start: Start, vehicle: Vehicle, footing: Footing, target: TargetPath | None = None
) -> np.ndarray:
    """Flat node of a vehicle at the scene's start, where `footing` is put; what follows a target has it on its path.

    Raises InputError for an unknown pad.
    """
    tilt = turn(1, start.pitch_rad) @ turn(0, start.roll_rad)
    if start.pad:
        pose = footing.world.start_pose(start.pad, footing.soles_m)
        R, x = pose[:3, :3] @ turn(2, start.heading_rad) @ tilt, pose[:3, 3]
    else:
        R, x = turn(2, start.heading_rad) @ tilt, np.asarray(start.position_w, float)
    T_wb = np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = R, x
    footing.put_at(x)
    node = node_at(vehicle, Placement(T_wb, np.array([*start.omega_b, *start.velocity_b])))
    if target is not None and has_leader(vehicle):
        aim = target.at(0.0)
        node = Leader.of(vehicle).put(node, aim.place, aim.velocity)
    # What is below the place of a long thing's first body is not meant to start in the ground.
    return footing.lifted(node) if vehicle.links else node
