"""The tables of a scene file: what each may say, read strictly into plain data."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sim.controllers import Controller
from sim.environment.environment import CoupledSpec, can_be_coupled, can_be_met
from sim.groups.numeric import rotation_about, upright
from sim.integrators import default_for, integrators
from sim.platform.errors import InputError, one_of
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicles import Vehicle, known_vehicle, vehicles
from sim.vehicles.forms.form import Support
from sim.world import World

if TYPE_CHECKING:
    from sim.water.ocean import SeaState

PADS = ("start", "landing")
STEP_RANGE_S = (1e-4, 0.5)
SPEED_RANGE = (1.0 / 32.0, 8.0)
"""Simulated seconds per wall second."""
MOST_LANES = 8
"""The flown one among them."""
FLOWN_LANE = "flown"
"""Name of the lane that is there without being asked for."""


Vector = tuple[float, float, float]
ReadController = Callable[[TomlTable], Controller | None]
"""Reads `controller` and `[gains]` of a table."""
ParameterValues = dict[str, float | tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Start:
    """Where the flown vehicle starts: standing on a pad, or at a free position."""

    pad: str = ""
    """Name of a pad of the world; empty: `position_w` counts."""
    position_w: Vector = (0.0, 0.0, 0.0)
    """Of the body origin [m]."""
    heading_rad: float = 0.0
    """Rotation about world z from +x; with a pad, relative to the pad's own heading."""
    pitch_rad: float = 0.0
    """Nose down is positive (rotation about body y)."""
    roll_rad: float = 0.0
    """Right side down is positive (rotation about body x)."""
    velocity_b: Vector = (0.0, 0.0, 0.0)
    """Body velocity [m/s]."""
    omega_b: Vector = (0.0, 0.0, 0.0)
    """Body angular velocity [rad/s]."""
    node: tuple[str, tuple[float, ...]] = ("", ())
    """A vehicle by name and its whole flat state, in which that one starts: nothing of the above counts but where a
    stand is put. Of programs, not of files."""

    def pose(self, world: World, soles_m: float) -> np.ndarray:
        """(4, 4) body to world; `soles_m`: from the soles to the body origin. Raises InputError for an unknown pad."""
        tilt = rotation_about(1, self.pitch_rad) @ rotation_about(0, self.roll_rad)
        T_wb = np.eye(4)
        if self.pad:
            T_wb = world.start_pose(self.pad, soles_m)
        else:
            T_wb[:3, 3] = self.position_w
        T_wb[:3, :3] = T_wb[:3, :3] @ upright(self.heading_rad) @ tilt
        return T_wb


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """A comparison lane beside the flown one: same vehicle and inputs, other method or step."""

    integrator: str
    step_s: float
    name: str = ""
    tint: Vector | None = None
    """Linear RGB, 0..1; None: chosen by the simulation."""
    own_pilot: bool = False
    """Flown by a pilot of its own, who sees this lane; else it gets the flown lane's controls, bit for bit."""
    controller: Controller | None = None
    """That flies it; None: who flies the others."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the lanes of a scene are set beside one another."""

    reference: bool = False
    """A tight integration runs alongside, and errors are measured against it."""
    energy_bound_J: float | None = None
    """A lane whose energy leaves +- this has diverged; None: a bound that no pilot can reach."""
    views: int = 1
    """1: all lanes in one picture; 2, 3, 4: linked pictures, each showing its lane."""
    spread_m: float = 0.0
    """Drawn this far apart, sideways, in the one picture; their motion is not changed."""
    bearing_deg: float | None = None
    """Where the orbiting camera looks at first, counter-clockwise from +x; lanes are spread square to it."""
    distance: float = 1.0
    """Of the camera, in units of what suits the vehicle."""
    caption: str = ""
    """What is to be seen, for a line over the scene."""
    note: str = ""
    """Which settings show no such difference."""


@dataclass(frozen=True, slots=True)
class Sun:
    azimuth_deg: float = -143.7
    """Where the sun stands, counter-clockwise from +x."""
    elevation_deg: float = 41.6
    clouds: float = 0.0
    """Share of the sky that is under heaps of them; above a half they close to a deck with a gap below the sun."""
    rain: float = 0.0
    """0..1, of the heaviest; it darkens the deck, and wets all that is under it."""


