"""Does a holonomic vehicle's declaration hold together, with its numbers? Each mistake is one line.

Shapes and symbols are looked at once for all vehicles with the same equations, numbers every time: at the
default state, and moving about near it.
"""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.vehicles.base import Vehicle
from sim.vehicles.declaration import called, check_finite, check_shown, direction, evaluated, piece, refused
from sim.vehicles.state import State
from sim.vehicles.structure import Structure

_SYMMETRIC = 1e-9
_SINGULAR = 1e-12
"""Smallest eigenvalue of the inertia with its diagonal scaled to one."""


def check_holonomic(vehicle: Vehicle) -> None:
    """Raises InputError naming the vehicle, the method and what is allowed."""
    structure = Structure.of(vehicle)
    declared = _values(structure)
    check_shown(structure)
    p, u = vehicle.parameter_vector, vehicle.neutral_controls
    g, xi = _default(vehicle)
    inertia, bias, *values = evaluated(declared, g, xi, u, p)
    check_finite(vehicle, "inertia", "with these parameters", inertia)
    check_finite(vehicle, "momentum_bias", "with these parameters", bias)
    _check_inertia(vehicle, inertia)
    if all(np.isfinite(x).all() for x in values):
        return
    names = ("potential", "the potential's derivative", "control_wrench", "dissipative_wrench")
    for column, where in enumerate(("at the default state", "near the default state")):
        for name, value in zip(names, values, strict=False):
            check_finite(vehicle, name, where, value[:, column])
        check_finite(
            vehicle,
            "dissipative_wrench's derivative",
            f"{where}; a small number under a root keeps it so at rest",
            values[4][:, column],
        )


@lru_cache(maxsize=128)
def _values(structure: Structure) -> ca.Function:
    """(g, xi, u, p) -> inertia, bias; then at that state and moving about near it, a column each: potential, its
    derivative, both wrenches, the derivative of the last by xi."""
    vehicle = structure.vehicle
    dim, size = vehicle.group.dim, vehicle.group.pose_dim
    g, xi = ca.SX.sym("g", size), ca.SX.sym("xi", dim)
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    inertia = piece(vehicle, "inertia", {"q": q}, (dim, dim))
    bias = piece(vehicle, "momentum_bias", {"q": q}, (dim, 1))
    potential = piece(vehicle, "potential", {"g": g, "q": q}, (1, 1))
    control = piece(vehicle, "control_wrench", {"u": u, "q": q}, (dim, 1))
    resisting = piece(vehicle, "dissipative_wrench", {"g": g, "xi": xi, "q": q}, (dim, 1))
    acting = ca.Function(
        "acting",
        [g, xi, u, p],
        [potential, ca.gradient(potential, g), control, resisting, ca.vec(ca.jacobian(resisting, xi))],
    )
    rng = np.random.default_rng(3)
    near = vehicle.group.compose(g, ca.SX(vehicle.group.function("exp")(rng.uniform(-0.4, 0.4, dim))))
    moving = xi + rng.uniform(-1.0, 1.0, dim)
    both = zip(acting(g, xi, u, p), acting(near, moving, u, p), strict=True)
    shown = [ca.densify(x) for x in (inertia, bias, *(ca.horzcat(*pair) for pair in both))]
    return ca.Function("values", [g, xi, u, p], shown)


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
    scaled = inertia / np.outer(scale, scale)
    if np.linalg.eigvalsh(scaled)[0] <= _SINGULAR:
        values, vectors = np.linalg.eigh(scaled)
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
