"""A box of splashing water in the open sea as scenes say it."""

from dataclasses import dataclass

import numpy as np

from sim.environment.surroundings import water_about, weather_of
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support
from sim.water.flip.body import Floating
from sim.water.flip.box import Box
from sim.water.flip.coupled import TankWater
from sim.water.flip.open_sea import SeaAround
from sim.water.flip.scene_box import read_box
from sim.water.flip.tank import Tank
from sim.world import World


@dataclass(frozen=True, slots=True)
class SeaBox:
    """A box that goes with the vehicle through the sea that the vehicle's numbers tell."""

    box: Box

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> TankWater:
        """About a vehicle at (4, 4) T_wb. Raises InputError for one that has no hull, or does not float."""
        worn = config_of(vehicle.name).hull
        if vehicle.support is not Support.WATER or worn is None or worn.surface is None:
            raise InputError(f"vehicle {vehicle.name!r} does not float: no sea can carry it")
        water = water_about(vehicle, world.water_level_m or 0.0)
        tank = Tank(
            self.box,
            floating=Floating.of(worn.surface, self.box.cell_m),
            around=SeaAround(water.state, weather_of(vehicle).current_mps),
        )
        tank.begin_at(0.0, T_wb)
        return TankWater(tank, worn.surface.vertices)


def read_sea_box(table: TomlTable) -> SeaBox:
    """A scene's table. Raises InputError, one line with file and key."""
    return SeaBox(read_box(table))
