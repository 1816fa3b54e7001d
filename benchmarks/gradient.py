"""Gradient of a rollout by all its controls, against the rollout itself.

    python -m benchmarks.gradient [--steps 1000]

One interleaved run, medians of CPU time: the kernel's own rollout with every node, the rollout that can be
differentiated, and that with its adjoint.
"""

import argparse
import statistics
import time

import numpy as np

import sim
from sim.compiler import compile_kernel
from sim.integrators import DEFAULT

ROUNDS, REPEATS = 15, 20


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    steps, h = parser.parse_args().steps, 0.01
    vehicle = sim.vehicle("helicopter")
    kernel, p = compile_kernel(vehicle, sim.integrators()[DEFAULT]), vehicle.parameter_vector
    t = h * np.arange(steps)[:, None]
    controls = vehicle.neutral_controls + [0.5, 0.1, 0.01, 0.01] * np.sin(t * [1.0, 1.3, 0.7, 2.1])
    initial = vehicle.state(omega=(0.1, 0.2, 0.05), v=(1.0, 0.2, 0.0))
    weights = np.ones((steps + 1, vehicle.node_layout.size))

    def plain() -> object:
        y = kernel.start(initial.node, controls[0], p, h)
        return kernel.trajectory(y, controls, p, h, steps)

    def rolled() -> sim.Rollout:
        return sim.rollout_gradient(
            vehicle, DEFAULT, step=h, duration=h * steps, initial=initial, controls=controls
        )

    works = {
        "the rollout itself": plain,
        "with what derivatives need": rolled,
        "with its gradient": lambda: rolled().adjoint(weights),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(ROUNDS):
        for name, work in works.items():
            begun = time.thread_time()
            for _ in range(REPEATS):
                work()
            times[name].append((time.thread_time() - begun) / REPEATS)
    first = statistics.median(times["the rollout itself"])
    print(f"helicopter under {DEFAULT}, {steps} steps, gradient by {4 * steps} controls")
    for name, runs in times.items():
        median = statistics.median(runs)
        print(f"  {name:28s} {median * 1e6:9.1f} us  {median / first:6.2f} x")


if __name__ == "__main__":
    main()