@dataclass(frozen=True, slots=True)
class Swell:
    """Waves that are seen on a sea that carries nothing."""

    wind_mps: float
    """That has raised them."""
    direction_deg: float = 0.0
    """Where they go to, counter-clockwise from +x."""
    fetch_m: float = 60e3
    """The way over which the wind has blown."""
    depth_m: float = 4000.0
    """Of the level bed that they run over."""

    def state(self, level_m: float) -> "SeaState":
        """For pictures; level_m: z of the mean surface."""
        from sim.water.ocean import Sea, SeaState  # water takes half a second

        direction_rad = math.radians(self.direction_deg)
        return SeaState.steady(Sea(self.wind_mps, direction_rad, self.fetch_m, depth_m=self.depth_m), level_m)


USUAL_START, USUAL_SUN, USUAL_COMPARISON = Start(pad="start"), Sun(), Comparison()
"""Of scenes that say nothing else."""


def read_start(table: TomlTable) -> Start:
    """`[start]`."""
    if table.has("pad") and table.has("position_m"):
        raise table.error("pad", "cannot stand beside position_m; allowed: one of the two")
    free = table.has("position_m")
    start = Start(
        pad="" if free else table.name("pad", PADS, "start"),
        position_w=_vector(table, "position_m", 1e5),
        heading_rad=math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0)),
        pitch_rad=math.radians(table.number("pitch_deg", 0.0, low=-180.0, high=180.0)),
        roll_rad=math.radians(table.number("roll_deg", 0.0, low=-180.0, high=180.0)),
        velocity_b=_vector(table, "velocity_mps", 1e3),
        omega_b=_vector(table, "omega_radps", 1e3),
    )
    table.finish()
    return start


def read_sun(table: TomlTable) -> Sun:
    """`[sun]`."""
    usual = Sun()
    sun = Sun(
        azimuth_deg=table.number("azimuth_deg", usual.azimuth_deg, low=-360.0, high=360.0),
        elevation_deg=table.number("elevation_deg", usual.elevation_deg, low=1.0, high=90.0),
        clouds=table.number("clouds", usual.clouds, low=0.0, high=1.0),
        rain=table.number("rain", usual.rain, low=0.0, high=1.0),
    )
    table.finish()
    return sun


def read_swell(table: TomlTable, vehicle: Vehicle, world: str) -> Swell | None:
    """`[sea]`, where there is one."""
    if not table.has("sea"):
        return None
    if world != "sea":
        raise table.error("sea", f'there is none in the world "{world}"; allowed: the world "sea"')
    if vehicle.support is Support.WATER:
        raise table.error("sea", f"{vehicle.name} floats, and its own parameters say which waves carry it")
    own = table.table("sea")
    swell = Swell(
        wind_mps=own.number("wind_mps", 6.0, low=0.0, high=32.0),
        direction_deg=own.number("direction_deg", 0.0, low=-360.0, high=360.0),
        fetch_m=own.number("fetch_m", 60e3, low=100.0, high=2e6),
        depth_m=own.number("depth_m", 4000.0, low=1.0, high=11e3),
    )
    own.finish()
    return swell


def read_lanes(
    table: TomlTable, vehicle: Vehicle, step_s: float, controller: ReadController
) -> tuple[LaneSpec, ...]:
    """`[[lanes]]`."""
    tables = table.tables("lanes")
    if len(tables) >= MOST_LANES:
        raise table.error(
            "lanes", f"{len(tables)} are refused; allowed: {MOST_LANES - 1} beside the flown one"
        )
    taken = {FLOWN_LANE}
    lanes = []
    for lane_table in tables:
        lane = _read_lane(lane_table, vehicle, step_s, controller)
        if lane.name in taken:
            raise lane_table.error("name", f'"{lane.name}" is taken; allowed: a name that no other lane has')
        if lane.name:
            taken.add(lane.name)
        lanes.append(lane)
    return tuple(lanes)


def _read_lane(table: TomlTable, vehicle: Vehicle, step_s: float, controller: ReadController) -> LaneSpec:
    integrator = read_integrator(table, vehicle)
    tint = table.numbers("tint", (), low=0.0, high=1.0, count=3)
    lane = LaneSpec(
        integrator=integrator,
        step_s=table.number("step_s", step_s, low=STEP_RANGE_S[0], high=STEP_RANGE_S[1]),
        name=table.text("name"),
        tint=(tint[0], tint[1], tint[2]) if tint else None,
        controller=controller(table),
        own_pilot=table.flag("own_pilot", False),
    )
    table.finish()
    return lane


def read_comparison(table: TomlTable) -> Comparison:
    """`[comparison]`."""
    bound = table.number("energy_bound_J", 0.0, low=0.0, high=1e15)
    comparison = Comparison(
        reference=table.flag("reference", False),
        energy_bound_J=bound or None,
        views=table.integer("views", 1, low=1, high=4),
        spread_m=table.number("spread_m", 0.0, low=0.0, high=100.0),
        bearing_deg=table.number("bearing_deg", 0.0, low=-360.0, high=360.0)
        if table.has("bearing_deg")
        else None,
        distance=table.number("distance", 1.0, low=0.25, high=8.0),
        caption=" ".join(table.text("caption").split()),
        note=" ".join(table.text("note").split()),
    )
    table.finish()
    return comparison


