"""Slacks and multipliers of bounds."""

import numpy as np

from sim.planner.solvers.newton import barrier, moved, started

MU = 1e-9


def closest(wanted: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """(c, multipliers, steps) of the least sum of (c - wanted)^2 / 2 between bounds, by Newton's method."""
    c, lam = np.zeros(wanted.size), np.zeros(wanted.size)
    s, below, above, curvature, slope = (np.empty(wanted.size) for _ in range(5))
    started(c, lam, low, high, MU, s, below, above)
    for steps in range(60):
        gap, apart = barrier(c, s, below, above, low, high, MU, curvature, slope)
        pull = c - wanted + above - below
        if max(gap, np.abs(pull).max()) < 1e-12 and apart < 1e-3 * MU:
            return c, above - below, steps
        dc = -(pull + slope) / (1.0 + curvature)
        c = c + moved(c, dc, s, below, above, low, high, MU) * dc
    raise AssertionError


def test_the_nearest_point_within_bounds_is_found_with_the_force_that_holds_it_there():
    wanted = np.array([2.0, -3.0, 0.5, 0.25, 7.0])
    low = np.array([-1.0, -1.5, -np.inf, 0.0, -np.inf])
    high = np.array([1.0, np.inf, 0.75, 1.0, np.inf])
    c, lam, steps = closest(wanted, low, high)
    assert np.abs(c - np.clip(wanted, low, high)).max() < 2 * MU / 0.25  # 4e-9: the barrier's own distance
    assert np.abs(lam - (wanted - c)).max() < 1e-12  # 2e-16
    assert steps < 15  # 7


def test_a_start_is_inside_all_bounds_and_what_acts_keeps_acting():
    low, high = np.array([0.0, -np.inf, -1.0, 2.0]), np.array([1.0, 5.0, 1.0, 2.0])
    c, lam = np.array([-0.3, 5.0, 0.2, 2.0]), np.array([-4.0, 3.0, 0.0, 9.0])
    s, below, above = (np.empty(4) for _ in range(3))
    started(c, lam, low, high, MU, s, below, above)
    free = low < high
    assert (s > low)[free].all()
    assert (s < high)[free].all()
    assert below[0] == 4.0
    assert above[1] == 3.0
    assert below[2] < 1e-6
    assert below[3] == above[3] == 0.0  # an equation


def test_the_last_digit_of_a_number_pulls_at_no_bound_that_is_close():
    bound = np.array([8.0])
    s, z = np.array([8.0 - 1e-10]), np.array([10.0])
    curvature, slope, exact = (np.empty(1) for _ in range(3))
    none = np.array([-np.inf])
    barrier(s, s, np.zeros(1), z, none, bound, MU, curvature, exact)
    barrier(np.nextafter(s, 9.0), s, np.zeros(1), z, none, bound, MU, curvature, slope)
    assert abs(slope[0] - exact[0]) < 1e-9  # its rounding times the curvature would be 2e-4
