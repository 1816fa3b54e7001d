"""What the page of a vehicle's parts asks for, and poses that are kept by name, in a file of the user's."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from sim.platform.errors import InputError
from ui.settings.files import read_kept, write_kept
from ui.window.requests import Action


@dataclass(frozen=True, slots=True)
class KeepPose(Action):
    """The flown vehicle's present coordinates, under a name."""

    name: str


@dataclass(frozen=True, slots=True)
class DropPose(Action):
    """Forget one of the flown vehicle's."""

    name: str


@dataclass(frozen=True, slots=True)
class SetRoot(Action):
    """Let the root of the flown robot float, or fix it to the world as its file has it."""

    free: bool


FILE = "poses.json"
MOST, MOST_VEHICLES, MOST_COORDINATES = 24, 60, 600
"""Of one vehicle; vehicles; numbers of one pose."""
LONGEST = 40
"""Of a name."""


@dataclass(frozen=True, slots=True)
class Poses:
    """All of them: vehicle -> name -> coordinate -> value [rad or m]."""

    vehicles: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)

    def of(self, vehicle: str) -> dict[str, dict[str, float]]:
        """In the order in which they were kept."""
        return self.vehicles.get(vehicle, {})

    def with_one(self, vehicle: str, name: str, values: dict[str, float]) -> "Poses":
        """One more, or another one under that name. Raises InputError for what is no name, and where there are too
        many."""
        name, here = name.strip(), self.of(vehicle)
        if not name or len(name) > LONGEST or not name.isprintable():
            raise InputError(f"a pose wants a name of 1 to {LONGEST} printable characters")
        full = len(here) >= MOST and name not in here
        if full or (not here and len(self.vehicles) >= MOST_VEHICLES):
            raise InputError(f"no more than {MOST} poses of a vehicle, of {MOST_VEHICLES} vehicles")
        return replace(self, vehicles={**self.vehicles, vehicle: {**here, name: values}})

    def without(self, vehicle: str, name: str) -> "Poses":
        """All but that one."""
        left = {other: pose for other, pose in self.of(vehicle).items() if other != name}
        others = {other: poses for other, poses in self.vehicles.items() if other != vehicle}
        return replace(self, vehicles={**others, vehicle: left} if left else others)


def read_poses(folder: Path) -> Poses:
    """Of earlier sessions; a file that is damaged gets the ending `.damaged`, and there are none."""
    return read_kept(folder / FILE, Poses, "no poses", _check)


def write_poses(folder: Path, kept: Poses) -> None:
    """A folder that cannot be written costs only the memory."""
    write_kept(folder / FILE, kept)


def _check(kept: Poses) -> None:
    if len(kept.vehicles) > MOST_VEHICLES or any(len(poses) > MOST for poses in kept.vehicles.values()):
        raise InputError("too many")
    for name, pose in (item for poses in kept.vehicles.values() for item in poses.items()):
        if len(pose) > MOST_COORDINATES or len(name) > LONGEST or not name.isprintable():
            raise InputError("a pose that cannot be")
