"""Adaptive runs with every step told: which were accepted, which were not (mechanics survey, section 5.3)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

import sim
from sim.compiler.loops import growth
from sim.integrators import INTEGRATORS
from sim.integrators.embedded import Adaptive
from sim.vehicles import State, Vehicle
from sim.vehicles.pendulum import Pendulum

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


TOLERANCE = 1e-6
SECONDS = 3.0


def chain(links: int, length_m: float = 1.0) -> Pendulum:
    """Of unit masses."""
    vehicle = sim.vehicle("pendulum", links=links, mass=1.0, length=length_m)
    assert isinstance(vehicle, Pendulum)
    return vehicle


def planar(vehicle: Pendulum) -> State:
    """The survey's start, the same for every link: a motion in one plane."""
    s = np.sqrt(0.5)
    return vehicle.state(direction=(s, 0.0, s), omega=(0.0, 1.0, 0.0))


def stretched(vehicle: Pendulum) -> State:
    """Level, at rest: that of its program where the chain's whole length is shared."""
    return vehicle.state(direction=(1.0, 0.0, 0.0))


def generic(vehicle: Pendulum) -> State:
    """In no plane, so that wrong signs of commutators show."""
    k = np.arange(vehicle.link_count)
    lean, turn = 0.9 + 0.5 * np.sin(1.7 * k), 1.1 * k
    q = np.column_stack([np.sin(lean) * np.cos(turn), np.sin(lean) * np.sin(turn), -np.cos(lean)])
    spin = np.column_stack([np.cos(k), 1.5 * np.sin(2.0 * k + 1.0), 1.0 + 0.0 * k])
    return vehicle.state(direction=q, omega=np.cross(q, spin))


def tight(vehicle: Vehicle, start: State, seconds: float, controls: np.ndarray | None = None) -> np.ndarray:
    """The node at the end, by Dormand and Prince's pair on the bare numbers, as the survey takes ODE45."""
    method = replace(INTEGRATORS["dopri54"], tolerance=1e-13)  # type: ignore[type-var]
    return np.asarray(
        sim.simulate(
            vehicle, method, step=seconds / 30, duration=seconds, initial=start, controls=controls
        ).nodes[-1]
    )


def adaptive_run(vehicle: Pendulum, start: State) -> ControlledRun:
    """RKMK(5,4) with the survey's tolerance and first step."""
    method = INTEGRATORS["rkmk54"]
    assert isinstance(method, Adaptive)
    return controlled(vehicle, replace(method, tolerance=TOLERANCE), start, SECONDS, SECONDS / 100)


@dataclass(frozen=True, eq=False)
class Compared:
    """Of one chain: errors at the end with the steps that the tolerance asks for, and with as many equal ones."""

    links: int
    run: ControlledRun
    adaptive: float
    constant: float


def compared(length_m: Callable[[int], float], start: Callable[[Pendulum], State], links: int) -> Compared:
    """The adaptive run, and RKMK 5 with as many equal steps, against the tight one."""
    vehicle = chain(links, length_m(links))
    begin = start(vehicle)
    run, exact = adaptive_run(vehicle, begin), tight(vehicle, begin, SECONDS)
    equal = sim.simulate(vehicle, "rkmk5", step=SECONDS / run.accepted, duration=SECONDS, initial=begin)
    return Compared(
        links,
        run,
        float(np.linalg.norm(run.nodes[-1] - exact)),
        float(np.linalg.norm(equal.nodes[-1] - exact)),
    )
