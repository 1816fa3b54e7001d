"""What plans are worth: by other transcriptions, on finer grids, against known optima, and flown.

    python -m benchmarks.plan_methods [methods] [canyon] [default] [optima] [swing] [--rounds 5]

Seconds are of the planning thread, medians of several; all from the first guess alone.
"""

import argparse
import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

import sim
from benchmarks.collocation import COLLOCATION
from benchmarks.planner import loaded, timed
from sim.integrators import Integrator, integrator
from sim.integrators.composed import Galerkin
from sim.planner import Goal, Limits, Plan, Planner, Task, Weights
from tests.sim.carried_load import swing_after_arrival

DEFAULTS = ("plan-boat-slalom", "plan-boat-docking", "plan-rigid-body-turn", "plan-helicopter-landing")


def comparison_tasks() -> dict[str, tuple[sim.Vehicle, Task]]:
    """Free flights of a model helicopter, from rest to rest and between moving ends, and the boat's docking."""
    heli = sim.vehicle("helicopter", mass=8.0, inertia=(0.3, 0.6, 0.6), drag=0.05)
    turned = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    limits = Limits(speed_mps=12.0, controls={"u_c": (0.0, 160.0)})
    options = {"duration_s": 6.0, "weights": Weights(comfort=0.05), "limits": limits}
    rest = Task(start=heli.state(x=(0, 0, 3)), goal=Goal(heli.state(x=(18, 6, 6), R=turned)), **options)
    start = heli.state(x=(0, 0, 3), v=(4, 1, 0), omega=(0, 0, 0.3))
    goal = Goal(heli.state(x=(18, 6, 6), R=turned, v=(3, 0, 0.5), omega=(0, 0, -0.3)))
    boat, docking = loaded("plan-boat-docking")
    return {
        "rest to rest": (heli, rest),
        "moving ends": (heli, Task(start=start, goal=goal, **options)),
        "boat docking": (boat, docking),
    }


