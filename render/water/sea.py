"""Draws the sea about the eye: rings of triangles that the waves displace, over the opaque scene."""

import math
from collections.abc import Iterator
from functools import partial
from typing import cast

import moderngl
import numpy as np

from render.frame import DrawnSea, DrawnVehicle, Frame, View
from render.passes.still_light import finish
from render.passes.targets import PassContext, Targets, blend_over, unbind
from render.process import UnlockedDraw
from render.programs import SAMPLER_UNITS, Programs, Resources, uniform, vertex_array
from render.quality import Quality
from render.water.crest_spray import (
    POINTS,
    SPAN_M,
    CrestSpray,
    MomentFields,
    Whitecaps,
    coverage,
    crest_puffs,
)
from render.water.hull_spray import ShippedWater
from render.water.marks import WaterMarks
from render.water.sea_fields import (
    FAR_M,
    SeaFields,
    Spans,
    Wedge,
    half_breadths,
    ring_mesh,
    spans_of,
    wedge,
)
from sim.vehicle_config.config import HullMesh
from sim.water.ocean.field import POINTS as POINTS_OF_A_TILE
from sim.water.picture import BoxPicture
from sim.world import World


class Shafts:
    """Owns the program that draws them over the scene."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._ctx = ctx
        self._array = ctx.vertex_array(programs.load("fullscreen.vert", "shafts.frag"), [])

    def draw(self) -> None:
        """In the blended pass: light is added, and taken away between them."""
        ctx = self._ctx
        ctx.disable(moderngl.DEPTH_TEST)
        ctx.blend_func = moderngl.ONE, moderngl.ONE
        self._array.render(moderngl.TRIANGLES, vertices=3)
        blend_over(ctx)
        ctx.enable(moderngl.DEPTH_TEST)

    def release(self) -> None:
        """Free the array."""
        self._array.release()


_SOFT = 0.6
"""By which heights are softened, in cells: particles make them uneven."""


class SplashingWater:
    """Owns the map of one box at a time."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._map: moderngl.Texture | None = None
        self._shown: BoxPicture | None = None
        self.place = (0.0, 0.0, 0.0, 0.0)
        """World x and y where the box begins, and one over its edges [1/m]; zero where there is none."""

    def take_up(self, picture: BoxPicture | None) -> None:
        """Show a picture, or none."""
        if picture is None or not picture.in_sea:
            self.place, self._shown = (0.0, 0.0, 0.0, 0.0), None
            return
        if picture is self._shown:
            return
        rows, columns = picture.height_m.shape
        if self._map is None or self._map.size != (columns, rows):
            self.release()
            self._map = self._ctx.texture((columns, rows), 4, dtype="f4")
            self._map.repeat_x = self._map.repeat_y = False
        self._map.write(box_texels(picture))
        x, y, _ = picture.corner_w
        self.place = (x, y, 1.0 / picture.size_m[0], 1.0 / picture.size_m[1])
        self._shown = picture

    def bind(self) -> None:
        """Keep the map where the sea's shaders look for it."""
        if self._map is not None:
            self._map.use(SAMPLER_UNITS["box_map"])

    def release(self) -> None:
        """Free the map."""
        if self._map is not None:
            self._map.release()
            self._map = None


def box_texels(picture: BoxPicture) -> np.ndarray:
    """(ny, nx, 4) float32: world z of the surface [m], its slopes along x and y, foam 0..1."""
    from scipy.ndimage import gaussian_filter  # takes a while, and few scenes have such a box

    height = gaussian_filter(picture.height_m, _SOFT, mode="nearest")
    slope_y, slope_x = np.gradient(height, picture.cell_m)
    foam = gaussian_filter(picture.foam, _SOFT, mode="nearest")
    return np.ascontiguousarray(
        np.stack([picture.corner_w[2] + height, slope_x, slope_y, foam], axis=-1), np.float32
    )


TILES = 3
MOST_HULLS = 2
_SLACK_M = 12.0
"""The waves of a lake end so far beyond where its ground begins to fall."""
_DEEP_M = 60.0
_BANDS = 8
"""Of columns of the mesh, of which each is drawn with hulls or without."""
_ROWS_OF_A_RING = 2.0
"""Of a picture: rings that lie closer together show nothing more of the waves."""
_MOST_PX = 4096
_WASHED_M = 0.7
"""About a hull, in which there is foam."""
_NOWHERE = np.array([[1.0, 1.0], [0.0, 0.0]])
_OPAQUE_M, _TROUGH = 0.9, 4.0
"""So deep, water lets nothing through where only its depth is known; depth of the troughs, in standard deviations."""


