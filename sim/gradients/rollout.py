"""`rollout_gradient`: a rollout that knows its derivatives by inputs, start and parameters."""

import ctypes
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import table
from sim.compiler.lane_gradient import GradientCode, gradient_code
from sim.errors import InputError, one_of, quote
from sim.integrators import DEFAULT, Integrator, integrator, serving
from sim.trajectory import Controls, control_rows, step_count
from sim.vehicles import State, Vehicle
from sim.vehicles import vehicle as make_vehicle
from sim.vehicles.parameter import Value
from sim.vehicles.structure import Structure

DIRECTIONS = 8
"""Of a forward derivative, side by side."""
_KEPT_STEPS = 20_000
"""So many steps are kept whole for a derivative; of more there are as many checkpoints as steps between two of them."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """Of a number that a rollout's nodes lead to."""

    controls: np.ndarray
    """(N, n_controls)."""
    initial: np.ndarray
    """(dim,) by displacements of the start: of the pose in the body frame (rotation vector, translation), then of
    velocity and shape, as `vehicle.space.displaced` takes them."""
    parameters: Mapping[str, Value]
    """By name, scalar or as many as the parameter has."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """N steps of one vehicle, and what they do with small changes."""

    vehicle: Vehicle
    integrator: Integrator
    step_s: float
    time: np.ndarray
    """(N+1,) s."""
    nodes: np.ndarray = field(repr=False)
    """(N+1, node size)."""
    controls: np.ndarray = field(repr=False)
    """(N, n_controls)."""
    initial: State = field(repr=False)
    """Where it was asked to start; what a vehicle's constraints do not allow of it is not in `nodes`."""
    checkpoints: np.ndarray = field(repr=False)
    """(k, private size): states every `stride` steps."""
    stride: int

    def adjoint(self, weights: np.ndarray) -> Gradient:
        """The gradient of a number by everything, from its derivatives by the nodes.

        weights: (N+1, node size), or (node size,) by the last node alone. Raises InputError for another shape.
        """
        w, n = self._weights(weights), len(self.controls)
        code, p = self._code(1), self.vehicle.parameter_vector
        lam, gp, gu = np.zeros(code.y), np.zeros(len(p)), np.zeros(self.controls.shape)
        # The last node is where a further step under the last inputs begins.
        us = self.controls[-1:] if n else self.vehicle.neutral_controls[None]
        last = np.zeros(us.shape)
        ys, zs, _, _ = self._recorded(self.checkpoints[-1], us)
        self._pull_back(lam, gp, us, ys, zs, w[-1:], last)
        for k in reversed(range(len(self.checkpoints) - 1)):
            at = slice(k * self.stride, min((k + 1) * self.stride, n))
            ys, zs, _, _ = self._recorded(self.checkpoints[k], self.controls[at])
            self._pull_back(lam, gp, self.controls[at], ys, zs, w[at], gu[at])
        first = self.controls[0] if n else us[0]
        by_start, by_first, by_parameters = (
            np.array(part).ravel()
            for part in _start(Structure.of(self.vehicle), self.integrator)[0](
                self.initial.node, first, p, self.step_s, lam
            )
        )
        if n:
            gu[-1] += last[0]
            gu[0] += by_first
        return Gradient(gu, by_start, self._named(gp + by_parameters))

    def forward(
        self,
        *,
        controls: np.ndarray | None = None,
        initial: np.ndarray | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> np.ndarray:
        """(N+1, node size): how the nodes change along one direction; or (k, N+1, node size) along k of them.

        controls: ([k,] N, n_controls), initial: ([k,] dim) as in `Gradient`, parameters: name -> ([k,] [size]).
        What is not given stays. Raises InputError for shapes that do not fit.
        """
        du, d0, dp, single = self._directions(controls, initial, parameters or {})
        parts = [
            self._pushed(du[k : k + DIRECTIONS], d0[k : k + DIRECTIONS], dp[k : k + DIRECTIONS])
            for k in range(0, len(d0), DIRECTIONS)
        ]
        found = np.concatenate(parts)
        return found[0] if single else found

    def jacobian(self, parameters: tuple[str, ...] = ()) -> np.ndarray:
        """(N+1, node size, dim + parameters): of the nodes by the start's displacement, then by scalar parameters.

        A parameter of several numbers has as many columns. Raises InputError for a name that is none.
        """
        dim, places = self.vehicle.space.dim, [c for name in parameters for c in self._places(name)]
        count = dim + len(places)
        d0, dp = np.zeros((count, dim)), np.zeros((count, self.vehicle.parameter_count))
        d0[:dim] = np.eye(dim)
        dp[np.arange(dim, count), places] = 1.0
        du = np.zeros((count, *self.controls.shape))
        parts = [
            self._pushed(du[k : k + DIRECTIONS], d0[k : k + DIRECTIONS], dp[k : k + DIRECTIONS])
            for k in range(0, count, DIRECTIONS)
        ]
        return np.moveaxis(np.concatenate(parts), 0, -1)

    def _pushed(self, du: np.ndarray, d0: np.ndarray, dp: np.ndarray) -> np.ndarray:
        """(k, N+1, node size) along up to DIRECTIONS directions."""
        code, p, n, count = self._code(DIRECTIONS), self.vehicle.parameter_vector, len(self.controls), len(d0)
        spread = _spread(np.moveaxis(du, 0, -1)), _spread(dp.T)
        push = _start(Structure.of(self.vehicle), self.integrator)[1]
        first = self.controls[0] if n else self.vehicle.neutral_controls
        begun = [
            np.array(
                push(self.initial.node, first, p, self.step_s, d0[k], du[k, 0] if n else 0.0, dp[k])
            ).ravel()
            for k in range(count)
        ]
        dy = _spread(np.array(begun).T)
        dnodes = np.zeros((n + 1, self.nodes.shape[1], DIRECTIONS))
        bounds = [(k * self.stride, min((k + 1) * self.stride, n)) for k in range(len(self.checkpoints) - 1)]
        for k, (a, b) in enumerate(bounds):
            ys, zs, _, _ = self._recorded(self.checkpoints[k], self.controls[a:b])
            self._push(code, dy, self.controls[a:b], spread[0][a:b], spread[1], ys, zs, dnodes[a:b])
        us = self.controls[-1:] if n else self.vehicle.neutral_controls[None]
        ys, zs, _, _ = self._recorded(self.checkpoints[-1], us)
        last = spread[0][-1:] if n else np.zeros((1, us.shape[1], DIRECTIONS))
        self._push(code, dy.copy(), us, last, spread[1], ys, zs, dnodes[n:])
        return np.moveaxis(dnodes[..., :count], -1, 0)

    def _push(
        self,
        code: GradientCode,
        dy: np.ndarray,
        us: np.ndarray,
        dus: np.ndarray,
        dp: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        dnodes: np.ndarray,
    ) -> None:
        """Carry directions over some steps, in place."""
        p, h = self.vehicle.parameter_vector, np.array([self.step_s])
        given = [
            dy,
            *map(_repeated, (us,)),
            np.ascontiguousarray(dus),
            _repeated(p),
            dp,
            h,
            *map(_repeated, (ys, zs)),
        ]
        _call(code.tangent, len(us), *given, dnodes)

    def _pull_back(
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
        h = np.array([self.step_s])
        arrays = (lam, gp, us, self.vehicle.parameter_vector, h, ys, zs, np.ascontiguousarray(weights), gus)
        _call(self._code(1).adjoint, len(us), *arrays)

    def _recorded(
        self, y: np.ndarray, us: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return recorded(self._code(1), self.vehicle, self.step_s, y, us)

    def _code(self, width: int) -> GradientCode:
        return _codes(Structure.of(self.vehicle), self.integrator, width)

    def _weights(self, weights: np.ndarray) -> np.ndarray:
        w = np.asarray(weights, float)
        if w.shape == self.nodes.shape[1:]:
            whole = np.zeros(self.nodes.shape)
            whole[-1] = w
            return whole
        if w.shape != self.nodes.shape:
            raise InputError(f"weights are {w.shape}; allowed: {self.nodes.shape} or {self.nodes.shape[1:]}")
        return np.ascontiguousarray(w)

    def _directions(
        self, controls: np.ndarray | None, initial: np.ndarray | None, parameters: Mapping[str, object]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Each with k rows, and whether one direction was given alone."""
        shapes = {"controls": self.controls.shape, "initial": (self.vehicle.space.dim,)}
        ends = {
            name: np.asarray(v, float)
            for name, v in (("controls", controls), ("initial", initial))
            if v is not None
        }
        values = {name: np.asarray(v, float) for name, v in parameters.items()}
        given = {name: _rows(value, shapes[name], name) for name, value in ends.items()}
        by_name = {name: _rows(value, self._shape(name), name) for name, value in values.items()}
        counts = {len(rows) for rows in (*given.values(), *by_name.values())}
        if len(counts) > 1:
            raise InputError(
                f"directions of {', '.join(map(str, sorted(counts)))} rows; allowed: as many of each"
            )
        count = counts.pop() if counts else 1
        single = all(value.shape == shapes[name] for name, value in ends.items()) and all(
            value.shape == self._shape(name) for name, value in values.items()
        )
        dp = np.zeros((count, self.vehicle.parameter_count))
        for name, rows in by_name.items():
            dp[:, self._places(name)] = rows.reshape(count, -1)
        none = {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
        return given.get("controls", none["controls"]), given.get("initial", none["initial"]), dp, single

    def _shape(self, name: str) -> tuple[int, ...]:
        value = self.vehicle.values.get(name)
        return () if value is None or isinstance(value, int | float) else (len(value),)

    def _places(self, name: str) -> list[int]:
        return list(places_of(self.vehicle, name))

    def _named(self, flat: np.ndarray) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for q in self.vehicle.parameters:
            part = flat[list(places_of(self.vehicle, q.name))]
            scalar = isinstance(q.default, int | float)
            found[q.name] = float(part[0]) if scalar else tuple(part.tolist())
        return found

    @cached_property
    def final(self) -> State:
        """State at the end."""
        return self.vehicle.state_at_node(self.nodes[-1])


def rollout_gradient(
    vehicle: Vehicle | str,
    method: str | Integrator | None = None,
    *,
    step: float = 0.01,
    duration: float = 10.0,
    initial: State | None = None,
    controls: Controls = None,
    checkpoint_every: int | None = None,
) -> Rollout:
    """Roll a vehicle out, as `sim.simulate` does, into what can be differentiated exactly.

    controls: None, (n_controls,) or (N, n_controls). checkpoint_every: steps between two states that are kept; others
    are found again for a derivative, which bounds its memory. Raises InputError in one line, also where a step has no
    solution and for methods that divide their steps.
    """
    subject = make_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    if not isinstance(subject, Vehicle):
        raise InputError(f"vehicle = {quote(vehicle)} is none; allowed: a name, or sim.vehicle(...)")
    if callable(controls):
        raise InputError("controls are a function; allowed: None, or an array of what is held over the steps")
    if method is None:
        method = serving(DEFAULT, subject)
    scheme = method if isinstance(method, Integrator) else integrator(method)
    h, steps = step_count(step, duration)
    rows = control_rows(subject, controls, steps)
    us = np.ascontiguousarray(np.broadcast_to(rows, (steps, rows.shape[1])))
    state = subject.default_state() if initial is None else initial
    code = _codes(Structure.of(subject), scheme, 1)
    stride = checkpoint_every or (steps if steps <= _KEPT_STEPS else math.isqrt(steps))
    stride = max(min(stride, max(steps, 1)), 1)
    y = np.array(
        _start(Structure.of(subject), scheme)[2](state.node, rows[0], subject.parameter_vector, h)
    ).ravel()
    checkpoints, parts = [y], []
    for begin in range(0, steps, stride):
        _, _, nodes, y = recorded(code, subject, h, y, us[begin : begin + stride], begin)
        checkpoints.append(y)
        parts.append(nodes)
    _, _, last, _ = recorded(code, subject, h, y, us[-1:] if steps else rows[:1], steps)
    return Rollout(
        vehicle=subject,
        integrator=scheme,
        step_s=h,
        time=h * np.arange(steps + 1),
        nodes=np.concatenate([*parts, last]),
        controls=us,
        initial=state,
        checkpoints=np.array(checkpoints),
        stride=stride,
    )


def places_of(vehicle: Vehicle, name: str) -> range:
    """Where a parameter stands in the flat vector. Raises InputError for a name that is none."""
    at = 0
    for q in vehicle.parameters:
        if q.name == name:
            return range(at, at + q.size)
        at += q.size
    allowed = one_of((q.name for q in vehicle.parameters), name)
    raise InputError(f"vehicle {vehicle.name!r}: unknown parameter {quote(name)}; allowed: {allowed}")


def recorded(
    code: GradientCode, vehicle: Vehicle, h: float, y: np.ndarray, us: np.ndarray, begin: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """States (n, ny), unknowns (n, nz) and nodes (n, size) of some steps, and the state after them.

    begin: number of the first, to be told. Raises InputError where a step has no solution.
    """
    n, after = len(us), y.copy()
    ys, zs = np.empty((n, code.y)), np.empty((n, code.z))
    nodes = np.empty((n, vehicle.node_layout.size))
    done = _call(
        code.record,
        n,
        after,
        np.ascontiguousarray(us),
        vehicle.parameter_vector,
        np.array([h]),
        ys,
        zs,
        nodes,
    )
    if done < n:
        raise InputError(
            f"the step at t = {(begin + done) * h:g} s has no solution that is finite; allowed: shorter steps"
        )
    return ys, zs, nodes, after


def _codes(structure: Structure, scheme: Integrator, width: int) -> GradientCode:
    reason = scheme.serves(structure.vehicle)
    code = None if reason else gradient_code(structure, scheme, width)
    if code is None:
        raise InputError(
            reason
            or f"{scheme.name} divides its steps, or solves them as a whole: derivatives are not compiled for it"
        )
    return code


def _call(address: int, n: int, *arrays: np.ndarray) -> int:
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(address)
    at = table(arrays, ())  # kept: other threads run during the call, and take memory that nobody holds
    return int(function(at.ctypes.data, n))


def _spread(rows: np.ndarray) -> np.ndarray:
    """(..., k) with zeros up to DIRECTIONS."""
    out = np.zeros((*rows.shape[:-1], DIRECTIONS))
    out[..., : rows.shape[-1]] = rows
    return out


def _repeated(rows: np.ndarray) -> np.ndarray:
    """(..., DIRECTIONS): the same in all directions."""
    return np.repeat(rows[..., None], DIRECTIONS, axis=-1)


def _rows(value: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """(k, *shape). Raises InputError."""
    if value.shape == shape:
        return np.ascontiguousarray(value[None])
    if value.ndim == len(shape) + 1 and value.shape[1:] == shape and len(value):
        return np.ascontiguousarray(value)
    raise InputError(f"directions of {name} are {value.shape}; allowed: {shape} or (k, *{shape})")


@lru_cache(maxsize=32)
def _start(structure: Structure, scheme: Integrator) -> tuple[ca.Function, ca.Function, ca.Function]:
    """(pull back, push forward, value) of the private state at the start, by the start's displacement, u and p."""
    made = scheme.scheme(structure.vehicle)
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
