"""Does a holonomic vehicle's declaration hold together, with its numbers? Each mistake is one line.

Shapes and symbols are looked at once for all vehicles with the same equations, numbers every time: at the
default state, and moving about near it.
"""

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.vehicles.base import State, Vehicle
from sim.vehicles.declaration import called, check_finite, check_shown, direction, piece, refused
from sim.vehicles.structure import Structure

_SYMMETRIC = 1e-9
_SINGULAR = 1e-12
"""Smallest eigenvalue of the inertia with its diagonal scaled to one."""


def check_holonomic(vehicle: Vehicle) -> None:
    """Raises InputError naming the vehicle, the method and what is allowed."""
    pieces = _pieces(Structure.of(vehicle))
    check_shown(Structure.of(vehicle))
    p, u = vehicle.parameter_vector, vehicle.neutral_controls
    inertia, bias = (np.array(x) for x in pieces.inertia(p))
    check_finite(vehicle, "inertia", "with these parameters", inertia)
    check_finite(vehicle, "momentum_bias", "with these parameters", bias)
    _check_inertia(vehicle, inertia)
    g, xi = _default(vehicle)
    rng = np.random.default_rng(3)
    turn = np.array(vehicle.group.function("exp")(rng.uniform(-0.4, 0.4, vehicle.group.dim))).ravel()
    near, moving = np.array(pieces.compose(g, turn)).ravel(), xi + rng.uniform(-1.0, 1.0, xi.size)
    for where, pose, velocity in (("at the default state", g, xi), ("near the default state", near, moving)):
        values = [np.array(x).ravel() for x in pieces.acting(pose, velocity, u, p)]
        names = ("potential", "the potential's derivative", "control_wrench", "dissipative_wrench")
        for name, value in zip(names, values, strict=False):
            check_finite(vehicle, name, where, value)
        check_finite(
            vehicle,
            "dissipative_wrench's derivative",
            f"{where}; a small number under a root keeps it so at rest",
            values[4],
        )


@dataclass(frozen=True)
class _Pieces:
    inertia: ca.Function
    """p -> inertia, bias."""
    acting: ca.Function
    """(g, xi, u, p) -> potential, its derivative, both wrenches, the derivative of the last by xi."""
    compose: ca.Function


@lru_cache(maxsize=128)
def _pieces(structure: Structure) -> _Pieces:
    vehicle = structure.vehicle
    dim, size = vehicle.group.dim, vehicle.group.pose_dim
    g, k, xi = ca.SX.sym("g", size), ca.SX.sym("k", size), ca.SX.sym("xi", dim)
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    inertia = piece(vehicle, "inertia", {"q": q}, (dim, dim))
    bias = piece(vehicle, "momentum_bias", {"q": q}, (dim, 1))
    potential = piece(vehicle, "potential", {"g": g, "q": q}, (1, 1))
    control = piece(vehicle, "control_wrench", {"u": u, "q": q}, (dim, 1))
    resisting = piece(vehicle, "dissipative_wrench", {"g": g, "xi": xi, "q": q}, (dim, 1))
    acting = [potential, ca.gradient(potential, g), control, resisting, ca.jacobian(resisting, xi)]
    return _Pieces(
        ca.Function("inertia", [p], [ca.densify(inertia), ca.densify(bias)]),
        ca.Function("acting", [g, xi, u, p], [ca.densify(x) for x in acting]),
        ca.Function("compose", [g, k], [vehicle.group.compose(g, k)]),
    )


def _check_inertia(vehicle: Vehicle, inertia: np.ndarray) -> None:
    skew = np.abs(inertia - inertia.T)
    if skew.max() > _SYMMETRIC * np.abs(inertia).max():
        i, j = sorted(int(k) for k in np.unravel_index(skew.argmax(), skew.shape))
        raise refused(
            vehicle,
            f"inertia is not symmetric: row {i + 1}, column {j + 1} is {inertia[i, j]:g}, "
            f"row {j + 1}, column {i + 1} is {inertia[j, i]:g}",
        )
    diagonal = np.diag(inertia)
    k = int(diagonal.argmin())
    if diagonal[k] <= 0.0:
        raise refused(
            vehicle,
            f"inertia is {diagonal[k]:g} along {direction(vehicle, k)}; every direction needs a positive one",
        )
    scale = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(inertia / np.outer(scale, scale))
    if values[0] <= _SINGULAR:
        how = "singular" if values[0] > -_SINGULAR else "not positive"
        mixed = np.argsort(-np.abs(vectors[:, 0]))[:2]
        along = " with ".join(direction(vehicle, int(i)) for i in sorted(mixed))
        raise refused(vehicle, f"inertia is {how}: some motion of {along} has no kinetic energy")


def _default(vehicle: Vehicle) -> tuple[np.ndarray, np.ndarray]:
    """Flat pose and body velocity of the default state."""
    state = called(vehicle, "default_state", vehicle.default_state)
    at = vehicle.node_layout
    if not isinstance(state, State) or state.node.shape != (at.size,):
        raise refused(
            vehicle, f"default_state returns a {type(state).__name__}, wanted what self.state_of(...) makes"
        )
    return state.node[at.pose], state.node[at.velocity]
