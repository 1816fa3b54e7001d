"""A vehicle of one's own on its way to another process, which has not run its file yet."""

import sys
from dataclasses import dataclass
from pathlib import Path

from sim.platform.user_files import run_module
from sim.vehicles.base import Vehicle
from sim.vehicles.custom import source_of


@dataclass(frozen=True, slots=True)
class OwnClass:
    """A module whose file the user has had run: whoever unpickles the vehicle needs it first."""

    module: str
    file: str
    source: bytes

    @staticmethod
    def of(kind: type[Vehicle]) -> "OwnClass | None":
        """None for the project's vehicles, which every process knows."""
        source = source_of(kind)
        if not source:
            return None
        return OwnClass(kind.__module__, str(sys.modules[kind.__module__].__file__), source)

    def __call__(self) -> None:
        """Make it known in this process."""
        run_module(self.module, Path(self.file), self.source)
