"""Laws of the driving ground and the plaza: level, deterministic, and free where one drives."""

from dataclasses import replace

import numpy as np
import pytest

from sim.groups.numeric import heading_of
from sim.recordings.take import LaneStatus
from sim.scene import Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.placing import placement
from sim.vehicle_config import config_of
from sim.vehicle_config.terms import named_values
from sim.vehicles import vehicle
from sim.world import load_world
from sim.world.hall import grow_desert, hall_grounds
from sim.world.level_grounds import OPEN_RADIUS_M, curvature, driving_grounds, plaza_grounds
from sim.world.path import arc_length
from sim.world.props import CONE_RADIUS_M, Block
from tests.sim.simulation_scenes import fly

CAR_HALF_WIDTH_M = 1.0
CAR_TURN_M = 2.4 / 0.62
"""Tightest circle of the rear axle."""


@pytest.fixture(scope="module")
def lap() -> np.ndarray:
    return driving_grounds().lap


def inside(points: np.ndarray, block: Block, margin_m: float) -> np.ndarray:
    c, s = np.cos(block.heading_rad), np.sin(block.heading_rad)
    local = (points - block.centre_m) @ np.array([[c, -s], [s, c]])
    return (np.abs(local) < np.array(block.half_m) + margin_m).all(axis=1)


@pytest.mark.parametrize("name", ["driving", "plaza", "hall", "street", "underpass"])
def test_the_ground_is_exactly_level_where_vehicles_drive(name: str) -> None:
    world = load_world(name, seed=7)
    half_x, half_y = world.grounds.half_m
    x, y = np.meshgrid(np.linspace(-half_x, half_x, 53), np.linspace(-half_y, half_y, 37))
    assert not world.terrain.height(x, y).any()
    np.testing.assert_array_equal(world.terrain.normal(0.9 * x, 0.9 * y)[..., 2], 1.0)


def test_the_lake_is_deep_where_boats_go_and_dry_at_its_borders() -> None:
    world = load_world("harbour", seed=7)
    lake = world.grounds.lake
    x, y = np.meshgrid(np.linspace(-12.0, 45.0, 40), np.linspace(-24.0, 21.0, 40))
    assert (world.terrain.height(x, y) < lake.level_m - 2.0).all()
    far = 12.0
    around = [(s * (lake.half_m[0] + far), t * lake.half_m[1]) for s in (-1, 1) for t in (-1, -0.3, 0.4, 1)]
    around += [(t * lake.half_m[0], s * (lake.half_m[1] + far)) for s in (-1, 1) for t in (-1, -0.3, 0.4, 1)]
    shore = np.array(around) + lake.centre_m
    assert (world.terrain.height(*shore.T) > lake.level_m + 0.5).all()
    assert world.water_level_m == lake.level_m
    assert (world.surface_m(x, y) == lake.level_m).all()


def test_what_is_parked_stands_on_its_ground_and_boats_float() -> None:
    for name in ("street", "harbour"):
        world = load_world(name, seed=7)
        assert world.grounds.parked
        for parked in world.grounds.parked:
            x, y, z = parked.position_w
            assert z == pytest.approx(float(world.surface_m(x, y)), abs=1e-6)


