"""The water of a world, at rest or as the waves of a frame's sea; a dry world has none and draws none."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Film, Frame
from render.land.scenery import material_water_level_m
from render.passes.culling import Boxes
from render.passes.targets import PassContext, Targets, colour_of
from render.programs import SAMPLER_UNITS, Programs, Resources, uniform, vertex_array
from render.quality import Quality
from render.water.marks import WaterMarks
from render.water.sea import SeaSurface
from render.water.tank import WaterBoxes
from sim.world import World
from sim.world.props import Lake

_STREAKS, _RINGS = 3000, 900
"""In the heaviest rain."""
_CORNERS = 6
"""Vertices of each."""


class Rain:
    """Owns two programs that make everything up by number and time; there is nothing to be kept."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._resources = Resources()
        self._ring_program = programs.load("rain_rings.vert", "rain_rings.frag")
        self._rings = self._resources.own(ctx.vertex_array(self._ring_program, []))
        streaks = programs.load("rain.vert", "rain.frag")
        self._streaks = self._resources.own(ctx.vertex_array(streaks, []))

    def draw(self, context: PassContext, sea: SeaSurface | None) -> None:
        """In the blended pass; rings only on a sea that has been prepared, and looked at from above."""
        amount = context.light.rain * context.detail
        if sea is not None and sea.eye_under_m <= 0.0:
            sea.bind()
            sea.describe_to(self._ring_program)
            self._rings.render(moderngl.TRIANGLES, vertices=_CORNERS * round(amount * _RINGS))
        if sea is None or sea.eye_under_m <= 0.0:
            self._streaks.render(moderngl.TRIANGLES, vertices=_CORNERS * round(amount * _STREAKS))

    def release(self) -> None:
        """Free what it owns."""
        self._resources.close()


_REACH_M = 48.0
_BEYOND_M = 1500.0
"""How far the river runs on past either end of the map, in the land around it."""
_CHANNEL_M = 3.0
"""Its depth there, along the middle."""
_SHORE_SLACK_M = 10.0
_ROWS = 16
"""Of quads that are culled together."""
_ELSEWHERE = (1e6, 1e6, 1.0)
"""A window of marks that holds nothing of the water."""
_OPEN_M, _OPEN_STEP_M = 10_000.0, 250.0
"""Half width of a sea without shores, and of its quads: it is as level as they are."""


