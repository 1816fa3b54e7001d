"""Connection and symmetry basis of vehicles that leave them out, once for all with the same equations."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.vehicles.base import Vehicle
from sim.vehicles.declaration import piece
from sim.vehicles.parametrised import Quantities
from sim.vehicles.reduction import Reduction, Samples
from sim.vehicles.structure import Structure


def usual_parameters(vehicle: Vehicle) -> np.ndarray:
    """(parameters,) their defaults: what is found out once a structure must not depend on which variant came first."""
    values = [np.atleast_1d(np.asarray(x.default, float)) for x in vehicle.parameters]
    return np.concatenate([np.zeros(0), *values])


@lru_cache(maxsize=64)
def _reduction(structure: Structure) -> Reduction:
    vehicle = structure.vehicle
    r, p = ca.SX.sym("r", len(vehicle.shape_coordinates)), ca.SX.sym("p", vehicle.parameter_count)
    shapes = vehicle.shape_coordinates
    constraints = piece(
        vehicle, "constraints", {"r": r, "q": vehicle.symbols(p)}, (None, r.shape[0] + vehicle.group.dim)
    )
    absent = [np.full(x.size, x.name in vehicle.absent) for x in vehicle.parameters]
    at = Samples.of(
        r,
        p,
        [(s.low, s.high) for s in shapes],
        usual_parameters(vehicle),
        np.concatenate([np.zeros(0, bool), *absent]),
    )
    return Reduction(f"vehicle {vehicle.name!r}", constraints, len(shapes), [s.name for s in shapes], at)


@lru_cache(maxsize=64)
def derived_basis(structure: Structure) -> ca.Function:
    """(r, p) -> e."""
    known = _reduction(structure)
    return ca.Function("basis", [known.at.r, known.at.p], [known.basis])


@lru_cache(maxsize=64)
def derived_connection(structure: Structure) -> ca.Function:
    """(r, p) -> A, mechanical."""
    known, vehicle = _reduction(structure), structure.vehicle
    r, p = known.at.r, known.at.p
    q, n, d = vehicle.symbols(p), r.shape[0], vehicle.group.dim
    velocity = ca.SX.sym("v", n + d)
    arguments: dict[str, ca.SX | Quantities] = {"r": r, "u": velocity[:n, 0], "xi": velocity[n:, 0], "q": q}
    inertia = ca.hessian(piece(vehicle, "lagrangian", arguments, (1, 1)), velocity)[0]
    inertia = ca.substitute(inertia, velocity, ca.SX.zeros(n + d))
    basis = piece(vehicle, "symmetry_basis", {"r": r, "q": q}, (d, None))
    connection = known.connection(basis, inertia[n:, n:], inertia[n:, :n])
    return ca.Function("connection", [r, p], [connection])
