"""`rollout_gradient`: a rollout that knows its derivatives by inputs, start and parameters, forward and adjoint."""

import math
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

import numpy as np

from sim.analysis.gradient_steps import DIRECTIONS, Steps, begun_closed, check_limits, side_by_side
from sim.integrators import Integrator
from sim.platform.errors import InputError, numbers, one_of, quote, whole
from sim.platform.values import dataclass
from sim.steppers.trajectory import (
    Controls,
    checked_method,
    checked_start,
    control_rows,
    step_count,
)
from sim.vehicles import State, Vehicle, checked_vehicle
from sim.vehicles.forms.parameters import Value


def places_of(vehicle: Vehicle, name: str) -> range:
    """Where a parameter stands in the flat vector. Raises InputError for a name that is none."""
    at = 0
    for q in vehicle.parameters:
        if q.name == name:
            return range(at, at + q.size)
        at += q.size
    allowed = one_of((q.name for q in vehicle.parameters), name)
    raise InputError(f"vehicle {vehicle.name!r}: unknown parameter {quote(name)}; allowed: {allowed}")


def shape_of(vehicle: Vehicle, name: str) -> tuple[int, ...]:
    """Of a parameter's value: () for one number."""
    value = vehicle.values.get(name)
    return () if value is None or isinstance(value, int | float) else (len(value),)


def by_name(vehicle: Vehicle, flat: np.ndarray) -> dict[str, Value]:
    """The entries of a flat vector, as values of parameters are."""
    found: dict[str, Value] = {}
    for q in vehicle.parameters:
        part = flat[list(places_of(vehicle, q.name))]
        scalar = isinstance(q.default, int | float)
        found[q.name] = float(part[0]) if scalar else tuple(part.tolist())
    return found


@dataclass(frozen=True, eq=False)
class Directions:
    """k of them."""

    controls: np.ndarray
    """(k, N, n_controls)."""
    initial: np.ndarray
    """(k, dim)."""
    parameters: np.ndarray
    """(k, parameter count), flat."""

    def __len__(self) -> int:
        return len(self.initial)

    def part(self, begin: int, count: int) -> "Directions":
        """At most `count` of them, from one on."""
        at = slice(begin, begin + count)
        return Directions(self.controls[at], self.initial[at], self.parameters[at])

    @staticmethod
    def of_start(vehicle: Vehicle, steps: int, names: tuple[str, ...]) -> "Directions":
        """One by one: every displacement of the start, then every number of these parameters.

        Raises InputError for a name that is none.
        """
        dim, places = vehicle.space.dim, [c for name in names for c in places_of(vehicle, name)]
        count = dim + len(places)
        initial, parameters = np.zeros((count, dim)), np.zeros((count, vehicle.parameter_count))
        initial[:dim] = np.eye(dim)
        parameters[np.arange(dim, count), places] = 1.0
        return Directions(np.zeros((count, steps, len(vehicle.controls))), initial, parameters)


