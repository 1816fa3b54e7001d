"""A vehicle of one's own while it is worked on: its files read anew, beside those that are in use."""

import math
from dataclasses import dataclass
from pathlib import Path

from sim.outfit.outfit import Outfit
from sim.outfit.registry import OUTFIT_FILE, enter_outfit, read_for
from sim.platform.errors import InputError
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.custom import OWN_FILE, file_of, load_vehicle, source_in, source_of

MODEL_FILES = ("model.glb", "far.glb")
FILES = (OUTFIT_FILE, *MODEL_FILES)
"""Of a vehicle's folder, whose changes are taken up beside those of its program."""

Stamp = tuple[tuple[float, int], ...]


@dataclass(frozen=True, eq=False)
class Renewal:
    """All of a vehicle as its files were at one moment; nothing of it is in use before `enter`."""

    kind: type[Vehicle]
    outfit: Outfit

    def enter(self) -> None:
        """From now on this is the vehicle of that name."""
        VEHICLES[self.kind.name] = self.kind
        enter_outfit(self.kind, self.outfit)


def own_program(name: str) -> Path | None:
    """The file of a vehicle of one's own by its registry name, a folder's or one beside a scene; None for others."""
    kind = VEHICLES.get(name)
    path = None if kind is None else file_of(kind)
    return path if path is not None and path.is_file() else None


def stamp_of(program: Path) -> Stamp:
    """What tells whether a file has been saved since: times and sizes, (-inf, 0) for one that is not there."""
    beside = [program.parent / name for name in FILES] if program.name == OWN_FILE else []
    return tuple(_stamp(path) for path in (program, *beside))


def _stamp(path: Path) -> tuple[float, int]:
    try:
        status = path.stat()
    except OSError:
        return (-math.inf, 0)
    return (status.st_mtime, status.st_size)


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
    usual = {q.name: q.default for q in type(old).parameters}
    for name, value in old.values.items():
        if value != usual.get(name) and name in made.values:
            try:
                made = made.with_parameters(**{name: value})
            except InputError:
                continue  # out of its new range
    return made
