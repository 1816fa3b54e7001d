"""The canyon and the land around it: chunks culled and given a level of detail for each view.

Where light lies in a map, `mapped.py` draws the land that has one.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import moderngl
import numpy as np

from render.land.mapped import CAST_AT_ONCE
from render.land.mesh import ChunkedMesh
from render.light import Light
from render.passes.culling import Boxes, Ridges, Skyline, culled
from render.passes.targets import PassContext
from render.programs import Programs, Resources, uniform, vertex_array
from render.quality import Quality

_FORMAT = "3f 3f 4f"
_NAMES = ("position", "normal", "traits")
_BAKED = ("3f 3f 1f 1f", "baked_ambient", "baked_sun", "baked_visibility", "baked_strata")
_BAKED_BYTES = 32
BAKED_AT_ONCE = 1 << 17
"""Vertices of a share of the baking: software GL takes some 50 ms for them."""
LEVEL_SPACING_M = (1.25, 2.5, 4.3, 8.6)
"""Vertex spacing of the mesh levels, finest first."""


def _chunk_points(mesh: ChunkedMesh) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) of the vertices of its chunks, one after the other, and the chunk (n,) of each.

    A chunk's vertices lie together: those between the lowest and the highest that its triangles name.
    """
    indices = mesh.indices.ravel()
    runs = [indices[chunk.first : chunk.first + chunk.count] for chunk in mesh.chunks]
    parts = [mesh.vertices[run.min() : run.max() + 1, :3] for run in runs]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


class LevelChoice:
    """Chooses each chunk's level: the coarsest whose spacing stays below `error_px` on the screen, within a budget.

    Over budget, all chunks are coarsened together by a factor that is kept from frame to frame and eased back only when
    there is room to spare: otherwise a camera at the limit would make the whole land flicker between levels.
    """

    _STEP = 0.8
    _ROOM = 0.85

    def __init__(self, counts: np.ndarray, spacing_m: np.ndarray):
        """`counts` (levels, chunks) indices; `spacing_m` (levels,), finest first."""
        self._triangles = counts // 3
        self._spacing = spacing_m.reshape(len(counts), 1)
        self._columns = np.arange(counts.shape[1])
        self._factor = 1.0

    def levels(
        self, distance_m: np.ndarray, visible: np.ndarray, px_per_radian: float, error_px: float, budget: int
    ) -> np.ndarray:
        """(chunks,) level of each chunk; the visible ones hold at most `budget` triangles, or are at their coarsest."""
        wanted = np.maximum(distance_m, 1.0) * error_px / px_per_radian
        eased = min(self._factor / self._STEP, 1.0)
        if self._factor < 1.0 and self._total(self._at(wanted, eased), visible) <= self._ROOM * budget:
            self._factor = eased
        while True:
            levels = self._at(wanted, self._factor)
            coarsest = (levels[visible] == len(self._spacing) - 1).all()
            if coarsest or self._total(levels, visible) <= budget:
                return levels
            self._factor *= self._STEP

    def _at(self, wanted_m: np.ndarray, factor: float) -> np.ndarray:
        number = (self._spacing <= wanted_m / factor).sum(axis=0) - 1
        return np.clip(number, 0, len(self._spacing) - 1)

    def _total(self, levels: np.ndarray, visible: np.ndarray) -> int:
        return int(self._triangles[levels, self._columns][visible].sum())


