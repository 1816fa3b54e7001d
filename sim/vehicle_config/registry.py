"""The config of each vehicle by its name: read once from its folder, the fallback for those that have none.

A robot is given what all robots are, sticks for its first motors, and its shapes on its bodies. The files of a vehicle
of one's own are read anew while it moves (`renewal`), beside those that are in use.
"""

import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from weakref import WeakKeyDictionary

from sim.multibody.declaration import WORLD
from sim.multibody.shapes import STAND
from sim.platform.errors import InputError
from sim.platform.user_files import SavedFile, source_of
from sim.platform.values import dataclass
from sim.vehicle_config.config import VehicleConfig, read_config
from sim.vehicle_config.model import Part
from sim.vehicle_config.modes import STICK_KEYS, Keys, Mix, Raw, StickKeys
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.custom import OWN_FILE, file_of, load_vehicle, source_in
from sim.vehicles.forms.parameters import Control
from sim.vehicles.forms.robot import RobotVehicle

ASSETS = Path(__file__).resolve().parents[2] / "assets"
VEHICLE_FOLDER = ASSETS / "vehicles"
FALLBACK_FILE = ASSETS / "fallback.toml"
ROBOT_FILE = ASSETS / "robot.toml"
CONFIG_FILE = "vehicle.toml"
MOTOR_STICKS = ("yaw", "pitch", "throttle", "roll")
"""Of a robot, in the order of the motors that follow them."""

_READ: WeakKeyDictionary[type[Vehicle], VehicleConfig] = WeakKeyDictionary()


def config_of(vehicle: Vehicle | type[Vehicle]) -> VehicleConfig:
    """Of a vehicle or its class; the fallback for one that has no files.

    Reads them the first time, which whoever opens a vehicle does, and raises InputError where they do not hold
    together. A class that only inherits its name has the config of the one that declares it, and a model of something
    else that of what it is a model of (`looks`).
    """
    kind = vehicle if isinstance(vehicle, type) else vehicle.looks or type(vehicle)
    known = _READ.get(kind)
    if known is None:
        declared = next((base for base in kind.__mro__ if "name" in vars(base)), kind)
        known = _READ[kind] = read_for(kind) if declared is kind else config_of(declared)
    return known


def config_named(name: str) -> VehicleConfig:
    """By a name out of a file; the fallback for what is no vehicle, as a prop of the world. As `config_of`."""
    kind = VEHICLES.get(name)
    return fallback() if kind is None else config_of(kind)


def enter_config(kind: type[Vehicle], config: VehicleConfig) -> None:
    """From now on this is the config of that vehicle."""
    _READ[kind] = config


def read_for(kind: type[Vehicle]) -> VehicleConfig:
    """The config of a vehicle's class as its files are now. Raises InputError, one line with file and key."""
    folder = folder_of(kind)
    if folder is None:
        plain = replace(fallback(), name=kind.name)
        return robot_config(kind, ROBOT_FILE, plain) if issubclass(kind, RobotVehicle) else plain
    path = folder / CONFIG_FILE
    if not path.is_file():
        return read_config(None, "", folder, kind, fallback())
    # What is like another is read when that is, so it may not be like a third that leads back to it.
    others = {name: partial(_plain, name) for name, other in VEHICLES.items() if other is not kind}
    config = read_config(path, f"{folder.name}/{CONFIG_FILE}", folder, kind, fallback(), others)
    looks = {look: _plain(look) for _, look in config.model.wears}
    return on_bodies(kind, replace(config, looks=looks))


def robot_config(kind: type[RobotVehicle], file: Path, fallback: VehicleConfig) -> VehicleConfig:
    """Of a robot's class; `file` is what all robots are given. Raises InputError."""
    usual = read_config(file, f"assets/{file.name}", None, kind, fallback)
    driven = list(zip(MOTOR_STICKS, kind.controls, strict=False))
    config = replace(
        usual,
        raw=Raw(tuple(Mix(control.name, ((stick, 1.0),)) for stick, control in driven)),
        keys=Keys(
            held=tuple(_held(stick, sign, control) for stick, control in driven for sign in "+-"),
            words={stick: control.name.replace("_", " ") for stick, control in driven},
        ),
    )
    return on_bodies(kind, config)


