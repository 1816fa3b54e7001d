"""Walls hide what is behind them and nothing else."""

from types import SimpleNamespace

import numpy as np

from render.passes.culling import Ridges, Skyline, summits


def ridge() -> np.ndarray:
    """Flat ground with a wall of 60 m across x = 100."""
    heights = np.zeros((201, 401))
    heights[:, 80:121] = 60.0
    return heights


SPANS = [(10, 75), (80, 121), (125, 200), (300, 400)]


def skyline(heights: np.ndarray) -> Skyline:
    """Four strips of ground between x of SPANS."""
    rows, columns = np.mgrid[0:201, 0:401]
    points = np.stack([columns, rows, heights], axis=-1)
    ground = SimpleNamespace(heights=heights, origin_m=(0.0, 0.0), spacing_m=1.0)
    strips = [points[:, a:b].reshape(-1, 3) for a, b in SPANS]
    owner = np.repeat(np.arange(len(strips)), [len(strip) for strip in strips])
    return Skyline.of(Ridges.of(ground), np.concatenate(strips), owner, len(strips))


def seen_from(*eye: float) -> list[bool]:
    return skyline(ridge()).seen(np.array(eye)).tolist()


def test_ground_behind_a_wall_is_hidden_from_below():
    assert seen_from(50, 100, 5) == [True, True, False, False]


def test_everything_is_seen_from_high_above():
    assert seen_from(50, 100, 400) == [True, True, True, True]


def test_far_ground_shows_over_the_wall_before_near_ground_does():
    assert seen_from(20, 100, 90) == [True, True, False, True]


def test_a_tower_behind_the_wall_shows_its_top():
    heights = ridge()
    heights[100, 350] = 400.0
    assert skyline(heights).seen(np.array([50.0, 100, 5]))[3]


def test_the_answer_follows_the_eye():
    wall = skyline(ridge())
    assert not wall.seen(np.array([50.0, 100, 5]))[2]
    assert wall.seen(np.array([150.0, 100, 5]))[2]


def free(eye: np.ndarray, point: np.ndarray, heights: np.ndarray) -> bool:
    """Whether the line between them stays above the ground, looked at every 0.3 m."""
    t = np.linspace(0.0, 1.0, int(np.linalg.norm(point - eye) / 0.3))[1:-1, None]
    line = eye + t * (point - eye)
    i, j = line[:, 0].astype(int), line[:, 1].astype(int)
    return bool((line[:, 2] > heights[j, i]).all())


def test_nothing_counts_as_hidden_of_which_a_point_is_seen_even_through_a_slit():
    rng = np.random.default_rng(4)
    for _ in range(40):
        heights = ridge() + rng.uniform(0.0, 2.0, (201, 401))
        slit = int(rng.uniform(20, 170))
        heights[slit : slit + int(rng.uniform(2, 12))] = 0.0
        heights[:, 300:] += 30.0  # land behind that lies higher
        eye = np.array([rng.uniform(5, 70), rng.uniform(20, 180), rng.uniform(4, 40)])
        seen = skyline(heights).seen(eye)
        for span, (a, b) in enumerate(SPANS):
            x, y = rng.integers(a, b, 300), rng.integers(0, 201, 300)
            points = np.stack([x + 0.5, y + 0.5, heights[y, x] + 0.5], axis=1)
            if not seen[span]:
                assert not any(free(eye, point, heights) for point in points)


def test_summits_stand_above_every_point_of_their_squares():
    rng = np.random.default_rng(2)
    points = rng.uniform(0, 100, (5000, 3))
    tops, owner = summits(points, np.zeros(len(points), int))
    assert not owner.any()
    across = np.abs(points[:, None, :2] - tops[None, :, :2]).max(axis=2)
    own = across.argmin(axis=1)
    assert across.min(axis=1).max() <= 6.0 + 1e-9
    assert (tops[own, 2] >= points[:, 2] + 3.0).all()
    assert tops[:, 2].max() == points[:, 2].max() + 3.0


def test_things_have_summits_of_their_own_where_they_share_a_square():
    rng = np.random.default_rng(3)
    points, owner = rng.uniform(-70, 50, (4000, 3)), rng.integers(0, 7, 4000)
    tops, whose = summits(points, owner)
    assert (np.diff(whose) >= 0).all()
    for thing in range(7):
        own, _ = summits(points[owner == thing], np.zeros(np.count_nonzero(owner == thing), int))
        np.testing.assert_array_equal(tops[whose == thing], own)


def test_what_is_asked_for_later_is_told_as_if_it_had_been_asked_for_at_first():
    wall, eye = skyline(ridge()), np.array([20.0, 100, 90])
    asked = np.array([True, False, True, False])
    told = wall.seen(eye, asked)
    assert told[asked].tolist() == [True, False]
    assert wall.seen(eye + np.array([0.5, 0.0, 0.0])).tolist() == seen_from(20, 100, 90)
