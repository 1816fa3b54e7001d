"""A glass box of splashing water: its surface, the water seen through the glass, foam, spray, and the glass itself."""

from contextlib import ExitStack

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from render.passes.targets import PassContext, blend_over, colour_of
from render.programs import FIRST_FREE_UNIT, Programs, uniform, vertex_array
from render.water.crest_spray import drops
from sim.water.picture import MOST_SPRAY, BoxPicture

_FINER = 2
"""Points of the surface that is drawn, for each cell along an edge."""
_SOFT = 0.6
"""By which heights are softened, in cells: particles make them uneven."""
_FLOATS = 7
_BAR_M = 0.05
"""Half of the thickness of the frame."""
_ALUMINIUM, _FLOOR, _PLATE, _EDGE = (
    (0.60, 0.62, 0.63),
    (0.34, 0.52, 0.55),
    (0.55, 0.58, 0.59),
    (0.78, 0.40, 0.03),
)
_CONCRETE, _STEEL = (0.36, 0.35, 0.33), (0.42, 0.44, 0.46)
_KERB_M, _CAP_M = (0.34, 0.42), 0.03
"""Width and height of the kerb, and how thick the steel on it is."""
_EDGE_M = 0.1
"""Height of the paddle's painted edge."""


class WaterBoxes:
    """Draws one box in the blended pass."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx = ctx
        self._resources, self._sized = ExitStack(), ExitStack()
        self._resources.callback(self._sized.close)
        self._program = programs.load("water_box.vert", "water_box.frag")
        self._glass_program = programs.load("glass.vert", "glass.frag")
        self._spray, self._drops = SpraySurface(ctx, programs), drops(ctx, programs)
        self._frame_program = programs.load("tank_frame.vert", "tank_frame.frag")
        self._bars = ctx.buffer(reserve=19 * 36 * 36, dynamic=True)
        content = [(self._bars, "3f 3f 3f", "position", "normal", "albedo")]
        self._frame = vertex_array(ctx, self._frame_program, content)
        self._panes = ctx.buffer(reserve=6 * 6 * 24, dynamic=True)
        self._glass = vertex_array(ctx, self._glass_program, [(self._panes, "3f 3f", "position", "normal")])
        for resource in (self._spray, self._drops, self._frame, self._bars, self._glass, self._panes):
            self._resources.callback(resource.release)
        self._shape: tuple[int, ...] | None = None
        self._shown: BoxPicture | None = None

    def draw(self, picture: BoxPicture, context: PassContext) -> None:
        """Draw the box as it is; what stands in front of it must have been drawn."""
        if picture is not self._shown:
            self._take_up(picture)
        if picture.in_sea:
            self._spray.draw(context)
            self._drops.draw(context)
            return
        low = np.asarray(picture.corner_w)
        for name, value in (("box_low", low), ("box_high", low + picture.size_m)):
            for program in (self._program, self._glass_program, self._frame_program):
                uniform(program, name).value = tuple(value.tolist())
        uniform(self._frame_program, "surface_m").value = float(low[2] + picture.height_m.mean())
        context.ctx.fbo.depth_mask = True
        self._frame.render(moderngl.TRIANGLES, vertices=self._solid)
        context.ctx.fbo.depth_mask = False
        context.ctx.enable(moderngl.CULL_FACE)
        uniform(self._glass_program, "facing").value = -1.0
        context.ctx.cull_face = "front"
        self._glass.render(moderngl.TRIANGLES)
        context.ctx.cull_face = "back"
        self._water.render(moderngl.TRIANGLES)
        context.ctx.disable(moderngl.CULL_FACE)
        self._spray.draw(context)
        self._drops.draw(context)
        context.ctx.enable(moderngl.CULL_FACE)
        uniform(self._glass_program, "facing").value = 1.0
        self._glass.render(moderngl.TRIANGLES)
        context.ctx.disable(moderngl.CULL_FACE)

    def _take_up(self, picture: BoxPicture) -> None:
        self._shown = picture
        self._spray.take_up(picture.spray_w)
        self._drops.take_up(picture.spray.place_w)
        if picture.in_sea:
            return
        surface = _surface(picture)
        if self._shape != surface.shape:
            self._make_mesh(surface.shape)
            self._panes.write(_panes(picture))
        self._vertices.write(_with_sides(picture, surface))
        solid = _solids(picture)
        self._solid = len(solid)
        self._bars.write(solid)

    def _make_mesh(self, shape: tuple[int, ...]) -> None:
        self._sized.close()
        rows, columns = shape[:2]
        number = np.arange(rows * columns).reshape(rows, columns)
        parts = [_quads(number)]
        begin = rows * columns
        for length in (columns, rows, columns, rows):
            parts.append(_quads(begin + np.arange(2 * length).reshape(2, length)))
            begin += 2 * length
        index = self._ctx.buffer(np.concatenate(parts).astype("u4"))
        self._vertices = self._ctx.buffer(reserve=begin * _FLOATS * 4, dynamic=True)
        content = [(self._vertices, "3f 3f 1f", "position", "normal", "foam")]
        self._water = vertex_array(self._ctx, self._program, content, index)
        for resource in (self._water, self._vertices, index):
            self._sized.callback(resource.release)
        self._shape = shape

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()


def _quads(number: np.ndarray) -> np.ndarray:
    """(k,) vertex numbers of two triangles a quad, counter-clockwise as rows go up and columns to the right."""
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=-1).ravel()


def _surface(picture: BoxPicture) -> np.ndarray:
    """(rows, columns, 7) position, normal and foam of the surface from wall to wall."""
    from scipy.ndimage import gaussian_filter, zoom  # takes a while, and few scenes have a tank

    height, foam = (
        zoom(
            np.pad(gaussian_filter(values, _SOFT, mode="nearest"), 1, mode="edge"),
            _FINER,
            order=1,
            grid_mode=True,
            mode="nearest",
        )
        for values in (picture.height_m, picture.foam)
    )
    # Points at the middles of finer cells become points at their corners, the outermost of which are at the walls.
    height, foam = (
        _corners(values[_FINER - 1 : 1 - _FINER, _FINER - 1 : 1 - _FINER]) for values in (height, foam)
    )
    rows, columns = height.shape
    x = picture.corner_w[0] + np.linspace(0.0, picture.size_m[0], columns)
    y = picture.corner_w[1] + np.linspace(0.0, picture.size_m[1], rows)
    slope_y, slope_x = np.gradient(height, y[1] - y[0], x[1] - x[0])
    out = np.empty((rows, columns, _FLOATS), "f4")
    out[..., 0], out[..., 1] = x[None, :], y[:, None]
    out[..., 2] = picture.corner_w[2] + height
    normal = np.stack([-slope_x, -slope_y, np.ones_like(height)], axis=-1)
    out[..., 3:6] = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    out[..., 6] = foam
    return out


def _corners(values: np.ndarray) -> np.ndarray:
    return 0.25 * (values[:-1, :-1] + values[1:, :-1] + values[:-1, 1:] + values[1:, 1:])


def _with_sides(picture: BoxPicture, surface: np.ndarray) -> np.ndarray:
    """(n, 7) the surface, and from its edges down to the bottom what is seen through each pane, there with metres below
    the surface in the place of foam."""
    parts = [surface.reshape(-1, _FLOATS)]
    edges = (
        (surface[0, :], (0.0, -1.0)),
        (surface[:, -1], (1.0, 0.0)),
        (surface[-1, ::-1], (0.0, 1.0)),
        (surface[::-1, 0], (-1.0, 0.0)),
    )
    for edge, outwards in edges:
        top, bottom = edge.copy(), edge.copy()
        bottom[:, 2] = picture.corner_w[2]
        for row in (top, bottom):
            row[:, 3:5], row[:, 5], row[:, 6] = outwards, 0.0, top[:, 2] - row[:, 2]
        parts += [bottom, top]
    return np.ascontiguousarray(np.concatenate(parts), "f4")


def _solids(picture: BoxPicture) -> np.ndarray:
    """(n, 9) position, normal and albedo of the frame, the floor and the paddle, three rows a triangle."""
    low = np.asarray(picture.corner_w)
    high = low + picture.size_m
    rows = [
        _block((low[0], low[1], low[2]), (high[0], high[1], low[2] + 0.01), _FLOOR),
        *_surround(low, high),
    ]
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for at_a in (low[a], high[a]):
            for at_b in (low[b], high[b]):
                begin, end = low.copy(), high.copy()
                begin[a], end[a], begin[b], end[b] = at_a, at_a, at_b, at_b
                if begin[2] < high[2]:  # bars along the upper edges would stand before the water
                    rows.append(_block(begin - _BAR_M, end + _BAR_M, _ALUMINIUM))
    if picture.paddle_m is not None:
        at, top = low[0] + picture.paddle_m, low[2] + 0.75 * picture.size_m[2]
        for bottom, upper, paint in ((low[2], top - _EDGE_M, _PLATE), (top - _EDGE_M, top, _EDGE)):
            rows.append(_block((at - 0.04, low[1] + 0.05, bottom), (at, high[1] - 0.05, upper), paint))
    return np.ascontiguousarray(np.concatenate(rows), "f4")


def _surround(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """A low kerb of concrete in which the panes stand, with a strip of steel along its top."""
    inner, outer = low[:2] - _BAR_M, high[:2] + _BAR_M
    begin, end = inner - _KERB_M[0], outer + _KERB_M[0]
    top = low[2] + _KERB_M[1]
    rows = []
    for x0, y0, x1, y1 in (
        (begin[0], begin[1], end[0], inner[1]),
        (begin[0], outer[1], end[0], end[1]),
        (begin[0], inner[1], inner[0], outer[1]),
        (outer[0], inner[1], end[0], outer[1]),
    ):
        rows.append(_block((x0, y0, low[2] - _KERB_M[1]), (x1, y1, top - _CAP_M), _CONCRETE))
        rows.append(_block((x0, y0, top - _CAP_M), (x1, y1, top), _STEEL))
    return rows


def _block(low: ArrayLike, high: ArrayLike, albedo: tuple[float, float, float]) -> np.ndarray:
    """(36, 9)"""
    begin, end = np.asarray(low, float), np.asarray(high, float)
    rows = []
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for side in (0.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = 2.0 * side - 1.0
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)):
                share = np.zeros(3)
                share[axis], share[a], share[b] = side, u, v
                rows.append([*(begin + share * (end - begin)), *normal, *albedo])
    return np.array(rows)


def _panes(picture: BoxPicture) -> np.ndarray:
    """(24, 6) position and normal of the four panes, two triangles each, outwards."""
    (x0, y0, z0), (sx, sy, sz) = picture.corner_w, picture.size_m
    x1, y1, z1 = x0 + sx, y0 + sy, z0 + sz
    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    rows = []
    for k, (a, b) in enumerate(zip(corners, (*corners[1:], corners[0]), strict=True)):
        normal = ((0, -1, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0))[k]
        low_a, low_b, top_a, top_b = (*a, z0), (*b, z0), (*a, z1), (*b, z1)
        rows += [(*p, *normal) for p in (low_a, low_b, top_b, low_a, top_b, top_a)]
    return np.array(rows, "f4")


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
