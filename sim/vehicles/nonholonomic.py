"""Vehicles with a shape and constraints on velocity: wheels, blades, rolling (vehicles paper, section 5).

Their mechanics are in `reduced_motion.py`; here are their states, and the checks of what one declares.
"""

from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE2
from sim.platform.errors import InputError
from sim.symbolic import replaced, solve
from sim.vehicles.declaration import check_shown, piece
from sim.vehicles.form import Form
from sim.vehicles.nonholonomic_declaration import Constrained, check_commanded, check_constrained
from sim.vehicles.observable import Observable
from sim.vehicles.parametrised import Quantities
from sim.vehicles.rank import check_rank
from sim.vehicles.reduced import usual_parameters
from sim.vehicles.reduced_motion import ReducedMotion
from sim.vehicles.state import State
from sim.vehicles.structure import Structure
from sim.vehicles.support import Support


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
        """At rest: a velocity that it is put down with need not be admissible."""
        return self.state_of(self.group.from_space(T_wb), np.zeros(self.group.dim))

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
        return self.state_of(pose, self._admissible(r, u, momentum), r, u)

    def _admissible(self, r: np.ndarray, u: np.ndarray, momentum: ArrayLike) -> np.ndarray:
        """xi of given shape velocity and p."""
        velocity = _velocity_with(Structure.of(self))
        n = velocity.size1_in(2)
        p = self._given_or_zero("momentum", momentum, n)
        return np.array(velocity(r, u, p, self.parameter_vector)).ravel()


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
        shape_velocity=vehicle.shape_velocity(own[: len(dynamic), 0], controls),
    )
