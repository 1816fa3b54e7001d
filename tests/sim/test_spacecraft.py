"""The spacecraft of the rigid body article: its growth under forward Euler, and its engine held down."""

import numpy as np
import pytest

import sim
from sim.commands import PilotInput
from sim.control.flight_modes import RawPilot
from sim.control.pilot import Sensed


@pytest.mark.parametrize("h", [0.01, 0.05])
def test_forward_euler_speeds_a_turning_body_up_as_the_formula_says(h):
    """|v| grows by sqrt(1 + (h omega)^2) a step where omega is across v."""
    craft = sim.vehicle("spacecraft", mass=1.0, inertia=(1.0, 1.0, 1.0))
    start = craft.state(omega=(0.0, 0.0, 2.0), v=(1.0, 0.0, 0.0))
    run = sim.simulate(craft, "lie-euler", step=h, duration=2.0, initial=start)
    speed = np.linalg.norm(run.velocity[:, 3:], axis=1)
    expected = np.sqrt(1 + (2 * h) ** 2) ** np.arange(len(speed))
    np.testing.assert_allclose(speed, expected, rtol=1e-12)


def test_engine_down_turns_the_axis_up_and_stops():
    craft, pilot = sim.vehicle("spacecraft"), RawPilot()
    held = PilotInput(actions=frozenset({"engine-down"}))

    def law(t, state):
        T = state.pose
        sensed = Sensed(T[:3, :3], T[:3, 3], state.velocity[:3], state.velocity[3:])
        return pilot.controls(held, sensed, craft, 0.05)

    start = craft.state(omega=(0.2, -0.1, 0.3))
    run = sim.simulate(craft, "rk4", step=0.05, duration=30.0, initial=start, controls=law)
    assert run.pose[-1][2, 0] > 0.999
    assert np.abs(run.velocity[-1][:3]).max() < 1e-2


def test_sticks_turn_the_nose_as_their_names_say():
    craft, level = sim.vehicle("spacecraft"), Sensed(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))
    pitch, yaw, roll, thrust = RawPilot().controls(
        PilotInput(pitch=1.0, roll=0.5, yaw=-0.5), level, craft, 0.01
    )
    assert pitch > 0
    assert yaw > 0
    assert roll < 0
    assert thrust == 0
