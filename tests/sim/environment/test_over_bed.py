"""Laws of a sea over a level bed: Airy's waves from the surface to the bed, the energy that they carry, their spectrum,
and that what floats on them goes by all of it."""

import dataclasses
import itertools
import math
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import sim
from sim.commands import KeepTake, SetParameter
from sim.platform.errors import InputError
from sim.recordings.playback import Playback
from sim.scene import load_scene, scene_names
from sim.simulation import Simulation
from sim.vehicles.motorboat import ABOUT as ABOUT_BOATS
from sim.water.flip.box import TankBox
from sim.water.flip.open_sea import OpenSea, SeaAround
from sim.water.immersion import VERTEX_WIDTH
from sim.water.ocean import Ocean, Sea, SeaState
from sim.water.ocean.waves import (
    DEEP_M,
    GRAVITY_MPS2,
    TILES_M,
    Waves,
    frequency_radps,
    frequency_spectrum,
    group_speed_mps,
    significant_height_m,
    wave_number,
)
from sim.water.wrench import ABOUT, DEPTH, FADE, FLOW, LATTICE, SAMPLES, SPACING, SURFACE, immerse
from sim.world import load_world
from sim.world.path import Stream

DEPTHS_M = (1.0, 6.0, 30.0)


def number_by_bisection(omega_radps: float, depth_m: float) -> float:
    """k of omega^2 = g k tanh(k d), found by SciPy."""
    deep = omega_radps**2 / GRAVITY_MPS2
    return float(
        brentq(
            lambda k: k * math.tanh(k * depth_m) - deep,
            0.5 * deep,
            2.0 * (deep + math.sqrt(deep / depth_m)),
            xtol=1e-15,
            rtol=1e-14,
        )
    )


@pytest.mark.parametrize("depth_m", DEPTHS_M)
def test_waves_have_the_lengths_that_airys_relation_gives_their_frequencies(depth_m: float) -> None:
    waves = Waves.of(3, 32, depth_m)
    k = np.concatenate(
        [
            2 * np.pi / edge * np.hypot(*(((place + 16) % 32 - 16).T))
            for edge, place in zip(
                TILES_M,
                (waves.place[a:b, :2] for a, b in itertools.pairwise(waves.start)),
                strict=True,
            )
        ]
    )
    found = np.array([number_by_bisection(omega, depth_m) for omega in waves.number[:, 0]])
    np.testing.assert_allclose(found, k, rtol=1e-12)  # measured 4e-15
    np.testing.assert_allclose(waves.number[:, 4], 1.0 / np.tanh(k * depth_m), rtol=1e-14)


@pytest.mark.parametrize("depth_m", (*DEPTHS_M, DEEP_M))
def test_number_and_frequency_are_inverse_and_group_speed_is_their_slope(depth_m: float) -> None:
    for omega in np.geomspace(0.05, 30.0, 25):
        k = wave_number(omega, depth_m)
        assert k == pytest.approx(number_by_bisection(omega, depth_m), rel=1e-12)  # measured 4e-15
        assert frequency_radps(k, depth_m) == pytest.approx(omega, rel=1e-13)
        dk = 1e-5 * k
        slope = (frequency_radps(k + dk, depth_m) - frequency_radps(k - dk, depth_m)) / (2 * dk)
        assert group_speed_mps(k, depth_m) == pytest.approx(slope, rel=1e-8)  # measured 3e-10


def test_the_depth_of_oceans_is_none_to_the_last_bit() -> None:
    """So that seas of which nothing is said are what they were."""
    waves = Waves.of(1, 64, DEEP_M)
    assert (waves.number[:, 4] == 1.0).all()
    assert Sea().depth_m == DEEP_M
    assert next(p.default for p in ABOUT_BOATS if p.name == "depth") == DEEP_M


