"""Does a nonholonomic vehicle's declaration hold together? Each contradiction is one sentence.

Constraints, connection, symmetry basis and Lagrangian are written by hand and independently of each
other. Sizes are compared first; then everything is evaluated at random shapes with the vehicle's own
parameters, where a wrong sign or a forgotten factor shows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from sim.errors import InputError
from sim.symbolic import replaced

if TYPE_CHECKING:
    from sim.vehicles.nonholonomic import NonholonomicVehicle

_SAMPLES = 6
_TOLERANCE = 1e-9


def check_declaration(vehicle: NonholonomicVehicle) -> None:
    """Raises InputError naming the vehicle and the piece that is wrong."""
    symbols = _Symbols(vehicle)
    pieces = _pieces(vehicle, symbols)
    _check_commanded(vehicle)
    _check_admissible(vehicle, symbols, pieces)
    _check_lagrangian(vehicle, symbols, pieces)


class _Symbols:
    def __init__(self, vehicle: NonholonomicVehicle) -> None:
        self.n_shape, self.dim = len(vehicle.shape_coordinates), vehicle.group.dim
        self.r, self.u = ca.SX.sym("r", self.n_shape), ca.SX.sym("u", self.n_shape)
        self.xi, self.g = ca.SX.sym("xi", self.dim), ca.SX.sym("g", vehicle.group.pose_dim)
        self.controls = ca.SX.sym("controls", len(vehicle.controls))
        self.p = ca.SX.sym("p", vehicle.parameter_count)
        self.q = vehicle.symbols(self.p)

    @property
    def all(self) -> list[ca.SX]:
        return [self.r, self.u, self.xi, self.g, self.controls, self.p]


def _fail(vehicle: NonholonomicVehicle, text: str) -> InputError:
    return InputError(f"vehicle {vehicle.name!r}: {text}")


def _piece(
    vehicle: NonholonomicVehicle,
    symbols: _Symbols,
    name: str,
    make: Callable[[], Any],
    shape: tuple[int | None, int | None],
) -> ca.SX:
    """What one method declares, as SX of the wanted shape (None: any) in the symbols it may depend on."""
    try:
        value = ca.SX(make())
    except InputError:
        raise
    except Exception as error:
        raise _fail(vehicle, f"{name} cannot be evaluated: {str(error).strip().splitlines()[-1]}") from error
    wanted = tuple(actual if w is None else w for w, actual in zip(shape, value.shape, strict=True))
    if value.shape != wanted:
        rows = f"{'n' if shape[0] is None else shape[0]} x {'n' if shape[1] is None else shape[1]}"
        raise _fail(vehicle, f"{name} is {value.shape[0]} x {value.shape[1]}, wanted {rows}")
    foreign = [x.name() for x in ca.symvar(value) if not any(ca.depends_on(s, x) for s in symbols.all)]
    if foreign:
        raise _fail(vehicle, f"{name} depends on {foreign[0]!r}, which is none of its arguments")
    return value


def _pieces(vehicle: NonholonomicVehicle, s: _Symbols) -> SimpleNamespace:
    n, d = s.n_shape, s.dim

    def piece(name: str, make: Callable[[], object], rows: int | None, columns: int | None) -> ca.SX:
        return _piece(vehicle, s, name, make, (rows, columns))

    piece("shape_force", lambda: vehicle.shape_force(s.r, s.u, s.controls, s.q), n, 1)
    piece("external_wrench", lambda: vehicle.external_wrench(s.g, s.xi, s.controls, s.q), d, 1)
    return SimpleNamespace(
        lagrangian=piece("lagrangian", lambda: vehicle.lagrangian(s.r, s.u, s.xi, s.q), 1, 1),
        constraints=piece("constraints", lambda: vehicle.constraints(s.r, s.q), None, n + d),
        connection=piece("connection", lambda: vehicle.connection(s.r, s.q), d, n),
        basis=piece("symmetry_basis", lambda: vehicle.symmetry_basis(s.r, s.q), d, None),
    )


def _check_commanded(vehicle: NonholonomicVehicle) -> None:
    shapes, controls = [s.name for s in vehicle.shape_coordinates], [c.name for c in vehicle.controls]
    for shape, control in vehicle.commanded.items():
        if shape not in shapes:
            raise _fail(
                vehicle, f"commanded names {shape!r}, which is no shape coordinate ({', '.join(shapes)})"
            )
        if control not in controls:
            raise _fail(
                vehicle, f"{shape!r} is commanded by {control!r}, which is no control ({', '.join(controls)})"
            )


def _samples(vehicle: NonholonomicVehicle, s: _Symbols) -> list[list[np.ndarray]]:
    """Random arguments, shapes within their stops, with the vehicle's own parameters."""
    rng = np.random.default_rng(3)
    low = [max(c.low, -1.0) for c in vehicle.shape_coordinates]
    high = [min(c.high, 1.0) for c in vehicle.shape_coordinates]
    rest = [x.shape[0] for x in s.all[1:-1]]
    return [
        [rng.uniform(low, high), *(rng.uniform(-1, 1, n) for n in rest), vehicle.parameter_vector]
        for _ in range(_SAMPLES)
    ]


