"""Plans through contact: how many random starts are solved, how exactly the simulation replays them.

    python -m benchmarks.plan_contact [--of hopper] [--count 100] [--seed 0] [--starts 1]

Hoppers start on the ground or up to 0.2 m above it, hip and leg as chance has it; goals are 0.3 to 1.3 m further on.
Each plan is planned again from itself with its goal 20 mm further. Pushers start with their ball anywhere above the
ground and off the box, which is to stand 0.1 to 0.4 m further ahead or back. Quadrupeds stand up from low to high, or
trot 0.4 to 2 m from one height to another. With several starts the first guess that leads to a plan is taken. Seconds
are of the processor.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from sim.contact.trees import TreeGround
from sim.planner import Goal, Limits, Plan, Planner, Task
from sim.planner.task.bodies import body_poses
from sim.planner.task.task import usual_method
from sim.steppers.dynamics import stepper_of
from sim.vehicles import ArticulatedVehicle
from sim.vehicles.hopper import Hopper
from sim.vehicles.pusher import FORE_M, HALF_M, Pusher
from sim.vehicles.quadruped import Quadruped
from sim.world.terrain import Terrain

HOPPER, PUSHER, QUADRUPED = Hopper(), Pusher(hold=0.0), Quadruped()
LEVEL = Terrain(np.zeros((2, 2), np.float32), (-100.0, -100.0), 200.0)
BOX = ("box_ahead", "box_up", "box_pitch", "velocity")
"""What of the pusher is asked for: not where its arm ends."""
LIMIT_S = 600.0
"""Of the wall: a busy machine is no reason to find nothing."""


def tasks(rng: np.random.Generator) -> Iterator[Task]:
    """Random ones."""
    while True:
        hip, leg = rng.uniform(-0.3, 0.3), rng.uniform(-0.12, 0.12)
        up = (0.5 + leg) * np.cos(hip) + 0.03 + max(0.0, rng.uniform(-0.2, 0.2))
        goal = HOPPER.state({"ahead": rng.uniform(0.3, 1.3), "up": 0.53})
        yield Task(HOPPER.state({"up": up, "hip": hip, "leg": leg}), Goal(goal), 1.0, 40)


def pushes(rng: np.random.Generator) -> Iterator[Task]:
    """Random ones of the pusher."""
    ground = TreeGround.under(PUSHER, LEVEL)
    while True:
        arm = {"shoulder": rng.uniform(-1.4, 1.4), "elbow": rng.uniform(0.6, 2.2) * rng.choice((-1.0, 1.0))}
        at, by = rng.uniform(-0.3, 0.3), rng.uniform(0.1, 0.4) * rng.choice((-1.0, 1.0))
        start, goal = (PUSHER.state({**arm, "box ahead": x, "box up": HALF_M[2]}) for x in (at, at + by))
        T = body_poses(PUSHER, start.node[None], "forearm")[0]
        low = T[2, 3] - FORE_M * T[2, 2] < 0.08
        if low or abs(at + by) > 0.5 or min(ground.apart_m(s.node) for s in (start, goal)) < 0.03:
            continue
        wanted = Goal(goal, "free", "free", parts=BOX)
        yield Task(start, wanted, 2.0, 40, limits=Limits(turn_radps=20.0, speed_mps=10.0))


def trots(rng: np.random.Generator) -> Iterator[Task]:
    """Random ones of the quadruped: every third stands up where it is."""
    fast, h = Limits(turn_radps=20.0, speed_mps=10.0), 0.04
    for k in count():
        low, high = rng.uniform(0.9, 1.25), rng.uniform(0.6, 0.85)
        if k % 3 == 0:
            yield Task(
                QUADRUPED.standing(0.0, low), Goal(QUADRUPED.standing(0.0, high)), 20 * h, 20, limits=fast
            )
            continue
        far, begun = rng.uniform(0.4, 2.0), rng.uniform(0.6, 0.85)
        steps = 12 + round(24.0 * far)
        goal = Goal(QUADRUPED.standing(far, high))
        yield Task(QUADRUPED.standing(0.0, begun), goal, steps * h, steps, limits=fast)


OF: dict[str, tuple[ArticulatedVehicle, Callable[[np.random.Generator], Iterator[Task]], str]] = {
    "hopper": (HOPPER, tasks, "ahead"),
    "pusher": (PUSHER, pushes, "box_ahead"),
    "quadruped": (QUADRUPED, trots, "ahead"),
}
"""Vehicles by name, their tasks, and the coordinate that is to be 20 mm greater afterwards."""


def replayed(plan: Plan, vehicle: ArticulatedVehicle = HOPPER) -> tuple[float, float]:
    """In the simulation: (greatest difference of a coordinate [m or rad], how deep anything is in another [m])."""
    nodes, p, h = plan.motion.nodes, vehicle.parameter_vector, plan.step_s
    stepper = stepper_of(vehicle, plan.integrator)
    ground, nq = TreeGround.under(vehicle, LEVEL), vehicle.tree.nq
    y, off, deep = stepper.start(nodes[0], plan.controls[0], p, h), 0.0, 0.0
    for u, wanted in zip(plan.controls, nodes[1:], strict=False):
        _, status, _ = stepper.advance(y, u, np.zeros(stepper.dim), p, h, 1, ground.env)
        assert status == 0
        off = max(off, float(np.abs(y[:nq] - wanted[:nq]).max()))
        node = stepper.node(y, u, p, h)
        deep = max(deep, -ground.clearance_m(node), -ground.apart_m(node))
    return off, deep


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--of", choices=[*OF], default="hopper")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--starts", type=int, default=1)
    options = parser.parse_args()
    planner, rng = Planner(), np.random.default_rng(options.seed)
    cold, warm, offs, deeps, solved, again = [], [], [], [], 0, 0
    vehicle, drawn, column = OF[options.of]
    print(f"{options.of} by {usual_method(vehicle)}")
    for k, task in zip(range(options.count), drawn(rng), strict=False):
        begun = time.process_time()
        plan = planner.plan(
            vehicle,
            task,
            starts=options.starts,
            processes=1,
            found=lambda plan: False,
            explain=False,
            time_limit_s=LIMIT_S,
        )
        cold.append(time.process_time() - begun)
        found = "solved" if plan.solved else "not solved"
        print(f"{k}: {found}, {plan.iterations} iterations, {cold[-1]:.1f} s: {plan.message}", flush=True)
        if not plan.solved:
            continue
        solved += 1
        further = task.goal.state.node.copy()
        further[vehicle.space.columns.index(column)] += 0.02
        begun = time.process_time()
        goal = replace(task.goal, state=vehicle.state_at_node(further))
        next_plan = planner.plan(
            vehicle, replace(task, goal=goal), warm=plan, starts=1, explain=False, time_limit_s=LIMIT_S
        )
        warm.append(time.process_time() - begun)
        again += next_plan.solved
        for each in (plan, *((next_plan,) if next_plan.solved else ())):
            off, deep = replayed(each, vehicle)
            offs.append(off)
            deeps.append(deep)
    print(f"solved {solved} of {options.count}, {again} of these again from themselves")
    if not warm:
        return
    print(f"first plan {np.median(cold):.2f} s (worst {max(cold):.2f}), from itself {np.median(warm):.3f} s")
    shares = ", ".join(f"{np.quantile(offs, q):.1e}" for q in (0.5, 0.9, 1.0))
    print(f"replayed within {shares} (median, nine of ten, all); deepest {max(deeps):.1e} m")


if __name__ == "__main__":
    main()
