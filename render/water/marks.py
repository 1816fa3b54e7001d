"""A map of what moves on the water around the vehicles, wakes, splashes, rotors' wind and screws' streams: slopes, foam
and air, which the water's shader looks up."""

import math
from collections.abc import Sequence
from contextlib import ExitStack

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame, Splash, Wake
from render.passes.targets import unbind
from render.programs import FIRST_FREE_UNIT, SAMPLER_UNITS, Programs, Resources, uniform, vertex_array
from render.quality import Quality
from render.vehicles.rigs import rig_pose, values_of
from render.vehicles.wake import WAKE_LAYOUT, wake_band, wave_table
from sim.platform.values import dataclass

REACH_M = 5.0
"""Length of the stream of a screw that gives all that it can."""
_LEAST = 0.04
_DEEPEST_M = 1.2
"""Screws that are deeper, or in the air, leave no mark."""


@dataclass(frozen=True, slots=True)
class Wash:
    """The stream of one screw."""

    place_w: tuple[float, float]
    """Where it begins [m]."""
    along_w: tuple[float, float]
    """Unit vector of the way that the water is thrown."""
    strength: float
    """0..1."""


def washes(vehicle: DrawnVehicle, water_level_m: float) -> tuple[Wash, ...]:
    """Of all screws of a vehicle that turn in the water."""
    hull = vehicle.config.hull
    if hull is None or vehicle.ghost or vehicle.wreck or not np.isfinite(vehicle.T_wb).all():
        return ()
    if not hull.screws or vehicle.time_s is None:
        return ()
    values, found = values_of(vehicle), []
    ahead = vehicle.T_wb[:2, 0] / max(float(np.linalg.norm(vehicle.T_wb[:2, 0])), 1e-6)
    for screw in hull.screws:
        push = screw.push.value(values)
        at = vehicle.T_wb @ [*screw.at_m, 1.0]
        if not math.isfinite(push) or abs(push) < _LEAST or abs(at[2] - water_level_m) > _DEEPEST_M:
            continue
        along = -math.copysign(1.0, push) * ahead
        found.append(
            Wash((float(at[0]), float(at[1])), (float(along[0]), float(along[1])), min(abs(push), 1.0))
        )
    return tuple(found)


SPAN_M = 76.0
"""Width of the map."""
_AFT_S = 8.0
"""The map reaches from the newest place of a wake as far ahead as from the one of so long ago aft."""
_SPLASH_REACH_M = 22.0
_ROTOR_REACH = 2.7
"""In rotor radii."""
_NEAR, _FAR = 0.7, 3.0
"""Height of a rotor over its radius at which the water feels it fully, and no more."""


def downwash(vehicle: DrawnVehicle, water_level_m: float) -> tuple[np.ndarray, float, float] | None:
    """Where (2,) [m] the largest rotor of a vehicle blows on the water, its radius [m] and how hard, 0..1."""
    if vehicle.ghost or vehicle.wreck or not np.isfinite(vehicle.T_wb).all():
        return None
    discs = rig_pose(vehicle).discs
    if not discs:
        return None
    disc = max(discs, key=lambda each: each.rotor.radius_m)
    T_wd = vehicle.T_wb @ disc.T_bd
    height = T_wd[2, 3] - water_level_m
    down = -T_wd[:3, 2]
    if height <= 0.0 or down[2] > -0.5:
        return None
    share = (height / disc.rotor.radius_m - _NEAR) / (_FAR - _NEAR)
    strength = float(np.clip(1.0 - share, 0.0, 1.0))
    if strength == 0.0:
        return None
    place = T_wd[:2, 3] + down[:2] * height / -down[2]
    return place, disc.rotor.radius_m, strength * strength * (3.0 - 2.0 * strength)


def middle(
    wakes: Sequence[Wake], splashes: Sequence[Splash], churned: Sequence[np.ndarray]
) -> np.ndarray | None:
    """(2,) m: where the map belongs; None where nothing moves."""
    for wake in wakes:
        aft = wake.places_w[int(np.argmax(wake.age_s < _AFT_S))]
        return 0.5 * (wake.places_w[-1] + aft)
    for place in churned:
        return place
    for splash in splashes:
        return np.array(splash.place_w)
    return None


