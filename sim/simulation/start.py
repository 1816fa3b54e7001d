"""Where a scene's vehicle starts."""

import numpy as np

from sim.scene import Start
from sim.vehicles import Vehicle
from sim.world import World


def turn(axis: int, angle_rad: float) -> np.ndarray:
    """Rotation (3, 3) about a coordinate axis."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def start_node(start: Start, world: World, vehicle: Vehicle, soles_m: float) -> np.ndarray:
    """Flat node of an SE(3) vehicle at the scene's start.

    soles_m: height of the body origin above the ground when it stands. Raises InputError for an unknown pad.
    """
    tilt = turn(1, start.pitch_rad) @ turn(0, start.roll_rad)
    if start.pad:
        T_wb = world.start_pose(start.pad, soles_m)
        R, x = T_wb[:3, :3] @ turn(2, start.heading_rad) @ tilt, T_wb[:3, 3]
    else:
        R, x = turn(2, start.heading_rad) @ tilt, np.asarray(start.position_w, float)
    return vehicle.state(R=R, x=x, omega=start.omega_b, v=start.velocity_b).node
