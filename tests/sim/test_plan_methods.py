"""Whatever method a plan is made of, the simulation makes the same motion of its inputs."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.integrators import integrator
from sim.planner import Cylinder, Goal, Planner, Sphere, Task
from sim.planner.result.record import record_of
from sim.planner.result.store import load_record, save_record
from sim.planner.task.check import unplannable
from sim.vehicles import Vehicle
from tests.sim.plan_audit import broken

STEPS = 16
SKEW = Rotation.from_euler("zyx", [1.0, 0.4, -0.5]).as_matrix()


def boat() -> tuple[Vehicle, Task]:
    """In wind, from a motion to a motion, around a buoy."""
    vehicle = sim.vehicle("boat", wind=(1.0, -4.0))
    goal = Goal(vehicle.state(x=8.0, y=3.0, theta=1.0, v=(0.4, 0.0)))
    start = vehicle.state(v=(0.3, 0.1), omega=0.1)
    return vehicle, Task(start, goal, 8.0, STEPS, obstacles=(Cylinder((4.0, 1.2, 0.0), 0.8),))


def body() -> tuple[Vehicle, Task]:
    """Tumbling under weight, from a motion to a motion, around a ball."""
    vehicle = sim.vehicle("rigid-body", mass=2.0, gravity=3.0)
    start = vehicle.state(omega=(0.2, -0.3, 0.1), v=(0.5, 0.0, 0.2))
    goal = Goal(vehicle.state(x=(5, 2, 1), R=SKEW, v=(0.3, 0.1, 0.0)))
    return vehicle, Task(start, goal, 6.0, STEPS, obstacles=(Sphere((2.5, 0.9, 0.5), 0.7),))


def car() -> tuple[Vehicle, Task]:
    """Off and around a post."""
    vehicle = sim.vehicle("car")
    goal = Goal(vehicle.state(x=10.0, y=3.0, theta=0.5), velocity="free")
    return vehicle, Task(vehicle.state(), goal, 8.0, STEPS, obstacles=(Cylinder((5.0, 0.5, 0.0), 0.8),))


TASKS = {"boat": boat, "rigid-body": body, "car": car}
PLANNABLE = [
    (name, vehicle)
    for name, method in sim.integrators().items()
    if not unplannable(method)
    for vehicle in TASKS
    if not method.serves(sim.vehicle(vehicle))
]
ONE_EACH = [
    next(pair for pair in PLANNABLE if pair[0] == name) for name in dict.fromkeys(n for n, _ in PLANNABLE)
]
# Forward Euler gains energy that a boat's thrusters cannot hold at this step; a car's wheels can.
ONE_EACH[[name for name, _ in ONE_EACH].index("lie-euler")] = ("lie-euler", "car")


@pytest.mark.parametrize(("method", "vehicle"), ONE_EACH)
def test_a_plan_is_what_the_simulation_makes_of_its_inputs(method, vehicle):
    plan = Planner().plan(*TASKS[vehicle](), method=method, explain=False, starts=1)
    assert plan.solved, plan.message
    assert plan.defect < 1e-8
    assert broken(plan) == []  # replay within 1e-7; measured 4e-16 .. 1.3e-10


def test_every_method_that_takes_one_step_from_node_to_node_is_planned_with():
    """On one vehicle each; those of trees, which share a scheme, are planned with in test_plan_trees."""
    whole = {
        name
        for name, method in sim.integrators().items()
        if not unplannable(method) and method.family != "multibody"
    }
    assert whole - {"discrete-gradient"} == {name for name, _ in ONE_EACH}  # serves no vehicle that has stops
    assert len(whole) > 20


def test_options_of_a_method_make_another_problem_and_stay_with_the_plan(tmp_path: Path) -> None:
    """One planner plans with both; each plan replays with its own alpha, kept, stored and read again too."""
    car, planner = sim.vehicle("car"), Planner()
    task = Task(car.state(), Goal(car.state(x=8.0, y=1.0)), 8.0, steps=32)
    for alpha in (0.5, 0.0):
        method = integrator("variational", alpha=alpha)
        plan = planner.plan(car, task, method=method, starts=1)
        assert plan.solved, plan.message
        kept = load_record(save_record(record_of(plan, f"alpha {alpha:g}"), tmp_path))
        run = sim.simulate(
            car, kept.method, step=kept.step_s, duration=kept.duration_s, initial=task.start,
            controls=kept.controls[:-1],
        )  # fmt: skip
        assert np.abs(run.pose - plan.trajectory.pose).max() < 1e-9  # 3e-2 with the other's problem
