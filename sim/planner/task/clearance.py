"""Is a motion clear of obstacles and ground between its nodes too? Measured on arcs of the group, exactly."""

import numpy as np

from sim.planner.task.bodies import body_poses, jointed, nodes_between, planar
from sim.planner.task.own_bodies import balls_at, kept_heights_m, kept_m, low_balls, own_pairs
from sim.planner.task.task import Obstacle, Task, brought_back
from sim.platform.values import dataclass
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
    """(N,) smallest distance to anything along each arc; own bodies count by what they have to spare."""
    shortage_m: np.ndarray
    """(N,) by how much each arc comes closer to anything than asked for, at most; 0 where it does not."""


def spare_m(vehicle: Vehicle, poses: np.ndarray, task: Task, own_m: np.ndarray | None = None) -> np.ndarray:
    """(n,) by how much flat poses (n, pose size) of a tree are clear of obstacles and the ground, and bodies of each
    other, beyond what is asked for; below 0 where they are not. own_m: `kept_m`, where it is known."""
    centres, radii = balls_at(vehicle, poses, task), np.array(task.body, float)[:, 3]
    spare = np.full(len(poses), np.inf)
    for o in task.obstacles:
        away = on_plane(vehicle, o).distance(centres.reshape(-1, 3)).reshape(len(radii), -1) - radii[:, None]
        spare = np.minimum(spare, away.min(axis=0) - task.clearance_m)
    own, above = _tree_spare_m(vehicle, centres, task, own_m)
    return np.minimum(spare, np.minimum(own, above))


def _tree_spare_m(
    vehicle: Vehicle, centres: np.ndarray, task: Task, own_m: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) of a tree's own bodies, and of these above its ground, with their balls' centres (balls, n, 3)."""
    pairs, low = tuple(own_pairs(vehicle, task)), list(low_balls(vehicle, task))
    i, j = np.array(pairs, int).reshape(-1, 2).T
    least_m = kept_m(vehicle, task) if own_m is None else own_m
    apart = np.linalg.norm(centres[i] - centres[j], axis=2) - least_m[: len(pairs), None]
    heights = centres[low, :, 2] - least_m[len(pairs) :, None]
    return apart.min(axis=0, initial=np.inf), heights.min(axis=0, initial=np.inf)


def over_ground_m(vehicle: Vehicle, poses: np.ndarray, centres: np.ndarray, task: Task) -> np.ndarray | None:
    """(n,) how far a vehicle at flat poses, with its balls' centres (balls, n, 3), is from the ground, by what of the
    clearance is left; None where there is none. Of a tree by the heights that its balls are to keep."""
    if task.ground is None:
        return None
    if jointed(vehicle):
        low, kept = list(low_balls(vehicle, task)), kept_heights_m(vehicle, task)
        spare = (centres[low, :, 2] - kept[:, None]).min(axis=0, initial=np.inf)
        return np.asarray(spare + task.clearance_m)
    return task.ground.above_m(body_poses(vehicle, poses)) + task.clearance_m


def obstacle_distances_m(
    vehicle: Vehicle, centres: np.ndarray, task: Task, time_s: np.ndarray
) -> list[np.ndarray]:
    """For each obstacle (n,), how far the balls' surfaces are from it, with centres (balls, n, 3) at moments (n,)."""
    radii, found = np.array(task.body, float)[:, 3:], []
    for i, obstacle in enumerate(task.obstacles):
        seen = brought_back(task, i, centres, time_s).reshape(-1, 3)
        away = on_plane(vehicle, obstacle).distance(seen).reshape(len(radii), -1)
        found.append((away - radii).min(axis=0))
    return found


def clearance(vehicle: Vehicle, nodes: np.ndarray, task: Task, duration_s: float | None = None) -> Clearance:
    """Measure a motion given by its nodes (N+1, node size), or its flat poses where these place all, which takes the
    task's time or another."""
    per_step = _per_step(vehicle, nodes, task)
    fine = nodes_between(vehicle, nodes, per_step)
    centres = balls_at(vehicle, fine, task)
    time_s = np.linspace(0.0, task.duration_s if duration_s is None else duration_s, len(fine))
    distances = obstacle_distances_m(vehicle, centres, task, time_s)
    by_obstacle = np.array([d.min() for d in distances])
    over_ground = over_ground_m(vehicle, fine, centres, task)
    if over_ground is not None:
        distances.append(over_ground)
    nearest = np.min(distances, axis=0) if distances else np.full(len(fine), np.inf)
    least_m = float(nearest.min())
    if jointed(vehicle):
        nearest = np.minimum(nearest, _tree_spare_m(vehicle, centres, task)[0] + task.clearance_m)
    by_arc = np.minimum(nearest[:-1].reshape(-1, per_step).min(axis=1), nearest[per_step::per_step])
    return Clearance(by_obstacle, least_m, by_arc, np.maximum(task.clearance_m - by_arc, 0.0))


def _per_step(vehicle: Vehicle, nodes: np.ndarray, task: Task) -> int:
    """Places on an arc to look at."""
    if not task.obstacles:
        return _PER_STEP
    around = task.clearance_m + min(ball[3] for ball in task.body)
    thinnest = 2.0 * (min(o.half_thickness_m for o in task.obstacles) + around)
    longest = np.linalg.norm(np.diff(balls_at(vehicle, nodes, task), axis=1), axis=2).max()
    return int(
        np.clip(np.ceil(_PER_THICKNESS * longest / thinnest), _PER_STEP, max(_PER_STEP, _MOST // len(nodes)))
    )


def on_plane(vehicle: Vehicle, obstacle: Obstacle) -> Obstacle:
    """On a plane every obstacle is met at its own height."""
    return obstacle.on_plane() if planar(vehicle) else obstacle
