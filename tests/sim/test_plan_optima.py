"""Optima against closed forms and against a transcription that shares nothing with the planner's."""

from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.planner import Cylinder, Goal, Task, task_of_scene
from sim.scene import load_scene
from tests.sim.planner_tasks import EFFORT_ONLY, PLANNER, rest_to_rest, unit_effort

DRAG, THRUSTERS = (40.0, 200.0, 80.0), 0.5
MASS, INERTIA = 120.0, 60.0


def boat_rate(x: ca.MX, u: ca.MX) -> ca.MX:
    """Of (theta, x, y, omega, v_x, v_y): Newton and Euler in body axes, two thrusts at y = +-0.5 m, linear drag."""
    theta, omega, vx, vy = x[0], x[3], x[4], x[5]
    return ca.vertcat(
        omega,
        ca.cos(theta) * vx - ca.sin(theta) * vy,
        ca.sin(theta) * vx + ca.cos(theta) * vy,
        (THRUSTERS * (u[1] - u[0]) - DRAG[2] * omega) / INERTIA,
        omega * vy + (u[0] + u[1] - DRAG[0] * vx) / MASS,
        -omega * vx - DRAG[1] * vy / MASS,
    )


def shot(rate: Callable, start: list, goal: list, T: float, n: int, buoy: tuple, first: np.ndarray) -> float:
    """Least integral of u'u with inputs held over steps: RK4 multiple shooting in two substeps, by IPOPT."""
    program = ca.Opti()
    x, u, h = program.variable(len(start), n + 1), program.variable(2, n), T / n / 2
    for k in range(n):
        here = x[:, k]
        for _ in range(2):
            a = rate(here, u[:, k])
            b = rate(here + h / 2 * a, u[:, k])
            c = rate(here + h / 2 * b, u[:, k])
            here = here + h / 6 * (a + 2 * b + 2 * c + rate(here + h * c, u[:, k]))
        program.subject_to(x[:, k + 1] == here)
        cx, cy, radius = buoy
        program.subject_to((x[1, k] - cx) ** 2 + (x[2, k] - cy) ** 2 >= radius**2)
    program.subject_to(x[:, 0] == start)
    program.subject_to(x[:, n] == goal)
    program.minimize(2 * h * ca.sumsqr(u))
    program.set_initial(x, first)
    program.solver("ipopt", {"print_time": False, "expand": True}, {"print_level": 0, "sb": "yes"})
    return float(program.solve().value(program.f))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_plan_costs_what_an_independent_transcription_finds_on_the_same_side_of_a_buoy(side: float) -> None:
    """A boat turns about a buoy to a goal askew, moving at both ends; the other one begins on a given side."""
    boat, n, T = sim.vehicle("boat", wind_drag=0.0), 128, 12.0
    start, goal, buoy = (0.3, 0.0, 0.0, 0.1, 0.6, 0.05), (-0.7, 12.0, 2.0, 0.0, 0.4, 0.0), (6.0, 0.8, 1.5)
    states = [boat.state(theta=s[0], x=s[1], y=s[2], omega=s[3], v=s[4:]) for s in (start, goal)]
    task = Task(
        states[0], Goal(states[1]), T, steps=n, obstacles=(Cylinder((*buoy[:2], 0.0), buoy[2]),),
        weights=EFFORT_ONLY, effort_scale=unit_effort(boat),
    )  # fmt: skip
    plan = PLANNER.plan(boat, task)
    assert plan.solved, plan.message
    found = [plan, *plan.alternatives]
    middle = [float(np.interp(buoy[0], p.trajectory.nodes[:, 1], p.trajectory.nodes[:, 2])) for p in found]
    own = min(p.cost for p, y in zip(found, middle, strict=True) if side * (y - buoy[1]) > 0.0)
    first = np.linspace(start, goal, n + 1).T
    first[2] += side * 3.0 * np.sin(np.linspace(0.0, np.pi, n + 1))
    # 2e-4 and 1e-3: the plan's inputs at its ends count half, its step is of second order.
    assert own == pytest.approx(shot(boat_rate, list(start), list(goal), T, n, buoy, first), rel=5e-3)


TORQUE, WHEELBASE, RADIUS = 400.0, 2.4, 0.32


