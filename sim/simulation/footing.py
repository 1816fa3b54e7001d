"""Where a lane's vehicle is in a world: what surrounds it there, and the fixed point that may hold it."""

import math

import numpy as np

from sim.environment.environment import environment_of
from sim.simulation.placing import stand_at
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.homogeneous import Leader, has_leader
from sim.vehicles.forms.slung_load import SlungLoad
from sim.world import World


class Footing:
    """Of one lane. Raises InputError for a vehicle that lacks what its environment needs."""

    def __init__(self, vehicle: Vehicle, world: World) -> None:
        self.world = world
        contact = config_of(vehicle).contact
        self.soles_m = (
            max(contact.soles_m, vehicle.hangs_m) if isinstance(vehicle, SlungLoad) else contact.soles_m
        )
        self.environment = environment_of(vehicle, world)
        held = vehicle.support is Support.STAND
        self.pivot_w: np.ndarray | None = stand_at(world, np.zeros(3), vehicle.stand_m) if held else None
        """(3,) the fixed point at which a stand holds it; None for what none holds."""
        self._vehicle = vehicle

    def again(self) -> "Footing":
        """The same place, for another lane: nothing has been touched yet."""
        other = Footing(self._vehicle, self.world)
        other.pivot_w = self.pivot_w
        return other

    def put_at(self, x_w: np.ndarray) -> None:
        """The vehicle is put at `x_w` (3,): what a stand holds gets it there."""
        if self.pivot_w is not None:
            self.pivot_w = stand_at(self.world, x_w, self._vehicle.stand_m)

    def leader_clearance_m(self, node: np.ndarray) -> float:
        """Height above the ground of the target that the vehicle follows; inf where it follows none."""
        if not has_leader(self._vehicle):
            return math.inf
        x, y, z = node[Leader.of(self._vehicle).place].tolist()
        return z - float(self.world.terrain.height(x, y))
