"""Laws of the two moments that a snapshot holds."""

import numpy as np
import pytest

from sim.groups.numeric import pose_exp
from sim.simulation.lanes.history import RecentPoses
from tests.sim.simulation_scenes import fly, helicopter_scene, simulation


def screw(t: float) -> np.ndarray:
    """(1, 4, 4) one body on a screw: constant body twist."""
    return pose_exp(t * np.array([0.3, -0.2, 1.1, 4.0, -1.0, 0.5]))[None]


def test_the_span_is_constant_however_late_the_wakes_are():
    rng = np.random.default_rng(4)
    moments, t = RecentPoses(0.0, screw(0.0)), 0.0
    for _ in range(60):
        t += float(rng.uniform(0.002, 0.05))
        moments.add(t, screw(t))
        previous_s, previous, current_s, current = moments.pair(0.025)
        if t < 0.03:
            continue
        assert current_s - previous_s == pytest.approx(0.025)
        np.testing.assert_allclose(previous, screw(previous_s), atol=1e-12)
        np.testing.assert_array_equal(current, screw(t))


def test_a_single_moment_is_both():
    previous_s, previous, current_s, current = RecentPoses(2.0, screw(1.0)).pair(0.5)
    assert previous_s == current_s == 2.0
    np.testing.assert_array_equal(previous, current)


@pytest.mark.parametrize("step_s", [0.002, 0.01, 0.25])
def test_snapshots_hold_what_the_lane_went_through(step_s):
    running = simulation(helicopter_scene(step_s=step_s))
    fly(running, 3.0, throttle=1.0)
    before = running.snapshot.lanes[0]
    after = fly(running, 0.5, throttle=1.0)
    assert after.time_current_s - after.time_previous_s == pytest.approx(max(0.025, step_s))
    assert before.T_wb[2, 3] < after.T_wb_previous[2, 3] < after.T_wb[2, 3]
