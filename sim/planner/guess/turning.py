"""Ways with changes of gear for what rolls along its heading: a search over places and headings.

Cells hold the pose by which they are reached along arcs and straight lines (hybrid A*: Dolgov, Thrun, Montemerlo and
Diebel, "Path planning for autonomous vehicles in unknown semi-structured environments", International Journal of
Robotics Research 29, 2010). Two trees of cheapest ways, from the start and from the goal, meet in every cell; what is
told apart is the first gear, how often it changes, how often the heading turns around, and the side of every obstacle.
"""

import casadi as ca
import numpy as np

from sim.native.function import native
from sim.planner.guess.grid import rise, sink, traced
from sim.planner.guess.route import Sheets
from sim.planner.task.bodies import body_names, planar_pose, wrapped
from sim.planner.task.clearance import on_plane
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

_HEADINGS = 40
"""Cells of a whole turn."""
_FINEST_M, _CELLS = 0.3, 1600
"""Least spacing of places, and how many of them there are at most."""
_ROOM_M = 2.5
"""Around start and goal, in least radii."""
_REACH = 1.6
"""Length of an arc, in spacings: it has to leave its cell."""
_SHARPEST_RAD = 0.9
"""An arc that turns by more is too coarse a picture of the way."""
_GEAR = 0.4
"""What a change of gear costs, in least radii."""
_BENDS = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Curvatures of arcs, of the greatest."""
_WORTH = 2.0
"""Times the least of the sums of the segments' roots: more is not worth an attempt."""
_LONGER = 3.0
"""Times the cheapest of all."""
_SLIM_M = 0.05
"""By as much less than asked for ways may keep from obstacles: cells are coarse."""


@dataclass(frozen=True)
class GearSegment:
    """Poses (n, 3) heading, x, y in one gear."""

    poses: np.ndarray
    gear: float


def ways_in_gears(vehicle: NonholonomicVehicle, task: Task, most: int) -> list[list[GearSegment]]:
    """As many ways, the likeliest to cost least first; none where the vehicle has no least radius or all is too far."""
    bend = _greatest_bend(vehicle, task)
    start, goal = planar_pose(task.start), planar_pose(task.goal.state)
    if bend <= 0.0 or task.goal.rotation == "free" or task.goal.position == "free" or task.waypoints:
        return []
    field = _field(vehicle, task, np.stack([start, goal]), bend)
    if field is None:
        return []
    trees = [field.tree(pose, sign) for pose, sign in ((start, 1.0), (goal, -1.0))]
    return field.ways(trees, start, goal, task, most)


def _greatest_bend(vehicle: NonholonomicVehicle, task: Task) -> float:
    """[1/m] that its shape allows; 0 where nothing is steered."""
    free = [i for i in range(len(vehicle.shape_coordinates)) if i not in vehicle.dynamic]
    if not free or not vehicle.dynamic:
        return 0.0
    r, q = ca.SX.sym("r", len(vehicle.shape_coordinates)), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    column = -vehicle.connection(r, q)[:, vehicle.dynamic[0]]
    moves = ca.Function("moves", [r], [ca.densify(column)])
    found = 0.0
    for i in free:
        stops = vehicle.shape_coordinates[i]
        low, high = task.limits.shape.get(stops.name, (stops.low, stops.high))
        for end in (max(low, stops.low), min(high, stops.high)):
            shape = np.array(task.start.shape)
            if not np.isfinite(end):
                continue
            shape[i] = end
            xi = np.array(moves(shape)).ravel()
            if abs(xi[1]) > 1e-9:
                found = max(found, abs(float(xi[0] / xi[1])))
    return 0.95 * found


@dataclass(frozen=True)
class _Tree:
    """Of cheapest ways from a pose to all cells."""

    cost: np.ndarray
    """(cells,) m; inf where there is no way."""
    before: np.ndarray
    """(cells,) the cell before; -1 at the root."""
    order: np.ndarray
    poses: np.ndarray
    """(cells, 3), turns counted."""
    first: np.ndarray
    """(cells,) the gear, 0 or 1, of the arc at the root."""
    changes: np.ndarray
    """(cells,) of gear."""


