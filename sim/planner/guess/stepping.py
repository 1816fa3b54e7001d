"""Guesses for trees that walk: feet step to where they are to be by turns, in two groups, while the rest goes on
evenly. When and how hard they touch is left to the solver."""

from collections.abc import Iterator

import numpy as np

from sim.multibody.shapes import touching_points
from sim.planner.task.bodies import joint_ranges, poses_of
from sim.planner.task.task import Task
from sim.vehicles.forms.articulated import ArticulatedVehicle

_STRIDES_M = (0.3, 0.2, 0.4)
"""How far a foot steps at most: of guesses in turn."""
_SHORT_M, _LIFTED_M = 0.05, 0.06
"""Below which nothing steps, and how high feet go."""
_FINE, _ROUNDS = 1e-6, 8
_STANDS = 0.1
"""Share of the time in which it stands at either end."""


def stepped(vehicle: ArticulatedVehicle, task: Task, steps: int) -> Iterator[np.ndarray]:
    """Coordinates (N+1, nq), the likeliest first; nothing for what has less than two feet, or no way to go."""
    if len(vehicle.feet) < 2:
        return
    legs = _Legs(vehicle)
    at = vehicle.node_layout.pose
    start, goal = task.start.node[at], task.goal.state.node[at]
    here, there = legs.places(start), legs.places(goal)
    far = float(np.linalg.norm((there - here)[:, :2], axis=1).max())
    if far < _SHORT_M:
        return
    for stride in _STRIDES_M:
        turns = 2 * max(1, int(np.ceil(far / stride)))
        q = start + legs.eased(np.linspace(0.0, 1.0, steps + 1))[:, None] * (goal - start)
        for k, s in enumerate(np.linspace(0.0, 1.0, steps + 1)):
            place = legs.stepping(here, there, turns, (s - _STANDS) / (1.0 - 2.0 * _STANDS))
            before = q[k - 1] if k else start
            q[k, legs.joints] = before[legs.joints]
            q[k] = legs.brought(q[k], place)
        yield q


class _Legs:
    """Feet, in the order in which the vehicle names them, and the joints that move them beside each other."""

    def __init__(self, vehicle: ArticulatedVehicle) -> None:
        self._vehicle, tree = vehicle, vehicle.tree
        feet = [link for link in vehicle.shapes() if link.body in vehicle.feet]
        carriers, spheres = touching_points(tree, feet)
        self._centres = []
        for name in vehicle.feet:
            carrier = int(tree.carriers[tree.names.index(name)])
            k = carriers.tolist().index(carrier)
            back = np.linalg.inv(tree.offsets[tree.names.index(name)])
            self._centres.append((back @ np.r_[spheres[k, :3], 1.0])[:3])
        ways = [self._way(int(tree.carriers[tree.names.index(name)])) for name in vehicle.feet]
        common = set(ways[0]).intersection(*ways[1:])
        self.joints = np.array([int(tree.arrays.q_at[i]) for way in ways for i in way if i not in common])
        ranges, names = joint_ranges(vehicle), vehicle.space.columns
        limits = [ranges.get(names[i], (-np.inf, np.inf)) for i in self.joints]
        self._low, self._high = np.array(limits).T

    def _way(self, i: int) -> list[int]:
        """Of the arrays, from the root on."""
        return [] if i < 0 else [*self._way(int(self._vehicle.tree.arrays.parent[i])), i]

    def places(self, q: np.ndarray) -> np.ndarray:
        """(feet, 3) in the world, of coordinates (nq,), or (n, feet, 3) of several."""
        T = poses_of(self._vehicle, np.atleast_2d(q), self._vehicle.feet)
        found = np.einsum("nfij,fj->nfi", T[:, :, :3, :3], np.array(self._centres)) + T[:, :, :3, 3]
        return found[0] if q.ndim == 1 else found

    def eased(self, s: np.ndarray) -> np.ndarray:
        """How much of the way the rest has gone."""
        return np.asarray(s * s * (3.0 - 2.0 * s))

    def stepping(self, here: np.ndarray, there: np.ndarray, turns: int, s: float) -> np.ndarray:
        """(feet, 3) at the share s of the time in which there are steps: one group after the other, so often."""
        place = here.copy()
        for k in range(len(here)):
            gone = 0.0
            for turn in range(k * 2 // len(here), turns, 2):
                begun = turn / turns
                share = float(np.clip((s - begun) * turns, 0.0, 1.0))
                done = self.eased(np.array([(turn + 2) / turns if turn + 2 < turns else 1.0]))[0]
                gone += float(self.eased(np.array([share]))[0]) * (done - gone)
                place[k, 2] += _LIFTED_M * np.sin(np.pi * share) ** 2
            place[k] += gone * (there[k] - here[k])
        return place

    def brought(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The coordinates (nq,) with the feet at places (feet, 3), as near as legs reach."""
        q = q.copy()
        for _ in range(_ROUNDS):
            tried = np.tile(q, (len(self.joints) + 1, 1))
            tried[np.arange(len(self.joints)) + 1, self.joints] += _FINE
            places = self.places(tried).reshape(len(tried), -1)
            slope, miss = (places[1:] - places[0]).T / _FINE, wanted.ravel() - places[0]
            d = slope.T @ np.linalg.solve(slope @ slope.T + 1e-4 * np.eye(len(miss)), miss)
            q[self.joints] = np.clip(q[self.joints] + np.clip(d, -0.4, 0.4), self._low, self._high)
        return q
