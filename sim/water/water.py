"""Water about one hull: the weather, the arrays that kernels read, and how these follow changes of the weather."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from sim.compiler.stepper import Inline
from sim.contact.ground import GROUND, GroundArrays
from sim.contact.wrench import LOADS
from sim.environment.environment import TOLD, Environment
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicle_config.config import HullMesh
from sim.vehicle_config.radiation import Radiation
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State, Support
from sim.vehicles.forms.observation import ObservationLayout
from sim.vehicles.forms.parameters import Value
from sim.water.excitation import remembered
from sim.water.immersion import AIR as AIR_DRAG
from sim.water.immersion import (
    DRAG,
    IMPACT,
    LIFT,
    RESISTANCES,
    VERTEX_WIDTH,
    afloat,
    at_rest,
    lift_per_height,
)
from sim.water.ocean.field import POINTS, SeaState, other_sea, sea_arrays
from sim.water.ocean.synthesis import FIELDS
from sim.water.ocean.waves import LEAST_POINTS, Sea
from sim.water.wrench import (
    ABOUT,
    CLOCK,
    CURRENT,
    DEPTH,
    FROM,
    GUSTS,
    KEY,
    LATTICE,
    MEAN,
    REACH,
    REPORT,
    SAMPLES,
    SINCE,
    SPACING,
    TOWARDS,
    WIND,
    sea_at,
)
from sim.world import World
from sim.world.path import Stream
from sim.world.terrain import Terrain


@dataclass(frozen=True, slots=True)
class Weather:
    """What water and air do about a vehicle."""

    sea: Sea
    wind_mps: tuple[float, float] = (0.0, 0.0)
    """World x and y."""
    gusts: float = 0.0
    """Standard deviation of the wind's strength over its mean."""
    current_mps: tuple[float, float] = (0.0, 0.0)


