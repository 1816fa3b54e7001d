"""Laws of the sea: linear theory of deep water, the spectrum that it is drawn from, and that it is the same for all."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.fft

from sim.platform.errors import InputError
from sim.water.ocean import Ocean, Sea
from sim.water.ocean.synthesis import (
    EAST,
    HEIGHT,
    NORTH,
    RISE,
    SPEED_EAST,
    SPEED_NORTH,
    inverse_transform,
    twiddles,
)
from sim.water.ocean.waves import (
    GRAVITY_MPS2,
    TILES_M,
    draw,
    frequency_spectrum,
    significant_height_m,
    spreading_power,
    spreading_scale,
)

FRESH = Sea(9.0, 0.7, 80e3, 0.9, seed=5)


@pytest.mark.parametrize("points", (16, 32, 64, 128))
@pytest.mark.parametrize("reach", (0, 5, None))
def test_inverse_transform_is_the_definition(points: int, reach: int | None) -> None:
    rng = np.random.default_rng(points)
    x = (rng.normal(size=(points, points)) + 1j * rng.normal(size=(points, points))).astype(np.complex64)
    reach = points // 2 if reach is None else reach
    if reach < points // 2:
        x[:, reach + 1 : points - reach] = 0.0
    expected = scipy.fft.ifft2(x.astype(complex)) * points**2
    parts = np.stack([x.real, x.imag])
    work = np.full_like(parts, 1e9)
    in_work = inverse_transform(parts, work, twiddles(points), reach)
    found = work if in_work else parts
    # measured 1.7e-7: single precision
    assert np.abs(found[0].T + 1j * found[1].T - expected).max() < 1e-6 * np.abs(expected).max()


def test_waves_obey_the_dispersion_relation_of_deep_water() -> None:
    ocean = Ocean(FRESH, points=32)
    tile, ix, iy = 0, 6, 4
    every_s, count = 0.25, 1024
    sampled = np.empty(count, complex)
    for n in range(count):
        height = ocean.grids(n * every_s)[tile, :, :, HEIGHT]
        sampled[n] = np.fft.fft2(height)[iy, ix]
    strength = np.abs(np.fft.fft(sampled * np.hanning(count)))
    frequency = np.abs(2 * np.pi * np.fft.fftfreq(count, every_s)[np.argmax(strength)])
    k = 2 * np.pi / TILES_M[tile] * math.hypot(ix, iy)
    # measured 0.0072 rad/s, a third of what such a time can resolve (0.0245 rad/s)
    assert abs(frequency - math.sqrt(GRAVITY_MPS2 * k)) < 0.0245 / 2


def test_waves_run_with_the_wind() -> None:
    ocean = Ocean(dataclasses.replace(FRESH, direction_rad=0.0), points=64)
    now, later = (ocean.grids(t)[0, :, :, HEIGHT].astype(complex).copy() for t in (10.0, 10.2))
    now, later = np.fft.fft2(now), np.fft.fft2(later)
    turned = np.angle(later * np.conj(now))[:, 1:32]
    weight = (np.abs(now) ** 2)[:, 1:32]
    # A wave that runs towards +x has exp(-i omega t): nearly all the energy does.
    assert (weight * (turned < 0)).sum() > 0.9 * weight.sum()  # measured 0.997


def test_mean_variance_is_the_integral_of_the_spectrum() -> None:
    ocean = Ocean(FRESH, points=128)
    variance = 0.0
    for seed in range(12):
        seen = Ocean(dataclasses.replace(FRESH, seed=seed), points=128)
        over_time = np.mean([seen.grids(100.0 * seed)[tile, :, :, HEIGHT].var() for tile in range(3)])
        own = 0.5 * (np.abs(seen.heights) ** 2).sum()
        variance += own / 12
        # measured 5.4e-3: opposite waves make standing parts
        assert abs(3 * over_time - own) < 0.03 * own
    expected = significant_height_m(FRESH.numbers, 2 * TILES_M[2] / ocean.points)
    # measured 0.030: some thirty waves carry most of it in each of twelve seas
    assert abs(4 * math.sqrt(variance) / expected - 1) < 0.06


def test_known_values_of_the_spectrum() -> None:
    # Hasselmann et al. 1973: peak at 22 (g^2 / (U F))^(1/3). Against Pierson and Moskowitz' alpha g^2 / (5 peak^4) the
    # variance is greater by 1 / (1 - 0.287 ln 3.3) (DNV-RP-C205, 3.5.5).
    sea = Sea(15.0, fetch_m=150e3)
    omega = np.linspace(0.2, 5.0, 20001)
    density = np.array([frequency_spectrum(w, 15.0, 150e3) for w in omega])
    peak = 22 * (GRAVITY_MPS2**2 / (15.0 * 150e3)) ** (1 / 3)
    assert omega[density.argmax()] == pytest.approx(peak, abs=1e-3)
    alpha = 0.076 * (15.0**2 / (150e3 * GRAVITY_MPS2)) ** 0.22
    variance = alpha * GRAVITY_MPS2**2 / (5 * peak**4) / (1 - 0.287 * math.log(3.3))
    # measured 1.2e-3
    assert significant_height_m(sea.numbers) == pytest.approx(4 * math.sqrt(variance), rel=0.01)


@pytest.mark.parametrize("omega", (0.4, 0.9, 2.0, 6.0))
def test_spreading_integrates_to_one(omega: float) -> None:
    power = spreading_power(omega, 11.0, 9e4)
    angle = np.linspace(-np.pi, np.pi, 20001)
    law = spreading_scale(power) * np.abs(np.cos(angle / 2)) ** (2 * power)
    assert np.trapezoid(law, angle) == pytest.approx(1.0, abs=1e-7)  # measured 2e-10


def test_equal_seeds_give_equal_seas_and_grids_of_any_size_share_waves() -> None:
    one, same = (Ocean(FRESH, points=32).grids(3.7).copy() for _ in range(2))
    assert np.array_equal(one, same)
    assert not np.allclose(one, Ocean(dataclasses.replace(FRESH, seed=6), points=32).grids(3.7))
    coarse, fine = draw(5, 1, 32), draw(5, 1, 128)
    index = np.r_[0:16, -16:0]
    assert np.array_equal(coarse, fine[np.ix_(index, index)])


SEEN = ((-0.28175866928501303 - 1.244491309369604j), (-0.17100988106698148 + 0.16778958402619953j))


def test_a_seed_means_the_same_numbers_on_every_machine() -> None:
    # Written down from another run: raw numbers of Philox do not depend on the version of NumPy.
    drawn = draw(1, 0, 16)
    assert drawn[0, 1] == pytest.approx(SEEN[0], abs=1e-12)
    assert drawn[-3, 5] == pytest.approx(SEEN[1], abs=1e-12)


def test_the_surface_repeats_with_each_tile_and_has_mean_level_zero() -> None:
    ocean = Ocean(FRESH, points=64)
    grids = ocean.grids(12.3)
    assert np.abs(grids[..., HEIGHT].mean(axis=(1, 2), dtype=float)).max() < 1e-6  # measured 3e-10 m
    alone = Ocean(FRESH, points=64)
    alone.heights[alone.waves.start[1] :] = 0.0
    x, y = np.array([3.0, 77.7]), np.array([-20.0, 4.1])
    here, there = alone.height(x, y, 2.0), alone.height(x + TILES_M[0], y - 2 * TILES_M[0], 2.0)
    assert np.abs(here - there).max() < 1e-9  # measured 1e-15


def test_velocity_is_the_rate_of_displacement() -> None:
    ocean = Ocean(FRESH, points=64)
    at, dt = 5.0, 1e-2
    before, after = ocean.grids(at - dt).astype(float), ocean.grids(at + dt).astype(float)
    rate = (after - before) / (2 * dt)
    here = ocean.grids(at)
    for place, speed in ((HEIGHT, RISE), (EAST, SPEED_EAST), (NORTH, SPEED_NORTH)):
        # measured 4e-4 m/s where the fastest goes 2 m/s: dt^2 omega^3 a / 6 of the shortest waves
        assert np.abs(rate[..., place] - here[..., speed]).max() < 1e-3


def test_a_single_wave_is_airys_above_and_below() -> None:
    ocean = Ocean(Sea(9.0, 0.0, 80e3, 1.0), points=128)
    wave = ocean.waves.start[1] - 1
    wave = int(np.argmin(np.abs(ocean.waves.number[:wave, 0] - 1.0)))
    a = 0.02
    ocean.heights[:] = 0.0
    ocean.heights[wave, 0] = a
    omega, east, north = ocean.waves.number[wave, :3]
    k = omega**2 / GRAVITY_MPS2
    ocean.decay[0] = k
    rng = np.random.default_rng(3)
    place, t = rng.uniform(-100, 100, (50, 3)), 4.4
    place[:, 2] = rng.uniform(-8.0, -0.1, 50)
    phase = k * (east * place[:, 0] + north * place[:, 1]) - omega * t
    height = ocean.height(place[:, 0], place[:, 1], t)
    # measured 0.0074: what is lost by reading between the grid's points
    assert np.abs(height - a * np.cos(phase)).max() < 0.02 * a
    left = a * omega * np.exp(k * place[:, 2])
    expected = np.stack(
        [left * np.cos(phase) * east, left * np.cos(phase) * north, left * np.sin(phase)], axis=1
    )
    assert np.abs(ocean.velocity(place, t) - expected).max() < 0.02 * a * omega  # measured 0.0068
    normal = ocean.normal(place[:, 0], place[:, 1], t)
    slope = -a * k * np.sin(phase)
    assert (
        np.abs(normal[:, 0] + slope * east).max() < 0.15 * a * k
    )  # measured 0.099: the slope between two points of the grid


def test_calm_is_still() -> None:
    ocean = Ocean(Sea(0.0), points=32)
    assert not ocean.grids(9.0).any()
    assert not ocean.velocity([1.0, 2.0, -3.0], 9.0).any()


@pytest.mark.parametrize(
    "fault",
    (
        {"wind_mps": 40.0},
        {"wind_mps": math.nan},
        {"fetch_m": 1.0},
        {"direction_rad": math.inf},
        {"choppiness": -0.1},
        {"seed": -1},
    ),
)
def test_a_sea_out_of_range_is_one_line(fault: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"sea: {next(iter(fault))} .*allowed"):
        Sea(**fault)  # type: ignore[arg-type]


@pytest.mark.parametrize("points", (0, 100, 1024))
def test_a_grid_out_of_range_is_one_line(points: int) -> None:
    with pytest.raises(InputError, match="powers of two"):
        Ocean(Sea(), points=points)
