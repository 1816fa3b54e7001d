"""Laws of steering a boat by two thrusters."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, SetPilotInput
from sim.control.helm import AHEAD_MPS, Drift, Helm
from sim.control.pilot import Sensed
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.vehicles import known_vehicle
from sim.world import load_world

BOAT = sim.vehicle("motorboat")


def moving(heading: float, v_w: tuple[float, float], place: tuple[float, float] = (0.0, 0.0)) -> Sensed:
    c, s = math.cos(heading), math.sin(heading)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return Sensed(R, np.array([*place, 0.0]), np.zeros(3), R.T @ np.array([*v_w, 0.0]))


def test_thrusts_turn_towards_the_heading_and_push_towards_the_speed() -> None:
    helm, still = Helm(), moving(0.3, (0.0, 0.0))
    left, right = helm.thrusts(BOAT, still, 0.5, 0.0, 0.0)
    assert right > 0.0 > left
    assert left + right == pytest.approx(0.0, abs=1e-9)
    left, right = helm.thrusts(BOAT, still, 0.3, 0.0, 1.0)
    # The first push is what brings a mass of 505 kg to 1 m/s at a rate of 2.5 a second.
    assert left == pytest.approx(right)
    assert left + right == pytest.approx(505.0 * 2.5)
    for wanted in (-9.0, 9.0):
        for off in (-3.0, 3.0):
            u = helm.thrusts(BOAT, still, 0.3 + off, 0.0, wanted)
            assert (u >= [c.low for c in BOAT.controls]).all()
            assert (u <= [c.high for c in BOAT.controls]).all()


def test_drift_is_what_she_makes_aside() -> None:
    drift, aside = Drift(), moving(math.pi / 2, (-0.4, 1.5))
    for _ in range(2000):
        drift.see(aside, 0.02)
    np.testing.assert_allclose(drift.w, (-0.4, 0.0), atol=1e-5)


def test_hands_off_she_stays_at_her_place_and_lies_into_the_weather() -> None:
    scene = load_scene("harbour")
    weather = {"waves": 6.0, "fetch": 8000.0, "wind": (-5.0, 3.0), "current": (-0.2, 0.1)}
    scene = replace(scene, flight_mode="station", vehicle=known_vehicle("motorboat", **weather))
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    start = running.advance(0.0).lanes[0].T_wb[:2, 3].copy()
    running.submit(SetPilotInput(PilotInput()))
    off, bows = [], []
    for _ in range(160):
        T_wb = running.advance(0.5).lanes[0].T_wb
        off.append(float(np.linalg.norm(T_wb[:2, 3] - start)))
        bows.append(T_wb[:2, 0] / np.linalg.norm(T_wb[:2, 0]))
    settled = off[80:]
    # measured 1.70 m, and 0.23 m once she has settled
    assert max(off) < 3.0
    assert math.sqrt(np.mean(np.square(settled))) < 0.5
    against = -np.array(weather["wind"]) / np.linalg.norm(weather["wind"])
    assert np.mean(bows[80:], axis=0) @ against > 0.8
    # Sticks are speed and turn.
    running.submit(SetPilotInput(PilotInput(pitch=0.6)))
    lane = running.advance(4.0).lanes[0]
    assert lane.twist_b[3] == pytest.approx(0.6 * AHEAD_MPS, abs=0.6)
