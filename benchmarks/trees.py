"""Cost of a step of trees of joints, in one interleaved run of medians: the figures of docs/trees.md.

    python -m benchmarks.trees [--plot FILE] [--in-line]

A chain of 10, 100 and 200 rods against Pinocchio's articulated-body accelerations with semi-implicit Euler, and
against MuJoCo; humanoids of the gymnasium and dm_control packages against the clock; the vehicles of three scenes; with
--plot, cost against energy error over 200 s. Packages that are missing are left out. With --in-line that alone: how far
rows of four-bars come off their closed form where all bars come into line ten times.

Pinocchio is called from Python, twice a step: what the calls alone take is measured on one rod and taken off.
"""

import argparse
import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.integrators import integrator
from sim.scene import load_scene
from sim.steppers.bound_tree import BoundTree
from sim.steppers.dynamics import tree_stepper
from sim.vehicles.chain import radius_m
from sim.vehicles.forms.articulated import ClosedVehicle
from studies.ledger.linkages import parallelograms, top, top_truth
from studies.trees import LINK_KG, LINK_M, ChainRun, bent, chain, exponent, interleaved_us, started

LINKS = (10, 100, 200)
STEP_S, ROUNDS, BUDGET_S = 1e-3, 15, 0.02
GOALS_US = {10: 2.0, 100: 22.0, 200: 45.0}
MUJOCO = {
    "mujoco euler": "mjINT_EULER",
    "mujoco implicitfast": "mjINT_IMPLICITFAST",
    "mujoco rk4": "mjINT_RK4",
}
HUMANOIDS = (("gymnasium", "envs/mujoco/assets/humanoid.xml"), ("dm_control", "suite/humanoid.xml"))
HUMANOID_STEP_S = 2e-3
SCENES = ("rope", "linkage", "delta")
SECONDS, SAMPLES = 200.0, 200
PLOTTED = {
    "riqn": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    "riqn-variable": (4.0, 8.0, 16.0, 32.0),
    "semi-implicit-euler": (0.25, 0.5, 1.0, 2.0, 4.0),
    "rk4": (1.0, 2.0, 4.0, 8.0, 16.0),
    "mujoco euler": (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0),
    "mujoco rk4": (1.0, 2.0, 4.0, 8.0, 16.0),
}
"""Steps in ms."""


def wheel(name: str) -> Any:
    """The module, None where it is not installed."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def pinocchio_steps(links: int) -> Callable[[int], object]:
    """Articulated-body accelerations, then semi-implicit Euler on the joints' group."""
    pin = wheel("pinocchio")
    model, parent = pin.Model(), 0
    tree = chain(max(links, 10)).arrays
    for i in range(links):
        place = pin.SE3(tree.placement[i, :9].reshape(3, 3), tree.placement[i, 9:])
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint {i}")
        A = np.zeros((3, 3))
        A[np.triu_indices(3)] = tree.inertia[i, :6]
        centre = tree.moment[i] / tree.mass[i]
        J = A + np.triu(A, 1).T + tree.mass[i] * pin.skew(centre) @ pin.skew(centre)
        model.appendBodyToJoint(parent, pin.Inertia(tree.mass[i], centre, J), pin.SE3.Identity())
    data, state = model.createData(), [bent(links), np.zeros(links)]
    torque = np.zeros(links)

    def advance(steps: int) -> None:
        q, v = state
        for _ in range(steps):
            v = v + STEP_S * pin.aba(model, data, q, v, torque)
            q = pin.integrate(model, q, STEP_S * v)
        state[:] = q, v

    return advance


def mujoco_chain(links: int, integrator: str, step_s: float) -> tuple[Any, Any]:
    """(MjModel, MjData) of the same chain, bent, with its energy told."""
    mujoco = wheel("mujoco")
    radius = radius_m(LINK_M)
    across, along = LINK_KG * (LINK_M**2 + 3.0 * radius**2) / 12.0, LINK_KG * radius**2 / 2.0
    inertial = (
        f'<inertial pos="0 0 {-0.5 * LINK_M}" mass="{LINK_KG}" diaginertia="{across} {across} {along}"/>'
    )
    body = "".join(
        f'<body pos="0 0 {-LINK_M if i else 0.0}"><joint axis="{"1 0 0" if i % 2 else "0 1 0"}"/>{inertial}'
        for i in range(links)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step_s}"><flag energy="enable"/></option><worldbody>'
        f"{body}{'</body>' * links}</worldbody></mujoco>"
    )
    model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    data = mujoco.MjData(model)
    data.qpos[:] = bent(links)
    return model, data


