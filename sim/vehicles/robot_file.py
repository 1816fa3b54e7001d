"""A robot's file as a vehicle: read within the bounds of `sim.read_robot`, nothing of it is run."""

from collections.abc import MutableMapping
from pathlib import Path

from sim.platform.errors import InputError, quote
from sim.vehicles.base import Vehicle
from sim.vehicles.listed import usable
from sim.vehicles.robot import ClosedRobotVehicle, RobotVehicle

ENDINGS = (".urdf", ".xml", ".mjcf")
FREE = "free"
"""After a colon: the root, which the file fixes to the world, floats."""
PACKAGE_FILE = "package.xml"
_LEVELS = 4


def is_robot_file(name: str) -> bool:
    """Whether a vehicle's name is that of a robot's file, `FILE.urdf` or `FILE.urdf:free`."""
    return name.removesuffix(f":{FREE}").lower().endswith(ENDINGS)


def model_folder(path: Path) -> Path:
    """Outside of which nothing is read: the file's own folder, or the package that it is in, up to four levels up."""
    around = list(path.parents)[: _LEVELS + 1]
    return next((folder for folder in around if (folder / PACKAGE_FILE).is_file()), path.parent)


def load_robot(path: Path, registry: MutableMapping[str, type[Vehicle]], *, free: bool = False) -> str:
    """Read a URDF or MJCF file and enter it as a vehicle under the model's own name, returned.

    free: its root floats, where the file fixes it to the world. Reading it again takes its present contents.
    Raises InputError in one line as `read_robot` does.
    """
    from sim.robots.reading import read_robot  # with SciPy and the parser, which nothing else waits for

    robot = read_robot(path, folder=model_folder(path), free=free)
    base, file = usable([robot.name])[0].replace("_", "-"), (path, free)
    names = (base, f"{base}-robot", *(f"{base}-{k}" for k in range(2, 10_000)))
    name = next(each for each in names if _may_have(each, file, registry))
    left_out = (
        f" Of its file {len(robot.notes)} things are left out: {robot.notes[0]}." if robot.notes else ""
    )
    counted = f"{robot.tree.nv} degrees of freedom, {len(robot.motors)} motors"
    doc = f"{quote(robot.name)}, of {quote(path.name)}: {counted}.{left_out}"
    try:
        kind = type(
            "FileRobot",
            (ClosedRobotVehicle if robot.loops else RobotVehicle,),
            {"name": name, "robot": robot, "file": file, "__doc__": doc, "__module__": __name__},
        )
        kind().default_state()  # of its tree with its servos
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    registry[name] = kind
    return name


def _may_have(name: str, file: tuple[Path, bool], registry: MutableMapping[str, type[Vehicle]]) -> bool:
    """Whether no vehicle has the name but an earlier reading of the same file."""
    return name not in registry or getattr(registry[name], "file", None) == file
