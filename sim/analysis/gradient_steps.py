"""Compiled steps that remember what their derivatives need, and these derivatives, forward and back.

Of trees of joints, equations have parameters: those of the numbers in a tree's arrays that its parameters change. A
declared tree is made of numbers, and how these depend on its parameters is Python of whoever declares it. It is taken
as it is: the arrays are made anew at values around the present ones, and differences of sixth order tell the slopes, of
polynomials of that degree (masses, lengths, inertias) to rounding. Equations have the numbers themselves as parameters,
in which their derivatives are exact.
"""

import copy
import ctypes
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.columns import table
from sim.compiler.kernel_code import MOST_UNKNOWNS, GradientCode, gradient_code, tangent_code
from sim.control.planar_craft import driven_along
from sim.integrators import Integrator
from sim.integrators.multibody import rollout_scheme
from sim.multibody.arrays import PRISMATIC, REVOLUTE
from sim.multibody.symbolic import SymbolicTree
from sim.platform.errors import InputError, quote
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.parameters import Parameter, Quantities

_SHARE = 0.01
"""Of a parameter's value, between two of the values that slopes are taken from."""
_ROUNDING = 1e-11
"""Of an entry and its slope, below which it does not change."""
_POINTS = np.arange(7.0)
_LEFT_OUT = ("limits", "limit_stiffness", "limit_damping")
"""What equations of a step do not have."""


@dataclass(frozen=True, eq=False)
class ArrayNumbers:
    """Numbers of a tree's arrays and of its loops' that are parameters of its equations."""

    places: tuple[tuple[str, int], ...]
    """(array, place in it, flat)."""
    others: tuple[bytes, ...]
    """Arrays with zeros there: what else the equations consist of."""

    def placed(self, arrays: Any, p: ca.SX) -> Any:
        """A named tuple of arrays, with entries of p at the places that are in them."""
        found = {}
        for name in arrays._fields:
            own = [(k, at) for k, (array, at) in enumerate(self.places) if array == name]
            if own:
                entries = getattr(arrays, name).astype(object)
                for k, at in own:
                    entries.flat[at] = p[k]
                found[name] = entries
        return arrays._replace(**found)


class NumberedTree(ArticulatedVehicle):
    """What `numbered` makes of a vehicle: numbers of its arrays are parameters, before its own."""

    numbers: ArrayNumbers

    def symbolic_with(self, p: ca.SX) -> tuple[SymbolicTree, Quantities]:
        place, loops = self.numbers.placed, None
        if isinstance(self, ClosedVehicle):
            loops = place(self.closure.rigid, p)
        return SymbolicTree(self.tree, place(self.tree.arrays, p), loops), self.symbols(p)


@lru_cache(maxsize=32)
def numbered(vehicle: ArticulatedVehicle) -> tuple[NumberedTree, np.ndarray]:
    """The vehicle with numbers of its arrays as parameters; and (these parameters, its own) how they change with its
    own."""
    p, made = vehicle.parameter_vector, copy.copy(vehicle)
    values, slopes = _arrays(vehicle, p), _slopes(vehicle, p)
    places = tuple(
        (name, int(at)) for name, slope in slopes.items() for at in np.flatnonzero(slope.any(axis=1))
    )
    others = []
    for name, value in values.items():
        rest = value.copy()
        rest.flat[[at for array, at in places if array == name]] = 0
        others.append(rest.tobytes())
    vars(made)["tree"] = vehicle.tree
    vars(made).pop("symbolic", None)
    if isinstance(vehicle, ClosedVehicle):
        vars(made).update(closure=vehicle.closure, independent_gaps=vehicle.independent_gaps)
        others.append(vehicle.independent_gaps.tobytes())
    made.__class__ = _numbered_kind(type(vehicle))
    assert isinstance(made, NumberedTree)
    made.numbers = ArrayNumbers(places, tuple(others))
    first = Parameter("array_numbers", "", (0.0,) * len(places), -np.inf, np.inf, "Of arrays.")
    made.parameters, made.values = (first, *vehicle.parameters), {**vehicle.values, first.name: first.default}
    made._numbers = np.r_[[values[name].flat[at] for name, at in places], p]
    return made, np.vstack([*(slopes[name][at] for name, at in places), np.eye(len(p))])


