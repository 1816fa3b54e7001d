"""A user's own vehicle: a class in a Python file, named `my_vehicle.py:Trike`, or a folder with a `vehicle.py`.

`OwnClass` takes one to another process, which has not run its file yet.
"""

import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, ModuleType

from sim.multibody.robots.robot import Robot
from sim.platform.errors import InputError
from sim.platform.user_files import (
    error_line,
    file_and_class,
    found_file,
    keep_source,
    line_in,
    list_of,
    run_module,
    run_own,
    source_of,
)
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.robot import RobotVehicle, class_of

OWN_FILE = "vehicle.py"
"""Of a folder that is a vehicle of one's own."""


def is_program(name: str) -> bool:
    """Whether a vehicle's name is a file and a class in it, or a folder of one's own."""
    return ".py:" in name or name.endswith(".py") or is_own_folder(name)


def is_own_folder(name: str) -> bool:
    """Whether it is a folder that is a vehicle, written as a path: with a separator, or . itself."""
    written = name in (".", "..") or "/" in name or os.sep in name
    with suppress(OSError, ValueError):
        return written and (Path(name) / OWN_FILE).is_file()
    return False


def load_vehicle(
    reference: str, folders: Sequence[Path], registry: MutableMapping[str, type[Vehicle]]
) -> str:
    """Load `FILE.py:CLASS`, looked for in `folders`, and enter it into the registry under its own name, returned.

    Without a class the file's only one is meant; a folder stands for the `vehicle.py` in it.

    The file is run, so it has to be one's own. Loading it again takes its present contents. Raises InputError in
    one line for a missing file or class, an error in the file, a declaration that does not hold together, and a
    name that another vehicle has.
    """
    _, class_name = file_and_class(reference)
    path = own_file(reference, folders)
    source = source_in(path)
    module = run_own("vehicle", reference, path, source)
    candidates = {n: c for n, c in vars(module).items() if _is_own_vehicle(c, module)}
    if not class_name and len(candidates) == 1:
        (class_name,) = candidates
    if class_name not in candidates:
        raise InputError(
            f"vehicle {reference!r}: {path.name} has no vehicle {class_name!r}; it has: {list_of(candidates)}"
        )
    chosen = candidates[class_name]
    name = getattr(chosen, "name", None)
    if not isinstance(name, str) or not name:
        line = f'name = "{class_name.lower()}"'
        raise InputError(f"vehicle {reference!r}: class {class_name} has no name; add a line: {line}")
    other = registry.get(name)
    if other is not None and not _is_moved(other, path, source):
        raise InputError(f"vehicle {reference!r}: the name {name!r} is taken by another vehicle")
    made(chosen)
    keep_source(chosen, source)
    registry[name] = chosen
    return name


def file_of(kind: type[Vehicle]) -> Path | None:
    """The file of a vehicle of one's own, which may be there no more; None for the project's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file) if file and source_of(kind) else None


def _is_moved(known: type[Vehicle], path: Path, source: bytes) -> bool:
    """Whether a file holds what is known already: the very file, a copy of it, or what came of it once it has gone."""
    before = file_of(known)
    return before is not None and (before == path or not before.is_file() or source_of(known) == source)


def own_file(reference: str, folders: Sequence[Path]) -> Path:
    """The file that `FILE.py:CLASS` names, looked for in `folders`, links followed. InputError where there is none."""
    file = f"{reference}/{OWN_FILE}" if is_own_folder(reference) else file_and_class(reference)[0]
    return found_file("vehicle", file, folders)


def made(kind: type[Vehicle], parameters: Mapping[str, object] = MappingProxyType({})) -> Vehicle:
    """An instance; whatever its own constructor raises becomes an InputError of one line."""
    try:
        return kind(**parameters)
    except InputError:
        raise
    except Exception as error:
        name = getattr(kind, "name", kind.__name__)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        line = line_in(Path(file), error) if file else None
        at = f" ({Path(str(file)).name}, line {line})" if line else ""
        raise InputError(f"vehicle {name!r}: cannot be made{at}: {error_line(error)}") from error


def source_in(path: Path) -> bytes:
    """What stands in a vehicle's file. InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _is_own_vehicle(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Vehicle) and value.__module__ == module.__name__


@dataclass(frozen=True, slots=True)
class OwnClass:
    """A module whose file the user has had run: whoever unpickles the vehicle needs it first."""

    module: str
    file: str
    source: bytes

    @staticmethod
    def of(kind: type[Vehicle]) -> "OwnClass | OwnRobot | None":
        """None for the project's vehicles, which every process knows."""
        if issubclass(kind, RobotVehicle) and kind.file is not None:
            return OwnRobot(kind.robot, kind.name, kind.file, kind.__doc__ or "")
        source = source_of(kind)
        if not source:
            return None
        return OwnClass(kind.__module__, str(sys.modules[kind.__module__].__file__), source)

    def __call__(self) -> None:
        """Make it known in this process."""
        run_module(self.module, Path(self.file), self.source)


@dataclass(frozen=True, slots=True, eq=False)
class OwnRobot:
    """The same of a robot that was read from a file, which is not read again."""

    robot: Robot
    name: str
    file: tuple[Path, bool]
    doc: str

    def __call__(self) -> None:
        class_of(self.robot, self.name, self.file, self.doc)
