"""Laws of the waves that a steady course leaves behind over a level bed, against the sea's own dispersion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from sim.water.ocean.waves import DEEP_M, GRAVITY_MPS2, frequency_radps, group_speed_mps
from sim.water.ship_waves import (
    COLUMNS,
    NEAREST,
    ROWS,
    course_number,
    edge_slope,
    froude_number,
    ship_waves,
    table_row,
)
from studies.ledger.shallow_sea import cusp


def steady_number(speed_mps: float, depth_m: float, theta_rad: float) -> float:
    """Wave number [rad/m] of the wave that runs at that angle and stays with the course, by its phase speed."""
    seen = speed_mps * np.cos(theta_rad)
    return brentq(lambda k: frequency_radps(k, depth_m) / k - seen, 1e-6, 1e4, xtol=1e-14, rtol=1e-14)


def carried_slope(speed_mps: float, depth_m: float, theta_rad: float) -> float:
    """y / x of where its energy has come to, by the sea's group speed."""
    group = float(group_speed_mps(steady_number(speed_mps, depth_m, theta_rad), depth_m))
    return group * np.sin(theta_rad) / (speed_mps - group * np.cos(theta_rad))


@given(st.floats(0.55, 8.0))
def test_the_wedge_opens_to_the_cusp_of_stationary_waves(kd):
    froude, slope = cusp(kd)
    assert edge_slope(froude) == pytest.approx(slope, rel=1e-12)  # measured 5e-15


def test_in_deep_water_it_is_kelvins_and_beyond_the_speed_of_long_waves_machs():
    assert edge_slope(froude_number(3.0, DEEP_M)) == pytest.approx(np.tan(np.arcsin(1.0 / 3.0)), rel=1e-4)
    for froude in (1.05, 1.4, 2.5):
        assert np.arctan(edge_slope(froude)) == pytest.approx(np.arcsin(1.0 / froude), rel=1e-12)


@given(st.floats(0.45, 0.97), st.floats(0.5, 40.0))
def test_on_the_course_run_the_waves_that_keep_up(froude, depth_m):
    speed_mps = froude * np.sqrt(GRAVITY_MPS2 * depth_m)
    assert course_number(froude, speed_mps) == pytest.approx(
        steady_number(speed_mps, depth_m, 0.0), rel=1e-9
    )  # measured 1e-13


def test_none_keep_up_beyond_the_speed_of_long_waves():
    assert course_number(1.2, 3.0) == 0.0


@pytest.mark.parametrize("row", [0, 5, 14, ROWS - 1, ROWS, ROWS + 6, 2 * ROWS - 4])
def test_the_table_has_both_waves_that_have_come_to_a_place(row):
    known, depth_m = ship_waves(), 2.0
    froude = float(known.froude[row])
    assert table_row(froude) == pytest.approx(row, abs=1e-9)
    speed_mps = froude * np.sqrt(GRAVITY_MPS2 * depth_m)
    for column in (8, 24, 40, COLUMNS - 8):
        wanted = known.edge[row] * np.sqrt(1.0 - (column / (COLUMNS - 1)) ** 2)
        found = [(known.aside[row, column] ** -1, known.tanh_aside[row, column])]
        if froude < 1.0:
            found.append((known.along[row, column], known.tanh_along[row, column]))
            assert found[1][0] < found[0][0]
        for t, tanh in found:
            theta = float(np.arctan(t))
            assert carried_slope(speed_mps, depth_m, theta) == pytest.approx(
                wanted, rel=1e-7
            )  # measured 8e-14
            k = GRAVITY_MPS2 * (1.0 + t * t) * tanh / speed_mps**2
            assert k == pytest.approx(steady_number(speed_mps, depth_m, theta), rel=1e-7)  # measured 1e-13


def test_a_pattern_about_the_speed_of_long_waves_is_the_nearest_one_that_is_told():
    for speed_over, side in ((0.999, -1.0), (1.001, 1.0)):
        froude = froude_number(speed_over * np.sqrt(GRAVITY_MPS2 * 4.0), 4.0)
        assert froude == pytest.approx(1.0 + side * NEAREST)
        assert np.isfinite(edge_slope(froude))
