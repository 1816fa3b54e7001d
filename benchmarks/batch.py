"""Many runs at once: `sim.batch` against one kernel a lane, with ground contact, and against MuJoCo.

    python -m benchmarks.batch [--lanes 2048] [--steps 500]
    python -m benchmarks.batch --trees

One interleaved run, medians. Steps a second of CPU time (all threads together), and of the wall on all cores, with how
many of them were had meanwhile: on a busy machine a second of the wall tells of its neighbours.
MuJoCo (its wheel) steps one free body of the same mass and inertia by its default method, all steps in one call.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np

import sim
from sim.compiler import compile_kernel
from sim.integrators import DEFAULT
from sim.steppers.dynamics import stepper_of
from sim.world import load_world

ROUNDS = 7
H = 0.01


Rate = tuple[float, float, float]
"""Steps a second of the process's CPU time, and of the wall; cores that were had."""


def rate(work: Callable[[], object], steps: int) -> Rate:
    """Of work that takes so many steps."""
    begun_s, begun_wall_s = time.process_time(), time.perf_counter()
    work()
    cpu_s, wall_s = time.process_time() - begun_s, time.perf_counter() - begun_wall_s
    return steps / cpu_s, steps / wall_s, cpu_s / wall_s


def helicopters(lanes: int) -> tuple[sim.Vehicle, np.ndarray, np.ndarray]:
    """Vehicle, nodes and controls: all different."""
    vehicle, rng = sim.vehicle("helicopter"), np.random.default_rng(3)
    nodes = np.repeat(vehicle.default_state().node[None], lanes, axis=0)
    nodes[:, vehicle.node_layout.velocity] += 0.2 * rng.standard_normal((lanes, 6))
    weight = vehicle.values["mass"] * vehicle.values["gravity"]
    scale = np.array([0.1 * weight, 0.01 * weight, 0.02, 0.02])
    controls = np.array([weight, 0.0, 0.0, 0.0]) + scale * rng.uniform(-1.0, 1.0, (lanes, 1, 4))
    return vehicle, nodes, controls


def mujoco_rate(steps: int) -> Rate | None:
    """Of one free body; None where there is no MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return None
    text = """<mujoco><option timestep="0.01"/><worldbody><body><freejoint/>
    <inertial pos="0 0 0" mass="5" diaginertia="0.3 0.5 0.7"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = (1.0, 0.2, 0.0, 0.1, 0.2, 0.05)
    return rate(lambda: mujoco.mj_step(model, data, steps), steps)