def lone_wave(depth_m: float, amplitude_m: float) -> tuple[Ocean, float, float, np.ndarray]:
    """A sea of one wave: with its wave number, frequency and direction (2,)."""
    ocean = Ocean(Sea(9.0, 0.0, 80e3, 1.0, depth_m=depth_m), points=128)
    omega = ocean.waves.number[: ocean.waves.start[1], 0]
    wave = int(np.argmin(np.abs(omega - frequency_radps(0.06, depth_m))))
    ocean.heights[:] = 0.0
    ocean.heights[wave, 0] = amplitude_m
    omega, east, north = ocean.waves.number[wave, :3]
    k = number_by_bisection(omega, depth_m)
    ocean.decay[0] = k
    return ocean, k, float(omega), np.array([east, north])


@pytest.mark.parametrize("depth_m", DEPTHS_M)
def test_a_single_wave_is_airys_from_the_surface_to_the_bed(depth_m: float) -> None:
    a = 1e-3 * depth_m
    ocean, k, omega, ahead = lone_wave(depth_m, a)
    rng = np.random.default_rng(3)
    place, t = rng.uniform(-100, 100, (60, 3)), 4.4
    place[:, 2] = rng.uniform(-depth_m, -2 * a, 60)
    place[:10, 2] = -depth_m
    phase = k * (place[:, :2] @ ahead) - omega * t
    # measured 0.0028: what is lost by reading between the grid's points
    assert np.abs(ocean.height(place[:, 0], place[:, 1], t) - a * np.cos(phase)).max() < 5e-3 * a
    over = k * (place[:, 2] + depth_m)
    level = a * omega * np.cosh(over) / np.sinh(k * depth_m) * np.cos(phase)
    rise = a * omega * np.sinh(over) / np.sinh(k * depth_m) * np.sin(phase)
    found = ocean.velocity(place, t)
    scale = a * omega / math.tanh(k * depth_m)
    assert np.abs(found[:, :2] - level[:, None] * ahead).max() < 6e-3 * scale  # measured 0.0031
    assert np.abs(found[:, 2] - rise).max() < 6e-3 * scale
    assert np.abs(found[:10, 2]).max() < 1e-12 * scale  # nothing goes through the bed


@pytest.mark.parametrize("depth_m", DEPTHS_M)
def test_pressure_times_velocity_is_the_energy_that_goes_with_the_group(depth_m: float) -> None:
    """Mean over a period of the integral of p u over depth: rho g a^2 / 2 times the group's speed; per rho g."""
    k, a = 1.3 / math.sqrt(depth_m), 1e-3
    omega = float(frequency_radps(k, depth_m))
    x, weight = np.polynomial.legendre.leggauss(40)
    z, weight = 0.5 * depth_m * (x - 1.0), 0.5 * depth_m * weight
    vertices = np.stack([0 * z, 0 * z, z], axis=1)
    about, still = np.zeros(ABOUT), Stream.still()
    about[SPACING], about[DEPTH] = 1.0, depth_m
    carried, phases = 0.0, 2 * np.pi * np.arange(12) / 12
    for phase in phases:
        now, rows = np.zeros((LATTICE, LATTICE, SAMPLES)), np.zeros((len(z), VERTEX_WIDTH))
        now[..., SURFACE], now[..., FADE] = a * np.cos(phase), k
        now[..., FLOW] = a * omega / math.tanh(k * depth_m) * np.cos(phase)
        pose, corner = np.r_[np.eye(3).ravel(), 0.3, -0.4, 0.0], np.array([-8, -8, 1, 1, 1])
        river = still.velocity_w, still.frame
        immerse(vertices, pose, now, corner, about, river, np.empty(SAMPLES), rows, True)
        carried += weight @ ((rows[:, 3] + z) * rows[:, 4]) / len(phases)
    # measured 2e-6 and less where the depth is 1 m and more: of the second order of its height over the depth
    assert carried == pytest.approx(0.5 * a**2 * group_speed_mps(k, depth_m), rel=1e-5)


