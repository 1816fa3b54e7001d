"""What plans are drawn with: balls, rings, and the way as a ribbon that banks with the vehicle. Numpy only."""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from render.frame import Polyline, Surface
from sim.planner.result.record import PlanRecord
from sim.platform.values import dataclass
from sim.shapes import Sphere
from sim.shapes.surface import Surface as Shell
from sim.world.path import arc_length

Colour = tuple[float, float, float]
Corners = tuple[np.ndarray, np.ndarray]
"""(3 n, 3) corners [m] and unit normals of n triangles."""

_ROUND = 28


def corners(surface: Shell) -> Corners:
    """Of each triangle of a surface."""
    points, normals, faces = surface
    return points[faces].reshape(-1, 3), normals[faces].reshape(-1, 3)


def sphere(centre: np.ndarray, radius_m: float) -> Corners:
    """A ball."""
    x, y, z = np.asarray(centre, float).tolist()
    return corners(Sphere((x, y, z), radius_m).surface())


def ring(centre: np.ndarray, inner_m: float, outer_m: float) -> Corners:
    """A flat ring."""
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * _ROUND + 1)
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    rows = np.stack([centre + inner_m * out, centre + outer_m * out])
    return _grid(rows, np.broadcast_to([0.0, 0.0, 1.0], rows.shape))


def post(place_w: np.ndarray, height_m: float, colour: Colour) -> Polyline:
    """A line upwards, that fades."""
    points = place_w + np.linspace(0.0, height_m, 12)[:, None] * [0.0, 0.0, 1.0]
    return Polyline(points, colour, np.linspace(1.0, 0.0, 12), 3.0)


def band(left_w: np.ndarray, right_w: np.ndarray, up_w: np.ndarray) -> Corners:
    """The band between two edges (n, 3), with normals (n, 3)."""
    return _grid(np.stack([left_w, right_w]), np.stack([up_w, up_w]))


def joined(*parts: Corners) -> Corners:
    """Several bodies as one."""
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _grid(points: np.ndarray, normals: np.ndarray) -> Corners:
    """Two triangles for each cell of a grid (rows, columns, 3)."""

    def cells(a: np.ndarray) -> np.ndarray:
        p, q, r, s = a[:-1, :-1], a[:-1, 1:], a[1:, :-1], a[1:, 1:]
        return np.stack([p, q, s, p, s, r], axis=2).reshape(-1, 3)

    return cells(points), cells(normals)


HELD: Colour = (1.0, 0.62, 0.0)
"""Of what keeps a plan from being cheaper, and of the ribbon's edges while that is a limit."""
_CASING: Colour = (0.01, 0.012, 0.015)
"""Under the edges of ribbons: they stand out against rock, sand and water alike."""
_LIGHTER = 0.4
"""Share of white in edges and rungs, which lie on a band of their colour."""
_RUNGS_S, _MOST_RUNGS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0), 30
LIFT_M = 0.06
"""By which marks of what moves on the ground float above it."""


@dataclass(frozen=True, eq=False)
class PlanPath:
    """A plan in the world, computed once."""

    record: PlanRecord
    poses: np.ndarray
    """(N+1, 4, 4) T_wb."""
    forces_w: np.ndarray
    """(N+1, 3) N."""
    bodies_w: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Name -> (N+1, 4, 4), of vehicles whose model has parts that go with bodies."""

    @cached_property
    def reach_m(self) -> float:
        """Longest side of the box around it: long plans are drawn bolder, as they are seen from farther."""
        return float(np.ptp(self.poses[:, :3, 3], axis=0).max())


def half_width_m(way: PlanPath, size_m: float) -> float:
    """Half the width of the present plan's ribbon: no wider than the way is long."""
    return max(min(0.06 * size_m, 0.15 * way.reach_m), 0.003 * way.reach_m)


