"""What moves in a scene and the flown lane can meet: what the scene says, else the obstacles of its world."""

import numpy as np

from sim.environment.environment import Environment
from sim.environment.obstacles import obstacles_in
from sim.scene import Scene
from sim.simulation.coupling import Coupling
from sim.simulation.footing import Footing
from sim.simulation.lane import Lane
from sim.simulation.placing import placement
from sim.vehicles import Vehicle
from sim.world import World


class Encounter:
    """Knows for which vehicle obstacles were looked for."""

    def __init__(self, scene: Scene, world: World, vehicle: Vehicle) -> None:
        self._scene, self._world, self._looked_for = scene, world, vehicle.name

    def at_first(self, vehicle: Vehicle, node: np.ndarray, footing: Footing) -> Environment | None:
        """For a vehicle that begins at a node."""
        world, moving = self._world, self._scene.environment
        if moving is None:
            return obstacles_in(world, vehicle)
        return moving.begun(vehicle, placement(vehicle, node, world, footing.pivot_w).T_wb, world)

    def couple(self, flown: Lane) -> None:
        """What is flown by now may meet what the vehicle before it flew over."""
        vehicle = flown.method.vehicle
        if flown.coupling is None and self._looked_for != vehicle.name:
            self._looked_for = vehicle.name
            obstacles = obstacles_in(self._world, vehicle)
            flown.coupling = None if obstacles is None else Coupling(obstacles)
