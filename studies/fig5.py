"""Figure 5 of the vehicles paper: stability, accuracy and cost of integrators of the nonholonomic car.

Every run is a car of its own parameters with sinusoidal torque and steering: parking manoeuvres, sharp
turns, winding roads. Commands are held for the length of the largest step, whatever the method's own,
so that what is compared is the methods and not how the commands were sampled. Truth is rk4 at a tenth
of the smallest step.
"""

import time
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from sim.compiler import compile_kernel
from sim.integrators import integrators
from sim.platform.progress import TellShare
from sim.steppers.trajectory import simulate
from sim.vehicles import State, Vehicle, vehicle
from studies.report import Claim, Options, Report

METHODS = ("variational", "variational-exp-tln", "rk2", "rk4")
STEPS_PER_SECOND = (5, 10, 20, 40, 80, 160)
TRUTH_STEPS_PER_SECOND = 1600
COST_STEPS, COST_ROUNDS = 100_000, 15


@dataclass(frozen=True)
class CarRun:
    """One car, its start and its commands."""

    car: Vehicle
    start: State
    torque_Nm: float
    torque_rate: float
    torque_phase: float
    sigma: float
    """Amplitude of the tangent of the steering angle."""
    sigma_rate: float
    sigma_phase: float

    def commands(self, t: np.ndarray) -> np.ndarray:
        """(n, 2) torque and steering rate at times t [s]."""
        torque = self.torque_Nm * np.sin(self.torque_rate * t + self.torque_phase)
        steering = self.sigma * self.sigma_rate * np.cos(self.sigma_rate * t + self.sigma_phase)
        return np.stack([torque, steering], axis=1)


@dataclass(frozen=True)
class MethodErrors:
    """One method at one step, over all runs."""

    method: str
    step_s: float
    position_error_m: float
    """Mean over runs and whole seconds."""
    heading_error_rad: float
    blown_up: int
    """Runs that did not end in finite numbers."""
    cost_ns: float
    """Per step."""


def random_run(rng: np.random.Generator) -> CarRun:
    """Slow or fast, wide or sharp."""
    car = vehicle(
        "car",
        mass=rng.uniform(500, 1500),
        wheel_inertia=rng.uniform(1, 5),
        yaw_inertia=rng.uniform(500, 3000),
        wheelbase=rng.uniform(1.8, 3.2),
        wheel_radius=rng.uniform(0.25, 0.4),
    )
    sigma, phase = rng.uniform(0.05, 0.9), rng.uniform(0, 2 * np.pi)
    start = car.state(  # type: ignore[call-arg]  # a planar state
        theta=rng.uniform(-np.pi, np.pi),
        shape=(0.0, sigma * np.sin(phase)),
        shape_velocity=(rng.uniform(-20, 40), 0.0),
    )
    return CarRun(
        car,
        start,
        torque_Nm=rng.uniform(100, 1200),
        torque_rate=rng.uniform(0.3, 2.0),
        torque_phase=rng.uniform(0, 2 * np.pi),
        sigma=sigma,
        sigma_rate=rng.uniform(0.2, 1.5),
        sigma_phase=phase,
    )


