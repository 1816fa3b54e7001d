"""What bodies of a vehicle keep from each other and a tree's from its ground, by the balls that stand for them.

Bodies of a tree with many joints between them are kept apart as their balls are. Nearer ones hide each other's joints,
and their balls overlap where they are free. Of those that meet in the simulation one pair of balls is found whose
distance tells best, over configurations at random, whether the bodies touch.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np

from sim.contact.convex import gaps, hulls_of
from sim.contact.obstacles.guests import Guest, guest_of
from sim.multibody.tree import Tree
from sim.planner.task.bodies import (
    at_random,
    joint_ranges,
    jointed,
    placed_by_bodies,
    poses_of,
    structure_of,
)
from sim.planner.task.task import Ball, Task
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Structure, Vehicle

Pairs = Mapping[tuple[int, int], float]
"""Balls, the lower number first -> the distance [m] below which their bodies touch."""
_FAR = 4
"""Joints between bodies from which on their balls' surfaces are kept apart."""
_GIVING_M = 1e-3
"""Of own bodies that are close at an end, or low at the start, beyond which they may come: equations leave no room
else; and what a ball has to be lifted by at least to count as lifted."""
_TRIED, _LEARNED = 32, 400
"""Configurations at random that show which balls are lifted, and where near bodies touch."""
_NEAR_M = 5e-3
"""Solids that are nearer than this count as touching."""
_LOST = 0.1
"""Share of the free configurations that may be taken for touching ones."""


def balls_at(vehicle: Vehicle, poses: np.ndarray, task: Task) -> np.ndarray:
    """(balls, n, 3) centres of the vehicle's balls in the world, of nodes, or of flat poses where these place all."""
    return _balls_at(vehicle, poses, np.array(task.body, float), task.ball_bodies)


def _balls_at(vehicle: Vehicle, poses: np.ndarray, body: np.ndarray, of: tuple[str, ...]) -> np.ndarray:
    """Of balls (balls, 4), by the body whose frame each is in."""
    if placed_by_bodies(vehicle) or any(of):
        names, carried = _carried(tuple(of))
        T, found = poses_of(vehicle, poses, names), np.empty((len(body), len(poses), 3))
        places = np.ones((len(body), 4))
        places[:, :3] = body[:, :3]
        for i, own in enumerate(carried):
            # One product of two matrices for all poses.
            flat = T[:, i, :3].reshape(-1, 4) @ places[own].T
            found[own] = flat.reshape(len(poses), 3, -1).transpose(2, 0, 1)
        return found
    T = vehicle.group.to_matrix(poses[:, vehicle.node_layout.pose])
    dim = T.shape[1] - 1
    centres = np.zeros((len(poses), len(body), 3))
    centres[:, :, :dim] = body[:, :dim] @ T[:, :dim, :dim].transpose(0, 2, 1) + T[:, None, :dim, dim]
    return centres.transpose(1, 0, 2)


