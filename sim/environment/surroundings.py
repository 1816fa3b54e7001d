"""What a vehicle feels of a world within its steps: the ground that it touches, or the water that carries it."""

from typing import Any, Protocol

import numpy as np

from sim.compiler.inline import Inline
from sim.contact.ground import GROUND, Ground, gravity_mps2
from sim.contact.struck_ground import StruckGround
from sim.contact.trees import TreeGround
from sim.platform.errors import InputError
from sim.vehicle_config import config_of
from sim.vehicles import ArticulatedVehicle, Vehicle
from sim.vehicles.forms.form import State, Support
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.water.immersion import afloat
from sim.water.ocean.field import POINTS
from sim.water.ocean.waves import Sea
from sim.water.water import WATER, Water, Weather
from sim.water.wrench import REPORT
from sim.world import World
from sim.world.river import Stream
from sim.world.terrain import Terrain

Felt = Ground | TreeGround | StruckGround | Water | None


class Surroundings(Protocol):
    """Numbers that a kernel takes, and what it tells in them."""

    @property
    def report(self) -> np.ndarray:
        """What is remembered from step to step."""

    @property
    def wrench_b(self) -> np.ndarray:
        """(6,) of the last step, body frame."""

    @property
    def env(self) -> tuple[Any, ...]:
        """What a kernel takes."""

    @property
    def impact_mps(self) -> float:
        """Greatest speed of a touch since `forget`."""

    @property
    def crash_mps(self) -> float:
        """The same where a touch breaks."""

    @property
    def contacts(self) -> int:
        """How much carried load in the last step; none: it is in the air."""

    def forget(self) -> None:
        """Clear what was felt: the vehicle was put somewhere else."""

    def probe(self) -> "Surroundings":
        """The same, to look a step ahead without changing what is remembered."""


def inline_for(vehicle: Vehicle) -> Inline:
    """The environment that kernels of the vehicle have within."""
    return WATER if vehicle.support is Support.WATER else GROUND


def surroundings(vehicle: Vehicle, world: World) -> Felt:
    """What a vehicle feels of a world, with the numbers that it has.

    None for what moves on its ground by definition.

    Raises InputError for what floats and has no hull.
    """
    if isinstance(vehicle, ArticulatedVehicle):
        return TreeGround.under(vehicle, world.terrain) if vehicle.support is Support.NOTHING else None
    if isinstance(vehicle, ActionVehicle):
        return StruckGround.under(vehicle, world.terrain) if vehicle.support is Support.NOTHING else None
    if vehicle.support is Support.NOTHING:
        return Ground.under(vehicle, world.terrain, config_of(vehicle).contact.points)
    if vehicle.support is Support.WATER:
        return water_about(vehicle, world.water_level_m or 0.0, world.stream, terrain=world.terrain)
    return None


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
    worn = config_of(vehicle).hull
    if worn is None or worn.surface is None:
        raise InputError(f"vehicle {vehicle.name!r} floats, and its folder names no surface in [hull]")
    values = vehicle.values
    return Water.of(
        worn.surface,
        weather_of(vehicle),
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
    )


def afloat_at(vehicle: Vehicle, T_wb: np.ndarray) -> np.ndarray:
    """(4, 4) body to world of a vehicle that is put at a pose which means its waterline: what floats is turned and
    raised to its equilibrium in still water; all else stays as it is. Raises InputError without a hull."""
    if vehicle.support is not Support.WATER:
        return T_wb
    worn = config_of(vehicle).hull
    if worn is None or worn.surface is None:
        raise InputError(f"vehicle {vehicle.name!r} floats, and its folder names no surface in [hull]")
    lies = afloat(worn.surface, _number(vehicle.values["mass"]))
    found = T_wb.copy()
    found[:3, :3] = T_wb[:3, :3] @ lies[:3, :3]
    found[2, 3] += lies[2, 3]
    return found


def usual_start(vehicle: Vehicle) -> State:
    """A vehicle's default state; of what floats, in equilibrium in still water about z = 0."""
    state = vehicle.default_state()
    return (
        vehicle.state_in_space(afloat_at(vehicle, np.eye(4)), np.zeros(6))
        if vehicle.support is Support.WATER
        else state
    )


def weather_of(vehicle: Vehicle) -> Weather:
    """By the vehicle's parameters."""
    values = vehicle.values
    wind, current = _numbers(values["wind"]), _numbers(values["current"])
    sea = Sea(_number(values["waves"]), _number(values["waves_direction"]), _number(values["fetch"]))
    return Weather(sea, (wind[0], wind[1]), _number(values["gusts"]), (current[0], current[1]))


def carry_on(felt: Felt, vehicle: Vehicle, time_s: float) -> None:
    """From now on, at that time, the same vehicle with other parameters."""
    if isinstance(felt, Ground):
        felt.frame[5] = gravity_mps2(vehicle)
    elif isinstance(felt, TreeGround):
        assert isinstance(vehicle, ArticulatedVehicle)
        felt.carry(vehicle)
    elif isinstance(felt, StruckGround):
        assert isinstance(vehicle, ActionVehicle)
        felt.carry(vehicle)
    elif isinstance(felt, Water):
        values = vehicle.values
        felt.carry(
            weather_of(vehicle),
            time_s,
            drag=_number(values["drag"]),
            impact=_number(values["impact"]),
            air=_number(values["air_drag"]),
            lift=_number(values["buoyancy"]),
            added=np.array([*_numbers(values["added_inertia"]), *_numbers(values["added_mass"])]),
        )


def remembered(vehicle: Vehicle, world: World, memory: np.ndarray) -> Felt:
    """What a vehicle with this memory goes on to feel; None where it is empty."""
    if not memory.size:
        return None
    felt = surroundings(vehicle, world)
    if isinstance(felt, Water):
        felt.recall(memory)
        felt.tell(weather_of(vehicle))
    elif felt is not None:
        felt.report[:] = memory
    return felt


def fresh_memory(vehicle: Vehicle, memory: np.ndarray) -> np.ndarray:
    """For a start at another state at the same time: contact forgets, the sea does not."""
    kept = REPORT if vehicle.support is Support.WATER else 0
    fresh = np.zeros_like(memory)
    fresh[:kept] = memory[:kept]
    return fresh


def _number(value: object) -> float:
    return float(np.max(np.asarray(value, float)))


def _numbers(value: object) -> tuple[float, ...]:
    return tuple(np.asarray(value, float).tolist())
