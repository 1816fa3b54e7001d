"""Runs under controls that are a function of time and state, evaluated at the method's own moments of every step."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler import OK
from sim.compiler.stepper import SampledStepper
from sim.environment.environment import Environment
from sim.platform.errors import InputError, number, numeric, one_of, quote
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Structure

Values = np.ndarray | list[float] | tuple[float, ...] | Mapping[str, float]
"""Of controls: numbers, or some by the controls' names with the others neutral."""
Law = Callable[[float, State], np.ndarray]
"""(seconds, state) -> (n_controls,)."""

_SAME = 1e-9


def sampled_run(
    kernel: SampledStepper,
    vehicle: Vehicle,
    state: State,
    law: Callable[[float, State], Values],
    h: float,
    count: int,
    around: Environment,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """(nodes (count+1, node size), controls at the steps' starts (count, n_controls), steps done, iterations).

    kernel: compiled with `sampled`, and with the inline part of the environment `around`. A state within a
    step lies between the node and the end of a trial step under the node's controls, on the group's geodesic: that is
    accurate to h^2. Raises InputError for controls that do not fit.
    """
    p, w = vehicle.parameter_vector, np.zeros(vehicle.wrench_size)
    nodes = np.full((count + 1, vehicle.node_layout.size), np.nan)
    us = np.zeros((count, len(vehicle.controls)))
    size = max(len(kernel.moments), 1)

    def at(time_s: float, node: np.ndarray) -> np.ndarray:
        return checked_controls(vehicle, law(time_s, vehicle.state_at_node(node)))

    def ahead_of_time() -> tuple[object, ...]:
        """What surrounds it, to look a step ahead."""
        return around.probe().env

    def rows(k: int, y: np.ndarray, node: np.ndarray, first: np.ndarray) -> np.ndarray:
        """All of a step's controls, flat."""
        if all(moment < _SAME for moment in kernel.moments):
            return np.tile(first, size)
        held, ahead = np.tile(first, size), y.copy()
        _, status, _ = kernel.advance(ahead, held, w, p, h, 1, ahead_of_time())
        end = kernel.node(ahead, held, p, h, env=ahead_of_time()) if status == OK else node
        out = []
        for moment in kernel.moments:
            there = between(vehicle, node, end, moment)
            out.append(first if moment < _SAME else at((k + moment) * h, there))
        return np.concatenate(out)

    # Only a start that is carried depends on the controls of its first step.
    begin = at(0.0, state.node) if around.acts and count else vehicle.neutral_controls
    y = kernel.start(state.node, np.tile(begin, size), p, h, ahead_of_time())
    node, total = state.node, 0
    for k in range(count):
        us[k] = at(k * h, node)
        u = rows(k, y, node, us[k])
        nodes[k] = kernel.node(y, u, p, h, env=ahead_of_time())
        _, status, iterations = kernel.advance(y, u, w, p, h, 1, around.env)
        total += iterations
        if status:
            return nodes, us, k, total
        node = kernel.node(y, u, p, h, env=ahead_of_time())
    if count and getattr(vehicle, "commanded", None):
        node = kernel.node(y, np.tile(at(count * h, node), size), p, h, env=ahead_of_time())
    nodes[count] = node
    return nodes, us, count, total


def control_numbers(vehicle: Vehicle, controls: object) -> np.ndarray:
    """An array of any shape, or (n_controls,) of some by name, the others neutral. Raises InputError.

    A tree's controls go by the names of the joints that they drive, too.
    """
    if isinstance(controls, Mapping):
        places = {control.name: k for k, control in enumerate(vehicle.controls)}
        if isinstance(vehicle, ArticulatedVehicle):
            places |= {joint: k for k, joint in enumerate(vehicle.torques)}
        row = vehicle.neutral_controls.copy()
        for name, value in controls.items():
            if name not in places:
                raise InputError(
                    f"controls of {vehicle.name!r}: unknown {quote(name)}; allowed: {one_of(places, name)}"
                )
            row[places[name]] = number(f"controls of {vehicle.name!r}: {name}", value)
        return row
    try:
        return numeric(controls)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"controls of {vehicle.name!r} are not numeric") from None


def checked_controls(vehicle: Vehicle, controls: object) -> np.ndarray:
    """(n_controls,) numbers, or some by name. Raises InputError where they are not."""
    n = len(vehicle.controls)
    row = control_numbers(vehicle, controls)
    if row.shape not in ((n,), (1, n)):
        names = ", ".join(c.name for c in vehicle.controls) or "none"
        raise InputError(f"controls of {vehicle.name!r} are {row.shape}; allowed: ({n},) for {names}")
    if not np.all(np.isfinite(row)):
        raise InputError(f"controls of {vehicle.name!r} have entries that are not finite")
    return row.ravel()


def between(vehicle: Vehicle, start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """The node that far on the way in the vehicle's space: along geodesics of groups, the rest in proportion."""
    if share < _SAME:
        return start
    return np.array(_way(Structure.of(vehicle))(start, end, share)).ravel()


@lru_cache(maxsize=16)
def _way(structure: Structure) -> ca.Function:
    """(node, node, share) -> the node between."""
    space = structure.vehicle.space
    a, b, share = ca.SX.sym("a", space.size), ca.SX.sym("b", space.size), ca.SX.sym("share")
    return ca.Function("way", [a, b, share], [ca.densify(space.between(a, b, share))])
