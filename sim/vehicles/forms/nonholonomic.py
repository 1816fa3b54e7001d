"""Vehicles with a shape and constraints on velocity: wheels, blades, rolling (vehicles paper, section 5).

Their mechanics are in `reduced_mechanics.py`; here are their states, and the checks of what one declares. Constraints,
connection, symmetry basis and Lagrangian may be written by hand and independently of each other. Sizes are compared
first; then everything is evaluated at random shapes with the vehicle's own parameters, where a wrong sign or a
forgotten factor shows at once.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE2
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.symbolic import replaced, solve
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.declaration import check_shown, evaluated, piece, refused
from sim.vehicles.forms.form import Form, Observable, State, Support
from sim.vehicles.forms.parameters import Quantities
from sim.vehicles.forms.reduced_mechanics import ReducedMotion, usual_parameters
from sim.vehicles.forms.reduction import check_rank

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
    free: ca.SX
    """(n_shape, n) admissible shape velocities, a column for each coordinate that is not dependent."""

    @property
    def arguments(self) -> list[ca.SX]:
        """Of the functions."""
        return [self.r, self.u, self.xi, self.controls, self.p]

    @cached_property
    def admissible(self) -> ca.Function:
        """At all samples: slip of moving shapes, of the basis, the body's part of the constraints, and the basis."""
        n = self.r.shape[0]
        by_shape, by_body = self.constraints[:, :n], self.constraints[:, n:]
        slip = by_shape - by_body @ self.connection
        parts = (slip @ self.free, by_body @ self.basis, by_body, self.basis)
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


def check_dependent(vehicle: ReducedMotion) -> None:
    """Raises InputError where a name in `dependent` is none of the vehicle's, or is commanded."""
    shapes = [s.name for s in vehicle.shape_coordinates]
    for name in vehicle.dependent:
        if name not in shapes or name in vehicle.commanded:
            kind = (
                "is commanded"
                if name in vehicle.commanded
                else f"is no shape coordinate ({', '.join(shapes)})"
            )
            raise refused(vehicle, f"dependent names {name!r}, which {kind}")


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
        given = [s.name for s in vehicle.shape_coordinates if s.name not in getattr(vehicle, "dependent", ())]
        name = given[broken[0]]
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


