"""Cost of a step: variational methods against Runge-Kutta, and of getting a kernel.

    python -m benchmarks.mechanics [--all]

One interleaved run, medians of CPU time; ratios are to rk4 of the same vehicle. Against a kernel written by hand:
`benchmarks.work_precision`. Compile times are taken in fresh processes, cold (empty cache) and from the cache.
Contact with ground is not part of them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

import numpy as np

import sim
from sim.compiler import compile_kernel

STEPS, ROUNDS = 100_000, 15
STEPS_S = (1e-3, 1e-2)
MANY_BODIES: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("pendulum", "cf4", {"links": 20}),
    ("pendulum", "rkmk54", {"links": 20}),
    ("quadrotors-with-load", "rkmk4", {"quadrotors": 2}),
    ("quadrotors-with-load", "rkmk4", {"quadrotors": 4}),
    ("helicopter-with-load", "rkmk4", {"links": 4}),
)
"""Kernels of what a group moves."""
BASIC = ("variational-exact", "variational", "variational-cay", "variational-split", "rk2", "rk4")


def step_costs(vehicle_name: str, methods: list[str], h: float) -> dict[str, float]:
    """Median ns of the thread's CPU time a step, of a rollout in which the body turns and is pushed.

    Without those that leave the numbers before its end.
    """
    vehicle = sim.vehicle(vehicle_name)
    p, w = vehicle.parameter_vector, np.zeros(vehicle.group.dim)
    u = np.array([c.neutral for c in vehicle.controls])
    if vehicle_name == "helicopter":
        u = np.array([5.0 * 9.81, 0.02, 0.001, -0.001])
    node = vehicle.state(omega=(0.1, 0.2, 0.05), v=(1.0, 0.2, 0.0)).node
    kernels = {m: compile_kernel(vehicle, sim.integrators()[m]) for m in methods}
    times: dict[str, list[float]] = {m: [] for m in methods}
    for _ in range(ROUNDS):
        for m, kernel in kernels.items():
            y = kernel.start(node, u, p, h)
            begin = time.thread_time()
            done, _, _ = kernel.advance(y, u, w, p, h, STEPS)
            if done == STEPS:
                times[m].append((time.thread_time() - begin) / STEPS * 1e9)
    return {m: statistics.median(t) for m, t in times.items() if t}


_CHILD = """
import time, json, sys
import sim, numpy
from sim.compiler import compile_kernel
v, i = sim.vehicle(sys.argv[1], **json.loads(sys.argv[3])), sim.integrators()[sys.argv[2]]
t, c = time.perf_counter(), time.process_time()
compile_kernel(v, i)
print(json.dumps([time.perf_counter() - t, time.process_time() - c]))
"""


def compile_seconds(
    vehicle: str, method: str, parameters: Mapping[str, float]
) -> tuple[list[float], list[float]]:
    """(wall, cpu) seconds to get a kernel: cold, then from the cache, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for _ in range(2):
            out = subprocess.run(
                [sys.executable, "-c", _CHILD, vehicle, method, json.dumps(parameters)],
                env={**os.environ, "HOLONOMY_CACHE": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            runs.append(json.loads(out.stdout))
    return runs[0], runs[1]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="every integrator, not only the ones with a target"
    )
    every = parser.parse_args().all
    for vehicle in ("rigid-body", "helicopter"):
        methods = [m for m, i in sim.integrators().items() if not i.serves(sim.vehicle(vehicle))]
        chosen = [
            m
            for m in methods
            if (every or m in BASIC) and not getattr(sim.integrators()[m], "adaptive", False)
        ]
        for h in STEPS_S:
            costs = step_costs(vehicle, chosen, h)
            print(f"\n{vehicle}, h = {h * 1e3:g} ms, median of {ROUNDS} x {STEPS} steps, interleaved")
            for m, ns in sorted(costs.items(), key=lambda item: item[1]):
                ratios = f"{ns / costs['rk4']:5.2f} x rk4  {ns / costs['variational']:5.2f} x variational"
                print(f"  {m:22s} {ns:7.1f} ns  {ratios}")
    print("\nkernel, seconds wall (cpu)      cold            from cache")
    one = BASIC if not every else ("variational", "variational-cay", "variational-exp", "rk4")
    pairs: list[tuple[str, str, dict[str, int]]] = [
        (vehicle, m, {}) for vehicle in ("rigid-body", "helicopter") for m in one
    ]
    for vehicle, m, parameters in [*pairs, *MANY_BODIES]:
        cold, warm = compile_seconds(vehicle, m, parameters)
        title = " ".join([vehicle, m, *(f"{name} = {value}" for name, value in parameters.items())])
        print(f"  {title:45s} {cold[0]:5.2f} ({cold[1]:5.2f})   {warm[0]:5.2f} ({warm[1]:5.2f})")


if __name__ == "__main__":
    main()
