"""The canyon is the same for the same seed, big enough, level where one lands and wide enough to fly."""

import numpy as np
import pytest

from sim.platform.errors import InputError
from sim.world import World, load_world
from sim.world.canyon import erode, grow_canyon
from sim.world.terrain import sky_visibility

ROTOR_RADIUS_M = 5.35


@pytest.fixture(scope="module")
def canyon() -> World:
    return load_world("canyon", seed=7)


def test_same_seed_gives_the_same_bytes_and_another_seed_another_canyon(canyon: World) -> None:
    terrain, layers, _, _ = grow_canyon(7)
    assert terrain.heights.tobytes() == canyon.terrain.heights.tobytes()
    assert layers.sky_visibility.tobytes() == canyon.layers.sky_visibility.tobytes()
    assert layers.loose.tobytes() == canyon.layers.loose.tobytes()
    other = load_world("canyon", seed=8)
    assert np.abs(other.terrain.heights - canyon.terrain.heights).max() > 20.0


def test_a_canyon_that_has_grown_is_loaded(canyon: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def grown(seed: int) -> None:
        raise AssertionError("it has grown again")

    monkeypatch.setattr("sim.world.world.grow_canyon", grown)
    again = load_world("canyon", seed=7)
    assert again.terrain.heights.tobytes() == canyon.terrain.heights.tobytes()


def test_canyon_has_the_size_and_depth_promised(canyon: World) -> None:
    low, high = np.array(canyon.terrain.low_m), np.array(canyon.terrain.high_m)
    assert np.all(high - low >= [1600.0, 840.0])
    heights = canyon.terrain.heights
    assert np.isfinite(heights).all()
    assert heights.dtype == np.float32
    assert heights.flags.c_contiguous
    assert 150.0 < np.percentile(heights, 95) - np.percentile(heights, 1) < 200.0


def test_canyon_has_cliffs_and_flats(canyon: World) -> None:
    slope = np.hypot(*np.gradient(canyon.terrain.heights.astype(float), canyon.terrain.spacing_m))
    assert (slope > 3.0).mean() > 0.01  # steeper than 70 degrees; measured 0.02
    assert (slope < 0.3).mean() > 0.3


def test_river_runs_below_its_banks_all_the_way(canyon: World) -> None:
    x = np.arange(canyon.terrain.low_m[0], canyon.terrain.high_m[0])
    y = canyon.river.centre(x)
    assert canyon.terrain.height(x, y).max() < canyon.river.level_m - 0.5
    for side in (-1.0, 1.0):
        bank = canyon.terrain.height(x, y + side * 60.0)
        assert bank.min() > canyon.river.level_m


def test_layers_are_within_their_ranges(canyon: World) -> None:
    layers = canyon.layers
    for field, low in ((layers.sky_visibility, 0.0), (layers.loose, 0.0), (layers.curvature, -1.0)):
        assert field.shape == canyon.terrain.heights.shape
        assert field.min() >= low
        assert field.max() <= 1.0
    open_ground = np.percentile(layers.sky_visibility, 90)
    river = canyon.terrain.sample(layers.sky_visibility, 700.0, float(canyon.river.centre(700.0)))
    assert open_ground > 0.95
    assert river < open_ground - 0.05


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_pads_are_level_dry_and_far_apart(seed: int) -> None:
    world = load_world("canyon", seed=seed)
    start, landing = world.pads
    assert np.linalg.norm(landing.centre_w - start.centre_w) > 1000.0
    angle, radius = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 40), np.linspace(0.0, 11.5, 12))
    for pad in world.pads:
        x = pad.centre_w[0] + radius * np.cos(angle)
        y = pad.centre_w[1] + radius * np.sin(angle)
        assert np.ptp(world.terrain.height(x, y)) == 0.0
        assert world.terrain.height(x, y).max() == pytest.approx(pad.centre_w[2], abs=1e-6)
        assert pad.centre_w[2] > world.river.level_m + 1.0
        # nothing stands in the way of a rotor around the pad
        x = pad.centre_w[0] + 1.6 * radius * np.cos(angle)
        y = pad.centre_w[1] + 1.6 * radius * np.sin(angle)
        assert world.terrain.height(x, y).max() < pad.centre_w[2] + 3.0


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_path_keeps_clear_of_the_walls(seed: int) -> None:
    world = load_world("canyon", seed=seed)
    path = world.path
    offsets = np.arange(-40.0, 40.5, 1.0)
    dx, dy = np.meshgrid(offsets, offsets)
    clearance = [
        np.sqrt(dx**2 + dy**2 + (np.maximum(world.terrain.height(x + dx, y + dy) - z, 0.0)) ** 2)[
            world.terrain.height(x + dx, y + dy) > z - 8.0
        ].min(initial=np.inf)
        for x, y, z in path
    ]
    assert min(clearance) > 3.0 * ROTOR_RADIUS_M  # of anything within 8 m below the hub or above it
    above = path[:, 2] - world.terrain.height(path[:, 0], path[:, 1])
    assert above.min() > 12.0


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_path_leads_smoothly_from_pad_to_pad(seed: int) -> None:
    world = load_world("canyon", seed=seed)
    path = world.path
    assert np.hypot(*(path[0] - world.pads[0].centre_w)[:2]) < 1.0
    assert np.hypot(*(path[-1] - world.pads[-1].centre_w)[:2]) < 1.0
    step = np.diff(path, axis=0)
    length = np.linalg.norm(step, axis=1)
    turn = np.abs(np.diff(world.path_heading_rad))
    assert (turn / length).max() < 1.0 / 60.0  # turns no tighter than 60 m
    assert np.abs(step[:, 2] / length).max() < 0.35