def _edges(way: PlanPath, half_m: float) -> tuple[np.ndarray, np.ndarray]:
    """(N+1, 3) left and right edge of a band that banks with the vehicle."""
    side, up = way.poses[:, :3, 1], way.poses[:, :3, 2]
    middle = way.poses[:, :3, 3] + LIFT_M * up
    return middle + half_m * side, middle - half_m * side


def _lighter(colour: Colour) -> Colour:
    r, g, b = ((1.0 - _LIGHTER) * part + _LIGHTER for part in colour)
    return r, g, b


def spread(places_w: np.ndarray, gap_m: float, most: int) -> list[int]:
    """Indices of at most so many nodes about equally far apart along a way, first and last included, none nearer than
    a gap.

    A way that goes nowhere, such as a turn on the spot, is divided by time.
    """
    gone = arc_length(places_w)
    if gone[-1] < gap_m:
        gone = gap_m * np.linspace(0.0, 1.0, len(gone))
    count = min(max(int(gone[-1] / gap_m) + 1, 2), most)
    wanted = np.linspace(0.0, gone[-1], count)
    return sorted({int(np.abs(gone - distance).argmin()) for distance in wanted})


def ribbon(way: PlanPath, colour: Colour, half_m: float, alpha: float) -> tuple[Surface, list[Polyline]]:
    """A band that banks with the vehicle, and its two edges."""
    edges = _edges(way, half_m)
    opaque = np.full(len(way.poses), 0.95)
    lines = [Polyline(edge, _lighter(colour), opaque, 2.0) for edge in edges]
    return Surface(*band(*edges, way.poses[:, :3, 2]), colour, alpha), lines


def cased(lines: list[Polyline]) -> list[Polyline]:
    """Lines on a dark ground of their own."""
    return [
        replace(line, colour=_CASING, alpha=0.4 * line.alpha, width_px=line.width_px + 2.5) for line in lines
    ]


def rungs(way: PlanPath, colour: Colour, half_m: float) -> list[Polyline]:
    """Across the band at equal times: every second, or as seldom as leaves it legible.

    One line, which goes along an edge from each rung to the next.
    """
    record, edges = way.record, _edges(way, half_m)
    every_s = next(s for s in _RUNGS_S if record.duration_s / s <= _MOST_RUNGS or s == _RUNGS_S[-1])
    at = np.arange(every_s, record.duration_s - 0.5 * every_s, every_s) / record.step_s
    points: list[np.ndarray] = []
    for number, here in enumerate(at):
        near, far = edges[number % 2], edges[1 - number % 2]
        k = min(int(here), len(far) - 2)
        points += [edge[k] + (here - k) * (edge[k + 1] - edge[k]) for edge in (near, far)]
        if number + 1 < len(at):
            points += list(far[k + 1 : int(at[number + 1]) + 1])
    if not points:
        return []
    return [Polyline(np.array(points), _lighter(colour), np.full(len(points), 0.7), 1.3)]


def limit_edges(way: PlanPath, half_m: float) -> list[Polyline]:
    """The edges once more, where the plan leans on a limit."""
    record, lines = way.record, []
    for constraint in record.active:
        for begin_s, end_s in (
            constraint.spans_s if constraint.obstacle is None and constraint.waypoint is None else ()
        ):
            first = max(int(begin_s / record.step_s), 0)
            last = min(int(np.ceil(end_s / record.step_s)) + 1, len(record.nodes))
            if last - first > 1:
                opaque = np.ones(last - first)
                lines += [Polyline(e[first:last], HELD, opaque, 3.4) for e in _edges(way, half_m)]
    return lines


def turns(way: PlanPath, colour: Colour, size_m: float) -> list[Polyline]:
    """Of what only turns on the spot: the ways of its nose, its left side and its top."""
    if way.reach_m > 0.1 * size_m:
        return []
    opaque, middle = np.full(len(way.poses), 0.95), way.poses[:, :3, 3]
    tips = [middle + 0.24 * size_m * way.poses[:, :3, axis] for axis in range(3)]
    return [Polyline(tip, colour, opaque, 3.0) for tip in tips]
