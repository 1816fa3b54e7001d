"""Goals that move, of what is where its bodies are: tools on belts, a load's carrier, tops; by differences of poses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.multibody.observing import body_frames
from sim.planner import Goal, Limits, Motion, Planner, Sphere, Sway, Task, Weights, task_of_scene
from sim.planner.task.meeting import goal_at
from sim.platform.errors import InputError
from sim.scene import load_scene

ARM = sim.vehicle("six-axis-arm", hold=0.0)
LINKAGE = sim.vehicle("four-bar-linkage")
TOP = sim.vehicle("heavy-top")
REACHED = ARM.state({"turn": 0.6, "shoulder": 0.6, "elbow": 0.4, "wrist": 0.6, "roll": 0.3})
BELT = Motion(("goal",), (0.5, 0.0, 0.0), velocity_mps=(0.05, 0.25, 0.0), turn_radps=0.2)
EPS_S = 1e-5


def picking(goal: Goal, **changes) -> Task:
    start = ARM.state({"turn": -1.0, "shoulder": 0.6, "elbow": 0.4, "wrist": 0.6})
    plain = {"duration_s": 2.0, "steps": 48, "limits": Limits(turn_radps=6.0), "motions": (BELT,)}
    return Task(start, goal, **{**plain, **changes})


def tool(q: np.ndarray) -> np.ndarray:
    return body_frames(ARM.tree, q)["gripper"]


def slope(pose, at: float) -> np.ndarray:
    """(4, 4) a second, by differences."""
    return (pose(at + EPS_S) - pose(at - EPS_S)) / (2 * EPS_S)


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner()


@pytest.mark.parametrize("rotation", ["fixed", "free"])
def test_a_tool_meets_what_a_belt_carries_and_goes_with_it(planner, rotation):
    plan = planner.plan(ARM, picking(Goal(REACHED, parts=(), rotation=rotation)), starts=1)
    assert plan.solved, plan.message
    q, v = np.split(plan.motion.nodes[-1], 2)
    wanted, moving = tool(REACHED.node[:6]), slope(lambda s: tool(q + s * v), 0.0)
    carried = slope(lambda t: BELT.poses(np.array([t]))[0] @ wanted, 2.0)
    count = 4 if rotation == "fixed" else 1
    there = BELT.poses(np.array([2.0]))[0] @ wanted
    np.testing.assert_allclose(tool(q)[:, -count:], there[:, -count:], atol=1e-8)  # measured 2e-12
    np.testing.assert_allclose(moving[:, -count:], carried[:, -count:], atol=1e-7)  # measured 4e-10
    if rotation == "free":
        assert np.abs(tool(q)[:3, :3] - there[:3, :3]).max() > 0.1
    flown = sim.simulate(
        ARM,
        plan.integrator,
        step=plan.step_s,
        duration=2.0,
        initial=plan.task.start,
        controls=plan.controls[:-1],
    )
    np.testing.assert_allclose(flown.nodes[-1], plan.motion.nodes[-1], atol=1e-8)


def test_joints_may_be_at_rest_while_the_tool_is_where_the_belt_is(planner):
    goal = Goal(REACHED, parts=("velocity",), velocity="free")
    plan = planner.plan(ARM, picking(goal), starts=1)
    assert plan.solved, plan.message
    there = BELT.poses(np.array([2.0]))[0] @ tool(REACHED.node[:6])
    np.testing.assert_allclose(tool(plan.motion.nodes[-1, :6]), there, atol=1e-8)
    np.testing.assert_allclose(plan.motion.nodes[-1, 6:], 0.0, atol=1e-8)


def test_when_the_belt_is_met_is_the_best_of_all_times_and_a_ball_that_crosses_is_kept_clear_of(planner):
    ball = Sphere((0.9, -0.2, 0.8), 0.12, "ball")
    crossing = Motion(("ball",), velocity_mps=(0.0, 0.2, 0.0))
    goal = Goal(REACHED, parts=())
    task = picking(
        goal,
        obstacles=(ball,),
        motions=(BELT, crossing),
        body=((0.0, 0.0, 0.0, 0.1),),
        bodies=("gripper",),
        weights=Weights(time=0.3),
        free_duration=(0.8, 4.0),
    )
    plan = planner.plan(ARM, task, starts=1)
    assert plan.solved, plan.message
    time_s = plan.trajectory.time
    places = np.stack([tool(node[:6])[:3, 3] for node in plan.motion.nodes])
    away = places - ball.middle_w - time_s[:, None] * [0.0, 0.2, 0.0]
    assert np.linalg.norm(away, axis=1).min() > 0.22 - 1e-6
    there = BELT.poses(np.array([plan.duration_s]))[0] @ tool(REACHED.node[:6])
    np.testing.assert_allclose(places[-1], there[:3, 3], atol=1e-7)
    costs = []
    for share in (0.97, 1.0, 1.03):
        fixed = picking(
            goal,
            obstacles=task.obstacles,
            motions=task.motions,
            body=task.body,
            bodies=task.bodies,
            weights=task.weights,
            duration_s=share * plan.duration_s,
        )
        costs.append(planner.plan(ARM, fixed, warm=plan, starts=1).cost)
    assert costs[1] == pytest.approx(plan.cost, rel=1e-5)
    assert costs[1] < min(costs[0], costs[2])


def test_loops_stay_closed_where_a_rocker_turns_with_what_it_meets(planner):
    swaying = Motion(("goal",), sways=(Sway(2.0, amplitude_rad=(0.0, 0.1, 0.0)),))
    start, wanted = (LINKAGE.closed_state({"crank": angle}) for angle in (-1.5, 1.2))
    goal = Goal(wanted, parts=(), position="free")
    limits = Limits(turn_radps=20.0)
    plan = planner.plan(LINKAGE, Task(start, goal, 1.3, limits=limits, motions=(swaying,)), starts=1)
    assert plan.solved, plan.message
    q, v = np.split(plan.motion.nodes[-1], 2)

    def rocker(s: float) -> np.ndarray:
        return body_frames(LINKAGE.tree, LINKAGE.closure.brought(q + s * v))[LINKAGE.tool]

    still = body_frames(LINKAGE.tree, wanted.node[:3])[LINKAGE.tool]
    carried = [swaying.poses(np.array([t]))[0] @ still for t in (1.3 - EPS_S, 1.3, 1.3 + EPS_S)]
    np.testing.assert_allclose(rocker(0.0)[:3, :3], carried[1][:3, :3], atol=1e-8)
    turning = (carried[2] - carried[0]) / (2 * EPS_S)
    np.testing.assert_allclose(slope(rocker, 0.0)[:3, :3], turning[:3, :3], atol=1e-6)  # measured 5e-8


def test_a_helicopter_hangs_its_load_still_above_a_deck_that_sails_and_heaves(planner):
    vehicle, task = task_of_scene(load_scene("plan-sling"))
    deck = Motion(("goal",), velocity_mps=(0.5, 0.2, 0.0), sways=(Sway(6.0, (0.0, 0.0, 0.3)),))
    goal = Goal(task.goal.state, parts=("direction_1", "omega_1"), rotation="upright")
    plan = planner.plan(
        vehicle,
        Task(
            task.start, goal, task.duration_s, steps=32, body=task.body, bodies=task.bodies, motions=(deck,)
        ),
        starts=1,
    )
    assert plan.solved, plan.message
    node, T = plan.motion.nodes[-1], plan.duration_s
    place = task.goal.state.node[9:12]
    np.testing.assert_allclose(node[9:12], place + deck.channels(np.array([T]))[0, :3], atol=1e-3)
    R = node[:9].reshape(3, 3).T
    heave = 0.3 * 2 * np.pi / 6.0 * np.cos(2 * np.pi * T / 6.0)
    np.testing.assert_allclose(R @ node[15:18], [0.5, 0.2, heave], atol=1e-3)
    np.testing.assert_allclose(node[18:24], [0, 0, -1, 0, 0, 0], atol=1e-7)


def test_a_top_meets_an_attitude_that_turns_about_the_vertical(planner):
    turning = Motion(("goal",), turn_radps=0.4)
    ends = [TOP.state(R=Rotation.from_rotvec(v).as_matrix()) for v in ([0.1, 0, 0], [0.0, 0.2, 0.0])]
    task = Task(ends[0], Goal(ends[1]), 3.0, limits=Limits(turn_radps=10.0), motions=(turning,))
    plan = planner.plan(TOP, task, starts=1)
    assert plan.solved, plan.message
    met = Rotation.from_rotvec([0.0, 0.0, 1.2]).as_matrix() @ ends[1].pose[:3, :3]
    node = plan.motion.nodes[-1]
    np.testing.assert_allclose(node[:9].reshape(3, 3).T, met, atol=1e-6)
    np.testing.assert_allclose(node[9:12], met.T @ [0.0, 0.0, 0.4], atol=1e-5)
    np.testing.assert_allclose(goal_at(TOP, task, 3.0).node, node, atol=1e-5)


def test_goals_that_move_name_what_is_carried_and_stay_where_joints_can_follow(planner):
    with pytest.raises(InputError, match=r"asks for no place or rotation .*; allowed: a goal with parts"):
        planner.plan(ARM, picking(Goal(REACHED)), starts=1)
    with pytest.raises(InputError, match=r"its own part velocity; allowed: one of them"):
        planner.plan(ARM, picking(Goal(REACHED, parts=("velocity",))), starts=1)
    yawing = Motion(("goal",), turn_radps=0.3)
    ends = [LINKAGE.closed_state({"crank": angle}) for angle in (-1.5, 1.2)]
    task = Task(ends[0], Goal(ends[1], parts=(), position="free"), 1.3, motions=(yawing,))
    with pytest.raises(InputError, match=r"by 0.39 rad where no joint of four-bar-linkage moves its tool"):
        planner.plan(LINKAGE, task, starts=1)


def test_the_way_of_a_tool_has_a_price_by_its_velocity(planner):
    """The priced length is that of the tool's places, and shorter than where nothing is paid for it."""
    plain, priced = (
        planner.plan(ARM, picking(Goal(REACHED), motions=(), weights=Weights(distance=price)), starts=1)
        for price in (0.0, 0.5)
    )
    assert plain.solved
    assert priced.solved
    ways = []
    for plan in (plain, priced):
        places = np.stack([tool(node[:6])[:3, 3] for node in plan.motion.nodes])
        ways.append(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()))
    assert ways[1] < 0.99 * ways[0]
    assert priced.costs["distance"] == pytest.approx(0.5 * ways[1], rel=0.05)


