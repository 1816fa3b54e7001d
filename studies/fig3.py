"""Orbits of a free rigid body at a large step: truth, Runge-Kutta 4, variational (vehicles paper, figure 3).

The body's momentum J omega runs along the curve in which the sphere of its length |L| cuts the energy ellipsoid, its
velocity along a curve on the sphere of |v|. So |L|, the energy of rotation and |v| tell whether the orbits are kept.
"""

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.integrators import integrator
from studies.report import Claim, Options, Progress, Report

INERTIA, OMEGA, VELOCITY = (1.0, 2.0, 3.0), (0.1, 12.0, 0.1), (1.0, 0.0, 0.5)
"""A racket that turns about its middle axis."""
STEP_S = 0.1
METHODS = ("truth", "rk4", "rkmk4", "variational", "variational-exact")
COLUMNS = (
    "method",
    "time_s",
    "x",
    "y",
    "z",
    "omega_x",
    "omega_y",
    "omega_z",
    "L_ratio",
    "turning_ratio",
    "v_ratio",
)
KEPT = ("|L|", "energy of rotation", "|v|")
"""What the last three columns are, relative to the start."""


def run(options: Options, progress: Progress) -> Report:
    """At h = 0.1 s, 20 s long unless told otherwise."""
    seconds = options.seconds or 20.0
    body = sim.vehicle("rigid-body", inertia=INERTIA)
    start = body.state(omega=OMEGA, v=VELOCITY)
    runs = {}
    for i, name in enumerate(METHODS):
        progress(name, i / len(METHODS))
        method = integrator("rkmk54", tolerance=1e-11) if name == "truth" else integrator(name)
        runs[name] = sim.simulate(body, method, step=STEP_S, duration=seconds, initial=start)
    kept = {name: _kept(r) for name, r in runs.items()}
    rows = [
        (name, t, *r.pose[k, :3, 3], *r.velocity[k, :3], *kept[name][k])
        for name, r in runs.items()
        for k, t in enumerate(r.time)
    ]
    bands = {name: _bands(k) for name, k in kept.items()}
    lowest_v = {name: float(np.nanmin(k[:, 2])) for name, k in kept.items()}
    on_sphere = [float(np.abs(kept[n][:, 0] - 1).max()) for n in ("variational", "variational-exact")]
    claims = [
        Claim(
            "RK4 fails at a large step.",
            lowest_v["rk4"] < 0.5 or runs["rk4"].diverged_at is not None,
            f"h |omega| = {STEP_S * 12:.1f}; {bands['rk4']}",
        ),
        Claim(
            "It fails because translation is integrated in the axes of a turning body: on the group the speed stays.",
            lowest_v["rk4"] < 0.5 and abs(lowest_v["rkmk4"] - 1) < 1e-9,
            f"rkmk4: {bands['rkmk4']}",
        ),
        Claim(
            "The variational integrator reproduces the orbits.",
            max(on_sphere) < 1e-9,
            "; ".join(f"{n}: {bands[n]}" for n in ("variational", "variational-exact"))
            + "; the phase runs ahead or behind",
        ),
    ]
    return Report(COLUMNS, rows, _figure(runs), claims)


def _kept(r: sim.Trajectory) -> np.ndarray:
    """(N+1, 3) |L|, energy of rotation and |v|, relative to the start."""
    omega, L = r.velocity[:, :3], r.velocity[:, :3] * INERTIA
    length, v = np.linalg.norm(L, axis=1), np.linalg.norm(r.velocity[:, 3:], axis=1)
    values = np.column_stack((length, np.sum(omega * L, axis=1) / 2, v))
    return values / values[0]


def _bands(kept: np.ndarray) -> str:
    """The range of each."""
    ranges = zip(KEPT, np.nanmin(kept, axis=0), np.nanmax(kept, axis=0), strict=True)
    return ", ".join(f"{name} {low:.4g} to {high:.4g}" for name, low, high in ranges) + " of the start"


def _figure(runs: dict[str, sim.Trajectory]) -> Figure:
    figure = Figure(figsize=(18, 8))
    views = (
        ("angular velocity [rad/s]", lambda r: r.velocity[:, :3]),
        ("body axis x in space", lambda r: r.pose[:, :3, 0]),
        ("linear velocity, body [m/s]", lambda r: r.velocity[:, 3:]),
    )
    for row, (title, points) in enumerate(views):
        for column, (name, r) in enumerate(runs.items()):
            axis = figure.add_subplot(3, len(runs), len(runs) * row + column + 1, projection="3d")
            axis.plot(*points(r).T, lw=0.7, color=f"C{column}")
            axis.tick_params(labelsize=6)
            axis.set_title(f"{name}: {title}", fontsize=8)
    figure.tight_layout()
    return figure
