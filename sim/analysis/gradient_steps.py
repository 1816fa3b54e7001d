"""Steps that remember what their derivatives need, and these derivatives, forward and back.

Compiled; or, where that would take too long, by equations that are evaluated as they are: unknowns by Newton's method,
the implicit function theorem for what they do. A matrix of slopes is made of as many directions as there are unknowns,
side by side, and factorised as numbers; nothing of it is written out.
"""

import ctypes
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import table
from sim.compiler.kernel_code import MOST_UNKNOWNS, gradient_code, tangent_code
from sim.control.planar_craft import driven_along
from sim.integrators import Integrator
from sim.integrators.multibody import rollout_scheme
from sim.multibody.arrays import PRISMATIC, REVOLUTE
from sim.multibody.symbolic import SymbolicTree
from sim.native.objects import Engine
from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.numbered_tree import numbered

_ACCURACY, _SETTLED, _SWEEPS = 1e-13, 1e-9, 30
"""Change of the unknowns beside their size at which they are found, at which no longer getting nearer is rounding, and
rounds in which they have to be found."""


@dataclass(frozen=True, eq=False)
class EvaluatedSteps:
    """Functions of y, z, u, p and h, columns each; directions are as many columns as are wanted."""

    y: int
    z: int
    _guess: ca.Function
    """(y, u, p, h) -> z."""
    _step: ca.Function
    """-> residual, state after the step, node."""
    _along: ca.Function
    """And changes of y, u, p and z -> those of the residual, the state after the step, the node."""
    _pull: ca.Function
    """And sensitivities to the state after the step, to the node, and multipliers of the residual -> those to z, y, u
    and p."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(structure: Structure, integrator: Integrator) -> "EvaluatedSteps":
        """Of a pair."""
        made = rollout_scheme(integrator, structure)
        i, none = made.inputs, ca.SX.zeros(made.inputs.w.shape)
        wanted = (made.residual, made.y_next, made.node, made.guess)
        residual, following, node, guess = (ca.densify(x) for x in ca.substitute(list(wanted), [i.w], [none]))
        given, moved = [made.y, made.z, i.u, i.p, i.h], (made.y, i.u, i.p, made.z)
        directions = [ca.SX.sym("d", x.numel()) for x in moved]
        told = ca.vertcat(residual, following, node)
        along = ca.densify(ca.jtimes(told, ca.vertcat(*moved), ca.vertcat(*directions)))
        ends = np.cumsum([0, residual.numel(), following.numel(), node.numel()]).tolist()
        weights = [ca.SX.sym("w", x.numel()) for x in (following, node, residual)]
        total = ca.dot(weights[0], following) + ca.dot(weights[1], node) + ca.dot(weights[2], residual)
        order = (made.z, made.y, i.u, i.p)
        slope = ca.densify(ca.gradient(total, ca.vertcat(*order)))
        parts = np.cumsum([0, *(x.numel() for x in order)]).tolist()
        shared = {"cse": True}
        return EvaluatedSteps(
            made.y.numel(),
            made.z.numel(),
            ca.Function("guess", [made.y, i.u, i.p, i.h], [guess], shared),
            ca.Function("step", given, [residual, following, node], shared),
            ca.Function("along", [*given, *directions], ca.vertsplit(along, ends), shared),
            ca.Function("pull", [*given, *weights], ca.vertsplit(slope, parts), shared),
        )

    def record(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        nodes: np.ndarray,
    ) -> int:
        """As `kernel_code.RECORD` has it."""
        for k, u in enumerate(us):
            z, last = np.array(self._guess(y, u, p, h)).ravel(), np.inf
            for _ in range(_SWEEPS):
                residual = np.array(self._step(y, z, u, p, h)[0]).ravel()
                if not np.isfinite(residual).all():
                    return k
                change = np.linalg.solve(self._slopes(y, z, u, p, h), residual)
                z -= change
                left = np.abs(change).sum() / (1.0 + np.abs(z).sum())
                if left <= _ACCURACY or _SETTLED > left > last / 2:
                    break
                last = left
            else:
                return k
            _, after, node = (np.array(x).ravel() for x in self._step(y, z, u, p, h))
            if not (np.isfinite(after).all() and np.isfinite(node).all()):
                return k
            ys[k], zs[k], nodes[k] = y, z, node
            y[:] = after
        return len(us)

    def adjoint(
        self,
        lam: np.ndarray,
        gp: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        weights: np.ndarray,
        gus: np.ndarray,
    ) -> None:
        """As `kernel_code.ADJOINT` has it."""
        for k in reversed(range(len(us))):
            at = (ys[k], zs[k], us[k], p, h)
            by_z = np.array(self._pull(*at, lam, weights[k], np.zeros(self.z))[0]).ravel()
            mu = np.linalg.solve(self._slopes(*at).T, -by_z)
            _, by_y, by_u, by_p = (np.array(x).ravel() for x in self._pull(*at, lam, weights[k], mu))
            lam[:] = by_y
            gus[k] += by_u
            gp += by_p

    def tangent(
        self,
        dy: np.ndarray,
        us: np.ndarray,
        dus: np.ndarray,
        p: np.ndarray,
        dp: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        dnodes: np.ndarray,
    ) -> None:
        """As `kernel_code.TANGENT` has it; the directions are columns."""
        for k, u in enumerate(us):
            at, moved = (ys[k], zs[k], u, p, h), (dy, dus[k], dp)
            left = np.array(self._along(*at, *moved, np.zeros((self.z, dy.shape[1])))[0])
            dz = np.linalg.solve(self._slopes(*at), -left)
            _, after, node = (np.array(x) for x in self._along(*at, *moved, dz))
            dy[:], dnodes[k] = after, node

    def _slopes(self, *at: np.ndarray) -> np.ndarray:
        """(z, z) of the residual by the unknowns."""
        still = (np.zeros(self.y), np.zeros(at[2].size), np.zeros(at[3].size))
        return np.array(self._along(*at, *still, np.eye(self.z))[0])


_CLOSED_M = 1e-12
"""Gaps of loops where a rollout begins, at most."""
DIRECTIONS = 8
"""Of a forward derivative, side by side."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Of one vehicle with its parameters, by one method."""

    vehicle: Vehicle
    subject: Vehicle
    """The same as its equations are differentiated: a tree of joints by the numbers of its arrays."""
    slopes: np.ndarray | None
    """(the subject's parameters, the vehicle's) where they are not the same."""
    integrator: Integrator
    step_s: float
    code: "CompiledSteps | EvaluatedSteps"

    @staticmethod
    def of(vehicle: Vehicle, scheme: Integrator, step_s: float) -> "Steps":
        """Raises InputError for what moves a vehicle in a rollout and has no derivatives."""
        check_differentiable(vehicle, scheme)
        subject, slopes = numbered(vehicle) if isinstance(vehicle, ArticulatedVehicle) else (vehicle, None)
        many = isinstance(vehicle, ArticulatedVehicle) and _together(vehicle) > MOST_UNKNOWNS
        made = EvaluatedSteps.of if many else _compiled
        return Steps(vehicle, subject, slopes, scheme, step_s, made(Structure.of(subject), scheme))

    def start(self, node: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(ny,) private state."""
        p = self.subject.parameter_vector
        return np.array(self._at_start[2](node, u, p, self.step_s)).ravel()

    def start_back(
        self, node: np.ndarray, u: np.ndarray, lam: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a number with derivatives lam (ny,) by the state at the start: by displacement, u and parameters."""
        found = self._at_start[0](node, u, self.subject.parameter_vector, self.step_s, lam)
        by_start, by_u, by_parameters = (np.array(part).ravel() for part in found)
        return by_start, by_u, by_parameters

    @property
    def numbers(self) -> int:
        """How many parameters its equations have."""
        return self.subject.parameter_count

    def by_own(self, gp: np.ndarray) -> np.ndarray:
        """A gradient by the vehicle's own parameters, of one by those of its equations."""
        return gp if self.slopes is None else np.einsum("ij,i->j", self.slopes, gp)

    def of_equations(self, dp: np.ndarray) -> np.ndarray:
        """How parameters of its equations change with the vehicle's own; (parameters, ...) each."""
        return dp if self.slopes is None else np.einsum("ij,j...->i...", self.slopes, dp)

    def start_along(
        self, node: np.ndarray, u: np.ndarray, d: np.ndarray, du: np.ndarray | float, dp: np.ndarray
    ) -> np.ndarray:
        """(ny,) how the state at the start changes with displacement, u and parameters."""
        p = self.subject.parameter_vector
        along = self._at_start[1](node, u, p, self.step_s, d, du, self.of_equations(dp))
        return np.array(along).ravel()

    def recorded(
        self, y: np.ndarray, us: np.ndarray, begin: int = 0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """States (n, ny), unknowns (n, nz) and nodes (n, size) of some steps, and the state after them.

        begin: number of the first, to be told. Raises InputError where a step has no solution.
        """
        n, after, h, p = len(us), y.copy(), np.array([self.step_s]), self.subject.parameter_vector
        ys, zs = np.empty((n, self.code.y)), np.empty((n, self.code.z))
        nodes = np.empty((n, self.vehicle.node_layout.size))
        done = self.code.record(after, np.ascontiguousarray(us), p, h, ys, zs, nodes)
        if done < n:
            at = (begin + done) * self.step_s
            raise InputError(
                f"the step at t = {at:g} s has no solution that is finite; allowed: shorter steps"
            )
        return ys, zs, nodes, after

    def pull_back(
        self,
        lam: np.ndarray,
        gp: np.ndarray,
        us: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        weights: np.ndarray,
        gus: np.ndarray,
    ) -> None:
        """The adjoint over some steps, in place."""
        p, h = self.subject.parameter_vector, np.array([self.step_s])
        self.code.adjoint(lam, gp, us, p, h, ys, zs, np.ascontiguousarray(weights), gus)

    def push(
        self,
        dy: np.ndarray,
        us: np.ndarray,
        dus: np.ndarray,
        dp: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        dnodes: np.ndarray,
    ) -> None:
        """Carry DIRECTIONS directions over some steps, in place."""
        p, h = self.subject.parameter_vector, np.array([self.step_s])
        along = self.of_equations(dp)
        self.code.tangent(dy, us, np.ascontiguousarray(dus), p, along, h, ys, zs, dnodes)

    @property
    def _at_start(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        return _start(Structure.of(self.subject), self.integrator)


def side_by_side(rows: np.ndarray) -> np.ndarray:
    """(..., k) with zeros up to DIRECTIONS."""
    out = np.zeros((*rows.shape[:-1], DIRECTIONS))
    out[..., : rows.shape[-1]] = rows
    return out


def _repeated(rows: np.ndarray) -> np.ndarray:
    """(..., DIRECTIONS): the same in all directions."""
    return np.repeat(rows[..., None], DIRECTIONS, axis=-1)


def _call(code: Engine, name: str, n: int, *arrays: np.ndarray) -> int:
    """What a function of the code returns for the addresses of arrays and a number."""
    taken = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    function = taken(code.get_function_address(name))
    at = table(arrays, ())  # kept: other threads run during the call, and take memory that nobody holds
    return int(function(at.ctypes.data, n))


def check_differentiable(vehicle: Vehicle, scheme: Integrator) -> None:
    """Raises InputError where `sim.simulate` has what derivatives would leave out, or where there are none."""
    reason = scheme.serves(vehicle)
    if reason:
        raise InputError(reason)
    if vehicle.support is Support.WATER:
        flat = ", or the mechanics of this one on flat water, sim.planner.calm_water of it"
        raise InputError(
            f"the water that carries a {vehicle.name} has no derivatives; allowed: vehicles that it does not carry"
            f"{flat if driven_along(vehicle) else ''}"
        )
    if vehicle.form not in scheme.forms:
        raise InputError(
            f"{scheme.name} moves a {vehicle.name} by a recursion over its joints, of which there are no equations; "
            "allowed: vehicles that are no trees of joints, or variational"
        )


def _together(vehicle: ArticulatedVehicle) -> int:
    """Unknowns of its step that are solved for together."""
    return vehicle.tree.nv + (len(vehicle.independent_gaps) if isinstance(vehicle, ClosedVehicle) else 0)


def begun_closed(vehicle: Vehicle, state: State) -> State:
    """The state with loops of joints closed. Raises InputError where one is open by more than
    `multibody.loops.OPEN_MAX_M`."""
    if not isinstance(vehicle, ClosedVehicle):
        return state
    at = vehicle.node_layout
    closed = vehicle.closure.closed(state.node[at.pose], state.node[at.velocity], _CLOSED_M)
    return vehicle.state_at_node(np.concatenate(closed))


def check_limits(vehicle: Vehicle, nodes: np.ndarray, step_s: float) -> None:
    """Raises InputError with the moment at which a joint or a tendon of a tree is beyond a limit, whose spring is no
    part of the equations."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return
    a = vehicle.tree.arrays
    limited = [
        (vehicle.tree.velocity_names[a.v_at[i]], nodes[:, a.q_at[i]], *a.limits[a.v_at[i]])
        for i in np.flatnonzero((a.kind == REVOLUTE) | (a.kind == PRISMATIC))
    ]
    if a.springs[:, 4].any():
        q = ca.SX.sym("q", vehicle.tree.nq)
        lengths_of = ca.Function("lengths", [q], [SymbolicTree(vehicle.tree).spring_lengths(q)])
        lengths = np.array(lengths_of(nodes[:, : vehicle.tree.nq].T))
        limited += [
            (vehicle.tree.spring_names[k], lengths[k], *a.springs[k, 1:3])
            for k in np.flatnonzero(a.springs[:, 4])
        ]
    for name, x, low, high in limited:
        beyond = np.flatnonzero((x < low) | (x > high))
        if len(beyond):
            raise InputError(
                f"{quote(name)} is beyond its limit at t = {beyond[0] * step_s:g} s, where a spring acts that has no "
                f"derivatives; allowed: {low:g} to {high:g}"
            )


@dataclass(frozen=True, eq=False)
class CompiledSteps:
    """Machine code of a pair."""

    structure: Structure
    integrator: Integrator
    y: int
    """Numbers of the private state."""
    z: int
    """Unknowns of a step."""
    code: Engine

    def record(self, y: np.ndarray, us: np.ndarray, *others: np.ndarray) -> int:
        """Of arrays as `kernel_code.RECORD` has them."""
        return _call(self.code, "record", len(us), y, us, *others)

    def adjoint(self, lam: np.ndarray, gp: np.ndarray, us: np.ndarray, *others: np.ndarray) -> None:
        """Of arrays as `kernel_code.ADJOINT` has them."""
        _call(self.code, "adjoint", len(us), lam, gp, us, *others)

    def tangent(
        self,
        dy: np.ndarray,
        us: np.ndarray,
        dus: np.ndarray,
        p: np.ndarray,
        dp: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        dnodes: np.ndarray,
    ) -> None:
        """Along DIRECTIONS directions, of arrays as `kernel_code.TANGENT` has them."""
        code = tangent_code(self.structure, self.integrator, DIRECTIONS)
        given = (dy, _repeated(us), dus, _repeated(p), dp, h, _repeated(ys), _repeated(zs))
        _call(code, "tangent", len(us), *given, dnodes)


def _compiled(structure: Structure, scheme: Integrator) -> CompiledSteps:
    code = gradient_code(structure, scheme)
    if code is None:
        raise InputError(
            f"{scheme.name} divides its steps, or solves them as a whole: derivatives are not compiled for it; "
            "allowed: methods of a fixed step"
        )
    made = rollout_scheme(scheme, structure)
    return CompiledSteps(structure, scheme, made.y.numel(), made.z.numel(), code)


@lru_cache(maxsize=32)
def _start(structure: Structure, scheme: Integrator) -> tuple[ca.Function, ca.Function, ca.Function]:
    """(pull back, push forward, value) of the private state at the start, by the start's displacement, u and p."""
    made = rollout_scheme(scheme, structure)
    i, space = made.inputs, structure.vehicle.space
    d = ca.SX.sym("d", space.dim)
    start = ca.substitute(made.start, i.w, ca.SX.zeros(i.w.shape))
    moved = ca.substitute(start, i.node, space.displaced(i.node, d))
    lam = ca.SX.sym("lam", start.numel())
    dd, du, dp = ca.SX.sym("dd", space.dim), ca.SX.sym("du", i.u.numel()), ca.SX.sym("dp", i.p.numel())
    given, zero = [i.node, i.u, i.p, i.h], ca.SX.zeros(space.dim)

    def at_start(expression: ca.SX) -> ca.SX:
        return ca.densify(ca.substitute(expression, d, zero))

    back = [at_start(ca.jtimes(moved, x, lam, True)) for x in (d, i.u, i.p)]
    along = sum((ca.jtimes(moved, x, w) for x, w in ((d, dd), (i.u, du), (i.p, dp)) if x.numel()), ca.SX(0))
    return (
        ca.Function("back", [*given, lam], back),
        ca.Function("along", [*given, dd, du, dp], [at_start(along)]),
        ca.Function("start", given, [ca.densify(start)]),
    )
