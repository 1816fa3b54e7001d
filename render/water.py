"""The surface of river or lake: a grid along the channel that knows how deep it is."""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.culling import Boxes
from render.passes import PassContext
from render.programs import Programs
from render.quality import Quality
from render.vertex_arrays import vertex_array
from render.water_marks import WaterMarks
from sim.world import World
from sim.world.props import Lake

_REACH_M = 48.0
_BEYOND_M = 1500.0
"""How far the river runs on past either end of the map, in the land around it."""
_CHANNEL_M = 3.0
"""Its depth there, along the middle."""
_SHORE_SLACK_M = 10.0
_OPEN_M, _OPEN_STEP_M = 10_000.0, 250.0
"""Half width of a sea without shores, and of its quads: it is as level as they are."""


def river_strip(world: World, *, along_m: float, across_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (rows, columns, 5) x, y, depth, lateral, slope and indices (rows - 1, k) of the water surface.

    Lateral is measured from the centre line, slope is dy/dx of the flow. Row by row along x.
    """
    river, terrain = world.river, world.terrain
    low = terrain.origin_m[0]
    high = low + (terrain.heights.shape[1] - 1) * terrain.spacing_m
    x = np.linspace(low - _BEYOND_M, high + _BEYOND_M, int((high - low + 2 * _BEYOND_M) / along_m) + 2)
    lateral = np.linspace(-_REACH_M, _REACH_M, int(2 * _REACH_M / across_m) + 1)
    grid_x, grid_l = np.meshgrid(x, lateral, indexing="ij")
    grid_y = river.centre(grid_x) + grid_l
    depth = river.level_m - terrain.height(grid_x, grid_y)
    beyond = (grid_x < low) | (grid_x > high)
    depth = np.where(beyond, _CHANNEL_M * (1.0 - (grid_l / river.half_width_m) ** 2), depth)
    vertices = np.stack([grid_x, grid_y, depth, grid_l, river.slope(grid_x)], axis=-1).astype("f4")
    return vertices, _wet_quads(depth)


def lake_strip(world: World, *, along_m: float, across_m: float) -> tuple[np.ndarray, np.ndarray]:
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
    depth = world.water_level_m - world.terrain.height(grid_x, grid_y)
    vertices = np.stack([grid_x, grid_y, depth, grid_y, 0.0 * grid_x], axis=-1).astype("f4")
    return vertices, _wet_quads(depth)


def _reach(lake: Lake) -> tuple[float, float]:
    """Half extents (x, y) m within which all of the lake lies."""
    return lake.half_m[0] + _SHORE_SLACK_M, lake.half_m[1] + _SHORE_SLACK_M


def _wet_quads(depth: np.ndarray) -> np.ndarray:
    """(rows - 1, k) vertex numbers of two triangles a quad; dry quads collapse to a point and cost nothing."""
    number = np.arange(depth.size).reshape(depth.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    quads = np.stack([a, b, c, a, c, d], axis=-1)
    wet = np.maximum.reduce([depth[:-1, :-1], depth[1:, :-1], depth[1:, 1:], depth[:-1, 1:]]) > -0.4
    quads[~wet] = 0
    return quads.reshape(len(depth) - 1, -1)


class WaterSurface:
    """Draws the water over the opaque scene."""

    def __init__(
        self, ctx: moderngl.Context, programs: Programs, world: World, quality: Quality, *, planar: bool
    ):
        self._resources = ExitStack()
        along, across = (4.0, 2.0) if quality.full_materials else (10.0, 4.0)
        strip = river_strip if world.river is not None else lake_strip
        vertices, rows = strip(world, along_m=along, across_m=across)
        buffer = ctx.buffer(np.ascontiguousarray(vertices.reshape(-1, 5)))
        index = ctx.buffer(np.ascontiguousarray(rows, dtype="u4"))
        defines = {"PLANAR_REFLECTION": int(planar), "WALLS": int(world.river is not None)}
        still, moved = (programs.load("water.vert", "water.frag", **defines, MARKS=m) for m in (0, 1))
        self._moved_program = moved
        self.marks = WaterMarks(ctx, programs, quality)
        self._resources.callback(self.marks.release)
        content = [(buffer, "2f 1f 1f 1f", "place", "depth", "lateral", "slope")]
        self._still, self._moved = (vertex_array(ctx, each, content, index) for each in (still, moved))
        for resource in (buffer, index, self._still, self._moved):
            self._resources.callback(resource.release)
        self._row_size = rows.shape[1]
        self._blocks = np.array_split(np.arange(len(rows)), max(len(rows) // 16, 1))
        spans = [vertices[block[0] : block[-1] + 2, :, :2].reshape(-1, 2) for block in self._blocks]
        level = world.water_level_m
        self._boxes = Boxes(
            np.array([[*span.min(axis=0), level - 0.5] for span in spans]),
            np.array([[*span.max(axis=0), level + 0.5] for span in spans]),
        )

    def visible(self, frustum: np.ndarray) -> bool:
        """Whether any of the water lies in the view, walls left aside."""
        return bool(self._boxes.visible(frustum).any())

    def draw(self, context: PassContext) -> None:
        """Draw the blocks in view, nearest run by nearest run."""
        array = self._moved if self.marks.any else self._still  # looking up nothing is not free, either
        self._moved_program["marks_window"].value = self.marks.window
        for block in np.flatnonzero(self._boxes.visible(context.frustum)):
            rows = self._blocks[block]
            array.render(
                moderngl.TRIANGLES, vertices=len(rows) * self._row_size, first=int(rows[0]) * self._row_size
            )

    def release(self) -> None:
        """Free buffers and array."""
        self._resources.close()
