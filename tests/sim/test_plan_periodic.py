"""Gaits and closed laps end as they begin, and starts that are free are found where they cost least."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipk

import sim
from benchmarks.planner import lap_of
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.planner import Goal, Limits, Plan, Planner, Task, Weights, task_of_scene
from sim.planner.result.record import record_of
from sim.planner.result.record import repeated as made_again
from sim.planner.task.handles import with_gait
from sim.planner.task.open_start import is_lap
from sim.scene import load_scene
from sim.vehicles.forms.articulated import vehicle_of


def repeated(plan: Plan, times: int) -> np.ndarray:
    """(times + 1, node size) at the ends of periods, under the simulation with the plan's inputs over and over."""
    flown = sim.simulate(
        plan.vehicle,
        plan.integrator,
        step=plan.step_s,
        duration=times * plan.duration_s,
        initial=plan.task.start,
        controls=np.tile(plan.controls[:-1], (times, 1)),
    )
    return flown.nodes[:: len(plan.controls) - 1]


@pytest.mark.parametrize("name", ["sideways", "turn"])
def test_a_gait_of_a_snakeboard_goes_on_and_costs_less_than_one_from_rest_to_rest(name: str) -> None:
    board = sim.vehicle("snakeboard")
    there = board.state(theta=0.5) if name == "turn" else board.state(y=0.3)
    gait = Task(
        board.state(), Goal(there, velocity="free"), 3.0, steps=48, periodic=("shape", "velocity"), name=name
    )
    at_rest = Goal(there, velocity="fixed", shape=(0, 1), shape_velocity=(0, 1))
    planner = Planner()
    plan = planner.plan(board, gait, starts=4)
    resting = planner.plan(board, replace(gait, periodic=(), goal=at_rest), starts=4)
    assert plan.solved
    assert resting.solved
    assert plan.cost < 0.95 * resting.cost
    nodes = repeated(plan, 3)
    assert np.abs(np.diff(nodes[:, 3:], axis=0)).max() < 1e-9  # 4e-13: body velocity, shape and its velocity
    steps = [board.group.to_matrix(nodes[k : k + 1, :3])[0] for k in range(4)]
    by = [np.linalg.solve(a, b) for a, b in pairwise(steps)]
    assert np.abs(by[0] - board.group.to_matrix(there.node[None, :3])[0]).max() < 1e-9
    assert max(np.abs(by[0] - other).max() for other in by[1:]) < 1e-9
    planned, controls = made_again(record_of(plan, name), 3)
    assert len(planned) == len(controls) == 3 * 48 + 1
    flown = nodes[:, 3:], np.exp(1j * nodes[:, 0]), nodes[:, 1:3]
    ends = planned[::48]
    for real, own in zip(flown, (ends[:, 3:], np.exp(1j * ends[:, 0]), ends[:, 1:3]), strict=True):
        assert np.abs(real - own).max() < 1e-9
    once, _ = made_again(record_of(resting, name), 3)
    assert len(once) == 49


def test_a_task_is_made_a_gait_and_from_rest_to_rest_again() -> None:
    board = sim.vehicle("snakeboard")
    task = Task(board.state(), Goal(board.state(y=0.3), shape=(1,), shape_velocity=(0, 1)), 4.0, steps=32)
    gait = with_gait(board, task, True)
    plan = sim.plan(board, gait, starts=2)
    assert plan.solved, plan.message
    assert np.abs(plan.motion.nodes[-1, 3:] - plan.motion.nodes[0, 3:]).max() < 1e-8
    again = sim.plan(board, with_gait(board, replace(gait, start=plan.task.start), False), starts=2)
    assert again.solved, again.message
    assert np.abs(again.motion.nodes[[0, -1]][:, [3, 4, 5, 8, 9]]).max() < 1e-8


