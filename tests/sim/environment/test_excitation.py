"""Laws of how waves push a hull, as steps have them of the buoy: against what it radiates, Newton's law in long waves,
and sums wave by wave in Python."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sim
from sim.vehicle_config.radiation import Radiation
from sim.water.excitation import push_of_waves, remembered
from sim.water.immersion import GRAVITY, WATER_DENSITY
from sim.water.ocean import Sea
from sim.water.ocean.waves import DEEP_M, frequency_radps, group_speed_mps
from sim.water.water import Water, Weather, nothing_known, water_about
from sim.water.wrench import CLOCK, feel_water
from studies.ledger.hydrodynamics import DISPLACED_KG, STIFFNESS_NPM, held

KEPT = 1e15
"""Inertia [kg] of what waves do not move."""


def test_long_waves_lift_a_held_buoy_in_phase_and_push_it_down_their_slope(radiation: Radiation) -> None:
    """By its waterplane times the height, less what its water and what moves along take; along the waves by the water's
    acceleration, of the mass of the buoy's water and of what moves along (G. I. Taylor 1928). Measured: 0.03 % of the
    first, 0.35 % of the second, phases 2e-4 rad."""
    k = 0.002
    felt = held(sim.vehicle("wave-buoy"), (k, 0.0))
    taken = k * GRAVITY * (DISPLACED_KG + radiation.added[0, 5, 5])
    assert felt[5] == pytest.approx(STIFFNESS_NPM - taken, rel=0.001)
    pushed = felt[3] / (GRAVITY * k * (DISPLACED_KG + radiation.added[0, 3, 3]))
    assert pushed == pytest.approx(-1j, abs=0.005)


@pytest.mark.parametrize("depth_m", (10.0, DEEP_M))
def test_what_a_held_buoy_takes_of_waves_is_what_it_sends_out(radiation: Radiation, depth_m: float) -> None:
    """B = k / (8 pi rho g c_g) times the integral of |X|^2 over headings (Newman 1962), in surge and heave."""
    told, buoy, off = radiation.over(depth_m), sim.vehicle("wave-buoy", depth=depth_m), []
    for ka in (0.2, 0.4, 0.7, 1.0, 1.5):
        k = ka / 5.0
        felt = np.abs(held(buoy, (k, 0.0)))
        scale = k / (4.0 * WATER_DENSITY * GRAVITY * float(group_speed_mps(k, depth_m)))
        B = CubicSpline(told.omega_radps, told.damping)(float(frequency_radps(k, depth_m)))
        off.append([0.5 * scale * felt[3] ** 2 / B[3, 3] - 1.0, scale * felt[5] ** 2 / B[5, 5] - 1.0])
    assert np.abs(off).max() < 0.02, np.round(off, 4)


def test_a_buoy_that_looks_and_lies_elsewhere_feels_the_same_of_the_same_wave() -> None:
    """Measured: 4e-4 of the largest, by the lattice."""
    buoy, k = sim.vehicle("wave-buoy"), 0.05
    ahead = held(buoy, (k, 0.0))
    turned = held(buoy, (0.0, k), yaw=0.5 * np.pi, at=(-6.0, 11.0))
    np.testing.assert_allclose(turned, ahead, atol=2e-3 * np.abs(ahead).max())


def summed(
    force: "CubicSpline",
    last: float,
    waves: np.ndarray,
    heights: np.ndarray,
    yaw: float,
    place: np.ndarray,
    t: float,
) -> np.ndarray:
    """(6,) of all waves, along the world's axes; force: by frequency, (headings, 6)."""
    wanted, (c, s) = np.zeros(6), (np.cos(yaw), np.sin(yaw))
    near = waves[:, 0] < last
    for (omega, east, north, _, coth), height in zip(waves[near], heights[near], strict=True):
        for sign, a in ((1.0, complex(*height[:2])), (-1.0, complex(*height[2:]))):
            k = sign * omega**2 / GRAVITY * coth * np.array([east, north])
            orders = np.fft.fft(force(omega), axis=0) / len(force(omega))
            numbers = np.fft.fftfreq(len(orders), 1.0 / len(orders))
            X = np.exp(1j * numbers * (np.arctan2(k[1], k[0]) - yaw)) @ orders
            wanted += (a * np.exp(1j * (k @ place - omega * t)) * X).real
    for part in (wanted[:3], wanted[3:]):
        part[:2] = c * part[0] - s * part[1], s * part[0] + c * part[1]
    return wanted