class WaterMarks:
    """Owns the map and what draws into it."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, quality: Quality):
        self._ctx = ctx
        self._resources = Resources()
        self._px = 512 if quality.full_materials else 256
        self._map = self._resources.own(ctx.texture((self._px, self._px), 4, dtype="f2"))
        self._map.filter = (moderngl.LINEAR, moderngl.LINEAR)
        self._map.repeat_x = self._map.repeat_y = False
        self._target = self._resources.own(ctx.framebuffer([self._map]))
        self._wake_program = programs.load("wake.vert", "wake.frag")
        self._wave_table: moderngl.Texture | None = None
        self._splash_program = programs.load("ring.vert", "splash.frag")
        self._rotor_program = programs.load("ring.vert", "downwash.frag")
        self._wash_program = programs.load("ring.vert", "wash.frag")
        square = self._resources.own(ctx.buffer(np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)], "f4")))
        content = [(square, "2f", "corner")]
        self._splash = self._resources.own(vertex_array(ctx, self._splash_program, content))
        self._rotor = self._resources.own(vertex_array(ctx, self._rotor_program, content))
        self._wash = self._resources.own(vertex_array(ctx, self._wash_program, content))
        self.window = (0.0, 0.0, 0.0)
        """Middle [m] of the map and 1 / its width; 0 where nothing moves on the water."""

    @property
    def any(self) -> bool:
        """Whether anything moves on the water."""
        return self.window[2] > 0.0

    def bind(self) -> None:
        """Keep the map where the water's material looks for it."""
        self._map.use(SAMPLER_UNITS["water_marks_map"])

    def draw(self, frame: Frame, water_level_m: float) -> None:
        """Draw the map anew for this frame."""
        blown = [found for found in (downwash(v, water_level_m) for v in frame.vehicles) if found is not None]
        thrown = [wash for v in frame.vehicles for wash in washes(v, water_level_m)]
        churned = [*(place for place, _, _ in blown), *(np.array(wash.place_w) for wash in thrown)]
        at = middle(frame.wakes, frame.splashes, churned)
        if at is None:
            self.window = (0.0, 0.0, 0.0)
            return
        texel_m = SPAN_M / self._px
        at = np.round(at / texel_m) * texel_m  # else the pattern would swim in its texels
        self.window = (float(at[0]), float(at[1]), 1.0 / SPAN_M)
        self._target.use()
        self._target.clear()
        self._ctx.enable_only(moderngl.BLEND)
        self._ctx.blend_func = moderngl.ONE, moderngl.ONE
        window = (*at, 2.0 / SPAN_M, 0.0)
        for program in (self._wake_program, self._splash_program, self._rotor_program, self._wash_program):
            uniform(program, "window").value = window
        for wake in frame.wakes:
            self._draw_wake(wake, texel_m)
        for splash in frame.splashes:
            uniform(self._splash_program, "ring").value = (*splash.place_w, _SPLASH_REACH_M)
            uniform(self._splash_program, "splash").value = (splash.age_s, splash.speed_mps)
            self._splash.render(moderngl.TRIANGLE_STRIP)
        for place, radius_m, strength in blown:
            uniform(self._rotor_program, "ring").value = (*place, _ROTOR_REACH * radius_m)
            uniform(self._rotor_program, "rotor").value = (radius_m, strength, frame.wall_s)
            self._rotor.render(moderngl.TRIANGLE_STRIP)
        for wash in thrown:
            self._draw_wash(wash, frame.wall_s)

    def _draw_wash(self, wash: Wash, wall_s: float) -> None:
        uniform(self._wash_program, "ring").value = (*wash.place_w, 1.5 * REACH_M)
        uniform(self._wash_program, "wash").value = (*wash.along_w, wash.strength, REACH_M)
        uniform(self._wash_program, "time_s").value = wall_s
        self._wash.render(moderngl.TRIANGLE_STRIP)

    def _draw_wake(self, wake: Wake, texel_m: float) -> None:
        rows, indices = wake_band(wake)
        uniform(self._wake_program, "hull").value = (wake.length_m, wake.half_beam_m)
        uniform(self._wake_program, "texel_m").value = texel_m
        if self._wave_table is None:
            table = wave_table()
            size = table.shape[1::-1]
            self._wave_table = self._resources.own(self._ctx.texture(size, 4, table, dtype="f4"))
            self._wave_table.repeat_x = self._wave_table.repeat_y = False
        self._wave_table.use(FIRST_FREE_UNIT)
        uniform(self._wake_program, "wave_table").value = FIRST_FREE_UNIT
        with ExitStack() as once:
            vertices, index = self._ctx.buffer(rows), self._ctx.buffer(indices)
            array = vertex_array(self._ctx, self._wake_program, [(vertices, *WAKE_LAYOUT)], index)
            for resource in (vertices, index, array):
                once.callback(resource.release)
            array.render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free everything."""
        unbind(self._ctx)
        self._resources.close()
