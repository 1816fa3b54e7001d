"""Walls hide what is behind them and nothing else."""

from types import SimpleNamespace

import numpy as np

from render.occlusion import Skyline, summits


def ridge() -> np.ndarray:
    """Flat ground with a wall of 60 m across x = 100."""
    heights = np.zeros((201, 401))
    heights[:, 95:106] = 60.0
    return heights


SPANS = [(10, 90), (90, 110), (120, 200), (300, 400)]


def skyline(heights: np.ndarray) -> Skyline:
    """Four strips of ground between x of SPANS."""
    rows, columns = np.mgrid[0:201, 0:401]
    points = np.stack([columns, rows, heights], axis=-1)
    ground = SimpleNamespace(heights=heights, origin_m=(0.0, 0.0), spacing_m=1.0)
    return Skyline(ground, [summits(points[:, a:b].reshape(-1, 3), cells=8) for a, b in SPANS])


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


def test_summits_are_the_highest_points_of_their_cells():
    rng = np.random.default_rng(2)
    points = rng.uniform(0, 100, (5000, 3))
    tops = summits(points, cells=8)
    assert len(tops) == 64
    assert tops[:, 2].max() == points[:, 2].max() + 3.0
