"""The river's surface: a strip along the channel that knows how deep it is."""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.culling import Boxes
from render.passes import PassContext
from render.programs import Programs
from render.quality import Quality
from render.vertex_arrays import vertex_array
from sim.world import World

_REACH_M = 48.0
_BEYOND_M = 1500.0
"""How far the river runs on past either end of the map, in the land around it."""
_CHANNEL_M = 3.0
"""Its depth there, along the middle."""


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
    number = np.arange(grid_x.size).reshape(grid_x.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    quads = np.stack([a, b, c, a, c, d], axis=-1)
    wet = (np.maximum.reduce([depth[:-1, :-1], depth[1:, :-1], depth[1:, 1:], depth[:-1, 1:]])) > -0.4
    quads[~wet] = 0  # dry quads collapse to a point and cost nothing
    return vertices, quads.reshape(len(x) - 1, -1)


class RiverSurface:
    """Draws the water over the opaque scene."""

    def __init__(
        self, ctx: moderngl.Context, programs: Programs, world: World, quality: Quality, *, planar: bool
    ):
        self._resources = ExitStack()
        along, across = (4.0, 2.0) if quality.full_materials else (10.0, 4.0)
        vertices, rows = river_strip(world, along_m=along, across_m=across)
        buffer = ctx.buffer(np.ascontiguousarray(vertices.reshape(-1, 5)))
        index = ctx.buffer(np.ascontiguousarray(rows, dtype="u4"))
        program = programs.load("water.vert", "water.frag", PLANAR_REFLECTION=int(planar))
        content = [(buffer, "2f 1f 1f 1f", "place", "depth", "lateral", "slope")]
        self._array = vertex_array(ctx, program, content, index)
        for resource in (buffer, index, self._array):
            self._resources.callback(resource.release)
        self._row_size = rows.shape[1]
        self._blocks = np.array_split(np.arange(len(rows)), max(len(rows) // 16, 1))
        spans = [vertices[block[0] : block[-1] + 2, :, :2].reshape(-1, 2) for block in self._blocks]
        level = world.river.level_m
        self._boxes = Boxes(
            np.array([[*span.min(axis=0), level - 0.5] for span in spans]),
            np.array([[*span.max(axis=0), level + 0.5] for span in spans]),
        )

    def visible(self, frustum: np.ndarray) -> bool:
        """Whether any of the river lies in the view, walls left aside."""
        return bool(self._boxes.visible(frustum).any())

    def draw(self, context: PassContext) -> None:
        """Draw the blocks in view, nearest run by nearest run."""
        for block in np.flatnonzero(self._boxes.visible(context.frustum)):
            rows = self._blocks[block]
            self._array.render(
                moderngl.TRIANGLES, vertices=len(rows) * self._row_size, first=int(rows[0]) * self._row_size
            )

    def release(self) -> None:
        """Free buffers and array."""
        self._resources.close()
