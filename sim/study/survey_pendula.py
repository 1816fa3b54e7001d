"""What the mechanics survey's figures 5 to 11 are drawn of: chains of pendula with unit masses and lengths."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import sim
from sim.integrators import INTEGRATORS
from sim.integrators.embedded import Adaptive
from sim.study.step_control import ControlledRun, controlled
from sim.vehicles import State, Vehicle
from sim.vehicles.pendulum import Pendulum

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
