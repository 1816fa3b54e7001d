"""What a lane's pilot is told of its vehicle."""

import numpy as np

from sim.control import Sensed
from sim.simulation.footing import Footing
from sim.simulation.placing import Placement


def sensed(node: np.ndarray, there: Placement, footing: Footing, time_s: float) -> Sensed:
    """At a node, flat, with its place in the world, at a simulated time."""
    return Sensed(
        there.T_wb[:3, :3],
        there.T_wb[:3, 3],
        there.twist_b[:3],
        there.twist_b[3:],
        footing.clearance_m(node),
        node,
        footing.load_clearance_m(node),
        time_s,
    )
