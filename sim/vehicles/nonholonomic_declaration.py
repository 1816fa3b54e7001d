"""Does a nonholonomic vehicle's declaration hold together? Each contradiction is one sentence.

Constraints, connection, symmetry basis and Lagrangian may be written by hand and independently of each
other. Sizes are compared first; then everything is evaluated at random shapes with the vehicle's own
parameters, where a wrong sign or a forgotten factor shows at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from sim.symbolic import replaced
from sim.vehicles.base import Vehicle
from sim.vehicles.declaration import refused

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
        """Slip of moving shapes, of the basis, the body's part of the constraints, and the basis."""
        n = self.r.shape[0]
        by_shape, by_body = self.constraints[:, :n], self.constraints[:, n:]
        parts = (by_shape - by_body @ self.connection, by_body @ self.basis, by_body, self.basis)
        return ca.Function("admissible", self.arguments, [ca.densify(x) for x in parts])

    @cached_property
    def inertias(self) -> ca.Function:
        """Hessians of the Lagrangian in all velocities, and in the admissible ones."""
        xi = self.basis @ self.own[len(self.dynamic) :, 0] - self.connection @ self.shape_velocity
        energy = replaced([self.lagrangian], [self.u, self.xi], [self.shape_velocity, xi])[0]
        full = ca.hessian(self.lagrangian, ca.vertcat(self.u, self.xi))[0]
        mass = ca.hessian(energy, self.own)[0]
        return ca.Function("inertias", [*self.arguments, self.own], [ca.densify(full), ca.densify(mass)])


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
    samples = [np.array(x).T.reshape(len(x[0]), _SAMPLES) for x in zip(*_samples(vehicle), strict=True)]
    _check_admissible(vehicle, declared, samples)
    _check_lagrangian(vehicle, declared, samples)


def _at_all(f: ca.Function, arguments: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """Each sample's results; arguments have a column a sample."""
    results = [np.array(x) for x in f.map(_SAMPLES)(*arguments)]
    widths = [x.shape[1] // _SAMPLES for x in results]
    return [
        [x[:, k * w : (k + 1) * w] for x, w in zip(results, widths, strict=True)] for k in range(_SAMPLES)
    ]


def _samples(vehicle: Vehicle) -> list[list[np.ndarray]]:
    """Random arguments, shapes within their stops, with the vehicle's own parameters."""
    rng = np.random.default_rng(3)
    low = [max(c.low, -1.0) for c in vehicle.shape_coordinates]
    high = [min(c.high, 1.0) for c in vehicle.shape_coordinates]
    rest = [len(low), vehicle.group.dim, len(vehicle.controls)]
    return [
        [rng.uniform(low, high), *(rng.uniform(-1, 1, n) for n in rest), vehicle.parameter_vector]
        for _ in range(_SAMPLES)
    ]


def _check_admissible(vehicle: Vehicle, declared: Constrained, samples: Sequence[np.ndarray]) -> None:
    for slip, outside, body, basis in _at_all(declared.admissible, samples):
        _check_finite(vehicle, "constraints, connection or symmetry_basis", slip, outside, body, basis)
        for column, coordinate in enumerate(vehicle.shape_coordinates):
            if slip.size and np.abs(slip[:, column]).max() > _TOLERANCE:
                row = int(np.abs(slip[:, column]).argmax()) + 1
                raise refused(
                    vehicle,
                    f"connection A(r) does not annihilate the constraint directions: moving {coordinate.name!r} "
                    f"with xi = -A u violates constraint {row}",
                )
        for column in range(basis.shape[1]):
            if outside.size and np.abs(outside[:, column]).max() > _TOLERANCE:
                row = int(np.abs(outside[:, column]).argmax()) + 1
                raise refused(
                    vehicle,
                    f"symmetry_basis: e_{column + 1} is outside the admissible set, it violates constraint {row}",
                )
        free = vehicle.group.dim - (np.linalg.matrix_rank(body, 1e-9) if body.size else 0)
        rank = np.linalg.matrix_rank(basis, 1e-9) if basis.size else 0
        if not rank == basis.shape[1] == free:
            raise refused(
                vehicle,
                f"symmetry_basis has {basis.shape[1]} columns of rank {rank}, but the constraints leave the locked "
                f"vehicle {free} directions to move in",
            )


def _check_lagrangian(vehicle: Vehicle, declared: Constrained, samples: Sequence[np.ndarray]) -> None:
    names = [vehicle.shape_coordinates[i].name for i in declared.dynamic]
    names += [f"e_{b + 1}" for b in range(declared.basis.shape[1])]
    own = np.ones((len(names), _SAMPLES))
    faster = [samples[0], 2.0 * samples[1] + 0.3, 2.0 * samples[2] + 0.3, *samples[3:]]
    slow, fast = (_at_all(declared.inertias, [*x, own]) for x in (samples, faster))
    for here, there in zip(slow, fast, strict=True):
        again = there[0]
        _check_finite(vehicle, "lagrangian", *here)
        if np.abs(here[0]).max(initial=0.0) == 0.0:
            raise refused(vehicle, "lagrangian has no velocity terms, so nothing has inertia")
        if np.abs(here[0] - again).max() > 1e-7 * np.abs(here[0]).max():
            raise refused(vehicle, "lagrangian is not quadratic in the velocities u and xi")
        for k, name in enumerate(names):
            if not here[1][k, k] > 0.0:
                raise refused(
                    vehicle,
                    f"lagrangian gives {name!r} no positive kinetic energy; add its inertia or command it",
                )
        if names and np.linalg.eigvalsh(here[1]).min() <= 0.0:
            raise refused(vehicle, "lagrangian: kinetic energy is not positive on the admissible velocities")


def _check_finite(vehicle: Vehicle, what: str, *arrays: np.ndarray) -> None:
    if not all(np.isfinite(a).all() for a in arrays):
        raise refused(vehicle, f"{what} is not finite at some shape within the stops")
