"""Guesses for trees of joints: ways through the space of their coordinates, around what their bodies would touch.

Where the straight way is not free, two trees of random configurations grow towards each other from both ends
(RRT-Connect, Kuffner and LaValle 2000), and what they find is shortened between random places of it.

Of trees that walk, feet step to where they are to be by turns, in two groups, while the rest goes on evenly. When and
how hard they touch is left to the solver.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sim.planner.guess.pushing import pushed
from sim.planner.task.bodies import (
    arc_space,
    arcs,
    at_random,
    body_poses,
    increments,
    joint_ranges,
    points,
)
from sim.planner.task.clearance import spare_m
from sim.planner.task.inputs import holding
from sim.planner.task.legs import Legs
from sim.planner.task.meeting import brought_to
from sim.planner.task.own_bodies import kept_m
from sim.planner.task.task import Task
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle

_REACH_RAD, _FINE_RAD = 0.5, 0.06
"""Longest branch of a tree, and how far apart configurations on it are looked at [rad or m, of all joints together]."""
_MOST, _SHORTCUTS = 2500, 60
"""Random configurations that are tried for one way, and places between which it is tried to be shorter."""
_TURNS_RAD = np.pi
"""How far joints without limits are tried from start and goal."""
_ROUNDED, _ROUNDS = 8, 12
"""How often corners are rounded off at most, and in how many rounds each time."""
_OTHER_ENDS = 3
"""Other configurations, in which the tool has the pose that is asked for, that ways are looked for to."""
_CLOSE_M = 2e-3


def led_through_joints(
    vehicle: ArticulatedVehicle, task: Task, steps: int, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size), the likeliest first."""
    if isinstance(vehicle, ClosedVehicle):
        yield _led_closed(vehicle, task, steps)
        return
    at = vehicle.node_layout.pose
    moved = pushed(vehicle, task, steps, most) if vehicle.pushes else stepped(vehicle, task, steps)
    for way in moved:
        nodes = np.zeros((steps + 1, vehicle.node_layout.size))
        nodes[:, at] = way
        yield _paced(vehicle, task, nodes)
    ends = [task.goal.state.node]
    for seed in range(most):
        for end in ends:
            stations = [task.start.node[at], *_on_the_way(vehicle, task, end), end[at]]
            search = _Search(vehicle, task, seed)
            pieces = [search.way(a, b) for a, b in pairwise(stations)]
            way = np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])
            yield _moved(vehicle, task, way, steps)
        if seed == 0:
            ends += list(_other_ends(vehicle, task))
            if len(ends) == 1 and not search.obstructed:
                return


