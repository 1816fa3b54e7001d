"""Obstacles look like things, are as wide as their shape and stand where they belong."""

import numpy as np
import pytest

from assets.scripts.cars import KINDS, Cabin, glazing
from render.frame import DrawnVehicle
from render.passes.shadows import VehicleShadow, texture_from_world
from render.plan.view import obstacle_model
from sim.models.asset import load_asset, model_file
from sim.planner import task_of_scene
from sim.planner.task.task import LOOKS
from sim.scene import load_scene
from sim.shapes import Box, Cylinder
from sim.vehicle_config import config_named
from sim.world import World, load_world

MODELLED = sorted(set(LOOKS) - {"", "kerb", "shown"})
CARS = ("saloon", "estate", "van")
ROUND = sorted(set(MODELLED) - {*CARS, "ship"})


@pytest.fixture(scope="module")
def harbour() -> World:
    return load_world("harbour")


@pytest.mark.parametrize("look", ["", "kerb", "shown"])
def test_bare_shapes_have_no_model(look: str, harbour: World) -> None:
    assert obstacle_model(Cylinder((0.0, 0.0, 0.0), 1.0, look=look), harbour) is None


@pytest.mark.parametrize("look", ROUND)
def test_round_things_fill_the_radius_and_stay_within_it(look: str) -> None:
    asset = load_asset(model_file(look))
    reach = np.linalg.norm(asset.vertices[:, :2], axis=1).max()
    assert 0.85 < reach < 1.03


@pytest.mark.parametrize("name", CARS)
def test_a_parked_car_fills_its_box(name: str) -> None:
    asset = load_asset(model_file(name))
    low, high = asset.vertices[:, :3].min(axis=0), asset.vertices[:, :3].max(axis=0)
    np.testing.assert_allclose([low[0], high[0]], [-2.1, 2.1], atol=0.03)
    assert np.abs([low[1], high[1]]).max() < 0.96  # mirrors; the body 0.90
    assert abs(low[2]) < 0.01


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("name", CARS)
def test_seats_stand_behind_the_panes_of_a_parked_car(name: str, far: bool) -> None:
    """All of them above its belt and within its glass, whose far file has them too."""
    asset = load_asset(model_file(name, far=far))
    panes = asset.vertices[np.unique(asset.glass)]
    seats = asset.vertices[asset.vertices[:, 7].astype(int) == asset.looks.index("seat"), :3]
    assert asset.materials[asset.looks.index("pane"), 3, 3] < 0.6
    assert len(seats) > 0
    assert seats[:, 2].max() > 1.1
    assert (seats.max(axis=0) < panes[:, :3].max(axis=0)).all()


def test_a_ship_lies_within_the_boxes_that_plans_keep_clear_of() -> None:
    """In her own frame, below whose origin the deck's middle is: nothing that is drawn can be flown into unseen."""
    task = task_of_scene(load_scene("plan-deck-landing"))[1]
    deck = next(obstacle for obstacle in task.obstacles if obstacle.look == "ship")
    points = load_asset(model_file("ship")).vertices[:, :3] + [*deck.middle_w[:2], 0.0]
    boxes = [box for box in task.obstacles if isinstance(box, Box) and box.look in ("ship", "shown")]
    over = [(np.abs(points - box.centre_w) - box.half_m).max(axis=1) for box in boxes]
    outside = np.min(over, axis=0)
    assert outside[points[:, 2] > 0.0].max() < 1.01  # measured 0.53: a net and a rubbing strake
    assert outside[points[:, 2] > 3.02].max() < 0.03  # measured 0.020: a lamp at the edge


def test_a_buoy_floats_as_wide_as_its_obstacle_and_a_car_faces_along_its_box(harbour: World) -> None:
    buoy = obstacle_model(Cylinder((10.0, 4.0, 0.0), 1.5, "west", "buoy"), harbour)
    assert buoy is not None
    np.testing.assert_allclose(buoy.T_wb[:3, 3], [10.0, 4.0, harbour.water_level_m])
    np.testing.assert_allclose(np.linalg.norm(buoy.T_wb[:3, :3], axis=0), 1.5)
    car = obstacle_model(Box((3.0, 60.0, 0.0), (2.1, 0.9, 1.0), 0.4, "car", "saloon"), harbour)
    assert car is not None
    np.testing.assert_allclose(car.T_wb[:2, 0], [np.cos(0.4), np.sin(0.4)])


