"""What flies up where bodies strike: by the clock, falling as things fall, of what the bodies are made of."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import View, look_at, perspective
from render.vehicles.struck import splashes_of, thrown_up
from sim.contact.obstacles.blows import GROUND, WATER, Blow
from sim.world.path import Stream

EYE = np.array([6.0, 0.0, 2.0])
VIEW = View(EYE, look_at(EYE, np.zeros(3)), perspective(0.8, 1.6, 0.1, 100.0))
BLOW = Blow(7, 10.0, (0.0, 0.0, 0.0), 4.0, 20.0, (6.0, 0.0, 0.0), "metal", GROUND, 0.4)


def corners(blow: Blow, time_s: float) -> list[np.ndarray]:
    return [surface.corners_w for surface in thrown_up((blow,), time_s, VIEW)]


def test_it_is_the_same_at_the_same_moment_and_there_is_nothing_before_or_long_after() -> None:
    for one, other in zip(corners(BLOW, 10.2), corners(BLOW, 10.2), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not corners(BLOW, 9.99)
    assert not corners(BLOW, 14.0)


@pytest.mark.parametrize(
    ("of", "on", "surfaces"),
    [
        ("metal", GROUND, 2),
        ("rubber", GROUND, 1),
        ("wood", "metal", 1),
        ("metal", "wood", 0),
        ("wood", WATER, 1),
    ],
)
def test_metal_that_slides_gives_sparks_wood_chips_the_ground_dust_and_water_foam(of, on, surfaces) -> None:
    assert len(corners(replace(BLOW, of=of, on=on), 10.2)) == surfaces


def test_chips_fly_as_thrown_things_do() -> None:
    """Second differences of their middles are those of gravity."""
    high = replace(BLOW, of="wood", on="stone", place_w=(0.0, 0.0, 50.0), size_m=200.0)
    middles = [corners(high, 10.1 + k * 0.05)[0].reshape(-1, 3, 3)[:, [0, 2]].mean(axis=1) for k in range(3)]
    bent = (middles[0] - 2.0 * middles[1] + middles[2]) / 0.05**2
    np.testing.assert_allclose(bent, np.tile([0.0, 0.0, -9.81], (len(bent), 1)), atol=1e-6)


def test_rings_run_only_where_something_fell_into_water() -> None:
    (ring,) = splashes_of((BLOW, replace(BLOW, on=WATER)), 11.0, Stream.still())
    assert (ring.place_w, ring.age_s, ring.speed_mps) == ((0.0, 0.0), 1.0, 4.0)