FRICTION = 0.5
"""Of hulls on sand, gravel and rock."""
_ROUNDED_S = 1e-6
"""The sea's clock is summed up step by step, that of lanes is counted: within this it goes on as it was."""


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
    stream: Stream
    """Of a river, beside the current that the weather tells of."""
    radiation: tuple[np.ndarray, ...]
    """As `remembered` has it."""
    lifted: np.ndarray
    """(6,) wrench of still water 1 m higher on a hull that makes waves."""
    ground: GroundArrays | None = None
    """Bed and shore; its report is the end of this one."""

    @staticmethod
    def of(
        hull: HullMesh,
        weather: Weather,
        *,
        drag: float,
        mass: float,
        impact: float = 0.0,
        air: float = 0.0,
        lift: float = 1.0,
        added: np.ndarray | None = None,
        level_m: float = 0.0,
        points: int = POINTS,
        stream: Stream | None = None,
        terrain: Terrain | None = None,
        radiation: Radiation | None = None,
    ) -> "Water":
        """About a hull.

        drag [N s/m] of the whole hull as it is wetted when `mass` [kg] floats upright; impact and air: coefficients
        of the pressure on patches that run into water and face the wind; lift: the fraction of the water column's
        pressure that is summed here, less where something else carries the hull; added (6,) is the part of the
        vehicle's inertia that is water; stream: of a river; terrain: where it may run aground;
        radiation: of the hull. Raises InputError where that mass sinks.
        """
        waves, reach = sea_arrays(weather.sea, points), hull.reach_m
        points_b = np.zeros((0, 4)) if terrain is None else np.insert(hull.outermost, 3, 0.0, axis=1)
        lifted = np.zeros(6) if radiation is None else lift_per_height(hull, mass)
        known = remembered(radiation, weather.sea.depth_m, waves[2], lifted)
        grounded = REPORT + len(known[0])
        about, report = np.zeros(ABOUT), np.zeros(grounded + LOADS + 3 * len(points_b) + TOLD)
        ground = None if terrain is None else GroundArrays.of(terrain, points_b, friction=FRICTION)
        about[SPACING], about[REACH], about[MEAN] = 2.8 * reach / (LATTICE - 2), reach, level_m
        about[DEPTH] = weather.sea.depth_m
        resistances = np.zeros(RESISTANCES)
        resistances[:] = drag, impact, at_rest(hull, mass)[1], air, lift
        rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
        own = np.zeros(6) if added is None else np.array(added, float)
        water = Water(
            (hull.vertices, hull.triangles, rows),
            about,
            resistances,
            own,
            waves,
            nothing_known(waves),
            report,
            np.zeros(6),
            Stream.still() if stream is None else stream,
            known,
            lifted,
            None if ground is None else replace(ground, report=report[grounded:]),
        )
        water.change(weather, at_once=True)
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
            (self.stream.velocity_w, self.stream.frame),
            GROUND.nothing() if self.ground is None else self.ground.env,
            self.radiation,
            self.wrench_b,
        )

    def change(self, weather: Weather, *, at_once: bool = False) -> None:
        """Wind and current from now on; the sea changes within CHANGE_S. Its seed stays what it was."""
        self.about[WIND : WIND + 2], self.about[GUSTS] = weather.wind_mps, weather.gusts
        self.about[CURRENT : CURRENT + 2] = weather.current_mps
        now = np.empty(4)
        sea_at(self.report, self.report[CLOCK], now)
        wanted = other_sea(now, self.report[TOWARDS : TOWARDS + 4], weather.sea.numbers)
        if at_once:
            wanted = now = weather.sea.numbers
        elif wanted is None:
            return
        self.report[FROM : FROM + 4] = now
        self.report[SINCE], self.report[TOWARDS : TOWARDS + 4] = self.report[CLOCK], wanted

    def over(self, sea: Sea, radiation: Radiation | None = None) -> "Water":
        """The same over another depth, with waves of other lengths at once; itself where the depth is this one.

        radiation: of the hull, which forgets the waves that it has made.
        """
        if sea.depth_m == self.about[DEPTH]:
            return self
        about, waves = self.about.copy(), sea_arrays(sea, len(self.sea_arrays[5]))
        about[DEPTH] = sea.depth_m
        self.report[REPORT : REPORT + len(self.radiation[0])] = 0.0
        known = remembered(radiation, sea.depth_m, waves[2], self.lifted)
        return replace(self, about=about, sea_arrays=waves, kept=nothing_known(waves), radiation=known)

    def carry(
        self,
        weather: Weather,
        time_s: float,
        *,
        drag: float,
        impact: float,
        air: float,
        lift: float,
        added: np.ndarray,
    ) -> None:
        """Go on at that time with other numbers; the sea begins anew where the clock goes back."""
        self.resistances[[DRAG, IMPACT, AIR_DRAG, LIFT]] = drag, impact, air, lift
        self.added[:] = added
        ahead_s = time_s - self.report[CLOCK]
        begins = ahead_s < -_ROUNDED_S
        if abs(ahead_s) > _ROUNDED_S:
            self.report[CLOCK] = time_s
        self.change(weather, at_once=begins)

    @property
    def state(self) -> SeaState:
        """The sea as it is now and goes on from here."""
        report = self.report
        return SeaState(
            self.sea_arrays,
            report[FROM : FROM + 4].copy(),
            report[TOWARDS : TOWARDS + 4].copy(),
            float(report[SINCE]),
            self.level_m,
            float(self.about[DEPTH]),
        )

    @property
    def level_m(self) -> float:
        """Height of the mean surface in the world."""
        return float(self.about[MEAN])

    def recall(self, memory: np.ndarray) -> None:
        """Remember what such water did, or what water without ground did."""
        self.report[: memory.size] = memory
        self.report[memory.size :] = 0.0

    def forget(self) -> None:
        """The vehicle was put somewhere else: the sea goes on."""
        self.report[:CLOCK] = 0.0
        self.report[REPORT:] = 0.0

    def probe(self) -> "Water":
        """The same water, to look a step ahead without changing what it remembers."""
        report = self.report.copy()
        grounded = REPORT + len(self.radiation[0])
        ground = None if self.ground is None else replace(self.ground.probe(), report=report[grounded:])
        return replace(self, report=report, wrench_b=np.zeros(6), ground=ground)