def test_a_seed_gives_the_same_desert_byte_for_byte_and_another_seed_another() -> None:
    grounds = plaza_grounds()
    first, again, other = (grow_desert(grounds, seed)[0].heights for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_mesas_stand_around_the_level_ground() -> None:
    assert load_world("driving", seed=7).terrain.heights.max() > 40.0


def test_the_lap_is_closed_level_and_wide_enough_for_the_car(lap: np.ndarray) -> None:
    grounds = driving_grounds()
    np.testing.assert_allclose(lap[0], lap[-1], atol=1e-9)
    assert 300.0 < arc_length(lap)[-1] < 600.0
    assert np.abs(lap).max(axis=0)[0] < grounds.half_m[0] - 10.0
    assert np.abs(lap).max(axis=0)[1] < grounds.half_m[1] - 10.0
    assert grounds.lap_half_width_m > CAR_HALF_WIDTH_M + 1.5


def test_every_bend_is_wider_than_the_cars_turning_circle(lap: np.ndarray) -> None:
    assert 1.0 / np.abs(curvature(lap)).max() > 2.0 * CAR_TURN_M


def test_cones_stand_beside_the_lap_and_never_on_it(lap: np.ndarray) -> None:
    grounds = driving_grounds()
    away = np.linalg.norm(grounds.cones[:, None] - lap[None], axis=-1).min(axis=1)
    assert away.min() > grounds.lap_half_width_m + CONE_RADIUS_M - 0.05
    assert away.max() < grounds.lap_half_width_m + 1.0
    assert len(grounds.cones) > 60


def test_nothing_solid_stands_on_the_lap_and_the_tunnel_lies_over_it(lap: np.ndarray) -> None:
    grounds = driving_grounds()
    (tunnel,) = grounds.tunnels
    for block in (*grounds.blocks, *tunnel.walls):
        assert not inside(lap, block, grounds.lap_half_width_m - 0.05).any()
    way = Block(tunnel.centre_m, (0.5 * tunnel.length_m, 1.0), 1.0, tunnel.heading_rad)
    under = lap[inside(lap, way, 0.0)]
    assert len(under) >= 2 * tunnel.length_m - 2


def test_every_bay_takes_the_car_and_is_clear() -> None:
    grounds = driving_grounds()
    assert len(grounds.bays) >= 5
    for bay in grounds.bays:
        assert bay.half_m[0] > 1.9
        assert bay.half_m[1] > CAR_HALF_WIDTH_M
        centre = np.array([bay.centre_m])
        assert not any(inside(centre, block, CAR_HALF_WIDTH_M).any() for block in grounds.blocks)


def test_the_middle_of_the_hall_is_free() -> None:
    x, y = np.meshgrid(np.linspace(-17.0, 17.0, 69), np.linspace(-9.0, 9.0, 37))
    places = np.column_stack([x.ravel(), y.ravel()])
    for block in hall_grounds().blocks:
        assert not inside(places, block, 0.0).any()


def test_the_middle_of_the_plaza_is_free() -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 64)
    for radius in np.linspace(0.0, OPEN_RADIUS_M, 10):
        ring = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        assert not any(inside(ring, block, 0.0).any() for block in plaza_grounds().blocks)


@pytest.mark.parametrize("name", ["harbour", "canyon"])
def test_a_boat_lies_on_the_water_and_a_car_stands_on_the_bed(name: str) -> None:
    world = load_world(name, seed=7)
    x = 300.0 if world.river is not None else 5.0
    y = float(world.river.centre(x)) if world.river is not None else -3.0
    boat, car = vehicle("boat"), vehicle("car")
    afloat = placement(boat, boat.state(theta=0.3, x=x, y=y).node, world).T_wb
    assert afloat[2, 3] == world.water_level_m
    np.testing.assert_allclose(afloat[:3, 2], [0.0, 0.0, 1.0], atol=1e-12)
    assert placement(car, car.state(theta=0.3, x=x, y=y).node, world).T_wb[2, 3] < world.water_level_m - 0.5


@pytest.mark.parametrize(("name", "ends"), [("plaza", True), ("plain", False)])
def test_what_moves_in_a_plane_ends_where_the_map_does_and_the_land_goes_on(name: str, ends: bool) -> None:
    """Past it the land that is drawn is up to tens of metres above the ground that is known; a plain goes on level."""
    ground = load_world(name, seed=7)
    edge_m = ground.terrain.high_m[0]
    start = Start(position_w=(edge_m - 5.0, 0.0, 0.0))
    scene = replace(load_scene("drive"), world=name, start=start, goals=())
    running = Simulation(scene, ground)
    assert fly(running, 0.5).status is LaneStatus.RUNNING
    lane = fly(running, 8.0, pitch=1.0)
    assert (lane.status is LaneStatus.OFF_MAP) == ends
    assert ("the map ends" in lane.status_text) == ends
    assert (lane.T_wb[0, 3] < edge_m + 0.5) == ends


