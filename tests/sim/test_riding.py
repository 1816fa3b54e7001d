"""Riding a bicycle and a motorcycle by keys, with and without help."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import Reset, SetDemo, SetPilotInput
from sim.control import MODES, Sensed
from sim.controllers import PilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneStatus
from sim.simulation.runs.scene_setup import mission_of
from sim.vehicle_config import config_of
from sim.vehicles.bicycle import Bicycle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.world import load_world
from studies.ledger.pulled_and_ridden import motorcycle

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


RIDDEN = [(Bicycle(), 4.5, 4.0, 1e-4), (motorcycle()[0], 12.0, 8.0, 1e-4)]
"""What is ridden, how fast with help and without [m/s], and how far its front wheel may leave the ground [m]."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("ridden", "mps", "_", "off_m"), RIDDEN, ids=lambda what: getattr(what, "name", ""))
def test_with_help_whoever_presses_keys_at_random_rides_for_a_minute(
    ridden: Bicycle, mps: float, _: float, off_m: float, seed: int
) -> None:
    """Lean at most 0.48 rad, of the motorcycle 0.51; the front wheel on the ground to 0.1 mm."""
    keys = np.random.default_rng(seed).integers(-1, 2, (200, 2))

    def pressed(time_s: float, shape: np.ndarray, rates: np.ndarray) -> PilotInput:
        roll, pitch = keys[int(time_s / 0.35)]
        return PilotInput(roll=float(roll), pitch=float(pitch))

    helped = driven(ridden, ridden.riding(mps), "balance", pressed, 60.0)
    assert helped.diverged_at is None
    assert np.abs(helped.shape[:, 0]).max() < 0.6
    assert np.abs(helped.observables["front_height"]).max() < off_m


@pytest.mark.parametrize(("ridden", "_", "mps", "off_m"), RIDDEN, ids=lambda what: getattr(what, "name", ""))
def test_without_help_a_rider_of_slow_reactions_stays_up_for_ten_seconds(
    ridden: Bicycle, _: float, mps: float, off_m: float
) -> None:
    """Keys towards the fall as it was a quarter of a second ago, after a push: at 4 m/s a lean of 0.42 rad at most, on
    the motorcycle at 8 m/s of 0.09; at 5 m/s its rider falls."""
    seen = []

    def late(time_s: float, shape: np.ndarray, rates: np.ndarray) -> PilotInput:
        seen.append(shape[0] + 0.3 * rates[0])
        fall = seen[max(len(seen) - 26, 0)]
        return PilotInput(roll=0.0 if abs(fall) < 0.03 else float(np.sign(fall)))

    alone = driven(ridden, ridden.riding(mps, lean=0.08), "raw", late, 10.0)
    assert alone.diverged_at is None
    assert np.abs(alone.shape[:, 0]).max() < 0.6
    assert np.abs(alone.observables["front_height"]).max() < off_m


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


@pytest.mark.parametrize(("side", "pedals"), [(1.0, 0.0), (-0.2, 0.0), (-1.0, 1.0), (0.3, 0.5)])
def test_who_pulls_the_handlebar_aside_falls_the_other_way_and_that_ends_the_ride(
    side: float, pedals: float
) -> None:
    """From rest or pedalling ahead, with no help: within 1.3 to 2.3 s, and before the lean meets its stop."""
    scene = replace(load_scene("bicycle"), flight_mode="raw")
    simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
    simulation.submit(SetPilotInput(PilotInput(roll=side, pitch=pedals)))
    lean = [0.0]
    while (lane := simulation.advance(0.02).lanes[0]).status is LaneStatus.RUNNING:
        lean.append(lane.scalar("lean"))
        assert len(lean) < 200
    fall, stop = config_of(Bicycle()).fall, Bicycle().shape_coordinates[0].high
    assert fall is not None
    assert lane.status is LaneStatus.CRASHED
    assert lane.status_text.startswith("fell over")
    assert np.abs(lean).max() <= fall.most_rad < -np.sign(side) * lane.scalar("lean") < stop
    simulation.submit(Reset())
    simulation.submit(SetPilotInput(PilotInput()))
    assert simulation.advance(0.1).lanes[0].status is LaneStatus.RUNNING


def test_the_autopilot_rides_round_the_lap_on_its_line() -> None:
    """0.24 m off it at most, leaning by 0.22 rad at most."""
    scene = load_scene("bicycle")
    world = load_world(scene.world, seed=scene.seed)
    simulation = Simulation(scene, world)
    simulation.submit(SetDemo(True))
    begin = mission_of(scene, world).line_w[:, :2]
    along = np.roll(begin, -1, axis=0) - begin  # the last point is the first one again
    passed = np.zeros(len(begin), bool)
    for _ in range(180):
        lane = simulation.advance(0.4).lanes[0]
        assert lane.status is LaneStatus.RUNNING, lane.status_text
        apart = lane.T_wb[:2, 3] - begin
        share = np.clip((apart * along).sum(axis=1) / np.maximum((along * along).sum(axis=1), 1e-9), 0.0, 1.0)
        off = np.linalg.norm(apart - share[:, None] * along, axis=1)
        assert off.min() < 0.4
        passed |= np.linalg.norm(apart, axis=1) < 5.0
    assert passed.all()
