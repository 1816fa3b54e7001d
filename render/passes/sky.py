"""The sky: a scattering table made when the sun moves, and the light that follows from it."""

import math
from functools import partial

import moderngl
import numpy as np

from render.light import PLANET_M, Light, Sun, horizon_rad
from render.passes.targets import colour_of, unbind, write_once
from render.programs import SAMPLER_UNITS, Programs, uniform
from render.room_light import RoomLight
from sim.world.props import Room

TABLE_PX = (256, 128)
"""Columns and rows; twice as many rows in orbit, where the air is a thin line."""
FLAT_PX = 1024
"""Along each side of what is above the horizon, laid out flat."""
_ROWS_AT_ONCE = 4
"""Of it are drawn anew with every picture, where clouds drift."""
SUN_POWER = 20.0
"""Irradiance of the sun above the air, in the scene's relative unit."""
HAZE = 2.2
"""Mie scattering relative to clear air."""

_DECK_STOPS = 0.5
"""Share of the sun's light: what is left comes through the gap."""
_RAIN_STOPS = 0.40
"""What the heaviest rain stops besides."""
_TOP_M, _EYE_M = PLANET_M + 80e3, 200.0
_RAYLEIGH = np.array([5.802, 13.558, 33.1]) * 1e-6
_OZONE = np.array([0.650, 1.881, 0.085]) * 1e-6
_MIE_EXTINCTION = 4.4e-6


