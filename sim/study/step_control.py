"""Adaptive runs with every step told: which were accepted, which were not (mechanics survey, section 5.3)."""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.compiler.step_rule import growth
from sim.integrators.embedded import Adaptive
from sim.vehicles import State, Vehicle

_MOST = 100_000


@dataclass(frozen=True, eq=False)
class ControlledRun:
    """Of an adaptive method over a time that it divides by itself."""

    time: np.ndarray
    """(n+1,) s."""
    nodes: np.ndarray
    """(n+1, node size)."""
    rejected: int
    """Steps that were tried again."""

    @property
    def accepted(self) -> int:
        return len(self.time) - 1


def controlled(
    vehicle: Vehicle, method: Adaptive, start: State, duration_s: float, first_s: float
) -> ControlledRun:
    """With neutral controls, from a first step of `first_s` seconds; by symbols, with nothing compiled."""
    step = tried(vehicle, method)
    time, nodes, rejected, trial = [0.0], [start.node], 0, first_s
    for _ in range(_MOST):
        left = duration_s - time[-1]
        h = min(trial, left)
        after, error = step(nodes[-1], h)
        trial = h * growth(error, method.tolerance)
        if error > method.tolerance:
            rejected += 1
            continue
        nodes.append(after)
        if h >= left:
            return ControlledRun(np.array([*time, duration_s]), np.array(nodes), rejected)
        time.append(time[-1] + h)
    raise RuntimeError(f"{method.name} takes more than {_MOST} steps over {duration_s} s")


def tried(vehicle: Vehicle, method: Adaptive) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
    """(node, h) -> the node one step later and the error estimate, for a vehicle whose state the method keeps."""
    scheme = method.scheme(vehicle)
    i = scheme.inputs
    assert scheme.error is not None
    f = ca.Function("tried", [scheme.y, i.u, i.p, i.h], [scheme.y_next, scheme.error], {"cse": True})
    u, p = vehicle.neutral_controls, vehicle.parameter_vector

    def step(node: np.ndarray, h: float) -> tuple[np.ndarray, float]:
        after, error = f(node, u, p, h)
        return np.array(after).ravel(), float(error)

    return step