def river_strip(world: World, *, along_m: float, across_m: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices (rows, columns, 5) x, y, depth, lateral, slope and the indices of each row of quads that has water.

    Lateral is measured from the centre line, slope is dy/dx of the flow. Row by row along x.
    """
    river, terrain = world.river, world.terrain
    assert river is not None
    low = terrain.origin_m[0]
    high = low + (terrain.heights.shape[1] - 1) * terrain.spacing_m
    x = np.linspace(low - _BEYOND_M, high + _BEYOND_M, int((high - low + 2 * _BEYOND_M) / along_m) + 2)
    lateral = np.linspace(-_REACH_M, _REACH_M, int(2 * _REACH_M / across_m) + 1)
    grid_x, grid_l = np.meshgrid(x, lateral, indexing="ij")
    grid_y = river.centre(grid_x) + grid_l
    depth = river.level_m - terrain.height(grid_x, grid_y)
    beyond = (grid_x < low) | (grid_x > high)
    depth = np.where(beyond, _CHANNEL_M * (1.0 - (grid_l / river.half_width_m) ** 2), depth)
    vertices = np.stack([grid_x, grid_y, depth, grid_l, np.asarray(river.slope(grid_x))], axis=-1).astype(
        "f4"
    )
    return vertices, _wet_quads(depth)


def lake_strip(world: World, *, along_m: float, across_m: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices and indices like those of a river that runs along x without a bend, as wide as lake or open sea."""
    lake = world.grounds.lake if world.grounds is not None else None
    if lake is not None:
        centre, half, steps = lake.centre_m, _reach(lake), (along_m, across_m)
    else:
        centre, half, steps = (0.0, 0.0), (_OPEN_M, _OPEN_M), (_OPEN_STEP_M, _OPEN_STEP_M)
    x, y = (
        np.linspace(c - h, c + h, int(2.0 * h / step) + 2)
        for c, h, step in zip(centre, half, steps, strict=True)
    )
    grid_x, grid_y = np.meshgrid(x, y, indexing="ij")
    assert world.water_level_m is not None
    depth = world.water_level_m - world.terrain.height(grid_x, grid_y)
    vertices = np.stack([grid_x, grid_y, depth, grid_y, 0.0 * grid_x], axis=-1).astype("f4")
    return vertices, _wet_quads(depth)


def _reach(lake: Lake) -> tuple[float, float]:
    """Half extents (x, y) m within which all of the lake lies."""
    return lake.half_m[0] + _SHORE_SLACK_M, lake.half_m[1] + _SHORE_SLACK_M


def _wet_quads(depth: np.ndarray) -> list[np.ndarray]:
    """Row by row, (k, 6) vertex numbers of two triangles for each quad that is not dry."""
    number = np.arange(depth.size).reshape(depth.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    quads = np.stack([a, b, c, a, c, d], axis=-1)
    wet = np.maximum.reduce([depth[:-1, :-1], depth[1:, :-1], depth[1:, 1:], depth[:-1, 1:]]) > -0.4
    return [row[kept] for row, kept in zip(quads, wet, strict=True)]


class WaterSurface:
    """Draws the water over the opaque scene."""

    def __init__(
        self, ctx: moderngl.Context, programs: Programs, world: World, quality: Quality, *, planar: bool
    ):
        self._ctx, self._resources = ctx, ExitStack()
        along, across = (4.0, 2.0) if quality.full_materials else (10.0, 4.0)
        assert world.water_level_m is not None
        strip = river_strip if world.river is not None else lake_strip
        vertices, rows = strip(world, along_m=along, across_m=across)
        buffer = ctx.buffer(np.ascontiguousarray(vertices.reshape(-1, 5)))
        runs = [np.arange(first, min(first + _ROWS, len(rows))) for first in range(0, len(rows), _ROWS)]
        blocks = [quads for quads in (np.concatenate([rows[k] for k in run]) for run in runs) if len(quads)]
        index = ctx.buffer(np.concatenate(blocks).astype("u4"))
        walls = int(world.river is not None)
        load = partial(programs.load, "water.vert", WALLS=walls)
        shading = partial(load, "water.frag", PLANAR_REFLECTION=int(planar))
        blocks_too = () if quality.full_materials else ((1, 1),)  # there, to look up nothing costs less
        programs_by = {key: shading(BLOCKS=key[0], MARKS=key[1]) for key in ((0, 0), (0, 1), *blocks_too)}
        self._marked_programs = [program for (_, marked), program in programs_by.items() if marked]
        self.marks = WaterMarks(ctx, programs, quality)
        self._resources.callback(self.marks.release)
        content = [(buffer, "2f 1f 1f 1f", "place", "depth", "lateral", "slope")]
        self._arrays = {key: vertex_array(ctx, each, content, index) for key, each in programs_by.items()}
        """By whether it is shaded once in several pixels, and whether marks are on it."""
        self._carried = [vertex_array(ctx, load("water_carried.frag"), content, index) for _ in blocks_too]
        """Draws what was shaded so."""
        arrays = (*self._arrays.values(), *self._carried)
        for release in (buffer.release, index.release, *(array.release for array in arrays)):
            self._resources.callback(release)
        self._counts = [quads.size for quads in blocks]
        self._firsts = np.cumsum([0, *self._counts]).tolist()
        spans = [vertices.reshape(-1, 5)[quads.ravel(), :2] for quads in blocks]
        level = world.water_level_m
        self._boxes = Boxes(
            np.array([[*span.min(axis=0), level - 0.5] for span in spans]),
            np.array([[*span.max(axis=0), level + 0.5] for span in spans]),
        )

    def visible(self, frustum: np.ndarray) -> bool:
        """Whether any of the water lies in the view, walls left aside."""
        return bool(self._boxes.visible(frustum).any())

    def draw(self, context: PassContext, targets: Targets) -> None:
        """Draw the blocks in view into the scene of the targets, nearest run by nearest run."""
        marked = int(self.marks.any)  # looking up nothing is not free, either
        for program in self._marked_programs:
            uniform(program, "marks_window").value = self.marks.window if marked else _ELSEWHERE
        if targets.water_block == 1 or not self._carried:
            self._draw_visible(self._arrays[0, marked], context)
        else:
            self._draw_in_blocks(targets, lambda array: self._draw_visible(array, context))

    def _draw_in_blocks(self, targets: Targets, draw: Callable[[moderngl.VertexArray], None]) -> None:
        """Shade once in several pixels, and draw what was shaded so."""
        assert targets.depth_map is not None
        targets.depth_map.use(SAMPLER_UNITS["scene_depth_map"])
        shaded = targets.water_shaded
        shaded.use()
        shaded.clear(alpha=-1.0)
        self._ctx.enable_only(moderngl.NOTHING)
        draw(self._arrays[1, 1])
        colour_of(shaded).use(SAMPLER_UNITS["water_shaded_map"])
        targets.scene.use()
        self._ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        draw(self._carried[0])

    def _draw_visible(self, array: moderngl.VertexArray, context: PassContext) -> None:
        for block in np.flatnonzero(self._boxes.visible(context.frustum)).tolist():
            array.render(moderngl.TRIANGLES, vertices=self._counts[block], first=self._firsts[block])

    def warm_up(self, targets: Targets) -> None:
        """Have all programs compiled, as they are drawn by: some wait for something that moves on the water."""

        def draw(array: moderngl.VertexArray) -> None:
            array.render(moderngl.TRIANGLES, vertices=3)

        for marked in (0, 1):
            draw(self._arrays[0, marked])
        if self._carried:
            self._draw_in_blocks(targets, draw)

    def release(self) -> None:
        """Free buffers and array."""
        self._resources.close()


class Waters:
    """Draws the water over the opaque scene, and says where it stands about a vehicle."""

    def __init__(
        self, ctx: moderngl.Context, programs: Programs, world: World, quality: Quality, *, planar: bool
    ):
        """`planar`: what is mirrored in it is drawn into a map of its own."""
        self._ctx, self._programs, self._world, self._quality = ctx, programs, world, quality
        self._planar = planar
        self._resources = ExitStack()
        self.level_m = material_water_level_m(world)
        self._at_rest: WaterSurface | None = None
        if world.water_level_m is not None:
            self._at_rest = WaterSurface(ctx, programs, world, quality, planar=planar)
            self._resources.callback(self._at_rest.release)
        self.waves: SeaSurface | None = None
        """What draws waves in the place of still water; made when first asked for."""
        self._rain: Rain | None = None
        self._box: WaterBoxes | None = None
        self._cold = False
        """Whether the next picture of waves is to be drawn by all programs that later ones may be."""

    @property
    def wet(self) -> bool:
        return self._at_rest is not None

    def bind(self) -> None:
        """Keep the textures where the shaders look for them."""
        if self._at_rest is not None:
            self._at_rest.marks.bind()

    def prepare(
        self,
        frame: Frame,
        probe: Callable[[str], AbstractContextManager[object]],
        *,
        detail: float,
        height_px: int,
    ) -> None:
        """Take up what a frame's vehicles leave on the water, and its waves, in that share of their full detail, for a
        picture so high."""
        if self._at_rest is None:
            return
        with probe("marks on the water"):
            self._at_rest.marks.draw(frame, self.level_m)
        if frame.sea is not None:
            with probe("waves"):
                self._waves(self._at_rest).prepare(frame, detail, height_px)

    def plane_about(self, frame: Frame) -> Callable[[DrawnVehicle], tuple[float, float, float]] | None:
        """Of a vehicle: height at the world's origin [m] and slopes of the water that was prepared; None if dry."""
        if self._at_rest is None:
            return None
        if frame.sea is not None and self.waves is not None:
            return self.waves.plane_about
        return lambda vehicle: (self.level_m, 0.0, 0.0)

    def film_about(self, frame: Frame) -> Callable[[DrawnVehicle], Film | None] | None:
        """Of a vehicle: what water has come on its deck; None where none can."""
        waves = self.waves if frame.sea is not None else None
        return None if waves is None else waves.shipped.about

    def eye_under_m(self, frame: Frame) -> float:
        """How far below the waves the frame is looked at from; 0 over still water."""
        return self.waves.eye_under_m if frame.sea is not None and self.waves is not None else 0.0

    def hides_below_m(self, frame: Frame) -> float:
        """Height below which its waves hide all that lies there: where what is seen through them is not drawn."""
        if frame.sea is None or self.waves is None or self._quality.full_materials:
            return -math.inf
        return self.waves.hides_below_m

    def visible(self, frame: Frame, frustum: np.ndarray) -> bool:
        """Whether any of it may lie in the view."""
        return self._at_rest is not None and (frame.sea is not None or self._at_rest.visible(frustum))

    def draw(self, frame: Frame, context: PassContext, targets: Targets) -> None:
        """What has been prepared, into the scene of the targets."""
        if self._at_rest is None:
            return
        if frame.sea is None:
            self._at_rest.draw(context, targets)
        else:
            self._waves(self._at_rest).draw(context, targets, cold=self._cold)
            self._cold = False

    def warm_up(self, frame: Frame, targets: Targets) -> None:
        """Have the programs compiled of water at rest, or with the next draw those of waves that wait for a dive."""
        self._cold = frame.sea is not None
        if self._at_rest is not None and not self._cold:
            self._at_rest.warm_up(targets)

    def draw_blended(self, frame: Frame, context: PassContext) -> None:
        """What flies from the waves that have been prepared, what falls on them, and a box of water, in the blended
        pass."""
        waves = self.waves if frame.sea is not None else None
        if waves is not None:
            waves.draw_spray(context)
        if context.light.rain > 0.0:
            if self._rain is None:
                self._rain = Rain(self._ctx, self._programs)
                self._resources.callback(self._rain.release)
            self._rain.draw(context, waves)
        if frame.water_box is not None:
            if self._box is None:
                self._box = WaterBoxes(self._ctx, self._programs)
                self._resources.callback(self._box.release)
            self._box.draw(frame.water_box, context)

    def expect_waves(self) -> Iterator[None]:
        """Have what draws waves, a share at a step, where all water may have them: rivers have those of boats alone."""
        yield
        if self._at_rest is not None and self._world.river is None:
            waves = self._waves(self._at_rest)
            yield
            yield from waves.keep_textures()

    def _waves(self, at_rest: WaterSurface) -> SeaSurface:
        if self.waves is None:
            self.waves = SeaSurface(
                self._ctx, self._programs, self._world, self._quality, at_rest.marks, planar=self._planar
            )
            self._resources.callback(self.waves.release)
        return self.waves

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()
