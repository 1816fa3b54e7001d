"""Thousands of like things on the ground: culled by cell, thinned by distance, drawn as instances by level."""

from collections.abc import Sequence
from contextlib import nullcontext

import moderngl
import numpy as np

from render.land.ground_cover import Scatter
from render.land.mesh import Mesh
from render.passes.culling import Boxes, Ridges, Skyline, culled
from render.passes.targets import PassContext
from render.programs import Programs, Resources, vertex_array
from sim.platform.values import dataclass

_INSTANCE = ("3f 1f 3f 1f/i", "place", "scale", "tint", "yaw")
_INSTANCE_FLOATS = 8
_MIRROR_REACH_M = 250.0
"""Beyond this, things in the mirror image are too small for its resolution."""
_REACH_M = np.geomspace(4000.0, 0.5, 60)
"""Distances up to which everything could be drawn, farthest first."""
_NEAREST_M = 20.0
"""Cells nearer than this count as so far away: else the one about the eye would starve its neighbours."""
_GROWING = 0.3
"""Share of what is drawn of a thinned cell that is drawn smaller, down to nothing: so that none appears at once."""
OBSTACLE_SIGHT, OBSTACLE_SIGHT_M = 120.0, 90.0
"""What can be run into is drawn, whatever the budget, so many times its size away, and no farther than this: the least
that stops a car, 0.45 m in radius, from 54 m on, where it is 4 pixels high in the coarsest picture (180 rows)."""
_STEP_M = 1.0
"""What is drawn is chosen anew when the eye has moved this far, or when a cell comes into view that was farther than
_BESIDE_M from it."""
_BESIDE_M = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """How one kind of scattered thing is drawn."""

    layout: str
    names: tuple[str, ...]
    fragment: str
    shadow_fragment: str
    defines: tuple[str, ...] = ()
    closed: bool = False
    """A solid, whose back faces need not be drawn."""


SHRUB = Material(
    layout="3f 3f 2f",
    names=("position", "normal", "uv"),
    fragment="shrub.frag",
    shadow_fragment="shrub_depth.frag",
    defines=("CARDS",),
)
BOULDER = Material(
    layout="3f 3f",
    names=("position", "normal"),
    fragment="boulder.frag",
    shadow_fragment="depth.frag",
    closed=True,
)


def kept_fractions(counts: np.ndarray, distance_m: np.ndarray, budget: int) -> np.ndarray:
    """(cells,) share of each cell to draw: all up close, thinning with the square of distance, within `budget`."""

    def fractions(reach_m: np.ndarray) -> np.ndarray:
        return np.minimum(1.0, (reach_m[:, None] / np.maximum(distance_m, _NEAREST_M)) ** 2)

    within = fractions(_REACH_M) @ counts <= budget
    if not within.any():
        return np.zeros(len(counts))
    first = int(np.argmax(within))
    # Between the steps: the shares are to change smoothly as the eye moves.
    finer = np.geomspace(_REACH_M[max(first - 1, 0)], _REACH_M[first], 17)
    shares = fractions(finer)
    return shares[int(np.argmax(shares @ counts <= budget))]


