"""Laws of the drops that a torn surface throws: free flight up to the water, none off what rises as a whole."""

import numpy as np

from sim.water.flip.picture import thrown
from sim.water.immersion import GRAVITY
from sim.water.picture import MOST_DROPS, Spray

CORNER_W, CELL_M, COLUMNS = (3.0, -2.0, 0.5), 0.2, 16
HEIGHT = np.full((COLUMNS, COLUMNS), 5.0, np.float32)


def surface_particles(rise_mps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Four a column, just below a level surface, with the vertical speed (COLUMNS, COLUMNS) of their columns."""
    j, i, n = (a.ravel() for a in np.meshgrid(*map(np.arange, (COLUMNS, COLUMNS, 4)), indexing="ij"))
    place = np.column_stack([1.3 + i + 0.1 * n, 1.5 + j, np.full(len(i), 5.8)]).astype(np.float32)
    velocity = np.zeros_like(place)
    velocity[:, 0], velocity[:, 2] = 0.4 / CELL_M, rise_mps[j, i] / CELL_M
    return place, velocity


def test_drops_fly_freely_until_they_meet_the_water() -> None:
    place, v = np.array([[4.0, -1.0, 1.6]]), np.array([[0.5, 0.2, 2.0]])
    spray, dt, level_m = Spray(place.astype("f4"), v.astype("f4")), 1.0 / 30.0, 1.0
    for step in range(1, 30):
        spray = spray.gone_on(dt, CORNER_W, CELL_M, CELL_M * HEIGHT)
        t = step * dt
        wanted = place + t * v - [[0.0, 0.0, 0.5 * GRAVITY * t * t]]
        if wanted[0, 2] < CORNER_W[2] + level_m:
            break
        np.testing.assert_allclose(spray.place_w, wanted, atol=1e-5)
    assert 10 < step < 29
    assert not len(spray.place_w)


def test_what_leaves_the_box_is_gone() -> None:
    out = Spray(np.array([[3.01, -1.0, 4.0]], "f4"), np.array([[-3.0, 0.0, 0.0]], "f4"))
    assert not len(out.gone_on(1 / 30, CORNER_W, CELL_M, CELL_M * HEIGHT).place_w)


def test_still_water_and_a_swell_throw_nothing_and_a_jet_does() -> None:
    def drops(rise_mps: np.ndarray, seed: int = 3) -> tuple[Spray, np.ndarray]:
        return thrown(*surface_particles(rise_mps), HEIGHT, CORNER_W, CELL_M, 1 / 30, seed)

    level = np.zeros((COLUMNS, COLUMNS))
    assert not len(drops(level)[0].place_w)
    assert not len(drops(level + 2.5)[0].place_w)
    jet = level.copy()
    jet[6, 9] = 2.5
    spray, left = drops(jet)
    assert len(spray.place_w) == left.sum() > 20
    assert left[6, 9] == left.sum()
    about = CORNER_W[:2] + CELL_M * np.array([9.5, 6.5])
    assert np.abs(spray.place_w[:, :2] - about).max() < 2.0 * CELL_M
    assert spray.velocity_w[:, 2].mean() > 2.5
    again, other = drops(jet)[0], drops(jet, seed=4)[0]
    np.testing.assert_array_equal(spray.place_w, again.place_w)
    assert not np.array_equal(spray.place_w, other.place_w)


def test_under_a_hull_nothing_is_thrown() -> None:
    jet, covered = np.zeros((COLUMNS, COLUMNS)), HEIGHT.copy()
    jet[6, 9], covered[6, 9] = 2.5, np.inf
    assert not len(thrown(*surface_particles(jet), covered, CORNER_W, CELL_M, 1 / 30, 3)[0].place_w)


def test_the_newest_drops_are_kept() -> None:
    old = Spray(np.zeros((MOST_DROPS, 3), "f4"), np.zeros((MOST_DROPS, 3), "f4"))
    new = Spray(np.ones((7, 3), "f4"), np.ones((7, 3), "f4"))
    both = old.and_more(new)
    assert len(both.place_w) == MOST_DROPS
    assert both.place_w[-7:].all()