class Land:
    """Every level of one chunked mesh in one pair of buffers."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        meshes: Sequence[ChunkedMesh],
        ridges: Ridges,
        *,
        quality: Quality,
        spacing_m: Sequence[float] = LEVEL_SPACING_M,
    ):
        """`meshes`: levels, finest first, with vertices (n, 10), indices (m, 3) and the same chunks on every level.

        `ridges`: of the world's terrain, which hide chunks.
        """
        self._ctx = ctx
        self._quality = quality
        self._resources = Resources()
        spacing = np.asarray(spacing_m[-len(meshes) :], dtype=float)
        chunks = meshes[0].chunks
        low, high = np.array([chunk.low for chunk in chunks]), np.array([chunk.high for chunk in chunks])
        self._boxes = Boxes(low, high)
        self._skyline = Skyline.of(ridges, *_chunk_points(meshes[0]), len(chunks))
        self._first, self._counts = self._index_ranges(meshes)
        self._choices = {mirrored: LevelChoice(self._counts, spacing) for mirrored in (False, True)}
        self._vertices = self._joined([np.ascontiguousarray(mesh.vertices, "f4") for mesh in meshes])
        before = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]]).astype("u4")
        self._indices = self._joined(
            [np.add(mesh.indices, first, dtype="u4") for mesh, first in zip(meshes, before, strict=True)]
        )
        self._vertex_spacing = [
            (len(mesh.vertices), float(s)) for mesh, s in zip(meshes, spacing, strict=True)
        ]
        self._baked: moderngl.Buffer | None = None
        self._depth = self._array(programs.load("terrain_depth.vert", "depth.frag"))
        self._arrays = self._build_arrays(programs)
        self.drawn_triangles = 0

    @staticmethod
    def _index_ranges(meshes: Sequence[ChunkedMesh]) -> tuple[np.ndarray, np.ndarray]:
        """(levels, chunks) first index in the joined buffer, and count."""
        before = np.cumsum([0] + [mesh.indices.size for mesh in meshes[:-1]])
        first = np.array([[chunk.first for chunk in mesh.chunks] for mesh in meshes]) + before[:, None]
        return first, np.array([[chunk.count for chunk in mesh.chunks] for mesh in meshes])

    def _joined(self, parts: Sequence[np.ndarray]) -> moderngl.Buffer:
        """A buffer of arrays one after the other, each copied once."""
        buffer = self._resources.own(self._ctx.buffer(reserve=sum(part.nbytes for part in parts)))
        offset = 0
        for part in parts:
            buffer.write(part, offset=offset)
            offset += part.nbytes
        return buffer

    def _build_arrays(self, programs: Programs) -> list[moderngl.VertexArray]:
        """Of the opaque pass: 0 for what no vehicle shades, 1 vehicles, 2 what stands about too."""
        if self._quality.full_materials:
            return [self._array(programs.load("terrain.vert", "terrain.frag"))] * 3
        count = sum(count for count, _ in self._vertex_spacing)
        self._baked = self._resources.own(self._ctx.buffer(reserve=count * _BAKED_BYTES))
        self._bake_program = programs.load_transform("terrain_bake.vert", _BAKED[1:])
        load = partial(programs.load, "terrain_baked.vert", "terrain_baked.frag", LIGHT_MAP=0, GRAIN=1)
        return [self._array(load(UNDER_VEHICLE=under), (self._baked, *_BAKED)) for under in range(3)]

    def _array(self, program: moderngl.Program, *more: tuple[object, ...]) -> moderngl.VertexArray:
        content = [(self._vertices, _FORMAT, *_NAMES), *more]
        return self._resources.own(vertex_array(self._ctx, program, content, self._indices))

    mapped = False

    def bake(
        self, light: Light, given_up: ExitStack, coarser: int = 1
    ) -> Generator[None, None, Callable[[], None]]:
        """Evaluate the material in the present light, once for every place (quality without full materials only).

        A share at a step; before each, the light and its shadows have to be bound. Until what is returned is called the
        light before is drawn with. `given_up` frees what has been made and not taken on.
        """
        if self._baked is not None:
            fresh = self._ctx.buffer(reserve=self._baked.size)
            given_up.callback(fresh.release)
            yield from self._bake_into(fresh)
            return partial(self._ctx.copy_buffer, self._baked, fresh)
        return lambda: None

    def _bake_into(self, fresh: moderngl.Buffer) -> Iterator[None]:
        first = 0
        for level, (count, spacing) in enumerate(self._vertex_spacing):
            for begin in range(0, count, BAKED_AT_ONCE):
                uniform(self._bake_program, "spacing_m").value = spacing
                uniform(self._bake_program, "shadow_by_vertex").value = level == 0
                self._bake_vertices(fresh, first + begin, min(BAKED_AT_ONCE, count - begin))
                yield
            first += count

    def _bake_vertices(self, fresh: moderngl.Buffer, first: int, count: int) -> None:
        source = vertex_array(self._ctx, self._bake_program, [(self._vertices, _FORMAT, *_NAMES)])
        offset = first * _BAKED_BYTES
        source.transform(fresh, moderngl.POINTS, vertices=count, first=first, buffer_offset=offset)
        source.release()

    def lit(self) -> dict[str, np.ndarray]:
        """What has been baked, as bytes."""
        return {} if self._baked is None else {"baked": np.frombuffer(self._baked.read(), "u1")}

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have it as if it had been baked."""
        if self._baked is not None:
            self._baked.write(kept["baked"])

    @property
    def _cast_at_once(self) -> int:
        """Chunks of the finest level that are a share of work by their triangles alone."""
        return max(3 * CAST_AT_ONCE // max(int(self._counts[0].max()), 1), 1)

    def cast(self) -> Iterator[Callable[[PassContext], None]]:
        """To be called with the shadow pass, each for a share of the chunks."""
        at_once = self._cast_at_once
        for first in range(0, self._counts.shape[1], at_once):
            yield partial(self.draw, only=slice(first, first + at_once))

    def draw(self, context: PassContext, only: slice = slice(None)) -> None:
        """Draw what the pass's camera sees; the sun's camera sees everything at the finest level.

        `only`: of the chunks in view, the nearest first.
        """
        shadow = context.name == "shadow"
        visible = self._boxes.visible(context.frustum)
        distance = self._boxes.distance(context.view.eye_w)
        if shadow:
            levels = np.zeros(len(visible), dtype=int)
        else:
            if not context.mirrored:
                visible &= self._skyline.seen(context.view.eye_w, visible)
            levels = self._levels(context, distance, visible)
        chunks = np.flatnonzero(visible)
        chunks = chunks[np.argsort(distance[chunks])][only]  # nearest first: what is covered is not shaded
        levels = levels[chunks]
        first, count = self._first[levels, chunks].tolist(), self._counts[levels, chunks].tolist()
        self.drawn_triangles = sum(count) // 3
        arrays = [self._depth] * len(chunks) if shadow else self._lit(context, chunks)
        with culled(context):
            for array, start, indices in zip(arrays, first, count, strict=True):
                array.render(moderngl.TRIANGLES, vertices=indices, first=start)

    def _lit(self, context: PassContext, chunks: np.ndarray) -> list[moderngl.VertexArray]:
        """By chunk, what looks up no more than it needs to: software GL looks up under every condition."""
        reach = context.near_vehicles
        under = np.zeros(len(chunks), bool) if reach is None else self._boxes.visible(reach)[chunks]
        kinds = np.where(under, 2 if context.stands else 1, 0)
        return [self._arrays[kind] for kind in kinds.tolist()]

    def warm_up(self) -> None:
        """Draw a triangle by each program, lest the one that is first wanted in motion be compiled then."""
        for array in self._arrays[:2]:
            array.render(moderngl.TRIANGLES, vertices=3)

    def _levels(self, context: PassContext, distance: np.ndarray, visible: np.ndarray) -> np.ndarray:
        budget = round(self._quality.terrain_triangles * context.detail)
        error = self._quality.terrain_error_px
        if context.mirrored:
            budget, error = budget // 4, error * 2.0
        return self._choices[context.mirrored].levels(distance, visible, context.px_per_radian, error, budget)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()