@dataclass(frozen=True)
class _Field:
    """Where the vehicle may be."""

    low: np.ndarray
    spacing_m: float
    counts: tuple[int, int]
    clear_m: np.ndarray
    """Distance to obstacles on a finer grid."""
    fine_low: np.ndarray
    fine_m: float
    balls: np.ndarray
    """(n, 2) ahead of the origin, and how far its middle has to be from obstacles [m]."""
    bend: float

    def tree(self, root: np.ndarray, sign: float) -> _Tree:
        """sign: -1 of ways that end in the root."""
        arcs = self.bend * np.array(_BENDS)
        found = _searched(
            root,
            sign,
            self.low,
            self.spacing_m,
            np.array(self.counts),
            self.clear_m,
            self.fine_low,
            self.fine_m,
            self.balls,
            arcs,
            _REACH * self.spacing_m,
            _GEAR / self.bend,
        )
        return _Tree(*found)

    def ways(
        self, trees: list[_Tree], start: np.ndarray, goal: np.ndarray, task: Task, most: int
    ) -> list[list[GearSegment]]:
        there, back = trees
        total = there.cost + back.cost
        met = np.flatnonzero(np.isfinite(total) & (there.before >= 0) & (back.before >= 0))
        if not met.size:
            return []
        met = met[total[met] < _LONGER * total[met].min()]
        met = met[np.argsort(total[met], kind="stable")]
        turned = there.poses[met, 0] - start[0] + goal[0] - back.poses[met, 0]
        around = np.round((turned - wrapped(goal[0] - start[0])) / (2 * np.pi)).astype(int)
        changes = there.changes[met] + back.changes[met]
        sides = self._sides(task, start, goal, trees)[met]
        kinds = np.stack([there.first[met], changes, around, sides], axis=1)
        _, where = np.unique(kinds, axis=0, return_index=True)
        found = [self._segments(trees, int(cell), start, goal) for cell in met[np.sort(where)]]
        found.sort(key=_price)
        return [way for way in found if _price(way) < _WORTH * _price(found[0])][:most]

    def _sides(self, task: Task, start: np.ndarray, goal: np.ndarray, trees: list[_Tree]) -> np.ndarray:
        """(cells,) which tell apart how obstacles are passed by ways over each cell."""
        middles = [o.middle_w for o in task.obstacles if not o.is_wall]
        cores = np.repeat(np.array(middles, float).reshape(-1, 1, 3), 2, axis=1)
        if not len(cores):
            return np.zeros(len(trees[0].cost), int)
        sheets = Sheets.between(np.r_[start[1:], 0.0], np.r_[goal[1:], 0.0], cores)
        told = []
        for tree in trees:
            x = np.c_[tree.poses[:, 1:], np.zeros(len(tree.poses))]
            passed = np.zeros(len(x), np.int64)
            order = tree.order[tree.before[tree.order] >= 0]
            stepped = sheets.passed(x[tree.before[order]], x[order])
            for cell, by in zip(order[stepped != 0], stepped[stepped != 0], strict=True):
                passed[cell] = by
            told.append(_summed(passed, tree.before, tree.order))
        return np.asarray(told[0] - told[1])

    def _segments(
        self, trees: list[_Tree], cell: int, start: np.ndarray, goal: np.ndarray
    ) -> list[GearSegment]:
        """The way over a cell; where its halves meet, both give way a little."""
        there, back = (traced(tree.before, cell) for tree in trees)
        poses = [trees[0].poses[there[::-1]], trees[1].poses[back].copy()]
        gears = [there[::-1][1:] % 2, back[:-1] % 2]
        poses[1][:, 0] += 2 * np.pi * np.round((poses[0][-1, 0] - poses[1][0, 0]) / (2 * np.pi))
        gap = poses[1][0] - poses[0][-1]
        share = np.linspace(0.0, 1.0, len(poses[0]) + len(poses[1]) - 1)[:, None]
        count = len(poses[0])
        poses[0] += share[:count] * gap
        poses[1] -= (1.0 - share[count - 1 :]) * gap
        way, gear = np.concatenate([poses[0], poses[1][1:]]), np.concatenate(gears)
        ends = [*np.flatnonzero(np.diff(gear)) + 1, len(gear)]
        segments, begun = [], 0
        for end in ends:
            segments.append(GearSegment(way[begun : end + 1], 1.0 if gear[begun] else -1.0))
            begun = int(end)
        return segments


def _price(way: list[GearSegment]) -> float:
    """Fourth root of what it takes from rest to rest along the segments in the best shares of a given time."""
    return sum(float(np.sqrt(length_m(segment))) for segment in way)


def length_m(segment: GearSegment) -> float:
    """Of a segment."""
    return float(np.linalg.norm(np.diff(segment.poses[:, 1:], axis=0), axis=1).sum())


def _field(vehicle: NonholonomicVehicle, task: Task, ends: np.ndarray, bend: float) -> _Field | None:
    """Around the ends (2, 3); None where cells fine enough were too many."""
    main = ("", body_names(vehicle)[0])
    body = [ball for ball, of in zip(task.body, task.ball_bodies, strict=True) if of in main] or task.body
    room = _ROOM_M / bend + max(abs(ball[0]) for ball in body)
    low, high = ends[:, 1:].min(axis=0) - room, ends[:, 1:].max(axis=0) + room
    if task.limits.low_w:
        low = np.maximum(low, np.array(task.limits.low_w[:2]))
    if task.limits.high_w:
        high = np.minimum(high, np.array(task.limits.high_w[:2]))
    spacing = max(_FINEST_M, float(np.sqrt(np.prod(high - low) / _CELLS)))
    if _REACH * spacing * bend > _SHARPEST_RAD:
        return None
    x, y = (int(n) for n in (high - low) / spacing + 1)
    reach = max(abs(ball[0]) + ball[3] for ball in body)
    fine = 0.5 * _FINEST_M
    axes = [np.arange(low[i] - reach, high[i] + reach + fine, fine) for i in range(2)]
    places = np.stack([*np.meshgrid(*axes, indexing="ij"), np.zeros((len(axes[0]), len(axes[1])))], axis=-1)
    flat = places.reshape(-1, 3)
    clear = np.full(len(flat), np.inf)
    for obstacle in task.obstacles:
        clear = np.minimum(clear, on_plane(vehicle, obstacle).distance(flat))
    balls = np.array([[ball[0], ball[3] + task.clearance_m - _SLIM_M] for ball in body])
    return _Field(low, spacing, (x, y), clear.reshape(places.shape[:2]), low - reach, fine, balls, bend)


