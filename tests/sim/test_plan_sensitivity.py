"""Multipliers by name, derivatives of optima, and gains: against plans that are made anew."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.planner import Cylinder, Goal, Limits, PathConstraint, Plan, Task, Weights
from sim.planner.task.numbers import number_names, with_number
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.parameters import Control, Parameter
from tests.sim.planner_tasks import EFFORT_ONLY, PLANNER, rest_to_rest, unit_effort

BOAT = sim.vehicle("boat", mass=131.0, wind=(0.0, -6.0))
TASK = Task(
    BOAT.state(x=0.2, y=-0.1, theta=0.1, v=(0.3, 0.0)),
    Goal(BOAT.state(x=21.0, y=8.0, theta=1.5)),
    duration_s=20.0,
    steps=48,
    limits=Limits(controls={"u_left": (-49.0, 49.0)}),
    numbers={"fast": 1.5},
    constraints=(PathConstraint(lambda node, parameters: node["v_x_mps"] <= parameters["fast"], "fast"),),
    weights=Weights(comfort=0.2),
)


def solved(vehicle: sim.Vehicle, task: Task) -> Plan:
    plan = PLANNER.plan(vehicle, task, starts=1)
    assert plan.solved, plan.message
    return plan


def shifted(task: Task, what: str, by: float) -> Task:
    state = task.goal.state
    node = state.node.copy()
    node[BOAT.space.columns.index(what)] += by
    return replace(task, goal=replace(task.goal, state=replace(state, node=node)))


CHANGES = {
    "wind.1": (1e-4, lambda e: (with_number(BOAT, "wind.1", -6.0 + e), TASK)),
    "mass": (1e-2, lambda e: (with_number(BOAT, "mass", 131.0 + e), TASK)),
    "fast": (1e-4, lambda e: (BOAT, replace(TASK, numbers={"fast": 1.5 + e}))),
    "duration_s": (1e-3, lambda e: (BOAT, replace(TASK, duration_s=20.0 + e))),
    "weight comfort": (1e-4, lambda e: (BOAT, replace(TASK, weights=Weights(comfort=0.2 + e)))),
    "goal y_m": (1e-3, lambda e: (BOAT, shifted(TASK, "y_m", e))),
    "goal heading_rad": (1e-3, lambda e: (BOAT, shifted(TASK, "heading_rad", e))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_derivatives_of_an_optimum_are_the_differences_of_optima(name: str) -> None:
    """With a bound of an input and a relation of one's own that hold on part of the way. Where one hardly does, by
    1.5e-6 at 8e-5 from it, plans are as exact as the product of both, and their differences to 1.5e-3."""
    assert abs(float(solved(BOAT, TASK).sensitivity(name).cost)) > 1e-6
    plan = solved(BOAT, TASK)
    step, changed = CHANGES[name]
    ahead, behind = (solved(*changed(sign * step)) for sign in (1.0, -1.0))
    found = plan.sensitivity(name)
    for derivative, differences in (
        (found.cost, (ahead.cost - behind.cost)),
        (found.nodes, (ahead.motion.nodes - behind.motion.nodes)),
        (found.controls, (ahead.controls - behind.controls)),
    ):
        by_differences = np.asarray(differences) / (2.0 * step)
        scale = np.abs(by_differences).max()
        assert derivative == pytest.approx(by_differences, abs=3e-3 * scale)  # measured 1e-7 to 1.5e-3


HELI = sim.vehicle("helicopter", drag=0.4, wind=(2.0, -1.0, 0.5))
CAR, QUADROTOR = sim.vehicle("car"), sim.vehicle("quadrotor")
ARM = sim.vehicle("six-axis-arm", hold=0.0)
VEHICLES = {
    # By default either thrust turns the boat and moves it ahead by as much, in 1 rad/s^2 and 1 m/s^2.
    "boat": (
        sim.vehicle("boat"),
        Task(BOAT.state(), Goal(BOAT.state(x=16.0, y=6.0, theta=1.2)), 18.0, steps=40),
        ("mass", "inertia.2", "thruster_left.1"),
    ),
    "helicopter": (
        HELI,
        Task(
            HELI.state(x=(0.0, 0.0, 5.0)),
            Goal(HELI.state(x=(15.0, 3.0, 6.0)), rotation="upright"),
            5.0,
            steps=40,
        ),
        ("mass", "inertia.1", "drag"),
    ),
    "car": (
        CAR,
        Task(CAR.state(), Goal(CAR.state(x=14.0, y=4.0)), 8.0, steps=40),
        ("mass", "wheelbase", "yaw_inertia"),
    ),
    "quadrotor": (
        QUADROTOR,
        Task(QUADROTOR.state(x=(0.0, 0.0, 2.0)), Goal(QUADROTOR.state(x=(3.0, 1.0, 3.0))), 2.5, steps=40),
        ("mass", "arm", "inertia.0"),
    ),
    "arm": (
        ARM,
        Task(
            ARM.state({"turn": -0.5, "shoulder": 0.2}),
            Goal(ARM.state({"turn": 0.6, "shoulder": 0.5})),
            1.5,
            steps=32,
            limits=Limits(turn_radps=6.0),
            weights=Weights(comfort=0.0),
        ),
        ("gripper_mass", "gravity"),
    ),
}


@pytest.mark.parametrize("name", VEHICLES)
def test_masses_and_lengths_of_any_vehicle_have_the_derivatives_that_optima_differ_by(name: str) -> None:
    """Also by what they change about the unit of effort, which has no corner where a vehicle would stand on it: with
    the lesser of two units the boat's cost differed by -0.047 and 0.011 to either side of its mass."""
    vehicle, task, numbers = VEHICLES[name]
    plan = solved(vehicle, task)
    for number in numbers:
        value = float(vehicle.parameter_vector[number_names(vehicle)[number]])
        step = 3e-4 * value
        ahead, behind = (
            PLANNER.plan(with_number(vehicle, number, value + e), task, warm=plan) for e in (step, -step)
        )
        found = plan.sensitivity(number)
        by_cost = (ahead.cost - behind.cost) / (2.0 * step)
        assert float(found.cost) == pytest.approx(by_cost, rel=2e-5)  # measured 2e-10 to 1e-6
        for derivative, differences in (
            (found.nodes, ahead.motion.nodes - behind.motion.nodes),
            (found.controls, ahead.controls - behind.controls),
        ):
            by_differences = np.asarray(differences) / (2.0 * step)
            scale = np.abs(by_differences).max()
            assert derivative == pytest.approx(by_differences, abs=1e-4 * scale)  # measured 1e-8 to 1e-5


