"""The canyon's land where its light lies in a map: triangles are chosen by shape alone, for each view anew.

The land's surface in its light as one picture: what it sends out in every place, without haze and vehicles.

Drawn over the grid that the meshes are cut from, finer than the finest of them: so that a fragment of the land is
one look into it, and coarse meshes are lit and grained as finely."""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import moderngl
import numpy as np

from render.frame_budget import MOST_DETAIL
from render.land.mesh import Chunk, ChunkedMesh
from render.land.refinement import LEVELS, STEEP, TRIANGLE_KINDS, Refinement, grid_extent_m
from render.land.textures import GRAIN_LEVEL, NOISE_PX, build_levels
from render.light import Light
from render.passes.culling import Boxes, Ridges, Skyline, culled, summits
from render.passes.targets import PassContext, colour_of, unbind, write_once
from render.process import Flush
from render.programs import SAMPLER_UNITS, Programs, Resources, uniform, vertex_array
from render.quality import Quality
from sim.platform.cache import Arrays, cached_arrays, source_digest

_DIGEST = source_digest(
    __file__, Path(__file__).with_name("refinement.py"), Path(__file__).parents[1] / "passes" / "culling.py"
)
TEXEL_M = 0.6
MOST_TEXELS = 4_600_000
"""With its coarser levels 5.3 bytes each."""
LEVEL_TEXEL_M = 0.02
MOST_LEVEL_TEXELS = 4_200_000
_ALBEDO = 0.95
"""Of the brightest rock, nearly."""


