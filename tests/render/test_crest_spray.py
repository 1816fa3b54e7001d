"""Laws of the spray from crests: of a time alone, from where the surface folds, gone in a calm."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from render.water.crest_spray import LAG_S, REACH_M, CrestSpray, Thrown
from render.water.sea_fields import SeaFields
from sim.vehicles import vehicle
from sim.water.ocean import SeaState
from sim.water.water import water_about

FOOT = np.array([7.0, -4.0])
MOST = 3000


def sea(wind_mps: float) -> SeaState:
    return water_about(vehicle("motorboat", waves=wind_mps, waves_direction=0.4, fetch=60e3), 0.0).state


@pytest.fixture(scope="module")
def gale() -> SeaState:
    return sea(16.0)


def test_the_spray_of_a_time_does_not_depend_on_what_was_shown_before(gale):
    followed = CrestSpray()
    for k in range(30):
        followed.puffs(gale, 20.0 + 0.037 * k, FOOT, MOST)
    at_s = 21.2
    np.testing.assert_array_equal(
        followed.puffs(gale, at_s, FOOT, MOST), CrestSpray().puffs(gale, at_s, FOOT, MOST)
    )


def test_puffs_begin_where_the_surface_folds(gale):
    spray, at_s = CrestSpray(), 30.0
    puffs = spray.puffs(gale, at_s + 1e-6, FOOT, MOST)
    assert 200 < len(puffs) <= 1.2 * MOST
    assert ((puffs[:, 3] >= 0.0) & (puffs[:, 3] <= 1.0)).all()
    young = puffs[puffs[:, 3] < 0.15]
    fields = SeaFields(gale)
    fields.work_out(gale, at_s)
    heights = fields.heights_m(young[:60, :2])
    assert np.median(heights) > 0.5 * fields.deviation_m  # crests; measured 1.3
    assert np.abs(np.median(young[:60, 2] - heights)) < 0.5
    stretch, deviation = fields.stretch(np.random.default_rng(1).uniform(-REACH_M, REACH_M, (4000, 2)), 0.6)
    assert abs(float(stretch.mean())) < 0.2 * deviation


def test_a_puff_takes_on_the_wind_by_linear_drag_falls_and_dies():
    rng = np.random.default_rng(2)
    place, velocity, air = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.array([9.0, 3.0, -1.4])
    thrown = Thrown(np.array([0.0, -0.02, -0.05]), place, velocity, air, np.array([0.3, 1.0, 2.0]))
    flown = []
    for k in (1, 2):
        age_s = 0.6 - thrown.born_s[k]
        pulled = solve_ivp(
            lambda _, y: np.r_[y[3:], (air - y[3:]) / LAG_S],
            (0.0, age_s),
            np.r_[place[k], velocity[k]],
            rtol=1e-10,
            atol=1e-12,
        )
        flown.append([*pulled.y[:3, -1], age_s / thrown.life_s[k]])
    np.testing.assert_allclose(thrown.puffs(0.6), flown, atol=1e-8)  # the first has died


def test_a_breeze_tears_nothing_off():
    assert len(CrestSpray().puffs(sea(8.0), 12.0, FOOT, MOST)) == 0
    fresh, gale = (len(CrestSpray().puffs(sea(wind), 12.0, FOOT, MOST)) for wind in (12.0, 16.0))
    assert 0 < fresh < gale