def methods(rounds: int) -> None:
    """The same tasks by other transcriptions, with the same solvers."""
    shooting, arcs = ("rk4", "rkmk4"), ("variational", "variational-split", "galerkin-4", "galerkin-6")
    chosen: list[Integrator] = [integrator(n) for n in (*arcs, *shooting)]
    chosen += COLLOCATION
    print(
        "| task | method | steps | cost | cpu s | iterations | own replay m | continuous replay m |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for name, (vehicle, task) in comparison_tasks().items():
        for steps in (16, 32, 64, 128):
            for method in chosen:
                if method.serves(vehicle) or (method.name == "rkmk4" and vehicle.group.name == "SE3"):
                    continue
                planner, sized = Planner(), dataclasses.replace(task, steps=steps)
                planner.plan(vehicle, sized, method=method, explain=False, starts=1)
                plan, _, cpu = timed(
                    lambda v=vehicle, t=sized, m=method, p=planner: p.plan(
                        v, t, method=m, explain=False, starts=1
                    ),
                    rounds,
                )
                print(
                    f"| {name} | {method.name} | {steps} | {plan.cost:.4f} | {cpu:.3f} | {plan.iterations} | "
                    f"{own_replay(plan)} | {continuous_replay(plan):.1e} |"
                    + ("" if plan.solved else f" {plan.status}"),
                    flush=True,
                )


def canyon(rounds: int) -> None:
    """A long flight in few long steps, each method in turn."""
    vehicle, task = loaded("plan-canyon")
    names, degree_four = ("variational", "galerkin-4", "galerkin-6"), Galerkin("galerkin-8", 4, "")
    planner, chosen = Planner(), (*map(integrator, names), degree_four, COLLOCATION[-1])
    print("| steps | method | cost | cpu s | iterations | continuous replay m |\n|---|---|---|---|---|---|")
    for steps in (16, 32, 64):
        sized, found, seconds = dataclasses.replace(task, steps=steps), {}, [[] for _ in chosen]
        for _ in range(rounds + 1):
            for i, method in enumerate(chosen):
                found[i], _, cpu = timed(
                    lambda m=method, t=sized: planner.plan(vehicle, t, method=m, explain=False, starts=1), 1
                )
                seconds[i].append(cpu)
        for i, plan in found.items():
            print(
                f"| {steps} | {plan.integrator.name} | {plan.cost:.4f} | {np.median(seconds[i][1:]):.3f} | "
                f"{plan.iterations} | {continuous_replay(plan):.1e} |"
                + ("" if plan.solved else f" {plan.status}"),
                flush=True,
            )
        arcs = {plan.integrator.name: plan for plan in found.values() if plan.integrator in chosen[1:4]}
        for ours, theirs in itertools.permutations(arcs, 2):
            nodes, controls = arcs[theirs].motion.nodes, arcs[theirs].motion.controls
            plan = planner.plan(
                vehicle, sized, method=arcs[ours].integrator, warm=(nodes, controls), explain=False, starts=1
            )
            print(
                f"| {steps} | {ours} from {theirs} | {plan.cost:.4f} | | {plan.iterations} | "
                f"{continuous_replay(plan):.1e} |" + ("" if plan.solved else f" {plan.status}"),
                flush=True,
            )


def own_replay(plan: Plan) -> str:
    """Largest distance [m] between the plan and its inputs simulated by the same method and step."""
    if plan.integrator.family == "collocation":
        return "-"
    run = sim.simulate(
        plan.vehicle, plan.integrator, step=plan.step_s, duration=plan.duration_s, initial=plan.task.start,
        controls=plan.controls[:-1],
    )  # fmt: skip
    return f"{np.abs(run.pose - plan.trajectory.pose).max():.0e}"


def continuous_replay(plan: Plan, parts: int = 40) -> float:
    """Distance [m] from the plan's end after the continuous equations were driven by its inputs.

    Inputs are held over a step, which is how they were planned.
    """
    n = len(plan.controls) - 1
    at = np.arange(n * parts) / parts + 0.5 / parts
    u = plan.controls[at.astype(int)]
    fine = "rkmk4" if plan.vehicle.group.turns == 1 else "rk4"
    run = sim.simulate(
        plan.vehicle,
        fine,
        step=plan.step_s / parts,
        duration=plan.duration_s,
        initial=plan.task.start,
        controls=u,
    )
    there = plan.vehicle.group.position
    return float(np.linalg.norm(run.nodes[-1, there] - plan.trajectory.nodes[-1, there]))


def default(rounds: int) -> None:
    """The planner's default against the simulation's: cost on finer and finer grids, time from scratch."""
    print("| task | method | cost at 64, 128, 256 steps | cpu s at 64 |\n|---|---|---|---|")
    for scene in DEFAULTS:
        vehicle, task = loaded(scene)
        for name in ("variational", "variational-exact"):
            costs, seconds = [], []
            for steps in (64, 128, 256):
                planner, sized = Planner(), dataclasses.replace(task, steps=steps)
                planner.plan(vehicle, sized, method=name, explain=False, starts=1)
                plan, _, cpu = timed(
                    lambda v=vehicle, t=sized, p=planner, m=name: p.plan(
                        v, t, method=m, explain=False, starts=1
                    ),
                    rounds,
                )
                costs.append(f"{plan.cost:.5f}")
                seconds.append(cpu)
            print(f"| {scene[5:]} | {name} | {', '.join(costs)} | {seconds[0]:.3f} |", flush=True)


def optima() -> None:
    """Costs of plans whose least cost is known, on finer and finer grids."""
    print("| task | exact | at 32, 64, 128 steps |\n|---|---|---|")
    body = sim.vehicle("rigid-body", gravity=0.0)
    force = {c.name: 1.0 for c in body.controls}
    options = {
        "limits": Limits(speed_mps=50.0, turn_radps=3.0),
        "weights": Weights(comfort=0.0),
        "effort_scale": force,
    }
    moved = Task(body.state(), Goal(body.state(x=(3.0, 0.0, 0.0))), 4.0, **options)
    turned = Rotation.from_rotvec([2.0, 0.0, 0.0]).as_matrix()
    heavy = body.with_parameters(inertia=(3.0, 4.0, 5.0))
    turning = Task(heavy.state(), Goal(heavy.state(R=turned)), 4.0, **options)
    hurried = dataclasses.replace(
        moved,
        free_duration=(0.5, 10.0),
        weights=Weights(effort=0.0, comfort=0.0, time=1.0),
        limits=Limits(speed_mps=50.0, turn_radps=3.0, controls=dict.fromkeys(force, (-1.5, 1.5))),
    )
    known = {
        "rest to rest, 12 d^2 / T^3": (body, moved, 12.0 * 3.0**2 / 4.0**3),
        "a turn, 12 (J a)^2 / T^3": (heavy, turning, 12.0 * (3.0 * 2.0) ** 2 / 4.0**3),
        "least time, 2 sqrt(m d / F)": (body, hurried, 2.0 * np.sqrt(3.0 / 1.5)),
    }
    for name, (vehicle, task, exact) in known.items():
        plans = [
            Planner().plan(vehicle, dataclasses.replace(task, steps=steps), explain=False, starts=1)
            for steps in (32, 64, 128)
        ]
        costs = ", ".join(f"{plan.cost:.6f}" if plan.solved else plan.status for plan in plans)
        print(f"| {name} | {exact:.6f} | {costs} |", flush=True)


def swing() -> None:
    """What a load that was carried by plan does after it: by an independent integration, with multipliers."""
    print("| steps | largest swing on the way, degrees | after arrival |\n|---|---|---|")
    vehicle, task = loaded("plan-sling")
    at = vehicle.space.slices["direction_1"]
    for steps in (32, 64, 128):
        plan = Planner().plan(vehicle, dataclasses.replace(task, steps=steps), explain=False, starts=1)
        way = np.degrees(np.arccos(np.clip(-plan.trajectory.nodes[:, at][:, 2], -1.0, 1.0))).max()
        print(f"| {steps} | {way:.1f} | {np.degrees(swing_after_arrival(plan)).max():.4f} |", flush=True)


PARTS: dict[str, Callable[[int], None]] = {
    "methods": methods,
    "canyon": canyon,
    "default": default,
    "optima": lambda _: optima(),
    "swing": lambda _: swing(),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all where none is named")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of a measurement")
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        print(f"\n### {part}\n")
        PARTS[part](asked.rounds)


if __name__ == "__main__":
    main()
