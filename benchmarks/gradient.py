"""Gradient of a rollout by all its controls, against the rollout itself.

    python -m benchmarks.gradient [--steps 1000]

One interleaved run, medians of CPU time: the kernel's own rollout with every node, the rollout that can be
differentiated, and that with its adjoint; then the same of an arm of seven joints, driven at all of them.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

import sim
from sim.compiler import compile_kernel
from sim.integrators import DEFAULT
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle, vehicle_of

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
    print(f"helicopter under {DEFAULT}, {steps} steps, gradient by {4 * steps} controls")
    table(works, steps)
    arm = seven_joints()
    torques = 2.0 * np.sin(t * np.linspace(1.0, 3.0, 7))

    def arm_rolled() -> sim.Rollout:
        return sim.rollout_gradient(arm, "variational", step=h, duration=h * steps, controls=torques)

    arm_weights = np.ones((steps + 1, arm.node_layout.size))
    print(f"arm of seven joints under variational, {steps} steps, gradient by {7 * steps} controls")
    table(
        {
            "the rollout by recursions": lambda: (
                sim.simulate(arm, "variational", step=h, duration=h * steps, controls=torques).nodes
            ),
            "with what derivatives need": arm_rolled,
            "with its gradient": lambda: arm_rolled().adjoint(arm_weights),
        },
        steps,
    )


def seven_joints() -> ArticulatedVehicle:
    """Hinges that turn by a right angle from each to the next, with friction."""
    axes = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    bodies = [
        Body(
            f"link {k}",
            f"link {k - 1}" if k else WORLD,
            Joint(axis=axes[k % 2], damping=0.5),
            position=(0.0, 0.0, 0.25 if k else 0.0),
            mass=4.0 - 0.5 * k,
            centre=(0.02, 0.0, 0.12),
            inertia=(0.03, 0.03, 0.01),
        )
        for k in range(7)
    ]
    return vehicle_of(tree(bodies, (0.0, 0.0, -9.81)))


def table(works: Mapping[str, Callable[[], object]], steps: int) -> None:
    """Prints medians of interleaved rounds, in all, a step and beside the first."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(ROUNDS):
        for name, work in works.items():
            begun = time.thread_time()
            for _ in range(REPEATS):
                work()
            times[name].append((time.thread_time() - begun) / REPEATS)
    first = statistics.median(next(iter(times.values())))
    for name, runs in times.items():
        median = statistics.median(runs)
        print(
            f"  {name:28s} {median * 1e6:9.1f} us  {median / steps * 1e6:6.2f} us a step  {median / first:6.2f} x"
        )


if __name__ == "__main__":
    main()
