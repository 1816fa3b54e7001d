"""Plans of robots from files that walk: standing up, a trot, and both at once.

    python -m benchmarks.plan_walking FILE.urdf [more files] [--far 2.0] [--only both]

A URDF is opened with a root that floats. It stands up from where the two last parts of its legs reach 0.45 of their
length down to 0.75 in 20 steps of 40 ms, trots so far in 60, and does both in 80, each from one first guess. What is
found is replayed in the simulation. Seconds are of the processor.
"""

import argparse
import time
from pathlib import Path

import sim
from benchmarks.plan_contact import replayed
from sim.planner import Goal, Limits, Planner, Task
from sim.planner.task.legs import standing
from sim.vehicles import ArticulatedVehicle

LOW, HIGH, STEP_S = 0.45, 0.75, 0.04
FAST = Limits(turn_radps=20.0, speed_mps=10.0)
LIMIT_S = 900.0


def tasks(vehicle: ArticulatedVehicle, far_m: float) -> dict[str, Task]:
    """By what they ask for."""

    def task(low: float, ahead_m: float, steps: int) -> Task:
        goal = Goal(standing(vehicle, HIGH, ahead_m))
        return Task(standing(vehicle, low), goal, steps * STEP_S, steps, limits=FAST)

    return {"up": task(LOW, 0.0, 20), "trot": task(HIGH, far_m, 60), "both": task(LOW, far_m, 80)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--far", type=float, default=2.0)
    parser.add_argument("--only", choices=["up", "trot", "both"])
    options = parser.parse_args()
    for file in options.files:
        robot = sim.vehicle(f"{file}:free" if file.endswith(".urdf") else file, hold=0.0)
        assert isinstance(robot, ArticulatedVehicle), file
        if not robot.walks:
            print(f"{Path(file).name}: has no feet that plans know")
            continue
        for name, task in tasks(robot, options.far).items():
            if options.only in (None, name):
                begun = time.process_time()
                plan = Planner().plan(robot, task, starts=1, explain=False, time_limit_s=LIMIT_S)
                taken = time.process_time() - begun
                found = "not solved"
                if plan.solved:
                    off, deep = replayed(plan, robot)
                    found = f"solved, replayed within {off:.1e}, {deep:.1e} m deep at most"
                print(
                    f"{robot.name}, {name}: {found}; {plan.iterations} iterations, {taken:.0f} s", flush=True
                )
                if not plan.solved:
                    print(plan.message, flush=True)


if __name__ == "__main__":
    main()
