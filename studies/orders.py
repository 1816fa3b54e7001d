"""Measured order of every integrator: a helicopter with gyroscope, drag and tilted rotor; methods that do not serve it,
a car, a chain of ten links or of three pendula."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.analysis.sweep_table import SweepGrid
from sim.integrators import Integrator, integrator
from sim.platform.progress import TellShare
from sim.vehicles import State, Vehicle
from studies.ledger.drifts import Transmission, begun
from studies.report import LOCAL, Claim, Options, Report

CONTROLS = np.array([52.0, 0.4, 0.03, -0.02])
STEPS = (16, 32, 64, 128, 256)
FLOOR = 3e-11
"""Errors below this are rounding and the reference's."""
COLUMNS = ("method", "vehicle", "declared", "measured", *(f"error_{n}" for n in STEPS))


def run(options: Options, progress: TellShare) -> Report:
    """One second of motion, steps 1/16 to 1/256 s."""
    seconds = options.seconds or 1.0
    cases = all_cases()
    methods = {n: m for n, m in sim.integrators().items() if not m.adaptive}
    errors = errors_by_method(tuple(methods), seconds, options.cluster, progress)
    rows: list[tuple[Any, ...]] = [
        (name, served(method, cases), method.order, _slope(errors[name]), *errors[name])
        for name, method in methods.items()
    ]
    off = [row for row in rows if abs(row[3] - row[2]) > 0.15]
    claims = [
        Claim(
            "Every integrator has the order that it declares, to 0.15.",
            not off,
            "; ".join(f"{r[0]}: declared {r[2]}, measured {r[3]:.2f}" for r in off)
            or f"{len(rows)} methods, largest deviation {max(abs(r[3] - r[2]) for r in rows):.2f}",
        )
    ]
    return Report(COLUMNS, rows, _figure(errors, methods), claims)


def errors_by_method(
    names: tuple[str, ...], seconds: float, cluster: str | None, progress: TellShare
) -> dict[str, list[float]]:
    """By method, at each step: one after the other, or all of them on a cluster."""
    if cluster is not None:
        over = SweepGrid({"method": names, "seconds": [seconds]})
        scheduler = None if cluster == LOCAL else cluster
        table = sim.sweep(errors_of, over, chunk=1, scheduler=scheduler, progress=progress)
        return dict(zip(names, table["errors"].tolist(), strict=True))
    found = {}
    for i, name in enumerate(names):
        progress(name, i / len(names))
        found[name] = errors_of(name, seconds)["errors"]
    return found


def errors_of(method: str, seconds: float) -> dict[str, list[float]]:
    """Of a method at each step, at the end."""
    cases = all_cases()
    scheme = sim.integrators()[method]
    name = served(scheme, cases)
    reference = _exact(name, seconds)
    return {"errors": [float(np.abs(_end(cases[name], scheme, n, seconds) - reference).max()) for n in STEPS]}


_REFERENCES: dict[str, tuple[Integrator, int]] = {
    "helicopter": (integrator("rkmk54", tolerance=1e-13), 16),
    "car": (integrator("rk4"), 8192),
    "chain": (integrator("riqn"), 16384),
    "ledger-transmission": (integrator("rk4"), 8192),
    "pendulum": (integrator("rkmk54", tolerance=1e-13), 16),
}


@cache
def _exact(name: str, seconds: float) -> np.ndarray:
    """The end of a case, to far more digits than the methods have."""
    return _end(all_cases()[name], *_REFERENCES[name], seconds)


Case = tuple[Vehicle, State, np.ndarray]


def all_cases() -> dict[str, Case]:
    """By vehicle: start and controls. Between them they serve every method."""
    return {case[0].name: case for case in (_helicopter(), _car(), _chain(), _pendulum(), _transmission())}


def served(method: Integrator, cases: dict[str, Case]) -> str:
    """The first of the cases that the method is for."""
    return next(name for name, (vehicle, _, _) in cases.items() if not method.serves(vehicle))


def _helicopter() -> Case:
    vehicle = sim.vehicle("helicopter", rotor_momentum=0.4, drag=0.2)
    return vehicle, vehicle.state(omega=(0.5, -0.3, 0.8), v=(2.0, 0.5, -0.4)), CONTROLS


def _car() -> Case:
    vehicle = sim.vehicle("car")
    n = len(vehicle.shape_coordinates)
    shape, rate = np.full(n, 0.3), np.zeros(n)
    rate[0] = 4.0
    return vehicle, vehicle.state(shape=shape, shape_velocity=rate), np.array([0.3, 0.4])


def _chain() -> Case:
    vehicle = sim.vehicle("chain", links=10, damping=0.02)
    return vehicle, vehicle.default_state(), np.zeros(0)


def _pendulum() -> Case:
    vehicle = sim.vehicle("pendulum", links=3, length=1.2, mass=(1.0, 2.0, 0.5))
    return vehicle, vehicle.default_state(), np.array([2.0, -1.0])


def _transmission() -> Case:
    """On wheels whose shape has no stops and is commanded nowhere."""
    vehicle = Transmission()
    return vehicle, begun(vehicle), np.zeros(0)


def _end(case: Case, method: Integrator, per_second: int, seconds: float) -> np.ndarray:
    vehicle, start, controls = case
    run = sim.simulate(
        vehicle, method, step=1 / per_second, duration=seconds, initial=start, controls=controls
    )
    return run.nodes[-1]


def _slope(errors: list[float]) -> float:
    """Of the last halving that rounding has no part in."""
    usable = [k for k, e in enumerate(errors) if e > FLOOR]
    last = max(usable[-1], 1)
    return float(np.log2(errors[last - 1] / errors[last]))


def _figure(errors: dict[str, list[float]], methods: dict[str, Integrator]) -> Figure:
    figure = Figure(figsize=(9, 7))
    axis = figure.subplots()
    for i, (name, found) in enumerate(errors.items()):
        axis.loglog(
            [1 / n for n in STEPS],
            found,
            marker="o",
            ms=3,
            lw=1,
            label=f"{name} ({methods[name].order})",
            ls=("-", "--", ":")[i // 10 % 3],
        )
    axis.set_xlabel("step [s]")
    axis.set_ylabel("largest error of pose and velocity after the run")
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize=6, ncols=2)
    return figure
