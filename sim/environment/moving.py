"""What a scene may couple its vehicle to, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sim.environment.coupling import CoupledEnvironment
from sim.platform.toml_table import TomlTable
from sim.vehicles import Vehicle

if TYPE_CHECKING:
    from sim.world import World


class Moving(Protocol):
    """An environment as a scene says it, before there is a world."""

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: "World") -> CoupledEnvironment:
        """As it is when the vehicle's main body starts at (4, 4) T_wb. Raises InputError where it cannot be."""


def read_moving(table: TomlTable) -> Moving | None:
    """The scene's `[environment]`, where there is one. Raises InputError, one line with file and key."""
    if not table.has("environment"):
        return None
    own, readers = table.table("environment"), _readers()
    moving = readers[own.name("kind", readers, next(iter(readers)))](own)
    own.finish()
    return moving


def _readers() -> dict[str, Callable[[TomlTable], Moving]]:
    """Loaded where a scene has one: water takes half a second, and lists and refusals do not wait for it."""
    from sim.environment.slung_load import read_rope
    from sim.water.flip.scenes import read_sea_box, read_water_box

    return {"slung-load": read_rope, "water-box": read_water_box, "sea-box": read_sea_box}
