"""Laws of shadows on the sea: a body of water has no edge of a shadow in it, a deck of clouds leaves none on it."""

from collections.abc import Callable

import numpy as np
import pytest

from render.frame import DrawnSea, DrawnVehicle, Frame, View, look_at, perspective
from render.light import Sun
from render.passes.shadows import VehicleShadow
from render.passes.targets import Canvas
from render.quality import PRESETS
from render.renderer import Renderer
from sim.vehicle_config import config_named
from sim.vehicles import vehicle
from sim.water.water import water_about
from sim.world import World, load_world
from tests.render.small_world import small_scenery

SIZE = (400, 320)
EYE_M, FOV_RAD = 30.0, 0.84
PIXEL_M = 2.0 * EYE_M * np.tan(0.5 * FOV_RAD) / SIZE[1]
BEHIND_M = (3.5, 6.5)
"""The strip that is looked at: so far from the boat's middle, away from the sun."""


@pytest.fixture(scope="module")
def world() -> World:
    return load_world("sea")


@pytest.fixture
def lit(ctx, world, monkeypatch) -> Callable[[str, Sun], np.ndarray]:
    """(n,) how bright the water is across the shadow of a boat that lies along y, by what it is without the shadow."""
    T_wb = np.eye(4)
    T_wb[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    boat = DrawnVehicle(
        "motorboat", T_wb, np.zeros(2), np.zeros(0), time_s=0.0, config=config_named("motorboat")
    )
    view = View(
        np.array([0.0, 0.0, EYE_M]),
        look_at(np.array([0.0, 0.0, EYE_M]), np.zeros(3), (0.0, 1.0, 0.0)),
        perspective(FOV_RAD, SIZE[0] / SIZE[1], 0.5, 12_000.0),
    )
    state = water_about(vehicle("motorboat", waves=3.0, fetch=2e3), 0.0).state
    frame = Frame(view=view, vehicles=(boat,), sea=DrawnSea(state, 3.0), wall_s=1.0)

    def picture(quality: str, sun: Sun) -> np.ndarray:
        renderer = Renderer(ctx, SIZE, world, quality=quality, scenery=small_scenery(), sun=sun)
        canvas = Canvas(ctx, SIZE)
        renderer.draw(frame, canvas.framebuffer)
        image = canvas.image().astype(float).mean(axis=2)
        canvas.release()
        renderer.release()
        return image

    def of(quality: str, sun: Sun) -> np.ndarray:
        with_shadow = picture(quality, sun)
        with monkeypatch.context() as without:
            without.setattr(VehicleShadow, "_aim", lambda self, *_: ((), ()))
            left, right = (round(0.5 * SIZE[0] + m / PIXEL_M) for m in BEHIND_M)
            strip = slice(left, right)
            return with_shadow[:, strip].mean(axis=1) / picture(quality, sun)[:, strip].mean(axis=1)

    return of


def steepest_per_m(across: np.ndarray) -> float:
    """By how much of its depth a shadow comes or goes within a metre where it does so fastest."""
    reach = round(0.4 / PIXEL_M)
    return float(
        np.abs(across[reach:] - across[:-reach]).max() / (1.0 - across.min()) / (2 * reach * PIXEL_M)
    )


LOW = {"azimuth_rad": np.pi, "elevation_rad": 0.35}
OPAQUE = [name for name, quality in PRESETS.items() if not quality.full_materials]
"""Qualities at which no bed is seen through the water, on which shadows are as sharp as on any ground."""


# measured 0.84, and 0.67 of its depth a metre; 0.79 and 1.15 where the water was lit as its surface is
@pytest.mark.parametrize("quality", OPAQUE)
def test_a_shadow_in_the_sea_is_faint_and_has_no_edge(lit, quality):
    across = lit(quality, Sun(**LOW, clouds=0.2))
    assert 0.81 < across.min() < 0.95
    assert steepest_per_m(across) < 0.85


# measured 0.62 and 0.66 of its depth a metre; 0.87 and 1.15 where the sun was as small as in a clear sky
@pytest.mark.parametrize("quality", ["high", *OPAQUE])
def test_under_a_deck_of_clouds_no_shadow_on_the_sea_has_an_edge(lit, quality):
    across = lit(quality, Sun(**LOW, clouds=1.0))
    assert across.min() < 0.97
    assert steepest_per_m(across) < 0.78