def test_a_period_is_found_with_the_gait() -> None:
    disc = sim.vehicle("rolling-disc")
    task = Task(
        disc.state(),
        Goal(disc.state(theta=2 * np.pi), velocity="free"),
        3.0,
        steps=48,
        free_duration=(0.5, 8.0),
        periodic=("shape_lean", "velocity"),
        weights=Weights(time=1.0),
        limits=Limits(turn_radps=3.0),
    )
    plan = sim.plan(disc, task, starts=1)
    assert plan.solved
    assert plan.duration_s == pytest.approx(2 * np.pi / 3.0, rel=1e-5)  # once around at the limit of turning
    # 1.3e-9 m: a disc upright under its inputs lets rounding grow, and at any speed the circle costs the same.
    assert np.abs(repeated(plan, 2)[-1, 1:3]).max() < 1e-6
    turn, speed, lean = (float(plan.motion.nodes[0, i]) for i in (3, 4, 6))
    assert np.sign(lean) == -np.sign(turn * speed)  # into its circle


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_free_start_is_found_at_the_edge_of_its_range_that_is_nearest(side: float) -> None:
    body = sim.vehicle("rigid-body", mass=1.0)
    task = Task(
        body.state(),
        Goal(body.state(x=(3.0 * side, 0.0, 0.0))),
        4.0,
        steps=64,
        start_within={"x_m": (-1.0, 1.0)},
        weights=Weights(comfort=0.0),
        effort_scale={"force_x": 1.0},
    )
    plan = sim.plan(body, task)
    assert plan.solved
    assert plan.task.start.node[9] == pytest.approx(side, abs=1e-6)
    assert plan.cost == pytest.approx(12 * 2.0**2 / 4.0**3, rel=1e-3)  # 12 d^2 / T^3 of d = 2 m; 2e-4
    assert np.abs(repeated(plan, 1)[-1] - plan.motion.nodes[-1]).max() < 1e-9


def test_a_start_whose_speed_is_free_glides() -> None:
    body = sim.vehicle("rigid-body", mass=1.0)
    task = Task(
        body.state(),
        Goal(body.state(x=(3.0, 0.0, 0.0)), velocity="free"),
        4.0,
        steps=16,
        start_within={"v_x_mps": (0.0, 0.5), "omega_x_radps": (0.0, 0.0)},
        weights=Weights(comfort=0.0),
    )
    slow = sim.plan(body, task)
    assert slow.solved
    assert slow.task.start.node[15] == pytest.approx(0.5, abs=1e-6)
    glides = sim.plan(body, replace(task, start_within={"v_x_mps": (0.0, 2.0)}))
    assert glides.cost < 1e-9
    assert glides.task.start.node[15] == pytest.approx(0.75, abs=1e-4)


@pytest.mark.parametrize("name", ["boat", "helicopter"])
def test_a_lap_ends_where_and_as_it_begins(name: str) -> None:
    vehicle, task = lap_of(name)
    plan = sim.plan(vehicle, task)
    assert plan.solved
    assert is_lap(vehicle, task)
    begin, end = repeated(plan, 1)
    turned = 1 if name == "boat" else 0
    assert np.abs((end - begin)[turned:]).max() < 1e-5  # 2e-6: the helicopter flown open loop, unstable
    if turned:
        assert end[0] - begin[0] == pytest.approx(2 * np.pi, abs=1e-8)
    for waypoint in plan.task.waypoints:
        assert waypoint.time_s is not None


def test_the_lap_of_a_race_hardly_depends_on_its_steps() -> None:
    car, task = task_of_scene(load_scene("race-drive"))
    coarse, fine = (sim.plan(car, replace(task, steps=steps)) for steps in (100, 200))
    assert coarse.solved
    assert fine.solved
    assert coarse.duration_s == pytest.approx(fine.duration_s, rel=5e-3)
    begin, end = repeated(fine, 1)
    assert np.abs((end - begin)[[1, 2, 3, 4, 7]]).max() < 1e-6
    heading = fine.motion.nodes[:, 0]
    assert heading[-1] - heading[0] == pytest.approx(2 * np.pi, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"start_within": {"x_mm": (0.0, 1.0)}}, "unknown start_within 'x_mm'; allowed: "),
        ({"start_within": {"x_m": (1.0, 0.0)}}, "allowed: a range from low to high"),
        ({"start_within": {"x_m": 1.0}}, "allowed: 2 numbers"),
        ({"periodic": ("speed",)}, "unknown periodic 'speed'; allowed: "),
        ({"periodic": ("velocity",)}, "goal asks for omega_z_radps, which ends as it begins"),
        ({"periodic": "velocity"}, "a sequence of names"),
    ],
)
def test_what_cannot_be_open_is_refused_in_a_line(change: dict[str, object], told: str) -> None:
    boat = sim.vehicle("boat")
    task = Task(boat.state(), Goal(boat.state(x=5.0)), 5.0)
    with pytest.raises(sim.InputError) as refusal:
        sim.plan(boat, replace(task, **change))
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def free_joint(damping: float = 0.0) -> sim.Vehicle:
    """A rod on a hinge, whose torque has no bounds of its own."""
    hinge = Joint(axis=(0.0, 1.0, 0.0), damping=damping)
    rod = Body("rod", WORLD, hinge, mass=1.3, centre=(0.0, 0.0, -0.3), inertia=(0.02, 0.02, 0.005))
    return vehicle_of(tree([rod], (0.0, 0.0, -9.81)))


