"""Plans of a six-axis arm: how long they take, and how often one is found among boxes that nothing was tuned by.

`python benchmarks/plan_trees.py [COUNT]`: CPU seconds, medians; poses that are reachable, at random, among three boxes.
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
from sim.planner import Box, Cylinder, Goal, Limits, Planner, Task
from sim.planner.task.clearance import spare_m
from sim.planner.task.cover import cover
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
    planner, rng, found, seconds, missed, close = Planner(), np.random.default_rng(1), 0, [], [], []
    planner.build(ARM, among_boxes(np.random.default_rng(0)))
    for number in range(count):
        task = among_boxes(rng)
        plan, took = timed(lambda t=task: planner.plan(ARM, t, starts=STARTS, processes=1))  # type: ignore[misc]
        found += plan.solved
        if not plan.solved:
            print(f"{number}: {plan.message}", flush=True)
            continue
        seconds.append(took)
        flown = sim.simulate(
            ARM,
            "newton",
            step=plan.step_s,
            duration=plan.duration_s,
            initial=task.start,
            controls=plan.controls[:-1],
        )
        ends = [flown.bodies["gripper"][-1][:3, 3], plan.trajectory.bodies["gripper"][-1][:3, 3]]
        missed.append(float(np.abs(ends[0] - ends[1]).max()))
        close.append(plan.clearance_m)
    print(f"{found} of {count} found, {np.median(seconds):.2f} s of CPU each with {STARTS} first guesses")
    print(
        f"replayed to {np.median(missed):.1e} m, {max(missed):.1e} m at most; {min(close):.4f} m clear at least"
    )


if __name__ == "__main__":
    times()
    poses(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