class BakedMap:
    """A picture that light is drawn into, a texel a place, and that materials then only look up."""

    def __init__(self, ctx: moderngl.Context, size_px: tuple[int, int], sampler: str, components: int = 4):
        self._ctx, self.size_px = ctx, size_px
        self._unit, self._components = SAMPLER_UNITS[sampler], components
        self._shown = self.canvas()

    @property
    def _texture(self) -> moderngl.Texture:
        return colour_of(self._shown)

    def canvas(self, coarser: int = 1) -> moderngl.Framebuffer:
        """A new picture to draw another light into; `average` completes it, and `take` makes it the one that is looked
        at, or it is `dropped`.

        Its texels are `coarser` times as long as can be.
        """
        columns, rows = (max(count // coarser, 1) for count in self.size_px)
        texture = self._ctx.texture((columns, rows), self._components, dtype="f1")
        texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR
        texture.repeat_x = texture.repeat_y = False
        fresh = self._ctx.framebuffer([texture])
        fresh.clear()
        return fresh

    def take(self, drawn: moderngl.Framebuffer) -> None:
        """Have what has been drawn into a canvas."""
        before, self._shown = self._shown, drawn
        self.drop(before)

    @staticmethod
    def drop(drawn: moderngl.Framebuffer) -> None:
        """Free a canvas that is not taken, which must not be bound."""
        texture = drawn.color_attachments[0]
        drawn.release()
        texture.release()

    @staticmethod
    def average(drawn: moderngl.Framebuffer) -> None:
        """Make the coarser levels of a canvas."""
        texture = colour_of(drawn)
        texture.build_mipmaps()
        texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR

    @property
    def image(self) -> np.ndarray:
        """(rows, columns, components) uint8 as it is looked at."""
        return self._level(0)

    def _level(self, number: int) -> np.ndarray:
        columns, rows = (max(count >> number, 1) for count in self._texture.size)
        texels = np.frombuffer(self._texture.read(level=number), "u1")
        return texels.reshape(rows, columns, self._components)

    def lit(self) -> dict[str, np.ndarray]:
        """What has been drawn and averaged, by level."""
        return {_named(number): self._level(number) for number in range(max(self._texture.size).bit_length())}

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have these levels: averaging them takes software GL several times as long as reading them."""
        image, *coarser = (kept[_named(number)] for number in range(max(self._texture.size).bit_length()))
        self._texture.write(np.ascontiguousarray(image))
        build_levels(self._ctx, self._texture, image, coarser)
        self._texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR

    def bind(self) -> None:
        """Keep it where materials look for it."""
        self._texture.use(self._unit)

    def release(self) -> None:
        """Free the picture."""
        self.drop(self._shown)


def _named(level: int) -> str:
    return f"map {level}" if level else "map"


class LightMap(BakedMap):
    """Of a land: roots of the radiance in red, green and blue, and in alpha the sun's share of it."""

    def __init__(self, ctx: moderngl.Context, extent_m: np.ndarray):
        """`extent_m`: as `grid_extent_m` has it."""
        coarser = max(math.sqrt(extent_m.prod() / TEXEL_M**2 / MOST_TEXELS), 1.0)
        rows, columns = np.clip(np.rint(extent_m / (TEXEL_M * coarser)), 1, 8192).astype(int)
        self.texel_m = math.sqrt(float(extent_m.prod()) / (int(rows) * int(columns)))
        super().__init__(ctx, (int(columns), int(rows)), "light_map")
        self.scale = 1.0
        """Radiance of a full texel."""

    @staticmethod
    def fitting_scale(sun_irradiance: np.ndarray, sky_irradiance: np.ndarray) -> float:
        """Radiance that nothing in this light exceeds."""
        return _ALBEDO / math.pi * max(float((sun_irradiance + sky_irradiance).max()), 1e-6)


class LevelSun:
    """How much of the sun still things leave to a level ground, in a map of it: soft where the sun's map has steps."""

    mapped = True

    def __init__(self, ctx: moderngl.Context, programs: Programs, corners_m: np.ndarray) -> None:
        """corners_m (2, 2): low and high corner of the ground at z = 0."""
        self._ctx, self._resources = ctx, Resources()
        self.low_m, self.span_m = corners_m[0], corners_m[1] - corners_m[0]
        texel_m = max(LEVEL_TEXEL_M, math.sqrt(float(self.span_m.prod()) / MOST_LEVEL_TEXELS))
        columns, rows = np.clip(np.rint(self.span_m / texel_m), 1, 8192).astype(int)
        self._map = self._resources.own(BakedMap(ctx, (int(columns), int(rows)), "level_sun_map", 1))
        self._program = programs.load("fullscreen.vert", "level_sun.frag")
        self._array = self._resources.own(ctx.vertex_array(self._program, []))
        uniform(self._program, "level_place").value = self.place

    @property
    def place(self) -> tuple[float, float, float, float]:
        """Low corner and extent [m], as shaders have it."""
        (x, y), (width, depth) = self.low_m.tolist(), self.span_m.tolist()
        return x, y, width, depth

    def bake(
        self, light: Light, given_up: ExitStack, coarser: int = 1
    ) -> Generator[None, None, Callable[[], None]]:
        """As `MappedLand.bake`: look the present sun's map up in every place."""
        canvas, waiting = self._map.canvas(coarser), given_up.enter_context(ExitStack())
        waiting.callback(self._map.drop, canvas)
        waiting.callback(unbind, self._ctx)
        rows = max(MAPPED_AT_ONCE // canvas.width, 1)
        for first in range(0, canvas.height, rows):
            canvas.use()
            canvas.scissor = 0, first, canvas.width, rows
            write_once(self._ctx)
            self._array.render(moderngl.TRIANGLES, vertices=3)
            yield
        canvas.scissor = 0, 0, canvas.width, canvas.height
        self._map.average(canvas)
        yield
        return partial(self._take, canvas, waiting)

    def _take(self, canvas: moderngl.Framebuffer, waiting: ExitStack) -> None:
        waiting.pop_all()
        self._map.take(canvas)

    def lit(self) -> dict[str, np.ndarray]:
        """The map."""
        return self._map.lit()

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have it as if it had been baked."""
        self._map.take_light(kept)

    def bind(self) -> None:
        """Keep it where paving looks for it."""
        self._map.bind()

    def release(self) -> None:
        """Free map and program."""
        self._resources.close()


CAST_AT_ONCE = 1 << 17
"""Triangles of a share of the sun's map."""
MAPPED_AT_ONCE = 1 << 17
"""Texels of a share of the light map, about."""
FAR = 3
"""Key of level ground on which no grain is seen."""
GRAIN_PER_M = NOISE_PX * 0.06
"""Texels of the finest level of the grain: `grain.glsl` has 0.06."""
_GRAINLESS_M = 2.0 ** (GRAIN_LEVEL - 0.5) / GRAIN_PER_M
"""Size of a pixel from which on the grain of level ground is looked up in a level that has none left."""
_ABOVE_FINEST = 1e-3
"""A level of a texture that is rounded to 0."""
_ABOUT = 4
"""Vertices to each side, over whose mean a place counts as steep or level."""
_BEDDED, _STEEP = 0.71, 0.80
"""Upward part of the normal, below which bedding is shown in place of the grain of level ground, and below which it
begins to show (`grain.glsl`)."""
_TOUCHED = 8.0
"""Times as fine as all else is what vehicles may touch, where that is coarser than is tolerated."""
_SHARE = 0.3
"""Of the triangles of a picture: so many are shaded while the next ones are worked out."""
_COARSER, _EASED, _ROOM = 1.2, 0.96, 0.9
"""Factors of the error where there are too many triangles, and where less than that share of them is drawn."""


def _told_of(mesh: ChunkedMesh, refinement: Refinement) -> Arrays:
    """What a `MappedGround` has of a mesh, which takes ten times as long to work out as to read."""
    assert mesh.places is not None
    corners = refinement.places[refinement.vertices]
    count, within = refinement.vertices.shape
    peaks, owners = summits(corners.reshape(-1, 3), np.repeat(np.arange(count), within))
    upward = refinement.mean_upward(_ABOUT)
    return {
        "low": corners.min(axis=1),
        "high": corners.max(axis=1),
        "summits": peaks,
        "owners": owners,
        "level": (refinement.upward[refinement.vertices] >= _STEEP).all(axis=1),
        "steep": upward < _BEDDED,
        "places": np.column_stack([mesh.places, upward]).astype("f4"),
        "extent_m": np.maximum(grid_extent_m(mesh), TEXEL_M),
    }


class MappedGround:
    """The finest mesh of a land with what every view chooses its triangles by: all that needs no GL."""

    def __init__(self, mesh: ChunkedMesh, ridges: Ridges):
        """`ridges`: of the world's terrain, which hide squares of it."""
        self.mesh, self.refinement = mesh, Refinement(mesh)
        name = f"ground-{self.refinement.made_of}-{_DIGEST}"
        kept = cached_arrays("refinements", name, lambda: _told_of(mesh, self.refinement))
        self.boxes = Boxes(kept["low"], kept["high"])
        """Of squares."""
        self.skyline = Skyline(ridges, kept["summits"], kept["owners"], len(self.refinement.squares))
        """Tells of squares."""
        self.level = kept["level"]
        """(squares,) bool: nowhere so steep that `grain.glsl` shows bedding."""
        self.refinement.mark_steep(kept["steep"])
        self.places = kept["places"]
        """(m, 3) of vertices: place on the grid, 0..1 along both axes; upward part of the normal about it."""
        self.extent_m = kept["extent_m"]


class MappedLand:
    """Owns the finest mesh of a land, its light map, and the triangles of the last view."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, ground: MappedGround, *, quality: Quality):
        self._ctx, self._quality, self._resources = ctx, quality, Resources()
        self._mesh, self._flush = ground.mesh, Flush(ctx)
        self._refinement, self._boxes, self._skyline = ground.refinement, ground.boxes, ground.skyline
        self._level, mesh = ground.level, ground.mesh
        own = self._resources.own
        self._vertices = own(ctx.buffer(np.ascontiguousarray(mesh.vertices, "f4")))
        self._finest = own(ctx.buffer(np.ascontiguousarray(mesh.indices, "u4")))
        self._fewest = 4 * len(self._refinement.squares)
        most = max(round(MOST_DETAIL * quality.terrain_triangles), self._fewest)
        self._rows, self._keys = np.empty((most, 3), np.int32), np.empty(most, np.int32)
        self._chosen = own(ctx.buffer(reserve=self._rows.nbytes, dynamic=True))
        self._light_map = own(LightMap(ctx, ground.extent_m))
        self._grain_look, self._light_look = (own(_sampler(ctx, repeated)) for repeated in (True, False))
        places: tuple[object, ...] = (
            own(ctx.buffer(ground.places)),
            "2f 1f",
            "place",
            "upward",
        )
        self._map_program = programs.load("terrain_map.vert", "terrain_map.frag")
        self._mapped = self._array(self._map_program, self._finest, places)
        self._depth = self._array(programs.load("terrain_depth.vert", "depth.frag"), self._finest)
        load = partial(programs.load, "terrain_baked.vert", "terrain_baked.frag", LIGHT_MAP=1)
        self._arrays = [
            self._array(load(UNDER_VEHICLE=under % FAR, GRAIN=int(under != FAR)), self._chosen, places)
            for under in (0, 1, 2, FAR)
        ]
        """0 for what no vehicle shades, 1 vehicles, 2 what stands about too; FAR: level ground on which no grain is
        seen."""
        self._grains = [
            [(uniform(array.program, "bedded"), uniform(array.program, "grain_of"))]
            if "bedded" in array.program
            else []
            for array in self._arrays
        ]
        """By kind: what tells of bedding, where anything does."""
        self._coarser = 1.0
        self.drawn_triangles = 0

    def _array(
        self, program: moderngl.Program, indices: moderngl.Buffer, *more: tuple[object, ...]
    ) -> moderngl.VertexArray:
        content = [(self._vertices, "3f 3f 4f", "position", "normal", "traits"), *more]
        return self._resources.own(vertex_array(self._ctx, program, content, indices))

    mapped = True

    def bake(
        self, light: Light, given_up: ExitStack, coarser: int = 1
    ) -> Generator[None, None, Callable[[], None]]:
        """Evaluate the material in the present light, once for every place.

        A share at a step; before each, the light and its shadows have to be bound. Until what is returned is called the
        light before is drawn with. `given_up` frees what has been made and not taken on. `coarser`: texels of the map
        are so many times as long.
        """
        scale = self._light_map.fitting_scale(light.sun_irradiance, light.sky_irradiance_above)
        canvas, waiting = self._light_map.canvas(coarser), given_up.enter_context(ExitStack())
        waiting.callback(self._light_map.drop, canvas)
        waiting.callback(unbind, self._ctx)
        chunks = len(self._mesh.chunks)
        at_once = max(
            min(MAPPED_AT_ONCE * chunks // (canvas.width * canvas.height), self._cast_at_once // 2), 1
        )
        for first in range(0, chunks, at_once):
            uniform(self._map_program, "light_scale").value = scale
            self._lay_out(canvas, self._mesh.chunks[first : first + at_once])
            yield
        self._light_map.average(canvas)
        yield
        return partial(self._take_map, canvas, scale, waiting)

    def _lay_out(self, canvas: moderngl.Framebuffer, chunks: Sequence[Chunk]) -> None:
        canvas.use()
        write_once(self._ctx)
        self._draw_finest(self._mapped, chunks)

    @staticmethod
    def _draw_finest(array: moderngl.VertexArray, chunks: Sequence[Chunk]) -> None:
        """Chunks that follow one another."""
        array.render(moderngl.TRIANGLES, vertices=sum(chunk.count for chunk in chunks), first=chunks[0].first)

    def _take_map(self, canvas: moderngl.Framebuffer, scale: float, waiting: ExitStack) -> None:
        waiting.pop_all()
        self._light_map.take(canvas)
        self._light_map.scale = scale
        self._tell_scale()

    def lit(self) -> dict[str, np.ndarray]:
        """The light map with its scale."""
        return {**self._light_map.lit(), "scale": np.array(self._light_map.scale)}

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have it as if it had been baked."""
        self._light_map.take_light(kept)
        self._light_map.scale = float(kept["scale"])
        self._tell_scale()

    def _tell_scale(self) -> None:
        for array in self._arrays:
            uniform(array.program, "light_scale").value = self._light_map.scale

    @property
    def _cast_at_once(self) -> int:
        """Chunks that are a share of work by their triangles alone."""
        return max(3 * CAST_AT_ONCE // max(chunk.count for chunk in self._mesh.chunks), 1)

    def cast(self) -> Iterator[Callable[[PassContext], None]]:
        """To be called with the shadow pass, each for a share of the finest mesh."""
        chunks, at_once = self._mesh.chunks, self._cast_at_once
        for first in range(0, len(chunks), at_once):
            yield partial(self._cast, chunks[first : first + at_once])

    def _cast(self, chunks: Sequence[Chunk], context: PassContext) -> None:
        self._draw_finest(self._depth, chunks)

    def draw(self, context: PassContext) -> None:
        """Draw what the pass's camera sees, in the opaque pass."""
        eye_w = np.asarray(context.view.eye_w, float)
        visible = self._boxes.visible(context.frustum)
        visible &= self._skyline.seen(eye_w, visible)
        distance = self._boxes.distance(eye_w)
        squares = np.flatnonzero(visible)
        squares = squares[np.argsort(distance[squares])]  # nearest first: what is covered is not shaded
        self.drawn_triangles = count = self._refined(context, squares, distance[squares])
        keys = self._keys[:count].astype(np.uint8)
        self._chosen.orphan()
        self._chosen.write(self._rows[np.argsort(keys, kind="stable")])
        self._light_map.bind()
        counts = np.bincount(keys, minlength=TRIANGLE_KINDS * LEVELS)
        first = flushed = 0
        looked = -1
        with culled(context), self._looking():
            for key in np.flatnonzero(counts).tolist():
                level, kind = divmod(key, TRIANGLE_KINDS)
                if level != looked:
                    self._look_up(level)
                    looked = level
                array = self._array_of(kind)
                array.render(moderngl.TRIANGLES, vertices=3 * int(counts[key]), first=3 * first)
                first += int(counts[key])
                if first - flushed > _SHARE * count:
                    self._flush()
                    flushed = first

    def _array_of(self, kind: int) -> moderngl.VertexArray:
        """What draws triangles of a kind: one look tells of one grain, of bedding or of level ground."""
        kind, steep = kind % STEEP, kind >= STEEP
        for bedded, grain_of in self._grains[kind]:
            bedded.value = steep
            grain_of.value = (0.0, 1.0) if steep else (1.0, 0.0)
        return self._arrays[kind]

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Grain and light are looked up as `_look_up` has it."""
        self._grain_look.use(SAMPLER_UNITS["grain_map"])
        self._light_look.use(SAMPLER_UNITS["light_map"])
        yield
        self._grain_look.clear(SAMPLER_UNITS["grain_map"])
        self._light_look.clear(SAMPLER_UNITS["light_map"])

    def _look_up(self, level: int) -> None:
        """Have grain and light looked up in one level only: where software GL has none to choose, it is three times as
        swift."""
        own = max(round(level - math.log2(GRAIN_PER_M * self._light_map.texel_m) - 0.5), 0)
        for sampler, at in ((self._grain_look, level), (self._light_look, own)):
            # Where the least level is 0 software GL compiles another program.
            sampler.min_lod = sampler.max_lod = max(float(at), _ABOVE_FINEST)

    def _refined(self, context: PassContext, squares: np.ndarray, distance_m: np.ndarray) -> int:
        """How many triangles of squares (k,) are drawn, within the budget; they and their keys are kept.

        What a vehicle may touch is coarser than is tolerated only at the last.
        """
        # A fifth of the triangles shows less than what a smaller picture would lose for as much time.
        most = max(round(self._quality.terrain_triangles * context.detail), self._fewest)
        # Shape is as fine as textures are looked up: pictures that add up show more than each of them has pixels.
        tolerated = self._quality.terrain_error_px * 2.0**context.texture_bias / context.px_per_radian
        kinds = self._kinds(context, squares, distance_m)
        within = self._boxes.within(context.frustum)[squares]
        while True:
            count = self._refinement.split(
                squares,
                context.view.eye_w,
                tolerated * self._coarser,
                self._rows[:most],
                self._keys,
                kinds=kinds,
                texels=GRAIN_PER_M * 2.0**context.texture_bias / context.px_per_radian,
                seen=context.frustum,
                within=within,
                touched=context.near_vehicles,
                least=tolerated * max(self._coarser / _TOUCHED, 1.0),
                above_m=context.seen_above_m,
            )
            if count >= 0:
                if count < _ROOM * most:
                    self._coarser = max(self._coarser * _EASED, 1.0)
                return count
            self._coarser *= _COARSER

    def _kinds(self, context: PassContext, squares: np.ndarray, distance_m: np.ndarray) -> np.ndarray:
        """(k, 2) by square, what looks up no more than it needs to: software GL looks up under every condition. First
        where vehicles may cast a shadow, then elsewhere."""
        reach = context.near_vehicles
        under = np.zeros(len(squares), bool) if reach is None else self._boxes.visible(reach)[squares]
        px_per_m = context.px_per_radian * 2.0**-context.texture_bias / np.maximum(distance_m, 1e-3)
        far = self._level[squares] & (px_per_m * _GRAINLESS_M < 1.0)
        elsewhere = np.where(far, FAR, 0)
        return np.column_stack([np.where(under, 2 if context.stands else 1, elsewhere), elsewhere])

    def warm_up(self) -> None:
        """Draw a triangle by each program, lest the one that is first wanted in motion be compiled then."""
        self._light_map.bind()
        with self._looking():
            self._look_up(0)
            for kind in (0, 1, FAR):
                self._arrays[kind].render(moderngl.TRIANGLES, vertices=3)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()


def _sampler(ctx: moderngl.Context, repeated: bool) -> moderngl.Sampler:
    """Of one level at a time."""
    return ctx.sampler(
        repeat_x=repeated, repeat_y=repeated, filter=(moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
    )
