"""Laws of refusals: what each is about is data, whatever things are called; its ways out lead to tasks that can be."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.integrators import integrator
from sim.planner import Cylinder, Goal, Limits, Planner, Task, Waypoint, task_of_scene
from sim.planner.service.remedies import after_refusal
from sim.planner.task.check import check_task
from sim.planner.task.handles import handles, moved
from sim.planner.task.refusal import Refusal, refusal_of
from sim.platform.errors import InputError
from sim.scene import load_scene
from sim.vehicles import Vehicle
from tests.sim.plan_samples import BOAT, task
from tests.sim.simulation_scenes import world

BUOYS = (Cylinder((90.0, 0.0, 0.0), 1.0), Cylinder((10.0, 0.0, 0.0), 1.0, "buoy"))
HARBOUR = Limits(low_w=(-20.0, -20.0, -1.0), high_w=(20.0, 20.0, 1.0))


def refusal(vehicle: Vehicle, asked: Task) -> Refusal:
    with pytest.raises(InputError) as refused:
        check_task(vehicle, integrator("variational"), asked)
    told = refusal_of(refused.value)
    assert str(refused.value) == f"{asked.name}: {told.text}"
    return told


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"obstacles": BUOYS}, ("goal", "obstacle 1")),
        ({"obstacles": BUOYS, "start": BOAT.state(x=90.5)}, ("start", "obstacle 0")),
        ({"limits": HARBOUR, "goal": Goal(BOAT.state(x=21.0))}, ("goal",)),
        ({"limits": HARBOUR, "start": BOAT.state(y=-30.0)}, ("start",)),
        ({"waypoints": (Waypoint((4.0, 0.0, 0.0)), Waypoint((5.0, 0.0, 0.0), -1.0))}, ("waypoint 1",)),
        ({"obstacles": (BUOYS[0], Cylinder((5.0, 2.0, 0.0), -1.0, "buoy"))}, ("obstacle 1",)),
        ({"duration_s": -1.0}, ()),
    ],
)
def test_a_refusal_tells_what_of_the_task_it_is_about(changes: dict, parts: tuple[str, ...]) -> None:
    asked = task(name="the goal of it", **changes)
    assert refusal(BOAT, asked).parts == parts


def test_names_that_read_like_parts_mislead_nobody() -> None:
    """An obstacle called "start " and one called like a sentence."""
    named = (Cylinder((90.0, 0.0, 0.0), 1.0, "start "), Cylinder((10.0, 0.0, 0.0), 1.0, "a or its clearance"))
    asked = task(obstacles=named)
    told = refusal(BOAT, asked)
    assert (told.parts, told.reason) == (("goal", "obstacle 1"), "inside an obstacle")


def test_without_the_obstacle_that_covers_the_goal_the_task_can_be() -> None:
    asked = task(obstacles=BUOYS)
    (remedy,) = after_refusal(refusal(BOAT, asked), asked)
    assert remedy.text == "Without buoy"
    check_task(BOAT, integrator("variational"), remedy.task)


@pytest.mark.parametrize("deep_m", [1.0, 30.0])
def test_a_goal_in_or_too_near_the_ground_is_raised_by_what_it_lacks(deep_m: float) -> None:
    scene = load_scene("plan-canyon")
    helicopter, asked = task_of_scene(scene, world=world("canyon"))
    ground = asked.ground
    assert ground is not None
    (goal, *_) = handles(helicopter, asked)
    T_w = goal.T_w.copy()
    held_w = T_w[:3, :3] @ ground.held_b + T_w[:3, 3]
    T_w[2, 3] += ground.height(held_w[0], held_w[1])[0] - held_w[2] - deep_m
    sunk = moved(helicopter, asked, "goal", T_w)
    (remedy,) = after_refusal(refusal(helicopter, sunk), sunk)
    assert remedy.text == "Raise the goal"
    check_task(helicopter, integrator("variational"), remedy.task)
    raised_m = remedy.task.goal.state.node[11] - sunk.goal.state.node[11]
    assert deep_m < raised_m < deep_m + 0.1


@pytest.mark.parametrize("angle_rad", [0.4, 2.993, np.pi])
def test_a_rotation_that_is_missed_is_told_by_its_whole_angle(angle_rad: float) -> None:
    axis = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    craft, boat = sim.vehicle("spacecraft"), sim.vehicle("boat")
    turned = craft.state(R=Rotation.from_rotvec(angle_rad * axis).as_matrix())
    for vehicle, goal in ((craft, turned), (boat, boat.state(theta=angle_rad))):
        task = Task(start=vehicle.state(), goal=Goal(goal, position="free"), duration_s=0.2, steps=8)
        plan = Planner().plan(vehicle, task, starts=1)
        missed = next(v for v in plan.violations if "rotation" in v.constraint)
        # What is turned in so short a time is missing from the whole angle: measured 0.01 rad.
        assert angle_rad - 0.05 < missed.amount <= angle_rad + 1e-9
        assert f"{missed.amount:.3g} rad" in plan.message


@pytest.mark.parametrize("angle_rad", [0.4, 2.5])
def test_a_direction_of_a_rod_that_is_missed_is_told_by_its_whole_angle(angle_rad: float) -> None:
    pendulum = sim.vehicle("pendulum", pivot_motor=1.0)
    hanging = pendulum.state()
    wanted = pendulum.state(direction=(np.sin(angle_rad), 0.0, -np.cos(angle_rad)))
    task = Task(hanging, Goal(wanted, parts=("direction",), position="free", rotation="free"), 0.1, steps=8)
    plan = Planner().plan(pendulum, task, starts=1)
    missed = next(v for v in plan.violations if "'s direction is missed" in v.constraint)
    # Twice the sine of half of 2.5 rad is 1.9; what is turned in so short a time is missing from the whole.
    assert angle_rad - 0.1 < missed.amount <= angle_rad + 1e-9
    assert f"{missed.amount:.3g}" in plan.message


def test_what_pushes_harder_than_all_controls_is_told_as_the_one_cause() -> None:
    heavy = sim.vehicle("quadrotor", mass=8.0)
    hover = Task(heavy.state(x=(0, 0, 5)), Goal(heavy.state(x=(2, 0, 5))), 4.0, steps=16)
    blown = BOAT.with_parameters(wind=(0.0, -58.0))
    berth = Task(blown.state(), Goal(blown.state(x=4.0)), 12.0, steps=16)
    for vehicle, wanted, says in (
        (
            heavy,
            hover,
            f"{8.0 * vehicle_gravity(heavy):.3g} N at the goal, and all controls together with 32 N",
        ),
        (blown, berth, "all controls together with 300 N"),
    ):
        plan = Planner().plan(vehicle, wanted)
        assert not plan.solved
        assert "The one cause" in plan.message
        assert says in plan.message
        assert "more time" not in plan.message
    lifted = sim.vehicle("helicopter")
    lift_N = 0.9 * lifted.values["mass"] * vehicle_gravity(lifted)
    limits = Limits(controls={"u_c": (0.0, lift_N), "u_psi": (-5.0, 5.0)})
    hover = Task(lifted.state(x=(0, 0, 5)), Goal(lifted.state(x=(2, 0, 5))), 4.0, steps=16)
    assert "The one cause" in Planner().plan(lifted, replace(hover, limits=limits)).message
    far = replace(hover, goal=Goal(lifted.state(x=(60, 0, 5))), duration_s=2.2)
    assert "The one cause" not in Planner().plan(lifted, far).message
    light = sim.vehicle("quadrotor")
    short = Task(light.state(), Goal(light.state(x=(60, 0, 0))), 2.2, steps=16)
    assert "The one cause" not in Planner().plan(light, short).message


def vehicle_gravity(vehicle: Vehicle) -> float:
    return float(vehicle.values["gravity"])