def swinging(rod: sim.Vehicle, most_Nm: float, steps: int) -> Task:
    """From one rad aside at rest to there again, in whatever time."""
    aside = rod.state({"rod": 1.0})
    return Task(
        aside,
        Goal(aside, parts=(), position="free", rotation="free"),
        1.2,
        steps=steps,
        free_duration=(0.6, 1.8),
        periodic=("rod", "velocity"),
        start_within={"rod": (1.0, 1.0), "rod_rate": (0.0, 0.0)},
        limits=Limits(turn_radps=20.0, controls={"rod": (-most_Nm, most_Nm)}),
        name="orbit",
    )


def test_a_joint_whose_motor_is_off_swings_with_the_period_that_elliptic_integrals_say() -> None:
    rod, errors = free_joint(), []
    exact = 4.0 * ellipk(np.sin(0.5) ** 2) * np.sqrt((0.02 + 1.3 * 0.3**2) / (1.3 * 9.81 * 0.3))
    for steps in (48, 96):
        plan = sim.plan(rod, swinging(rod, 0.0, steps), starts=1)
        assert plan.solved, plan.message
        assert np.abs(plan.controls).max() < 1e-10  # 5e-14
        assert plan.motion.nodes[:, 0].min() == pytest.approx(-1.0, abs=1e-6)
        assert np.abs(np.diff(repeated(plan, 3), axis=0)).max() < 1e-9
        errors.append(abs(plan.duration_s / exact - 1.0))
    assert errors[1] < 5e-4  # 3.6e-4
    assert errors[0] == pytest.approx(4.0 * errors[1], rel=0.1)  # of second order


def test_friction_makes_an_orbit_of_a_joint_cost_something() -> None:
    costs = []
    for damping in (0.02, 0.04):
        rod = free_joint(damping)
        plan = sim.plan(rod, swinging(rod, 20.0, 48), starts=1)
        assert plan.solved, plan.message
        assert np.abs(np.diff(repeated(plan, 2), axis=0)).max() < 1e-9
        costs.append(plan.cost)
    assert 0.0 < costs[0] < costs[1]


def test_what_floats_with_a_leg_begins_its_gait_where_it_likes() -> None:
    """At rest with nothing to push against: the leg ends as it begins and its rotation is asked for, so that its joint
    begins turned by just that, with four numbers that are a rotation."""
    bodies = [Body("torso", joint=Joint("free"), mass=4.0, inertia=(0.2, 0.2, 0.1))]
    ball, inertia = Joint("ball"), (0.03, 0.03, 0.005)
    leg = Body("leg", "torso", ball, (0.0, 0.0, -0.25), mass=1.0, centre=(0.0, 0.0, -0.4), inertia=inertia)
    bodies.append(leg)
    floater = vehicle_of(tree(bodies, (0.0, 0.0, 0.0)))
    rates = [name for name in floater.space.columns if name.endswith("_rate")]
    turned = floater.state({"leg qw": np.cos(0.15), "leg qy": np.sin(0.15)})
    task = Task(
        floater.state(),
        Goal(turned, parts=(), position="free", rotation="fixed"),
        2.0,
        steps=16,
        periodic=("leg", "velocity"),
        start_within=dict.fromkeys(rates, (0.0, 0.0)),
        limits=Limits(turn_radps=20.0, speed_mps=20.0),
    )
    plan = sim.plan(floater, task, starts=1)
    assert plan.solved, plan.message
    assert plan.cost < 1e-9
    quaternion = plan.motion.nodes[0, floater.quaternions[1]]
    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-9)
    assert np.abs(np.abs(quaternion) - np.abs(turned.node[floater.quaternions[1]])).max() < 1e-6