class TwoLinks(ArticulatedVehicle):
    """Upright, of which a motor at each hinge swings a rod."""

    name = "two-links"
    parameters = (
        Parameter("length", "m", 0.6, 0.1, 5.0, "Of each."),
        Parameter("load", "kg", 1.5, 0.1, 50.0, "At the end."),
        Parameter("rods", "", 2, 1, 2, "How many.", structural=True),
    )
    controls = tuple(Control(f"u{k}", "N m", -30.0, 30.0, "") for k in range(2))
    torques = ("shoulder", "elbow")

    def declare(self, q):
        a, named = q.length, {"first": "shoulder", "second": "elbow"}
        rods = [
            Body(
                name,
                WORLD if name == "first" else "first",
                Joint(axis=(0.0, 1.0, 0.0), damping=0.3, name=joint),
                mass=1.0 if name == "first" else q.load,
                centre=(0.0, 0.0, 0.5 * a if name == "first" else a),
                inertia=(0.03, 0.03, 0.004),
                position=(0.0, 0.0, 0.0 if name == "first" else a),
            )
            for name, joint in named.items()
        ]
        return tree(rods, (0.0, 0.0, -9.81))


def test_numbers_in_the_equations_of_joints_have_derivatives_too() -> None:
    """Lengths and loads change momenta and torques of a motion, and the motion; with a bound that is leant on."""
    links = TwoLinks()
    limits = Limits(columns={"shoulder_rate": (-1.2, 1.2)})
    task = Task(
        links.state(), Goal(links.state({"shoulder": 0.9, "elbow": -0.7})), 1.0, steps=16, limits=limits
    )
    plan = solved(links, task)
    with pytest.raises(sim.InputError, match="rods of two-links is a whole number"):
        plan.sensitivity("rods")
    for name in ("length", "load"):
        value, step = float(links.values[name]), 1e-4
        ahead, behind = (solved(with_number(links, name, value + e), task) for e in (step, -step))
        found = plan.sensitivity(name)
        for derivative, differences in (
            (found.cost, ahead.cost - behind.cost),
            (found.nodes, ahead.motion.nodes - behind.motion.nodes),
            (found.controls, ahead.controls - behind.controls),
        ):
            by_differences = np.asarray(differences) / (2.0 * step)
            scale = np.abs(by_differences).max()
            assert scale > 1e-3
            assert derivative == pytest.approx(by_differences, abs=1e-3 * scale)


def test_multipliers_of_a_goal_are_the_derivatives_by_it_and_those_of_bounds_what_they_cost() -> None:
    plan = solved(BOAT, TASK)
    assert plan.duals["goal position"][1] == pytest.approx(float(plan.sensitivity("goal y_m").cost), rel=1e-6)
    assert -plan.duals["fast"].sum() == pytest.approx(float(plan.sensitivity("fast").cost), rel=1e-5)
    assert plan.duals["fast"].max() > 1e-3
    wider, narrower = (
        solved(BOAT, replace(TASK, limits=Limits(controls={"u_left": (-49.0 - e, 49.0 + e)})))
        for e in (0.01, -0.01)
    )
    by_differences = (narrower.cost - wider.cost) / 0.02
    assert plan.duals["u_left"].sum() == pytest.approx(by_differences, rel=1e-3)


