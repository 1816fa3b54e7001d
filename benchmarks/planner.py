"""How fast and how surely plans are found, and how that compares with other transcriptions.

    python -m benchmarks.planner [cold] [warm] [free] [methods] [default] [random] [optima] [swing] [beside]
    [nodes] [--count 200] [--rounds 5]

Seconds are of the wall, medians; "cpu" are of the planning thread alone, which other programs on the machine
do not disturb. Building a problem is told separately: it happens once for the shape of a task. All of it is about the
plan from the first guess alone, but for "beside"; benchmarks.plan_classes is about the others, too.
"""

import argparse
import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

import sim
from benchmarks.collocation import COLLOCATION
from sim.integrators import Integrator, integrator
from sim.planner import Goal, Limits, Plan, Planner, Task, Weights, task_of_scene
from sim.planner.guess.guess import guess
from sim.planner.task.handles import handles, moved
from sim.planner.task.task import usual_method
from sim.planner.transcription.parameters import parameters
from sim.scene import load_scene, scene_names
from tests.sim.carried_load import swing_after_arrival

DEFAULTS = ("plan-boat-slalom", "plan-boat-docking", "plan-rigid-body-turn", "plan-helicopter-landing")
SCENES = tuple(name for name in scene_names() if name.startswith("plan-"))


def loaded(scene: str) -> tuple[sim.Vehicle, Task]:
    """Vehicle and task of a scene."""
    return task_of_scene(load_scene(scene))


def timed(work: Callable[[], Plan], rounds: int) -> tuple[Plan, float, float]:
    """(plan, median wall seconds of planning, median cpu seconds of the call)."""
    wall, cpu = [], []
    for _ in range(rounds):
        begun = time.process_time()
        plan = work()
        cpu.append(time.process_time() - begun)
        wall.append(plan.seconds)
    return plan, float(np.median(wall)), float(np.median(cpu))


def cold(rounds: int, scenes: Sequence[str]) -> None:
    """Every task from scratch, at 64 and 128 steps."""
    print(
        "| task | steps | build s | cold s | cpu s | iterations | by | status |\n|---|---|---|---|---|---|---|---|"
    )
    for scene in scenes:
        vehicle, task = loaded(scene)
        for steps in (64, 128):
            planner, sized = Planner(), dataclasses.replace(task, steps=steps)
            first = planner.plan(vehicle, sized, explain=False, starts=1)
            plan, wall, cpu = timed(
                lambda v=vehicle, t=sized, p=planner: p.plan(v, t, explain=False, starts=1), rounds
            )
            print(
                f"| {scene[5:]} | {steps} | {first.build_seconds:.2f} | {wall:.3f} | {cpu:.3f} | {plan.iterations} | "
                f"{plan.backend} | {plan.status} |",
                flush=True,
            )


def drags(vehicle: sim.Vehicle, task: Task, count: int) -> Iterator[Task]:
    """The goal on a figure of eight of 1 m, in steps of a hand that drags."""
    goal = handles(vehicle, task)[0]
    for k in range(count):
        T_w = goal.T_w.copy()
        a = 2 * np.pi * k / count
        T_w[:2, 3] += [np.sin(a), 0.5 * np.sin(2 * a)]
        yield moved(vehicle, task, goal.name, T_w)


def of_free_duration(task: Task) -> Task:
    """The same with a price on time, in 0.6 to 1.5 of its own."""
    return dataclasses.replace(
        task,
        free_duration=(0.6 * task.duration_s, 1.5 * task.duration_s),
        weights=dataclasses.replace(task.weights, time=0.3),
    )


def warm(count: int, scenes: Sequence[str], alike: Callable[[Task], Task] = lambda task: task) -> None:
    """Re-planning while the goal is dragged; places inside an obstacle are refused and not counted."""
    print(
        "| task | solved | median ms | worst ms | cpu median ms | cpu worst ms |\n|---|---|---|---|---|---|"
    )
    for scene in scenes:
        vehicle, task = loaded(scene)
        task, planner = alike(task), Planner()
        plan = planner.plan(vehicle, task, explain=False, starts=1)
        wall, cpu, solved = [], [], 0
        for dragged in [*list(drags(vehicle, task, count))[:3], *drags(vehicle, task, count)]:
            begun, started = time.process_time(), time.perf_counter()
            try:
                new = planner.plan(vehicle, dragged, warm=plan, explain=False)
            except sim.InputError:
                continue
            wall.append(time.perf_counter() - started)
            cpu.append(time.process_time() - begun)
            solved += new.solved
            plan = new if new.solved else plan
        w, c = 1e3 * np.array(wall[3:]), 1e3 * np.array(cpu[3:])
        print(
            f"| {scene[5:]} | {solved - 3}/{len(wall) - 3} | {np.median(w):.1f} | {w.max():.0f} | {np.median(c):.1f} | "
            f"{c.max():.0f} |",
            flush=True,
        )


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
    shooting = ("rk4", "rkmk4")
    chosen: list[Integrator] = [integrator(n) for n in ("variational", "variational-split", *shooting)]
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