def test_loops_of_joints_begin_closed_where_a_period_finds_them() -> None:
    linkage = sim.vehicle("four-bar-linkage")
    start = linkage.closed_state({"crank": -1.5})
    task = Task(
        start,
        Goal(start, parts=(), position="free", rotation="free"),
        1.0,
        steps=32,
        periodic=("crank", "velocity"),
        limits=Limits(turn_radps=20.0),
    )
    plan = sim.plan(linkage, task, starts=1)
    assert plan.solved, plan.message
    # Where it hangs at rest costs nothing: the crank's torque vanishes there.
    assert plan.cost < 1e-9
    node = plan.motion.nodes[0]
    closed = linkage.closed_state({"crank": float(node[0])}).node
    assert np.abs(node[:3] - closed[:3]).max() < 1e-6
    with pytest.raises(sim.InputError, match="loops of four-bar-linkage are closed where it begins"):
        sim.plan(linkage, replace(task, goal=Goal(start), periodic=(), start_within={"crank": (-1.6, -1.4)}))


def test_a_pendulum_on_its_sphere_swings_for_nothing_in_the_time_of_the_elliptic_integral() -> None:
    """From rest aside, each period is free of effort at that time alone."""
    pendulum, angle = sim.vehicle("pendulum"), 1.0
    start = pendulum.state(direction=(np.sin(angle), 0.0, -np.cos(angle)))
    at = float(np.sin(angle))
    task = Task(
        start,
        Goal(start, parts=(), position="free", rotation="free"),
        2.2,
        steps=64,
        free_duration=(1.5, 3.0),
        periodic=("direction", "omega"),
        start_within={
            "direction_x": (at, at),
            "direction_y": (0.0, 0.0),
            "omega_x_radps": (0.0, 0.0),
            "omega_y_radps": (0.0, 0.0),
        },
        weights=Weights(comfort=0.0),
        limits=Limits(turn_radps=20.0),
    )
    plan = sim.plan(pendulum, task, starts=1)
    assert plan.solved, plan.message
    length, gravity = (pendulum.values[name] for name in ("length", "gravity"))
    period_s = 4.0 * np.sqrt(length / gravity) * ellipk(np.sin(angle / 2.0) ** 2)
    assert plan.duration_s == pytest.approx(period_s, rel=1e-4)
    assert plan.cost < 1e-6
    np.testing.assert_allclose(plan.motion.nodes[0], start.node, atol=1e-8)
    np.testing.assert_allclose(plan.motion.nodes[-1], plan.motion.nodes[0], atol=1e-7)


def test_how_a_load_hangs_at_the_start_is_found_and_is_the_cheapest_of_all() -> None:
    vehicle, given = task_of_scene(load_scene("plan-sling"))
    given = replace(given, steps=32, obstacles=())
    bent = {"direction_x_1": (-0.15, 0.15), "direction_y_1": (-0.15, 0.15)}
    plan = sim.plan(vehicle, replace(given, start_within=bent), starts=1)
    assert plan.solved, plan.message
    first = plan.motion.nodes[0]
    direction, omega = first[18:21], first[21:24]
    assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-9)
    assert abs(direction @ omega) < 1e-9
    np.testing.assert_allclose(first[:12], given.start.node[:12], atol=1e-9)
    for begin in (given.start, plan.task.start):
        known = sim.plan(vehicle, replace(given, start=begin), starts=1)
        assert known.cost >= plan.cost * (1.0 - 1e-6)
    assert known.cost == pytest.approx(plan.cost, rel=1e-6)


def test_what_a_law_leads_begins_where_it_is_told_to() -> None:
    vehicle, task = task_of_scene(load_scene("plan-quadrotors"))
    with pytest.raises(sim.InputError, match="follow its load by a law of their own"):
        sim.plan(vehicle, replace(task, periodic=("load",)), starts=1)
