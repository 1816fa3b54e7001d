"""Bodies of any shape afloat: what water does to each, by the surface of its own solid.

The law is that of vehicles' hulls (`sim.water.immersion`): pressure of the water column over the part that is under
water, drag and slamming against the water as it moves there, solved together with the velocity that they lead to. Water
that a body takes along is not part of its inertia.
"""

from collections.abc import Sequence

import numpy as np

from sim.contact.approach import turn_about_third
from sim.native.function import fastmath
from sim.shapes import Shape
from sim.vehicle_config.config import HullMesh
from sim.vehicles.forms.base import Vehicle
from sim.water.immersion import FOUND, RESISTANCES, VERTEX_WIDTH, VOLUME, sum_hull
from sim.water.ocean.field import POINTS
from sim.water.ocean.waves import LEAST_POINTS, Sea
from sim.water.water import Water, Weather, weather_of
from sim.water.wrench import CLOCK, MEAN, REPORT, SAMPLES, have_water, immerse, solve_definite
from sim.world import World

DRAG_PER_M2 = 40.0
"""[N s/m] of each square metre that is wet, against its velocity through the water."""
IMPACT = 1.0
"""Coefficient of the pressure on what runs into water: that of blunt bodies."""
_HIGHEST_M = 15.0
"""Over the mean level: no crest reaches up there."""
_AROUND_M = 15.0
"""About the bodies as they begin, in which waves are known; beyond it those of its edge go on."""


class FloatingBodies:
    """The water about bodies in a world that has some."""

    def __init__(
        self,
        world: World,
        weather: Weather | None,
        shapes: Sequence[Shape],
        *,
        stands_at_s: float | None = None,
    ) -> None:
        """weather: None: it is calm. stands_at_s: when its waves are what they stay, whatever moves among them; None:
        they go on."""
        hulls = [_hull_of(shape) for shape in shapes]
        places = np.array([shape.middle_w for shape in shapes]).reshape(-1, 3)
        reach_m = _AROUND_M + (0.5 * float(np.ptp(places[:, :2], axis=0).max()) if len(places) else 0.0)
        self._has_waves, self._stands_at_s = weather is not None, stands_at_s
        self._middle = places[:, :2].mean(axis=0) if len(places) else np.zeros(2)
        around = HullMesh.box(2.0 * reach_m, 2.0 * reach_m, 2.0)
        self._water = Water.of(
            around,
            Weather(Sea(0.0)) if weather is None else weather,
            drag=0.0,
            mass=1.0,
            level_m=world.water_level_m or 0.0,
            points=POINTS if self._has_waves else LEAST_POINTS,
            stream=world.stream,
        )
        self._vertices = np.concatenate([np.zeros((0, 3)), *(hull.vertices for hull in hulls)])
        self._triangles = np.concatenate([np.zeros((0, 3), np.int64), *(hull.triangles for hull in hulls)])
        counts = np.array([(len(hull.vertices), len(hull.triangles)) for hull in hulls]).reshape(-1, 2)
        self._first = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(counts, axis=0)])
        areas = [_area_m2(hull) for hull in hulls]
        self._resistances = np.zeros((len(hulls), RESISTANCES))
        for row, area in zip(self._resistances, areas, strict=True):
            row[:] = DRAG_PER_M2 * area, IMPACT, area, 0.0, 1.0
        self._rows = np.zeros((max([*counts[:, 0], 1]), VERTEX_WIDTH))

    def wrenches(
        self,
        state: np.ndarray,
        mass_kg: np.ndarray,
        inertia: np.ndarray,
        time_s: float,
        h: float,
        out: np.ndarray,
    ) -> None:
        """Add the mean torque and force of water over h, in the world, to out (n, 6).

        state (n, 18 or more): R_wb row-major, x_w, omega_w and v_w of the bodies' principal axes; mass_kg (n,), 0 of
        what stays; inertia (n, 4).
        """
        water = self._water
        if self._has_waves:
            water.report[CLOCK] = time_s if self._stands_at_s is None else self._stands_at_s
            x, y = self._middle
            have_water(x, y, water.about, water.sea_arrays, water.kept, water.report)
        about = water.about
        river = (water.stream.velocity_w, water.stream.frame)
        float_bodies(
            state,
            mass_kg,
            inertia,
            self._first,
            self._vertices,
            self._triangles,
            self._resistances,
            water.kept[8],
            water.kept[7],
            about,
            river,
            h,
            self._rows,
            out,
        )

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """Waves and current from then on."""
        if self._has_waves:
            weather = weather_of(vehicle.values)
            self._water = self._water.over(weather.sea)
            self._water.report[CLOCK] = time_s
            self._water.change(weather)

    def checkpoint(self) -> np.ndarray:
        """(REPORT,) which sea there is, and which comes."""
        return self._water.report[:REPORT].copy()

    def restore(self, checkpoint: np.ndarray) -> None:
        """Back to that sea."""
        self._water.recall(checkpoint)


