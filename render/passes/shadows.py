"""What the sun's light does not reach: the still world's shadow map, once a sun, and the vehicles', every frame."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import moderngl
import numpy as np

from render.frame import TEXTURE_FROM_CLIP, DrawnVehicle, View, look_at, orthographic
from render.light import Light
from render.passes.culling import frustum_planes
from render.passes.still_light import Lit
from render.passes.targets import PassContext, PassName
from render.passes.uniforms import FrameUniforms, ShadowFrames
from render.programs import SAMPLER_UNITS
from render.quality import Quality

_GROUP_M = 30.0
"""Vehicles farther than this from the first one cast no sharp shadow: one map serves them all."""
_ABOUT_M = 60.0
"""What stands about farther than this from the first vehicle casts none either."""
_DROP_M = 320.0
"""How far below the vehicles their shadow is followed."""

Ball = Callable[[DrawnVehicle], tuple[np.ndarray, float]]
"""Centre (3,) and radius [m] of a ball about a vehicle."""
_HARDLY_TEXELS = 2.0
"""By which what has turned since the picture before may be off in the map: half of what keeps it out of its own shadow
(`shadow.glsl`)."""
Casters = tuple[tuple[DrawnVehicle, ...], tuple[DrawnVehicle, ...]]
"""What is drawn into the map around the vehicles, and into the one around what stands about."""


def _depth_map(ctx: moderngl.Context, size_px: tuple[int, int]) -> moderngl.Texture:
    texture = ctx.depth_texture(size_px)
    texture.compare_func = "<="
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture


def sun_view(low_w: np.ndarray, high_w: np.ndarray, direction_w: np.ndarray) -> View:
    """The sun's parallel view of the box from `low_w` to `high_w`; its longer side lies along the map's u axis."""
    corners = np.array(np.meshgrid(*zip(low_w, high_w, strict=True))).reshape(3, -1).T
    centre = 0.5 * (np.asarray(low_w) + np.asarray(high_w))
    along = np.array([1.0, 0.0, 0.0])
    up = np.cross(direction_w, along)  # u of the map then runs along x as seen from the sun
    view = look_at(centre + direction_w, centre, tuple(up))
    seen = corners @ view[:3, :3].T + view[:3, 3]
    return View(
        eye_w=centre, view=view, projection=orthographic(seen.min(axis=0) - 2.0, seen.max(axis=0) + 2.0)
    )


def vehicle_view(centre_w: np.ndarray, radius_m: float, direction_w: np.ndarray) -> tuple[View, float]:
    """The sun's view of the sphere around the vehicles and of what lies below it, and the depth range [m].

    The middle of the depth range is at the centre of the sphere.
    """
    depth = _DROP_M
    low = np.array([-radius_m, -radius_m, -depth])
    high = np.array([radius_m, radius_m, depth])
    view = look_at(centre_w + direction_w, centre_w)
    view[2, 3] += 1.0  # measured from the centre, not from the point beside it
    return View(eye_w=centre_w, view=view, projection=orthographic(low, high)), 2.0 * depth


def texture_from_world(view: View) -> np.ndarray:
    """(4, 4) world to texture coordinates and depth, each 0..1."""
    return TEXTURE_FROM_CLIP @ view.projection @ view.view


class ShadowMap:
    """A depth texture that the sun renders into."""

    def __init__(self, ctx: moderngl.Context, size_px: tuple[int, int], sampler: str):
        limit = ctx.info["GL_MAX_TEXTURE_SIZE"]
        self.size_px = (min(size_px[0], limit), min(size_px[1], limit))
        self._texture = _depth_map(ctx, self.size_px)
        self._target = ctx.framebuffer(depth_attachment=self._texture)
        self._unit = SAMPLER_UNITS[sampler]

    def begin(self, *, anew: bool = True) -> None:
        """Bind for drawing, `anew` or on top of what is there."""
        self._target.viewport = (0, 0, *self.size_px)
        self._target.use()
        if anew:
            self._target.clear(depth=1.0)

    def keep_to(self, viewport: tuple[int, int, int, int]) -> None:
        """Draw into this part (x, y, width, height) from now on."""
        self._target.viewport = viewport

    def lit(self) -> dict[str, np.ndarray]:
        """float32 of every texel: depth of what the light meets, 0..1."""
        return {"depth": np.frombuffer(self._texture.read(), "f4")}

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have these depths as if they had been drawn."""
        self._texture.write(kept["depth"])

    def bind(self) -> None:
        """Keep the map where materials look for it."""
        self._texture.use(self._unit)

    def release(self) -> None:
        """Free texture and framebuffer."""
        self._target.release()
        self._texture.release()


