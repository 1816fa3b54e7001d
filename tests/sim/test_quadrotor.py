"""Laws of the quadrotor: what its rotors do, that sticks fly it, that it is planned."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.commands import PilotInput, SetFlightMode, SetPilotInput
from sim.pilot.airframes import airframe_of
from sim.planner import Goal, Task
from sim.scene import Scene, Start
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
    vehicle="quadrotor",
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
