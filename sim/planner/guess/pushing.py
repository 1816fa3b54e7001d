"""Guesses for trees that push a box of their own: the ball goes around the box to where a push moves it as it has to
go, pushes, and rests there. Where walls stand in between the box goes round their corners, in a push for each straight
piece of its way. When and how hard it touches is left to the solver."""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from sim.integrators.multibody import FRICTION, GRAVITY_MPS2
from sim.multibody.arrays import workspace
from sim.multibody.kinematics import momenta, place
from sim.planner.task.bodies import joint_ranges, poses_of
from sim.planner.task.task import Task
from sim.platform.values import dataclass
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
_GRAZES, _LOOKED_M = 0.9, 0.02
"""Share of a box's least half that its middle keeps from walls on a straight piece of its way, and how finely it is
looked."""
_TURNING = 0.5
"""Share of the time that pieces of a way have alike, the rest being by their lengths."""


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
        return self._brought(q, wanted, self.arm)

    def boxed(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """As `brought`, with the box's middle there."""
        return self._brought(q, wanted, self.box)

    def _brought(self, q: np.ndarray, wanted: np.ndarray, joints: np.ndarray) -> np.ndarray:
        low, high = self._limits(joints)
        for _ in range(_ROUNDS):
            tried = np.tile(q, (len(joints) + 1, 1))
            tried[np.arange(len(joints)) + 1, joints] += _FINE
            centres, T = self.frames(tried)
            centres = centres if joints is self.arm else T[:, :3, 3]
            slope, miss = (centres[1:] - centres[0]).T / _FINE, wanted - centres[0]
            d = slope.T @ np.linalg.solve(slope @ slope.T + 1e-4 * np.eye(3), miss)
            q = q.copy()
            q[joints] = np.clip(q[joints] + np.clip(d, -0.4, 0.4), low, high)
        return q

    def _limits(self, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ranges, names = joint_ranges(self.vehicle), self.vehicle.space.columns
        low, high = zip(*(ranges.get(names[i], (-np.inf, np.inf)) for i in joints), strict=True)
        return np.array(low), np.array(high)

    @cached_property
    def walls(self) -> np.ndarray:
        """(walls, 16) as `Pushing.frames`: boxes of the world that the pushed one may meet."""
        pairs = self.vehicle.pushing
        met = (pairs.balls == pairs.boxes[self.k]) & (pairs.boxes == self.vehicle.tree.n)
        return np.unique(pairs.frames[met], axis=0)

    def off_walls(self, places: np.ndarray) -> np.ndarray:
        """(n,) of places (n, 3) in the world: how far from the walls."""
        least = np.full(len(places), np.inf)
        for wall in self.walls:
            over = np.abs((places - wall[9:12]) @ wall[:9].reshape(3, 3)) - wall[12:15]
            out = np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
            least = np.minimum(least, out - wall[15])
        return least

    def corners(self) -> np.ndarray:
        """(n, 3) off the walls' corners, by as much as the box needs to turn there, and to go on along either side."""
        a, b = self.plane
        turning = (float(np.hypot(self.half[a], self.half[b])) + self.rounded) / np.sqrt(2.0)
        aside = max(turning, min(self.half[a], self.half[b]) + self.rounded)
        found = []
        for wall in self.walls:
            R = wall[:9].reshape(3, 3)
            across = int(np.argmax(np.abs(R.T @ np.array(self.vehicle.across))))
            for signs in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)):
                way = np.insert(signs, across, 0.0)
                found.append(wall[9:12] + R @ (way * (wall[12:15] + wall[15] + aside)))
        return np.array(found)

    def stations(self, start: np.ndarray, goal: np.ndarray) -> list[np.ndarray]:
        """Coordinates (nq,) from start to goal, between which the box goes straight and clear of walls: the shortest
        way past corners."""
        ends = self.frames(np.array([start, goal]))[1][:, :3, 3]
        if not len(self.walls) or self._free(*ends):
            return [start, goal]
        from scipy.sparse.csgraph import dijkstra  # a second, when such a guess is wanted

        corners = self.corners()
        places = np.concatenate([ends[:1], corners[self.off_walls(corners) >= self._clear_m], ends[1:]])
        lengths = np.zeros((len(places), len(places)))
        for i, j in zip(*np.triu_indices(len(places), 1), strict=True):
            if self._free(places[i], places[j]):
                lengths[i, j] = np.linalg.norm(places[j] - places[i])
        _, before = dijkstra(lengths, directed=False, indices=[0], return_predecessors=True)
        way = [len(places) - 1]
        while before[0, way[0]] >= 0:
            way.insert(0, int(before[0, way[0]]))
        found, q = [start], start
        for k, corner in enumerate(places[way[1:-1]], 1):
            q = q.copy()
            q[self.box] = start[self.box] + k / (len(way) - 1) * (goal - start)[self.box]
            q = self.boxed(q, corner)
            found.append(q)
        return [*found, goal]

    @property
    def _clear_m(self) -> float:
        a, b = self.plane
        return _GRAZES * (min(self.half[a], self.half[b]) + self.rounded)

    def _free(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the box's middle may go straight from one place to the other."""
        count = 2 + int(np.linalg.norm(other - one) / _LOOKED_M)
        between = one + np.linspace(0.0, 1.0, count)[:, None] * (other - one)
        return bool((self.off_walls(between) >= self._clear_m).all())

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
    """Coordinates (N+1, nq), the likeliest first; none where the box is to be where it is."""
    at, pair = vehicle.node_layout.pose, _Pair(vehicle, task)
    start, goal = task.start.node[at], task.goal.state.node[at]
    stays = np.array_equal(start[pair.box], goal[pair.box])
    if stays or len(np.r_[pair.arm, pair.box]) != vehicle.tree.nq:
        return
    pieces = list(pairwise(pair.stations(start, goal)))
    shares, places = _shares(pair, pieces), []
    for (begin, end), share in zip(pieces, shares, strict=True):
        middle = begin.copy()
        middle[pair.box] = 0.5 * (begin + end)[pair.box]
        demanded = pair.demanded(begin, end, 0.55 * share * task.duration_s)
        places.append(list(pair.best_places(middle, demanded, most)))
    ends = np.round(steps * np.cumsum([0.0, *shares])).astype(int)
    for seed in range(min(map(len, places))):
        reached, q = _REACHED[seed % len(_REACHED)], np.tile(start, (steps + 1, 1))
        for (_, end), tried, (i, j) in zip(pieces, places, pairwise(ends), strict=True):
            q[i : j + 1] = _way(pair, q[i], end, tried[seed], j - i, reached)
        yield q


def _shares(pair: _Pair, pieces: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Of the time, for each piece of a box's way."""
    lengths = np.array([np.linalg.norm((end - begin)[pair.box]) for begin, end in pieces])
    alike = np.full(len(pieces), 1.0 / len(pieces))
    return alike if not lengths.sum() > 0.0 else _TURNING * alike + (1.0 - _TURNING) * lengths / lengths.sum()


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
