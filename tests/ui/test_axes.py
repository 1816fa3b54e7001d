"""Laws of axis shaping."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.input.profile import Calibration, Response, deadzone, expo, radial_deadzone, shaped, single, stick

deflection = st.floats(-1.0, 1.0)


def test_calibration_maps_ends_and_rest_of_a_lopsided_axis() -> None:
    axis = Calibration(low=10.0, centre=100.0, high=255.0)
    assert [axis.apply(raw) for raw in (10.0, 100.0, 255.0)] == [-1.0, 0.0, 1.0]
    assert axis.apply(55.0) == pytest.approx(-0.5)
    assert axis.apply(1e9) == 1.0


def test_a_void_calibration_or_reading_is_no_deflection() -> None:
    assert Calibration(low=0.0, centre=0.0, high=0.0).apply(5.0) == 0.0
    assert Calibration().apply(math.nan) == 0.0


@given(st.floats(0.0, 2.0 * math.pi), st.floats(0.0, 1.0))
def test_the_dead_zone_is_round_and_keeps_the_direction(angle: float, radius: float) -> None:
    x, y = radial_deadzone(radius * math.cos(angle), radius * math.sin(angle), 0.2)
    if radius <= 0.2:
        assert (x, y) == (0.0, 0.0) or math.hypot(x, y) < 1e-9
    else:
        assert math.hypot(x, y) == pytest.approx((radius - 0.2) / 0.8, abs=1e-12)
        assert math.cos(angle) * y == pytest.approx(math.sin(angle) * x, abs=1e-12)


def test_the_rim_stays_at_full_deflection_and_the_corner_within_it() -> None:
    assert radial_deadzone(1.0, 0.0, 0.3) == (1.0, 0.0)
    assert math.hypot(*radial_deadzone(1.0, 1.0, 0.3)) == pytest.approx(1.0)


@given(deflection, st.floats(0.0, 1.0))
def test_expo_is_odd_fixes_the_ends_and_softens_the_middle(x: float, k: float) -> None:
    assert expo(-x, k) == pytest.approx(-expo(x, k))
    assert abs(expo(x, k)) <= abs(x) + 1e-15
    assert expo(1.0, k) == pytest.approx(1.0)


@given(deflection, deflection)
def test_shaping_is_monotone(a: float, b: float) -> None:
    response = Response(deadzone=0.1, expo=0.5)
    low, high = sorted((a, b))
    assert single(low, response) <= single(high, response) + 1e-15


def test_inversion_and_scale_come_last_and_never_leave_the_range() -> None:
    assert shaped(1.0, Response(inverted=True, scale=0.5)) == -0.5
    assert shaped(1.0, Response(scale=3.0)) == 1.0


def test_a_resting_stick_that_trembles_flies_nothing() -> None:
    assert stick(0.04, -0.05, Response(deadzone=0.08), Response(deadzone=0.08)) == (0.0, 0.0)
    assert deadzone(0.05, 0.08) == 0.0
