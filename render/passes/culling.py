"""What a camera can see: boxes within its frustum, places that no higher ground hides, faces turned towards it.

Nothing of which a part is seen is ever left out.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import moderngl
import numpy as np

from render.passes.targets import PassContext
from sim.native.function import native
from sim.platform.cache import cached_arrays, source_digest
from sim.platform.values import dataclass
from sim.world import Terrain, World
from sim.world.smoothing import lowest_around


def frustum_planes(clip_from_world: np.ndarray) -> np.ndarray:
    """(6, 4) planes (n, d) with unit n, inside where n.x + d >= 0, of a (4, 4) camera matrix."""
    m = np.asarray(clip_from_world)
    planes = np.stack([m[3] + m[0], m[3] - m[0], m[3] + m[1], m[3] - m[1], m[3] + m[2], m[3] - m[2]])
    return planes / np.linalg.norm(planes[:, :3], axis=1, keepdims=True)


class Boxes:
    """Many axis-aligned boxes, tested together."""

    def __init__(self, low: np.ndarray, high: np.ndarray):
        """`low`, `high` (n, 3) world metres."""
        self._low = np.asarray(low, dtype=float)
        self._high = np.asarray(high, dtype=float)
        self._centre = 0.5 * (self._low + self._high)
        self._half = 0.5 * (self._high - self._low)

    def visible(self, frustum: np.ndarray) -> np.ndarray:
        """(n,) bool: not wholly outside any plane of `frustum` (6, 4)."""
        normals, offsets = frustum[:, :3], frustum[:, 3]
        reach = self._centre @ normals.T + self._half @ np.abs(normals).T + offsets
        return (reach >= 0.0).all(axis=1)

    def within(self, frustum: np.ndarray) -> np.ndarray:
        """(n,) bool: wholly inside every plane of `frustum` (6, 4)."""
        normals, offsets = frustum[:, :3], frustum[:, 3]
        return (self._centre @ normals.T - self._half @ np.abs(normals).T + offsets >= 0.0).all(axis=1)

    def distance(self, eye_w: np.ndarray) -> np.ndarray:
        """(n,) m from the eye to the nearest point of each box."""
        outside = np.maximum(np.maximum(self._low - eye_w, eye_w - self._high), 0.0)
        return np.sqrt((outside * outside).sum(axis=1))


@contextmanager
def culled(context: PassContext) -> Iterator[None]:
    """Leave out back faces, except in the shadow pass: there they keep light from leaking under edges."""
    if context.name == "shadow":
        yield
        return
    context.ctx.front_face = "cw" if context.mirrored else "ccw"
    context.ctx.enable(moderngl.CULL_FACE)
    yield
    context.ctx.disable(moderngl.CULL_FACE)
    context.ctx.front_face = "ccw"


_DIGEST = source_digest(__file__)
_STEPS = 48
_MARGIN_M = 3.0
"""A place counts as seen while a thing this tall on it would be."""
_REUSE_M = 2.0
"""The answer is kept until the eye has moved this far."""
_SPACING_M = 12.0
"""Of the points that stand for a surface."""
_AROUND_M = _SPACING_M / np.sqrt(2.0) + _REUSE_M
"""A line to such a point passes no farther than this from the line that it stands for."""


@native
def _stands_before(
    point: int,
    step: int,
    eye: np.ndarray,
    points: np.ndarray,
    heights: np.ndarray,
    x0: float,
    y0: float,
    spacing: float,
) -> bool:
    """Whether ground is above the line from the eye to a point, at one of its samples: they lie closer near the eye."""
    rows, columns = heights.shape
    t = (step / _STEPS) ** 2
    i = int((eye[0] + t * (points[point, 0] - eye[0]) - x0) / spacing)
    j = int((eye[1] + t * (points[point, 1] - eye[1]) - y0) / spacing)
    inside = 0 <= i < columns and 0 <= j < rows
    return inside and heights[j, i] > eye[2] + t * (points[point, 2] - eye[2])


@native
def _any_free(
    eye: np.ndarray,
    points: np.ndarray,
    owner: np.ndarray,
    asked: np.ndarray,
    seen: np.ndarray,
    freed: np.ndarray,
    heights: np.ndarray,
    x0: float,
    y0: float,
    spacing: float,
) -> None:
    """Set `seen[owner]`, of whom is asked for, for every point that no ground stands before.

    `freed`: by owner the point that was found free the last time, looked at first, -1: none. Where ground stands before
    one point it mostly stands before the next: that sample is looked at first. Neither changes what is found.
    """
    hint = 1
    for k in range(freed.shape[0] + points.shape[0]):
        point = k - freed.shape[0]
        if point < 0:
            point = freed[k]
        if point < 0:
            continue
        whose = owner[point]
        if seen[whose] or not asked[whose]:
            continue
        if _stands_before(point, hint, eye, points, heights, x0, y0, spacing):
            continue
        free = True
        for step in range(1, _STEPS):
            if _stands_before(point, step, eye, points, heights, x0, y0, spacing):
                free = False
                hint = step
                break
        if free:
            seen[whose] = True
            freed[whose] = point


def summits(points_w: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, 3) for `points_w` (n, 3): centres of the squares they lie in, a margin above the highest of each.

    owner: (n,) >= 0, the thing that a point belongs to, each with squares of its own; returned as (k,) as well, rising.
    """
    column, row = np.floor(points_w[:, :2].T / _SPACING_M).astype(np.int64)
    column0, row0 = column.min(initial=0), row.min(initial=0)
    rows, columns = row.max(initial=0) - row0 + 1, column.max(initial=0) - column0 + 1
    square = (owner * columns + (column - column0)) * rows + (row - row0)
    order = np.argsort(square, kind="stable")
    square = square[order]
    first = np.flatnonzero(np.diff(square, prepend=-1))
    left, at_row = np.divmod(square[first], rows)
    whose, at_column = np.divmod(left, columns)
    highest = np.maximum.reduceat(points_w[order, 2], first) if len(first) else np.zeros(0)
    centre = (np.column_stack([at_column + column0, at_row + row0]) + 0.5) * _SPACING_M
    return np.column_stack([centre, highest + _MARGIN_M]), whose