def test_plain_is_flat_and_has_pads_too() -> None:
    plain = load_world("plain")
    assert np.ptp(plain.terrain.heights) == 0.0
    assert plain.river is None
    np.testing.assert_allclose(plain.terrain.normal(3.0, 4.0), [0.0, 0.0, 1.0])
    assert plain.start_pose()[2, 3] == pytest.approx(1.4)


def test_ground_is_read_between_samples_linearly(canyon: World) -> None:
    t = canyon.terrain
    x0, y0 = t.low_m
    expected = t.heights[100:102, 200:202].mean()
    assert t.height(x0 + 200.5, y0 + 100.5) == pytest.approx(expected, abs=1e-4)
    assert t.height(x0 - 500.0, y0) == pytest.approx(t.heights[0, 0])


@pytest.mark.parametrize(
    "name, seed, said", [("moon", 7, "canyon, plain"), ("canyon", -1, "-1"), ("canyon", "x", "'x'")]
)
def test_bad_names_and_seeds_are_refused_in_one_line(name: str, seed: object, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        load_world(name, seed=seed)
    assert "\n" not in str(refused.value)


def test_unknown_pad_is_refused_naming_the_pads() -> None:
    with pytest.raises(InputError, match="start, landing"):
        load_world("plain").pad("roof")


def test_sky_is_seen_past_the_steepest_horizon_of_each_direction() -> None:
    """Row by row as it is made, against its definition cell by cell, to the edges and beyond."""
    rows, columns, spacing_m = 13, 29, 7.0
    heights = np.random.default_rng(3).normal(scale=20.0, size=(rows, columns)).astype(np.float32)
    reaches = [1.5 * 1.32**n for n in range(12) if 1.5 * 1.32**n < 190.0 / spacing_m]

    def seen(j: int, i: int, angle: float) -> float:
        places = [(int(j + np.sin(angle) * r), int(i + np.cos(angle) * r), r) for r in reaches]
        inside = [
            (b, a, r)
            for b, a, r in places
            if j + np.sin(angle) * r > -1.0 and i + np.cos(angle) * r > -1.0 and b < rows and a < columns
        ]
        slopes = [(heights[b, a] - heights[j, i]) / (r * spacing_m) for b, a, r in inside]
        return 1.0 / (1.0 + max(0.0, *slopes) ** 2) if slopes else 1.0

    angles = 2.0 * np.pi * np.arange(12) / 12 + 0.2
    wanted = [[np.mean([seen(j, i, angle) for angle in angles]) for i in range(columns)] for j in range(rows)]
    np.testing.assert_allclose(sky_visibility(heights, spacing_m), wanted, atol=3e-7)  # 6e-8 measured


@pytest.mark.parametrize("columns", [3, 8, 13])
def test_erosion_does_not_depend_on_where_the_ground_lies(columns: int) -> None:
    """Ground with some columns more before it is worn in the same way."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:90, 0:101]
    heights = 80.0 + 6.0 * np.sin(0.21 * x) * np.cos(0.17 * y) - 0.3 * x - 0.2 * y
    starts = 4.0 + rng.random((30, 2)) * [60.0, 50.0]
    ground, sediment = erode(heights, starts, 0.0)
    wider = np.pad(heights, ((0, 0), (columns, 0)), mode="edge")
    moved = erode(wider, starts + np.array([columns, 0.0]), 0.0)
    assert np.abs(ground - heights).max() > 0.1
    assert sediment.max() > 0.1
    for there, here in zip(moved, (ground, sediment), strict=True):
        np.testing.assert_allclose(there[:, columns:], here, atol=1e-4)  # 4e-6: last bits steer droplets
