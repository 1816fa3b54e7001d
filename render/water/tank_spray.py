"""Drops that fly, as one surface of water: their nearest depths and their thickness on a smaller picture, smoothed.

Screen-space fluid rendering (W. van der Laan, S. Green, M. Sainz, "Screen space fluid rendering with curvature flow",
I3D 2009), with the smoothing of depths by a separable filter that keeps edges. Only the part of the picture that has
drops is worked on; the surface has depths of its own, so hulls hide it and it hides what is behind.
"""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.passes.targets import PassContext, blend_over, colour_of
from render.programs import FIRST_FREE_UNIT, Programs, uniform, vertex_array
from sim.water.picture import MOST_SPRAY

_DROP_M = 0.05
"""Radius: drops half a cell apart are one sheet."""
_DEPTH_UNIT, _THICKNESS_UNIT = FIRST_FREE_UNIT, FIRST_FREE_UNIT + 1
_REACH_PX = 16
"""Beyond the drops that smoothing reaches, on the smaller picture."""


class SpraySurface:
    """Owns the smaller pictures, which follow the size of what is drawn into."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._ctx = ctx
        self._resources, self._sized = ExitStack(), ExitStack()
        self._resources.callback(self._sized.close)
        self._buffer = ctx.buffer(reserve=MOST_SPRAY * 12, dynamic=True)
        self._resources.callback(self._buffer.release)
        self._drops = {
            name: self._points(programs, name) for name in ("spray_depth.frag", "spray_thickness.frag")
        }
        self._smooth = self._whole(programs, "spray_smooth.frag")
        self._surface = self._whole(programs, "spray_surface.frag")
        self._places = np.zeros((0, 3), np.float32)
        self._size_px = (0, 0)

    def _points(self, programs: Programs, name: str) -> tuple[moderngl.Program, moderngl.VertexArray]:
        program = programs.load("spray.vert", name)
        array = vertex_array(self._ctx, program, [(self._buffer, "3f", "place")])
        self._resources.callback(array.release)
        return program, array

    def _whole(self, programs: Programs, name: str) -> tuple[moderngl.Program, moderngl.VertexArray]:
        program = programs.load("fullscreen.vert", name)
        array = self._ctx.vertex_array(program, [])
        self._resources.callback(array.release)
        for sampler, unit in (("depth_map", _DEPTH_UNIT), ("thickness_map", _THICKNESS_UNIT)):
            if sampler in program:
                uniform(program, sampler).value = unit
        return program, array

    def take_up(self, places_w: np.ndarray) -> None:
        """Show drops at places (n, 3) [m]."""
        self._places = np.ascontiguousarray(places_w, np.float32)
        if len(self._places):
            self._buffer.write(self._places)

    def draw(self, context: PassContext) -> None:
        """In the blended pass."""
        smaller = 2 if context.quality.full_materials else 3
        size = max(context.size_px[0] // smaller, 8), max(context.size_px[1] // smaller, 8)
        about = covered_px(self._places, context.view.projection @ context.view.view, size)
        if about is None:
            return
        if size != self._size_px:
            self._make(size)
        ctx, scene = self._ctx, self._ctx.fbo
        self._draw_drops(context, about)
        ctx.disable(moderngl.BLEND)
        program, array = self._smooth
        for source, target, step in (
            (self._raw, self._half, (1.0 / size[0], 0.0)),
            (self._half, self._done, (0.0, 1.0 / size[1])),
            (self._done, self._half, (2.0 / size[0], 0.0)),
            (self._half, self._done, (0.0, 2.0 / size[1])),
        ):
            target.use()
            target.scissor = about
            colour_of(source).use(_DEPTH_UNIT)
            uniform(program, "step_uv").value = step
            array.render(moderngl.TRIANGLES, vertices=3)
            target.scissor = None  # type: ignore[assignment]
        scene.use()
        ctx.enable(moderngl.DEPTH_TEST | moderngl.BLEND)
        colour_of(self._done).use(_DEPTH_UNIT)
        x, y, width, height = about
        scene.scissor = smaller * x, smaller * y, smaller * width, smaller * height
        program, array = self._surface
        uniform(program, "texel").value = (1.0 / size[0], 1.0 / size[1])
        scene.depth_mask = True
        array.render(moderngl.TRIANGLES, vertices=3)
        scene.depth_mask = False
        scene.scissor = None  # type: ignore[assignment]

    def _draw_drops(self, context: PassContext, about: tuple[int, int, int, int]) -> None:
        """The nearest depth, as its reciprocal, then the thickness beside it."""
        ctx = self._ctx
        ctx.enable(moderngl.PROGRAM_POINT_SIZE | moderngl.BLEND)
        ctx.disable(moderngl.DEPTH_TEST)
        ctx.blend_func = moderngl.ONE, moderngl.ONE
        self._raw.use()
        self._raw.clear()
        for (program, array), equation, mask in (
            (self._drops["spray_depth.frag"], moderngl.MAX, (True, False, False, False)),
            (self._drops["spray_thickness.frag"], moderngl.FUNC_ADD, (False, True, False, False)),
        ):
            uniform(program, "drop_m").value = _DROP_M
            uniform(program, "high_px").value = float(self._size_px[1])
            ctx.blend_equation = equation  # type: ignore[assignment]
            self._raw.color_mask = mask
            array.render(moderngl.POINTS, vertices=len(self._places))
        self._raw.color_mask = (True, True, True, True)
        ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]
        blend_over(ctx)
        ctx.disable(moderngl.PROGRAM_POINT_SIZE)

    def _make(self, size_px: tuple[int, int]) -> None:
        self._sized.close()
        framebuffers = []
        for _ in range(3):
            texture = self._ctx.texture(size_px, 2, dtype="f4")
            texture.repeat_x = texture.repeat_y = False
            framebuffers.append(self._ctx.framebuffer([texture]))
            for resource in (texture, framebuffers[-1]):
                self._sized.callback(resource.release)
        self._raw, self._half, self._done = framebuffers
        self._size_px = size_px

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()


def covered_px(
    places_w: np.ndarray, clip_from_world: np.ndarray, size_px: tuple[int, ...]
) -> tuple[int, int, int, int] | None:
    """(x, y, width, height) of the picture that drops at places (n, 3) may cover; None where none is in view."""
    clip = np.column_stack([places_w, np.ones(len(places_w))]) @ clip_from_world.T
    clip = clip[clip[:, 3] > 0.2]
    if not len(clip):
        return None
    at = (0.5 + 0.5 * clip[:, :2] / clip[:, 3:]) * size_px
    reach = _REACH_PX + _DROP_M * float(np.abs(clip_from_world[1, :3]).max()) * size_px[1] / clip[:, 3:]
    low = np.clip(np.floor((at - reach).min(axis=0)), 0, size_px).astype(int)
    high = np.clip(np.ceil((at + reach).max(axis=0)), 0, size_px).astype(int)
    if (high <= low).any():
        return None
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])
