"""Orbits of a free rigid body at a large step: truth, RK4, variational (vehicles paper, figure 3)."""

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.integrators import integrator
from sim.study.report import Claim, Options, Progress, Report

INERTIA, OMEGA, VELOCITY = (1.0, 2.0, 3.0), (0.1, 12.0, 0.1), (1.0, 0.0, 0.5)
"""A racket that turns about its middle axis."""
STEP_S = 0.1
COLUMNS = ("method", "time_s", "x", "y", "z", "omega_x", "omega_y", "omega_z", "energy_ratio")


def run(options: Options, progress: Progress) -> Report:
    """At h = 0.1 s, 20 s long unless told otherwise."""
    seconds = options.seconds or 20.0
    body = sim.vehicle("rigid-body", inertia=INERTIA)
    start = body.state(omega=OMEGA, v=VELOCITY)
    methods = {
        "truth": integrator("rkmk54", tolerance=1e-11),
        "rk4": integrator("rk4"),
        "variational": integrator("variational"),
    }
    runs = {}
    for i, (name, method) in enumerate(methods.items()):
        progress(name, i / len(methods))
        runs[name] = sim.simulate(body, method, step=STEP_S, duration=seconds, initial=start)
    rows = [
        (name, t, *r.pose[k, :3, 3], *r.velocity[k, :3], r.energy[k] / r.energy[0])
        for name, r in runs.items()
        for k, t in enumerate(r.time)
    ]
    kinetic = {n: float(np.nanmin(r.energy) / r.energy[0]) for n, r in runs.items()}
    linear = {n: float(np.nanmin(np.linalg.norm(r.velocity[:, 3:], axis=1))) for n, r in runs.items()}
    speed = float(np.linalg.norm(VELOCITY))
    claims = [
        Claim(
            "RK4 fails at a large step.",
            linear["rk4"] < 0.5 * speed or runs["rk4"].diverged_at is not None,
            f"h |omega| = {STEP_S * 12:.1f}: energy falls to {kinetic['rk4']:.2g} of its start, "
            f"speed from {speed:.2f} to {linear['rk4']:.2g} m/s",
        ),
        Claim(
            "The variational integrator reproduces the orbits.",
            abs(kinetic["variational"] - 1) < 1e-2,
            f"energy within {abs(kinetic['variational'] - 1):.1g} of its start; the phase runs ahead or behind",
        ),
    ]
    return Report(COLUMNS, rows, _figure(runs), claims)


def _figure(runs: dict[str, sim.Trajectory]) -> Figure:
    figure = Figure(figsize=(11, 8))
    views = (
        ("angular velocity [rad/s]", lambda r: r.velocity[:, :3]),
        ("body axis x in space", lambda r: r.pose[:, :3, 0]),
        ("linear velocity, body [m/s]", lambda r: r.velocity[:, 3:]),
    )
    for row, (title, points) in enumerate(views):
        for column, (name, r) in enumerate(runs.items()):
            axis = figure.add_subplot(3, 3, 3 * row + column + 1, projection="3d")
            axis.plot(*points(r).T, lw=0.7, color=f"C{column}")
            axis.tick_params(labelsize=6)
            axis.set_title(f"{name}: {title}", fontsize=8)
    figure.tight_layout()
    return figure
