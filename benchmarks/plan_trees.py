"""Plans of a six-axis arm: how long they take, and how often one is found among boxes that nothing was tuned by.

`python benchmarks/plan_trees.py [COUNT]`: CPU seconds, medians; poses that are reachable, at random, among three boxes.
`python benchmarks/plan_trees.py FILE.urdf [COUNT] [BOXES]`: of a robot that was never seen, over a floor, from pose to
pose, among boxes at random.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sim
from sim.planner import Box, Cylinder, Goal, Limits, Planner, SafeGround, Task
from sim.planner.task.bodies import body_poses
from sim.planner.task.clearance import spare_m
from sim.planner.task.cover import cover
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.six_axis_arm import SixAxisArm

ARM = SixAxisArm(hold=0.0)
AT = ARM.node_layout.pose
REST = {"turn": -1.0, "shoulder": 0.6, "elbow": 0.4, "wrist": 0.6}
STARTS = 6
_Found = TypeVar("_Found")


def timed(call: Callable[[], _Found]) -> tuple[_Found, float]:
    """What it answers, and its CPU seconds."""
    begun = time.process_time()
    answer = call()
    return answer, time.process_time() - begun


def around_a_pillar() -> Task:
    """64 steps, one obstacle that is in the way."""
    balls = cover(ARM)
    return Task(
        ARM.state(REST),
        Goal(ARM.state({**REST, "turn": 1.0}), parts=("velocity",)),
        duration_s=2.0,
        limits=Limits(turn_radps=6.0),
        obstacles=(Cylinder((1.1, 0.0, 0.0), 0.1, "pillar"),),
        body=balls.balls,
        bodies=balls.bodies,
        clearance_m=0.02,
    )


def times() -> None:
    """From scratch, and while the goal is dragged."""
    planner, task = Planner(), around_a_pillar()
    _, built_s = timed(lambda: planner.build(ARM, task))
    cold = [timed(lambda: planner.plan(ARM, task, starts=1)) for _ in range(5)]
    plan, warm = cold[0][0], []
    for angle in 1.0 + 0.15 * np.sin(0.3 * np.arange(60)):
        goal = replace(task.goal, state=ARM.state({**REST, "turn": float(angle)}))
        moved = replace(task, goal=goal)
        new, seconds = timed(
            lambda m=moved, p=plan: planner.plan(ARM, m, warm=p, starts=1, explain=False)  # type: ignore[misc]
        )
        warm.append((seconds, new.solved))
        plan = new if new.solved else plan
    print(f"built {built_s:.1f} s")
    print(f"cold {np.median([s for _, s in cold]):.3f} s, {cold[0][0].iterations} iterations")
    ms = 1e3 * np.array([s for s, _ in warm[1:]])
    print(
        f"dragged {np.median(ms):.1f} ms, {ms.max():.0f} ms at most, {np.mean([ok for _, ok in warm]):.0%} solved"
    )


def among_boxes(rng: np.random.Generator) -> Task:
    """A pose that is free, reached from rest that is free, boxes wherever they are not in the way of these two."""
    task = around_a_pillar()
    low, high = (x.copy() for x in ARM.tree.arrays.limits.T)
    while True:
        boxes = []
        for k in range(3):
            away, around, height = rng.uniform(0.6, 1.2), rng.uniform(-np.pi, np.pi), rng.uniform(0.2, 1.4)
            middle = (away * np.cos(around), away * np.sin(around), height)
            half = tuple(rng.uniform(0.05, 0.2, 3))
            boxes.append(Box(middle, half, rng.uniform(0.0, np.pi), f"box {k + 1}"))
        node = ARM.state().node.copy()
        node[AT] = rng.uniform(0.8 * low, 0.8 * high)
        goal = Goal(ARM.state_at_node(node), parts=("velocity",))
        found = replace(task, obstacles=tuple(boxes), goal=goal)
        if spare_m(ARM, np.stack([task.start.node[AT], node[AT]]), found).min() > 0.01:
            return found


def poses(count: int) -> None:
    """How many are found, how far plans end from where they should under the simulation, how close they come."""
    planner, rng, found, seconds, close = Planner(), np.random.default_rng(1), 0, [], []
    missed: dict[str, list[float]] = {"the plan's own solver": [], "newton": []}
    planner.build(ARM, among_boxes(np.random.default_rng(0)))
    for number in range(count):
        task = among_boxes(rng)
        plan, took = timed(lambda t=task: planner.plan(ARM, t, starts=STARTS, processes=1))  # type: ignore[misc]
        found += plan.solved
        if not plan.solved:
            print(f"{number}: {plan.message}", flush=True)
            continue
        seconds.append(took)
        for method, misses in zip((plan.integrator, "newton"), missed.values(), strict=True):
            flown = sim.simulate(
                ARM,
                method,
                step=plan.step_s,
                duration=plan.duration_s,
                initial=task.start,
                controls=plan.controls[:-1],
            )
            ends = [flown.bodies["gripper"][-1][:3, 3], plan.trajectory.bodies["gripper"][-1][:3, 3]]
            misses.append(float(np.abs(ends[0] - ends[1]).max()))
        close.append(plan.clearance_m)
    print(f"{found} of {count} found, {np.median(seconds):.2f} s of CPU each with {STARTS} first guesses")
    for solver, misses in missed.items():
        print(f"replayed by {solver} to {np.median(misses):.1e} m, {max(misses):.1e} m at most")
    print(f"{min(close):.4f} m clear at least")


def robot(path: str, count: int, boxes: int) -> None:
    """Read, covered by balls, planned for from pose to pose, flown, and dragged; CPU seconds."""
    vehicle, read_s = timed(lambda: sim.vehicle(path, hold=0.0))
    assert isinstance(vehicle, ArticulatedVehicle)
    balls, covered_s = timed(lambda: cover(vehicle))
    print(f"{vehicle.name}: read {read_s:.2f} s, covered {covered_s:.2f} s by {len(balls.balls)} balls")
    rng, planner, at, tool = np.random.default_rng(0), Planner(), vehicle.node_layout.pose, vehicle.tool
    low, high = vehicle.tree.arrays.limits.T
    ends = np.isfinite(low) & np.isfinite(high)
    middle, half = np.zeros(len(low)), np.full(len(low), 2.0)
    middle[ends] = 0.5 * (low[ends] + high[ends])
    half[ends] = np.minimum(0.5 * (high[ends] - low[ends]), 2.0)

    def anywhere() -> sim.State:
        node = vehicle.default_state().node.copy()
        node[at] = middle + 0.6 * half * rng.uniform(-1.0, 1.0, len(half))
        if isinstance(vehicle, ClosedVehicle):
            node[at] = vehicle.closure.brought(node[at])
        return vehicle.state_at_node(node)

    reach = np.linalg.norm([body_poses(vehicle, anywhere().node[None])[0, :3, 3] for _ in range(20)], axis=1)

    def box(k: int) -> Box:
        away, around, height = rng.uniform(0.4, 1.0), rng.uniform(-np.pi, np.pi), rng.uniform(0.1, 0.9)
        middle = reach.max() * np.array([away * np.cos(around), away * np.sin(around), height])
        half = reach.max() * rng.uniform(0.04, 0.15, 3)
        return Box(tuple(middle), tuple(half), rng.uniform(0.0, np.pi), f"box {k + 1}")

    def drawn() -> Task:
        while True:
            start, end = anywhere(), anywhere()
            task = Task(
                start,
                Goal(end, parts=("velocity",)),
                duration_s=2.5,
                steps=64,
                body=balls.balls,
                bodies=balls.bodies,
                ground=SafeGround.level(0.0),
                limits=Limits(turn_radps=4.0),
                obstacles=tuple(map(box, range(boxes))),
                clearance_m=0.01,
            )
            if spare_m(vehicle, np.stack([start.node[at], end.node[at]]), task).min() > 0.0:
                return task

    for number in range(count):
        task = drawn()
        _, built_s = timed(lambda t=task: planner.build(vehicle, t))  # type: ignore[misc]
        plan, took_s = timed(
            lambda t=task: planner.plan(  # type: ignore[misc]
                vehicle, t, starts=STARTS if boxes else 3, processes=1, explain=False, time_limit_s=1e3
            )
        )
        if not plan.solved:
            print(f"{number}: built {built_s:.2f} s, {took_s:.2f} s: {plan.message}", flush=True)
            continue
        wanted, missed, clear = plan.trajectory.bodies[tool][-1], [], plan.clearance_m
        for controls in (plan.controls[:-1], plan.feedback):
            flown = sim.simulate(
                vehicle,
                plan.integrator,
                step=plan.step_s,
                duration=plan.duration_s,
                initial=task.start,
                controls=controls,
            )
            missed.append(float(np.abs(flown.bodies[tool][-1] - wanted).max()))
        warm, solved = [], 0
        for by in 0.05 * np.sin(0.5 * np.arange(20)):
            node = task.goal.state.node.copy()
            node[0] += by
            if spare_m(vehicle, node[at][None], task).min() < 0.0:
                continue  # into a box
            moved = replace(task, goal=replace(task.goal, state=vehicle.state_at_node(node)))
            new, seconds = timed(
                lambda m=moved, p=plan: planner.plan(vehicle, m, warm=p, starts=1, explain=False)  # type: ignore[misc]
            )
            plan, solved = new if new.solved else plan, solved + new.solved
            warm.append(1e3 * seconds)
        print(
            f"{number}: built {built_s:.2f} s, planned {took_s:.2f} s, {clear:.3f} m clear, ends {missed[0]:.1e} m "
            f"off, tracked {missed[1]:.1e} m; dragged {np.median(warm):.1f} ms, {max(warm):.0f} ms at most, "
            f"{solved} of {len(warm)}",
            flush=True,
        )


if __name__ == "__main__":
    given = sys.argv[1:]
    if given and not given[0].isdigit():
        robot(given[0], *(int(given[k]) if len(given) > k else usual for k, usual in ((1, 4), (2, 0))))
    else:
        times()
        poses(int(given[0]) if given else 100)
