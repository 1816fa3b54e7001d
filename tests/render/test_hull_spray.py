"""Laws of the spray that a hull throws up, and of the water on its deck."""

import math

import numpy as np
import pytest

from render.frame import MOMENT_S, HullWay
from render.vehicles.left_behind import HullTrack
from render.water.deck_film import ACROSS, ALONG, DeckFilm, DeckPlan
from render.water.hull_spray import HullSpray
from render.water.sea_fields import SeaFields
from sim.groups.numeric import pose_exp
from sim.vehicle_config import config_of
from sim.vehicles import vehicle
from sim.water.ocean import SeaState
from sim.water.water import water_about

MOST = 2000
BOAT = config_of(vehicle("motorboat"))
assert BOAT.hull is not None
SURFACE = BOAT.hull.surface
MOMENTS = 40


def sea(wind_mps: float) -> SeaState:
    return water_about(vehicle("motorboat", waves=wind_mps, waves_direction=0.4, fetch=60e3), 0.0).state


@pytest.fixture(scope="module")
def gale() -> SeaState:
    return sea(13.0)


@pytest.fixture(scope="module")
def plan() -> DeckPlan:
    return DeckPlan.of(SURFACE)


def way(
    heights_m: np.ndarray, *, speed_mps: float = 0.0, first: int = 100, pitch_rad: float = 0.0
) -> HullWay:
    """Along world x, at those heights from moment to moment."""
    poses = np.tile(pose_exp(np.array([0.0, pitch_rad, 0.0, 0.0, 0.0, 0.0])), (len(heights_m), 1, 1))
    poses[:, 0, 3] = speed_mps * MOMENT_S * np.arange(len(heights_m))
    poses[:, 2, 3] = heights_m
    return HullWay(("flown", 1), first, poses)


def riding(state: SeaState, count: int = MOMENTS, first: int = 100) -> HullWay:
    """It lies still where it is, and goes up and down with the waves: no slam."""
    fields, heights = SeaFields(state), []
    for moment in range(first, first + count):
        fields.work_out(state, moment * MOMENT_S)
        heights.append(state.level_m + float(fields.heights_m(np.zeros((1, 2)))[0]))
    return way(np.array(heights), first=first)


def slamming(first: int = 100) -> HullWay:
    """It lies still on a calm sea, is lifted out of it, and falls back at three metres a second."""
    still = np.zeros(MOMENTS)
    still[5:12] = 1.2
    still[12:17] = 1.2 - 0.3 * np.arange(1, 6)
    return way(np.maximum(still, -0.25), first=first)


def flown(spray: HullSpray, state: SeaState, along: HullWay, moment: float) -> np.ndarray:
    """(n, 4) all that flies then."""
    at_s = (along.first + moment) * MOMENT_S
    spray.follow(state, at_s, along, SURFACE, MOST)
    return np.concatenate(spray.puffs(at_s))


def test_what_does_not_slam_throws_nothing_up():
    calm = sea(0.5)
    for along in (way(np.zeros(MOMENTS)), riding(sea(5.0))):
        spray = HullSpray()
        assert all(len(flown(spray, calm, along, k + 0.5)) == 0 for k in range(MOMENTS - 1))
        film = spray.film((along.first + MOMENTS - 1) * MOMENT_S)
        assert film is not None
        assert film.film.max() == 0.0


def test_a_slam_throws_drops_up_that_fall_back_and_end():
    spray, along, calm = HullSpray(), slamming(), sea(0.5)
    counts = [len(flown(spray, calm, along, k + 0.5)) for k in range(MOMENTS - 1)]
    assert not any(counts[:12])
    assert max(counts[12:18]) > 600  # measured 1286
    assert counts[-1] == 0
    points = flown(HullSpray(), calm, along, 17.5)
    assert points[:, 2].max() > 0.7  # above the rail; measured 0.85
    for side in (-1.0, 1.0):
        assert (side * points[:, 1]).max() > 1.2  # of a hull of 0.8 m half breadth; measured 1.8


def test_the_harder_it_cleaves_the_sea_the_more_flies():
    calm = sea(0.5)
    slow, fast, faster = (
        len(flown(HullSpray(), calm, way(np.full(MOMENTS, -0.1), speed_mps=v), 30.5)) for v in (1.0, 5.0, 8.0)
    )
    assert slow == 0
    assert 0 < fast < faster


def test_the_same_way_throws_the_same_drops_however_it_was_come_to(gale):
    along = way(riding(gale).poses[:, 2, 3], speed_mps=4.0)
    followed, back = HullSpray(), HullSpray()
    for k in np.arange(0.0, 30.0, 0.37):
        flown(followed, gale, along, k)
    flown(back, gale, along, 35.0)
    known = flown(HullSpray(), gale, along, 30.3)
    assert len(known) > 50
    np.testing.assert_array_equal(flown(followed, gale, along, 30.3), known)
    np.testing.assert_array_equal(flown(back, gale, along, 30.3), known)
    np.testing.assert_array_equal(flown(back, gale, along, 30.3), known)  # paused


