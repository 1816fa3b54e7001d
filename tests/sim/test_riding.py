"""Riding a bicycle by keys, with and without help."""

import numpy as np
import pytest

import sim
from sim.control import MODES, Sensed
from sim.controllers import PilotInput
from sim.vehicles.bicycle import Bicycle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

STEP_S = 0.01


def driven(
    vehicle: NonholonomicVehicle, start: sim.State, mode: str, sticks, seconds: float
) -> sim.Trajectory:
    """Under what the mode makes of the sticks, a function of time, shape and shape velocity."""
    pilot, at = MODES[mode](), vehicle.node_layout

    def law(time_s: float, state: sim.State) -> np.ndarray:
        node = state.node
        heading, x, y = node[at.pose]
        turn, ahead, aside = node[at.velocity]
        c, s = np.cos(heading), np.sin(heading)
        R_wb = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        sensed = Sensed(
            R_wb, np.array([x, y, 0.0]), np.array([0.0, 0.0, turn]), np.array([ahead, aside, 0.0]), node=node
        )
        given = sticks(time_s, node[at.shape], node[at.shape_velocity])
        return pilot.controls(given, sensed, vehicle, STEP_S)

    return sim.simulate(vehicle, "variational", step=STEP_S, duration=seconds, initial=start, controls=law)


@pytest.mark.parametrize("seed", range(3))
def test_with_help_whoever_presses_keys_at_random_rides_for_a_minute(seed: int) -> None:
    """Lean at most 0.48 rad, the front wheel on the ground to 0.1 mm."""
    keys, bicycle = np.random.default_rng(seed).integers(-1, 2, (200, 2)), Bicycle()

    def pressed(time_s: float, shape: np.ndarray, rates: np.ndarray) -> PilotInput:
        roll, pitch = keys[int(time_s / 0.35)]
        return PilotInput(roll=float(roll), pitch=float(pitch))

    helped = driven(bicycle, bicycle.riding(4.5), "balance", pressed, 60.0)
    assert helped.diverged_at is None
    assert np.abs(helped.shape[:, 0]).max() < 0.6
    assert np.abs(helped.observables["front_height"]).max() < 1e-4


def test_without_help_a_rider_of_slow_reactions_stays_up_for_ten_seconds() -> None:
    """Keys towards the fall as it was a quarter of a second ago, after a push, at 4 m/s: a lean of 0.42 rad at most."""
    bicycle, seen = Bicycle(), []

    def late(time_s: float, shape: np.ndarray, rates: np.ndarray) -> PilotInput:
        seen.append(shape[0] + 0.3 * rates[0])
        fall = seen[max(len(seen) - 26, 0)]
        return PilotInput(roll=0.0 if abs(fall) < 0.03 else float(np.sign(fall)))

    ridden = driven(bicycle, bicycle.riding(4.0, lean=0.08), "raw", late, 10.0)
    assert ridden.diverged_at is None
    assert np.abs(ridden.shape[:, 0]).max() < 0.6


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_turn_begins_with_a_push_of_the_handlebar_the_other_way(side: float) -> None:
    """Steering is positive to the left, lean and stick are to the right."""
    bicycle = Bicycle()
    run = driven(bicycle, bicycle.riding(4.5), "balance", lambda *_: PilotInput(roll=side), 12.0)
    lean, steer = run.shape[:, 0], run.shape[:, 2]
    assert (side * steer[:40]).max() > 0.05
    assert side * lean[-1] > 0.35
    assert side * steer[-1] < -0.1
    assert side * run.velocity[-1, 0] < -0.5
