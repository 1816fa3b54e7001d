"""Two pendula through the sharp turn that adaptive steps find (mechanics survey, figures 9 and 11)."""

import numpy as np
from matplotlib.figure import Figure

import sim
from studies.report import Claim, Options, Progress, Report
from studies.survey_pendula import SECONDS, adaptive_run, chain, planar


def run(options: Options, progress: Progress) -> Report:
    """The survey's start, 3 s."""
    vehicle = chain(2)
    start = planar(vehicle)
    progress("adaptive", 0.0)
    adaptive = adaptive_run(vehicle, start)
    progress("equal steps", 0.4)
    equal = sim.simulate(vehicle, "rkmk5", step=SECONDS / adaptive.accepted, duration=SECONDS, initial=start)
    fine = sim.simulate(vehicle, "rkmk54", step=SECONDS / 3000, duration=SECONDS, initial=start)
    turning = fine.nodes.reshape(-1, 2, 6)[:, :, 4]
    rate = np.gradient(turning, fine.time, axis=0)
    worst = float(fine.time[np.abs(rate).max(axis=1).argmax()])
    steps = np.diff(adaptive.time)
    shortest = float(adaptive.time[steps[:-1].argmin()])
    rows = [
        (float(t), float(h), *map(float, node))
        for t, h, node in zip(adaptive.time, steps, adaptive.nodes, strict=False)
    ]
    claims = [
        Claim(
            "The angular acceleration has its peak at about 2.2 s (figure 11 c).",
            2.1 < worst < 2.4,
            f"at {worst:.3f} s, {np.abs(rate).max():.0f} rad/s^2",
        ),
        Claim(
            "There the steps are shortest (figure 11 a).",
            abs(shortest - worst) < 0.1 and steps[:-1].min() < 0.3 * np.median(steps),
            f"{1e3 * steps[:-1].min():.1f} ms at {shortest:.3f} s, {1e3 * np.median(steps):.1f} ms in the middle",
        ),
    ]
    figure = Figure(figsize=(12, 7))
    axes = figure.subplots(2, 2)
    for k, axis in enumerate(axes[0]):
        axis.plot(fine.time, fine.nodes[:, 6 * k : 6 * k + 6], "k", lw=0.5)
        axis.plot(adaptive.time, adaptive.nodes[:, 6 * k : 6 * k + 6], "o", ms=2)
        axis.plot(equal.time, equal.nodes[:, 6 * k : 6 * k + 6], "--", lw=0.7)
        axis.set_title(
            f"(q, omega) of link {k + 1}: line tight, dots RKMK(5,4), dashes equal steps", fontsize=8
        )
    axes[1, 0].plot(adaptive.time[:-1], steps, lw=0.8)
    axes[1, 0].axhline(SECONDS / adaptive.accepted, ls="--", lw=0.8)
    axes[1, 0].set_title("steps [s]", fontsize=8)
    axes[1, 1].plot(fine.time, rate, lw=0.8)
    axes[1, 1].set_title("second component of omega' [rad/s^2]", fontsize=8)
    for axis in axes.flat:
        axis.set_xlabel("s", fontsize=8)
    figure.tight_layout()
    columns = (
        "time",
        "step",
        *(f"{part}{k}_{axis}" for k in (1, 2) for part in ("q", "omega") for axis in "xyz"),
    )
    return Report(columns, rows, figure, claims)