def cox_munk(wind_mps: float) -> float:
    """Mean square slope of a sea under a wind (Cox and Munk, 1954): what the sun's glitter is as wide as."""
    return 0.003 + 0.00512 * wind_mps


def rows_below_horizon(view: View, height_px: int) -> int:
    """Rows of a picture, from below, in which something lower than the eye may be seen."""
    level = view.view[:3, 2]  # by how much a ray rises that goes right, up and back
    right, up, back = level[0] / view.projection[0, 0], level[1] / view.projection[1, 1], -level[2]
    if up <= 0.0:
        return height_px
    highest = (abs(right) - back) / up  # where the horizon leaves the picture, -1..1
    return int(np.clip(math.ceil(0.5 * (1.0 + highest) * height_px) + 1, 0, height_px))


class SeaSurface:
    """Owns mesh, textures and programs; one sea at a time."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        world: World,
        quality: Quality,
        marks: WaterMarks,
        *,
        planar: bool,
    ):
        self._ctx, self._quality, self._marks = ctx, quality, marks
        self._resources = Resources()
        self._values: dict[str, object] = {}
        self._uniforms: dict[str, list[moderngl.Uniform]] = {}
        shade_late = not quality.full_materials
        shaded_from = "fullscreen.vert" if shade_late else "sea.vert"
        level_m, grounds = float(world.water_level_m or 0.0), getattr(world, "grounds", None)
        self._shore = shore = int(grounds is not None or float(world.terrain.heights.max()) > level_m)
        # Software GL works out every branch: an eye in the water has programs of its own.
        # So are wakes, and splashing water, about which there are wakes.
        known: tuple[dict[str, int], ...] = ({"UNDER_WATER": 0}, {"UNDER_WATER": 1}) if shade_late else ({},)
        carried = ((0, 0), (1, 0), (1, 1)) if shade_late else ((0, 1), (1, 1))
        shading = [
            programs.load(
                shaded_from,
                "sea.frag",
                PLANAR_REFLECTION=int(planar),
                SHORE=shore,
                MARKS=marked,
                SPLASHING=splashing,
                HULLS=1,
                **under,
            )
            for under in known
            for marked, splashing in carried
        ]
        placing = partial(programs.load, "sea.vert", "sea_place.frag")
        self._meshed = [placing(), placing(HULLS=1)] if shade_late else shading
        """Of what draws the mesh: what is seen of it, or only where that is, to be shaded once a pixel afterwards; then
        away from hulls, and about them."""
        self._bands = _BANDS if shade_late else 1
        late = shading if shade_late else []
        self._programs = [*self._meshed, *late]
        self._shadings = [self._resources.own(ctx.vertex_array(program, [])) for program in late]
        seen = [programs.load("fullscreen.vert", "sea_seen.frag")] if shade_late else []
        self._seen = [self._resources.own(ctx.vertex_array(program, [])) for program in seen]
        """What marks where there is something to shade late."""
        self._draw_late = UnlockedDraw(ctx)
        self._mesh = Resources()
        self._resources.callback(self._mesh.close)
        self._cells = (0, 0)
        self._spans: tuple[Spans, Spans] = [], []
        """Of the mesh: about hulls, and elsewhere."""
        self._fields: SeaFields | None = None
        self.eye_under_m = 0.0
        """How deep in the sea the eye of the frame last prepared is [m]; negative above it."""
        self._level_m = 0.0
        self._caps = Whitecaps()
        moments = MomentFields()
        self._spray, self._puffs = CrestSpray(moments), self._resources.own(crest_puffs(ctx, programs))
        self.shipped = self._resources.own(
            ShippedWater(ctx, programs, moments, most=quality.sea_spray // (5 if shade_late else 2))
        )
        self._shafts = self._resources.own(Shafts(ctx, programs)) if quality.full_materials else None
        self._textures: dict[str, moderngl.Texture] = {}
        self._points = 0
        self._foam = self._resources.own(ctx.texture((POINTS, POINTS), 1, dtype="f4"))
        self._foam.filter = (moderngl.LINEAR, moderngl.LINEAR)
        self._depth = self._depth_map(world)
        self._splashing = self._resources.own(SplashingWater(ctx))
        self._hull_map: tuple[HullMesh, moderngl.Texture, tuple[float, float, float, float]] | None = None

    def _keep_mesh(self, detail: float, height_px: int) -> None:
        """Of as many cells as there is time for."""
        rings, columns = self._quality.sea_cells
        if self._shadings:
            rings = min(rings, round(height_px / _ROWS_OF_A_RING))
        cells = tuple(max(round(count * math.sqrt(detail)), _BANDS) for count in (rings, columns))
        if cells == self._cells:
            return
        self._mesh.close()
        self._cells = (cells[0], cells[1])
        buffers = [self._mesh.own(self._ctx.buffer(part)) for part in ring_mesh(*self._cells, self._bands)]
        self._arrays = [
            vertex_array(self._ctx, program, [(buffers[0], "2f", "at")], buffers[1])
            for program in self._meshed
        ]
        for array in self._arrays:
            self._mesh.own(array)

    def _depth_map(self, world: World) -> moderngl.Texture:
        """Depth of the still water over the part of the world that has some; sets where that is."""
        level_m, terrain = float(world.water_level_m or 0.0), world.terrain
        grounds = getattr(world, "grounds", None)
        low = np.array(terrain.origin_m)
        high = low + (np.array(terrain.heights.shape[::-1]) - 1.0) * terrain.spacing_m
        if grounds is not None and grounds.lake is not None:
            reach = np.array(grounds.lake.half_m) + _SLACK_M
            low = np.maximum(low, grounds.lake.centre_m - reach)
            high = np.minimum(high, grounds.lake.centre_m + reach)
        elif getattr(world, "river", None) is None:
            low, high = np.full(2, -FAR_M), np.full(2, FAR_M)
        counts = np.clip(((high - low) / terrain.spacing_m).astype(int), 2, 2048)
        x, y = (a + (np.arange(n) + 0.5) * (b - a) / n for a, b, n in zip(low, high, counts, strict=True))
        depth = np.clip(level_m - terrain.height(*np.meshgrid(x, y)), -_DEEP_M, _DEEP_M)
        texture = self._resources.own(
            self._ctx.texture(tuple(counts.tolist()), 1, depth.astype("f4"), dtype="f4")
        )
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        texture.repeat_x = texture.repeat_y = False
        self._set("sea_silt", float(getattr(world, "river", None) is not None))
        self._set("sea_bounds", (*(0.5 * (low + high)), *(0.5 * (high - low))))
        return texture

    def prepare(self, frame: Frame, detail: float = 1.0, height_px: int = _MOST_PX) -> None:
        """Take up the waves of a frame's sea at its time. detail: share of the mesh's triangles there is time for.
        height_px: of the picture."""
        sea = frame.sea
        assert sea is not None
        if self._fields is None or not self._fields.fits(sea.state):
            self._fields = SeaFields(sea.state)
            finish(self.keep_textures(self._fields.points))
        if self._fields.work_out(sea.state, sea.time_s):
            for kind, tiles in (("shape", self._fields.shapes), ("slope", self._fields.slopes)):
                for tile, levels in enumerate(tiles):
                    for level, texels in enumerate(levels):
                        self._textures[f"sea_{kind}_{tile}"].write(texels, level=level)
        self._caps.follow(self._fields, sea.state, sea.time_s, frame.view.eye_w[:2])
        self._foam.write(self._caps.foam)
        most = round(detail * self._quality.sea_spray)
        self._puffs.take_up(self._spray.puffs(sea.state, sea.time_s, frame.view.eye_w[:2], most))
        self.shipped.prepare(sea, frame.vehicles)
        self._level_m = sea.state.level_m
        self._describe(self._fields, sea)
        self._keep_mesh(detail, height_px)
        seen = self._place(frame.view, sea.state.level_m, self._fields.deviation_m)
        part = self._cut_out(frame.vehicles, seen, frame.view.eye_w)
        self._spans = spans_of(part, *self._cells, self._bands)
        self.shipped.bind()
        self._splashing.take_up(frame.water_box)
        self._set("box_place", self._splashing.place)
        eye = frame.view.eye_w
        height_m = float(self._fields.heights_m(eye[None, :2])[0])
        self.eye_under_m = sea.state.level_m + height_m - float(eye[2])

    def keep_textures(self, points: int = POINTS_OF_A_TILE) -> Iterator[None]:
        """Have those of so many texels a tile, one at a step. Software GL compiles how the levels are made: the first
        one takes 50 ms."""
        if points == self._points:
            return
        for texture in self._textures.values():
            texture.release()
        self._textures.clear()
        smooth = self._quality.full_materials
        levels = moderngl.LINEAR_MIPMAP_LINEAR if smooth else moderngl.LINEAR_MIPMAP_NEAREST
        for kind in ("shape", "slope"):
            for tile in range(TILES):
                texture = self._ctx.texture((points, points), 4, dtype="f4")
                texture.build_mipmaps()
                texture.filter = (levels, moderngl.LINEAR)
                self._textures[f"sea_{kind}_{tile}"] = texture
                yield
        self._points = points

    def _describe(self, fields: SeaFields, sea: DrawnSea) -> None:
        wind_mps, bearing_rad = sea.state.numbers(sea.time_s)[:2]
        finer = max(cox_munk(wind_mps) - fields.steepness, 0.0) if wind_mps > 0.0 else 0.0
        values = {
            "sea_edges": tuple(fields.edges_m),
            "sea_points": float(fields.points),
            "sea_level": sea.state.level_m,
            "sea_look": (fields.deviation_m, 0.0008 + 0.5 * finer, coverage(wind_mps), sea.time_s),
            "sea_wind": (math.cos(bearing_rad), math.sin(bearing_rad)),
            "marks_window": self._marks.window,
            "foam_span": (SPAN_M, 0.5 / POINTS),
        }
        for name, value in values.items():
            self._set(name, value)

    def _place(self, view: View, level_m: float, deviation_m: float) -> Wedge:
        rings, columns = self._cells
        seen = wedge(view, level_m, deviation_m, columns)
        self._set("sea_wedge", (seen.near_m, FAR_M, seen.bearing_rad, seen.span_rad))
        self._set("sea_cells", (float(rings), float(columns)))
        return seen

    def _cut_out(self, vehicles: tuple[DrawnVehicle, ...], seen: Wedge, eye_w: np.ndarray) -> np.ndarray:
        """No water is drawn inside the hulls of the first floating vehicle's kind; the part of the mesh about them."""
        drawn = [v for v in vehicles if not (v.ghost or v.links) and np.isfinite(v.T_wb).all()]
        hulls = [(v, v.config.hull) for v in drawn]
        floating = [(v, hull.surface) for v, hull in hulls if hull is not None and hull.surface is not None]
        self._set("hulls", min(len(floating), MOST_HULLS))
        if not floating:
            return _NOWHERE
        surface = floating[0][1]
        if self._hull_map is None or self._hull_map[0] is not surface:
            breadths, box = half_breadths(surface)
            texture = self._resources.own(self._ctx.texture(breadths.shape[::-1], 1, breadths, dtype="f4"))
            texture.repeat_x = texture.repeat_y = False
            self._hull_map = surface, texture, box
        self._set("hull_box", self._hull_map[2])
        poses = np.zeros((MOST_HULLS, 4, 4))
        alike = [v for v, other in floating if other is surface][:MOST_HULLS]
        poses[: len(alike)] = [np.linalg.inv(v.hull_T_w).T for v in alike]
        self._set("hulls", len(alike))
        for program in self._meshed:
            if "hull_from_world" in program:
                uniform(program, "hull_from_world").write(poses.astype("f4"))
        assert self._fields is not None
        radius_m = float(np.linalg.norm(surface.vertices, axis=1).max())
        radius_m += _WASHED_M + _TROUGH * self._fields.deviation_m  # waves carry what is there from so far
        parts = np.array([seen.part_about(v.hull_T_w[:2, 3] - eye_w[:2], radius_m) for v in alike])
        return np.array([parts[:, 0].min(axis=0), parts[:, 1].max(axis=0)])

    def plane_about(self, vehicle: DrawnVehicle) -> tuple[float, float, float]:
        """Height at the world's origin [m] and slopes of the waves that were prepared, evened out along its hull."""
        hull, fields = vehicle.config.hull, self._fields
        assert fields is not None
        assert hull is not None
        T_w = vehicle.hull_T_w
        ahead, aside = T_w[:2, 0], 2.0 * hull.half_beam_m * T_w[:2, 1]
        at = T_w[:2, 3] + np.array([hull.bow_m * ahead, hull.stern_m * ahead, aside, -aside])
        heights = self._level_m + fields.heights_m(at)
        plane, *_ = np.linalg.lstsq(np.column_stack([np.ones(4), at]), heights, rcond=None)
        height, slope_x, slope_y = plane.tolist()
        return height, slope_x, slope_y

    @property
    def hides_below_m(self) -> float:
        """Height under which nothing is seen from above of what the water covers, even in the troughs."""
        assert self._fields is not None
        if self.eye_under_m > 0.0:
            return -math.inf
        return self._level_m - _OPAQUE_M - _TROUGH * self._fields.deviation_m

    def bind(self) -> None:
        """Keep the textures where the sea's shaders look for them."""
        for name, texture in self._textures.items():
            texture.use(SAMPLER_UNITS[name])
        self._foam.use(SAMPLER_UNITS["sea_foam_map"])
        self._depth.use(SAMPLER_UNITS["sea_depth_map"])
        self._splashing.bind()
        if self._hull_map is not None:
            self._hull_map[1].use(SAMPLER_UNITS["hull_map"])

    def draw(self, context: PassContext, targets: Targets, *, cold: bool = False) -> None:
        """Draw all that the camera sees into the scene of the targets; `prepare` comes first. cold: a corner by every
        program besides, as software GL compiles one where it is first drawn by."""
        self.bind()
        marked = int(self._marks.any)  # looking up nothing is not free
        if targets.sea_places is None:
            self._arrays[marked].render(moderngl.TRIANGLES)
            return
        places = targets.sea_places
        places.use()
        places.depth_mask = False
        places.clear()
        places.depth_mask = True
        context.ctx.enable_only(moderngl.DEPTH_TEST)
        if cold:
            self._arrays[1].render(moderngl.TRIANGLES, vertices=3)
        for array, spans in zip(reversed(self._arrays), self._spans, strict=True):
            for first, count in spans:
                array.render(moderngl.TRIANGLES, vertices=count, first=first)
        for name, texture in zip(("sea_place_map", "sea_veil_map"), places.color_attachments, strict=True):
            cast(moderngl.Texture, texture).use(SAMPLER_UNITS[name])
        kind = 2 if self._splashing.place[2] > 0.0 else marked
        shading = kind + (3 if self.eye_under_m > 0.0 else 0)
        width, height = targets.size_px
        part = 0, 0, width, self._rows_with_sea(context.view, height)
        self._mark_seen(context.ctx, targets.sea_shaded, part)
        context.ctx.enable_only(moderngl.DEPTH_TEST | (moderngl.BLEND if self._shore else moderngl.NOTHING))
        context.ctx.depth_func = "=="
        others = [(array, (0, height - 1, 1, 1)) for array in self._shadings] if cold else []
        for array, within in (*others, (self._shadings[shading], part)):
            targets.sea_shaded.scissor = within
            targets.sea_shaded.use()
            self._draw_late(array, moderngl.TRIANGLES, 3)
        context.ctx.depth_func = "<"
        targets.scene.use()

    def _mark_seen(
        self, ctx: moderngl.Context, shaded: moderngl.Framebuffer, part: tuple[int, int, int, int]
    ) -> None:
        """Have the depths in a part of a framebuffer tell where the sea is: software GL shades what is discarded, too,
        but nothing that its quick depth test stops."""
        ctx.enable_only(moderngl.DEPTH_TEST)
        shaded.scissor, shaded.color_mask = part, (False, False, False, False)
        shaded.use()
        shaded.clear(depth=1.0)
        self._draw_late(self._seen[0], moderngl.TRIANGLES, 3)
        shaded.color_mask = True, True, True, True

    def _rows_with_sea(self, view: View, height_px: int) -> int:
        """Rows of a picture, from below, that the sea may be seen in."""
        assert self._fields is not None
        crest_m = self._level_m + _TROUGH * self._fields.deviation_m
        return height_px if view.eye_w[2] < crest_m else rows_below_horizon(view, height_px)

    def draw_spray(self, context: PassContext) -> None:
        """What flies from its crests, in the blended pass; an eye in the water sees shafts of light in its place."""
        if self.eye_under_m <= 0.0:
            self._puffs.draw(context)
            self.shipped.draw(context)
        elif self._shafts is not None:
            self._shafts.draw()

    def _set(self, name: str, value: object) -> None:
        self._values[name] = value
        if name not in self._uniforms:  # a program looks a name up by going through all that it has
            self._uniforms[name] = [uniform(each, name) for each in self._programs if name in each]
        for each in self._uniforms[name]:
            each.value = value

    def describe_to(self, program: moderngl.Program) -> None:
        """Tell another program of the sea's vertices what has been prepared."""
        for name, value in self._values.items():
            if name in program:
                uniform(program, name).value = value

    def release(self) -> None:
        """Free everything."""
        unbind(self._ctx)
        for texture in self._textures.values():
            texture.release()
        self._resources.close()