def test_drops_that_come_on_deck_wet_it_and_it_dries():
    spray, along, calm = HullSpray(), slamming(), sea(0.5)
    wet = []
    for k in range(MOMENTS):
        flown(spray, calm, along, k)
        film = spray.film((along.first + k) * MOMENT_S)
        assert film is not None
        wet.append((film.film.sum(), film.damp.sum()))
    assert max(wet[12]) == 0.0
    peak = int(np.argmax([run for run, _ in wet]))
    assert wet[peak][0] > 1.0  # measured 3.3 cells
    assert wet[-1][0] < 0.6 * wet[peak][0]  # 2.2 s later; measured 0.51
    assert wet[-1][1] < 0.9 * max(damp for _, damp in wet)  # measured 0.78


def test_a_sea_that_stands_over_the_rail_covers_the_deck_and_drains(plan):
    film, level = DeckFilm.dry(plan), np.eye(3)
    none = np.zeros((ALONG, ACROSS)), (np.zeros((0, 3)), np.zeros(0))
    over = film.stepped(level, np.full((3, plan.lines_b.shape[1]), 2.0), *none)
    np.testing.assert_array_equal(over.film, plan.covered)
    assert film.film.max() == 0.0  # what was is left as it was
    below = np.full((3, plan.lines_b.shape[1]), -0.5)
    for _ in range(round(8.0 / MOMENT_S)):
        over = over.stepped(level, below, *none)
    assert over.film.max() < 0.1
    assert 0.0 < over.damp.max() < 0.6


@pytest.mark.parametrize(("axis", "twist"), [(0, (0.0, 0.3, 0.0)), (1, (-0.3, 0.0, 0.0))])
def test_water_on_deck_runs_down_as_the_hull_leans(plan, axis, twist):
    """Bow down it runs forward, heeled to the left to the left; what leaves is never more than there was."""
    R = pose_exp(np.array([*twist, 0.0, 0.0, 0.0]))[:3, :3]
    down = -R[2, axis]
    assert down > 0.2
    film, none = DeckFilm.dry(plan), (np.zeros((0, 3)), np.zeros(0))
    below, drops = np.full((3, plan.lines_b.shape[1]), -0.5), np.zeros((ALONG, ACROSS))
    drops[ALONG // 2 - 2 : ALONG // 2 + 2, ACROSS // 2 - 1 : ACROSS // 2 + 1] = 6.0
    film = film.stepped(np.eye(3), below, drops, none)
    middles, before = [], film.film.sum()
    for _ in range(8):
        film = film.stepped(R, below, np.zeros_like(drops), none)
        weights = film.film.sum(axis=1 - axis)
        middles.append(float(weights @ np.arange(len(weights)) / weights.sum()))
        assert film.film.sum() < before
        before = film.film.sum()
    assert np.all(np.diff(middles) > 0.0)
    assert film.run_m[axis] > 0.1


def test_moments_of_a_way_do_not_depend_on_when_it_was_looked_at():
    twist = np.array([0.1, -0.2, 0.3, 4.0, 0.2, -0.1])

    def seen(times_s: np.ndarray) -> HullWay:
        track = HullTrack()
        for at_s in times_s.tolist():
            track.extend(BOAT, ("flown", 1), at_s, pose_exp(at_s * twist))
        found = track.way()
        assert found is not None
        return found

    often, seldom = seen(np.arange(0.0, 3.0, 0.016)), seen(np.arange(0.0, 3.0, 0.09))
    last = min(len(often.poses) + often.first, len(seldom.poses) + seldom.first)
    assert often.first == seldom.first
    np.testing.assert_allclose(
        often.poses[: last - often.first], seldom.poses[: last - seldom.first], atol=1e-9
    )
    moment = (often.first + 7) * MOMENT_S
    np.testing.assert_allclose(often.poses[7], pose_exp(moment * twist), atol=1e-9)


def test_a_way_ends_with_its_generation_and_is_cut_where_time_runs_back():
    track = HullTrack()
    for k in range(60):
        track.extend(BOAT, ("flown", 1), 0.05 * k, np.eye(4))
    track.extend(BOAT, ("flown", 1), 1.0, np.eye(4))
    cut = track.way()
    assert cut is not None
    assert cut.first + len(cut.poses) - 1 == math.floor(1.0 / MOMENT_S)
    track.extend(BOAT, ("flown", 2), 3.0, np.eye(4))
    assert track.way() is None
