"""Unit vectors and tangency over 5 s, on and off the space (mechanics survey, figures 6 and 7)."""

import numpy as np
from matplotlib.figure import Figure

import sim
from studies.report import Claim, Options, Progress, Report
from studies.survey_pendula import chain, generic

KEEPING = ("lie-euler", "lie-heun", "rkmk3", "rkmk4", "rkmk4-2c", "cf4", "rkmk5", "variational-spheres")
LEAVING = ("rk4", "dopri54")
STEP_S = 0.01


def run(options: Options, progress: Progress) -> Report:
    """Two pendula, 5 s in steps of 10 ms."""
    vehicle = chain(2)
    start, seconds = generic(vehicle), options.seconds or 5.0
    rows, found = [], {}
    for i, name in enumerate((*KEEPING, *LEAVING)):
        progress(name, i / (len(KEEPING) + len(LEAVING)))
        flown = sim.simulate(vehicle, name, step=STEP_S, duration=seconds, initial=start)
        parts = flown.nodes.reshape(len(flown.nodes), -1, 6)
        q, omega = parts[..., :3], parts[..., 3:]
        length, tangent = np.abs((q * q).sum(-1) - 1).max(1), np.abs((q * omega).sum(-1)).max(1)
        found[name] = flown.time, length, tangent
        rows.append((name, float(np.nanmax(length)), float(np.nanmax(tangent))))
    most = {name: (a, b) for name, a, b in rows}
    claims = [
        Claim(
            "Lie group methods keep |q| = 1 and q.omega = 0 to rounding (figures 6 and 7).",
            all(max(most[name]) < 1e-13 for name in KEEPING),
            ", ".join(f"{name}: {max(most[name]):.1e}" for name in KEEPING),
        ),
        Claim(
            "Runge-Kutta 4 and ODE45 do not.",
            all(min(most[name]) > 1e-9 for name in LEAVING),
            ", ".join(f"{name}: {most[name][0]:.1e} and {most[name][1]:.1e}" for name in LEAVING),
        ),
    ]
    figure = Figure(figsize=(10, 4))
    for k, (axis, title) in enumerate(
        zip(figure.subplots(1, 2), ("| |q|^2 - 1 |", "| q . omega |"), strict=True)
    ):
        for name, values in found.items():
            axis.semilogy(values[0], np.maximum(values[1 + k], 1e-17), lw=0.7, label=name)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("s")
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Report(("method", "most_off_unit", "most_off_tangent"), rows, figure, claims)