def random_start(scene: str, vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Task:
    """The scene's task from somewhere else: thrown helicopters, drifting boats, cars beside the gap."""
    if "landing" in scene:
        goal = task.goal.state.node[vehicle.group.position]
        start = vehicle.state(
            x=goal + np.array([*rng.uniform(-60, 60, 2), rng.uniform(25, 60)]),
            R=Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix(),
            omega=rng.uniform(-1, 1, 3),
            v=rng.uniform(-6, 6, 3),
        )
    elif "boat" in scene:
        x, y, theta = rng.uniform((-5, -6, -np.pi), (6, 12, np.pi))
        start = vehicle.state(x=x, y=y, theta=theta)
    else:
        x, y, theta = rng.uniform((-2, -0.3, -0.5), (4, 1.5, 0.5))
        start = vehicle.state(x=x, y=y, theta=theta)
    return dataclasses.replace(task, start=start)


def random(count: int, limit_s: float = 10.0) -> None:
    """Success from random starts; starts that are refused as impossible are drawn again."""
    print("| task | solved | median s | 95 % s | worst s | failures explained |\n|---|---|---|---|---|---|")
    for scene in ("plan-helicopter-landing", "plan-boat-docking", "plan-car-parking"):
        vehicle, task = loaded(scene)
        planner, rng = Planner(), np.random.default_rng(11)
        solved, seconds, told = 0, [], []
        while len(seconds) < count:
            drawn = random_start(scene, vehicle, task, rng)
            begun = time.perf_counter()
            try:
                plan = planner.plan(vehicle, drawn, time_limit_s=limit_s, starts=1)
            except sim.InputError:
                continue
            seconds.append(time.perf_counter() - begun)
            solved += plan.solved
            if not plan.solved:
                told.append(plan.message)
        s = np.array(seconds)
        print(
            f"| {scene[5:]} | {solved}/{count} | {np.median(s):.2f} | {np.quantile(s, 0.95):.2f} | {s.max():.2f} | "
            f"{sum(bool(m) for m in told)}/{len(told)} |",
            flush=True,
        )
        for message in told[:5]:
            print(f"<!-- {message} -->")


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


def beside(rounds: int, scenes: Sequence[str]) -> None:
    """All first guesses of a task by one process and by two: seconds of the processor, and of the wall."""
    print(
        "| task | plans | cpu s of one | longer of two | all of two | wall s of one | of two |\n"
        "|---|---|---|---|---|---|---|"
    )
    for scene in scenes:
        vehicle, task = loaded(scene)
        planner = Planner()
        planner.plan(vehicle, task, explain=False, starts=1)
        spent: dict[int, list[np.ndarray]] = {1: [], 2: []}
        for _ in range(rounds):
            for processes, seconds in spent.items():
                begun, before = time.perf_counter(), os.times()
                plan = planner.plan(vehicle, task, explain=False, processes=processes)
                wall, after = time.perf_counter() - begun, os.times()
                own = after.user + after.system - before.user - before.system
                forks = sum(after[2:4]) - sum(before[2:4])
                seconds.append(np.array([max(own, forks), own + forks, wall]))
        (one, _, wall), (longer, both, of_two) = (np.median(seconds, axis=0) for seconds in spent.values())
        print(
            f"| {scene[5:]} | {1 + len(plan.alternatives)} | {one:.2f} | {longer:.2f} | {both:.2f} | {wall:.2f} | "
            f"{of_two:.2f} |",
            flush=True,
        )


def nodes(rounds: int, scenes: Sequence[str]) -> None:
    """What the Lagrangian's gradient and Hessian of 64 nodes take, of where the guess is."""
    print("| task | variables a node | ms |\n|---|---|---|")
    for scene in scenes:
        vehicle, task = loaded(scene)
        task = dataclasses.replace(task, steps=64)
        t = Planner().solvers(vehicle, integrator(usual_method(vehicle)), task).t
        program = t.program
        w, p, lam = guess(t, vehicle, task), parameters(t, vehicle, task), np.ones(program.rows)
        times = []
        for _ in range(20 * rounds):
            begun = time.thread_time()
            program.lagrangian(w, p, 1.0, lam)
            times.append(time.thread_time() - begun)
        print(f"| {scene} | {program.nv} | {1e3 * float(np.median(times)):.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts",
        nargs="*",
        help="cold, warm, free, methods, default, random, optima, swing, beside, nodes; all where none is named",
    )
    parser.add_argument("--count", type=int, default=200, help="random starts of each task")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of a measurement")
    parser.add_argument("--drags", type=int, default=100)
    parser.add_argument("--scenes", nargs="+", default=SCENES, help="of cold, warm, free, beside and nodes")
    given = parser.parse_args()
    parts = given.parts or [
        "cold",
        "warm",
        "free",
        "methods",
        "default",
        "random",
        "optima",
        "swing",
        "beside",
        "nodes",
    ]
    for part in parts:
        print(f"\n### {part}\n")
        if part == "random":
            random(given.count)
        elif part == "warm":
            warm(given.drags, given.scenes)
        elif part == "free":
            warm(given.drags, given.scenes, of_free_duration)
        elif part == "optima":
            optima()
        elif part == "cold":
            cold(given.rounds, given.scenes)
        elif part == "beside":
            beside(given.rounds, given.scenes)
        elif part == "nodes":
            nodes(given.rounds, given.scenes)
        elif part == "swing":
            swing()
        else:
            {"methods": methods, "default": default}[part](given.rounds)


if __name__ == "__main__":
    main()