def _led_closed(vehicle: ClosedVehicle, task: Task, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Straight from start to goal for the joints that lead, the others following, the loops closed."""
    at, lead = vehicle.node_layout, vehicle.leading_places
    start, goal = task.start.node[at.pose], task.goal.state.node[at.pose]
    s = np.linspace(0.0, 1.0, steps + 1)
    nodes, q = np.zeros((steps + 1, at.size)), start
    for k, share in enumerate(s**3 * (10 - 15 * s + 6 * s * s)):
        q = vehicle.led_to(q, start[lead] + share * (goal[lead] - start[lead]))
        nodes[k, at.pose] = q
    return _paced(vehicle, task, nodes)


def _on_the_way(vehicle: ArticulatedVehicle, task: Task, end: np.ndarray) -> list[np.ndarray]:
    """(nq,) configurations in which the tool is at the waypoints, each reached from as far on the straight way."""
    at, space = vehicle.node_layout.pose, arc_space(vehicle)
    xi = arcs(space, task.start.node[None, at], end[None, at])
    found = []
    for k, waypoint in enumerate(task.waypoints, 1):
        node = task.start.node.copy()
        share = np.array([k / (len(task.waypoints) + 1)])
        node[at] = points(space, task.start.node[None, at], xi, share)[0]
        found.append(brought_to(vehicle, node, np.array(waypoint.position_w, float))[at])
    return found


def _other_ends(vehicle: ArticulatedVehicle, task: Task) -> Iterator[np.ndarray]:
    """(node size,) where only the tool's pose is asked for: it has that in other ways, too."""
    if task.goal.parts is None or task.goal.position == "free":
        return
    if not set(task.goal.parts) <= {"velocity"}:
        return
    goal, at = task.goal.state.node, vehicle.node_layout.pose
    T = body_poses(vehicle, goal)[0]
    R = T[:3, :3] if task.goal.rotation in ("fixed", "within") else None
    rng, known = np.random.default_rng(0), [goal[at]]
    low, high = _box(vehicle, task)
    for _ in range(8 * _OTHER_ENDS):
        node = goal.copy()
        node[at] = at_random(vehicle, rng, low, high)
        node = brought_to(vehicle, node, T[:3, 3], R)
        there = body_poses(vehicle, node)[0]
        missed = float(np.abs(there[:3, 3] - T[:3, 3]).max())
        missed += 0.0 if R is None else float(np.abs(there[:3, :3] - R).max())
        near = min(float(np.abs(node[at] - q).max()) for q in known)
        if missed < _CLOSE_M and near > _REACH_RAD and spare_m(vehicle, node[None, at], task)[0] > 0.0:
            known.append(node[at])
            yield node
        if len(known) > _OTHER_ENDS:
            return


def _box(vehicle: ArticulatedVehicle, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """(nq,) between which coordinates are tried."""
    at = vehicle.node_layout.pose
    ends = np.stack([task.start.node[at], task.goal.state.node[at]])
    low, high = ends.min(axis=0) - _TURNS_RAD, ends.max(axis=0) + _TURNS_RAD
    names = vehicle.space.columns
    for name, (least, most) in (joint_ranges(vehicle) | task.limits.columns).items():
        i = names.index(name)
        if i < at.stop:
            low[i], high[i] = max(low[i], least), min(high[i], most)
    return low, high


class _Search:
    """For ways between configurations, from one seed of chance."""

    def __init__(self, vehicle: ArticulatedVehicle, task: Task, seed: int) -> None:
        self._vehicle, self._task, self._space = vehicle, task, arc_space(vehicle)
        self._rng, self._box = np.random.default_rng(seed), _box(vehicle, task)
        self.obstructed = False
        """A straight way was not free."""
        at = vehicle.node_layout.pose
        self._own_m = kept_m(vehicle, task)
        ends = spare_m(vehicle, np.stack([task.start.node[at], task.goal.state.node[at]]), task)
        self._least_m = min(0.0, float(ends.min()) - 1e-6)
        """What ends have to spare, at least."""

    def way(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """(n, nq); straight where it is free or nothing else is found."""
        straight = np.stack([start, goal])
        if self._free(start, goal):
            return straight
        self.obstructed = True
        found = self._connected(start, goal)
        return straight if found is None else self._shortened(found)

    def _reached(self, start: np.ndarray, goal: np.ndarray, most: float = np.inf) -> tuple[np.ndarray, bool]:
        """How far one can go straight on, and whether that is all the way or as far as `most`."""
        xi = arcs(self._space, start[None], goal[None])
        length = float(np.linalg.norm(xi))
        share = min(1.0, most / max(length, 1e-12))
        count = max(1, int(np.ceil(share * length / _FINE_RAD)))
        shares = share * np.arange(1, count + 1) / count
        places = points(self._space, np.tile(start, (count, 1)), np.tile(xi, (count, 1)), shares)
        blocked = spare_m(self._vehicle, places, self._task, self._own_m) < self._least_m
        first = int(blocked.argmax()) if blocked.any() else count
        return (start if first == 0 else places[first - 1]), first == count

    def _free(self, start: np.ndarray, goal: np.ndarray) -> bool:
        return self._reached(start, goal)[1]

    def _connected(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray | None:
        """By two trees; None where chance has not found a way."""
        trees = [_Tree(start), _Tree(goal)]
        for turn in range(_MOST):
            own, other = trees[turn % 2], trees[1 - turn % 2]
            wanted = at_random(self._vehicle, self._rng, *self._box)
            new = self._grown(own, wanted)
            if new is None:
                continue
            near = other.nearest(own.places[new])
            while True:
                reached, free = self._reached(other.places[near], own.places[new], _REACH_RAD)
                if np.abs(reached - own.places[new]).max() < 1e-12:
                    there, back = own.to_root(new), other.to_root(near)
                    way = [*there[::-1], *back]
                    return np.array(way if own is trees[0] else way[::-1])
                if not free:
                    break
                near = other.add(reached, near)
        return None

    def _grown(self, tree: "_Tree", wanted: np.ndarray) -> int | None:
        near = tree.nearest(wanted)
        reached, _ = self._reached(tree.places[near], wanted, _REACH_RAD)
        if np.abs(reached - tree.places[near]).max() < 1e-9:
            return None
        return tree.add(reached, near)

    def _shortened(self, way: np.ndarray) -> np.ndarray:
        """Between random places on it, as far as these see each other; corners that nothing needs are left out."""
        for _ in range(_SHORTCUTS):
            xi = arcs(self._space, way[:-1], way[1:])
            lengths = np.linalg.norm(xi, axis=1)
            ends = np.r_[0.0, np.cumsum(lengths)]
            a, b = np.sort(self._rng.uniform(0.0, ends[-1], 2))
            i, j = (int(k) for k in np.clip(np.searchsorted(ends, (a, b), side="right") - 1, 0, len(xi) - 1))
            if i == j:
                continue
            shares = np.array([(a - ends[i]) / lengths[i], (b - ends[j]) / lengths[j]])
            first, last = points(self._space, way[[i, j]], xi[[i, j]], shares)
            if self._free(first, last):
                way = np.concatenate([way[: i + 1], [first, last], way[j + 1 :]])
        return way


class _Tree:
    """Configurations that are connected with its root."""

    def __init__(self, root: np.ndarray) -> None:
        self._all = np.tile(root, (64, 1))
        self._count, self._before = 1, [-1]

    @property
    def places(self) -> np.ndarray:
        """(n, nq)."""
        return self._all[: self._count]

    def nearest(self, q: np.ndarray) -> int:
        """By the numbers of the coordinates: of quaternions that is their chord."""
        return int(np.square(self.places - q).sum(axis=1).argmin())

    def add(self, q: np.ndarray, before: int) -> int:
        """Its number."""
        if self._count == len(self._all):
            self._all = np.concatenate([self._all, self._all])
        self._all[self._count] = q
        self._before.append(before)
        self._count += 1
        return self._count - 1

    def to_root(self, k: int) -> list[np.ndarray]:
        """From one configuration on."""
        way = []
        while k >= 0:
            way.append(self._all[k])
            k = self._before[k]
        return way


def _rounded_off(vehicle: ArticulatedVehicle, task: Task, places: np.ndarray) -> np.ndarray:
    """The same (N+1, nq) with its corners rounded off as far as that stays clear: at corners inputs would leap."""
    space = arc_space(vehicle)
    own_m = kept_m(vehicle, task)
    least_m = min(0.0, float(spare_m(vehicle, places, task, own_m).min()) - 1e-9)
    best, smooth = places, places.copy()
    for _ in range(_ROUNDED):
        for _ in range(_ROUNDS):
            around = arcs(space, smooth[:-2], smooth[2:])
            middle = points(space, smooth[:-2], around, np.full(len(around), 0.5))
            smooth[1:-1] = points(
                space, smooth[1:-1], arcs(space, smooth[1:-1], middle), np.full(len(middle), 0.5)
            )
        if float(spare_m(vehicle, smooth, task, own_m).min()) < least_m:
            break
        best = smooth.copy()
    return best


def _moved(
    vehicle: ArticulatedVehicle, task: Task, way: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Along a way (n, nq), from rest to rest, held up all the time."""
    space, at = arc_space(vehicle), vehicle.node_layout
    segments = arcs(space, way[:-1], way[1:])
    lengths = np.linalg.norm(segments, axis=1)
    ends = np.r_[0.0, np.cumsum(lengths)]
    s = np.linspace(0.0, 1.0, steps + 1)
    done = ends[-1] * s**3 * (10 - 15 * s + 6 * s * s)
    k = np.clip(np.searchsorted(ends, done, side="right") - 1, 0, len(segments) - 1)
    nodes = np.zeros((steps + 1, at.size))
    places = points(space, way[k], segments[k], (done - ends[k]) / np.maximum(lengths[k], 1e-12))
    nodes[:, at.pose] = _rounded_off(vehicle, task, places) if len(way) > 2 else places
    return _paced(vehicle, task, nodes)


def _paced(vehicle: ArticulatedVehicle, task: Task, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) with the velocities at which their coordinates follow each other, held up all the time."""
    at, steps = vehicle.node_layout, len(nodes) - 1
    h = task.duration_s / steps
    xi = increments(vehicle, nodes[:-1, at.pose], nodes[1:, at.pose]) / h
    nodes[1:-1, at.velocity] = 0.5 * (xi[1:] + xi[:-1])
    nodes[0], nodes[-1, at.velocity] = task.start.node, task.goal.state.node[at.velocity]
    return nodes, np.tile(holding(vehicle, task.goal.state.node), (steps + 1, 1))


_STRIDES_M = (0.3, 0.2, 0.4)
"""How far a foot steps at most: of guesses in turn."""
_SHORT_M, _LIFTED_M = 0.05, 0.06
"""Below which nothing steps, and how high feet go."""
_STANDS = 0.1
"""Share of the time in which it stands at either end."""


def stepped(vehicle: ArticulatedVehicle, task: Task, steps: int) -> Iterator[np.ndarray]:
    """Coordinates (N+1, nq), the likeliest first; nothing for what has less than two feet, or no way to go."""
    if len(vehicle.feet) < 2:
        return
    legs = Legs(vehicle)
    at = vehicle.node_layout.pose
    start, goal = task.start.node[at], task.goal.state.node[at]
    here, there = legs.places(start), legs.places(goal)
    far = float(np.linalg.norm((there - here)[:, :2], axis=1).max())
    if far < _SHORT_M:
        return
    for stride in _STRIDES_M:
        turns = 2 * max(1, int(np.ceil(far / stride)))
        q = start + _eased(np.linspace(0.0, 1.0, steps + 1))[:, None] * (goal - start)
        for k, s in enumerate(np.linspace(0.0, 1.0, steps + 1)):
            place = _stepping(here, there, turns, (s - _STANDS) / (1.0 - 2.0 * _STANDS))
            before = q[k - 1] if k else start
            q[k, legs.joints] = before[legs.joints]
            q[k] = legs.brought(q[k], place)
        yield q


def _eased(s: np.ndarray) -> np.ndarray:
    """How much of the way is gone."""
    return np.asarray(s * s * (3.0 - 2.0 * s))


def _stepping(here: np.ndarray, there: np.ndarray, turns: int, s: float) -> np.ndarray:
    """(feet, 3) at the share s of the time in which there are steps: one group after the other, so often."""
    place = here.copy()
    for k in range(len(here)):
        gone = 0.0
        for turn in range(k * 2 // len(here), turns, 2):
            begun = turn / turns
            share = float(np.clip((s - begun) * turns, 0.0, 1.0))
            done = _eased(np.array([(turn + 2) / turns if turn + 2 < turns else 1.0]))[0]
            gone += float(_eased(np.array([share]))[0]) * (done - gone)
            place[k, 2] += _LIFTED_M * np.sin(np.pi * share) ** 2
        place[k] += gone * (there[k] - here[k])
    return place
