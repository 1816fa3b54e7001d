"""How fast and how surely plans are found.

    python -m benchmarks.planner [cold] [warm] [free] [random] [beside] [nodes] [laps] [landed]
        [--count 200] [--rounds 5]

Seconds are of the wall, medians; "cpu" are of the planning thread alone, which other programs on the machine
do not disturb. Building a problem is told separately: it happens once for the shape of a task. All of it is about the
plan from the first guess alone, but for "beside"; benchmarks.plan_classes is about the others, too, and
benchmarks.plan_methods about what plans are worth by one method and another.
"""

import argparse
import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

import sim
from sim.control.pilot import Sensed
from sim.control.plan_following import PlannedPilot
from sim.controllers import PilotInput
from sim.environment.environment import environment_of
from sim.integrators import integrator
from sim.planner import Goal, Limits, Plan, Planner, Task, Waypoint, Weights, task_of_scene
from sim.planner.guess.guess import guess
from sim.planner.service.receding import Flight
from sim.planner.task.handles import handles, moved
from sim.planner.task.meeting import goal_at
from sim.planner.task.task import usual_method
from sim.planner.transcription.parameters import parameters
from sim.scene import load_scene, scene_names

DEFAULTS = ("plan-boat-slalom", "plan-boat-docking", "plan-rigid-body-turn", "plan-helicopter-landing")
RANDOM = ("plan-helicopter-landing", "plan-deck-landing", "plan-boat-docking", "plan-car-parking")
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


