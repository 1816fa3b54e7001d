"""What the sun's light does not reach: the still world's shadow map, and that of the vehicles of a frame."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import moderngl
import numpy as np

from render.frame import DrawnVehicle, View
from render.light import Light
from render.models.library import ModelLibrary
from render.passes import PassContext, PassName
from render.quality import Quality
from render.shadows import ShadowMap, VehicleShadow, shadow_frames, sun_view
from render.still_light import Lit
from render.uniforms import Atmosphere, FrameUniforms, ShadowFrames

ContextOf = Callable[[PassName, View, tuple[int, int]], PassContext]
"""(pass, view, size in px) -> what passes are told."""


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

    def _world_map(self) -> ShadowMap:
        return ShadowMap(self._ctx, self._map_px, "sun_shadow_map")

    def set_light(self, light: Light, water_level_m: float) -> None:
        """Another sun: both maps have to be drawn anew, and until the world's is, there is the one before."""
        self._direction_w = light.direction_w
        self._next_view = sun_view(*self._bounds_w, light.direction_w)
        if not self._drawn:
            self._view = self._next_view
        self._uniforms.set_light(light, Atmosphere(), water_level_m=water_level_m)

    @property
    def frames(self) -> ShadowFrames:
        """Where materials find both maps."""
        return shadow_frames(self._view, self._world, self._vehicles)

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

    def bind(self) -> None:
        """Keep both maps where materials look for them."""
        self._world.bind()
        self._vehicles.map.bind()

    def cast_world(
        self, draws: Iterable[Callable[[PassContext], None]], context_of: ContextOf
    ) -> Iterator[None]:
        """Each of `draws` draws a share of what stands still; nothing is known of vehicles after the last one."""
        view, onto = self._next_view, self._world_map() if self._drawn else self._world
        try:
            for number, draw in enumerate(draws):
                if number:
                    yield
                onto.begin(anew=not number)
                draw(self._seen_from(view, onto.size_px, context_of))
            self._view, self._world, onto = view, onto, self._world
            self._drawn = True
            self._vehicles.span_m = self._vehicles.still_span_m = 0.0
        finally:  # the map before, or, given up half-way, the new one
            if onto is not self._world:
                onto.release()

    def cast_vehicles(
        self, vehicles: Sequence[DrawnVehicle], models: ModelLibrary, context_of: ContextOf
    ) -> None:
        """The vehicles of a frame, as far as they cast."""
        shadow = self._vehicles
        near, about = shadow.fit(vehicles, models.ball, self._direction_w)
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
        self._world.release()

    def _seen_from(self, view: View, size_px: tuple[int, int], context_of: ContextOf) -> PassContext:
        self._uniforms.set_view(view, size_px)
        self._uniforms.upload()
        self._uniforms.bind()
        self._ctx.enable_only(moderngl.DEPTH_TEST)
        return context_of("shadow", view, size_px)
