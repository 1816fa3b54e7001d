"""Random tasks: what is said to be solved obeys all that was asked, measured apart from the planner."""

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import sim
from sim.planner import Capsule, Cylinder, Goal, Limits, Sphere, Task, Waypoint, Weights
from sim.vehicles import Vehicle
from tests.sim.plan_audit import broken
from tests.sim.planner_tasks import PLANNER

FEW = settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
STEPS = 24


def number(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False).map(lambda x: round(x, 3))


def judged(vehicle: Vehicle, task: Task) -> None:
    """Refused for an end in an obstacle, or solved and sound, or told why not."""
    try:
        plan = PLANNER.plan(vehicle, task, time_limit_s=10.0, starts=1)
    except sim.InputError as refusal:
        if "is inside obstacle" not in str(refusal):
            raise
        return
    assert plan.message
    assert "\n" not in plan.message
    if plan.solved:
        assert broken(plan) == []
        assert plan.kkt < 1e-5
    else:
        assert plan.status in ("infeasible", "stuck", "time limit")


def beside(start: np.ndarray, goal: np.ndarray, share: float, aside: float) -> np.ndarray:
    """A place along the way and `aside` of it."""
    along = goal - start
    left = np.array([-along[1], along[0], 0.0]) / np.linalg.norm(along)
    return start + share * along + aside * left


@FEW
@given(
    bearing=number(-3.1, 3.1), turn=number(-3.1, 3.1), far=number(6.0, 14.0), share=number(0.4, 0.6),
    aside=number(-2.0, 2.0), wind=number(-4.0, 4.0), free=st.booleans(),
)  # fmt: skip
def test_a_boat_around_a_buoy_in_wind(bearing, turn, far, share, aside, wind, free):
    boat = sim.vehicle("boat", wind=(wind, 2.0))
    x, y = far * math.cos(bearing), far * math.sin(bearing)
    place = beside(np.zeros(3), np.array([x, y, 0.0]), share, aside)
    task = Task(
        boat.state(v=(0.2, 0.0)),
        Goal(boat.state(theta=turn, x=x, y=y), rotation="within" if free else "fixed"),
        24.0,
        STEPS,
        obstacles=(Cylinder((place[0], place[1], 0.0), 1.0, "buoy"),),
        clearance_m=0.2,
        body=((0.8, 0.0, 0.0, 0.5), (-0.8, 0.0, 0.0, 0.5)),
        limits=Limits(speed_mps=3.0, turn_radps=1.0, rates={"u_left": 60.0}),
    )
    judged(boat, task)


@FEW
@given(
    bearing=number(-3.1, 3.1), heading=number(-3.1, 3.1), far=number(5.0, 14.0), share=number(0.4, 0.6),
    aside=number(-2.0, 2.0),
)  # fmt: skip
def test_a_car_around_a_post(bearing, heading, far, share, aside):
    car = sim.vehicle("car")
    x, y = far * math.cos(bearing), far * math.sin(bearing)
    place = beside(np.zeros(3), np.array([x, y, 0.0]), share, aside)
    task = Task(
        car.state(),
        Goal(car.state(theta=heading, x=x, y=y)),
        20.0,
        STEPS,
        obstacles=(Capsule(tuple(place), (place[0], place[1], 1.0), 0.6, "post"),),
        body=((0.0, 0.0, 0.0, 0.6), (1.2, 0.0, 0.0, 0.6)),
        limits=Limits(speed_mps=6.0, shape={"sigma": (-0.8, 0.8)}),
    )
    judged(car, task)


@FEW
@given(
    seed=st.integers(0, 1000), far=number(3.0, 12.0), push=number(4.0, 20.0), share=number(0.35, 0.65),
    through=st.booleans(),
)  # fmt: skip
def test_a_body_thrown_and_turned_past_a_ball(seed, far, push, share, through):
    rng = np.random.default_rng(seed)
    body, (Ra, Rb) = sim.vehicle("rigid-body", gravity=1.0), Rotation.random(2, rng=rng).as_matrix()
    goal = far * rng.normal(size=3) / 2.0
    ball = beside(np.zeros(3), goal, share, float(rng.uniform(-0.6, 0.6)))
    way = beside(np.zeros(3), goal, 0.8, 0.5)
    task = Task(
        body.state(R=Ra, omega=rng.normal(size=3) * 0.3, v=rng.normal(size=3) * 0.3),
        Goal(body.state(x=goal, R=Rb)),
        5.0,
        STEPS,
        obstacles=(Sphere(tuple(ball), 0.3, "ball"),),
        waypoints=(Waypoint(tuple(way), 0.3),) if through else (),
        weights=Weights(smoothness=0.1),
        limits=Limits(controls={f"force_{axis}": (-push, push) for axis in "xyz"}),
    )
    judged(body, task)
