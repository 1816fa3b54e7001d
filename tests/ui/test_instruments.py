"""What the instruments show, in a pilot's signs."""

import math

import numpy as np
import pytest

from tests.ui import fakes
from ui.hud.dial import at, axes_of, compass, earth_outline, flight_data, offset_of
from ui.hud.instruments import marks
from ui.settings.view_settings import AIR, SI, distance, read


def data(T_wb: np.ndarray, **changes):
    return flight_data(fakes.lane(T_wb=T_wb, **changes))


def test_heading_is_clockwise_from_north() -> None:
    assert data(fakes.pose()).heading_deg == pytest.approx(90.0)
    assert data(fakes.pose(yaw=math.pi / 2)).heading_deg == pytest.approx(0.0)
    assert data(fakes.pose(yaw=math.pi)).heading_deg == pytest.approx(270.0)


def test_nose_up_and_right_side_down_are_positive() -> None:
    # Rotation about body y (left) lowers the nose, about body x (forward) the right side.
    seen = data(fakes.pose(roll=0.3, pitch=-0.2, yaw=1.0))
    assert seen.pitch_rad == pytest.approx(0.2)
    assert seen.roll_rad == pytest.approx(0.3)


def test_speed_and_climb_are_of_the_world_not_of_the_body() -> None:
    nose_up = data(fakes.pose(pitch=-math.pi / 2), twist_b=np.array([0, 0, 0, 10.0, 0, 0]))
    assert nose_up.climb_mps == pytest.approx(10.0)
    assert nose_up.speed_mps == pytest.approx(10.0)


def test_lift_over_weight_is_the_vehicles_own_and_nothing_without_weight() -> None:
    assert data(fakes.pose(), observables={"lift_over_weight": 1.0}).bars[0][1] == 1.0
    assert math.isnan(data(fakes.pose(), observables={"lift_over_weight": math.inf}).bars[0][1])
    assert math.isnan(data(fakes.pose()).bars[0][1])


def test_without_ground_the_height_is_a_dash() -> None:
    (_, _, _), (_, height, _), _ = data(fakes.pose(), height_above_ground_m=math.nan).rows
    assert height == "\N{EM DASH}"


def test_a_standing_vehicle_neither_climbs_nor_sinks() -> None:
    _, _, (_, climb, _) = data(fakes.pose(), twist_b=np.array([0, 0, 0, 0, 0, -0.01])).rows
    assert climb == "+0.0"


def test_the_horizon_tilts_against_the_roll_and_falls_with_the_nose_up() -> None:
    across, down = axes_of(math.radians(30.0))
    left = at((0.0, 0.0), 1.0, across, down, (-1.0, 0.0))
    assert left[1] > 0.0
    assert offset_of(math.radians(10.0)) > 0.0
    assert abs(offset_of(math.radians(80.0))) < 1.0


def test_the_earth_is_the_part_of_the_disc_below_the_horizon() -> None:
    for offset in (-0.9, 0.0, 0.5):
        outline = np.array(earth_outline(offset))
        assert np.allclose(np.hypot(*outline.T), 1.0)
        assert np.all(outline[:, 1] >= offset - 1e-9)


def test_the_tape_is_marked_at_multiples_of_five_round_the_circle() -> None:
    for heading in (0.0, 3.7, 359.9, 180.0):
        for offset, degrees in marks(heading):
            assert abs(offset) <= 0.5
            assert 0 <= degrees < 360
            assert (heading + offset * 100.0 - degrees) % 360.0 == pytest.approx(0.0, abs=1e-6) or (
                (heading + offset * 100.0 - degrees) % 360.0
            ) == pytest.approx(360.0)


def test_the_compass_names_its_points() -> None:
    assert [compass(d) for d in (0.0, 30.0, 90.0, 180.0, 270.0, 360.0)] == ["N", "030", "E", "S", "W", "N"]


def test_a_pilot_reads_the_same_speed_and_height_in_knots_and_feet() -> None:
    assert read(51.4444, "m/s", AIR) == (pytest.approx(100.0, rel=1e-6), "kt")
    assert read(185.2, "km/h", AIR) == (pytest.approx(100.0), "kt")
    assert read(0.3048, "m", AIR) == (pytest.approx(1.0), "ft")
    assert read(3.0, "rad/s", AIR) == (3.0, "rad/s")
    assert distance(120.0, SI) == "120 m"
    assert distance(120.0, AIR) == "394 ft"
    lane = fakes.lane(twist_b=np.array([0.0, 0.0, 0.0, 10.0, 0.0, 0.0]))
    metric, aerial = (flight_data(lane, units).rows for units in (SI, AIR))
    assert [name for name, _, _ in metric] == [name for name, _, _ in aerial]
    units = {name: (unit, other) for (name, _, unit), (_, _, other) in zip(metric, aerial, strict=True)}
    assert ("m", "ft") in units.values()
    assert not {"m/s", "km/h", "m"} & {other for _, other in units.values()}