@lru_cache(maxsize=16)
def _carried(of: tuple[str, ...]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The bodies whose frames balls are in, and which balls are in each."""
    names = tuple(dict.fromkeys(of))
    return names, [np.flatnonzero([carrier == name for carrier in of]) for name in names]


def own_pairs(vehicle: Vehicle, task: Task) -> Pairs:
    """Balls of a tree's bodies that are to be kept apart from each other."""
    return _own_pairs(structure_of(vehicle), task.body, task.ball_bodies) if jointed(vehicle) else {}


@lru_cache(maxsize=16)
def _own_pairs(structure: Structure, body: tuple[Ball, ...], of: tuple[str, ...]) -> Pairs:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    tree = vehicle.tree
    carriers = [int(tree.carriers[tree.names.index(name or vehicle.tool)]) for name in of]
    found: dict[tuple[int, int], float] = {}
    near: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i, j in combinations(range(len(body)), 2):
        if (of[i], of[j]) in vehicle.pushes or (of[j], of[i]) in vehicle.pushes:
            continue
        if frozenset((of[i], of[j])) in vehicle.apart:
            continue
        a, b = sorted((carriers[i], carriers[j]))
        if joints_between(tree, a, b) >= _FAR:
            found[i, j] = body[i][3] + body[j][3]
        elif a != b:
            near.setdefault((a, b), []).append((i, j))
    if not (near and vehicle.meets_itself):
        return found
    poses = _at_random(vehicle, _LEARNED)
    centres = _balls_at(vehicle, poses, np.array(body, float), of)
    guest = guest_of(vehicle)
    for carried, pairs in near.items():
        if (touching := _touching(vehicle, guest, carried, poses)).any():
            found |= _told_by(pairs, centres, touching)
    return found


def joints_between(tree: Tree, a: int, b: int) -> int:
    """On the way from one of a tree's carriers to another."""

    def to_root(i: int) -> list[int]:
        return [i] if i < 0 else [i, *to_root(int(tree.arrays.parent[i]))]

    one, other = to_root(a), to_root(b)
    meet = next(i for i in one if i in other)
    return one.index(meet) + other.index(meet)


def _at_random(vehicle: ArticulatedVehicle, count: int) -> np.ndarray:
    """(count, nq) configurations between the limits of joints, or half a turn about where they are usually."""
    usual = vehicle.default_state().node[vehicle.node_layout.pose]
    low, high = usual - np.pi, usual + np.pi
    names = vehicle.space.columns
    for name, (least, most) in joint_ranges(vehicle).items():
        i = names.index(name)
        low[i], high[i] = max(least, low[i]), min(most, high[i])
    rng = np.random.default_rng(0)
    return np.array([at_random(vehicle, rng, low, high) for _ in range(count)])


def _touching(
    vehicle: ArticulatedVehicle, guest: Guest, carried: tuple[int, int], poses: np.ndarray
) -> np.ndarray:
    """(n,) bool: in which flat poses solids of two carriers touch that meet in the simulation."""
    tree = vehicle.tree
    of = np.where(guest.bodies < 0, -2, tree.carriers[guest.bodies])  # -1 is the root's
    one, other = (np.flatnonzero(of == carrier) for carrier in carried)
    meets = guest.meets[np.ix_(one, other)]
    if not meets.any():
        return np.zeros(len(poses), np.bool_)
    which = np.r_[one, other]
    hulls = hulls_of([guest.props[k].shape.solid() for k in which])
    T = poses_of(vehicle, poses, tuple(tree.names[guest.bodies[k]] for k in which)) @ guest.T_b[which]
    rows = np.concatenate([T[:, :, :3, :3].reshape(len(poses), len(which), 9), T[:, :, :3, 3]], axis=2)
    apart = np.array([gaps(hulls, row)[: len(one), len(one) :] for row in rows])
    return np.asarray((apart[:, meets] < _NEAR_M).any(axis=1))


def _told_by(pairs: list[tuple[int, int]], centres: np.ndarray, touching: np.ndarray) -> Pairs:
    """The pair of balls, with centres (balls, n, 3), by whose distance fewest free configurations count as touching:
    none where too many do."""
    i, j = np.array(pairs).T
    apart = np.linalg.norm(centres[i] - centres[j], axis=2)
    least = apart[:, touching].max(axis=1)
    lost = (apart[:, ~touching] <= least[:, None]).sum(axis=1)
    best = int(lost.argmin())
    return {pairs[best]: float(least[best])} if lost[best] <= _LOST * (~touching).sum() else {}


@lru_cache(maxsize=16)
def _lifted(structure: Structure, body: tuple[Ball, ...], of: tuple[str, ...]) -> tuple[int, ...]:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    z_m = _balls_at(vehicle, _at_random(vehicle, _TRIED), np.array(body, float), of)[:, :, 2]
    return tuple(np.flatnonzero(np.ptp(z_m, axis=1) > _GIVING_M).tolist())


def low_balls(vehicle: Vehicle, task: Task) -> tuple[int, ...]:
    """Balls of a tree's bodies that are to be kept above its ground: those that its joints lift."""
    if task.ground is None or not jointed(vehicle):
        return ()
    return _lifted(structure_of(vehicle), task.body, task.ball_bodies)


def kept_m(vehicle: Vehicle, task: Task) -> np.ndarray:
    """(pairs,) that the middles of a tree's own balls keep from each other: by `own_pairs`, or what start and goal
    leave of it; then (low balls,) heights that these keep: above the ground by their radii and the task's clearance,
    or as low as at the start."""
    pairs, heights = own_pairs(vehicle, task), kept_heights_m(vehicle, task)
    if not pairs:
        return heights
    i, j = np.array(list(pairs), int).reshape(-1, 2).T
    at = vehicle.node_layout.pose
    ends = balls_at(vehicle, np.stack([task.start.node[at], task.goal.state.node[at]]), task)
    left = np.linalg.norm(ends[i] - ends[j], axis=2).min(axis=1)
    return np.r_[np.minimum(list(pairs.values()), left - _GIVING_M), heights]


def kept_heights_m(vehicle: Vehicle, task: Task) -> np.ndarray:
    """(low balls,) heights that these keep, the last part of `kept_m`."""
    low = list(low_balls(vehicle, task))
    if task.ground is None or not low:
        return np.zeros(0)
    at_start = balls_at(vehicle, task.start.node[None, vehicle.node_layout.pose], task)[low, 0, 2]
    above = task.ground.highest_m + np.array(task.body, float)[low, 3] + task.clearance_m
    return np.asarray(np.minimum(above, at_start - _GIVING_M))
