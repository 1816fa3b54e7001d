"""Laws of the time of day."""

import math

import numpy as np
import pytest

from render.light import LATITUDE_RAD, LOWEST_RAD, Day, Sun

SUNS = [Sun(), Sun(math.radians(20.0), math.radians(15.0)), Sun(math.radians(-80.0), math.radians(70.0))]


@pytest.mark.parametrize("sun", SUNS)
def test_at_its_own_hour_the_sun_is_where_the_scene_has_it(sun: Sun) -> None:
    day = Day.of(sun)
    np.testing.assert_allclose(day.at(day.hour).direction_w, sun.direction_w, atol=1e-12)


@pytest.mark.parametrize("sun", SUNS)
def test_in_a_day_the_sun_turns_about_the_pole_at_an_even_rate(sun: Sun) -> None:
    day, pole = Day.of(sun), np.array([0.0, math.cos(LATITUDE_RAD), math.sin(LATITUDE_RAD)])
    places = np.array([day.at(hour).direction_w for hour in np.arange(0.0, 24.0, 1.5)])
    np.testing.assert_allclose(places @ pole, math.sin(day.declination_rad), atol=1e-12)
    gaps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)


def test_it_rises_in_the_east_is_highest_at_noon_in_the_south_and_sets_in_the_west() -> None:
    day = Day.of(Sun())
    morning, evening = (day.at(hour) for hour in day.span)
    for low in (morning, evening):
        assert low.elevation_rad == pytest.approx(LOWEST_RAD, abs=1e-12)
    assert morning.direction_w[0] > 0.0 > evening.direction_w[0]
    noon = day.at(12.0)
    assert noon.direction_w[1] < 0.0
    assert all(day.at(hour).elevation_rad < noon.elevation_rad for hour in (11.5, 12.5))