def numbers_of_rows(
    vehicle: ArticulatedVehicle, made: NumberedTree, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of parameters (n, parameter count): (n, count) those of what `numbered` made of the vehicle, and (n,) whether its
    equations hold with them."""
    found = np.empty((len(rows), made.parameter_count))
    fits = np.empty(len(rows), bool)
    places: dict[str, list[int]] = {}
    for name, at in made.numbers.places:
        places.setdefault(name, []).append(at)
    base, limits = _arrays(vehicle, vehicle.parameter_vector), vehicle.tree.arrays.limits
    for k, p in enumerate(rows):
        arrays = _arrays(vehicle, p)
        found[k] = np.r_[[arrays[name].flat[at] for name, at in made.numbers.places], p]
        fits[k] = np.array_equal(vehicle.tree_with(p).arrays.limits, limits)
        for name, value in arrays.items():
            same = value.shape == base[name].shape
            fits[k] &= same and not np.delete(value.ravel() != base[name].ravel(), places.get(name, [])).any()
    return found, fits


@lru_cache(maxsize=64)
def _numbered_kind(kind: type[ArticulatedVehicle]) -> type[NumberedTree]:
    return type(kind.__name__, (NumberedTree, kind), {})


def _arrays(vehicle: ArticulatedVehicle, p: np.ndarray) -> dict[str, np.ndarray]:
    """By name, with parameters p."""
    tree = vehicle.tree_with(p)
    found: dict[str, np.ndarray] = dict(tree.arrays._asdict())
    if isinstance(vehicle, ClosedVehicle):
        found |= type(vehicle.closure)(tree, vehicle.loops_with(p)).rigid._asdict()
    return {name: value for name, value in found.items() if name not in _LEFT_OUT}


def _slopes(vehicle: ArticulatedVehicle, p: np.ndarray) -> dict[str, np.ndarray]:
    """(entries, parameters) of each array of floats."""
    at, columns = 0, list[dict[str, np.ndarray]]()
    for q in vehicle.parameters:
        for k in range(at, at + q.size):
            columns.append({} if q.structural else _slope(vehicle, p, k, q.low, q.high))
        at += q.size
    plain = {name: value for name, value in _arrays(vehicle, p).items() if value.dtype.kind == "f"}
    nothing = {name: np.zeros(value.size) for name, value in plain.items()}
    return {
        name: np.column_stack([column.get(name, nothing[name]) for column in columns])
        if columns
        else np.zeros((value.size, 0))
        for name, value in plain.items()
    }


def _slope(
    vehicle: ArticulatedVehicle, p: np.ndarray, k: int, low: float, high: float
) -> dict[str, np.ndarray]:
    """Of all arrays by one parameter, from values to both sides as far as its bounds allow."""
    step = min(_SHARE * max(abs(p[k]), _SHARE), (high - low) / _POINTS[-1])
    if not step > 0.0:
        return {}
    begin = float(np.clip(p[k] - 3.0 * step, low, high - 6.0 * step))
    begin = p[k] - round((p[k] - begin) / step) * step
    around = begin + step * _POINTS
    # Weights of a polynomial's slope at p[k] through the values.
    powers = np.vander((around - p[k]) / step, increasing=True).T
    weights = np.linalg.solve(powers, np.eye(len(around))[1]) / step
    weights[np.abs(weights) < 1e-9 / step] = 0.0
    now, totals = _arrays(vehicle, p), dict[str, np.ndarray]()
    sizes: dict[str, np.ndarray] = {}
    for weight, value in zip(weights, around, strict=True):
        if not weight:
            continue
        changed = p.copy()
        changed[k] = value
        for name, array in _arrays(vehicle, changed).items():
            if array.dtype.kind == "f" and array.shape == now[name].shape:
                flat = array.ravel()
                totals[name] = totals.get(name, 0.0) + weight * flat
                sizes[name] = sizes.get(name, 0.0) + np.abs(weight * flat)
    return {
        name: np.where(np.abs(total) > _ROUNDING * sizes[name], total, 0.0) for name, total in totals.items()
    }


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
    code: GradientCode

    @staticmethod
    def of(vehicle: Vehicle, scheme: Integrator, step_s: float) -> "Steps":
        """Raises InputError for what moves a vehicle in a rollout and has no derivatives."""
        check_differentiable(vehicle, scheme)
        subject, slopes = numbered(vehicle) if isinstance(vehicle, ArticulatedVehicle) else (vehicle, None)
        return Steps(vehicle, subject, slopes, scheme, step_s, _code(Structure.of(subject), scheme))

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
        done = _call(self.code.record, n, after, np.ascontiguousarray(us), p, h, ys, zs, nodes)
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
        arrays = (lam, gp, us, p, h, ys, zs, np.ascontiguousarray(weights), gus)
        _call(self.code.adjoint, len(us), *arrays)

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
        code = tangent_code(Structure.of(self.subject), self.integrator, DIRECTIONS)
        p, h = _repeated(self.subject.parameter_vector), np.array([self.step_s])
        given = (
            *(dy, _repeated(us), np.ascontiguousarray(dus), p, self.of_equations(dp), h),
            *(_repeated(ys), _repeated(zs)),
        )
        _call(code.tangent, len(us), *given, dnodes)

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


def _call(address: int, n: int, *arrays: np.ndarray) -> int:
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(address)
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
    if isinstance(vehicle, ArticulatedVehicle):
        closing = len(vehicle.independent_gaps) if isinstance(vehicle, ClosedVehicle) else 0
        if vehicle.tree.nv + closing > MOST_UNKNOWNS:
            forces = f" and {closing} forces that close loops, which are" if closing else " that are"
            raise InputError(
                f"a {vehicle.name} has {vehicle.tree.nv} degrees of freedom{forces} solved for together; "
                f"allowed: vehicles of joints with at most {MOST_UNKNOWNS}, for derivatives"
            )


def begun_closed(vehicle: Vehicle, state: State) -> State:
    """The state with loops of joints closed. Raises InputError where one is open by more than
    `multibody.loops.OPEN_MAX_M`."""
    if not isinstance(vehicle, ClosedVehicle):
        return state
    at = vehicle.node_layout
    closed = vehicle.closure.closed(state.node[at.pose], state.node[at.velocity], _CLOSED_M)
    return vehicle.state_at_node(np.concatenate(closed))


def check_limits(vehicle: Vehicle, nodes: np.ndarray, step_s: float) -> None:
    """Raises InputError with the moment at which a joint of a tree is beyond a limit, whose spring is no part of the
    equations."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return
    a = vehicle.tree.arrays
    for i in np.flatnonzero((a.kind == REVOLUTE) | (a.kind == PRISMATIC)):
        q, (low, high) = nodes[:, a.q_at[i]], a.limits[a.v_at[i]]
        beyond = np.flatnonzero((q < low) | (q > high))
        if len(beyond):
            joint = vehicle.tree.velocity_names[a.v_at[i]]
            raise InputError(
                f"{quote(joint)} is beyond its limit at t = {beyond[0] * step_s:g} s, where a spring acts that has no "
                f"derivatives; allowed: {low:g} to {high:g}"
            )


def _code(structure: Structure, scheme: Integrator) -> GradientCode:
    code = gradient_code(structure, scheme)
    if code is None:
        raise InputError(
            f"{scheme.name} divides its steps, or solves them as a whole: derivatives are not compiled for it; "
            "allowed: methods of a fixed step"
        )
    return code


@lru_cache(maxsize=32)
def _start(structure: Structure, scheme: Integrator) -> tuple[ca.Function, ca.Function, ca.Function]:
    """(pull back, push forward, value) of the private state at the start, by the start's displacement, u and p."""
    made = rollout_scheme(scheme, structure.vehicle)
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