def _check_admissible(vehicle: NonholonomicVehicle, s: _Symbols, pieces: SimpleNamespace) -> None:
    by_shape, by_body = pieces.constraints[:, : s.n_shape], pieces.constraints[:, s.n_shape :]
    horizontal = by_shape - by_body @ pieces.connection
    vertical = by_body @ pieces.basis
    f = ca.Function("f", s.all, [ca.densify(x) for x in (horizontal, vertical, by_body, pieces.basis)])
    for sample in _samples(vehicle, s):
        slip, outside, body, basis = (np.array(x) for x in f(*sample))
        _finite(vehicle, "constraints, connection or symmetry_basis", slip, outside, body, basis)
        for column, coordinate in enumerate(vehicle.shape_coordinates):
            if slip.size and np.abs(slip[:, column]).max() > _TOLERANCE:
                row = int(np.abs(slip[:, column]).argmax()) + 1
                raise _fail(
                    vehicle,
                    f"connection A(r) does not annihilate the constraint directions: moving {coordinate.name!r} "
                    f"with xi = -A u violates constraint {row}",
                )
        for column in range(basis.shape[1]):
            if outside.size and np.abs(outside[:, column]).max() > _TOLERANCE:
                row = int(np.abs(outside[:, column]).argmax()) + 1
                raise _fail(
                    vehicle,
                    f"symmetry_basis: e_{column + 1} is outside the admissible set, it violates constraint {row}",
                )
        free = s.dim - (np.linalg.matrix_rank(body, 1e-9) if body.size else 0)
        rank = np.linalg.matrix_rank(basis, 1e-9) if basis.size else 0
        if not rank == basis.shape[1] == free:
            raise _fail(
                vehicle,
                f"symmetry_basis has {basis.shape[1]} columns of rank {rank}, but the constraints leave the locked "
                f"vehicle {free} directions to move in",
            )


def _check_lagrangian(vehicle: NonholonomicVehicle, s: _Symbols, pieces: SimpleNamespace) -> None:
    own = ca.SX.sym("own", len(vehicle.dynamic) + pieces.basis.shape[1])
    n = len(vehicle.dynamic)
    u = vehicle.shape_velocity(own[:n, 0], s.controls)
    xi = pieces.basis @ own[n:, 0] - pieces.connection @ u
    energy = replaced([pieces.lagrangian], [s.u, s.xi], [u, xi])[0]
    velocities = ca.vertcat(s.u, s.xi)
    full = ca.hessian(pieces.lagrangian, velocities)[0]
    mass = ca.hessian(energy, own)[0]
    f = ca.Function("f", [*s.all, own], [ca.densify(full), ca.densify(mass)])
    names = [vehicle.shape_coordinates[i].name for i in vehicle.dynamic]
    names += [f"e_{b + 1}" for b in range(pieces.basis.shape[1])]
    for sample in _samples(vehicle, s):
        here, there = (
            [np.array(x) for x in f(*sample, scale * np.ones(own.shape[0]))] for scale in (0.3, 1.0)
        )
        faster = [sample[0], 2.0 * sample[1] + 0.3, 2.0 * sample[2] + 0.3, *sample[3:]]
        again = np.array(f(*faster, np.ones(own.shape[0]))[0])
        _finite(vehicle, "lagrangian", *here)
        if np.abs(here[0]).max(initial=0.0) == 0.0:
            raise _fail(vehicle, "lagrangian has no velocity terms, so nothing has inertia")
        if np.abs(here[0] - again).max() > 1e-7 * np.abs(here[0]).max():
            raise _fail(vehicle, "lagrangian is not quadratic in the velocities u and xi")
        for k, name in enumerate(names):
            if not there[1][k, k] > 0.0:
                raise _fail(
                    vehicle,
                    f"lagrangian gives {name!r} no positive kinetic energy; add its inertia or command it",
                )
        if names and np.linalg.eigvalsh(here[1]).min() <= 0.0:
            raise _fail(vehicle, "lagrangian: kinetic energy is not positive on the admissible velocities")


def _finite(vehicle: NonholonomicVehicle, what: str, *arrays: np.ndarray) -> None:
    if not all(np.isfinite(a).all() for a in arrays):
        raise _fail(vehicle, f"{what} is not finite at some shape within the stops")
