"""Whatever a task's numbers are: it is refused in one line before anything is solved, or it is fit to be solved."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import sim
from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Planner, Sphere, Task, Waypoint, Weights
from sim.planner.solvers.time_limit import time_limit
from sim.planner.task.check import TaskCheck, check_task
from sim.planner.task.task import Obstacle
from sim.vehicles import Vehicle
from tests.sim.planner_tasks import BOAT, CROSSING, forest, with_ground

NAN, INF = float("nan"), float("inf")
VARIATIONAL = sim.integrators()["variational"]
BODY, CAR = sim.vehicle("rigid-body"), sim.vehicle("car")
TURN = Task(BODY.state(), Goal(BODY.state(x=(5, 0, 0))), 4.0)
DRIVE = Task(CAR.state(), Goal(CAR.state(x=10.0), velocity="free"), 8.0)
SIGMA = [c.name for c in CAR.shape_coordinates].index("sigma")
UPSIDE_DOWN = np.diag([1.0, -1.0, -1.0])


def refusal(vehicle: Vehicle, task: Task, before: Task | None = None) -> str:
    """before: a task that is possible, from which a drag leads to this one: that is told as if it were the first."""
    with pytest.raises(sim.InputError) as told:
        check_task(vehicle, VARIATIONAL, task)
    if before is not None:
        check = TaskCheck()
        check(vehicle, VARIATIONAL, before)
        with pytest.raises(sim.InputError) as dragged:
            check(vehicle, VARIATIONAL, task)
        assert str(dragged.value) == str(told.value)
    assert "\n" not in str(told.value)
    return str(told.value)


def spoilt(state: sim.State, index: int, value: float) -> sim.State:
    node = state.node.copy()
    node[index] = value
    return dataclasses.replace(state, node=node)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duration_s": INF}, "duration_s = inf"),
        ({"duration_s": "5"}, "duration_s = '5' is no number"),
        ({"duration_s": True}, "duration_s = True is no number"),
        ({"steps": 24.0}, "steps = 24.0"),
        ({"steps": NAN}, "steps = nan"),
        ({"steps": 1025}, "steps = 1025"),
        ({"free_duration": (NAN, 5.0)}, "free duration"),
        ({"free_duration": (1.0, 5.0, 9.0)}, "free duration"),
        ({"weights": Weights(comfort=NAN)}, "weight comfort = nan"),
        ({"weights": Weights(effort=1e300)}, "weight effort = 1e+300"),
        ({"clearance_m": NAN}, "clearance_m = nan"),
        ({"clearance_m": INF}, "clearance_m = inf"),
        ({"safety_range_m": 0.0}, "safety_range_m = 0"),
        ({"safety_range_m": NAN}, "safety_range_m = nan"),
        ({"body": ()}, "body has no balls"),
        ({"body": ((0.0, 0.0, 0.0),)}, "body ball 1 = (0.0, 0.0, 0.0)"),
        ({"body": ((0.0, 0.0, 0.0, 1.0), (NAN, 0.0, 0.0, 1.0))}, "body ball 2 = nan"),
        ({"body": ((0.0, 0.0, 0.0, -1.0),)}, "radius of body ball 1 = -1"),
        ({"start": spoilt(BOAT.state(), 1, NAN)}, "start has entries that are not finite"),
        ({"goal": Goal(spoilt(BOAT.state(), 4, INF))}, "goal has entries that are not finite"),
        ({"goal": Goal(BOAT.state(x=1e12))}, "goal is 1e+12 m away"),
        ({"goal": Goal(BODY.state())}, "goal does not fit vehicle 'boat'"),
        ({"goal": Goal(BOAT.state(), position="nigh")}, "goal's position = 'nigh'"),
        ({"goal": Goal(BOAT.state(), position="upright")}, "goal's position = 'upright'"),
        ({"goal": Goal(BOAT.state(), rotation="upright")}, "goal's rotation = 'upright'"),
        ({"goal": Goal(BOAT.state(), tolerance_m=NAN)}, "goal's tolerance_m = nan"),
        ({"goal": Goal(BOAT.state(), shape=(0,))}, "goal's shape index 0"),
        ({"limits": Limits(speed_mps=NAN)}, "limit speed_mps = nan"),
        ({"limits": Limits(turn_radps=INF)}, "limit turn_radps = inf"),
        ({"limits": Limits(tilt_rad=0.0)}, "limit tilt_rad = 0"),
        ({"limits": Limits(low_w=(NAN, 0.0, 0.0))}, "limit low_w"),
        ({"limits": Limits(low_w=(-9.0, -9.0))}, "limit low_w"),
        ({"limits": Limits(controls={"u_left": (NAN, 5.0)})}, "bounds of u_left"),
        ({"limits": Limits(controls={"u_left": (1.0,)})}, "bounds of u_left"),
        ({"limits": Limits(controls={"u_left": (1.0, 0.0)})}, "u_left from 1 to 0"),
        ({"limits": Limits(rates={"u_left": 0.0})}, "rate of u_left = 0"),
        ({"limits": Limits(rates={"u_left": NAN})}, "rate of u_left = nan"),
        ({"limits": Limits(rates={"u_left": INF})}, "rate of u_left = inf"),
        ({"limits": Limits(controls={"u_left": (0.0, 0.0), "u_right": (2.0, 2.0)})},
         "nothing is left to choose: u_left, u_right of boat are held"),
        ({"effort_scale": {"u_left": 0.0}}, "effort scale of u_left = 0"),
        ({"effort_scale": {"u_left": NAN}}, "effort scale of u_left = nan"),
        ({"obstacles": (Cylinder((NAN, 0.0, 0.0), 1.0, "pile"),)}, "obstacle pile: its numbers = nan"),
        ({"obstacles": (Box((5.0, 3.0, 0.0), (1.0, INF, 1.0)),)}, "obstacle box 1: its numbers = inf"),
        ({"obstacles": (Capsule((5.0, 3.0, 0.0), (5.0, 4.0, 0.0), 0.0),)}, "obstacle capsule 1: size 0 m"),
        ({"waypoints": (Waypoint((NAN, 0.0, 0.0)),)}, "waypoint 1 = nan"),
        ({"waypoints": (Waypoint((5.0, 0.0)),)}, "waypoint 1 = (5.0, 0.0)"),
        ({"waypoints": (Waypoint((5.0, 0.0, 0.0), NAN),)}, "waypoint 1: tolerance = nan"),
        ({"waypoints": (Waypoint((5.0, 0.0, 0.0), 0.5, NAN),)}, "waypoint 1: time_s = nan"),
        ({"waypoints": tuple(Waypoint((i / 9, 0.0, 0.0)) for i in range(64))}, "64 waypoints"),
    ],
)  # fmt: skip
def test_numbers_that_are_none_or_out_of_range_are_named(change, words):
    assert words in refusal(BOAT, dataclasses.replace(CROSSING, **change), CROSSING)


PILE, WALL = Cylinder((5.0, 1.0, 0.0), 1.5, "pile"), Box((5.0, 0.0, 0.0), (0.1, 9.0, 9.0), 0.0, "wall")


@pytest.mark.parametrize(
    ("vehicle", "task", "change", "words"),
    [
        (BOAT, CROSSING, {"waypoints": (Waypoint((5.0, 1.0, 9.0)),), "obstacles": (PILE,)},
         "waypoint 1 is inside obstacle pile or its clearance by 1 m"),
        (BOAT, CROSSING, {"waypoints": (Waypoint((5.0, 6.0, 0.0)),), "limits": Limits(high_w=(20.0, 5.0, 1.0))},
         "waypoint 1 is outside the bounds: y = 6 m"),
        (BOAT, CROSSING, {"waypoints": (Waypoint((4.0, 0.0, 0.0), 0.5, 5.0), Waypoint((4.0, 2.0, 0.0), 0.5, 5.05))},
         "waypoint 2 falls on the same step as waypoint 1"),
        (BOAT, CROSSING, {"goal": Goal(BOAT.state(x=10.0, v=(40.0, 0.0)))}, "moves at 40 of 30 m/s"),
        (BOAT, CROSSING, {"start": BOAT.state(omega=5.0)}, "start is faster than the limits allow: it turns at 5"),
        (BOAT, CROSSING, {"goal": Goal(BOAT.state(x=10.0, v=(40.0, 0.0)), velocity="within")}, "goal is faster"),
        (BODY, TURN, {"start": BODY.state(R=UPSIDE_DOWN), "limits": Limits(tilt_rad=0.5)}, "start is tilted by 180"),
        (BODY, TURN, {"goal": Goal(BODY.state(R=UPSIDE_DOWN)), "limits": Limits(tilt_rad=0.5)}, "goal is tilted by"),
        (BODY, TURN, {"start": spoilt(BODY.state(), 0, 2.0)}, "start has no rotation matrix"),
        (CAR, DRIVE, {"start": spoilt(CAR.state(), CAR.node_layout.shape.start + SIGMA, 3.0)}, "start has sigma = 3"),
        (CAR, DRIVE, {"limits": Limits(shape={"sigma": (-0.1, 0.1)}), "start": CAR.state(shape=np.eye(2)[SIGMA] * 0.4)},
         "start has sigma = 0.4; allowed: -0.1 to 0.1"),
        (CAR, DRIVE, {"limits": Limits(shape={"sigma": (3.0, 4.0)})}, "bounds contradict each other: sigma"),
    ],
)  # fmt: skip
def test_parts_that_cannot_go_together_are_named(vehicle, task, change, words):
    assert words in refusal(vehicle, dataclasses.replace(task, **change), task)


def test_a_waypoint_under_ground_is_refused_and_one_whose_tolerance_leads_out_of_it_is_not():
    heli, task = with_ground()
    deep = dataclasses.replace(task, waypoints=(Waypoint((30.0, 0.0, 2.0), 1.0),))
    assert "waypoint 1 is under ground" in refusal(heli, deep)
    low = dataclasses.replace(task, waypoints=(Waypoint((30.0, 0.0, 4.5), 1.0),))
    assert "waypoint 1 is" in refusal(heli, low)
    check_task(heli, VARIATIONAL, dataclasses.replace(task, waypoints=(Waypoint((30.0, 0.0, 4.5), 6.0),)))


LONG = ((1.5, 0.0, 0.0, 0.5), (-1.5, 0.0, 0.0, 0.5))


@pytest.mark.parametrize(
    "change",
    [
        # Whole only at another heading than the goal's state has, which is free.
        {"goal": Goal(BOAT.state(x=10.0), rotation="free"), "obstacles": (Cylinder((12.0, 0.0, 0.0), 0.6),)},
        {"goal": Goal(BOAT.state(x=10.0), position="within", tolerance_m=1.0),
         "obstacles": (Cylinder((12.2, 0.0, 0.0), 0.6),)},
        {"goal": Goal(BOAT.state(x=10.0), position="free"), "obstacles": (Sphere((10.0, 0.0, 0.0), 3.0),)},
        {"goal": Goal(BOAT.state(x=10.0, v=(40.0, 0.0)), velocity="free")},
        {"waypoints": (Waypoint((5.0, 2.4, 0.0)),), "obstacles": (Cylinder((5.0, 1.0, 0.0), 1.5),)},
        {"obstacles": (), "waypoints": (Waypoint((0.0, 0.0, 0.0)), Waypoint((10.0, 0.0, 0.0)))},
        {"limits": Limits(low_w=(-INF, -5.0, -INF), high_w=(INF, 5.0, INF))},
        {"weights": Weights(0, 0, 0, 0, 0, 0, 0)},
    ],
)  # fmt: skip
def test_what_is_only_unusual_is_not_refused(change):
    check_task(BOAT, VARIATIONAL, dataclasses.replace(CROSSING, body=LONG, **change))


@pytest.mark.parametrize("name", ["chain", "tumbler"])
def test_what_has_no_place_to_go_or_nothing_to_go_with_is_refused(name):
    class Tumbler(type(BODY)):
        name, controls = "tumbler", ()

        def control_wrench(self, u, q):
            return ca.SX.zeros(6)

    vehicle = Tumbler() if name == "tumbler" else sim.vehicle(name)
    state = vehicle.default_state()
    assert name in refusal(vehicle, Task(state, Goal(state), 4.0))


def test_balls_may_be_one_array() -> None:
    balls = ((0.1, 0.0, 0.0, 0.2), (-0.1, 0.0, 0.0, 0.2))
    asked = dataclasses.replace(CROSSING, body=np.array(balls), bodies=np.array(["", ""]))
    assert (asked.body, asked.bodies) == (balls, ("", ""))
    assert asked == dataclasses.replace(CROSSING, body=balls, bodies=("", ""))


class Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


ODD = (
    None, "", "5", "a\nb" * 200, "\ud800", b"5", True, -1, 10**400, NAN, INF, 1j, np.ma.masked, [], [1], [[1], [1, 2]],
    (1, 2), (2, 1), (1, 2, 3), ["a"] * 3, (NAN,) * 3, np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.array("a"), {},
    {"x": 1}, {1: 2}, set(), object(), Unreadable(), range(3), int, Ellipsis,
)  # fmt: skip
PARTS = {
    "task": CROSSING,
    "goal": CROSSING.goal,
    "limits": CROSSING.limits,
    "weights": CROSSING.weights,
    "waypoint": Waypoint((2.0, 1.0, 0.0)),
    "sphere": Sphere((2.0, 9.0, 0.0), 0.3),
    "cylinder": Cylinder((2.0, 9.0, 0.0), 0.3),
    "capsule": Capsule((2.0, 9.0, 0.0), (2.0, 9.5, 1.0), 0.2),
    "box": Box((2.0, 9.0, 0.0), (0.2, 0.2, 0.2)),
}


@pytest.mark.parametrize("part", PARTS)
def test_whatever_stands_for_a_number_is_a_task_or_one_line(part):
    """6,600 of these by hand gave tracebacks by the hundred, and boxes with the numbers of other boxes."""
    told = []
    for name in (field.name for field in dataclasses.fields(PARTS[part])):
        for odd in ODD:
            changed = dataclasses.replace(PARTS[part], **{name: odd})
            task = {
                "task": lambda c: c,
                "goal": lambda c: dataclasses.replace(CROSSING, goal=c),
                "limits": lambda c: dataclasses.replace(CROSSING, limits=c),
                "weights": lambda c: dataclasses.replace(CROSSING, weights=c),
                "waypoint": lambda c: dataclasses.replace(CROSSING, waypoints=(c,)),
            }.get(part, lambda c: dataclasses.replace(CROSSING, obstacles=(c,)))(changed)
            try:
                check_task(BOAT, VARIATIONAL, task)
            except sim.InputError as refused:
                told.append(str(refused))
    assert len(told) > 20
    assert not [line for line in told if "\n" in line or len(line) > 300]


@pytest.mark.parametrize(
    "obstacle",
    [
        Box((1.0, 2.0), (0.5, 0.5, 0.5, 0.5)),
        Capsule((1.0, 2.0), (3.0, 4.0, 5.0, 6.0), 0.5),
        Sphere((1.0, "2", 3.0), 0.5),
        Cylinder((1.0, 2.0, 3.0), None),
    ],
)
def test_numbers_of_an_obstacle_do_not_pass_for_one_another(obstacle):
    assert "an obstacle's" in refusal(BOAT, dataclasses.replace(CROSSING, obstacles=(obstacle,)))


@pytest.mark.parametrize(
    ("vehicle", "words"),
    [("carr", "unknown vehicle 'carr'"), (3, "vehicle = 3 is none; allowed: a name, or sim.")],
)
def test_a_planner_says_what_is_no_vehicle_whatever_the_method(vehicle, words):
    for method in (None, "variational"):
        with pytest.raises(sim.InputError, match=words):
            Planner().plan(vehicle, CROSSING, method=method)


@pytest.mark.parametrize("odd", [NAN, -1.0, 0, None, "5", (1.0,), 1j, Unreadable()])
def test_a_time_limit_is_seconds_or_one_line(odd):
    with pytest.raises(
        sim.InputError, match=r"^time_limit_s = .* is not possible; allowed: seconds above 0$"
    ):
        time_limit(odd)
    assert time_limit(INF).left_s > time_limit(1e6).left_s


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step_s": 0.0}, "step_s = 0.0"),
        ({"step_s": NAN}, "step_s = nan"),
        ({"period_s": "fast"}, "period_s = 'fast'"),
        ({"lag_s": INF}, "lag_s = inf"),
        ({"aim": (1.0, 2.0)}, "aim = (1.0, 2.0)"),
        ({"flown": np.zeros(3)}, "vehicle = array"),
    ],
)
def test_what_no_receding_horizon_can_be_is_one_line(options, words):
    with pytest.raises(sim.InputError) as told:
        sim.receding_horizon(BOAT, CROSSING, 1.0, **options)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_every_kind_of_obstacle_is_checked_at_the_start():
    heli, task = forest()
    kinds: tuple[Obstacle, ...] = (
        Sphere((0.0, 0.0, 3.0), 1.0, "ball"),
        Cylinder((0.0, 0.0, 0.0), 1.0, "mast"),
        Capsule((-5.0, 0.0, 3.0), (5.0, 0.0, 3.0), 1.0, "pipe"),
        Box((0.0, 0.0, 3.0), (1.0, 1.0, 1.0), 0.3, "crate"),
    )
    for obstacle in kinds:
        words = refusal(heli, dataclasses.replace(task, obstacles=(obstacle,)))
        assert f"start is inside obstacle {obstacle.name} or its clearance by 1.2 m" in words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "snopt"}, "unknown solver 'snopt'; allowed: auto, fatrop, ipopt"),
        ({"time_limit_s": NAN}, "time_limit_s = nan"),
        ({"time_limit_s": -1.0}, "time_limit_s = -1"),
        ({"solver": np.zeros(2)}, "unknown solver array"),
        ({"starts": 0}, "starts = 0"),
        ({"starts": "all"}, "starts = 'all'"),
        ({"processes": 1.5}, "processes = 1.5"),
        ({"warm": "plan.npz"}, "warm = 'plan.npz'"),
        ({"method": 4}, "method = 4"),
        ({"method": "nope"}, "unknown integrator 'nope'"),
        ({"method": "rkmk54"}, "rkmk54"),
        ({"method": "variational-4"}, "variational-4 composes a step of several"),
    ],
)
def test_ways_to_plan_that_there_are_not_are_named(options, words):
    with pytest.raises(sim.InputError) as told:
        sim.plan(BOAT, dataclasses.replace(CROSSING, steps=8), **options)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("held_N", [0.0, 0.4])
def test_an_actuator_that_is_held_keeps_its_number_in_a_plan_that_replays(held_N: float) -> None:
    craft = sim.vehicle("spacecraft")
    names = [control.name for control in craft.controls]
    turned = craft.state(R=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    task = Task(
        craft.state(),
        Goal(turned, position="free", velocity="free"),
        12.0,
        steps=24,
        limits=Limits(controls={"thrust": (held_N, held_N)}),
    )
    plan = sim.plan(craft, task, starts=1)
    assert plan.solved
    assert np.all(plan.controls[:, names.index("thrust")] == held_N)
    flown = sim.simulate(
        craft, "variational", step=plan.step_s, duration=12.0, initial=task.start, controls=plan.controls[:-1]
    )
    assert np.abs(flown.nodes[-1] - plan.motion.nodes[-1]).max() < 1e-6  # measured 2e-12


def test_a_control_of_a_lift_vector_that_is_held_is_refused_in_a_line() -> None:
    heli, task = forest(16)
    limits = dataclasses.replace(task.limits, controls={heli.controls[0].name: (1.0, 1.0)})
    assert "move its controls together" in refusal(heli, dataclasses.replace(task, limits=limits))


@pytest.mark.parametrize("name", ["snakeboard", "rolling-disc"])
@pytest.mark.parametrize("method", ["lie-euler", "rk2", "rk4"])
def test_a_goal_that_says_a_velocity_twice_is_planned(name: str, method: str) -> None:
    vehicle = sim.vehicle(name)
    every = tuple(range(len(vehicle.shape_coordinates)))
    goal = Goal(vehicle.state(x=1.0), shape=every, shape_velocity=every)
    task = Task(vehicle.state(), goal, 6.0, steps=32)
    plan = Planner().plan(vehicle, task, method=method)
    assert plan.solved
    assert np.abs(plan.motion.nodes[-1] - goal.state.node)[vehicle.node_layout.velocity].max() < 1e-6  # 1e-9


def test_what_is_no_vehicle_and_functions_that_fail_are_one_line() -> None:
    task = Task(BOAT.state(), Goal(BOAT.state(x=3.0)), 5.0, steps=16)

    def failing(iterate: object) -> bool:
        raise ZeroDivisionError("of the user")

    for given, options, says in (
        ([BOAT, BOAT], {}, "vehicle = "),
        (BOAT, {"show": failing}, "show has raised ZeroDivisionError: of the user"),
        (BOAT, {"show": 3}, "show = 3"),
        (BOAT, {"found": 3}, "found = 3"),
    ):
        with pytest.raises(sim.InputError, match=says) as told:
            sim.plan(given, task, **options)  # type: ignore[arg-type]
        assert "\n" not in str(told.value)
    chains = [sim.vehicle("pendulum", links=count) for count in (1, 2)]
    asked = Task(chains[0].state(), Goal(chains[0].state()), 2.0, steps=16)
    with pytest.raises(sim.InputError, match="numbers of state"):
        sim.receding_horizon(chains[0], asked, 1.0, flown=chains[1])


def test_more_full_turns_than_the_limit_of_turning_allows_are_refused() -> None:
    task = Task(BOAT.state(), Goal(BOAT.state(theta=40.0 * np.pi)), 15.0, steps=16)
    assert "125.7 rad around from the start" in refusal(BOAT, task)
    check_task(BOAT, VARIATIONAL, dataclasses.replace(task, goal=Goal(BOAT.state(theta=4.0 * np.pi))))
