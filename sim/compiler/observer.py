"""What is told of the nodes of a system of many bodies, by a function of columns: that compiles quickly."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.vehicles.base import Vehicle
from sim.vehicles.observation import observation
from sim.vehicles.structure import Structure


class ColumnObserver:
    """Fills rows as the `observe` of a generated module does."""

    def __init__(self, vehicle: Vehicle) -> None:
        size = vehicle.node_layout.size
        node, after, u = (
            ca.SX.sym("node", size),
            ca.SX.sym("after", size),
            ca.SX.sym("u", len(vehicle.controls)),
        )
        p, h = ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
        _, row = observation(vehicle, node, after, u, h, vehicle.symbols(p))
        self._told = ColumnKernel(ca.Function("told", [node, after, u, p, h], [row], {"cse": True}), (3, 4))

    def __call__(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float, rows: np.ndarray) -> None:
        """nodes (n, node size), a step h apart; us (k, n_controls), whose last row goes on; rows (n, size)."""
        n = len(nodes)
        afters = np.concatenate([nodes[1:], nodes[-1:]])
        controls = np.ascontiguousarray(us[np.minimum(np.arange(n), len(us) - 1)])
        self._told(n, [nodes, afters, controls, np.ascontiguousarray(p), np.array([h])], [rows])


def energies(structure: Structure, nodes: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(n,) J at nodes (n, node size) under parameters p, which costs a fraction of all that can be told."""
    return _energy(structure).rows(nodes, p)[:, 0]


@lru_cache(maxsize=256)
def _energy(structure: Structure) -> ColumnKernel:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    energy = ca.densify(vehicle.energy(node, vehicle.symbols(p)))
    return ColumnKernel(ca.Function("energy", [node, p], [energy], {"cse": True}), (1,))
