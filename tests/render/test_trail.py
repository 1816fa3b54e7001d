"""Laws of trails: all of the time that the outfit says is kept, and time that runs back takes what lay ahead."""

import numpy as np

from render.trail import Trail
from sim.outfit import outfit_of


def drawn(trail: Trail, seconds: float, speed_mps: float, begin_s: float = 0.0) -> float:
    """Round a circle of half a metre; returns the time of the end."""
    time_s = begin_s
    T_wb = np.eye(4)
    while time_s < begin_s + seconds:
        angle = speed_mps * time_s / 0.5
        T_wb[:3, 3] = 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0
        trail.extend("pendulum", 0, time_s, T_wb)
        time_s += 0.01
    return time_s


def length_m(trail: Trail, time_s: float) -> float:
    line = trail.line(time_s, np.eye(4), (1.0, 1.0, 1.0), width_px=1.0, clear_m=0.0)
    assert line is not None
    return float(np.linalg.norm(np.diff(line.points_w[:-1], axis=0), axis=1).sum())


def test_a_fast_trail_is_kept_for_all_of_its_time() -> None:
    """1.6 m/s for 12 s in steps of 15 mm: more than a thousand points."""
    kept_s, trail = outfit_of("pendulum").trail.kept_s, Trail()
    end_s = drawn(trail, 3.0 * kept_s, 1.6)
    assert abs(length_m(trail, end_s) - 1.6 * kept_s) < 0.05 * 1.6 * kept_s


def test_a_scrub_takes_what_lay_ahead() -> None:
    trail = Trail()
    drawn(trail, 6.0, 1.0)
    trail.extend("pendulum", 0, 2.0, np.eye(4))
    assert abs(length_m(trail, 2.0) - 2.0) < 0.6
    trail.extend("pendulum", 1, 2.5, np.eye(4))
    assert trail.line(2.5, np.eye(4), (1.0, 1.0, 1.0), width_px=1.0, clear_m=0.0) is None
