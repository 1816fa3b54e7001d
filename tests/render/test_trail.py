"""Laws of trails: all of the time that the config says is kept, and time that runs back takes what lay ahead."""

import numpy as np
import pytest

from render.vehicles.left_behind import DrawnTrail
from sim.vehicle_config import config_named


def drawn(trail: DrawnTrail, seconds: float, speed_mps: float, begin_s: float = 0.0) -> float:
    """Round a circle of half a metre; returns the time of the end."""
    time_s = begin_s
    T_wb = np.eye(4)
    while time_s < begin_s + seconds:
        angle = speed_mps * time_s / 0.5
        T_wb[:3, 3] = 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0
        trail.extend(config_named("pendulum").trail, 0, time_s, T_wb)
        time_s += 0.01
    return time_s


def length_m(trail: DrawnTrail, time_s: float) -> float:
    line = trail.line(time_s, np.eye(4), (1.0, 1.0, 1.0), width_px=1.0, clear_m=0.0)
    assert line is not None
    return float(np.linalg.norm(np.diff(line.points_w[:-1], axis=0), axis=1).sum())


def test_a_fast_trail_is_kept_for_all_of_its_time() -> None:
    """1.6 m/s for 12 s in steps of 15 mm: more than a thousand points."""
    kept_s, trail = config_named("pendulum").trail.kept_s, DrawnTrail()
    end_s = drawn(trail, 3.0 * kept_s, 1.6)
    assert abs(length_m(trail, end_s) - 1.6 * kept_s) < 0.05 * 1.6 * kept_s


def test_a_scrub_takes_what_lay_ahead() -> None:
    trail = DrawnTrail()
    drawn(trail, 6.0, 1.0)
    trail.extend(config_named("pendulum").trail, 0, 2.0, np.eye(4))
    assert abs(length_m(trail, 2.0) - 2.0) < 0.6
    trail.extend(config_named("pendulum").trail, 1, 2.5, np.eye(4))
    assert trail.line(2.5, np.eye(4), (1.0, 1.0, 1.0), width_px=1.0, clear_m=0.0) is None


@pytest.mark.parametrize("rate_hz", [4.0, 12.0, 60.0])
def test_a_trail_is_as_round_at_few_pictures_a_second_as_at_many(rate_hz: float) -> None:
    radius_m, turn_radps = 40.0, 1.2
    trail, twist_b = DrawnTrail(), np.array([0.0, 0.0, turn_radps, radius_m * turn_radps, 0.0, 0.0])
    for time_s in np.arange(0.0, 3.0, 1.0 / rate_hz):
        angle = turn_radps * time_s
        T_wb = np.eye(4)
        T_wb[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        T_wb[:2, 3] = radius_m * np.sin(angle), -radius_m * np.cos(angle)
        trail.extend(config_named("rigid-body").trail, 0, time_s, T_wb, twist_b=twist_b)
    line = trail.line(time_s, T_wb, (1.0, 1.0, 1.0), width_px=3.0, clear_m=1.0)
    assert line is not None
    middles = 0.5 * (line.points_w[1:] + line.points_w[:-1])
    off_m = np.abs(np.linalg.norm(middles, axis=1) - radius_m)
    assert off_m.max() < 0.02  # 0.45 m where each picture leaves one place, four a second
