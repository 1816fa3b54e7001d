"""Does a nonholonomic vehicle's declaration hold together? Each contradiction is one sentence.

Constraints, connection, symmetry basis and Lagrangian may be written by hand and independently of each
other. Sizes are compared first; then everything is evaluated at random shapes with the vehicle's own
parameters, where a wrong sign or a forgotten factor shows at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from sim.symbolic import replaced
from sim.vehicles.base import Vehicle
from sim.vehicles.declaration import evaluated, refused

_SAMPLES = 6
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Constrained:
    """What is declared, in the symbols r, u, xi, controls, p."""

    r: ca.SX
    u: ca.SX
    xi: ca.SX
    controls: ca.SX
    p: ca.SX
    lagrangian: ca.SX
    constraints: ca.SX
    connection: ca.SX
    basis: ca.SX
    dynamic: tuple[int, ...]
    """Shape coordinates that are not commanded."""
    own: ca.SX
    """Velocities of these and of the symmetry directions."""
    shape_velocity: ca.SX
    """(n_shape,) in `own` and the controls."""

    @property
    def arguments(self) -> list[ca.SX]:
        """Of the functions."""
        return [self.r, self.u, self.xi, self.controls, self.p]

    @cached_property
    def admissible(self) -> ca.Function:
        """At all samples: slip of moving shapes, of the basis, the body's part of the constraints, and the basis."""
        n = self.r.shape[0]
        by_shape, by_body = self.constraints[:, :n], self.constraints[:, n:]
        parts = (by_shape - by_body @ self.connection, by_body @ self.basis, by_body, self.basis)
        return ca.Function("admissible", self.arguments, [ca.densify(x) for x in parts]).map(_SAMPLES)

    @cached_property
    def inertias(self) -> ca.Function:
        """At all samples: Hessians of the Lagrangian in all velocities, and in the admissible ones."""
        xi = self.basis @ self.own[len(self.dynamic) :, 0] - self.connection @ self.shape_velocity
        energy = replaced([self.lagrangian], [self.u, self.xi], [self.shape_velocity, xi])[0]
        full = ca.hessian(self.lagrangian, ca.vertcat(self.u, self.xi))[0]
        mass = ca.hessian(energy, self.own)[0]
        arguments = [*self.arguments, self.own]
        return ca.Function("inertias", arguments, [ca.densify(full), ca.densify(mass)]).map(_SAMPLES)


def check_commanded(vehicle: Vehicle, commanded: Mapping[str, str]) -> None:
    """Raises InputError where a name in `commanded` is none of the vehicle's."""
    shapes, controls = [s.name for s in vehicle.shape_coordinates], [c.name for c in vehicle.controls]
    for shape, control in commanded.items():
        if shape not in shapes:
            text = f"commanded names {shape!r}, which is no shape coordinate ({', '.join(shapes)})"
            raise refused(vehicle, text)
        if control not in controls:
            text = f"{shape!r} is commanded by {control!r}, which is no control ({', '.join(controls)})"
            raise refused(vehicle, text)


def check_constrained(vehicle: Vehicle, declared: Constrained) -> None:
    """Raises InputError naming the vehicle and the piece that is wrong with these parameters."""
    samples = _samples(vehicle)
    _check_admissible(vehicle, declared, samples)
    _check_lagrangian(vehicle, declared, samples)