def test_waves_that_wind_raises_over_a_bed_have_the_height_of_its_spectrum() -> None:
    depth_m, variance = 6.0, 0.0
    sea = Sea(9.0, 0.7, 80e3, 0.9, depth_m=depth_m)
    for seed in range(12):
        seen = Ocean(dataclasses.replace(sea, seed=seed), points=128)
        variance += 0.5 * (np.abs(seen.heights) ** 2).sum() / 12
    shortest_m = 2 * TILES_M[2] / 128
    expected = significant_height_m(sea.numbers, shortest_m, depth_m)
    assert abs(4 * math.sqrt(variance) / expected - 1) < 0.06  # measured 0.025
    # The spectrum of Bouws et al. by itself, k by SciPy.
    omega = np.linspace(0.1, math.sqrt(2 * math.pi * GRAVITY_MPS2 / shortest_m), 4000)
    kd = np.array([number_by_bisection(w, depth_m) for w in omega]) * depth_m
    left = np.tanh(kd) ** 2 / (1.0 + 2.0 * kd / np.sinh(np.minimum(2.0 * kd, 50.0)))
    density = np.array([frequency_spectrum(w, 9.0, 80e3) for w in omega]) * left
    assert expected == pytest.approx(4 * math.sqrt(np.trapezoid(density, omega)), rel=2e-3)
    assert expected < 0.85 * significant_height_m(sea.numbers, shortest_m)


def test_a_box_of_water_gets_the_same_velocities_at_its_sides() -> None:
    depth_m = 5.0
    state = SeaState.steady(Sea(7.0, 0.4, 60e3, depth_m=depth_m), 0.0)
    ocean = Ocean(Sea(7.0, 0.4, 60e3, depth_m=depth_m))
    box = TankBox((24, 24, 16), 0.4, (-4.0, -4.0, -4.8))
    sea = OpenSea(SeaAround(state), box)
    sea.work_out(box, 3.0)
    for axis, (k, j, i) in itertools.product(range(3), ((1, 5, 9), (4, 12, 3), (8, 20, 20))):
        middle = np.array([i, j, k]) - 0.5
        middle[axis] -= 0.5
        place = np.array(box.corner_w) + box.cell_m * middle
        told = box.cell_m * sea.faces[axis, k, j, i]
        # What is read every second cell, and the bed under a crest: measured 0.018 m/s of 0.7.
        assert told == pytest.approx(ocean.velocity(place, 3.0)[axis], abs=0.05)


def test_a_buoy_rides_longer_waves_over_a_shallow_bed_until_another_depth_is_set() -> None:
    world = load_world("sea")
    simulation = Simulation(load_scene("buoy"), world)
    for name, value in (("waves", 9.0), ("depth", 4.0), ("depth", 25.0)):
        simulation.submit(SetParameter(name, value))
        for _ in range(20):
            simulation.advance(0.05)
        environment = simulation.run.flown.footing.environment
        assert environment.water is not None
        assert environment.water.depth_m == (DEEP_M if name == "waves" else value)
    reply: Future = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    segments = reply.result(timeout=10).segments
    assert [segment.vehicle.values["depth"] for segment in segments][-2:] == [4.0, 25.0]
    playback = Playback(list(segments), lambda: world)
    last = segments[-1]
    assert np.array_equal(playback.node(playback.moment(last, last.steps)), simulation.run.flown.node)


@pytest.mark.parametrize("depth_m", (0.0, -3.0, 2e4, math.nan, math.inf))
def test_a_depth_that_no_sea_has_is_one_line(depth_m: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sea: depth_m = .*allowed: 1 to 11000 m") as refused:
        Sea(depth_m=depth_m)
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"depth = .*allowed: 1 to 11000 m"):
        sim.vehicle("motorboat", depth=depth_m)
    file = tmp_path / "mine.toml"
    file.write_text(f'vehicle = "helicopter"\n[world]\nname = "sea"\n[sea]\ndepth_m = {depth_m}\n')
    with pytest.raises(InputError, match="depth_m") as refused:
        load_scene(file)
    assert "\n" not in str(refused.value)


def test_scenes_with_ground_under_the_water_have_its_depth() -> None:
    found = set()
    for name in scene_names():
        scene = load_scene(name)
        depth_m, world = scene.vehicle.values.get("depth"), scene.world
        if depth_m is None or world == "sea" or scene.vehicle.values["waves"] == 0.0:
            continue
        found.add(name)
        x, y, _ = scene.start.position_w
        assert depth_m == pytest.approx(load_world(world).depth_m(x, y), abs=0.05), name
    assert found >= {"harbour", "flotsam"}