def thinned(first: np.ndarray, counts: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(m,) of their size at which the things of all cells are drawn: the first `kept` of each, others not at all; the
    last of a cell that is not whole are smaller, down to none.

    `first`, `counts`, `kept`: (cells,) where a cell begins, how many it has, how many are wanted.
    """
    rank = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
    whole = np.repeat(kept >= counts, kept)
    end = np.repeat(kept, kept)
    sizes = np.zeros(counts.sum())
    sizes[np.repeat(first, kept) + rank] = np.where(
        whole, 1.0, np.minimum((end - rank) / np.maximum(_GROWING * end, 1.0), 1.0)
    )
    return sizes


def in_the_way(obstacles: np.ndarray, eye_w: np.ndarray) -> np.ndarray:
    """(k,) bool: which `obstacles` (k, 8) are so near for their size that they have to be drawn."""
    reach_m = np.minimum(obstacles[:, 3] * OBSTACLE_SIGHT, OBSTACLE_SIGHT_M)
    return np.linalg.norm(obstacles[:, :3] - eye_w, axis=1) < reach_m


class _Level:
    """One mesh with room for the instances that one camera sees of it."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, material: Material, mesh: Mesh, room: int):
        self._resources = Resources()
        vertices = self._resources.own(ctx.buffer(np.ascontiguousarray(mesh.vertices, dtype="f4")))
        indices = self._resources.own(ctx.buffer(np.ascontiguousarray(mesh.indices, dtype="u4")))
        self.instances = self._resources.own(
            ctx.buffer(reserve=max(room, 1) * _INSTANCE_FLOATS * 4, dynamic=True)
        )
        self.count = 0
        self.triangles = len(mesh.indices)
        content = [(vertices, material.layout, *material.names), (self.instances, *_INSTANCE)]
        defines = dict.fromkeys(material.defines, 1)
        self.arrays = {}
        for name, fragment in (("opaque", material.fragment), ("shadow", material.shadow_fragment)):
            program = programs.load("scatter.vert", fragment, **defines)
            self.arrays[name] = self._resources.own(vertex_array(ctx, program, content, indices))

    def fill(self, rows: np.ndarray) -> None:
        """Take these instances (n, 8)."""
        self.count = len(rows)
        if self.count:
            self.instances.write(np.ascontiguousarray(rows))

    def draw(self, name: str) -> None:
        if self.count:
            self.arrays[name].render(moderngl.TRIANGLES, instances=self.count)

    def release(self) -> None:
        self._resources.close()


class ScatterField:
    """One scatter with its meshes, finest first; level k is drawn up to `reach_m[k]`, the last one beyond."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        material: Material,
        meshes: Sequence[Mesh],
        scatter: Scatter,
        ridges: Ridges,
        *,
        reach_m: Sequence[float],
        budget: int,
    ):
        self._material = material
        self._all = self._instances = np.ascontiguousarray(scatter.instances, dtype="f4")
        self._obstacles, cells = np.flatnonzero(scatter.obstacles), scatter.cells
        self._kept = np.ones(len(self._all), dtype=bool)
        self._cell = np.repeat(np.arange(len(cells)), [cell.count for cell in cells])
        self._first = np.array([cell.first for cell in cells], dtype=int)
        self._counts = np.array([cell.count for cell in cells], dtype=int)
        low = np.array([cell.low for cell in cells], dtype=float).reshape(-1, 3)
        high = np.array([cell.high for cell in cells], dtype=float).reshape(-1, 3)
        self._boxes = Boxes(low, high)
        self._skyline = Skyline.of(ridges, self._all[:, :3], self._cell, len(cells)) if len(cells) else None
        self._reach = np.asarray(reach_m, dtype=float)
        self._budget = budget
        self._levels = [_Level(ctx, programs, material, mesh, len(self._instances)) for mesh in meshes]
        self._drawn_of = np.zeros(len(cells), bool)
        """Cells among which what is drawn was chosen."""
        self._drawn_eye, self._drawn_most = np.full(3, np.inf), 0
        self.drawn_triangles = 0

    @property
    def count(self) -> int:
        """Of all that are not left out."""
        return len(self._instances)

    def clear(self, places_w: np.ndarray, radius_m: float) -> bool:
        """Leave out what reaches within `radius_m` of the places (n, 2); whether that changes anything."""
        off = np.linalg.norm(self._all[:, None, :2] - np.asarray(places_w, "f4").reshape(-1, 2), axis=-1)
        keep = (off > radius_m + self._all[:, 3:4]).all(axis=1)
        if np.array_equal(keep, self._kept):
            return False
        self._kept = keep
        self._instances = np.ascontiguousarray(self._all[keep])
        self._counts = np.bincount(self._cell[keep], minlength=len(self._counts))
        self._first = np.cumsum(self._counts) - self._counts
        self._drawn_eye = np.full(3, np.inf)
        return True

    def draw(self, context: PassContext) -> None:
        """Draw what the pass's camera sees; in the shadow pass everything, at the coarsest level."""
        if not len(self._counts):
            return
        if context.name == "shadow":
            for each in self._levels[:-1]:
                each.fill(self._instances[:0])
            self._levels[-1].fill(self._instances)
            self._drawn_eye = np.full(3, np.inf)
        else:
            self._choose(context)
        with culled(context) if self._material.closed else nullcontext():
            for each in self._levels:
                each.draw("shadow" if context.name == "shadow" else "opaque")
        self.drawn_triangles = sum(each.count * each.triangles for each in self._levels)

    def _choose(self, context: PassContext) -> None:
        """Have the levels hold what is drawn, unless they do already."""
        eye_w, most = np.asarray(context.view.eye_w, float), round(self._budget * context.detail)
        near = np.linalg.norm(eye_w - self._drawn_eye) < _STEP_M and most == self._drawn_most
        if near and not (self._boxes.visible(context.frustum) & ~self._drawn_of).any():
            return
        beside = context.frustum + np.array([0.0, 0.0, 0.0, _BESIDE_M])
        visible, distance = self._boxes.visible(beside), self._boxes.distance(eye_w)
        self._drawn_of, self._drawn_eye, self._drawn_most = visible.copy(), eye_w, most
        if context.mirrored:
            visible &= distance < _MIRROR_REACH_M
        elif self._skyline is not None:
            visible &= self._skyline.seen(eye_w, visible)
        kept = np.where(visible, self._counts, 0)
        share = kept_fractions(kept, distance, most)
        self._select(np.ceil(kept * share).astype(int), visible, eye_w)

    def _select(self, kept: np.ndarray, visible: np.ndarray, eye_w: np.ndarray) -> None:
        """Gather by level the first `kept` instances of each cell, and of the visible ones (cells,) bool what is in the
        way."""
        sizes = thinned(self._first, self._counts, kept)
        near = self._obstacles[visible[self._cell[self._obstacles]]]
        near = near[in_the_way(self._all[near], eye_w) & self._kept[near]]
        sizes[(np.cumsum(self._kept) - 1)[near]] = 1.0
        drawn = np.flatnonzero(sizes)
        rows = self._instances[drawn]
        rows[:, 3] *= sizes[drawn]
        level = np.searchsorted(self._reach, np.linalg.norm(rows[:, :3] - eye_w, axis=1))
        for number, each in enumerate(self._levels):
            each.fill(rows[level == number])

    def release(self) -> None:
        """Free every level."""
        for each in self._levels:
            each.release()