def _hull_of(shape: Shape) -> HullMesh:
    """The surface of a shape in its principal axes; of what is round so much larger that it holds the volume."""
    points, _, faces = shape.surface()
    solid = shape.solid()
    hull = HullMesh.of((points - solid.T_w[:3, 3]) @ solid.T_w[:3, :3], faces, shape.kind)
    return HullMesh(hull.vertices * np.cbrt(solid.volume_m3 / hull.volume_m3), hull.triangles)


def _area_m2(hull: HullMesh) -> float:
    a, b, c = hull.vertices[hull.triangles].transpose(1, 0, 2)
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@fastmath
def float_bodies(
    state, mass, inertia, first, vertices, triangles, resistances, now, corner, about, river, h, rows, out
):
    """Add the mean wrench on each body to out (n, 6). first (n + 1, 2): of its vertices and triangles among all.

    rows (most vertices, VERTEX_WIDTH) is overwritten.
    """
    there, pose, motion, right = np.empty(SAMPLES), np.empty(12), np.empty(6), np.empty(6)
    axes = np.empty(9)
    load, found, cuts = np.empty(6), np.empty(FOUND), np.empty((2, VERTEX_WIDTH))
    damping, system = np.empty((6, 6)), np.empty((6, 6))
    for i in range(first.shape[0] - 1):
        if mass[i] <= 0.0 or state[i, 11] - about[MEAN] > _HIGHEST_M:
            continue
        for c in range(3):
            motion[c], motion[3 + c], pose[9 + c] = state[i, 12 + c], state[i, 15 + c], state[i, 9 + c]
            for d in range(3):
                pose[3 * c + d] = state[i, 3 * d + c]
                axes[3 * d + c] = state[i, 3 * d + c]
        own = vertices[first[i, 0] : first[i + 1, 0]]
        immerse(own, pose, now, corner, about, river, there, rows, False)
        sum_hull(
            rows,
            triangles[first[i, 1] : first[i + 1, 1]],
            motion,
            0.0,
            0.0,
            resistances[i],
            cuts,
            load,
            damping,
            found,
        )
        if found[VOLUME] <= 0.0:
            continue
        turn_about_third(axes, inertia[i, 3])
        # (M + h D) xi = M free + h load
        for c in range(6):
            for d in range(6):
                system[c, d] = h * damping[c, d]
            right[c] = h * (load[c] - dot6(damping[c], motion))
        for c in range(3):
            system[3 + c, 3 + c] += mass[i]
            for d in range(3):
                for e in range(3):
                    system[c, d] += axes[3 * c + e] * axes[3 * d + e] * inertia[i, e]
        solve_definite(system, right)
        for c in range(3):
            out[i, 3 + c] += mass[i] * right[3 + c] / h
            for d in range(3):
                for e in range(3):
                    out[i, c] += axes[3 * c + e] * axes[3 * d + e] * inertia[i, e] * right[d] / h


@fastmath
def dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