def test_a_delta_robot_goes_with_what_a_belt_carries_and_is_replayed(planner):
    """Loops of joints: by where the tool is at the meeting, and where the simulation then goes on to."""
    vehicle, still = task_of_scene(load_scene("plan-delta"))
    belt = Motion(("goal",), velocity_mps=(0.05, 0.2, 0.0))
    task = replace(
        still,
        goal=replace(still.goal, parts=()),
        motions=(belt,),
        obstacles=(),
        free_duration=None,
        steps=16,
    )
    plan = planner.plan(vehicle, task, starts=1)
    assert plan.solved, plan.message
    places = vehicle.node_layout.pose

    def platform(node: np.ndarray) -> np.ndarray:
        return body_frames(vehicle.tree, node[places])[vehicle.tool][:3, 3]

    met = platform(task.goal.state.node) + task.duration_s * np.array([0.05, 0.2, 0.0])
    np.testing.assert_allclose(platform(plan.motion.nodes[-1]), met, atol=1e-9)  # measured 2e-16
    short = sim.simulate(
        vehicle,
        plan.integrator,
        step=1e-4,
        duration=1e-4,
        initial=vehicle.state_at_node(plan.motion.nodes[-1]),
    )
    moving = (platform(short.nodes[-1]) - met) / 1e-4
    np.testing.assert_allclose(moving, [0.05, 0.2, 0.0], atol=1e-3)  # it falls by 4e-4 m/s
    flown = sim.simulate(
        vehicle,
        plan.integrator,
        step=plan.step_s,
        duration=plan.duration_s,
        initial=task.start,
        controls=plan.controls[:-1],
    )
    np.testing.assert_allclose(flown.nodes, plan.motion.nodes, atol=1e-9)  # measured 5e-12
