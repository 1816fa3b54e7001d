"""Is a motion clear of obstacles and ground between its nodes too? Measured on arcs of the group, exactly."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from sim.planner.task.bodies import (
    arc_space,
    jointed,
    placed_by_bodies,
    planar,
    poses_of,
    structure_of,
)
from sim.planner.task.moving import brought_back
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.poses import between, positions
from sim.planner.task.task import Task
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Structure, Vehicle

_PER_STEP, _MOST = 8, 40_000
"""Places that are looked at on every arc, and at most on all."""
_GIVING_M = 1e-3
"""Of own bodies that are close at an end, beyond which they may come: equations leave no room else."""
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


def ball_places(vehicle: Vehicle, poses: np.ndarray, task: Task) -> np.ndarray:
    """(balls, n, 3) centres of the vehicle's balls in the world, of flat poses."""
    body = np.array(task.body, float)
    if placed_by_bodies(vehicle):
        names = tuple(dict.fromkeys(task.ball_bodies))
        T = poses_of(vehicle, poses, names)[:, [names.index(name) for name in task.ball_bodies]]
        return np.asarray(
            np.einsum("nbij,bj->bni", T[:, :, :3, :3], body[:, :3]) + T[:, :, :3, 3].swapaxes(0, 1)
        )
    T = vehicle.group.to_matrix(poses)
    dim = T.shape[1] - 1
    centres = np.zeros((len(poses), len(body), 3))
    centres[:, :, :dim] = body[:, :dim] @ T[:, :dim, :dim].transpose(0, 2, 1) + T[:, None, :dim, dim]
    return centres.transpose(1, 0, 2)


_APART = 4
"""Joints between bodies of a tree from which on these are kept apart: nearer ones hide each other's joints."""


@lru_cache(maxsize=16)
def _own_pairs(structure: Structure, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    tree = vehicle.tree
    carriers = [int(tree.carriers[tree.names.index(name or vehicle.tool)]) for name in names]

    def to_root(i: int) -> list[int]:
        return [i] if i < 0 else [i, *to_root(int(tree.arrays.parent[i]))]

    def between(a: int, b: int) -> int:
        one, other = to_root(a), to_root(b)
        meet = next(i for i in one if i in other)
        return one.index(meet) + other.index(meet)

    pairs = combinations(range(len(names)), 2)
    return tuple((i, j) for i, j in pairs if between(carriers[i], carriers[j]) >= _APART)


def own_pairs(vehicle: Vehicle, task: Task) -> tuple[tuple[int, int], ...]:
    """Balls of a tree's bodies that are to be kept apart from each other."""
    return _own_pairs(structure_of(vehicle), task.ball_bodies) if jointed(vehicle) else ()


def own_distances_m(vehicle: Vehicle, task: Task) -> np.ndarray:
    """(pairs,) that the middles of such balls keep: the sum of their radii, or what start and goal leave of it."""
    pairs = own_pairs(vehicle, task)
    if not pairs:
        return np.zeros(0)
    i, j = np.array(pairs).T
    at, radii = vehicle.node_layout.pose, np.array(task.body, float)[:, 3]
    ends = ball_places(vehicle, np.stack([task.start.node[at], task.goal.state.node[at]]), task)
    left = np.linalg.norm(ends[i] - ends[j], axis=2).min(axis=1)
    return np.asarray(np.minimum(radii[i] + radii[j], left - _GIVING_M))


def spare_m(vehicle: Vehicle, poses: np.ndarray, task: Task, own_m: np.ndarray | None = None) -> np.ndarray:
    """(n,) by how much flat poses (n, pose size) are clear of obstacles, and bodies of each other, beyond what is asked
    for; below 0 where they are not. own_m: `own_distances_m`, where these are known."""
    centres, radii = ball_places(vehicle, poses, task), np.array(task.body, float)[:, 3]
    spare = np.full(len(poses), np.inf)
    for o in task.obstacles:
        away = on_plane(vehicle, o).distance(centres.reshape(-1, 3)).reshape(len(radii), -1) - radii[:, None]
        spare = np.minimum(spare, away.min(axis=0) - task.clearance_m)
    return np.minimum(spare, _own_spare_m(vehicle, centres, task, own_m))


def _own_spare_m(
    vehicle: Vehicle, centres: np.ndarray, task: Task, own_m: np.ndarray | None = None
) -> np.ndarray:
    """(n,) of a tree's own bodies, with their balls' centres (balls, n, 3)."""
    pairs = own_pairs(vehicle, task)
    if not pairs:
        return np.full(centres.shape[1], np.inf)
    i, j = np.array(pairs).T
    least_m = own_distances_m(vehicle, task) if own_m is None else own_m
    away = np.linalg.norm(centres[i] - centres[j], axis=2) - least_m[:, None]
    return np.asarray(away.min(axis=0))


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


def clearance(vehicle: Vehicle, poses: np.ndarray, task: Task, duration_s: float | None = None) -> Clearance:
    """Measure a motion given by its poses (N+1, pose_dim), which takes the task's time or another."""
    per_step = _per_step(vehicle, poses, task)
    fine = between(arc_space(vehicle), poses, per_step)
    centres = ball_places(vehicle, fine, task)
    time_s = np.linspace(0.0, task.duration_s if duration_s is None else duration_s, len(fine))
    distances = obstacle_distances_m(vehicle, centres, task, time_s)
    by_obstacle = np.array([d.min() for d in distances])
    if task.ground is not None:
        x = positions(vehicle, fine)
        distances.append(x[:, 2] - task.ground.height(x[:, 0], x[:, 1]) + task.clearance_m)
    nearest = np.min(distances, axis=0) if distances else np.full(len(fine), np.inf)
    least_m = float(nearest.min())
    nearest = np.minimum(nearest, _own_spare_m(vehicle, centres, task) + task.clearance_m)
    by_arc = np.minimum(nearest[:-1].reshape(-1, per_step).min(axis=1), nearest[per_step::per_step])
    return Clearance(by_obstacle, least_m, by_arc, np.maximum(task.clearance_m - by_arc, 0.0))


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
