"""Lanes are told apart: a new tint is far from those in use and from the flown lane's orange."""

import itertools

import numpy as np

from sim.simulation.lanes.snapshot import TINTS, next_tint

ORANGE = (0.74, 0.195, 0.056)
LEAST = 0.15


def apart(one, other) -> float:
    return float(np.linalg.norm((np.array(one) ** (1 / 2.2)) - (np.array(other) ** (1 / 2.2))))


def test_seven_ghosts_get_seven_tints_none_of_them_orange():
    used = [(1.0, 1.0, 1.0)]
    for _ in range(7):
        used.append(next_tint(used))
    ghosts = used[1:]
    assert set(ghosts) == set(TINTS)
    # Measured: least difference 0.16 between ghosts, 0.18 from orange.
    assert min(itertools.starmap(apart, itertools.combinations(ghosts, 2))) > LEAST
    assert min(apart(tint, ORANGE) for tint in ghosts) > LEAST


def test_tints_that_a_scene_gave_are_kept_away_from():
    scene = [(0.90, 0.10, 0.06), (0.90, 0.62, 0.05), (0.10, 0.55, 0.90)]
    assert min(apart(next_tint(scene), tint) for tint in scene) > 2 * LEAST


def test_the_first_of_equals_is_taken_and_a_full_table_starts_over():
    assert next_tint([]) == TINTS[0]
    assert next_tint(TINTS) == TINTS[0]
