"""Moving water and wind as kernels feel them: within every step the hull is cut at the sea's surface, and what acts on
it is summed once, at the pose at which the step begins (vehicles paper, eqs. 10 and 15).

What grows with the hull's own velocity is solved together with the velocity that the step ends with, so that a stiff
drag or a slam may take all of a motion but never turn it round. The water that moves along (added mass) is part of the
vehicle's inertia, which knows no stream; what the stream changes about it is added here, so that a hull that drifts
with a steady current feels nothing.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sim.compiled import allocating_nothing, compiled
from sim.compiler.inline import Inline
from sim.environment.hull import Hull
from sim.environment.immersion import AIR as AIR_DRAG
from sim.environment.immersion import (
    DRAG,
    FOUND,
    IMPACT,
    RESISTANCES,
    VERTEX_WIDTH,
    VOLUME,
    WATER_DENSITY,
    WET,
    sum_hull,
)
from sim.environment.nearby import (
    FADE,
    FLOW,
    KEY,
    LATTICE,
    SLAB_S,
    SURFACE,
    TOLD,
    between,
    fill_lattice,
    know_sea,
    water_at,
)
from sim.environment.ocean.field import POINTS
from sim.environment.ocean.sea import Sea
from sim.environment.ocean.state import SeaState, changing
from sim.environment.ocean.synthesis import FIELDS
from sim.environment.ocean.transform import twiddles
from sim.environment.ocean.waves import LEAST_POINTS, TILES_M, Waves
from sim.environment.wind import gusty
from sim.errors import InputError
from sim.vehicles.base import Vehicle
from sim.vehicles.support import Support

_ROUNDED_S = 1e-6
"""The sea's clock is summed up step by step, that of lanes is counted: within this it goes on as it was."""

# what the water remembers and tells, by number; the first four as the ground's report has them
CLOCK = 4  # [s] since the sea began
SINCE = 5  # [s] when it was last told to change
FROM = 6  # the sea (4,) from which it changes
TOWARDS = 10  # the sea (4,) to which
LEVEL = 14  # height of the surface under the origin over the mean [m]
STREAM = 15  # velocity of the water there, world
AIR = 18  # velocity of the air, world x, y
INSIDE = 20  # what `immersion` finds
REPORT = INSIDE + FOUND

# what the weather and the vehicle tell, by number
WIND, GUSTS, CURRENT, SPACING, REACH, MEAN = 0, 2, 3, 5, 6, 7
ABOUT = 8


@compiled
def sea_at(report: np.ndarray, time_s: float, out: np.ndarray) -> None:
    """The sea (4,) of a time, as the report tells it."""
    changing(report[FROM : FROM + 4], report[TOWARDS : TOWARDS + 4], report[SINCE], time_s, out)


@compiled
def _have_water(
    x: float,
    y: float,
    about: np.ndarray,
    sea_arrays: Any,
    kept: Any,
    report: np.ndarray,
) -> None:
    """Have the water about world (x, y) at the report's clock in the lattice of the present."""
    start, place, waves, drawn, edges, w = sea_arrays
    heights, raised, work, keys, decays, grids, lattices, corner, now = kept
    number = math.floor(report[CLOCK] / SLAB_S)
    spacing, reach = about[SPACING], about[REACH]
    for axis in range(2):
        low = (x if axis == 0 else y) / spacing - corner[axis]
        room = reach / spacing + 1.0
        if corner[2] == 0 or low < room or low > LATTICE - 1 - room:
            corner[0] = math.floor(x / spacing) - LATTICE // 2
            corner[1] = math.floor(y / spacing) - LATTICE // 2
            corner[2], corner[3], corner[4] = 1, 0, 0
    sea = np.empty(4)
    for index in (number, number + 1):
        slot = index % 2
        sea_at(report, index * SLAB_S, sea)
        known = know_sea(
            index, sea, start, place, waves, drawn, w, heights, raised, work, keys, decays, grids
        )
        if not known or corner[3 + slot] == 0:
            fill_lattice(grids[slot], edges, decays[slot], corner[0], corner[1], spacing, lattices[slot])
            corner[3 + slot] = 1
    between(lattices, number % 2, report[CLOCK] / SLAB_S - number, now)


@compiled
def _solve(matrix: np.ndarray, right: np.ndarray) -> None:
    """Solve in place a system whose symmetric part is positive definite."""
    n = len(right)
    for k in range(n):
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            right[i] -= factor * right[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]