def nothing_known(waves: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """`kept` of a sea of which nothing has been worked out."""
    drawn, tiles, points = waves[3], len(waves[4]), len(waves[5])
    return (
        np.zeros(drawn.shape, np.float32),
        np.full(4, np.nan),
        np.zeros((FIELDS // 2 + 1, 2, points, points), np.float32),
        np.full((2, KEY), np.nan),
        np.zeros((2, tiles)),
        np.zeros((2, tiles, points, points, FIELDS), np.float32),
        np.zeros((2, LATTICE, LATTICE, SAMPLES)),
        np.zeros(5, np.int64),
        np.zeros((LATTICE, LATTICE, SAMPLES)),
    )


def _floats(vehicle: Vehicle) -> bool:
    return vehicle.support is Support.WATER


def _type(rank: int, kind: str = "float64") -> str:
    return f"{kind}[{', '.join([':'] * (rank - 1) + ['::1'])}]"


def _tuple(*types: str) -> str:
    return f"Tuple(({', '.join(types)}))"


_HULL = _tuple(_type(2), _type(2, "int64"), _type(2))
_SEA = _tuple(_type(1, "int64"), _type(2, "int32"), _type(2), _type(2), _type(1), _type(2, "float32"))
_KEPT = _tuple(
    _type(2, "float32"),
    _type(1),
    _type(4, "float32"),
    _type(2),
    _type(2),
    _type(5, "float32"),
    _type(4),
    _type(1, "int64"),
    _type(3),
)
_STREAM = _tuple(_type(3), _type(1))


@cache
def _nothing() -> tuple[Any, ...]:
    """`env` of a hull that feels nothing; made when it is wanted: its sea takes a while."""
    hull = HullMesh.box(1.0, 1.0, 1.0)
    env = Water.of(hull, Weather(Sea(0.0)), drag=0.0, mass=1.0, points=LEAST_POINTS).env
    return (False, *env[1:])


WATER = Inline(
    module="sim.water.wrench",
    type=_tuple(
        "boolean",
        _HULL,
        _type(1),
        _type(1),
        _type(1),
        _SEA,
        _KEPT,
        _type(1),
        _type(1),
        _STREAM,
        GROUND.type,
        _tuple(_type(2), _type(2), _type(4, "float32"), _type(1, "int64"), _type(2), _type(1), _type(2)),
        _type(1),
    ),
    wrench="feel_water",
    refuses="refuse_aground",
    undo="forget_step",
    serves=_floats,
    nothing=_nothing,
    smooth=True,
)


class Afloat(Environment):
    """The water about one lane of a vehicle that floats."""

    inline = WATER
    lasting = REPORT
    acts = True

    def __init__(self, vehicle: Vehicle, around: Water) -> None:
        super().__init__(vehicle, around.report, around.wrench_b)
        self.around = around

    @classmethod
    def of(cls, vehicle: Vehicle, world: World | None) -> Environment:
        if world is None:
            return cls(vehicle, water_about(vehicle))
        level_m = world.water_level_m or 0.0
        return cls(vehicle, water_about(vehicle, level_m, world.stream, terrain=world.terrain))

    @staticmethod
    def start(vehicle: Vehicle) -> State:
        """In equilibrium in still water about z = 0."""
        return vehicle.state_in_space(afloat_at(vehicle, np.eye(4)), np.zeros(6))

    @staticmethod
    def settled(vehicle: Vehicle, T_wb: np.ndarray) -> np.ndarray:
        return afloat_at(vehicle, T_wb)

    @property
    def env(self) -> tuple[Any, ...]:
        return self.around.env

    @property
    def aground(self) -> bool:
        return self.around.ground is not None and self.around.ground.report[1] > 0.0

    @property
    def water(self) -> SeaState:
        return self.around.state

    def clearance_m(self, node: np.ndarray) -> float:
        """Height over the water's mean level."""
        return float(node[self.vehicle.group.position][2]) - self.around.level_m

    def told(self, layout: ObservationLayout, rows: np.ndarray) -> np.ndarray:
        """Speeds through the water are those beside a river's stream, too."""
        stream = self.around.stream
        if not (stream.velocity_w.size and layout.through_water_b):
            return rows
        T_wb, told = layout.poses(rows)[..., 0, :, :], rows.copy()
        velocity_w = stream.along(T_wb[..., :2, 3])
        for name, direction_b in layout.through_water_b.items():
            along_w = T_wb[..., :2, :3] @ np.array(direction_b)
            told[..., layout.observables[name].start] -= (along_w * velocity_w).sum(axis=-1)
        return told

    def lift_out(self, node: np.ndarray) -> np.ndarray:
        ground = self.around.ground
        above_m = math.inf if ground is None else ground.clearance_m(node[self.vehicle.node_layout.pose])
        return self.vehicle.raised(node, -min(above_m, 0.0))

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        super().renew(vehicle, time_s)
        values, weather = vehicle.values, weather_of(vehicle.values)
        self._go_over(weather.sea)
        self.around.carry(
            weather,
            time_s,
            drag=_number(values["drag"]),
            impact=_number(values["impact"]),
            air=_number(values["air_drag"]),
            lift=_number(values["buoyancy"]),
            added=np.array([*_numbers(values["added_inertia"]), *_numbers(values["added_mass"])]),
        )

    def forget(self) -> None:
        self.around.forget()

    def restore(self, checkpoint: np.ndarray) -> None:
        """The sea changes from there on to what the vehicle's parameters say."""
        weather = weather_of(self.vehicle.values)
        self._go_over(weather.sea)
        if checkpoint.size:
            self.around.recall(checkpoint)
            self.around.change(weather)
        else:
            self.forget()

    def _go_over(self, sea: Sea) -> None:
        hull = config_of(self.vehicle).hull
        self.around = self.around.over(sea, None if hull is None else hull.radiation)

    def probe(self) -> "Afloat":
        return Afloat(self.vehicle, self.around.probe())


def water_about(
    vehicle: Vehicle,
    level_m: float = 0.0,
    stream: Stream | None = None,
    *,
    points: int = POINTS,
    terrain: Terrain | None = None,
) -> Water:
    """Water about a vehicle that floats, its mean surface at z = `level_m`; stream: of a river; points: along an edge
    of each of the sea's tiles; terrain: where it may run aground.

    Raises InputError without a hull.
    """
    hull = config_of(vehicle).hull
    if hull is None or hull.surface is None:
        raise InputError(f"vehicle {vehicle.name!r} floats, and its folder names no surface in [hull]")
    values = vehicle.values
    return Water.of(
        hull.surface,
        weather_of(values),
        drag=_number(values["drag"]),
        mass=_number(values["mass"]),
        impact=_number(values["impact"]),
        air=_number(values["air_drag"]),
        lift=_number(values["buoyancy"]),
        added=np.array([*_numbers(values["added_inertia"]), *_numbers(values["added_mass"])]),
        level_m=level_m,
        points=points,
        stream=stream,
        terrain=terrain,
        radiation=hull.radiation,
    )


def afloat_at(vehicle: Vehicle, T_wb: np.ndarray) -> np.ndarray:
    """(4, 4) body to world of a vehicle whose waterline is put at a pose: turned and raised to its equilibrium in still
    water. Raises InputError without a hull."""
    hull = config_of(vehicle).hull
    if hull is None or hull.surface is None:
        raise InputError(f"vehicle {vehicle.name!r} floats, and its folder names no surface in [hull]")
    lies = afloat(hull.surface, _number(vehicle.values["mass"]))
    found = T_wb.copy()
    found[:3, :3] = T_wb[:3, :3] @ lies[:3, :3]
    found[2, 3] += lies[2, 3]
    return found


def weather_of(values: Mapping[str, Value]) -> Weather:
    """By a vehicle's parameters."""
    wind, current = _numbers(values["wind"]), _numbers(values["current"])
    wind_mps, direction_rad, fetch_m, depth_m = (
        _number(values[name]) for name in ("waves", "waves_direction", "fetch", "depth")
    )
    sea = Sea(wind_mps, direction_rad, fetch_m, depth_m=depth_m)
    return Weather(sea, (wind[0], wind[1]), _number(values["gusts"]), (current[0], current[1]))


def _number(value: object) -> float:
    return float(np.max(np.asarray(value, float)))


def _numbers(value: object) -> tuple[float, ...]:
    return tuple(np.asarray(value, float).tolist())
