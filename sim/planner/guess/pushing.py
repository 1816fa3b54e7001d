"""Guesses for trees that push a box of their own: the ball goes around the box to where a push moves it as it has to
go, pushes, and rests there. When and how hard it touches is left to the solver."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.integrators.multibody import FRICTION, GRAVITY_MPS2
from sim.multibody.arrays import workspace
from sim.multibody.kinematics import momenta, place
from sim.planner.task.bodies import joint_ranges, poses_of
from sim.planner.task.task import Task
from sim.vehicles.forms.articulated import ArticulatedVehicle

_REACHED, _PUSHED = (0.35, 0.25, 0.45), 0.9
"""Shares of the time at which the ball is where it pushes from, and at which the box is there: of guesses in turn."""
_PLACES, _NEAR = 12, 0.35
"""Places a side of the box, and how far apart [rad] around it those are that are tried after each other."""
_CONE = 0.55
"""Friction that a push makes use of."""
_AROUND_M = 0.04
"""By how much the ball keeps clear on its way around."""
_FINE = 1e-6
_ROUNDS = 12


@dataclass
class _Pair:
    """A ball, a box, and the joints that carry either."""

    vehicle: ArticulatedVehicle
    task: Task
    k: int = 0

    def __post_init__(self) -> None:
        tree, pairs = self.vehicle.tree, self.vehicle.pushing
        self.names = self.vehicle.pushes[0]
        one, other = (self._joints(int(b[self.k])) for b in (pairs.balls, pairs.boxes))
        self.arm, self.box = (
            np.array([tree.arrays.q_at[i] for i in way if way is one or i not in one]) for way in (one, other)
        )
        self.moved = np.array([tree.arrays.v_at[i] for i in other])
        offset = np.linalg.inv(tree.offsets[tree.names.index(self.names[0])])
        self.centre = (offset @ np.r_[pairs.spheres[self.k, :3], 1.0])[:3]
        back = np.linalg.inv(tree.offsets[tree.names.index(self.names[1])])
        frame = pairs.frames[self.k]
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = frame[:9].reshape(3, 3), frame[9:12]
        self.T_box, self.half, self.rounded = back @ T, frame[12:15], float(frame[15])
        self.radius = float(pairs.spheres[self.k, 3])

    @property
    def plane(self) -> tuple[int, int]:
        """Axes of the box that lie in the plane of the motion."""
        across = int(np.argmax(np.abs(self.T_box[:3, :3].T @ np.array(self.vehicle.across))))
        one, other = (axis for axis in range(3) if axis != across)
        return one, other

    def _joints(self, i: int) -> list[int]:
        """Of the arrays, from the root on."""
        return [] if i < 0 else [*self._joints(int(self.vehicle.tree.arrays.parent[i])), i]

    def frames(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of coordinates (n, nq): (n, 3) the ball's centre and (n, 4, 4) the box's frame, in the world."""
        T = poses_of(self.vehicle, q, self.names)
        return T[:, 0, :3, :3] @ self.centre + T[:, 0, :3, 3], T[:, 1] @ self.T_box

    def brought(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The coordinates (nq,) with the ball's centre at a place (3,), as near as the arm reaches."""
        low, high = self._limits()
        for _ in range(_ROUNDS):
            tried = np.tile(q, (len(self.arm) + 1, 1))
            tried[np.arange(len(self.arm)) + 1, self.arm] += _FINE
            centres, _ = self.frames(tried)
            slope, miss = (centres[1:] - centres[0]).T / _FINE, wanted - centres[0]
            d = slope.T @ np.linalg.solve(slope @ slope.T + 1e-4 * np.eye(3), miss)
            q = q.copy()
            q[self.arm] = np.clip(q[self.arm] + np.clip(d, -0.4, 0.4), low, high)
        return q

    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        ranges, names = joint_ranges(self.vehicle), self.vehicle.space.columns
        low, high = zip(*(ranges.get(names[i], (-np.inf, np.inf)) for i in self.arm), strict=True)
        return np.array(low), np.array(high)

    def demanded(self, start: np.ndarray, goal: np.ndarray, seconds: float) -> np.ndarray:
        """(box joints,) mean force at them to go from start to goal (nq,), speeding up for half of the time."""
        arrays = self.vehicle.tree.arrays
        v, p, ws = np.zeros(self.vehicle.tree.nv), np.zeros(self.vehicle.tree.nv), workspace(arrays)
        v[self.moved] = (goal - start)[self.box] / seconds
        place(arrays, start.copy(), ws.node)
        momenta(arrays, ws.node, v, ws.arc, ws.wrench, p)
        force = arrays.damping * v + 4.0 * p / seconds
        if self.vehicle.feet:
            weight = float(arrays.mass[self.vehicle.pushing.boxes[self.k]]) * GRAVITY_MPS2
            force += FRICTION * weight * v / max(float(np.linalg.norm(v)), 1e-9)
        return np.asarray(force[self.moved])

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) where in the box's frame the ball's centre is as it touches, all around, and (n, 3) inward normals."""
        a, b = self.plane
        reach, points, inward = self.rounded + self.radius, [], []
        ring = 0.5 * np.pi / 6.0 * np.arange(1, 6)
        for quarter in range(4):
            turned = 0.5 * np.pi * quarter
            n, t = (np.array([np.cos(x), np.sin(x)]) for x in (turned, turned + 0.5 * np.pi))
            half = self.half[[a, b]]
            deep, wide = np.abs(n) @ half, np.abs(t) @ half
            rows = [(n, deep * n + s * wide * t) for s in np.linspace(-1.0, 1.0, _PLACES)]
            rows += [(np.cos(x) * n + np.sin(x) * t, deep * n + wide * t) for x in ring]
            for normal, core in rows:
                point, into = np.zeros(3), np.zeros(3)
                point[[a, b]], into[[a, b]] = core + reach * normal, -normal
                points.append(point)
                inward.append(into)
        return np.array(points), np.array(inward)

    def best_places(self, q: np.ndarray, demanded: np.ndarray, most: int) -> Iterator[np.ndarray]:
        """(3,) in the box's frame, the likeliest first: from where a push within friction's cone does what is asked."""
        from scipy.optimize import nnls  # a second, when such a guess is wanted

        points, inward = self.places()
        tried = np.tile(q, (len(self.box) + 1, 1))
        tried[np.arange(len(self.box)) + 1, self.box] += _FINE
        _, T = self.frames(tried)
        touched = points + self.radius * inward
        at = np.einsum("nij,kj->nki", T[:, :3, :3], touched) + T[:, None, :3, 3]
        slopes = (at[1:] - at[0]) / _FINE  # (joints, places, 3)
        across = np.array(self.vehicle.across)
        size = np.array([max(float(np.abs(s).max()), 1e-9) for s in slopes])
        found = []
        for k in range(len(points)):
            n = T[0, :3, :3] @ inward[k]
            t = np.cross(across, n)
            cone = np.stack([n + _CONE * t, n - _CONE * t], axis=1)
            found.append(nnls(slopes[:, k] @ cone / size[:, None], demanded / size)[1])
        a, b = self.plane
        angles, kept = np.arctan2(points[:, b], points[:, a]), list[int]()
        for k in np.argsort(found, kind="stable"):
            away = [abs(np.angle(np.exp(1j * (angles[k] - angles[j])))) for j in kept]
            if all(x > _NEAR for x in away):
                kept.append(int(k))
                yield points[k]
            if len(kept) == most:
                return


def pushed(vehicle: ArticulatedVehicle, task: Task, steps: int, most: int) -> Iterator[np.ndarray]:
    """Coordinates (N+1, nq), the likeliest first."""
    at, pair = vehicle.node_layout.pose, _Pair(vehicle, task)
    start, goal = task.start.node[at], task.goal.state.node[at]
    if len(np.r_[pair.arm, pair.box]) != vehicle.tree.nq:
        return
    middle = start.copy()
    middle[pair.box] = 0.5 * (start + goal)[pair.box]
    demanded = pair.demanded(start, goal, 0.55 * task.duration_s)
    for seed, c in enumerate(pair.best_places(middle, demanded, most)):
        reached = _REACHED[seed % len(_REACHED)]
        yield _way(pair, start, goal, c, steps, reached)


def _way(
    pair: _Pair, start: np.ndarray, goal: np.ndarray, c: np.ndarray, steps: int, reached: float
) -> np.ndarray:
    """(N+1, nq) around the box to the place c of its frame, then along with it."""
    s = np.linspace(0.0, 1.0, steps + 1)
    share = np.clip((s - reached) / (_PUSHED - reached), 0.0, 1.0)
    q = np.tile(start, (steps + 1, 1))
    smooth = share**3 * (10.0 - 15.0 * share + 6.0 * share * share)
    q[:, pair.box] += smooth[:, None] * (goal - start)[pair.box]
    centre, T = (x[0] for x in pair.frames(start[None]))
    first = T[:3, :3].T @ (centre - T[:3, 3])
    for k in range(1, steps + 1):
        where = _around(pair, first, c, min(s[k] / reached, 1.0))
        _, T = pair.frames(q[k][None])
        q[k, pair.arm] = q[k - 1, pair.arm]
        q[k] = pair.brought(q[k], T[0, :3, :3] @ where + T[0, :3, 3])
    return q


def _around(pair: _Pair, first: np.ndarray, last: np.ndarray, share: float) -> np.ndarray:
    """(3,) on the way around the box's middle from one place of its frame to another, clear of its corners and, where
    it stands on the ground, of that."""
    a, b = pair.plane
    share = share**2 * (3.0 - 2.0 * share)
    begin, end = (np.arctan2(x[b], x[a]) for x in (first, last))
    turn = float(np.angle(np.exp(1j * (end - begin))))
    if pair.vehicle.feet and np.sin(begin + 0.5 * turn) < 0.0 and abs(turn) > 1.0:
        turn -= np.sign(turn) * 2.0 * np.pi
    angle = begin + share * turn
    near = (1.0 - share) * np.hypot(first[a], first[b]) + share * np.hypot(last[a], last[b])
    corner = float(np.hypot(pair.half[a], pair.half[b])) + pair.rounded + pair.radius + _AROUND_M
    bulge = min(1.0, abs(turn) / 0.5) * np.sin(np.pi * share) ** 0.5
    far = max(near, corner) * bulge + near * (1.0 - bulge)
    place = (1.0 - share) * first + share * last
    place[a], place[b] = far * np.cos(angle), far * np.sin(angle)
    return place
