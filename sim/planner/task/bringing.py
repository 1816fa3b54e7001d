"""What moves about a space of its own, brought to where a hand wants its main body."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.planner.task.bodies import body_pose, places, velocities
from sim.planner.task.poses import positions
from sim.vehicles.forms.base import Structure, Vehicle

_STEPS, _DAMPING, _FARTHEST = 12, 1e-4, 0.5


def brought_to(vehicle: Vehicle, node: np.ndarray, place_w: np.ndarray) -> np.ndarray:
    """The node with all of its places moved along; where it has none, as near as it comes by turning (velocities
    stay as they are)."""
    node = node.copy()
    written = places(vehicle)
    if written:
        by_w = place_w - positions(vehicle, node)[0]
        for at in written:
            node[at] += by_w
        return node
    moved = _moved(Structure.of(vehicle))
    for _ in range(_STEPS):
        miss, slope, _ = (
            np.array(x) for x in moved(node, np.zeros(vehicle.space.dim), vehicle.parameter_vector)
        )
        miss = place_w - miss.ravel()
        d = slope.T @ np.linalg.solve(slope @ slope.T + _DAMPING * np.eye(3), miss)
        d *= min(1.0, _FARTHEST / max(float(np.abs(d).max()), 1e-12))
        node = np.array(moved(node, d, vehicle.parameter_vector)[2]).ravel()
    return node


@lru_cache(maxsize=16)
def _moved(structure: Structure) -> ca.Function:
    """(node, displacement, parameters) -> the main body's place, its derivative at none, the node as moved."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    d, q = ca.SX.sym("d", vehicle.space.dim), vehicle.symbols(p)
    there = vehicle.space.displaced(node, d)
    still = [i for i in range(node.shape[0]) if i not in {k for k, _ in velocities(vehicle)}]
    place = body_pose(vehicle, there, q)[:3, 3]
    slope = ca.substitute(ca.jacobian(place, d), d, ca.SX.zeros(d.shape[0]))
    here = ca.SX(node)
    here[still] = there[still]
    return ca.Function("moved", [node, d, p], [place, ca.densify(slope), here])