@dataclass(frozen=True, slots=True, eq=False)
class Ridges:
    """The ground as far as it surely hides what is behind it: the lowest of all heights around each place."""

    heights: np.ndarray
    """(ny, nx) float32 m."""
    frame: tuple[float, float, float]
    """x and y of the first one, spacing [m]."""

    @staticmethod
    def of(terrain: Terrain) -> "Ridges":
        """Of any ground."""
        reach = int(np.ceil(_AROUND_M / terrain.spacing_m))
        lowest = lowest_around(np.asarray(terrain.heights, np.float32), reach)
        return Ridges(np.ascontiguousarray(lowest - np.float32(_REUSE_M)), _frame(terrain))

    @staticmethod
    def of_world(world: World) -> "Ridges":
        """Of its ground, from the cache where they are there."""
        name = f"ridges-{world.key}-{_DIGEST}"
        kept = cached_arrays("meshes", name, lambda: {"heights": Ridges.of(world.terrain).heights})
        return Ridges(kept["heights"], _frame(world.terrain))


def _frame(terrain: Terrain) -> tuple[float, float, float]:
    x, y = terrain.origin_m
    return float(x), float(y), float(terrain.spacing_m)


class Skyline:
    """Tells which things lie wholly behind higher ground.

    Each thing is represented by points above its squares of the ground; it is hidden when the line from the eye to each
    of them dips below the ridges. A free line to any place of a square would pass the ground near the line to its point
    and no higher, so that one is free as well. Between samples, and outside the map, lines count as free. Errors so
    draw more than there is to see.
    """

    @classmethod
    def of(cls, ridges: Ridges, points_w: np.ndarray, owner: np.ndarray, things: int) -> "Skyline":
        """`points_w` (n, 3) of so many things, `owner` (n,) the thing of each."""
        return cls(ridges, *summits(points_w, owner), things)

    def __init__(self, ridges: Ridges, points_w: np.ndarray, owner: np.ndarray, things: int):
        """As `of`, of what `summits` has found of the points."""
        self._ridges, self._owner = ridges, owner
        self._points = np.ascontiguousarray(points_w)
        self._seen = np.zeros(things, dtype=bool)
        self._known = np.zeros(things, dtype=bool)
        self._freed = np.full(things, -1)
        self._eye = np.full(3, np.inf)

    def seen(self, eye_w: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
        """(n,) bool: some part of the thing may be seen from `eye_w` (3,). Valid until the next call.

        `among` (n,) bool: nothing is worked out about other things, and they may count as hidden; None: about all.
        """
        if not np.linalg.norm(eye_w - self._eye) < _REUSE_M:
            self._eye = np.array(eye_w, dtype=float)
            self._seen[:] = self._known[:] = False
        asked = ~self._known if among is None else among & ~self._known
        if asked.any():
            ridges = self._ridges
            found = self._seen, self._freed
            _any_free(self._eye, self._points, self._owner, asked, *found, ridges.heights, *ridges.frame)
            self._known |= asked
        return self._seen