def test_an_obstacle_costs_what_its_multiplier_says() -> None:
    mast = Cylinder((10.0, 2.9, 0.0), 1.0, "east mast")
    task = replace(
        TASK, obstacles=(mast,), clearance_m=0.3, limits=Limits(), constraints=(), numbers={}, steps=64
    )
    plan = solved(BOAT, task)
    price = plan.duals["obstacle east mast"]
    assert price.max() > 1e-2
    found = plan.sensitivity("clearance_m")
    assert float(found.cost) == pytest.approx(price.sum(), rel=1e-6)
    # With the margins at its nodes that the plan has: a plan from scratch finds its own.
    ahead, behind = (PLANNER.plan(BOAT, replace(task, clearance_m=0.3 + e), warm=plan) for e in (1e-3, -1e-3))
    assert float(found.cost) == pytest.approx((ahead.cost - behind.cost) / 2e-3, rel=1e-4)
    by_place = plan.sensitivity("obstacle east mast").cost
    moved = [
        PLANNER.plan(BOAT, replace(task, obstacles=(mast.moved((0.0, e, 0.0)),)), warm=plan)
        for e in (1e-3, -1e-3)
    ]
    assert by_place[1] == pytest.approx((moved[0].cost - moved[1].cost) / 2e-3, rel=1e-3)


def test_rest_to_rest_has_the_closed_forms_derivatives() -> None:
    """The cost 12 d^2 m^2 / T^3, of unit mass."""
    body, task = rest_to_rest(64)
    plan = solved(body, task)
    d, T = 3.0, 4.0
    for name, exact in (
        ("goal x_m", 24 * d / T**3),
        ("duration_s", -36 * d**2 / T**4),
        ("mass", 24 * d**2 / T**3),
    ):
        assert float(plan.sensitivity(name).cost) == pytest.approx(
            exact, rel=1e-3
        )  # measured 2e-4 at 64 steps
    free = replace(
        task, free_duration=(2.0, 8.0), weights=replace(EFFORT_ONLY, time=1.0), effort_scale=unit_effort(body)
    )
    least = solved(body, free)
    # T^4 = 36 d^2, so dT/dd = T / (2 d).
    assert float(least.sensitivity("goal x_m").duration_s) == pytest.approx(
        least.duration_s / (2 * d), rel=1e-3
    )


def test_feedback_of_a_plan_brings_a_start_that_is_off_back_to_it() -> None:
    plan = solved(BOAT, replace(TASK, constraints=(), numbers={}))
    assert plan.feedback.gains.shape[:2] == (48, 2)
    off = BOAT.state(x=0.7, y=0.5, theta=0.2, v=(0.3, 0.0))
    ends = []
    for controls in (plan.feedback, plan.controls[:-1]):
        flown = sim.simulate(
            BOAT, plan.integrator, step=plan.step_s, duration=plan.duration_s, initial=off, controls=controls
        )
        ends.append(np.abs(flown.nodes[-1, :3] - plan.motion.nodes[-1, :3]).max())
    assert ends[0] < 0.25 * ends[1]


@pytest.mark.parametrize(
    ("name", "words"),
    [("wnd", "unknown number 'wnd'"), ("goal z_m", "unknown number"), (3, "unknown number")],
)
def test_unknown_numbers_are_told_with_those_that_there_are(name: object, words: str) -> None:
    with pytest.raises(sim.InputError, match=words):
        solved(BOAT, TASK).sensitivity(name)  # type: ignore[arg-type]


def test_what_has_no_multiplier_is_told_with_what_has_one_and_each_name_once() -> None:
    plan = solved(BOAT, TASK)
    with pytest.raises(sim.InputError, match=r"unknown multiplier 'obstacle nowhere'; .*goal position"):
        plan.duals["obstacle nowhere"]
    assert plan.duals.get("obstacle nowhere") is None
    with pytest.raises(sim.InputError) as told:
        plan.sensitivity("wind_offse")
    names = str(told.value).partition("allowed: ")[2].split(", ")
    assert "wind_offset" in names
    assert len(set(names)) == len(names)


def test_a_plan_that_is_not_solved_has_no_derivatives() -> None:
    hopeless = PLANNER.plan(BOAT, replace(TASK, duration_s=6.0), starts=1, explain=False)
    assert not hopeless.solved
    with pytest.raises(sim.InputError, match="allowed: of a plan that is solved"):
        hopeless.sensitivity("mass")