@native
def _summed(passed: np.ndarray, before: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(cells,) sums of what is passed from the root to each cell."""
    out = np.zeros(len(passed), np.int64)
    for cell in order:
        if before[cell] >= 0:
            out[cell] = out[before[cell]] + passed[cell]
    return out


@native
def _free(pose: np.ndarray, clear: np.ndarray, low: np.ndarray, fine: float, balls: np.ndarray) -> bool:
    """Whether a pose keeps from everything."""
    c, s = np.cos(pose[0]), np.sin(pose[0])
    for b in range(balls.shape[0]):
        i = int(np.round((pose[1] + balls[b, 0] * c - low[0]) / fine))
        j = int(np.round((pose[2] + balls[b, 0] * s - low[1]) / fine))
        if i < 0 or j < 0 or i >= clear.shape[0] or j >= clear.shape[1] or clear[i, j] < balls[b, 1]:
            return False
    return True


@native
def _cell(pose: np.ndarray, gear: int, low: np.ndarray, spacing: float, counts: np.ndarray) -> int:
    """The number of the cell of a pose in a gear; -1 outside."""
    i, j = int(np.round((pose[1] - low[0]) / spacing)), int(np.round((pose[2] - low[1]) / spacing))
    if i < 0 or j < 0 or i >= counts[0] or j >= counts[1]:
        return -1
    k = int(np.round(pose[0] * (_HEADINGS / (2 * np.pi)))) % _HEADINGS
    return int((((i * counts[1]) + j) * _HEADINGS + k) * 2 + gear)


@native
def _searched(
    root: np.ndarray,
    sign: float,
    low: np.ndarray,
    spacing: float,
    counts: np.ndarray,
    clear: np.ndarray,
    fine_low: np.ndarray,
    fine: float,
    balls: np.ndarray,
    arcs: np.ndarray,
    length: float,
    gear_cost: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What `_Tree` holds; sign: -1 of ways that end in the root."""
    size = counts[0] * counts[1] * _HEADINGS * 2
    cost, before = np.full(size, np.inf), np.full(size, -1)
    poses, first, changes = np.zeros((size, 3)), np.zeros(size, np.int64), np.zeros(size, np.int64)
    heap, keys, place = np.empty(size, np.int64), np.empty(size), np.full(size, -1)
    order, settled, count = np.empty(size, np.int64), 0, 0
    for gear in range(2):
        cell = _cell(root, gear, low, spacing, counts)
        if cell < 0:
            return cost, before, order[:0], poses, first, changes
        cost[cell], poses[cell], first[cell], place[cell] = 0.0, root, gear, count
        rise(heap, keys, place, count, cell, 0.0)
        count += 1
    pose, half = np.empty(3), np.empty(3)
    while count:
        here = heap[0]
        order[settled] = here
        settled += 1
        count -= 1
        place[here] = -1
        if count:
            sink(heap, keys, place, count, heap[count], keys[count])
        for gear in range(2):
            if before[here] < 0 and gear != here % 2:
                continue
            way = sign * length * (1.0 if gear else -1.0)
            for bend in arcs:
                turn = bend * way
                for part in range(2):
                    to = half if part == 0 else pose
                    by = 0.5 * way if part == 0 else way
                    middle = poses[here, 0] + 0.25 * turn * (part + 1)
                    chord = by if abs(bend) < 1e-9 else 2.0 / bend * np.sin(0.5 * bend * by)
                    to[0] = poses[here, 0] + bend * by
                    to[1] = poses[here, 1] + chord * np.cos(middle)
                    to[2] = poses[here, 2] + chord * np.sin(middle)
                there = _cell(pose, gear, low, spacing, counts)
                if there < 0 or (before[there] < 0 and cost[there] == 0.0):
                    continue
                changed = 1 if gear != here % 2 else 0
                price = cost[here] + length * (1.0 + 0.02 * abs(bend) / arcs[-1]) + changed * gear_cost
                if price >= cost[there] - 1e-12:
                    continue
                if not _free(pose, clear, fine_low, fine, balls) or not _free(
                    half, clear, fine_low, fine, balls
                ):
                    continue
                cost[there], before[there], poses[there] = price, here, pose
                first[there], changes[there] = first[here], changes[here] + changed
                if place[there] < 0:
                    place[there] = count
                    count += 1
                rise(heap, keys, place, place[there], there, price)
    return cost, before, order[:settled], poses, first, changes