@pytest.mark.parametrize(("name", "wheels"), [("car", 4), ("snakeboard", 2)])
def test_wheels_stand_on_dunes_and_not_in_them(name: str, wheels: int) -> None:
    """Laid by the slope under its origin alone, a car's wheels are 0.13 m deep at one place of twenty."""
    world, driven = load_world("driving", seed=7), vehicle(name)
    terrain, rng = world.terrain, np.random.default_rng(5)
    tracks = config_of(driven).tracks
    assert tracks is not None
    values = named_values(driven, parameters=driven.values)
    wheels_b = np.array([(x.value(values), y.value(values), 0.0) for x, y in tracks.wheels])
    assert len(wheels_b) == wheels
    x, y = rng.uniform(150.0, 330.0, 400), rng.uniform(-220.0, 220.0, 400)
    for at_x, at_y, heading in zip(x, y, rng.uniform(-np.pi, np.pi, 400), strict=True):
        T_wb = placement(driven, driven.state(theta=heading, x=at_x, y=at_y).node, world).T_wb
        at = wheels_b @ T_wb[:3, :3].T + T_wb[:3, 3]
        above = at[:, 2] - terrain.height(at[:, 0], at[:, 1])
        assert above.min() > -1e-9
        assert above.min() < 1e-9
        assert heading_of(T_wb[:3, :3]) == pytest.approx(heading, abs=1e-9)
        np.testing.assert_allclose(T_wb[:2, 3], (at_x, at_y), atol=1e-12)


def test_on_level_ground_nothing_is_fitted() -> None:
    world, car = load_world("driving", seed=7), vehicle("car")
    T_wb = placement(car, car.state(theta=0.3, x=20.0, y=-10.0).node, world).T_wb
    np.testing.assert_array_equal(T_wb[2], [0.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize("at_m", [105.0, 140.0, 170.0, 300.0, 360.0])
def test_a_car_that_leaves_a_bend_is_held_by_its_rail(lap: np.ndarray, at_m: float) -> None:
    """Square to the road it would be 25 m beyond its middle; the rail is at 6.2 m, its middle a car's front before."""
    at = int(np.searchsorted(arc_length(lap), at_m))
    ahead = lap[at + 1] - lap[at - 1]
    out = np.array([ahead[1], -ahead[0]]) / np.linalg.norm(ahead)
    x, y = lap[at]
    start = Start(position_w=(x, y, 0.0), heading_rad=float(np.arctan2(out[1], out[0])))
    running = Simulation(replace(load_scene("drive"), start=start, goals=()), load_world("driving", seed=7))
    gone = max(float((fly(running, 0.1, pitch=1.0).T_wb[:2, 3] - lap[at]) @ out) for _ in range(50))
    assert 2.0 < gone < 6.3


def test_only_the_lap_leads_into_the_tunnel_and_what_joins_it_ends_on_its_asphalt() -> None:
    """Edges of all other paving, a point every tenth of a metre, against the tunnel's walls and the lap's middle."""
    grounds = driving_grounds()
    (tunnel,), (lap, *others) = grounds.tunnels, grounds.paving
    for paving in others:
        (x0, y0), (x1, y1) = paving.points
        count = int(10.0 * np.hypot(x1 - x0, y1 - y0))
        middle = paving.points[0] + np.linspace(0.0, 1.0, count)[:, None] * (
            paving.points[1] - paving.points[0]
        )
        across = paving.half_width_m * np.array([y0 - y1, x1 - x0]) / np.hypot(x1 - x0, y1 - y0)
        for edge in (middle - across, middle + across):
            off = np.abs(edge - tunnel.centre_m)
            within = (off[:, 0] < 0.5 * tunnel.length_m) & (off[:, 1] < tunnel.half_width_m + 0.6)
            assert not within.any()
    nearest = [np.hypot(*(lap.points - paving.points[1]).T).min() for paving in others]
    assert 0.0 < lap.half_width_m - min(nearest) < 0.6  # m of overlap; measured 0.4