def random_start(scene: str, vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Task:
    """The scene's task from somewhere else: thrown helicopters, drifting boats, cars beside the gap; what moves has
    done so for a while."""
    task = dataclasses.replace(
        task, motions=tuple(motion.later(float(rng.uniform(0.0, 60.0))) for motion in task.motions)
    )
    if "landing" in scene:
        goal = goal_at(vehicle, task, 0.0).node[vehicle.group.position]
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


_SEED = 11
"""Of what is drawn at random, where no other is asked for."""


def random(count: int, scenes: Sequence[str], seed: int = _SEED, limit_s: float = 10.0) -> None:
    """Success from random starts; starts that are refused as impossible are drawn again."""
    print("| task | solved | median s | 95 % s | worst s | failures explained |\n|---|---|---|---|---|---|")
    for scene in (scene for scene in RANDOM if scene in scenes):
        vehicle, task = loaded(scene)
        planner, rng = Planner(), np.random.default_rng(seed)
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


@dataclasses.dataclass(frozen=True)
class Touchdown:
    """What is missed where a plan ends, as seen from what carries its goal."""

    off_m: float
    off_mps: float
    off_deg: float
    """Heading and tilt at once."""

    @property
    def stands(self) -> bool:
        """Within a metre of the mark, 0.5 m/s and 5 degrees of the deck."""
        return self.off_m < 1.0 and self.off_mps < 0.5 and self.off_deg < 5.0


def touched_down(plan: Plan, flown: sim.Vehicle, rng: np.random.Generator, gust_mps: float) -> Touchdown:
    """A plan is flown with feedback on a vehicle that it does not know, in gusts about its wind that last some 3 s."""
    vehicle, gust_w = plan.vehicle, np.zeros(3)
    pilot = PlannedPilot(plan.controls, plan.step_s, plan.feedback)
    flight = Flight(flown, plan.integrator, plan.task.start, plan.step_s, environment_of(flown))
    for k in range(len(plan.controls) - 1):
        kept = np.exp(-plan.step_s / 3.0)
        gust_w = kept * gust_w + np.sqrt(1.0 - kept**2) * gust_mps * rng.normal(size=3)
        wind_w = np.asarray(flown.values["wind"]) + gust_w
        flight.parameters = flown.with_parameters(wind=tuple(wind_w.tolist())).parameter_vector
        sensed = Sensed(*np.zeros((4, 3)), node=flight.node, time_s=k * plan.step_s)
        flight.advance(pilot.controls(PilotInput(), sensed, flown, plan.step_s))
    wanted, node = goal_at(vehicle, plan.task, plan.duration_s).node, flight.node
    T, at = vehicle.poses(np.stack([wanted, node])), vehicle.node_layout.velocity
    v_w = [pose[:3, :3] @ state[at][3:] for pose, state in zip(T, (wanted, node), strict=True)]
    turned = Rotation.from_matrix(T[0, :3, :3].T @ T[1, :3, :3]).magnitude()
    return Touchdown(
        float(np.linalg.norm(T[1, :3, 3] - T[0, :3, 3])),
        float(np.linalg.norm(v_w[1] - v_w[0])),
        float(np.degrees(turned)),
    )


def landings(
    count: int,
    wind_mps: float = 5.0,
    gust_mps: float = 1.5,
    heavier: float = 0.03,
    time_limit_s: float = 10.0,
) -> Iterator[Touchdown | None]:
    """Helicopters thrown about a ship fly their plans onto her deck with feedback: in a wind from anywhere and gusts
    that no plan knows, and lighter or heavier than planned. None for one that found no plan."""
    vehicle, task = loaded("plan-deck-landing")
    planner, rng = Planner(), np.random.default_rng(11)
    while count:
        drawn = random_start("plan-deck-landing", vehicle, task, rng)
        bearing, more = rng.uniform(0.0, 2 * np.pi), rng.uniform(-heavier, heavier)
        try:
            plan = planner.plan(vehicle, drawn, time_limit_s=time_limit_s, starts=1)
        except sim.InputError:
            continue
        wind = (wind_mps * np.cos(bearing), wind_mps * np.sin(bearing), 0.0)
        mass = (1.0 + more) * np.asarray(vehicle.values["mass"], float)
        flown = vehicle.with_parameters(wind=wind, mass=float(mass))
        count -= 1
        yield touched_down(plan, flown, rng, gust_mps) if plan.solved else None


def landed(count: int) -> None:
    """How many of the helicopters stand on the deck, and how far from their mark."""
    ends = [end for end in landings(count) if end is not None]
    print(
        f"{sum(end.stands for end in ends)} of {count} stand on the deck; {count - len(ends)} found no plan."
    )
    for name, unit in (("off_m", "m off the mark"), ("off_mps", "m/s"), ("off_deg", "degrees")):
        of_all = np.array([getattr(end, name) for end in ends])
        print(f"{np.median(of_all):.3f} {unit} in the median, {np.quantile(of_all, 0.95):.3f} of 95 of 100")


def interleaved(rounds: int, scenes: Sequence[str]) -> None:
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


def lap_of(name: str) -> tuple[sim.Vehicle, Task]:
    """The closed lap of the drivers' race, or around five marks, counterclockwise, of a boat and a helicopter."""
    if name == "race-drive":
        return loaded(name)
    vehicle = sim.vehicle(name)
    around = 2 * np.pi * np.arange(5) / 5 + 0.2
    flat = name == "boat"
    radius, up = (20.0, 0.0) if flat else (60.0, 30.0)
    places = [(radius * np.cos(a), 0.7 * radius * np.sin(a), up) for a in around]
    if flat:
        start, end = (vehicle.state(x=radius, theta=np.pi / 2 + turn) for turn in (0.0, 2 * np.pi))
    else:
        start = end = vehicle.state(x=(radius, 0.0, up), R=np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    task = Task(
        start,
        Goal(end, position="free", rotation="free", velocity="free"),
        25.0,
        steps=64,
        free_duration=(5.0, 200.0),
        periodic=("pose", "velocity"),
        waypoints=tuple(Waypoint(place, 2.0) for place in places),
        weights=Weights(effort=0.01, time=1.0, comfort=0.02),
        limits=Limits(turn_radps=1.5, tilt_rad=None if flat else 0.8),
    )
    return vehicle, task


_PATIENT_S = 900.0
"""Of the wall: seconds of the processor are told, however busy the machine."""


def laps(all_steps: Sequence[int] = (400, 800)) -> None:
    """Closed laps of least time, from nothing, on finer and finer grids, and by how much each is beside the next."""
    print(
        "| lap | steps | lap s | beside the last | build and plan, cpu s | by | status |\n|---|---|---|---|---|---|---|"
    )
    for name in ("race-drive", "boat", "helicopter"):
        vehicle, task = lap_of(name)
        before_s = math.nan
        for steps in all_steps:
            begun = time.process_time()
            plan = Planner().plan(vehicle, dataclasses.replace(task, steps=steps), time_limit_s=_PATIENT_S)
            cpu, off = time.process_time() - begun, 100.0 * abs(plan.duration_s / before_s - 1.0)
            beside = "" if math.isnan(off) else f"{off:.3f} %"
            before_s = plan.duration_s
            print(
                f"| {name} | {steps} | {plan.duration_s:.3f} | {beside} | {cpu:.1f} | {plan.backend} | {plan.status} |",
                flush=True,
            )


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "cold": lambda asked: cold(asked.rounds, asked.scenes),
    "warm": lambda asked: warm(asked.drags, asked.scenes),
    "free": lambda asked: warm(asked.drags, asked.scenes, of_free_duration),
    "random": lambda asked: random(asked.count, asked.scenes, asked.seed),
    "beside": lambda asked: interleaved(asked.rounds, asked.scenes),
    "nodes": lambda asked: nodes(asked.rounds, asked.scenes),
    "laps": lambda asked: laps(),
    "landed": lambda asked: landed(asked.count),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all where none is named")
    parser.add_argument("--count", type=int, default=200, help="random starts of each task")
    parser.add_argument("--seed", type=int, default=_SEED, help="of these random starts")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of a measurement")
    parser.add_argument("--drags", type=int, default=100)
    parser.add_argument("--scenes", nargs="+", default=SCENES, help="of random starts: those that have some")
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        print(f"\n### {part}\n")
        PARTS[part](asked)


if __name__ == "__main__":
    main()