def trees(name: str, lanes: int, steps: int) -> None:
    """Prints what lanes of a tree take, all driven differently, one after the other and by `sim.batch`."""
    vehicle, method, h = sim.vehicle(name), sim.integrators()["variational"], 0.005
    controls = np.random.default_rng(0).uniform(-2.0, 2.0, (lanes, steps, len(vehicle.controls)))
    node, p, stepper = vehicle.default_state().node, vehicle.parameter_vector, stepper_of(vehicle, method)

    def alone() -> None:
        for us in controls:
            stepper.trajectory(stepper.start(node, us[0], p, h), us, p, h, steps)

    def together() -> None:
        sim.batch(vehicle, method, node[None], controls, step=h, duration=h * steps, every=10)

    rates: dict[str, list[float]] = {"one after the other": [], "side by side": []}
    for _ in range(ROUNDS + 1):
        for each, work in zip(rates.values(), (alone, together), strict=True):
            each.append(rate(work, lanes * steps)[0])
    told = [f"{each} {1e6 / np.median(runs[1:]):.2f}" for each, runs in rates.items()]
    gain = np.median(rates["side by side"][1:]) / np.median(rates["one after the other"][1:])
    print(f"{name}, {lanes} lanes of {steps} steps, us of CPU a step: {', '.join(told)}: {gain:.1f} x")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument(
        "--trees", action="store_true", help="linkages and arms, by recursions and side by side"
    )
    chosen = parser.parse_args()
    if chosen.trees:
        for name in ("four-bar-linkage", "six-axis-arm"):
            trees(name, 64, 100)
        return
    lanes, steps = chosen.lanes, chosen.steps
    vehicle, nodes, controls = helicopters(lanes)
    kernel, p = compile_kernel(vehicle, sim.integrators()[DEFAULT]), vehicle.parameter_vector
    starts = np.array([kernel.start(n, u, p, H) for n, u in zip(nodes, controls[:, 0], strict=True)])
    world = load_world("canyon", seed=7)
    x, y, z = world.pads[0].centre_w
    standing = np.repeat(vehicle.state(x=(x, y, z + 1.41)).node[None], lanes // 8, axis=0)
    landing = sim.batch(vehicle, DEFAULT, standing[:1], step=H, duration=3.0, world=world)
    still = np.repeat(landing.nodes[0, -1:], lanes // 8, axis=0)
    level = np.repeat(vehicle.state(x=(x, y, z + 4.0), v=(0.5, 0.1, 0.0)).node[None], lanes, axis=0)
    low, hover = nodes.copy(), np.array([vehicle.values["mass"] * vehicle.values["gravity"], 0.0, 0.0, 0.0])
    low[:, vehicle.node_layout.pose][:, 9:] = x, y, z + 4.0
    none = np.zeros(kernel.dim)

    def one_by_one() -> None:
        for y, u in zip(starts, controls[:, 0], strict=True):
            kernel.advance(y.copy(), u, none, p, H, steps)

    works: dict[str, tuple[Callable[[], object], int]] = {
        "one kernel a lane": (one_by_one, lanes * steps),
        "sim.batch": (
            lambda: sim.batch(vehicle, DEFAULT, nodes, controls, step=H, duration=H * steps), lanes * steps,
        ),
        "sim.batch, flying over ground": (
            lambda: sim.batch(vehicle, DEFAULT, level, hover, step=H, duration=H * steps, world=world), lanes * steps,
        ),
        "sim.batch, fallen, tumbling": (
            lambda: sim.batch(vehicle, DEFAULT, low[::8], controls[::8], step=H, duration=H * steps, world=world),
            len(low[::8]) * steps,
        ),
        "sim.batch, landing, then standing": (
            lambda: sim.batch(vehicle, DEFAULT, standing, step=H, duration=H * steps, world=world),
            len(standing) * steps,
        ),
        "sim.batch, standing": (
            lambda: sim.batch(vehicle, DEFAULT, still, step=H, duration=H * steps, world=world),
            len(still) * steps,
        ),
    }  # fmt: skip
    rates: dict[str, list[Rate]] = {name: [] for name in (*works, "MuJoCo, one free body")}
    for work, _ in works.values():
        work()
    for _ in range(ROUNDS):
        for name, (work, count) in works.items():
            rates[name].append(rate(work, count))
        other = mujoco_rate(100_000)
        if other is not None:
            rates["MuJoCo, one free body"].append(other)
    medians = {name: np.median(r, axis=0) for name, r in rates.items() if r}
    first = medians["one kernel a lane"][0]
    print(f"helicopter under {DEFAULT}, {lanes} lanes of {steps} steps, median of {ROUNDS}, interleaved")
    told = "a CPU second", "x the first", "a second", f"cores of {os.cpu_count()}"
    print(f"  {'million steps':34s} " + " ".join(f"{each:>12s}" for each in told))
    for name, (cpu, wall, cores) in medians.items():
        print(f"  {name:34s} {cpu / 1e6:12.3f} {cpu / first:12.3f} {wall / 1e6:12.3f} {cores:12.2f}")
    if "MuJoCo, one free body" in medians:
        print(f"  sim.batch is {medians['sim.batch'][0] / medians['MuJoCo, one free body'][0]:.0f} x MuJoCo")
    else:
        print("  MuJoCo is not there: pip install mujoco")


if __name__ == "__main__":
    main()
