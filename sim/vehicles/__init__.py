"""All vehicles by name. One dict drives the menu, the tests and the scripting interface."""

from pathlib import Path

from sim.errors import InputError
from sim.vehicles.base import State, Vehicle
from sim.vehicles.boat import Boat
from sim.vehicles.car import Car
from sim.vehicles.custom import is_reference, load_vehicle
from sim.vehicles.heavy_top import HeavyTop
from sim.vehicles.helicopter import Helicopter
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.nonholonomic import NonholonomicVehicle
from sim.vehicles.parameter import Control, Parameter, ShapeCoordinate
from sim.vehicles.rigid_body import RigidBody
from sim.vehicles.rolling_disc import RollingDisc
from sim.vehicles.snakeboard import Snakeboard
from sim.vehicles.spacecraft import Spacecraft

VEHICLES: dict[str, type[Vehicle]] = {
    cls.name: cls for cls in (Helicopter, RigidBody, Spacecraft, Boat, Car, Snakeboard, RollingDisc, HeavyTop)
}

__all__ = [
    "VEHICLES",
    "Control",
    "HolonomicVehicle",
    "NonholonomicVehicle",
    "Parameter",
    "ShapeCoordinate",
    "State",
    "Vehicle",
    "enter_own",
    "is_reference",
    "vehicle",
    "vehicles",
]


def vehicles() -> tuple[str, ...]:
    """Names of the vehicles."""
    return tuple(VEHICLES)


def enter_own(reference: str, *folders: Path) -> str:
    """Load a user's own vehicle, `FILE.py:CLASS`, and return the name under which it is now known.

    The file is looked for in the given folders, then in the current one. See `custom.load_vehicle`.
    """
    return load_vehicle(reference, (*folders, Path.cwd()), VEHICLES)


def vehicle(name: str, **parameters: object) -> Vehicle:
    """A vehicle by name, or by `FILE.py:CLASS`, with some parameters set (SI units).

    Raises InputError for an unknown name or parameter and for values out of range.
    """
    if is_reference(name):
        name = enter_own(name)
    if name not in VEHICLES:
        raise InputError(f"unknown vehicle {name!r}; allowed: {', '.join(VEHICLES)}")
    return VEHICLES[name](**parameters)
