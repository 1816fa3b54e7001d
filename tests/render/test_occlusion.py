"""Walls hide what is behind them and nothing else."""

import numpy as np

from render.occlusion import Skyline


def ridge() -> np.ndarray:
    """Flat ground with a wall of 60 m across x = 100."""
    heights = np.zeros((201, 401))
    heights[:, 95:106] = 60.0
    return heights


BOXES = np.array([[10.0, 0, 90, 200], [90, 0, 110, 200], [120, 0, 200, 200], [300, 0, 400, 200]])


def seen_from(*eye: float) -> list[bool]:
    return Skyline(ridge(), (0.0, 0.0), 1.0, BOXES).seen(np.array(eye)).tolist()


def test_ground_behind_a_wall_is_hidden_from_below():
    assert seen_from(50, 100, 5) == [True, True, False, False]


def test_everything_is_seen_from_high_above():
    assert seen_from(50, 100, 400) == [True, True, True, True]


def test_far_ground_shows_over_the_wall_before_near_ground_does():
    assert seen_from(20, 100, 90) == [True, True, False, True]


def test_a_tower_behind_the_wall_shows_its_top():
    heights = ridge()
    heights[100, 350] = 400.0
    assert Skyline(heights, (0.0, 0.0), 1.0, BOXES).seen(np.array([50.0, 100, 5]))[3]


def test_the_answer_follows_the_eye():
    skyline = Skyline(ridge(), (0.0, 0.0), 1.0, BOXES)
    assert not skyline.seen(np.array([50.0, 100, 5]))[2]
    assert skyline.seen(np.array([150.0, 100, 5]))[2]
