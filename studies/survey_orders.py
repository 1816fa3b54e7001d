"""Convergence of Lie group methods on two pendula that move in space (mechanics survey, figure 5)."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.integrators import INTEGRATORS
from studies.report import Claim, Options, Progress, Report
from studies.survey_pendula import chain, generic, tight

METHODS = ("lie-euler", "lie-heun", "rkmk3", "rkmk4", "rkmk4-2c", "cf4", "rkmk5")
STEPS = (200, 400, 800, 1600)
_FLOOR = 1e-11
_CONVERGED = 3
"""Times as many steps for the method of first order, whose slope shows late."""


def run(options: Options, progress: Progress) -> Report:
    """One second, a generic start in place of the survey's, which stays in a plane."""
    vehicle = chain(2)
    start, seconds = generic(vehicle), options.seconds or 1.0
    exact = tight(vehicle, start, seconds)
    rows: list[tuple[Any, ...]] = []
    errors: dict[str, tuple[list[float], list[float]]] = {}
    for i, name in enumerate(METHODS):
        progress(name, i / len(METHODS))
        many = 2**_CONVERGED if INTEGRATORS[name].order == 1 else 1
        found = [
            float(
                np.linalg.norm(
                    sim.simulate(vehicle, name, step=1 / (n * many), duration=seconds, initial=start).nodes[
                        -1
                    ]
                    - exact
                )
            )
            for n in STEPS
        ]
        errors[name] = [1 / (n * many) for n in STEPS], found
        usable = [k for k, e in enumerate(found) if e > _FLOOR]
        last = max(usable[-1], 1)
        rows.append((name, INTEGRATORS[name].order, float(np.log2(found[last - 1] / found[last])), *found))
    off = max(abs(row[1] - row[2]) for row in rows)
    claims = [
        Claim(
            "Slopes are 1, 2, 3, 4, 4, 4, 5 (figure 5).",
            off < 0.15,
            ", ".join(f"{name}: {slope:.2f}" for name, _, slope, *_ in rows),
        )
    ]
    figure = Figure(figsize=(6, 5))
    axis = figure.subplots()
    for name, (steps, found) in errors.items():
        axis.loglog(steps, found, marker="o", ms=3, label=name)
    axis.set_xlabel("step [s]")
    axis.set_ylabel("error after one second")
    axis.legend(fontsize=7)
    axis.grid(alpha=0.3)
    return Report(("method", "order", "slope", *(f"error_{n}" for n in STEPS)), rows, figure, claims)
