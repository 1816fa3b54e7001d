"""Is a motion clear of obstacles and ground between its nodes too? Measured on arcs of the group, exactly."""

from dataclasses import dataclass

import numpy as np

from sim.planner.task.bodies import arc_space, body_poses, placed_by_bodies, planar
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.poses import between, positions
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle

_PER_STEP, _MOST = 8, 40_000
"""Places that are looked at on every arc, and at most on all."""
_PER_THICKNESS = 4
"""Places looked at within the thickness of the thinnest obstacle: none is jumped."""


@dataclass(frozen=True)
class Clearance:
    """Smallest distances over a motion."""

    by_obstacle: np.ndarray
    """(obstacles,) m, of the vehicle's balls' surfaces."""
    least_m: float
    """To anything; inf where there is nothing."""
    by_arc_m: np.ndarray
    """(N,) smallest distance to anything along each arc."""
    shortage_m: np.ndarray
    """(N,) by how much each arc comes closer to anything than asked for, at most; 0 where it does not."""


def ball_places(vehicle: Vehicle, poses: np.ndarray, task: Task) -> np.ndarray:
    """(balls, n, 3) centres of the vehicle's balls in the world, of flat poses."""
    body = np.array(task.body, float)
    if placed_by_bodies(vehicle):
        return np.stack(
            [
                T[:, :3, :3] @ ball[:3] + T[:, :3, 3]
                for ball, T in zip(
                    body, (body_poses(vehicle, poses, b) for b in task.ball_bodies), strict=True
                )
            ]
        )
    T = vehicle.group.to_matrix(poses)
    dim = T.shape[1] - 1
    centres = np.zeros((len(poses), len(body), 3))
    centres[:, :, :dim] = body[:, :dim] @ T[:, :dim, :dim].transpose(0, 2, 1) + T[:, None, :dim, dim]
    return centres.transpose(1, 0, 2)


def clearance(vehicle: Vehicle, poses: np.ndarray, task: Task) -> Clearance:
    """Measure a motion given by its poses (N+1, pose_dim)."""
    per_step = _per_step(vehicle, poses, task)
    fine = between(arc_space(vehicle), poses, per_step)
    centres, radii = ball_places(vehicle, fine, task), np.array(task.body, float)[:, 3]
    everywhere = centres.reshape(-1, 3)
    distances = [
        (on_plane(vehicle, o).distance(everywhere).reshape(len(radii), -1) - radii[:, None]).min(axis=0)
        for o in task.obstacles
    ]
    by_obstacle = np.array([d.min() for d in distances])
    if task.ground is not None:
        x = positions(vehicle, fine)
        distances.append(x[:, 2] - task.ground.height(x[:, 0], x[:, 1]) + task.clearance_m)
    nearest = np.min(distances, axis=0) if distances else np.full(len(fine), np.inf)
    by_arc = np.minimum(nearest[:-1].reshape(-1, per_step).min(axis=1), nearest[per_step::per_step])
    return Clearance(by_obstacle, float(nearest.min()), by_arc, np.maximum(task.clearance_m - by_arc, 0.0))


def _per_step(vehicle: Vehicle, poses: np.ndarray, task: Task) -> int:
    """Places on an arc to look at."""
    if not task.obstacles:
        return _PER_STEP
    around = task.clearance_m + min(ball[3] for ball in task.body)
    thinnest = 2.0 * (min(o.half_thickness_m for o in task.obstacles) + around)
    longest = np.linalg.norm(np.diff(ball_places(vehicle, poses, task), axis=1), axis=2).max()
    return int(
        np.clip(np.ceil(_PER_THICKNESS * longest / thinnest), _PER_STEP, max(_PER_STEP, _MOST // len(poses)))
    )


def on_plane(vehicle: Vehicle, obstacle: Obstacle) -> Obstacle:
    """On a plane every obstacle is met at its own height."""
    return obstacle.on_plane() if planar(vehicle) else obstacle