def checked_directions(
    vehicle: Vehicle,
    steps: int,
    controls: np.ndarray | None,
    initial: np.ndarray | None,
    parameters: Mapping[str, object],
) -> tuple[Directions, bool]:
    """Those of `Rollout.forward`, and whether one was given alone. Raises InputError for shapes that do not fit."""
    if not isinstance(parameters, Mapping):
        raise InputError(
            f"parameters = {quote(parameters)} are refused; allowed: a dict of names and numbers"
        )
    shapes = {"controls": (steps, len(vehicle.controls)), "initial": (vehicle.space.dim,)}
    ends = {
        name: numbers(f"directions of {name}", v)
        for name, v in (("controls", controls), ("initial", initial))
        if v is not None
    }
    for name in parameters:
        places_of(vehicle, name)
    values = {name: numbers(f"directions of {name}", v) for name, v in parameters.items()}
    given = {name: _rows(value, shapes[name], name) for name, value in ends.items()}
    named = {name: _rows(value, shape_of(vehicle, name), name) for name, value in values.items()}
    counts = {len(rows) for rows in (*given.values(), *named.values())}
    if len(counts) > 1:
        raise InputError(
            f"directions of {', '.join(map(str, sorted(counts)))} rows; allowed: as many of each"
        )
    count = counts.pop() if counts else 1
    single = all(value.shape == shapes[name] for name, value in ends.items()) and all(
        value.shape == shape_of(vehicle, name) for name, value in values.items()
    )
    flat = np.zeros((count, vehicle.parameter_count))
    for name, rows in named.items():
        flat[:, list(places_of(vehicle, name))] = rows.reshape(count, -1)
    none = {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
    found = Directions(given.get("controls", none["controls"]), given.get("initial", none["initial"]), flat)
    return found, single


def _rows(value: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """(k, *shape). Raises InputError."""
    if value.shape == shape:
        return np.ascontiguousarray(value[None])
    if value.ndim == len(shape) + 1 and value.shape[1:] == shape and len(value):
        return np.ascontiguousarray(value)
    raise InputError(f"directions of {name} are {value.shape}; allowed: {shape} or (k, *{shape})")


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
    """Where it was asked to start, loops of joints closed; what a vehicle's other constraints do not allow of it is not
    in `nodes`."""
    checkpoints: np.ndarray = field(repr=False)
    """(k, private size): states every `stride` steps."""
    stride: int

    def adjoint(self, weights: np.ndarray) -> Gradient:
        """The gradient of a number by everything, from its derivatives by the nodes.

        weights: (N+1, node size), or (node size,) by the last node alone. Raises InputError for another shape.
        """
        w, n, steps = self._weights(weights), len(self.controls), self._steps
        lam, gp = np.zeros(steps.code.y), np.zeros(steps.numbers)
        gu = np.zeros(self.controls.shape)
        # The last node is where a further step under the last inputs begins.
        us = self.controls[-1:] if n else self.vehicle.neutral_controls[None]
        last = np.zeros(us.shape)
        ys, zs, _, _ = steps.recorded(self.checkpoints[-1], us)
        steps.pull_back(lam, gp, us, ys, zs, w[-1:], last)
        for k in reversed(range(len(self.checkpoints) - 1)):
            at = slice(k * self.stride, min((k + 1) * self.stride, n))
            ys, zs, _, _ = steps.recorded(self.checkpoints[k], self.controls[at])
            steps.pull_back(lam, gp, self.controls[at], ys, zs, w[at], gu[at])
        first = self.controls[0] if n else us[0]
        by_start, by_first, by_parameters = steps.start_back(self.initial.node, first, lam)
        if n:
            gu[-1] += last[0]
            gu[0] += by_first
        return Gradient(gu, by_start, by_name(self.vehicle, steps.by_own(gp + by_parameters)))

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
        directions, single = checked_directions(
            self.vehicle, len(self.controls), controls, initial, {} if parameters is None else parameters
        )
        found = self._along(directions)
        return found[0] if single else found

    def jacobian(self, parameters: tuple[str, ...] = ()) -> np.ndarray:
        """(N+1, node size, dim + parameters): of the nodes by the start's displacement, then by scalar parameters.

        A parameter of several numbers has as many columns. Raises InputError for a name that is none.
        """
        if not isinstance(parameters, tuple | list):
            raise InputError(f"parameters = {quote(parameters)} are refused; allowed: names in a list")
        directions = Directions.of_start(self.vehicle, len(self.controls), tuple(parameters))
        return np.moveaxis(self._along(directions), 0, -1)

    @cached_property
    def final(self) -> State:
        """State at the end."""
        return self.vehicle.state_at_node(self.nodes[-1])

    @cached_property
    def _steps(self) -> Steps:
        return Steps.of(self.vehicle, self.integrator, self.step_s)

    def _along(self, directions: Directions) -> np.ndarray:
        """(k, N+1, node size) along k directions, DIRECTIONS side by side; steps are found again once for all."""
        n, steps = len(self.controls), self._steps
        us = self.controls[-1:] if n else self.vehicle.neutral_controls[None]
        parts = [directions.part(k, DIRECTIONS) for k in range(0, len(directions), DIRECTIONS)]
        begun = [self._begun(part) for part in parts]
        dus = [side_by_side(np.moveaxis(part.controls, 0, -1)) for part in parts]
        dps = [side_by_side(part.parameters.T) for part in parts]
        found = [np.zeros((n + 1, self.nodes.shape[1], DIRECTIONS)) for _ in parts]
        bounds = [(k * self.stride, min((k + 1) * self.stride, n)) for k in range(len(self.checkpoints) - 1)]
        for k, (a, b) in enumerate(bounds):
            ys, zs, _, _ = steps.recorded(self.checkpoints[k], self.controls[a:b])
            for dy, du, dp, dnodes in zip(begun, dus, dps, found, strict=True):
                steps.push(dy, self.controls[a:b], du[a:b], dp, ys, zs, dnodes[a:b])
        ys, zs, _, _ = steps.recorded(self.checkpoints[-1], us)
        still = np.zeros((1, us.shape[1], DIRECTIONS))
        for dy, du, dp, dnodes in zip(begun, dus, dps, found, strict=True):
            steps.push(dy.copy(), us, du[-1:] if n else still, dp, ys, zs, dnodes[n:])
        return np.concatenate(
            [np.moveaxis(rows[..., : len(part)], -1, 0) for part, rows in zip(parts, found, strict=True)]
        )

    def _begun(self, along: Directions) -> np.ndarray:
        """(ny, DIRECTIONS): how the state at the start changes along up to so many directions."""
        n = len(self.controls)
        first = self.controls[0] if n else self.vehicle.neutral_controls
        rows = [
            self._steps.start_along(
                self.initial.node,
                first,
                along.initial[k],
                along.controls[k, 0] if n else 0.0,
                along.parameters[k],
            )
            for k in range(len(along))
        ]
        return side_by_side(np.array(rows).T)

    def _weights(self, weights: np.ndarray) -> np.ndarray:
        w = numbers("weights", weights)
        if w.shape == self.nodes.shape[1:]:
            placed = np.zeros(self.nodes.shape)
            placed[-1] = w
            return placed
        if w.shape != self.nodes.shape:
            raise InputError(f"weights are {w.shape}; allowed: {self.nodes.shape} or {self.nodes.shape[1:]}")
        return np.ascontiguousarray(w)


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
    solution, for methods that divide their steps, and for what has no derivatives: water that carries a vehicle, and
    joints beyond their limits. Where loops of joints are closed, displacements of the
    start that would open them do nothing.
    """
    subject = checked_vehicle(vehicle)
    if callable(controls):
        raise InputError("controls are a function; allowed: None, or an array of what is held over the steps")
    scheme = checked_method(method, subject)
    h, steps = step_count(step, duration)
    rows = control_rows(subject, controls, steps)
    us = np.ascontiguousarray(np.broadcast_to(rows, (steps, rows.shape[1])))
    state = begun_closed(subject, checked_start(initial, subject))
    run = Steps.of(subject, scheme, h)
    stride = steps if steps <= _KEPT_STEPS else math.isqrt(steps)
    if checkpoint_every is not None:
        stride = whole("checkpoint_every", checkpoint_every, "steps")
    stride = max(min(stride, max(steps, 1)), 1)
    y = run.start(state.node, rows[0])
    checkpoints, parts = [y], []
    for begin in range(0, steps, stride):
        _, _, nodes, y = run.recorded(y, us[begin : begin + stride], begin)
        checkpoints.append(y)
        parts.append(nodes)
    _, _, last, _ = run.recorded(y, us[-1:] if steps else rows[:1], steps)
    nodes = np.concatenate([*parts, last])
    check_limits(subject, nodes, h)
    return Rollout(
        vehicle=subject,
        integrator=scheme,
        step_s=h,
        time=h * np.arange(steps + 1),
        nodes=nodes,
        controls=us,
        initial=state,
        checkpoints=np.array(checkpoints),
        stride=stride,
    )
