"""Impulses of contacts in a plane where sweeps go round in circles, against Coulomb's law itself."""

import numpy as np
import pytest

from sim.contact.at_once import settle
from sim.contact.rows import AIM, IMPULSE, ROW_WIDTH
from sim.contact.solver import note_answers, solve_answered

FRICTION = 0.7


def swept(rng, rows, weights):
    """(rows, velocities, response, velocities without impulses) of a machine of 12 degrees of freedom, after sweeps."""
    J = rng.normal(size=(3 * rows, 12)) * np.tile(weights, rows)[:, None]
    response = np.ascontiguousarray(J @ J.T)
    free = J @ rng.normal(size=12) - np.tile([1.0, 0.0, 0.0], rows)
    work, speeds = np.zeros((rows, ROW_WIDTH)), free.copy()
    note_answers(work, response)
    solve_answered(work, speeds, response, FRICTION)
    return work, speeds, response, free


def missed(work, speeds):
    """By how much normal velocities, impulses and friction against the slip miss the law."""
    up, along = work[:, IMPULSE], work[:, IMPULSE + 1]
    rises, slips = speeds[::3] - work[:, AIM], speeds[1::3]
    spare = FRICTION * up - np.abs(along)
    return max(
        np.max(-up),
        np.max(-rises),
        np.max(np.minimum(np.abs(up), np.abs(rises))),
        np.max(-spare),
        np.max(np.minimum(np.abs(spare), np.abs(slips))),
        np.max(np.where(np.abs(slips) > 1e-9, np.maximum(along * np.sign(slips), 0.0), 0.0)),
    )


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_what_sweeps_do_not_settle_obeys_the_law_of_friction(rows):
    """Rows that push each other along the ground three times as much as up. Coulomb's law in steps always has an answer
    (D. Stewart, J. Trinkle, 1996), and it is found; sweeps leave 17, 22 and 54 of 300."""
    rng, left = np.random.default_rng(rows), 0
    for _ in range(300):
        work, speeds, response, free = swept(rng, rows, [1.0, 3.0, 0.0])
        left_open = missed(work, speeds) > 1e-8
        assert settle(work, speeds, response, FRICTION)
        assert missed(work, speeds) < 1e-8
        impulses = work[:, IMPULSE : IMPULSE + 3].ravel()
        np.testing.assert_allclose(speeds, free + response @ impulses, atol=1e-9)
        left += left_open
    assert left > 5


def test_what_is_settled_stays_and_what_is_not_in_a_plane_is_left_alone():
    rng = np.random.default_rng(0)
    work, speeds, response, _ = swept(rng, 1, [1.0, 1.0, 1.0])
    kept = work.copy()
    assert settle(work, speeds, response, FRICTION)
    np.testing.assert_array_equal(work, kept)
    speeds[0] = -1.0
    assert not settle(work, speeds, response, FRICTION)
    np.testing.assert_array_equal(work, kept)
