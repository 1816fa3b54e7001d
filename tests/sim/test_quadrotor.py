"""Laws of the quadrotor: what its rotors do, that sticks fly it, that it is planned."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.commands import PilotInput, SetFlightMode, SetPilotInput
from sim.control.airframe import airframe_of
from sim.planner import Goal, Sphere, Task
from sim.scene import Scene, Start
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import simulation

QUADROTOR = sim.vehicle("quadrotor", mass=0.9, arm=0.31, torque_per_lift=0.04, rotor_drag=0.2)


def wrench_of(u):
    symbols = ca.SX.sym("u", 4)
    made = QUADROTOR.control_wrench(symbols, QUADROTOR.symbols(ca.SX(QUADROTOR.parameter_vector)))
    return np.array(ca.Function("w", [symbols], [made])(u)).ravel()


def test_the_wrench_is_the_sum_of_each_rotors_lift_and_of_the_torque_that_its_drag_leaves():
    """r x f and f by NumPy; rotors on one diagonal turn one way; exact."""
    lifts = np.array([1.0, 2.5, 3.0, 0.7])
    places = 0.31 * np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    force = lifts[:, None] * [0.0, 0.0, 1.0]
    torque = np.cross(places, force).sum(0) + np.array([0, 0, 0.04 * (lifts @ [1, -1, -1, 1])])
    np.testing.assert_allclose(wrench_of(lifts), [*torque, *force.sum(0)], atol=1e-14)


def test_a_quarter_of_the_weight_on_each_rotor_hovers():
    lift = 0.9 * 9.81 / 4
    run = sim.simulate(QUADROTOR, "variational-exact", step=0.005, duration=2.0, controls=[lift] * 4)
    np.testing.assert_allclose(run.pose[-1], np.eye(4), atol=1e-12)
    np.testing.assert_allclose(run.observables["lift_over_weight"], 1.0, atol=1e-13)


def test_rotor_drag_slows_what_crosses_the_rotors_and_nothing_along_their_axis():
    """v' = -drag/m v in body x and y; falling stays free; measured 2e-12."""
    start = QUADROTOR.state(v=(2.0, -1.0, 0.0))
    run = sim.simulate(QUADROTOR, "rk4", step=0.005, duration=1.0, initial=start)
    left = np.exp(-0.2 / 0.9)
    np.testing.assert_allclose(run.velocity[-1, 3:], [2.0 * left, -left, -9.81], atol=1e-9)


@pytest.mark.parametrize("torque", [(0.3, -0.2, 0.05), (0.0, 0.0, 0.0)])
def test_the_rotors_make_the_torque_and_lift_that_are_asked_for(torque):
    airframe = airframe_of(QUADROTOR)
    made = wrench_of(airframe.allocate(np.array(torque), 9.0))
    np.testing.assert_allclose(made, [*torque, 0.0, 0.0, 9.0], atol=1e-12)


def test_where_the_rotors_range_ends_they_level_first_and_turn_last():
    airframe = airframe_of(QUADROTOR)
    controls = airframe.allocate(np.array([0.8, 0.0, 5.0]), 9.0)
    made = wrench_of(controls)
    assert (controls >= airframe.low - 1e-12).all()
    assert (controls <= airframe.high + 1e-12).all()
    assert made[0] == pytest.approx(0.8)
    assert 0.0 < made[2] < 5.0


SCENE = Scene(
    name="quadrotor",
    title="quadrotor",
    world="plaza",
    vehicle=known_vehicle("quadrotor"),
    integrator="variational-exact",
    step_s=0.005,
    flight_mode="attitude",
    start=Start(position_w=(0.0, 0.0, 12.0)),
)


def test_sticks_fly_it_ahead_and_hands_off_it_stops_level_where_it_is():
    running = simulation(SCENE)
    running.submit(SetPilotInput(PilotInput(pitch=1.0)))
    ahead = running.advance(2.0).lanes[0]
    assert ahead.twist_b[3] > 3.0
    assert abs(ahead.T_wb[1, 3]) < 0.05
    assert ahead.T_wb[2, 3] == pytest.approx(12.0, abs=0.6)
    running.submit(SetPilotInput(PilotInput()))
    stopped = running.advance(6.0).lanes[0]
    assert np.linalg.norm(stopped.twist_b) < 0.05
    assert stopped.T_wb[2, 2] > 0.9999
    running.submit(SetPilotInput(PilotInput(yaw=1.0, throttle=1.0)))
    turned = running.advance(2.0).lanes[0]
    assert turned.T_wb[2, 3] > 15.0
    assert np.arctan2(turned.T_wb[1, 0], turned.T_wb[0, 0]) < -0.8


def test_rate_mode_keeps_the_lean_that_the_stick_left():
    running = simulation(replace(SCENE, flight_mode="rate"))
    running.submit(SetFlightMode("rate"))
    running.submit(SetPilotInput(PilotInput(roll=0.5)))
    running.advance(0.5)
    running.submit(SetPilotInput(PilotInput()))
    one = running.advance(0.5).lanes[0].T_wb[:3, :3]
    other = running.advance(0.5).lanes[0].T_wb[:3, :3]
    assert 0.8 < one[2, 2] < 0.99
    np.testing.assert_allclose(one, other, atol=0.02)


def test_a_way_is_planned_whose_inputs_fly_it_there():
    """4 m ahead and 1 m up in 3 s, rotors within their range; flown as it was planned."""
    start, goal = QUADROTOR.state(), QUADROTOR.state(x=(4.0, 0.0, 1.0))
    plan = sim.plan(QUADROTOR, Task(start=start, goal=Goal(goal), duration_s=3.0))
    flown = sim.simulate(
        QUADROTOR, plan.integrator, step=plan.step_s, duration=3.0, initial=start, controls=plan.controls[:-1]
    )
    np.testing.assert_allclose(flown.pose[-1, :3, 3], [4.0, 0.0, 1.0], atol=1e-5)
    assert plan.controls.min() > -1e-6
    assert plan.controls.max() < 8.0 + 1e-6