def mujoco_steps(links: int, integrator: str) -> Callable[[int], object]:
    mujoco = wheel("mujoco")
    model, data = mujoco_chain(links, integrator, STEP_S)
    model.opt.enableflags = 0
    return lambda steps: mujoco.mj_step(model, data, nstep=steps)


def chains() -> None:
    """The table of chains."""
    ours: list[float] = []
    call_us = 0.0
    if wheel("pinocchio"):
        call_us = interleaved_us({"one rod": pinocchio_steps(1)}, BUDGET_S, ROUNDS)["one rod"]
    for links in LINKS:
        tasks = {m: started(m, chain(links), bent(links), STEP_S).advance for m in ("riqn", "newton")}
        tasks["semi-implicit-euler"] = started(
            "semi-implicit-euler", chain(links), bent(links), STEP_S
        ).advance
        if wheel("pinocchio"):
            tasks["pinocchio from Python"] = pinocchio_steps(links)  # type: ignore[assignment]
        if wheel("mujoco"):
            tasks |= {name: mujoco_steps(links, how) for name, how in MUJOCO.items()}  # type: ignore[misc]
        spent = interleaved_us(tasks, BUDGET_S, ROUNDS)
        print(f"{links} links, h = 1 ms, us a step (goal {GOALS_US[links]:g}):")
        if wheel("pinocchio"):
            spent["pinocchio"] = spent["pinocchio from Python"] - call_us
        for name, us in spent.items():
            print(f"  {name:22s} {us:8.2f}   {us / spent['riqn']:6.2f} x riqn")
        if wheel("pinocchio"):
            print(f"  riqn / pinocchio       {spent['riqn'] / spent['pinocchio']:8.2f}   (at most 1.6)")
        ours.append(spent["riqn"])
    print(f"riqn grows as n^{exponent(list(LINKS), ours):.2f}")


def humanoids() -> None:
    """How many times faster than the clock humanoids thrash, thrown into the air."""
    for package, inside in HUMANOIDS:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations or not wheel("mujoco"):
            print(f"{package} or mujoco is not installed")
            continue
        robot = sim.read_robot(Path(next(iter(spec.submodule_search_locations))) / inside)
        stepper = BoundTree(robot.tree, HUMANOID_STEP_S, tolerance=1e-10)
        v = np.random.default_rng(0).normal(size=robot.tree.nv)
        motion = stepper.start(robot.start.q, robot.start.v + v)
        us = interleaved_us({"riqn": partial(stepper.advance, motion)}, BUDGET_S, ROUNDS)["riqn"]
        print(
            f"{package} humanoid, {robot.tree.nv} degrees of freedom, h = 2 ms: {us:.1f} us a step, "
            f"{HUMANOID_STEP_S / us * 1e6:.0f} x real time"
        )


def scenes() -> None:
    """What a step takes of the vehicles of scenes, let go as they are put there."""
    for name in SCENES:
        scene = load_scene(name)
        vehicle, h = scene.vehicle, scene.step_s
        stepper, p = tree_stepper(vehicle, integrator(scene.integrator)), vehicle.parameter_vector
        u, w, begin = vehicle.neutral_controls, np.zeros(stepper.dim), vehicle.default_state().node

        def advance(steps: int) -> object:
            return stepper.advance(stepper.start(begin, u, p, h), u, w, p, h, steps)  # noqa: B023

        us = interleaved_us({name: advance}, BUDGET_S, ROUNDS)[name]
        print(f"{name}, {vehicle.name}, h = {1e3 * h:g} ms: {us:.1f} us a step")


def varied(step_s: float) -> ChainRun:
    """Ten links in steps that are divided as their joints turn."""
    rods = sim.vehicle("chain", links=10, link_length=LINK_M, link_mass=LINK_KG)
    stepper, p, u, w = (
        tree_stepper(rods, integrator("riqn-variable")),
        rods.parameter_vector,
        rods.neutral_controls,
        np.zeros(10),
    )
    y, tree = stepper.start(np.r_[bent(10), np.zeros(10)], u, p, step_s), chain(10)

    def advance(steps: int) -> int:
        done, _, iterations = stepper.advance(y, u, w, p, step_s, steps)
        if done < steps:
            raise sim.InputError("riqn-variable: a step has no solution that is found")
        return iterations

    def state() -> tuple[np.ndarray, np.ndarray]:
        node = stepper.node(y, u, p, step_s)
        moving = BoundTree(tree, step_s)
        motion = moving.start(node[:10], node[10:])
        return motion.q, moving.momenta(motion)

    return ChainRun(advance, state, tree)


