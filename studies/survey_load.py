"""Two quadrotors that carry a load along a parabola (mechanics survey, figures 13 to 18)."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.vehicles import State, Vehicle
from studies.report import Claim, Options, Progress, Report
from studies.survey_pendula import tight

METHODS = (("lie-euler", 1), ("lie-heun", 2), ("rkmk3", 3), ("rkmk4", 4))
STEPS = (200, 400, 800)
TARGET = np.array([0.0, 0.0, -2.0])
"""Acceleration of the target, which draws the parabola."""


def case() -> tuple[Vehicle, State]:
    """The survey's parameters: cables of 0.6 and 0.8 m, 80 degrees off the vertical; thrust points as wanted."""
    vehicle = sim.vehicle("quadrotors-with-load", cable_length=(0.6, 0.8), attitude_loop=0, thrust_limit=1e3)
    s, c = np.sin(np.radians(80.0)), np.cos(np.radians(80.0))
    start = vehicle.state(  # type: ignore[call-arg]
        load=(-2.0, 0.0, 0.0),
        target=(-2.5, 0.0, 0.75),
        target_velocity=(1.0, 0.0, 5.0),
        direction=[[s, 0.0, -c], [-s, 0.0, -c]],
    )
    return vehicle, start


def run(options: Options, progress: Progress) -> Report:
    """5 s; orders over the first half second."""
    vehicle, start = case()
    exact = tight(vehicle, start, 0.5, TARGET)
    rows: list[tuple[Any, ...]] = []
    for i, (name, order) in enumerate(METHODS):
        progress(name, i / (len(METHODS) + 1))
        found = [
            float(
                np.linalg.norm(
                    sim.simulate(
                        vehicle, name, step=1 / n, duration=0.5, initial=start, controls=TARGET
                    ).nodes[-1]
                    - exact
                )
            )
            for n in STEPS
        ]
        rows.append((name, order, float(np.log2(found[-2] / found[-1])), *found))
    progress("the parabola", 0.9)
    seconds = options.seconds or 5.0
    flown = sim.simulate(vehicle, "rkmk4", step=0.005, duration=seconds, initial=start, controls=TARGET)
    error, off = flown.observables["load_error"], float(flown.observables["off_sphere"].max())
    at_four = float(error[min(800, len(error) - 1)])
    formation = flown.observables["formation_error"]
    claims = [
        Claim(
            "Slopes are 1, 2, 3, 4 (figure 13).",
            max(abs(row[1] - row[2]) for row in rows) < 0.15,
            ", ".join(f"{row[0]}: {row[2]:.2f}" for row in rows),
        ),
        Claim(
            "The load is 1e-4 m from its target after 4 s (figure 16).", at_four < 3e-4, f"{at_four:.1e} m"
        ),
        Claim(
            "The cables come into formation (figure 17).",
            bool(formation[-1].max() < 1e-2),
            f"{formation[0].max():.2f} rad at first, {formation[-1].max():.1e} rad at the end",
        ),
        Claim("|q| stays 1 to rounding (figure 18).", off < 1e-14, f"{off:.1e}"),
    ]
    return Report(
        ("method", "order", "slope", *(f"error_{n}" for n in STEPS)), rows, _figure(flown, rows), claims
    )


def _figure(flown: sim.Trajectory, rows: list[tuple[Any, ...]]) -> Figure:
    figure = Figure(figsize=(14, 8))
    axes = figure.subplots(2, 3)
    for name, _, _, *found in rows:
        axes[0, 0].loglog([1 / n for n in STEPS], found, "o-", ms=3, label=name)
    axes[0, 0].legend(fontsize=7)
    axes[0, 0].grid(alpha=0.3, which="both")
    axes[0, 0].set_xticks([1 / n for n in STEPS], [f"1/{n}" for n in STEPS])
    axes[0, 0].set_xticks([], minor=True)
    axes[0, 0].set_title("error after half a second, by the step [s]", fontsize=9)
    load, target = (flown.bodies[name][:, :3, 3] for name in ("load", "target"))
    axes[0, 1].plot(target[:, 0], target[:, 2], "r--", lw=0.8)
    axes[0, 1].plot(load[:, 0], load[:, 2], "b", lw=0.8)
    for k in range(0, len(flown.time), 100):
        for name in ("quadrotor_1", "quadrotor_2"):
            ends = np.array([load[k], flown.bodies[name][k, :3, 3]])
            axes[0, 1].plot(ends[:, 0], ends[:, 2], "k-", lw=0.6)
    axes[0, 1].set_aspect("equal")
    axes[0, 1].set_title("load, target and cables every half second", fontsize=9)
    for axis in (*axes[0, 2:], *axes[1]):
        axis.set_xlabel("s", fontsize=8)
    axes[0, 2].plot(flown.time, load, "b", lw=0.8)
    axes[0, 2].plot(flown.time, target, "r--", lw=0.8)
    axes[0, 2].set_title("x, y, z of the load, and of its target in dashes [m]", fontsize=9)
    axes[1, 0].plot(flown.time, load - target, lw=0.8, label=("x", "y", "z"))
    axes[1, 0].legend(fontsize=7)
    axes[1, 0].set_title("deviation [m]", fontsize=9)
    axes[1, 1].plot(flown.time, flown.observables["formation_error"], lw=0.8)
    axes[1, 1].set_title("cables off the formation [rad]", fontsize=9)
    axes[1, 2].semilogy(flown.time, np.maximum(flown.observables["off_sphere"], 1e-17), lw=0.6)
    axes[1, 2].set_ylim(1e-17, 1e-13)
    axes[1, 2].set_title("| |q| - 1 |", fontsize=9)
    figure.tight_layout()
    return figure