def test_a_sea_is_summed_wave_by_wave_by_heading_and_frequency(radiation: Radiation) -> None:
    """Made-up forces that turn up to twice about the hull, of a hull whose ends are not alike; measured: 1e-3 of their
    root mean square, by what lies between the headings of the table."""
    rng, omega = np.random.default_rng(5), radiation.omega_radps
    smooth = np.sin(omega[:, None, None] * rng.uniform(0.5, 1.5, (1, 5, 6))) + 1j * np.cos(
        omega[:, None, None]
    )
    turning = np.exp(1j * np.outer(2.0 * np.pi * np.arange(8) / 8, np.arange(-2, 3)))
    made = turning @ (smooth * rng.normal(size=(1, 5, 6)))
    lifted = np.array([0.3, -0.8, 0.0, 0.0, 0.0, 2.0])
    turn = rng.uniform(0.0, np.pi, 200)
    one = np.ones_like(turn)
    waves = np.stack([rng.uniform(0.2, 4.5, 200), np.cos(turn), np.sin(turn), one, one], axis=1)
    heights, place, load = rng.normal(size=(200, 4)).astype(np.float32), np.array([31.0, -12.0]), np.zeros(6)
    known = remembered(replace(radiation, excited=made, beside=()), DEEP_M, waves, lifted)
    c, s = np.cos(0.7), np.sin(0.7)
    pose = np.array([c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0, *place, 3.0])
    height = push_of_waves(pose, 17.3, np.zeros(2), np.zeros(2), heights, known, load)
    turned = np.array([c * 0.3 + s * 0.8, s * 0.3 - c * 0.8, 0.0, 0.0, 0.0, 2.0])
    longest = np.broadcast_to(lifted, made[:1].shape)
    force = CubicSpline(np.r_[0.0, omega], np.concatenate([longest, made]))
    wanted = summed(force, omega[-1], waves, heights, 0.7, place, 17.3)
    size = np.sqrt(np.mean(np.abs(made) ** 2) * len(waves) * 2.0)
    np.testing.assert_allclose(load + height * turned, wanted, atol=5e-3 * size)


def test_under_way_it_is_pushed_as_between_the_speeds_at_which_that_is_known(radiation: Radiation) -> None:
    """Ahead through the stream, whatever way it looks; astern as at rest, faster as at the highest."""
    rng = np.random.default_rng(8)
    fast, faster = (factor * np.conj(radiation.excited) for factor in (0.4, -1.3))
    waves = np.array([[1.1, 0.6, 0.8, 1.0, 1.0], [2.0, -0.28, 0.96, 1.0, 1.0]])
    heights, lifted = rng.normal(size=(2, 4)).astype(np.float32), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    c, s = np.cos(1.9), np.sin(1.9)
    pose, stream = np.array([c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0, 3.0, 4.0, 0.0]), np.array([0.3, -0.9])
    bare = replace(radiation, beside=())

    def felt(told: Radiation, ahead_mps: float) -> np.ndarray:
        load, velocity = np.zeros(6), stream + ahead_mps * np.array([c, s]) + 0.7 * np.array([-s, c])
        known = remembered(told, DEEP_M, waves, lifted)
        load[5] = push_of_waves(pose, 2.7, velocity, stream, heights, known, load)
        return load

    known = replace(bare, under_way=((2.0, fast), (6.0, faster)))
    at = [felt(replace(bare, excited=X), 0.0) for X in (radiation.excited, fast, faster)]
    for speed, wanted in (
        (-1.0, at[0]),
        (0.5, 0.75 * at[0] + 0.25 * at[1]),
        (5.0, 0.25 * at[1] + 0.75 * at[2]),
        (9.0, at[2]),
    ):
        np.testing.assert_allclose(felt(known, speed), wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_in_a_whole_sea_steps_feel_what_linear_waves_do(radiation: Radiation) -> None:
    """Wind of 9 m/s, a buoy held 2 m under its own middle. Measured: 1 % of the root mean square, by buoyancy that is
    not linear; where only pressure and relative motion are known, which fade as a mean wave does, more than half."""
    buoy = sim.vehicle("wave-buoy", waves=9.0)
    known, bare = water_about(buoy), replace(radiation, excited=None, beside=())
    without = water_about(buoy)
    without = replace(
        without,
        radiation=remembered(bare, DEEP_M, known.sea_arrays[2], known.lifted),
        kept=nothing_known(known.sea_arrays),
    )
    rest = felt(known, 0.0)
    times = np.arange(0.5, 12.0, 0.5)
    by_steps, by_motion = (np.array([felt(water, t) for t in times]) for water in (known, without))
    force = CubicSpline(
        np.r_[0.0, radiation.omega_radps],
        np.concatenate([np.broadcast_to(known.lifted, radiation.excited[:1].shape), radiation.excited]),
    )
    last, heights = radiation.omega_radps[-1], known.kept[0]
    linear = np.array([summed(force, last, known.sea_arrays[2], heights, 0.0, PLACE, t) for t in times])
    assert rest[5] > 0.0
    size = np.std(linear, axis=0)[[3, 4, 5]]
    off, otherwise = (np.std(one - linear, axis=0)[[3, 4, 5]] / size for one in (by_steps, by_motion))
    assert off.max() < 0.02, (off, otherwise)
    assert otherwise.min() > 0.5, (off, otherwise)


PLACE = np.array([2.0, 1.0])


def felt(water: Water, time_s: float) -> np.ndarray:
    """(6,) of one that is held and has sent out nothing."""
    pose, wrench = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *PLACE, -2.0]), np.zeros(6)
    water.report[CLOCK] = time_s
    feel_water(pose, np.zeros(6), np.full(6, KEPT), 1e-3, water.env, wrench)
    return wrench


def test_while_the_sea_changes_a_moment_does_not_depend_on_what_was_asked_before() -> None:
    def changing() -> Water:
        water = water_about(sim.vehicle("wave-buoy", waves=6.0))
        water.change(Weather(Sea(14.0)))
        return replace(water, radiation=(np.zeros((0, 0)), np.zeros((0, 6)), *water.radiation[2:]))

    once, again = changing(), changing()
    felt(again, 2.34)
    felt(again, 2.26)
    np.testing.assert_array_equal(felt(again, 2.21), felt(once, 2.21))