def test_the_shadow_map_is_not_stretched_by_what_stands_about(ctx, harbour: World) -> None:
    shadow = VehicleShadow(ctx, 64)
    still = [obstacle_model(Cylinder((x, 4.0, 0.0), 1.5, look="buoy"), harbour) for x in (10.0, 20.0)]
    flown = obstacle_model(Cylinder((0.0, 0.0, 0.0), 1.0, look="rock"), harbour)
    assert flown is not None
    assert all(still)
    flown = type(flown)(
        model="boat", T_wb=flown.T_wb, controls=np.zeros(2), shape=np.zeros(0), config=config_named("boat")
    )
    sun = np.array([0.0, 0.0, 1.0])
    near, about = shadow.fit((flown,), lambda v: (v.T_wb[:3, 3], 2.0), sun)
    span_m = shadow.span_m
    assert (near, about) == ((flown,), ())
    assert shadow.from_vehicles_to_still == (0.0, 0.0, 0.0, 0.0)
    near, about = shadow.fit((flown, *still), lambda v: (v.T_wb[:3, 3], 2.0), sun)
    assert shadow.span_m == span_m
    assert (near, about) == ((flown,), tuple(still))
    shadow.release()


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_about_lies_wholly_in_a_map_of_its_own(ctx, harbour: World, seed: int) -> None:
    """Whatever the sun: no shadow ends at the edge of a map, and one factor and shift lead from map to map."""
    rng = np.random.default_rng(seed)
    shadow = VehicleShadow(ctx, 64)
    made = [
        obstacle_model(Box((x, y, 0.0), (2.1, 0.9, 1.0), 0.4, "car", "saloon"), harbour)
        for x, y in rng.uniform(-30.0, 30.0, (5, 2))
    ]
    still = [model for model in made if model is not None]
    boat = type(still[0])(
        model="boat", T_wb=np.eye(4), controls=np.zeros(2), shape=np.zeros(0), config=config_named("boat")
    )
    sun = rng.normal(size=3) * [1.0, 1.0, 0.2] + [0.0, 0.0, 1.0]
    _, about = shadow.fit((boat, *still), lambda v: (v.T_wb[:3, 3], 2.5), sun / np.linalg.norm(sun))
    assert about == tuple(still)
    factor, *shift = shadow.from_vehicles_to_still
    for vehicle in about:
        ball = vehicle.T_wb[:3, 3] + 2.5 * np.concatenate([np.eye(3), -np.eye(3)])
        own = np.c_[ball, np.ones(6)] @ texture_from_world(shadow.view).T
        there = np.c_[ball, np.ones(6)] @ texture_from_world(shadow.still_view).T
        assert (there[:, :3] > 0.0).all()
        assert (there[:, :3] < 1.0).all()
        np.testing.assert_allclose(own[:, :3] * [factor, factor, 1.0] + shift, there[:, :3], atol=1e-12)
    shadow.release()


@pytest.mark.parametrize("seed", range(4))
def test_a_shadow_map_that_is_moved_along_shows_every_place_of_a_vehicle_where_it_is_drawn(
    ctx, seed: int
) -> None:
    """Which is in every other picture of a vehicle that hardly turns, and in none once it turns or has another sun."""
    rng, shadow = np.random.default_rng(seed), VehicleShadow(ctx, 256)
    sun = rng.normal(size=3) * [1.0, 1.0, 0.2] + [0.0, 0.0, 1.0]
    sun /= np.linalg.norm(sun)

    def boat(turned_rad: float) -> DrawnVehicle:
        T_wb = np.eye(4)
        T_wb[:2, :2] = [[np.cos(turned_rad), -np.sin(turned_rad)], [np.sin(turned_rad), np.cos(turned_rad)]]
        T_wb[:3, 3] = rng.uniform(-50.0, 50.0, 3)
        config = config_named("boat")
        return DrawnVehicle("boat", T_wb, np.zeros(2), np.zeros(0), time_s=0.0, config=config)

    def follow(vehicle: DrawnVehicle, direction_w: np.ndarray = sun) -> bool:
        return bool(shadow.follow((vehicle,), lambda v: (v.T_wb[:3, 3], 2.5), direction_w)[0])

    first, second = boat(0.3), boat(0.302)
    assert follow(first)
    drawn = shadow.view
    assert not follow(second)
    body = np.c_[rng.uniform(-1.4, 1.4, (50, 3)), np.ones(50)]
    there = body @ first.T_wb.T @ texture_from_world(drawn).T
    asked = body @ second.T_wb.T @ texture_from_world(shadow.view).T
    off_texels = np.abs(there - asked)[:, :2].max() * shadow.size_px
    assert off_texels < 2.0  # measured 0.2: the map has 21 mm a texel
    assert np.abs(there - asked)[:, 2].max() * shadow.depth_m < 0.02
    assert follow(boat(0.302)), "two pictures in a row are moved along"
    assert follow(boat(0.4)), "it turned"
    assert follow(boat(0.4), -sun), "another sun"
    shadow.fit((first,), lambda v: (v.T_wb[:3, 3], 2.5), -sun)
    assert not follow(first, -sun)
    shadow.release()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("post_half_m", [0.03, 0.055])
def test_panes_are_cut_by_what_jumps_nowhere(kind: Cabin, post_half_m: float) -> None:
    """Where it does, a cut follows the edges of triangles: the panes are ragged."""
    rng = np.random.default_rng(3)
    low, high = np.array([-2.1, -0.8, 0.85]), np.array([1.6, 0.8, 1.8])
    place = low + (high - low) * rng.random((20_000, 3))
    step = rng.normal(size=place.shape)
    step *= 1e-3 / np.linalg.norm(step, axis=1, keepdims=True)
    change = glazing(place + step, kind, post_half_m) - glazing(place, kind, post_half_m)
    assert np.abs(change).max() < 3e-3  # a slope of 3 at most