class VehicleShadow:
    """Fits one map around the vehicles of a frame, another one around what stands about them; keeps both last views.

    Both lie in one texture, the vehicles' on the left. They are seen from one direction, so that a factor and a shift
    lead from a place in one to its place in the other.
    """

    def __init__(self, ctx: moderngl.Context, size_px: int):
        self.size_px = min(size_px, ctx.info["GL_MAX_TEXTURE_SIZE"] // 2)
        self.map = ShadowMap(ctx, (2 * self.size_px, self.size_px), "vehicle_shadow_map")
        self.view, self.depth_m = vehicle_view(np.zeros(3), 1.0, np.array([0.0, 0.0, 1.0]))
        self.still_view = self.view
        self.span_m = self.still_span_m = 0.0
        self._cast: Casters = (), ()
        """What is in the map."""
        self._moved_on, self._direction_w = False, np.zeros(3)

    @property
    def reach(self) -> np.ndarray | None:
        """(6, 4) planes about all that both maps tell of; None while nothing casts into them."""
        view = self.still_view if self.still_span_m > 0.0 else self.view
        return frustum_planes(view.projection @ view.view) if self.span_m > 0.0 else None

    @property
    def from_vehicles_to_still(self) -> tuple[float, float, float, float]:
        """Factor of x and y, and what is then added to x, y and depth; a factor of 0 where nothing stands about."""
        if self.still_span_m == 0.0:
            return (0.0, 0.0, 0.0, 0.0)
        between = texture_from_world(self.still_view) @ np.linalg.inv(texture_from_world(self.view))
        x, y, depth = (float(part) for part in between[:3, 3])
        return float(between[0, 0]), x, y, depth

    def fit(self, vehicles: Sequence[DrawnVehicle], ball: Ball, direction_w: np.ndarray) -> Casters:
        """Aim at the solid vehicles near the first of them, and at what stands about them; these are to be drawn."""
        self._cast, self._moved_on = self._aim(vehicles, ball, direction_w), False
        self._direction_w = np.array(direction_w)
        return self._cast

    def _aim(self, vehicles: Sequence[DrawnVehicle], ball: Ball, direction_w: np.ndarray) -> Casters:
        finite = [v for v in vehicles if not v.ghost and np.isfinite(v.T_wb).all()]
        still = [v for v in finite if v.still]
        solid = [v for v in finite if not v.still] or still
        self.span_m = self.still_span_m = 0.0
        if not solid:
            return (), ()
        first, _ = ball(solid[0])
        group = [v for v in solid if np.linalg.norm(ball(v)[0] - first) < _GROUP_M]
        near = [v for v in still if v not in group and np.linalg.norm(ball(v)[0] - first) < _ABOUT_M]
        self.view, self.depth_m, self.span_m = _fitted([ball(v) for v in group], direction_w)
        if near:
            # The group, too, so that this view holds all of the other one.
            balls = [ball(v) for v in (*group, *near)]
            self.still_view, _, self.still_span_m = _fitted(balls, direction_w)
        return tuple(group), tuple(near)

    def follow(self, vehicles: Sequence[DrawnVehicle], ball: Ball, direction_w: np.ndarray) -> Casters:
        """As `fit`, but nothing is to be drawn where the last map can be moved along: in every other picture, while
        vehicles hardly turn."""
        span_m, still_view, still_span_m, before = self.span_m, self.still_view, self.still_span_m, self.view
        casters = self._aim(vehicles, ball, direction_w)
        moved_m = self.view.eye_w - before.eye_w
        slack_m = _HARDLY_TEXELS * span_m / self.size_px
        same_sun, self._direction_w = np.array_equal(direction_w, self._direction_w), np.array(direction_w)
        self._moved_on = (
            not self._moved_on
            and bool(casters[0])
            and same_sun
            and _alike(casters[0], self._cast[0], moved_m, 0.5 * span_m, slack_m)
            and _alike(casters[1], self._cast[1], np.zeros(3), 0.5 * still_span_m, 0.0)
        )
        if not self._moved_on:
            self._cast = casters
            return casters
        self.view, self.depth_m = vehicle_view(self.view.eye_w, 0.5 * span_m, direction_w)
        self.span_m, self.still_view, self.still_span_m = span_m, still_view, still_span_m
        return (), ()

    def release(self) -> None:
        """Free the map."""
        self.map.release()


def _alike(
    now: Sequence[DrawnVehicle],
    before: Sequence[DrawnVehicle],
    moved_m: np.ndarray,
    radius_m: float,
    slack_m: float,
) -> bool:
    """Whether vehicles are what others were that have all been moved alike, to within `slack_m` at a radius."""
    if [v.model for v in now] != [v.model for v in before]:
        return False
    for one, other in zip(now, before, strict=True):
        if one.links or one.solids is not None or one.pieces or len(one.bodies) > 1:
            return False
        turned = float(np.linalg.norm(one.T_wb[:3, :3] - other.T_wb[:3, :3], 2))
        off_m = float(np.linalg.norm(one.T_wb[:3, 3] - other.T_wb[:3, 3] - moved_m))
        if turned * radius_m + off_m > slack_m:
            return False
    return True


def _fitted(balls: Sequence[tuple[np.ndarray, float]], direction_w: np.ndarray) -> tuple[View, float, float]:
    """(the sun's view of them, its depth range [m], its width [m])."""
    low = np.min([middle - radius for middle, radius in balls], axis=0)
    high = np.max([middle + radius for middle, radius in balls], axis=0)
    centre = 0.5 * (low + high)
    reach = float(max(np.linalg.norm(middle - centre) + radius for middle, radius in balls)) + 0.3
    return *vehicle_view(centre, reach, direction_w), 2.0 * reach


def shadow_frames(sun_view: View, sun_map: ShadowMap, shadow: VehicleShadow) -> ShadowFrames:
    """What materials have to know of both maps."""
    sun_px = sun_map.size_px
    span_m = 2.0 / np.abs(np.diag(sun_view.projection)[:3])
    return ShadowFrames(
        sun=texture_from_world(sun_view),
        sun_depth_m=span_m[2],
        sun_texel=(1.0 / sun_px[0], 1.0 / sun_px[1]),
        sun_texel_m=max(span_m[0] / sun_px[0], span_m[1] / sun_px[1]),
        vehicle=texture_from_world(shadow.view),
        vehicle_texel=1.0 / shadow.size_px,
        vehicle_depth_m=shadow.depth_m,
        vehicle_span_m=shadow.span_m,
        still=shadow.from_vehicles_to_still,
    )


ContextOf = Callable[[PassName, View, tuple[int, int]], PassContext]
"""(pass, view, size in px) -> what passes are told."""


class Models(Protocol):
    """What draws vehicles."""

    def ball(self, vehicle: DrawnVehicle) -> tuple[np.ndarray, float]: ...
    def draw(self, vehicle: DrawnVehicle, context: PassContext) -> None: ...


class SunShadows:
    """Of one sun over one world."""

    def __init__(
        self, ctx: moderngl.Context, quality: Quality, bounds_w: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """bounds_w: lowest and highest corner (3,) of the ground [m]."""
        self._ctx, self._bounds_w, self._map_px = ctx, bounds_w, quality.static_shadow_px
        self._world, self._drawn = self._world_map(), False
        self._vehicles = VehicleShadow(ctx, quality.vehicle_shadow_px)
        self._uniforms = FrameUniforms(ctx)
        self._direction_w = np.array([0.0, 0.0, 1.0])
        self._view = self._next_view = sun_view(*bounds_w, self._direction_w)
        self._next: ShadowMap | None = None
        self._next_light: tuple[Light, float] | None = None

    def _world_map(self) -> ShadowMap:
        return ShadowMap(self._ctx, self._map_px, "sun_shadow_map")

    def set_light(self, light: Light, water_level_m: float) -> None:
        """Another sun, from when its map of the world is taken on; until then there is the one before."""
        self._next_view = sun_view(*self._bounds_w, light.direction_w)
        self._next_light = light, water_level_m

    @property
    def frames(self) -> ShadowFrames:
        """Where materials find both maps."""
        return shadow_frames(self._view, self._world, self._vehicles)

    @property
    def next_frames(self) -> ShadowFrames:
        """The same for the map that was cast last, taken or not, without vehicles."""
        frames = shadow_frames(self._next_view, self._next or self._world, self._vehicles)
        return replace(frames, vehicle_span_m=0.0, still=(0.0, 0.0, 0.0, 0.0))

    @property
    def near_vehicles(self) -> np.ndarray | None:
        """(6, 4) planes about all that the vehicles' map tells of; None while nothing casts into it."""
        return self._vehicles.reach

    @property
    def lit(self) -> Mapping[str, Lit]:
        """What the sun draws into, by name."""
        return {"shadow": self._world}

    @property
    def stands(self) -> bool:
        """Whether something that stands about casts a shadow, too."""
        return self._vehicles.still_span_m > 0.0

    def bind(self, *, cast_last: bool = False) -> None:
        """Keep both maps where materials look for them; `cast_last`: that of the world, taken or not."""
        ((self._next if cast_last else None) or self._world).bind()
        self._vehicles.map.bind()

    def take(self) -> None:
        """Have the sun that was set last and the map of the world that was cast for it."""
        self._view, self._drawn = self._next_view, True
        if self._next_light is not None:
            light, water_level_m = self._next_light
            self._direction_w, self._next_light = light.direction_w, None
            self._uniforms.set_light(light, water_level_m=water_level_m)
        if self._next is not None:
            before, self._world, self._next = self._world, self._next, None
            before.release()

    def cast_world(
        self, draws: Iterable[Callable[[PassContext], None]], context_of: ContextOf
    ) -> Iterator[None]:
        """Each of `draws` draws a share of what stands still; `take` makes what they give the map that is looked at."""
        if self._next is not None:
            self._next.release()
            self._next = None
        view, onto = self._next_view, self._world_map() if self._drawn else self._world
        try:
            for number, draw in enumerate(draws):
                if number:
                    yield
                onto.begin(anew=not number)
                draw(self._seen_from(view, onto.size_px, context_of))
            if onto is not self._world:
                self._next, onto = onto, self._world
        finally:  # given up half-way
            if onto is not self._world:
                onto.release()

    def cast_vehicles(
        self,
        vehicles: Sequence[DrawnVehicle],
        models: Models,
        context_of: ContextOf,
        *,
        one_of_many: bool = False,
    ) -> None:
        """The vehicles of a frame, as far as they cast; one_of_many: for two that follow each other, maybe."""
        shadow = self._vehicles
        fit = shadow.follow if one_of_many else shadow.fit
        near, about = fit(vehicles, models.ball, self._direction_w)
        if not near:
            return
        shadow.map.begin()
        side = shadow.size_px
        for number, (view, casters) in enumerate(((shadow.view, near), (shadow.still_view, about))):
            if casters:
                shadow.map.keep_to((number * side, 0, side, side))
                context = self._seen_from(view, (side, side), context_of)
                for vehicle in casters:
                    models.draw(vehicle, context)

    def release(self) -> None:
        """Free the maps and their uniforms."""
        self._uniforms.release()
        self._vehicles.release()
        for world in (self._world, self._next):
            if world is not None:
                world.release()

    def _seen_from(self, view: View, size_px: tuple[int, int], context_of: ContextOf) -> PassContext:
        self._uniforms.set_view(view, size_px)
        self._uniforms.upload()
        self._uniforms.bind()
        self._ctx.enable_only(moderngl.DEPTH_TEST)
        return context_of("shadow", view, size_px)