LAGGING = sim.vehicle("quadrotor", motors=1, motor_lag=0.08, rotor_drag=0.2)
TOLD = np.array([2.2, 1.5, 1.7, 2.4])


def lagging_rate(t, y, told):
    """(R, x, omega, v, lifts) by Newton and Euler, and each lift after what it is told; NumPy alone."""
    R, omega, v, lifts = y[:9].reshape(3, 3), y[12:15], y[15:18], y[18:]
    places = 0.28 * np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    force = lifts[:, None] * [0.0, 0.0, 1.0]
    torque = np.cross(places, force).sum(0)
    torque[2] += 0.05 * (lifts @ [1, -1, -1, 1])
    J, m = np.array([0.0820, 0.0845, 0.1377]), 0.755
    weight, drag = R.T @ [0, 0, -9.81], -0.2 * v * [1, 1, 0]
    turning = (torque - np.cross(omega, J * omega)) / J
    speeding = force.sum(0) / m + drag / m + weight - np.cross(omega, v)
    W = np.cross(np.eye(3), omega)
    return np.concatenate([(R @ W).ravel(), R @ v, turning, speeding, (told(t) - lifts) / 0.08])


def exact(told, start, seconds):
    y = solve_ivp(lagging_rate, (0, seconds), start, args=(told,), method="DOP853", rtol=1e-12, atol=1e-12).y[
        :, -1
    ]
    return np.concatenate([y[:9].reshape(3, 3).T.ravel(), y[9:]])


def begun():
    state = LAGGING.state(omega=(0.3, -0.2, 0.5), v=(1.0, 0.5, -0.3))
    R = state.node[:9].reshape(3, 3).T
    return state, np.concatenate([R.ravel(), state.node[9:]])


def test_a_motor_makes_up_the_share_of_a_change_that_its_lag_says():
    """lift = told + (first - told) exp(-t / lag), whatever the step: 20 ms or 1 ms; measured 1e-15."""
    first = 0.755 * 9.81 / 4
    for method, step in (("variational-exact", 0.02), ("rk4", 0.001), ("variational-4", 0.02)):
        run = sim.simulate(LAGGING, method, step=step, duration=0.2, controls=TOLD)
        wanted = TOLD + (first - TOLD) * np.exp(-run.time[:, None] / 0.08)
        np.testing.assert_allclose(run.nodes[:, LAGGING.space.slices["acting"]], wanted, atol=1e-13)


@pytest.mark.parametrize(("method", "order"), [("variational-exact", 2), ("rk4", 4), ("rkmk4", 4)])
def test_methods_keep_their_order_behind_motors_that_lag(method, order):
    """Against Newton and Euler with a fifth equation, tightly by SciPy; told lifts that are held, and that change."""
    state, start = begun()
    changing = {False: lambda t: TOLD, True: lambda t: TOLD + 0.8 * np.sin(9.0 * t + np.arange(4))}
    for told in changing.values():
        wanted = exact(told, start, 0.4)
        given = TOLD if told is changing[False] else lambda t, _, told=told: told(t)
        errors = [
            np.linalg.norm(
                sim.simulate(LAGGING, method, step=h, duration=0.4, initial=state, controls=given).nodes[-1]
                - wanted
            )
            for h in (0.02, 0.01)
        ]
        assert errors[1] < (5e-3 if order == 2 else 1e-6)  # 1.2e-3
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def test_sticks_fly_it_with_motors_that_lag_and_hands_off_it_hovers():
    running = simulation(replace(SCENE, vehicle=known_vehicle("quadrotor", motors=1.0, motor_lag=0.06)))
    running.submit(SetPilotInput(PilotInput(pitch=1.0)))
    ahead = running.advance(2.0).lanes[0]
    assert ahead.twist_b[3] > 2.5
    running.submit(SetPilotInput(PilotInput()))
    stopped = running.advance(6.0).lanes[0]
    assert np.linalg.norm(stopped.twist_b) < 0.05
    assert stopped.T_wb[2, 2] > 0.999


@pytest.mark.parametrize("method", ["variational", "rk4"])
def test_a_plan_knows_that_motors_lag_and_is_replayed(method):
    """What acts is part of the state: it starts at hover, whatever the inputs, and inputs lead it by the lag."""
    start, goal = LAGGING.state(x=(0.0, 0.0, 5.0)), LAGGING.state(x=(6.0, 3.0, 6.0))
    ball = Sphere((3.0, 1.5, 5.5), 0.8)
    body = ((0.0, 0.0, 0.0, 0.4),)
    task = Task(start, Goal(goal), duration_s=3.0, steps=48, obstacles=(ball,), body=body)
    plan = sim.plan(LAGGING, task, method=method, starts=1)
    assert plan.solved, plan.message
    flown = sim.simulate(
        LAGGING, plan.integrator, step=plan.step_s, duration=3.0, initial=start, controls=plan.controls[:-1]
    )
    assert np.abs(flown.nodes - plan.motion.nodes).max() < 1e-10  # measured 3e-14
    acting, h = plan.motion.nodes[:, LAGGING.node_layout.acting], plan.step_s
    assert acting[0] == pytest.approx(LAGGING.acting_at_first)
    share = 1.0 - np.exp(-h / 0.08)
    assert acting[1:] == pytest.approx(acting[:-1] + share * (plan.controls[:-1] - acting[:-1]), abs=1e-9)
    assert plan.clearance_m > -1e-3
