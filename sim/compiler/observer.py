"""What is observed of nodes, and their energies, by machine code that is made when it is first asked for."""

from collections.abc import Callable
from functools import lru_cache, partial

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.compiler.vector_code import Function, module
from sim.native.function import native
from sim.native.objects import Engine, loaded
from sim.native.types import called
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.observation import observation

_TABLE = ("node", "after", "u", "p", "h", "row")
_AA = "float64[:, ::1]"
_SHORT = 3000
"""Lines: to optimise more takes longer than it saves."""

Observe = Callable[[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray], None]
"""(nodes, us, p, h, rows): fills the rows with what is observed of nodes (n, node size) a step h apart.

us (k, n_controls): the last row goes on."""


def observer(structure: Structure) -> Observe:
    """Of a vehicle."""
    return partial(_observe, structure)


def _observe(
    structure: Structure, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float, rows: np.ndarray
) -> None:
    address, _ = _code(structure)
    observer_rows(address, nodes, us, p, h, rows)


@lru_cache(maxsize=256)
def _code(structure: Structure) -> tuple[int, Engine]:
    """Address of a function of one row, and what owns it."""
    vehicle = structure.vehicle
    size = vehicle.node_layout.size
    node, after, u = ca.SX.sym("node", size), ca.SX.sym("after", size), ca.SX.sym("u", len(vehicle.controls))
    p, h = ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
    _, row = observation(vehicle, node, after, u, h, vehicle.symbols(p))
    function = Function(1)
    function.begin("observe")
    function.pointers(*_TABLE)
    symbols = zip(_TABLE, (node, after, u, p, h), strict=False)
    known = [(x, function.loaded(f"%{name}", x.numel())) for name, x in symbols]
    function.stored("%row", function.expression(known, row))
    function.end()
    short = len(function.lines) < _SHORT
    engine = loaded(module([function]), optimised=short)
    return engine.get_function_address("observe"), engine


@native(f"void(int64, {_AA}, {_AA}, float64[::1], float64, {_AA})")
def observer_rows(
    code: int, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float, rows: np.ndarray
) -> None:
    step, table, n = np.empty(1), np.empty(6, np.int64), nodes.shape[0]
    step[0] = h
    table[3], table[4] = p.ctypes.data, step.ctypes.data
    for k in range(n):
        table[0] = nodes[k].ctypes.data
        table[1] = nodes[min(k + 1, n - 1)].ctypes.data
        table[2] = us[min(k, us.shape[0] - 1)].ctypes.data
        table[5] = rows[k].ctypes.data
        called(code, table.ctypes.data, 0)


def energies(structure: Structure, nodes: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(n,) J at nodes (n, node size) under parameters p, which costs a fraction of all that can be observed."""
    return _energy(structure).rows(nodes, p)[:, 0]


@lru_cache(maxsize=256)
def _energy(structure: Structure) -> ColumnKernel:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    energy = ca.densify(vehicle.energy(node, vehicle.symbols(p)))
    return ColumnKernel(ca.Function("energy", [node, p], [energy], {"cse": True}), (1,))
