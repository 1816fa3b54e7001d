"""Laws of the trail of the body angular velocity: spaced by arc length, bounded, and its start is kept."""

import numpy as np

from sim.simulation.lanes.history import MOST_ROWS, SPACING, Trail, TrailRows


def walked(omegas: np.ndarray, dt_s: float = 0.01) -> np.ndarray:
    path = Trail(0.0, omegas[0])
    for k, omega in enumerate(omegas[1:], start=1):
        path.note(k * dt_s, omega)
    rows = TrailRows({"omega": path})["omega"]
    np.testing.assert_array_equal(rows[0], [0.0, *omegas[0]])
    return rows[1:]


def test_rows_lie_apart_by_arc_length_and_leave_no_gap():
    rng = np.random.default_rng(3)
    steps = rng.normal(size=(6000, 3)) * rng.uniform(0.0, 0.02, (6000, 1))
    omegas = np.array([4.0, -2.0, 1.0]) + np.cumsum(steps, axis=0)
    rows = walked(omegas)
    apart = np.linalg.norm(np.diff(rows[:, 1:], axis=0), axis=1)
    spacing = SPACING * np.linalg.norm(rows[1:, 1:], axis=1)
    longest_step = np.linalg.norm(steps, axis=1).max()
    assert 20 < len(rows) < MOST_ROWS
    np.testing.assert_array_equal(rows[0, 1:], omegas[0])
    assert np.all(apart >= spacing)
    assert np.all(apart <= spacing + longest_step)
    assert np.all(np.diff(rows[:, 0]) > 0.0)


def test_a_body_that_does_not_change_its_spin_leaves_but_its_start():
    assert len(walked(np.tile([0.0, 3.0, 0.1], (500, 1)))) == 1
    assert len(walked(np.zeros((500, 3)))) == 1


def test_the_oldest_rows_give_way_and_the_start_stays():
    angle = 0.05 * np.arange(5 * MOST_ROWS)
    omegas = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.ones_like(angle)])
    # Before, while and after the rows are moved together.
    for count in (*range(2 * MOST_ROWS - 2, 2 * MOST_ROWS + 3), len(omegas)):
        rows = walked(omegas[:count])
        np.testing.assert_array_equal(rows[:, 1:], omegas[:count][-(MOST_ROWS - 1) :])


def test_what_was_handed_out_does_not_change():
    path = Trail(0.0, np.ones(3))
    path.note(1.0, np.array([2.0, 0.0, 0.0]))
    handed_out = TrailRows({"omega": path})
    before = handed_out["omega"]
    for k in range(3 * MOST_ROWS):
        path.note(2.0 + k, np.array([float(k % 5), 1.0, 0.0]))
    np.testing.assert_array_equal(handed_out["omega"], before)