def energy_error(method: str, step_s: float) -> tuple[float, float]:
    """(CPU seconds, largest energy error over 200 s as a share of what moves) of ten links."""
    steps, tree = max(1, round(SECONDS / SAMPLES / step_s)), chain(10)
    lowest = started("riqn", tree, np.zeros(10), step_s).energy_J()
    moves_J = started("riqn", tree, bent(10), step_s).energy_J() - lowest
    if method in MUJOCO:
        mujoco = wheel("mujoco")
        model, data = mujoco_chain(10, MUJOCO[method], step_s)

        def advance(count: int) -> None:
            mujoco.mj_step(model, data, nstep=count)

        def energy() -> float:
            mujoco.mj_forward(model, data)
            return float(data.energy.sum())
    else:
        running = varied(step_s) if method == "riqn-variable" else started(method, tree, bent(10), step_s)
        advance, energy = running.advance, running.energy_J  # type: ignore[assignment]
    first, worst = energy(), 0.0
    us = interleaved_us({method: advance}, 0.01, 5)[method]
    for _ in range(SAMPLES):
        try:
            advance(steps)
        except sim.InputError:
            return us * SECONDS / step_s * 1e-6, np.inf
        worst = max(worst, abs(energy() - first))
    return us * SECONDS / step_s * 1e-6, worst / moves_J if np.isfinite(worst) else np.inf


def work_precision(plot: Path) -> None:
    """Cost against energy error, and how much cheaper than MuJoCo's Euler it is at each of its errors."""
    found = {
        name: [(step_ms, *energy_error(name, step_ms * 1e-3)) for step_ms in steps]
        for name, steps in PLOTTED.items()
        if wheel("mujoco") or name not in MUJOCO
    }
    figure = Figure(figsize=(7.5, 4.8))
    axes = figure.subplots()
    for name, rows in found.items():
        axes.loglog([r[1] for r in rows], [r[2] for r in rows], "o-", ms=4, label=name)
        for step_ms, cost_s, error in rows:
            print(f"  {name:20s} {step_ms:8g} ms  {cost_s:8.3f} s  {error:.1e}")
    axes.set(xlabel="CPU seconds for 200 s", ylabel="largest energy error / energy that moves")
    axes.set_title("10 links let go bent")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(plot, dpi=110, bbox_inches="tight")
    for step_ms, cost_s, error in found.get("mujoco euler", []):
        ours = [r for r in found["riqn"] if r[2] <= error]
        if ours:
            best = min(ours, key=lambda r: r[1])
            print(
                f"mujoco euler at {step_ms:g} ms errs by {error:.1e}; riqn errs by no more at {best[0]:g} ms for "
                f"1/{cost_s / best[1]:.0f} of the cost"
            )


def in_line() -> None:
    """Of one to ten four-bars in 10 s of rk4 at 5 ms, ten times through the pose in which loops' slopes lose rank."""
    for n in range(1, 11):
        vehicle, start = parallelograms(n).opened(f"row-of-{n}")
        assert isinstance(vehicle, ClosedVehicle)
        run = sim.simulate(vehicle, "rk4", step=5e-3, duration=10.0, initial=start)
        nq = vehicle.tree.nq
        off = np.abs(top((run.nodes[-1, :nq], run.nodes[-1, nq:])) - top_truth(n, 10.0)).max()
        share = np.ptp(run.energy) / abs(run.energy[0])
        gap_m = max(np.abs(vehicle.closure.gaps(q)).max() for q in run.nodes[:, :nq])
        print(f"  {n:2d} four-bars  off by {off:.1e} m, m/s  energy within {share:.1e}  gaps {gap_m:.1e} m")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, help="picture of cost against energy error; takes minutes")
    parser.add_argument(
        "--in-line", action="store_true", help="rows of four-bars through their singular pose"
    )
    options = parser.parse_args()
    if options.in_line:
        in_line()
        return
    chains()
    humanoids()
    scenes()
    if options.plot:
        work_precision(options.plot)


if __name__ == "__main__":
    main()
