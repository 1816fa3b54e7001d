"""Laws of the eye's adaptation: none in daylight, the same at any frame rate, slower into the dark than out of it."""

import numpy as np
import pytest

from render.cameras.adaptation import IN_TUNNEL, Adaptation
from sim.world import load_world

DRIVING = load_world("driving", seed=7)
(TUNNEL,) = DRIVING.grounds.tunnels
WITHIN = np.array([*TUNNEL.centre_m, 2.0])


def test_nothing_is_adapted_to_in_daylight() -> None:
    eye, rng = Adaptation(DRIVING), np.random.default_rng(3)
    x, y = TUNNEL.centre_m
    above = np.array([x, y, TUNNEL.spring_m + TUNNEL.half_width_m + 0.1])
    beside = np.array([x, y + TUNNEL.half_width_m + 1.0, 2.0])
    before = np.array([x - 0.5 * TUNNEL.length_m - 0.5, y, 2.0])
    high = rng.uniform([-60.0, -20.0, 1.0], [60.0, 100.0, 121.0], (50, 3))
    for place in (above, beside, before, *high):
        assert eye.go_on(place, 0.5) == 1.0
    assert Adaptation(load_world("sea")).go_on(np.zeros(3), 1.0) == 1.0


def test_an_eye_adapts_alike_at_every_frame_rate() -> None:
    slow, fast = Adaptation(DRIVING), Adaptation(DRIVING)
    for _ in range(4):
        slow.go_on(WITHIN, 0.25)
    for _ in range(100):
        fast.go_on(WITHIN, 0.01)
    assert slow.gain == pytest.approx(fast.gain, abs=1e-12)
    assert 1.4 < fast.gain < IN_TUNNEL


def test_an_eye_is_used_to_the_day_sooner_than_to_the_dark_and_comes_to_rest() -> None:
    eye, gains = Adaptation(DRIVING), []
    for place in (WITHIN, np.array([0.0, 40.0, 2.0])):
        taken = 0
        before = eye.gain
        while taken == 0 or eye.gain != before:
            before, taken = eye.gain, taken + 1
            eye.go_on(place, 0.02)
        gains.append((eye.gain, taken))
    (within, opened), (outside, closed) = gains
    assert (within, outside) == (IN_TUNNEL, 1.0)
    assert opened > 2 * closed