def car_rate(x: ca.MX, u: ca.MX) -> ca.MX:
    """Of (theta, x, y, speed, tangent of the steering angle): what the torque on the wheels does is all that changes
    the kinetic energy, since neither rolling nor steering does work."""
    theta, speed, sigma = x[0], x[3], x[4]
    mass = 800.0 + 2.0 / RADIUS**2 + 900.0 * (sigma / WHEELBASE) ** 2
    turning = 900.0 * sigma * u[1] / WHEELBASE**2
    return ca.vertcat(
        speed * sigma / WHEELBASE,
        speed * ca.cos(theta),
        speed * ca.sin(theta),
        (TORQUE * u[0] / RADIUS - turning * speed) / mass,
        u[1],
    )


def test_on_wheels_a_plan_costs_what_an_independent_transcription_finds() -> None:
    """A car changes lanes and turns a little, from one speed to another."""
    car, n, T = sim.vehicle("car"), 64, 8.0
    start, goal = (0.2, 0.0, 0.0, 1.0, 0.1), (0.5, 14.0, 4.0, 1.5, 0.0)
    states = [
        car.state(theta=s[0], x=s[1], y=s[2], shape=(0.0, s[4]), shape_velocity=(s[3] / RADIUS, 0.0))
        for s in (start, goal)
    ]
    task = Task(
        states[0],
        Goal(states[1]),
        T,
        steps=n,
        weights=EFFORT_ONLY,
        effort_scale={"f_psi": TORQUE, "u_sigma": 1.0},
    )
    plan = PLANNER.plan(car, task, starts=1)
    assert plan.solved, plan.message
    least = shot(car_rate, list(start), list(goal), T, n, (0.0, 0.0, 0.0), np.linspace(start, goal, n + 1).T)
    assert plan.cost == pytest.approx(least, rel=1e-3)  # 3e-5


def test_on_a_sphere_a_plan_costs_what_an_independent_transcription_finds() -> None:
    """A pendulum with motors at its pivot is brought to rest at 0.2 rad, where it has to be held."""
    pendulum, task = task_of_scene(load_scene("plan-pendulum-swing-up"))
    n, T, angle = 64, 2.0, 0.2
    mass, length, gravity = (float(pendulum.values[name]) for name in ("mass", "length", "gravity"))
    names = [control.name for control in pendulum.controls]
    wanted = pendulum.state(direction=(np.sin(angle), 0.0, -np.cos(angle)))
    task = replace(
        task, goal=Goal(wanted), duration_s=T, steps=n, weights=EFFORT_ONLY,
        effort_scale=dict.fromkeys(names, 1.0),
    )  # fmt: skip
    plan = PLANNER.plan(pendulum, task, method="rkmk4-cay", starts=1)
    assert plan.solved, plan.message

    def rate(x: ca.MX, u: ca.MX) -> ca.MX:
        """Of (0, angle, 0, rate): the buoy's place is none here."""
        bent = u[0] / (mass * length**2) - gravity / length * ca.sin(x[1])
        return ca.vertcat(0.0, x[3], 0.0, bent + 0.0 * u[1])

    start, goal = [0.0] * 4, [0.0, angle, 0.0, 0.0]
    least = shot(rate, start, goal, T, n, (0.0, 0.0, 0.0), np.linspace(start, goal, n + 1).T)
    assert np.abs(plan.controls).max() < 14.0  # 3.1: the scene's limit of the motors holds nothing
    assert plan.cost == pytest.approx(least, rel=1e-4)  # 1e-6


@pytest.mark.parametrize("distance", [2.0, 5.0])
def test_from_rest_to_rest_costs_twelve_squares_of_the_way_by_the_cube_of_the_time(distance: float) -> None:
    errors = []
    for steps in (32, 64):
        body, task = rest_to_rest(steps, distance, 3.0)
        plan = PLANNER.plan(body, task, starts=1)
        errors.append(abs(plan.cost / (12.0 * distance**2 / 27.0) - 1.0))
    assert errors[1] < 1e-3  # 4.9e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_least_time_is_bang_bang() -> None:
    """2 sqrt(m d / F), with full force one way and then the other."""
    body, task = rest_to_rest(64)
    limits = replace(task.limits, controls={c.name: (-1.5, 1.5) for c in body.controls})
    weights = replace(task.weights, effort=0.0, time=1.0)
    fast = replace(task, limits=limits, weights=weights, free_duration=(1.0, 6.0))
    plan = PLANNER.plan(body, fast, starts=1)
    assert plan.solved, plan.message
    assert plan.duration_s == pytest.approx(2.0 * np.sqrt(3.0 / 1.5), rel=2e-3)
