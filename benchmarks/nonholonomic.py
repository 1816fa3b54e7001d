"""Cost of a step of vehicles with wheels: variational methods against Runge-Kutta.

    python -m benchmarks.nonholonomic

Interleaved rounds of compiled rollouts of equal step count; medians and best times, ratios to rk2 of the
same vehicle. The goal is the vehicles paper's claim for its car: at most half of rk2.
"""

import statistics
import time

import numpy as np

import sim
from sim.compiler import compile_kernel

METHODS = (
    "variational",
    "variational-exp-tln",
    "variational-cay",
    "variational-exp",
    "rk2",
    "rk4",
    "lie-euler",
)
STEPS, ROUNDS, STEP_S = 20_000, 101, 0.01
STARTS = {
    "car": ({"shape": (0.0, 0.2), "shape_velocity": (5.0, 0.0)}, (100.0, 0.1)),
    "snakeboard": ({"shape": (0.0, 0.3), "shape_velocity": (1.0, 0.0), "momentum": (3.0,)}, (1.0, 0.0)),
    "rolling-disc": ({"shape": (0.0, 0.0), "shape_velocity": (0.0, 6.0), "momentum": (0.5,)}, (0.0, 0.0)),
}
GOAL = 0.5


def step_times(name: str) -> dict[str, list[float]]:
    """ns a step, one number a round."""
    vehicle = sim.vehicle(name)
    start, controls = STARTS[name]
    p, u, w = vehicle.parameter_vector, np.array(controls), np.zeros(vehicle.group.dim)
    node = vehicle.state(**start).node
    kernels = {m: compile_kernel(vehicle, sim.integrators()[m]) for m in METHODS}
    times: dict[str, list[float]] = {m: [] for m in METHODS}
    for _ in range(ROUNDS):
        for m, kernel in kernels.items():
            y = kernel.start(node, u, p, STEP_S)
            begin = time.perf_counter()
            done, _, _ = kernel.advance(y, u, w, p, STEP_S, STEPS)
            times[m].append((time.perf_counter() - begin) / max(done, 1) * 1e9)
    return times


def main() -> None:
    """Prints the tables."""
    for name in STARTS:
        times = step_times(name)
        middle = {m: statistics.median(t) for m, t in times.items()}
        print(f"\n{name:24}{'median ns':>10}{'best ns':>10}{'/ rk2':>8}")
        for m in METHODS:
            print(f"  {m:22}{middle[m]:10.1f}{min(times[m]):10.1f}{middle[m] / middle['rk2']:8.2f}")
        if name == "car":
            ratio = middle["variational"] / middle["rk2"]
            print(f"  {'reached' if ratio <= GOAL else 'NOT reached'}: variational <= {GOAL} rk2")


if __name__ == "__main__":
    main()
