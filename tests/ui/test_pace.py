"""Laws of what is offered where frames or simulation do not keep up."""

import math
from dataclasses import replace

import pytest

from tests.ui import fakes
from ui.window.context import SLOW_S, Offers, Pace, is_late
from ui.window.widgets import real_time


def heard(offers: Offers, pace: Pace, factor: float, seconds: float) -> list[str]:
    now = replace(fakes.snapshot(), real_time_factor=factor)
    said = (offers.heard(pace, now, 0.05, lesser="low", slower="[") for _ in range(round(seconds / 0.05)))
    return [text for text in said if text]


def test_slow_motion_is_offered_once_while_the_simulation_lags_and_again_after_it_was_well() -> None:
    offers, pace = Offers(), Pace(0.03, 0.5)
    assert heard(offers, pace, 0.5, SLOW_S - 0.2) == []
    assert heard(offers, pace, 0.5, 10.0) == [
        "The simulation keeps up with 0.5 of real time: [ shows it at half the speed"
    ]
    assert heard(offers, pace, 1.0, 1.0) == []
    assert len(heard(offers, pace, 0.4, 10.0)) == 1


def test_a_lower_quality_is_offered_only_where_the_smallest_scale_is_late() -> None:
    assert heard(Offers(), Pace(0.03, 0.25), 1.0, 10.0) == []
    assert heard(Offers(), Pace(0.1, 0.25, overspent=True), 1.0, 10.0) == [
        "10 fps, scene at 25% of the window: quality low would be faster (View)"
    ]


def test_a_clock_that_runs_faster_than_wall_time_and_is_kept_up_with_offers_nothing() -> None:
    offers, fast = Offers(), replace(fakes.snapshot(), real_time_factor=1.0, speed=4.0)
    said = {offers.heard(Pace(0.03, 0.5), fast, 0.05, lesser="low", slower="[") for _ in range(200)}
    assert said == {""}


def test_motion_is_late_by_what_was_asked_for_at_no_more_than_wall_time() -> None:
    now = fakes.snapshot()
    assert is_late(replace(now, real_time_factor=0.9))
    assert is_late(replace(now, real_time_factor=0.9, speed=0.25))
    assert not is_late(replace(now, real_time_factor=0.99))
    assert not is_late(replace(now, real_time_factor=0.5, speed=8.0))  # nobody can tell what would be enough
    assert not is_late(replace(now, real_time_factor=math.nan, paused=True))


@pytest.mark.parametrize(
    ("speed", "factor", "said"), [(1.0, 1.0, "1.00"), (0.25, 1.0, "0.25"), (0.25, 0.66, "0.17")]
)
def test_the_badge_of_time_says_how_fast_time_runs_not_how_well_it_keeps_up(
    speed: float, factor: float, said: str
) -> None:
    text, _ = real_time(fakes.snapshot(speed=speed, real_time_factor=factor))
    assert text == f"real time \N{MULTIPLICATION SIGN} {said}"
