"""Plans through contact: how many random starts of the hopper are solved, how exactly the simulation replays them.

    python -m benchmarks.plan_contact [--count 100] [--seed 0]

Starts stand on the ground or hang up to 0.2 m above it, hip and leg as chance has it; goals are 0.3 to 1.3 m further
on. Each plan is planned again from itself with its goal 20 mm further. Seconds are of the processor.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sim.contact.trees import TreeGround
from sim.planner import Goal, Plan, Planner, Task
from sim.planner.task.task import usual_method
from sim.steppers.dynamics import stepper_of
from sim.vehicles.hopper import Hopper
from sim.world.terrain import Terrain

HOPPER = Hopper()
LIMIT_S = 600.0
"""Of the wall: a busy machine is no reason to find nothing."""


def tasks(rng: np.random.Generator) -> Iterator[Task]:
    """Random ones."""
    while True:
        hip, leg = rng.uniform(-0.3, 0.3), rng.uniform(-0.12, 0.12)
        up = (0.5 + leg) * np.cos(hip) + 0.03 + max(0.0, rng.uniform(-0.2, 0.2))
        goal = HOPPER.state({"ahead": rng.uniform(0.3, 1.3), "up": 0.53})
        yield Task(HOPPER.state({"up": up, "hip": hip, "leg": leg}), Goal(goal), 1.0, 40)


def replayed(plan: Plan) -> tuple[float, float]:
    """In the simulation: (greatest difference of a coordinate [m or rad], how deep an end is under the ground [m])."""
    nodes, p, h = plan.motion.nodes, HOPPER.parameter_vector, plan.step_s
    stepper = stepper_of(HOPPER, plan.integrator)
    level = Terrain(np.zeros((2, 2), np.float32), (-100.0, -100.0), 200.0)
    ground, nq = TreeGround.under(HOPPER, level), HOPPER.tree.nq
    y, off, deep = stepper.start(nodes[0], plan.controls[0], p, h), 0.0, 0.0
    for u, wanted in zip(plan.controls, nodes[1:], strict=False):
        _, status, _ = stepper.advance(y, u, np.zeros(stepper.dim), p, h, 1, ground.env)
        assert status == 0
        off = max(off, float(np.abs(y[:nq] - wanted[:nq]).max()))
        deep = max(deep, -ground.clearance_m(stepper.node(y, u, p, h)))
    return off, deep


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    planner, rng = Planner(), np.random.default_rng(options.seed)
    cold, warm, offs, deeps, solved, again = [], [], [], [], 0, 0
    print(f"hopper by {usual_method(HOPPER)}")
    for _, task in zip(range(options.count), tasks(rng), strict=False):
        begun = time.process_time()
        plan = planner.plan(HOPPER, task, starts=1, explain=False, time_limit_s=LIMIT_S)
        cold.append(time.process_time() - begun)
        if not plan.solved:
            print(f"not solved: {plan.message}")
            continue
        solved += 1
        further = task.goal.state.node.copy()
        further[0] += 0.02
        begun = time.process_time()
        goal = Goal(HOPPER.state_at_node(further))
        next_plan = planner.plan(
            HOPPER, replace(task, goal=goal), warm=plan, starts=1, explain=False, time_limit_s=LIMIT_S
        )
        warm.append(time.process_time() - begun)
        again += next_plan.solved
        for each in (plan, *((next_plan,) if next_plan.solved else ())):
            off, deep = replayed(each)
            offs.append(off)
            deeps.append(deep)
    print(f"solved {solved} of {options.count}, {again} of these again from themselves")
    print(f"first plan {np.median(cold):.2f} s (worst {max(cold):.2f}), from itself {np.median(warm):.3f} s")
    shares = ", ".join(f"{np.quantile(offs, q):.1e}" for q in (0.5, 0.9, 1.0))
    print(f"replayed within {shares} (median, nine of ten, all); deepest {max(deeps):.1e} m")


if __name__ == "__main__":
    main()
