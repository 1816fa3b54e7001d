"""Rotation error against CPU time for every method, a free body over minutes; energy over a million steps."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.compiler import Kernel, compile_kernel
from sim.integrators import integrator
from sim.platform.progress import TellShare
from studies.free_body import FREE, SAMPLE_S, FreeBody, Outcome, cpu_of, measure, random_bodies
from studies.report import Claim, Options, Report

METHODS = (
    "variational",
    "variational-exp",
    "variational-4",
    "variational-6",
    "symplectic-half",
    "rk2",
    "rk4",
    "rkmk4",
    "rkmk5",
    "cf4",
    "newmark",
)
DIVISIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ADAPTIVE = ("rkmk54", "cf43")
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
GOAL_RAD = 1e-6
DRIFT_STEPS = 1_000_000
DRIFT_METHODS = ("variational-4", "variational-6", "rk4")
DRIFT_STEP_S = 0.1
ROUNDING = 1e-11
"""Relative energy error that rounding alone may add up to in so many steps."""
ROUNDS = 5
COLUMNS = ("method", "step_s", "tolerance", "cpu_s", "rotation_rad", "position_m", "energy", "blown_up")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve."""

    kernel: Kernel
    step_s: float
    tolerance: float
    """Of adaptive methods, else 0."""


def run(options: Options, progress: TellShare) -> Report:
    """5 bodies for 240 s unless told otherwise."""
    progress("exact motion", 0.0)
    bodies = random_bodies(options.runs or 5, options.seconds or 240.0, options.seed)
    body = sim.vehicle("rigid-body")
    runs: dict[str, list[CurvePoint]] = {}
    for name in METHODS:
        kernel = compile_kernel(body, integrator(name))
        runs[name] = [CurvePoint(kernel, SAMPLE_S / d, 0.0) for d in DIVISIONS]
    for name in ADAPTIVE:
        kernels = [compile_kernel(body, integrator(name, tolerance=t)) for t in TOLERANCES]
        runs[name] = [CurvePoint(k, SAMPLE_S, t) for k, t in zip(kernels, TOLERANCES, strict=True)]
    found: dict[str, list[Outcome]] = {}
    for i, (name, own) in enumerate(runs.items()):
        progress(name, (i + 1) / (len(runs) + 3))
        found[name] = [measure(r.kernel, bodies, r.step_s) for r in own]
    progress("cost", 0.9)
    for name, costs in _interleaved(runs, bodies).items():
        found[name] = [replace(o, cpu_s=c) for o, c in zip(found[name], costs, strict=True)]
    rows = [
        (name, r.step_s, r.tolerance, o.cpu_s, o.rotation_rad, o.position_m, o.energy, o.blown_up)
        for name, own in runs.items()
        for r, o in zip(own, found[name], strict=True)
    ]
    progress("a million steps", 0.95)
    drift = {name: _drift(bodies[0], name) for name in DRIFT_METHODS}
    return Report(COLUMNS, rows, _figure(found, drift), _claims(found, drift))


def _interleaved(runs: dict[str, list[CurvePoint]], bodies: list[FreeBody]) -> dict[str, list[float]]:
    """Median CPU seconds of each run. The methods take turns: what else the machine does hits them alike."""
    times = {name: [[0.0] * ROUNDS for _ in own] for name, own in runs.items()}
    for turn in range(ROUNDS):
        for name, own in runs.items():
            for i, r in enumerate(own):
                times[name][i][turn] = float(
                    np.median([cpu_of(r.kernel, body, r.step_s) for body in bodies[:5]])
                )
    return {name: [float(np.median(t)) for t in own] for name, own in times.items()}


def _drift(body: FreeBody, name: str) -> np.ndarray:
    """Largest relative energy error within each hundredth of a million steps."""
    kernel = compile_kernel(sim.vehicle("rigid-body"), integrator(name))
    y = kernel.start(body.start, FREE, body.parameters, DRIFT_STEP_S)
    start = kernel.observe(body.start, FREE, body.parameters).energy_J
    out = np.full(100, np.nan)
    for k in range(100):
        worst = 0.0
        for _ in range(20):
            _, status, _ = kernel.advance(y, FREE, FREE, body.parameters, DRIFT_STEP_S, DRIFT_STEPS // 2000)
            if status:
                return out
            node = kernel.node(y, FREE, body.parameters, DRIFT_STEP_S)
            energy = kernel.observe(node, FREE, body.parameters).energy_J
            worst = max(worst, abs(energy / start - 1))
        out[k] = worst
    return out


def cost_of(outcomes: list[Outcome], goal: float) -> float:
    """CPU seconds at which the error reaches the goal, interpolated in logarithms; infinite if it does not."""
    best = np.inf
    usable = [o for o in outcomes if o.blown_up == 0 and o.rotation_rad > 0]
    for a, b in pairwise(usable):
        if a.rotation_rad > goal >= b.rotation_rad:
            share = np.log(a.rotation_rad / goal) / np.log(a.rotation_rad / b.rotation_rad)
            best = min(best, float(a.cpu_s * (b.cpu_s / a.cpu_s) ** share))
    return best


def _claims(found: dict[str, list[Outcome]], drift: dict[str, np.ndarray]) -> list[Claim]:
    costs = {name: cost_of(outcomes, GOAL_RAD) for name, outcomes in found.items()}
    told = ", ".join(f"{n} {c * 1e3:.1f} ms" for n, c in sorted(costs.items(), key=lambda i: i[1]))
    ours = min(costs["variational-4"], costs["variational-6"])
    bounded = [
        n
        for n in ("variational-4", "variational-6")
        if drift[n][-10:].max() < max(2 * drift[n][:10].max(), ROUNDING)
    ]
    return [
        Claim(
            "variational-4 or -6 reaches 1e-6 rad at no more CPU time than rk4.",
            ours <= costs["rk4"],
            f"CPU time to {GOAL_RAD:g} rad: {told}",
        ),
        Claim(
            "Their energy error stays bounded over a million steps.",
            len(bounded) == 2,
            "; ".join(
                f"{n}: first tenth {d[:10].max():.1e}, last {d[-10:].max():.1e}" for n, d in drift.items()
            ),
        ),
    ]


def _figure(found: dict[str, list[Outcome]], drift: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(13, 5.5))
    left, right = figure.subplots(1, 2)
    for i, (name, outcomes) in enumerate(found.items()):
        whole = [o for o in outcomes if o.blown_up == 0]
        left.loglog(
            [o.cpu_s for o in whole],
            [o.rotation_rad for o in whole],
            "o" + ("-", "--")[i // 10 % 2],
            ms=3,
            lw=1,
            label=name,
        )
    left.set_xlabel("CPU time of a run [s]")
    left.set_ylabel("mean rotation error [rad]")
    left.legend(fontsize=7)
    for name, errors in drift.items():
        right.loglog(np.arange(1, 101) * DRIFT_STEPS // 100, np.maximum(errors, 1e-17), lw=1, label=name)
    right.set_xlabel(f"steps of {DRIFT_STEP_S:g} s")
    right.set_ylabel("largest relative energy error since the last point")
    right.legend(fontsize=7)
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.tight_layout()
    return figure
