"""What is told of a lane's node: asked for several times between two steps, worked out once."""

import numpy as np

from sim.simulation.footing import Footing
from sim.simulation.method import Method
from sim.simulation.placing import in_world
from sim.vehicles.observation import Observation


class Sight:
    """Remembers the last node and controls by identity; neither may be written to."""

    def __init__(self) -> None:
        self._known: tuple[np.ndarray, np.ndarray, Observation] | None = None

    def forget(self) -> None:
        """The vehicle or its parameters are others from now on."""
        self._known = None

    def of(self, method: Method, node: np.ndarray, controls: np.ndarray) -> Observation:
        """What is told of a node under these controls."""
        known = self._known
        if known is None or known[0] is not node or known[1] is not controls:
            known = node, controls, method.kernel.observe(node, controls, method.parameters)
            self._known = known
        return known[2]


def poses_in_world(method: Method, footing: Footing, observation: Observation) -> np.ndarray:
    """(bodies, 4, 4) body to world, the main one first."""
    return in_world(method.vehicle.support, observation.poses, footing.world, footing.pivot_w)
