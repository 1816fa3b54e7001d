"""The outfit of each vehicle by its name: read once from its folder, the fallback for those that have none."""

import sys
from functools import cache, partial
from pathlib import Path

from sim.outfit.outfit import Outfit
from sim.outfit.reading import read_outfit
from sim.outfit.robots import on_bodies, robot_outfit
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.custom import OWN_FILE
from sim.vehicles.robot import RobotVehicle

ASSETS = Path(__file__).resolve().parents[2] / "assets"
VEHICLE_FOLDER = ASSETS / "vehicles"
FALLBACK_FILE = ASSETS / "fallback.toml"
ROBOT_FILE = ASSETS / "robot.toml"
OUTFIT_FILE = "vehicle.toml"

_READ: dict[str, tuple[type[Vehicle], Outfit]] = {}
"""With the class that it was read for: another one under that name has its own."""


def outfit_of(name: str) -> Outfit:
    """Of a vehicle by its registry name; the fallback for a name that is none, or has no files.

    Reads them the first time, which whoever opens a vehicle does, and raises InputError where they do not hold
    together; afterwards it only looks up.
    """
    kind = VEHICLES.get(name)
    if kind is None:
        return fallback()
    known = _READ.get(name)
    if known is None or known[0] is not kind:
        known = _READ[name] = (kind, read_for(kind))
    return known[1]


def enter_outfit(kind: type[Vehicle], outfit: Outfit) -> None:
    """From now on this is the outfit of that vehicle."""
    _READ[kind.name] = (kind, outfit)


def read_for(kind: type[Vehicle]) -> Outfit:
    """The outfit of a vehicle's class as its files are now. Raises InputError, one line with file and key."""
    folder = folder_of(kind)
    if folder is None:
        return robot_outfit(kind, ROBOT_FILE, fallback()) if issubclass(kind, RobotVehicle) else fallback()
    path = folder / OUTFIT_FILE
    if not path.is_file():
        return read_outfit(None, "", folder, kind, fallback())
    # What is like another is read when that is, so it may not be like a third that leads back to it.
    others = {name: partial(_plain, name) for name, other in VEHICLES.items() if other is not kind}
    outfit = read_outfit(path, f"{folder.name}/{OUTFIT_FILE}", folder, kind, fallback(), others)
    return on_bodies(kind, outfit)


def _plain(name: str) -> Outfit:
    """Of a vehicle that is like no other. Raises InputError where it is."""
    folder = folder_of(VEHICLES[name])
    path = None if folder is None else folder / OUTFIT_FILE
    if folder is None or path is None or not path.is_file():
        return fallback()
    return read_outfit(path, f"{folder.name}/{OUTFIT_FILE}", folder, VEHICLES[name], fallback())


def folder_of(kind: type[Vehicle]) -> Path | None:
    """Where a vehicle's files are: beside a `vehicle.py` of one's own, in the assets for those of the project."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is not None and Path(file).name == OWN_FILE:
        return Path(file).parent
    folder = VEHICLE_FOLDER / kind.name
    return folder if kind.__module__.startswith("sim.") and folder.is_dir() else None


@cache
def fallback() -> Outfit:
    """What a vehicle is given that says nothing: a box and the names of the sticks."""
    return read_outfit(FALLBACK_FILE, f"assets/{FALLBACK_FILE.name}", None, None, None)