@compiled
def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@compiled
def _carry_along(
    added: np.ndarray,
    inertia: np.ndarray,
    h: float,
    stream_b: np.ndarray,
    rate_b: np.ndarray,
    twist: np.ndarray,
) -> None:
    """Change a twist by what the water that goes along does in h beyond what its inertia at rest says.

    Kirchhoff's equations hold for the velocity through the water, those of the vehicle for the velocity over ground.
    """
    v, mass = twist[3:].copy(), added[3:]
    through = v - stream_b
    twist[:3] += h * (_cross(mass * through, through) - _cross(mass * v, v)) / inertia[:3]
    omega = twist[:3].copy()
    force = mass * rate_b - _cross(mass * stream_b, omega) - mass * _cross(omega, stream_b)
    twist[3:] += h * force / inertia[3:]


@allocating_nothing(fastmath=True)
def _immerse(
    vertices: np.ndarray,
    pose: np.ndarray,
    now: np.ndarray,
    corner: np.ndarray,
    about: np.ndarray,
    there: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Write where a hull's vertices are and what water is there, rows as VERTEX_WIDTH says."""
    for k in range(len(vertices)):
        for i in range(3):
            # pose[3 j + i] is the world's coordinate i of body axis j
            rows[k, i] = (
                vertices[k, 0] * pose[i] + vertices[k, 1] * pose[3 + i] + vertices[k, 2] * pose[6 + i]
            )
        water_at(
            now, corner[0], corner[1], about[SPACING], pose[9] + rows[k, 0], pose[10] + rows[k, 1], there
        )
        depth = about[MEAN] + there[SURFACE] - pose[11] - rows[k, 2]
        left = math.exp(-there[FADE] * depth) if depth > 0.0 else 1.0
        rows[k, 3] = depth
        rows[k, 4] = left * there[FLOW] + about[CURRENT]
        rows[k, 5] = left * there[FLOW + 1] + about[CURRENT + 1]
        rows[k, 6] = left * there[FLOW + 2]


@compiled
def feel_water(
    pose: np.ndarray, free: np.ndarray, inertia: np.ndarray, h: float, env: Any, wrench_b: np.ndarray
) -> bool:
    """Mean wrench of water and air in a step of h; the clock goes on by h. Acts always.

    Arguments as `Inline.wrench` has them.
    """
    _, hull, about, resistances, added, sea_arrays, kept, report, before, _ = env
    before[:] = report
    wrench_b[:] = 0.0
    if not (np.isfinite(pose).all() and np.isfinite(free).all()):
        return True
    vertices, triangles, rows = hull
    _have_water(pose[9], pose[10], about, sea_arrays, kept, report)
    corner, now = kept[7], kept[8]
    spacing = about[SPACING]
    turned = pose[:9].reshape(3, 3)  # row k is body axis k in the world
    there = np.empty(TOLD)
    _immerse(vertices, pose, now, corner, about, there, rows)
    air_x, air_y = gusty(about[WIND], about[WIND + 1], about[GUSTS], report[CLOCK])
    motion_w = np.concatenate((free[:3] @ turned, free[3:] @ turned))
    load_w, damping_w, found = np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    sum_hull(rows, triangles, motion_w, air_x, air_y, resistances, cuts, load_w, damping_w, found)

    to_body = np.zeros((6, 6))
    to_body[:3, :3] = turned
    to_body[3:, 3:] = turned
    load_b = to_body @ load_w
    damping_b = to_body @ damping_w @ to_body.T

    water_at(now, corner[0], corner[1], spacing, pose[9], pose[10], there)
    report[LEVEL] = there[SURFACE]
    report[STREAM], report[STREAM + 1] = there[FLOW] + about[CURRENT], there[FLOW + 1] + about[CURRENT + 1]
    report[STREAM + 2] = there[FLOW + 2]
    stream_b, rate_b = np.zeros(3), np.zeros(3)
    if found[VOLUME] > 0.0:
        lattices = kept[6]
        first = math.floor(report[CLOCK] / SLAB_S) % 2
        later, earlier = np.empty(TOLD), np.empty(TOLD)
        water_at(lattices[1 - first], corner[0], corner[1], spacing, pose[9], pose[10], later)
        water_at(lattices[first], corner[0], corner[1], spacing, pose[9], pose[10], earlier)
        rate_b = turned @ ((later[FLOW : FLOW + 3] - earlier[FLOW : FLOW + 3]) / SLAB_S)
        stream_b = turned @ report[STREAM : STREAM + 3]

    # (I + h D) xi = I free + h load
    system = h * damping_b
    right = inertia * free + h * load_b
    for k in range(6):
        system[k, k] += inertia[k]
    _solve(system, right)
    _carry_along(added, inertia, h, stream_b, rate_b, right)
    for k in range(6):
        wrench_b[k] = (right[k] - free[k]) * inertia[k] / h
    report[1] = 1.0 if found[VOLUME] > 0.0 else 0.0
    report[2] = pose[11] - about[MEAN] - there[SURFACE]
    report[AIR], report[AIR + 1] = air_x, air_y
    report[INSIDE:] = found
    report[CLOCK] += h
    return True


@compiled
def never_refuse(begin: np.ndarray, end: np.ndarray, env: Any) -> bool:
    """Water parts."""
    return False


@compiled
def forget_step(env: Any) -> None:
    """The report as it was before the last wrench was found."""
    report, before = env[7], env[8]
    report[:] = before


def at_rest(hull: Hull, mass: float) -> tuple[float, float]:
    """(height of the origin over still water [m], wetted area [m^2]) where a mass floats upright.

    Raises InputError where the hull is too small for it.
    """
    if WATER_DENSITY * hull.volume_m3 <= mass:
        raise InputError(
            f"{mass:g} kg sink: the hull holds {hull.volume_m3:.4g} m^3; allowed: less than its volume in water weighs"
        )
    rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices
    numbers, load, damping, found = np.ones(RESISTANCES), np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    low, high = -hull.reach_m, hull.reach_m
    for _ in range(60):
        height = 0.5 * (low + high)
        rows[:, 3] = -height - rows[:, 2]
        sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, numbers, cuts, load, damping, found)
        low, high = (height, high) if WATER_DENSITY * found[VOLUME] > mass else (low, height)
    return height, float(found[WET])