def read_environment(table: TomlTable, vehicle: Vehicle, *, referenced: bool = False) -> CoupledSpec | None:
    """`[environment]` or `[[props]]`, where there are such. referenced: the scene compares with a reference."""
    if table.has("props"):
        from sim.contact.obstacles.props import read_props  # its kernels are loaded where a scene has some

        if table.has("environment"):
            raise table.error("props", "cannot stand beside [environment]; allowed: one of the two")
        if table.has("plan"):
            raise table.error("props", "cannot stand beside [plan], which knows only its own obstacles")
        if referenced:
            raise table.error("props", "cannot stand beside a reference, which would meet none of them")
        if not can_be_met(vehicle):
            raise table.error("props", f"nothing that moves can be coupled to {vehicle.name}")
        return read_props(table)
    if not table.has("environment"):
        return None
    own, readers = table.table("environment"), _environment_readers()
    spec = readers[own.name("kind", readers, "water-box")](own)
    own.finish()
    if not can_be_coupled(vehicle):
        raise table.error("environment", f"nothing that moves can be coupled to {vehicle.name}")
    return spec


def _environment_readers() -> dict[str, Callable[[TomlTable], CoupledSpec]]:
    """Loaded where a scene has one: water takes half a second, and lists and refusals do not wait for it."""
    from sim.water.flip.coupled import read_sea_box, read_water_box

    return {"water-box": read_water_box, "sea-box": read_sea_box}


def read_trim(table: TomlTable, vehicle: Vehicle) -> dict[str, float]:
    """`[trim]`: by control of the scene's vehicle."""
    controls = {control.name: control for control in vehicle.controls}
    trim = {}
    for name in table.names():
        if name not in controls:
            raise table.error(name, f"unknown control of {vehicle.name}; allowed: {one_of(controls)}")
        control = controls[name]
        trim[name] = table.number(name, 0.0, low=control.low, high=control.high)
    table.finish()
    return trim


def read_parameters(table: TomlTable) -> dict[str, ParameterValues]:
    """`[parameters.VEHICLE]`."""
    parameters: dict[str, ParameterValues] = {}
    for vehicle in table.names():
        if vehicle not in vehicles():
            raise table.error(vehicle, f"unknown vehicle; allowed: {one_of(vehicles(), vehicle)}")
        values = table.table(vehicle)
        parameters[vehicle] = {key: values.value(key) for key in values.names()}
        for key in parameters[vehicle]:
            _check_parameter(vehicle, key, parameters[vehicle], values)
    return parameters


def _check_parameter(
    vehicle: str, key: str, given: Mapping[str, float | tuple[float, ...]], table: TomlTable
) -> None:
    """One value, beside those that say how many numbers it has."""
    declared = {parameter.name: parameter for parameter in known_vehicle(vehicle).parameters}
    if key not in declared:
        raise table.error(key, f"unknown parameter; allowed: {one_of(declared, key)}")
    per = declared[key].per
    try:
        known_vehicle(vehicle, **{name: given[name] for name in (per, key) if name in given})
    except InputError as error:
        raise table.error(key, str(error)) from None


def read_integrator(table: TomlTable, vehicle: Vehicle) -> str:
    """`integrator`; without it the usual one of such a vehicle."""
    if not table.has("integrator"):
        return default_for(vehicle)
    integrator = table.text("integrator")
    check_integrator(integrator, vehicle, table.place("integrator"))
    return integrator


def check_integrator(integrator: str, vehicle: Vehicle, source: str) -> None:
    """Raises InputError for an integrator that there is not, or that does not serve the vehicle."""
    methods = integrators()
    if integrator not in methods:
        raise InputError(f'{source}: unknown "{integrator}"; allowed: {one_of(methods, integrator)}')
    reason = methods[integrator].serves(vehicle)
    if reason:
        serving = (name for name, method in methods.items() if not method.serves(vehicle))
        raise InputError(
            f'{source}: "{integrator}" does not serve {vehicle.name} ({reason}); allowed: {one_of(serving, integrator)}'
        )


def _vector(table: TomlTable, key: str, bound: float) -> Vector:
    x, y, z = table.numbers(key, (0.0, 0.0, 0.0), low=-bound, high=bound, count=3)
    return (x, y, z)
