"""Starts, controls and parameters of a batch, validated and brought to one form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.environment.environment import default_start
from sim.platform.errors import InputError, one_of, quote
from sim.platform.validation import numbers
from sim.vehicles import State, Vehicle

States = None | State | Sequence[State] | np.ndarray


@dataclass(frozen=True, eq=False)
class Given:
    """One row for all lanes, or one a lane."""

    lanes: int
    nodes: np.ndarray
    """(1 or lanes, node size)."""
    controls: np.ndarray
    """(1 or lanes, 1 or steps, n_controls)."""
    parameters: np.ndarray
    """(1 or lanes, parameter count)."""


def given(
    vehicle: Vehicle,
    states: States,
    controls: object,
    parameters: Mapping[str, object] | None,
    steps: int,
) -> Given:
    """All that differs from lane to lane has as many rows. Raises InputError in one line."""
    parts = {
        "states": _nodes(vehicle, states),
        "controls": _controls(vehicle, controls, steps),
        "parameters": _parameters(vehicle, {} if parameters is None else parameters),
    }
    counts = {name: len(part) for name, part in parts.items() if len(part) != 1}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise InputError(f"a batch of {told}: lanes differ in number; allowed: one for all, or one a lane")
    lanes = next(iter(counts.values()), 1)
    if lanes == 0:
        raise InputError("a batch of no lanes; allowed: one or more")
    return Given(lanes, parts["states"], parts["controls"], parts["parameters"])


def _nodes(vehicle: Vehicle, states: States) -> np.ndarray:
    if states is None:
        return default_start(vehicle).node[None]
    if isinstance(states, State):
        states = [states]
    size = vehicle.node_layout.size
    if isinstance(states, Sequence) and all(isinstance(state, State) for state in states):
        rows = [state.node for state in states]
        if any(row.shape != (size,) for row in rows):
            raise InputError(f"states do not fit vehicle {vehicle.name!r}; allowed: vehicle.state(...)")
        return np.array(rows).reshape(len(rows), size)
    nodes = np.atleast_2d(numbers("states", states))
    if nodes.ndim != 2 or nodes.shape[1] != size:
        raise InputError(f"states are {nodes.shape}; allowed: vehicle.state(...), or nodes (lanes, {size})")
    return nodes


def _controls(vehicle: Vehicle, controls: object, steps: int) -> np.ndarray:
    n = len(vehicle.controls)
    if controls is None:
        return vehicle.neutral_controls[None, None]
    rows = np.atleast_1d(numbers("controls", controls))
    rows = rows[None, None] if rows.ndim == 1 else rows[None] if rows.ndim == 2 else rows
    if rows.ndim != 3 or rows.shape[2] != n or rows.shape[1] not in (1, steps):
        raise InputError(
            f"controls are {rows.shape}; allowed: ({n},), ({steps}, {n}), (lanes, 1, {n}) "
            f"or (lanes, {steps}, {n})"
        )
    return rows


def _parameters(vehicle: Vehicle, parameters: Mapping[str, object]) -> np.ndarray:
    """Raises InputError for a value out of range, and where lanes would have other equations."""
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters = {quote(parameters)} are refused; allowed: a dict of names and arrays")
    columns, at = vehicle.parameter_vector[None].copy(), {}
    start = 0
    for q in vehicle.parameters:
        at[q.name] = q, start
        start += q.size
    for name, value in parameters.items():
        if name not in at:
            raise InputError(
                f"vehicle {vehicle.name!r}: unknown parameter {quote(name)}; allowed: {one_of(at, name)}"
            )
        q, start = at[name]
        rows = np.atleast_1d(numbers(name, value))
        scalar = isinstance(q.default, int | float)
        rows = rows.reshape(-1, 1) if scalar and rows.ndim <= 1 else np.atleast_2d(rows)
        if rows.ndim != 2 or rows.shape[1] != q.size:
            raise InputError(f"{name} is {rows.shape}; allowed: (lanes,{'' if scalar else f' {q.size}'})")
        if (rows < q.low).any() or (rows > q.high).any():
            raise InputError(f"vehicle {vehicle.name!r}: {name} is out of range; allowed: {q.allowed}")
        if len(rows) > 1 and len(columns) == 1:
            columns = np.repeat(columns, len(rows), axis=0)
        if len(rows) not in (1, len(columns)):
            raise InputError(
                f"{name} has {len(rows)} rows beside {len(columns)}; allowed: as many lanes for all"
            )
        columns[:, start : start + q.size] = rows
        if q.optional and (rows == 0.0).all() != (name in vehicle.absent):
            raise InputError(
                f"{name} is optional and would change the equations; "
                f"allowed: sim.vehicle(..., {name}=...) with a value of its kind"
            )
    return columns