@dataclass(frozen=True, slots=True)
class Weather:
    """What water and air do about a vehicle."""

    sea: Sea
    wind_mps: tuple[float, float] = (0.0, 0.0)
    """World x and y."""
    gusts: float = 0.0
    """Standard deviation of the wind's strength over its mean."""
    current_mps: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Water:
    """Arrays that compiled kernels read; `report`, `wrench_b` and what is kept are written by them."""

    hull: tuple[np.ndarray, np.ndarray, np.ndarray]
    about: np.ndarray
    resistances: np.ndarray
    added: np.ndarray
    sea_arrays: tuple[np.ndarray, ...]
    kept: tuple[np.ndarray, ...]
    """What has been worked out of the sea: all of it follows from the report and the place."""
    report: np.ndarray
    wrench_b: np.ndarray
    """(6,) mean wrench of the last step (torque [N m], force [N]), body frame."""

    @staticmethod
    def of(
        hull: Hull,
        weather: Weather,
        *,
        drag: float,
        mass: float,
        impact: float = 0.0,
        air: float = 0.0,
        added: np.ndarray | None = None,
        level_m: float = 0.0,
        points: int = POINTS,
    ) -> "Water":
        """About a hull.

        drag [N s/m] of the whole hull as it is wetted when `mass` [kg] floats upright; impact and air: coefficients
        of the pressure on patches that run into water and face the wind; added (6,) is the part of the vehicle's
        inertia that is water. Raises InputError where that mass sinks.
        """
        waves = Waves.of(weather.sea.seed, points)
        tiles, reach = len(TILES_M), hull.reach_m
        about, report = np.zeros(ABOUT), np.zeros(REPORT)
        about[SPACING], about[REACH], about[MEAN] = 2.8 * reach / (LATTICE - 2), reach, level_m
        resistances = np.zeros(RESISTANCES)
        resistances[:] = drag, impact, at_rest(hull, mass)[1], air
        sea_arrays = (
            waves.start,
            waves.place,
            waves.number,
            waves.drawn,
            np.array(TILES_M),
            twiddles(points),
        )
        kept = (
            np.zeros(waves.drawn.shape, np.complex64),
            np.full(4, np.nan),
            np.zeros((FIELDS // 2 + 1, 2, points, points), np.float32),
            np.full((2, KEY), np.nan),
            np.zeros((2, tiles)),
            np.zeros((2, tiles, points, points, FIELDS), np.float32),
            np.zeros((2, LATTICE, LATTICE, TOLD)),
            np.zeros(5, np.int64),
            np.zeros((LATTICE, LATTICE, TOLD)),
        )
        rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
        own = np.zeros(6) if added is None else np.array(added, float)
        water = Water(
            (hull.vertices, hull.triangles, rows),
            about,
            resistances,
            own,
            sea_arrays,
            kept,
            report,
            np.zeros(6),
        )
        water.tell(weather, at_once=True)
        return water

    @property
    def env(self) -> tuple[Any, ...]:
        """What a kernel takes."""
        before = self.report.copy()
        return (
            True,
            self.hull,
            self.about,
            self.resistances,
            self.added,
            self.sea_arrays,
            self.kept,
            self.report,
            before,
            self.wrench_b,
        )

    def tell(self, weather: Weather, *, at_once: bool = False) -> None:
        """Wind and current from now on; the sea changes within CHANGE_S. Its seed stays what it was."""
        self.about[WIND : WIND + 2], self.about[GUSTS] = weather.wind_mps, weather.gusts
        self.about[CURRENT : CURRENT + 2] = weather.current_mps
        wanted, now = weather.sea.numbers, np.empty(4)
        sea_at(self.report, self.report[CLOCK], now)
        # the shorter way round
        wanted[1] = now[1] + math.remainder(wanted[1] - now[1], 2 * math.pi)
        told = self.report[TOWARDS : TOWARDS + 4]
        if at_once:
            wanted = now = weather.sea.numbers
        elif np.abs(wanted - told).max() <= 1e-12 * np.abs(told).max():
            return
        self.report[FROM : FROM + 4] = now
        self.report[SINCE], self.report[TOWARDS : TOWARDS + 4] = self.report[CLOCK], wanted

    def carry(
        self,
        weather: Weather,
        time_s: float,
        *,
        drag: float,
        impact: float,
        air: float,
        added: np.ndarray,
    ) -> None:
        """Go on at that time with other numbers; the sea begins anew where the clock goes back."""
        self.resistances[[DRAG, IMPACT, AIR_DRAG]] = drag, impact, air
        self.added[:] = added
        ahead_s = time_s - self.report[CLOCK]
        begins = ahead_s < -_ROUNDED_S
        if abs(ahead_s) > _ROUNDED_S:
            self.report[CLOCK] = time_s
        self.tell(weather, at_once=begins)

    @property
    def state(self) -> SeaState:
        """The sea as it is now and goes on from here."""
        told = self.report
        return SeaState(
            self.sea_arrays,
            told[FROM : FROM + 4].copy(),
            told[TOWARDS : TOWARDS + 4].copy(),
            float(told[SINCE]),
            self.level_m,
        )

    @property
    def level_m(self) -> float:
        """Height of the mean surface in the world."""
        return float(self.about[MEAN])

    @property
    def impact_mps(self) -> float:
        """Water is no ground."""
        return 0.0

    @property
    def crash_mps(self) -> float:
        """Water breaks nothing."""
        return 0.0

    @property
    def contacts(self) -> int:
        """1 while some of the hull is under water."""
        return int(self.report[1])

    def forget(self) -> None:
        """The vehicle was put somewhere else: the sea goes on."""
        self.report[:CLOCK] = 0.0

    def probe(self) -> "Water":
        """The same water, to look a step ahead without changing what it remembers."""
        return Water(
            self.hull,
            self.about,
            self.resistances,
            self.added,
            self.sea_arrays,
            self.kept,
            self.report.copy(),
            np.zeros(6),
        )


def _floats(vehicle: Vehicle) -> bool:
    return vehicle.support is Support.WATER


def _type(rank: int, kind: str = "float64") -> str:
    return f"{kind}[{', '.join([':'] * (rank - 1) + ['::1'])}]"


def _tuple(*types: str) -> str:
    return f"Tuple(({', '.join(types)}))"


_HULL = _tuple(_type(2), _type(2, "int64"), _type(2))
_SEA = _tuple(
    _type(1, "int64"), _type(2, "int32"), _type(2), _type(2, "complex128"), _type(1), _type(1, "complex64")
)
_KEPT = _tuple(
    _type(2, "complex64"),
    _type(1),
    _type(4, "float32"),
    _type(2),
    _type(2),
    _type(5, "float32"),
    _type(4),
    _type(1, "int64"),
    _type(3),
)


@cache
def _nothing() -> tuple[Any, ...]:
    """`env` of a hull that feels nothing; made when it is wanted: its compiled functions cost ten seconds at first."""
    hull = Hull.box(1.0, 1.0, 1.0)
    env = Water.of(hull, Weather(Sea(0.0)), drag=0.0, mass=1.0, points=LEAST_POINTS).env
    return (False, *env[1:])


WATER = Inline(
    imports="from sim.environment.water import feel_water, forget_step, never_refuse",
    type=_tuple("boolean", _HULL, _type(1), _type(1), _type(1), _SEA, _KEPT, _type(1), _type(1), _type(1)),
    wrench="feel_water",
    refuses="never_refuse",
    undo="forget_step",
    serves=_floats,
    nothing=_nothing,
    smooth=True,
)