class NonholonomicVehicle(ReducedMotion):
    """Subclasses declare `lagrangian`, `constraints`, and what else applies; the rest is derived.

    Declarations that contradict each other raise InputError at construction.
    """

    form = Form.REDUCED_DALEMBERT

    def check(self) -> None:
        structure = Structure.of(self)
        check_constrained(self, _declared(structure))
        check_shown(structure)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """The nonholonomic momentum, where there is one; controls act inside and are no wrench on the body."""
        momentum = self.nonholonomic_momentum(node, q)
        return (Observable("momentum_p", "kg m^2/s", momentum),) if momentum.numel() else ()

    def step_observables(self, node: ca.SX, after: ca.SX, h: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Slip: the largest violation of a constraint along the arc that leads to the next node."""
        at, group = self.node_layout, self.group
        xi = group.log(group.between(node[at.pose], after[at.pose])) / h
        u, middle = (after[at.shape] - node[at.shape]) / h, (node[at.shape] + after[at.shape]) / 2
        slip = self.constraints(middle, q) @ ca.vertcat(u, xi)
        return (Observable("slip", "m/s", ca.norm_inf(ca.densify(slip))),)

    @property
    def support(self) -> Support:
        """Wheels and blades stay on the ground, also under water."""
        natural = super().support
        return Support.GROUND if natural is Support.SURFACE else natural

    def default_state(self) -> State:
        """At rest at the group's identity, unless the vehicle says otherwise."""
        return self.state_at(self.group.identity())

    def state(  # type: ignore[override]
        self,
        *,
        theta: float = 0.0,
        x: float = 0.0,
        y: float = 0.0,
        shape: ArrayLike = (),
        shape_velocity: ArrayLike = (),
        momentum: ArrayLike = (),
    ) -> State:
        """State of a planar vehicle; the body velocity follows from the constraints.

        theta [rad], x, y [m]: heading and position; momentum: p, one number a symmetry direction.
        Raises InputError for wrong shapes, numbers that are not finite, a shape beyond its stops.
        """
        if self.group is not SE2:
            raise InputError(f"vehicle {self.name!r}: is not planar, use state_at(pose, ...)")
        return self.state_at((theta, x, y), shape=shape, shape_velocity=shape_velocity, momentum=momentum)

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """Put down with a velocity its wheels and blades catch at once: of the velocities that they admit it has the
        one that is nearest by kinetic energy, which is what a plastic impact leaves."""
        r, thrown = np.zeros(len(self.shape_coordinates)), self.group.twist_embedding.T @ twist_b
        caught = _caught(Structure.of(self))(r, thrown, self.parameter_vector)
        u, xi = (np.array(part).ravel() for part in caught)
        return self.state_of(self.group.from_space(T_wb), xi, r, u)

    def state_at(
        self,
        pose: ArrayLike,
        *,
        shape: ArrayLike = (),
        shape_velocity: ArrayLike = (),
        momentum: ArrayLike = (),
    ) -> State:
        """The same from a flat pose of the group."""
        n = len(self.shape_coordinates)
        r = self._given_or_zero("shape", shape, n)
        u = self._given_or_zero("shape_velocity", shape_velocity, n)
        for s, value in zip(self.shape_coordinates, r, strict=True):
            if not s.low <= value <= s.high:
                stops = f"{s.low:g} to {s.high:g} {s.unit}"
                raise InputError(
                    f"vehicle {self.name!r}: shape {s.name} = {value:g} is beyond its stops, {stops}"
                )
        if self.dependent:
            u = np.array(_completed(Structure.of(self))(r, u, self.parameter_vector)).ravel()
        return self.state_of(pose, self._admissible(r, u, momentum), r, u)

    def _admissible(self, r: np.ndarray, u: np.ndarray, momentum: ArrayLike) -> np.ndarray:
        """xi of given shape velocity and p."""
        velocity = _velocity_with(Structure.of(self))
        n = velocity.size1_in(2)
        p = self._given_or_zero("momentum", momentum, n)
        return np.array(velocity(r, u, p, self.parameter_vector)).ravel()


@lru_cache(maxsize=64)
def _completed(structure: Structure) -> ca.Function:
    """(shape, velocities of what is not dependent, parameters) -> velocities of the whole shape."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    n = len(vehicle.shape_coordinates)
    r, u, parameters = ca.SX.sym("r", n), ca.SX.sym("u", n), ca.SX.sym("parameters", vehicle.parameter_count)
    whole = vehicle.completed(r, u, vehicle.symbols(parameters))
    return ca.Function("completed", [r, u, parameters], [ca.densify(whole)])


@lru_cache(maxsize=64)
def _caught(structure: Structure) -> ca.Function:
    """(shape, xi before, parameters) -> velocities (of the shape, xi) after the constraints have caught it, all that
    has no command of its own free to move."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    n, d = len(vehicle.shape_coordinates), vehicle.group.dim
    r, thrown = ca.SX.sym("r", n), ca.SX.sym("thrown", d)
    parameters, v = ca.SX.sym("parameters", vehicle.parameter_count), ca.SX.sym("v", n + d)
    q, moving = vehicle.symbols(parameters), len(vehicle.dynamic)
    own = ca.SX.sym("own", moving + vehicle.symmetry_basis(r, q).shape[1])
    u = vehicle.shape_velocity(r, own[:moving, 0], ca.SX.zeros(len(vehicle.controls)), q)
    admissible = ca.vertcat(u, vehicle.body_velocity(r, u, own[moving:, 0], q))
    mass = ca.substitute(
        ca.hessian(vehicle.lagrangian(r, v[:n, 0], v[n:, 0], q), v)[0], v, ca.SX.zeros(n + d)
    )
    along = ca.jacobian(admissible, own)
    before = ca.vertcat(ca.SX.zeros(n), thrown)
    after = along @ solve(along.T @ mass @ along, along.T @ mass @ before) if own.numel() else 0.0 * before
    return ca.Function("caught", [r, thrown, parameters], [ca.densify(after[:n]), ca.densify(after[n:])])


@lru_cache(maxsize=64)
def _velocity_with(structure: Structure) -> ca.Function:
    """(shape, its velocity, p, parameters) -> xi, where p is linear in it."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    n = len(vehicle.shape_coordinates)
    r, u, parameters = ca.SX.sym("r", n), ca.SX.sym("u", n), ca.SX.sym("parameters", vehicle.parameter_count)
    q = vehicle.symbols(parameters)
    basis = vehicle.symmetry_basis(r, q)
    c, p = (ca.SX.sym(name, basis.shape[1]) for name in "cp")
    xi = vehicle.body_velocity(r, u, c, q)
    if c.numel():
        value = basis.T @ vehicle.gradients(r, u, xi, q)[2]
        zero = ca.SX.zeros(c.numel())
        slope, at_rest = ca.substitute([ca.jacobian(value, c), value], [c], [zero])
        xi = replaced([xi], [c], [solve(slope, p - at_rest)])[0]
    return ca.Function("velocity", [r, u, p, parameters], [ca.densify(xi)])


@lru_cache(maxsize=64)
def _declared(structure: Structure) -> Constrained:
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    r, p = ca.SX.sym("r", len(vehicle.shape_coordinates)), ca.SX.sym("p", vehicle.parameter_count)
    n, d, q = r.shape[0], vehicle.group.dim, vehicle.symbols(p)
    u, xi, g = ca.SX.sym("u", n), ca.SX.sym("xi", d), ca.SX.sym("g", vehicle.group.pose_dim)
    controls = ca.SX.sym("controls", len(vehicle.controls))
    check_commanded(vehicle, vehicle.commanded)
    check_dependent(vehicle)
    piece(vehicle, "shape_force", {"r": r, "u": u, "controls": controls, "q": q}, (n, 1))
    piece(vehicle, "external_wrench", {"g": g, "xi": xi, "controls": controls, "q": q}, (d, 1))
    lagrangian = piece(vehicle, "lagrangian", {"r": r, "u": u, "xi": xi, "q": q}, (1, 1))
    constraints = piece(vehicle, "constraints", {"r": r, "q": q}, (None, n + d))
    basis = piece(vehicle, "symmetry_basis", {"r": r, "q": q}, (d, None))
    connection = piece(vehicle, "connection", {"r": r, "q": q}, (d, n))
    check_rank(
        f"vehicle {vehicle.name!r}",
        ca.Function("by_body", [r, p], [ca.densify(constraints[:, n:])]),
        usual_parameters(vehicle),
        [(s.low, s.high) for s in vehicle.shape_coordinates],
        [s.name for s in vehicle.shape_coordinates],
    )
    dynamic = vehicle.dynamic
    own = ca.SX.sym("own", len(dynamic) + basis.shape[1])
    return Constrained(
        r=r,
        u=u,
        xi=xi,
        controls=controls,
        p=p,
        lagrangian=lagrangian,
        constraints=constraints,
        connection=connection,
        basis=basis,
        dynamic=tuple(dynamic),
        own=own,
        shape_velocity=vehicle.shape_velocity(r, own[: len(dynamic), 0], controls, q),
        free=ca.jacobian(vehicle.completed(r, u, q), u)[:, [i for i in range(n) if i not in vehicle.bound]],
    )