def on_bodies(kind: type[Vehicle], config: VehicleConfig) -> VehicleConfig:
    """The config with the shapes that the vehicle tells of on their bodies, where it says of no other parts."""
    solids = kind.solids if issubclass(kind, RobotVehicle) else ()
    bodies = dict.fromkeys(geom.body for geom in solids)
    parts = tuple(Part((body,), body=STAND if body == WORLD else body) for body in bodies)
    return replace(config, solids=solids, model=replace(config.model, parts=config.model.parts or parts))


def _held(stick: str, sign: str, control: Control) -> StickKeys:
    action = f"{stick}{sign}"
    way = "Drive" if sign == "+" else "Drive back"
    return StickKeys(action, STICK_KEYS[action], f"{way}: {control.name.replace('_', ' ')}", "Motors")


def _plain(name: str) -> VehicleConfig:
    """Of a vehicle that is like no other. Raises InputError where it is."""
    folder = folder_of(VEHICLES[name])
    path = None if folder is None else folder / CONFIG_FILE
    if folder is None or path is None or not path.is_file():
        return fallback()
    return read_config(path, f"{folder.name}/{CONFIG_FILE}", folder, VEHICLES[name], fallback())


def folder_of(kind: type[Vehicle]) -> Path | None:
    """Where a vehicle's files are: beside a `vehicle.py` of one's own, in the assets for those of the project."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is not None and Path(file).name == OWN_FILE:
        return Path(file).parent
    folder = VEHICLE_FOLDER / kind.name
    return folder if kind.__module__.startswith("sim.") and folder.is_dir() else None


@cache
def fallback() -> VehicleConfig:
    """What a vehicle is given that says nothing: a box and the names of the sticks."""
    return read_config(FALLBACK_FILE, f"assets/{FALLBACK_FILE.name}", None, None, None)


MODEL_FILES = ("model.glb", "far.glb")
FILES = (CONFIG_FILE, *MODEL_FILES)
"""Of a vehicle's folder, whose changes are taken up beside those of its program."""


@dataclass(frozen=True, eq=False)
class Renewal:
    """All of a vehicle as its files were at one moment; nothing of it is in use before `enter`."""

    kind: type[Vehicle]
    config: VehicleConfig

    def enter(self) -> None:
        """From now on this is the vehicle of that name."""
        VEHICLES[self.kind.name] = self.kind
        enter_config(self.kind, self.config)


def own_program(name: str) -> Path | None:
    """The file of a vehicle of one's own by its registry name, a folder's or one beside a scene; None for others."""
    kind = VEHICLES.get(name)
    path = None if kind is None else file_of(kind)
    return path if path is not None and path.is_file() else None


def saved_file(kind: type[Vehicle], program: Path) -> SavedFile:
    """What tells of changes of a vehicle's program, its config and its models."""
    return SavedFile(
        kind, program, [program.parent / name for name in FILES] if program.name == OWN_FILE else ()
    )


def renewal(name: str, latest: Renewal | None = None) -> Renewal:
    """The vehicle as its files are now. Its mechanics stay the same class where only other files have changed.

    latest: what was read last, which may not be in use yet: what waits for its kernel waits on.
    Raises InputError, one line with the file and where it can be told the line, for files that do not hold together;
    then everything stays as it is.
    """
    program, kind = own_program(name), VEHICLES.get(name)
    if program is None or kind is None:
        raise InputError(
            f"vehicle {name!r}: no file of your own; allowed: FILE.py, or a folder with {OWN_FILE}"
        )
    source = source_in(program)
    if latest is not None and latest.kind.name == name and source_of(latest.kind) == source:
        kind = latest.kind
    if source_of(kind) != source:
        registry = dict(VEHICLES)
        found = load_vehicle(f"{program}:{kind.__name__}", (Path(),), registry)
        if found != name:
            raise InputError(
                f"{program}: the vehicle is now called {found!r}; allowed: {name!r} while it moves"
            )
        kind = registry[name]
    return Renewal(kind, read_for(kind))


def same_space(old: Vehicle, new: Vehicle) -> bool:
    """Whether a state of the one is a state of the other, and inputs of the one inputs of the other."""

    def space(vehicle: Vehicle) -> tuple[object, ...]:
        return vehicle.form, vehicle.space.columns, tuple(c.name for c in vehicle.controls)

    return space(old) == space(new)


def with_old_values(new: type[Vehicle], old: Vehicle) -> Vehicle:
    """The new vehicle with what the user had set on the old one, as far as it still has such parameters."""
    made = new()
    for name, value in old.changed.items():
        if name in made.values:
            try:
                made = made.with_parameters(**{name: value})
            except InputError:
                continue  # out of its new range
    return made
