"""All vehicles by name: whatever a file of this folder declares. One dict drives menus, tests and scripts."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from sim.platform.errors import InputError, one_of, quote
from sim.vehicles.forms import form
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.custom import is_program, load_vehicle, made, own_file
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, ShapeCoordinate
from sim.vehicles.forms.robot import ENDINGS, FLOATING, is_robot_file, load_robot

# Vehicles of users import it from there.
sys.modules[f"{__name__}.observable"] = form


_ORDER_FILE = Path(__file__).resolve().parents[2] / "assets" / "vehicles" / "order.toml"
"""In which menus and lists have them: it is nothing that a vehicle knows of itself."""


def _declared() -> dict[str, type[Vehicle]]:
    """Every class with a name of its own in a file of this folder, in the order in which menus have them."""
    order = tomllib.loads(_ORDER_FILE.read_text(encoding="utf-8"))["order"]
    rank = {name: k for k, name in enumerate(order)}
    kinds = [
        kind
        for file in iter_modules(__path__)
        for kind in vars(import_module(f"{__name__}.{file.name}")).values()
        if isinstance(kind, type)
        and issubclass(kind, Vehicle)
        and isinstance(getattr(kind, "name", None), str)
    ]
    return {
        kind.name: kind
        for kind in sorted(kinds, key=lambda kind: (rank.get(kind.name, len(rank)), kind.name))
    }


VEHICLES: dict[str, type[Vehicle]] = _declared()

__all__ = [
    "VEHICLES",
    "ActionVehicle",
    "ArticulatedVehicle",
    "Control",
    "HolonomicVehicle",
    "NonholonomicVehicle",
    "Observable",
    "Parameter",
    "ShapeCoordinate",
    "State",
    "Vehicle",
    "enter_own",
    "is_reference",
    "is_robot_file",
    "known_vehicle",
    "robot_reference",
    "vehicle",
    "vehicles",
]


def vehicles() -> tuple[str, ...]:
    """Names of the vehicles."""
    return tuple(VEHICLES)


def is_reference(name: str) -> bool:
    """Whether a vehicle's name is a file of the user's: a program, a folder with one, or a robot's description."""
    return is_program(name) or is_robot_file(name)


def robot_reference(file: str, beside: str | None = None) -> str:
    """`file`, asked for by --model beside what --vehicle says. Raises InputError where it can be none."""
    if beside is not None:
        raise InputError("--model: refused beside --vehicle; allowed: one of the two")
    if not is_robot_file(file):
        raise InputError(
            f"--model: {quote(file)} is no robot's file; allowed: {', '.join(ENDINGS)}, or with :free"
        )
    return file


def enter_own(reference: str, *folders: Path) -> str:
    """Load a user's own vehicle, `FILE.py:CLASS` or a URDF or MJCF file; returns the name by which it is now known.

    The file is looked for in the given folders, then in the current one. See `custom.load_vehicle`,
    `robot.load_robot`.
    """
    looked_in = (*folders, Path.cwd())
    if is_robot_file(reference):
        return load_robot(own_file(reference, looked_in), VEHICLES, free=reference.endswith(f":{FLOATING}"))
    return load_vehicle(reference, looked_in, VEHICLES)


def vehicle(name: str, **parameters: object) -> Vehicle:
    """A vehicle by name, by `FILE.py:CLASS`, whose file is run, or by a robot's file; with some parameters set (SI).

    For what a user says: what a file says goes to `known_vehicle`. Raises InputError for an unknown name or parameter
    and for values out of range.
    """
    if isinstance(name, str) and is_reference(name):
        name = enter_own(name)
    return known_vehicle(name, **parameters)


def checked_vehicle(given: object) -> Vehicle:
    """An instance, or the one of a name. Raises InputError."""
    found = vehicle(given) if isinstance(given, str) else given
    if not isinstance(found, Vehicle):
        raise InputError(f"vehicle = {quote(given)} is none; allowed: a name, or sim.vehicle(...)")
    return found


def checked_state(what: str, vehicle: Vehicle, given: object) -> State:
    """A state of that vehicle. Raises InputError that begins with `what`."""
    if isinstance(given, State) and given.node.shape == (vehicle.node_layout.size,):
        return given
    told = "of another vehicle" if isinstance(given, State) else f"= {quote(given)}"
    raise InputError(f"{what} {told} does not fit vehicle {vehicle.name!r}; allowed: vehicle.state(...)")


def known_vehicle(name: str, **parameters: object) -> Vehicle:
    """A vehicle by the name that it is known by: one of the project's, or one that the user has entered.

    Runs no file, so the name may come out of one. Raises InputError as `vehicle` does.
    """
    if not isinstance(name, str) or name not in VEHICLES:
        own = isinstance(name, str) and is_reference(name)
        how = (
            "; a vehicle of one's own is entered first, by --vehicle or sim.vehicles.enter_own" if own else ""
        )
        raise InputError(f"unknown vehicle {quote(name)}; allowed: {one_of(VEHICLES, name)}{how}")
    return made(VEHICLES[name], parameters)