def poses(run: CarRun, method: str, per_second: int, seconds: int) -> np.ndarray:
    """(seconds + 1, 3) theta, x, y at whole seconds."""
    h = 1.0 / per_second
    holds = STEPS_PER_SECOND[0]
    held = run.commands((np.arange(seconds * holds) + 0.5) / holds)
    controls = np.repeat(held, per_second // holds, axis=0)
    result = simulate(run.car, method, step=h, duration=seconds, initial=run.start, controls=controls)
    return result.nodes[::per_second, run.car.node_layout.pose]


def step_costs(methods: tuple[str, ...]) -> dict[str, float]:
    """Best ns a step of the compiled rollouts, interleaved."""
    car = vehicle("car")
    p, u, w = car.parameter_vector, np.array([50.0, 0.01]), np.zeros(3)
    node = car.state(shape=(0.0, 0.2), shape_velocity=(5.0, 0.0)).node
    kernels = {m: compile_kernel(car, integrators()[m]) for m in methods}
    best = dict.fromkeys(methods, np.inf)
    for _ in range(COST_ROUNDS):
        for m, kernel in kernels.items():
            y = kernel.start(node, u, p, 0.001)
            begin = time.perf_counter()
            kernel.advance(y, u, w, p, 0.001, COST_STEPS)
            best[m] = min(best[m], (time.perf_counter() - begin) / COST_STEPS * 1e9)
    return best


def measure(runs: int, seconds: int, seed: int, progress: TellShare) -> list[MethodErrors]:
    """All methods at all steps on the same random runs."""
    rng = np.random.default_rng(seed)
    cars = [random_run(rng) for _ in range(runs)]
    truths = []
    for k, run in enumerate(cars):
        progress("truth", 0.5 * k / runs)
        truths.append(poses(run, "rk4", TRUTH_STEPS_PER_SECOND, seconds))
    costs, rows = step_costs(METHODS), []
    for k, method in enumerate(METHODS):
        progress(method, 0.5 + 0.5 * k / len(METHODS))
        rows += [_row(method, n, cars, truths, costs[method], seconds) for n in STEPS_PER_SECOND]
    return rows


def _row(
    method: str, per_second: int, cars: list[CarRun], truths: list[np.ndarray], cost_ns: float, seconds: int
) -> MethodErrors:
    position, heading, blown_up = [], [], 0
    for run, truth in zip(cars, truths, strict=True):
        found = poses(run, method, per_second, seconds)
        if not np.isfinite(found).all():
            blown_up += 1
            continue
        position.append(np.linalg.norm(found[:, 1:] - truth[:, 1:], axis=1).mean())
        turned = found[:, 0] - truth[:, 0]
        heading.append(np.abs(np.arctan2(np.sin(turned), np.cos(turned))).mean())
    mean = [float(np.mean(x)) if x else float("nan") for x in (position, heading)]
    return MethodErrors(method, 1.0 / per_second, mean[0], mean[1], blown_up, cost_ns)


def run(options: Options, progress: TellShare) -> Report:
    """50 runs of 60 s unless told otherwise."""
    runs, seconds = options.runs or 50, round(options.seconds or 60)
    rows = measure(runs, seconds, options.seed, progress)
    columns = tuple(MethodErrors.__dataclass_fields__)
    table = [[getattr(row, name) for name in columns] for row in rows]
    return Report(columns, table, _figure(rows, runs, seconds), _claims(rows))


def _claims(rows: list[MethodErrors]) -> list[Claim]:
    by = {(row.method, row.step_s): row for row in rows}
    steps = sorted({row.step_s for row in rows})
    ratios = [
        getattr(by["variational", h], error) / getattr(by["rk2", h], error)
        for error in ("position_error_m", "heading_error_rad")
        for h in steps
    ]
    own, other = (by[method, steps[0]].cost_ns for method in ("variational", "rk2"))
    blown_up = sum(row.blown_up for row in rows)
    return [
        Claim(
            "The variational integrator is as accurate as RK2 (error ratio in 0.3 to 3).",
            all(0.3 <= ratio <= 3 for ratio in ratios),
            f"error of variational / rk2, position and heading, all steps: {min(ratios):.2f} to {max(ratios):.2f}",
        ),
        Claim(
            "Its step costs at most half of an RK2 step.",
            own <= 0.5 * other,
            f"variational {own:.1f} ns, rk2 {other:.1f} ns: {own / other:.2f}",
        ),
        Claim("Every method stays stable.", blown_up == 0, f"{blown_up} runs blown up"),
    ]


def _figure(rows: list[MethodErrors], runs: int, seconds: int) -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, 3)
    for method in METHODS:
        own = [row for row in rows if row.method == method]
        count = [seconds / row.step_s for row in own]
        position = [row.position_error_m for row in own]
        cost_ms = [n * row.cost_ns * 1e-6 for n, row in zip(count, own, strict=True)]
        panels[0].loglog(count, position, "o-", label=method)
        panels[1].loglog(count, [row.heading_error_rad for row in own], "o-")
        panels[2].loglog(cost_ms, position, "o-")
    labels = (
        ("steps", "position error [m]"),
        ("steps", "heading error [rad]"),
        ("cost [ms]", "position error [m]"),
    )
    for panel, (x, y) in zip(panels, labels, strict=True):
        panel.set(xlabel=x, ylabel=y)
        panel.grid(True, which="both", alpha=0.2)
    panels[0].legend(fontsize="small")
    figure.suptitle(f"Nonholonomic car, {runs} runs of {seconds} s")
    return figure