def _at_all(f: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """(samples, rows, columns) of each result; arguments have a row a sample."""
    results = evaluated(f, *arguments)
    return [x.reshape(len(x), _SAMPLES, x.shape[1] // _SAMPLES).swapaxes(0, 1) for x in results]


def _samples(vehicle: Vehicle) -> list[np.ndarray]:
    """Random arguments, a row a sample, shapes within their stops, with the vehicle's own parameters."""
    low = tuple(max(c.low, -1.0) for c in vehicle.shape_coordinates)
    high = tuple(min(c.high, 1.0) for c in vehicle.shape_coordinates)
    own = np.tile(vehicle.parameter_vector, (_SAMPLES, 1))
    return [*_random(low, high, (len(low), vehicle.group.dim, len(vehicle.controls))), own]


@lru_cache(maxsize=64)
def _random(low: tuple[float, ...], high: tuple[float, ...], rest: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """The same for all parameters: shapes between `low` and `high`, then so many numbers from -1 to 1 each."""
    rng = np.random.default_rng(3)
    shapes = rng.uniform(low, high, (_SAMPLES, len(low)))
    return (shapes, *(rng.uniform(-1, 1, (_SAMPLES, n)) for n in rest))


def _violated(slip: np.ndarray) -> tuple[int, int] | None:
    """(column, constraint counted from 1) of the first column that breaks one at some sample, and the worst there."""
    worst = np.abs(slip).max(axis=0, initial=0.0)
    columns = np.flatnonzero((worst > _TOLERANCE).any(axis=0))
    return (int(columns[0]), int(worst[:, columns[0]].argmax()) + 1) if columns.size else None


def _check_admissible(vehicle: Vehicle, declared: Constrained, samples: Sequence[np.ndarray]) -> None:
    slip, outside, body, basis = _at_all(declared.admissible, samples)
    _check_finite(vehicle, "constraints, connection or symmetry_basis", slip, outside, body, basis)
    if broken := _violated(slip):
        name = vehicle.shape_coordinates[broken[0]].name
        raise refused(
            vehicle,
            f"connection A(r) does not annihilate the constraint directions: moving {name!r} "
            f"with xi = -A u violates constraint {broken[1]}",
        )
    if broken := _violated(outside):
        raise refused(
            vehicle,
            f"symmetry_basis: e_{broken[0] + 1} is outside the admissible set, "
            f"it violates constraint {broken[1]}",
        )
    free = vehicle.group.dim - _ranks(body)
    ranks, columns = _ranks(basis), basis.shape[2]
    wrong = np.flatnonzero((ranks != columns) | (ranks != free))
    if wrong.size:
        k = wrong[0]
        raise refused(
            vehicle,
            f"symmetry_basis has {columns} columns of rank {ranks[k]}, but the constraints leave the locked "
            f"vehicle {free[k]} directions to move in",
        )


def _ranks(matrices: np.ndarray) -> np.ndarray:
    """Of each sample's."""
    return np.linalg.matrix_rank(matrices, 1e-9) if matrices.size else np.zeros(_SAMPLES, int)


def _check_lagrangian(vehicle: Vehicle, declared: Constrained, samples: Sequence[np.ndarray]) -> None:
    names = [vehicle.shape_coordinates[i].name for i in declared.dynamic]
    names += [f"e_{b + 1}" for b in range(declared.basis.shape[1])]
    own = np.ones((_SAMPLES, len(names)))
    faster = [samples[0], 2.0 * samples[1] + 0.3, 2.0 * samples[2] + 0.3, *samples[3:]]
    full, mass = _at_all(declared.inertias, [*samples, own])
    again, _ = _at_all(declared.inertias, [*faster, own])
    _check_finite(vehicle, "lagrangian", full, mass)
    size = np.abs(full).max(axis=(1, 2), initial=0.0)
    if not size.all():
        raise refused(vehicle, "lagrangian has no velocity terms, so nothing has inertia")
    if np.any(np.abs(full - again).max(axis=(1, 2)) > 1e-7 * size):
        raise refused(vehicle, "lagrangian is not quadratic in the velocities u and xi")
    for k, name in enumerate(names):
        if not np.all(mass[:, k, k] > 0.0):
            raise refused(
                vehicle,
                f"lagrangian gives {name!r} no positive kinetic energy; add its inertia or command it",
            )
    if names and np.linalg.eigvalsh(mass).min() <= 0.0:
        raise refused(vehicle, "lagrangian: kinetic energy is not positive on the admissible velocities")


def _check_finite(vehicle: Vehicle, what: str, *arrays: np.ndarray) -> None:
    if not all(np.isfinite(a).all() for a in arrays):
        raise refused(vehicle, f"{what} is not finite at some shape within the stops")
