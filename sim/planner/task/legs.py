"""Feet of what walks, the joints that move them, and how it stands on them."""

from dataclasses import replace

import numpy as np

from sim.multibody.observing import frames
from sim.multibody.shapes import touching_points
from sim.planner.task.bodies import joint_ranges, poses_of
from sim.planner.task.task import Goal, Limits, Task
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State

_NUDGE, _NEARER, _ROUNDS = 1e-6, 8, 6
_MISSED_M = 1e-3
_LOW, _HIGH, _AHEAD_M = 0.6, 0.75, 0.5
"""Shares of their reach that legs stand on before and after what is asked for at first, and how far on that is."""
_FAST = Limits(turn_radps=20.0, speed_mps=10.0)
_BENT_RAD = 1.0
"""Of knees where legs are brought from, either way: straight ones do not know where to bend."""


class Legs:
    """Feet, in the order in which the vehicle names them, and the joints that move them beside each other."""

    def __init__(self, vehicle: ArticulatedVehicle) -> None:
        self._vehicle, tree = vehicle, vehicle.tree
        carriers, spheres = touching_points(tree, vehicle.bearing)
        self._centres, radii = [], []
        for name in vehicle.feet:
            carrier = int(tree.carriers[tree.names.index(name)])
            k = carriers.tolist().index(carrier)
            back = np.linalg.inv(tree.offsets[tree.names.index(name)])
            self._centres.append((back @ np.r_[spheres[k, :3], 1.0])[:3])
            radii.append(float(spheres[k, 3]))
        self.radii_m = np.array(radii)
        """(feet,) of the balls that touch."""
        ways = [self._way(int(tree.carriers[tree.names.index(name)])) for name in vehicle.feet]
        common = set(ways[0]).intersection(*ways[1:])
        self.ways = [[i for i in way if i not in common] for way in ways]
        """Of each foot the bodies, in the arrays, whose joints move it alone, the nearest to the trunk first."""
        self.joints = np.array([int(tree.arrays.q_at[i]) for way in self.ways for i in way])
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

    def brought(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The coordinates (nq,) with the feet at places (feet, 3), as near as legs reach."""
        q = q.copy()
        for _ in range(_NEARER):
            tried = np.tile(q, (len(self.joints) + 1, 1))
            tried[np.arange(len(self.joints)) + 1, self.joints] += _NUDGE
            places = self.places(tried).reshape(len(tried), -1)
            slope, miss = (places[1:] - places[0]).T / _NUDGE, wanted.ravel() - places[0]
            d = slope.T @ np.linalg.solve(slope @ slope.T + 1e-4 * np.eye(len(miss)), miss)
            q[self.joints] = np.clip(q[self.joints] + np.clip(d, -0.4, 0.4), self._low, self._high)
        return q

    def bent(self, q: np.ndarray, knee_rad: float) -> np.ndarray:
        """The coordinates (nq,) with the last joint of each leg so, and the one before half of it back, within their
        limits."""
        q, a = q.copy(), self._vehicle.tree.arrays
        for way in self.ways:
            for i, turn in zip(way[:-3:-1], (knee_rad, -0.5 * knee_rad), strict=False):
                q[a.q_at[i]] = turn
        q[self.joints] = np.clip(q[self.joints], self._low, self._high)
        return q


def standing(vehicle: ArticulatedVehicle, share: float, ahead_m: float = 0.0) -> State:
    """At rest and upright, the ball of each foot on the ground below the joint before the last of its leg, as far below
    as a share of what its two last parts reach; as near to that as joints within their limits come.

    ahead_m: so much further along x.
    """
    legs, tree, at = Legs(vehicle), vehicle.tree, vehicle.node_layout
    q = vehicle.default_state().node[at.pose].copy()
    place = slice(int(tree.arrays.q_at[0]) + 4, int(tree.arrays.q_at[0]) + 7)
    q[place] = 0.0
    tries = list[tuple[bool, int, np.ndarray]]()
    for knee_rad in (-_BENT_RAD, _BENT_RAD):
        bent = legs.bent(q, knee_rad)
        at_joints, feet = frames(tree, bent)[:, :3, 3], legs.places(bent)
        upper, lower = (at_joints[[way[k] for way in legs.ways]] for k in (-2, -1))
        reach = np.linalg.norm(lower - upper, axis=1) + np.linalg.norm(feet - lower, axis=1)
        wanted = np.column_stack([upper[:, 0], feet[:, 1], upper[:, 2] - share * reach])
        for _ in range(_ROUNDS):
            bent = legs.brought(bent, wanted)
        missed = float(np.abs(legs.places(bent) - wanted).max()) > _MISSED_M
        tries.append((missed, len(tries), bent))
    q = min(tries, key=lambda each: each[:2])[2]
    q[place] = ahead_m, 0.0, float((legs.radii_m - legs.places(q)[:, 2]).max())
    return vehicle.state_at_node(np.concatenate([q, np.zeros(tree.nv)]))


def on_foot(task: Task, vehicle: ArticulatedVehicle) -> Task:
    """A task of what walks, to be done on its feet: to get up from low and go ahead. Its trunk alone keeps clear of
    things, since feet are to touch the ground."""
    of = dict(zip(vehicle.tree.names, vehicle.tree.carriers.tolist(), strict=True))
    of_trunk = [k for k, body in enumerate(task.bodies) if of[body] == of[vehicle.tool]]
    return replace(
        task,
        start=standing(vehicle, _LOW),
        goal=Goal(standing(vehicle, _HIGH, _AHEAD_M)),
        limits=_FAST,
        body=tuple(task.body[k] for k in of_trunk),
        bodies=tuple(task.bodies[k] for k in of_trunk),
        ground=None,
    )