def deck_of(clouds: float) -> float:
    """0..1: how far clouds over that share of the sky have closed to a deck."""
    t = min(max((clouds - 0.5) / 0.5, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def sun_at_ground(direction_w: np.ndarray) -> np.ndarray:
    """(3,) irradiance of the sun through the air, by the same air as the table; zero below the horizon."""
    if direction_w[2] <= 0.0:
        return np.zeros(3)
    eye = np.array([0.0, 0.0, PLANET_M + _EYE_M])
    along = eye @ direction_w
    reach = -along + math.sqrt(along * along - (eye @ eye - _TOP_M * _TOP_M))
    step = reach / 400
    points = eye + ((np.arange(400) + 0.5) * step)[:, None] * direction_w
    height = np.linalg.norm(points, axis=1) - PLANET_M
    air, haze = np.exp(-height / 8000.0).sum(), np.exp(-height / 1200.0).sum()
    ozone = np.maximum(0.0, 1.0 - np.abs(height - 25e3) / 15e3).sum()
    depth = (_RAYLEIGH * air + _MIE_EXTINCTION * HAZE * haze + _OZONE * ozone) * step
    return SUN_POWER * np.exp(-depth)


def irradiance_harmonics(table: np.ndarray, horizon: float = 0.0) -> np.ndarray:
    """(9, 3) coefficients of the irradiance by normal for a sky `table` (nv, nu, 3), as sky.glsl evaluates them.

    horizon: elevation [rad] at which the table is densest."""
    rows, columns = table.shape[:2]
    v = (np.arange(rows) + 0.5) / rows * 2.0 - 1.0
    span = np.pi / 2.0 - np.sign(v) * horizon
    elevation = horizon + np.sign(v) * v * v * span
    azimuth = (np.arange(columns) + 0.5) / columns * 2.0 * np.pi
    x = np.cos(elevation)[:, None] * np.cos(azimuth)
    y = np.cos(elevation)[:, None] * np.sin(azimuth)
    z = np.broadcast_to(np.sin(elevation)[:, None], x.shape)
    solid_angle = np.cos(elevation) * np.abs(v) * 4.0 * span / rows * (2.0 * np.pi / columns)
    polynomials = [np.ones_like(x), y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y]
    norms = [0.282095, 0.488603, 0.488603, 0.488603, 1.092548, 1.092548, 0.315392, 1.092548, 0.546274]
    lobes = [np.pi] + [2.0 * np.pi / 3.0] * 3 + [np.pi / 4.0] * 5
    weighted = table * solid_angle[:, None, None]
    return np.array(
        [
            lobe * norm * norm * np.einsum("vuc,vu->c", weighted, polynomial)
            for polynomial, norm, lobe in zip(polynomials, norms, lobes, strict=True)
        ]
    )


class Sky:
    """Owns the table of sky radiance by direction and draws the sky behind the scene."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        room: Room | None = None,
        *,
        orbit_m: float | None = None,
        kept: bool = False,
    ):
        """room: what is looked at from within one is its inside. orbit_m: height over a planet, which is drawn with its
        air, under stars. kept: the sky is drawn once for many pictures."""
        self._ctx, self._room, self._orbit_m = ctx, room, orbit_m
        self._table_px = (TABLE_PX[0], TABLE_PX[1] * (1 if orbit_m is None else 2))
        self._table, self._next_table = self._new_table(), self._new_table()
        self._taken, self._whole = True, False
        in_orbit = orbit_m is not None
        self._scatter = programs.load("fullscreen.vert", "sky_lut.frag", ORBIT=int(in_orbit))
        self._scatter_array = ctx.vertex_array(self._scatter, [])
        self._filled_for: Sun | None = None
        self._clouds = self._next_clouds = 0.0
        self._row = 0
        """Of the flat sky, the next to be drawn."""
        load = partial(programs.load, "fullscreen.vert", "sky.frag")
        backdrop = programs.load("fullscreen.vert", "planet.frag") if in_orbit else load(FLAT=0, LOOKED_UP=0)
        self._backdrop_array = ctx.vertex_array(backdrop, [])
        self._flat: moderngl.Framebuffer | None = None
        if kept and room is None and not in_orbit:
            texture = ctx.texture((FLAT_PX, FLAT_PX), 4, dtype="f2")
            texture.repeat_x = texture.repeat_y = False
            self._flat = ctx.framebuffer([texture])
            self._flat_array, self._looked_up_array = (
                ctx.vertex_array(load(FLAT=flat, LOOKED_UP=1 - flat), []) for flat in (1, 0)
            )

    def _new_table(self) -> moderngl.Framebuffer:
        table = self._ctx.texture(self._table_px, 4, dtype="f4")
        table.repeat_x, table.repeat_y = True, False
        return self._ctx.framebuffer([table])

    def begin(self, sun: Sun) -> None:
        """Have a table filled for `sun`, which takes 15 ms on two CPU cores: `light` waits for it."""
        self._filled_for, self._taken, self._next_clouds = sun, False, sun.clouds
        direction, deck = sun.direction_w, deck_of(sun.clouds)
        self._next_table.use()
        write_once(self._ctx)
        uniform(self._scatter, "sun").value = tuple(direction)
        uniform(self._scatter, "mie_scale").value = HAZE if self._orbit_m is None else 1.0
        uniform(self._scatter, "sun_power").value = SUN_POWER
        if self._orbit_m is None:
            uniform(self._scatter, "deck").value = deck
            uniform(self._scatter, "rain").value = sun.rain
        else:
            uniform(self._scatter, "orbit_m").value = self._orbit_m
            uniform(self._scatter, "horizon").value = horizon_rad(self._orbit_m)
        self._scatter_array.render(moderngl.TRIANGLES, vertices=3)

    def light(self, sun: Sun) -> Light:
        """What a table for `sun` throws; `take` makes that the one that is looked at."""
        if sun != self._filled_for:
            self.begin(sun)
        self._filled_for = None  # what it throws is found out once
        direction, deck = sun.direction_w, deck_of(sun.clouds)
        table = np.frombuffer(colour_of(self._next_table).read(), dtype=np.float32).reshape(
            *self._table_px[::-1], 4
        )
        if self._orbit_m is not None:
            horizon = horizon_rad(self._orbit_m)
            harmonics = irradiance_harmonics(table[..., :3].astype(float), horizon)
            seen = float(direction[2] > math.sin(horizon))
            return Light(direction, np.full(3, SUN_POWER * seen), harmonics, orbit_m=self._orbit_m)
        harmonics = irradiance_harmonics(table[..., :3].astype(float))
        through = 1.0 - _DECK_STOPS * deck - _RAIN_STOPS * deck * sun.rain
        if self._room is not None:
            room = RoomLight(self._room, direction, through * sun_at_ground(direction), harmonics)
            inside = room.table(TABLE_PX[1], TABLE_PX[0])
            colour_of(self._next_table).write(inside)
            harmonics = irradiance_harmonics(inside[..., :3].astype(float))
            return Light(direction, room.sun, harmonics, room=room)
        return Light(direction, through * sun_at_ground(direction), harmonics, sun.clouds, sun.rain)

    def take(self) -> None:
        """Look at the table that was filled last."""
        if not self._taken:
            self._table, self._next_table, self._taken = self._next_table, self._table, True
            self._clouds, self._row = self._next_clouds, 0
            self._whole = False

    def bind(self, *, filled_last: bool = False) -> None:
        """Keep the table where every material looks for it; `filled_last`: taken or not."""
        table = self._next_table if filled_last and not self._taken else self._table
        colour_of(table).use(SAMPLER_UNITS["sky_lut"])

    def prepare(self) -> None:
        """Draw what is to be kept: all of it in a new light, then some rows as clouds drift. The picture's uniforms are
        bound."""
        if self._flat is None or (self._whole and not self._clouds):
            return
        rows = _ROWS_AT_ONCE if self._whole else FLAT_PX
        self._flat.use()
        self._flat.scissor = (0, self._row, FLAT_PX, rows)
        write_once(self._ctx)
        self._flat_array.render(moderngl.TRIANGLES, vertices=3)
        self._row, self._whole = (self._row + rows) % FLAT_PX, True

    def draw(self, *, under_water: bool = False) -> None:
        """Fill what nothing nearer has covered. Expects the depth test to pass on equal depth."""
        if self._flat is None or under_water:
            self._backdrop_array.render(moderngl.TRIANGLES, vertices=3)
        else:
            colour_of(self._flat).use(SAMPLER_UNITS["sky_map"])
            self._looked_up_array.render(moderngl.TRIANGLES, vertices=3)

    def release(self) -> None:
        """Free table and arrays."""
        unbind(self._ctx)
        kept = () if self._flat is None else (self._flat,)
        for table in (self._table, self._next_table, *kept):
            texture = colour_of(table)
            table.release()
            texture.release()
        arrays = () if self._flat is None else (self._flat_array, self._looked_up_array)
        for array in (self._backdrop_array, self._scatter_array, *arrays):
            array.release()
