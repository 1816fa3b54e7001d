"""What is drawn of a vehicle stays within the balls that plans keep clear of obstacles, however its parts move."""

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import casadi as ca
import numpy as np
import pytest

import sim
from render.frame import DrawnVehicle
from render.vehicles.rigs import rig_pose
from sim.models.asset import box_asset, cart_asset, has_model, load_model, on_wheels
from sim.models.solids import FINISHES
from sim.planner import plan, task_of_scene
from sim.planner.task.bodies import planar
from sim.planner.task.cover import cover, covered_solids, fitted_balls
from sim.planner.task.task import Ball
from sim.scene import load_scene, scene_names
from sim.vehicle_config import config_named
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.form import TREES, Form

EXAMPLE = Path(sim.__file__).resolve().parents[1] / "examples" / "trike"
SKIDS = "plan-helicopter-landing"
"""Comes down on skids, where the ball of its rotor would not let it; there is nothing else in its way."""
DECK = "plan-deck-landing"
"""Comes down on skids beside a bridge: its balls are its scene's, and leave out what stands; its rotor is level."""
SKIDS_M = -0.9
"""Height in the body's frame below which a helicopter is skids."""
PLANNED = [name for name in scene_names() if name not in (SKIDS, DECK) and load_scene(name).plan is not None]
OVER_ROCK = ("plan-canyon", "plan-helicopter-canyon")
SAMPLES = 16


@pytest.fixture
def trike(tmp_path: Path) -> Iterator[Path]:
    shutil.copytree(EXAMPLE, tmp_path / "trike")
    yield tmp_path / "trike"
    VEHICLES.pop("trike", None)


def outside_m(points: np.ndarray, balls: np.ndarray, flat: bool) -> float:
    """How far the farthest of points (n, 3) is from the nearest of balls (k, 4); on a plane, seen from above."""
    seen = 2 if flat else 3
    axes, nearest = np.ascontiguousarray(points[:, :seen].T), np.full(len(points), np.inf)
    for ball in balls:
        square = sum((x - at) ** 2 for x, at in zip(axes, ball[:seen], strict=True))
        np.minimum(nearest, np.sqrt(square) - ball[3], out=nearest)
    return float(nearest.max())


def bodies_b(vehicle: Vehicle, shape: np.ndarray) -> dict[str, np.ndarray]:
    """Body -> (4, 4) with the main body at the origin."""
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    state = vehicle.state().node.copy()
    state[vehicle.node_layout.shape] = shape
    named = vehicle.bodies(node, vehicle.symbols(p))
    found = ca.Function("bodies", [node, p], list(named.values()))(state, vehicle.parameter_vector)
    return {name: np.array(T) for name, T in zip(named, found if len(named) > 1 else [found], strict=True)}


def shape_at_random(vehicle: Vehicle, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.uniform(max(r.low, -20.0), min(r.high, 20.0)) for r in vehicle.shape_coordinates])


def balls_b(vehicle: Vehicle, balls: tuple[Ball, ...], bodies: tuple[str, ...], seed: int) -> np.ndarray:
    """(k, 4) in the main body's frame, with its parts where `drawn_points` has them."""
    found = np.array(balls)
    if bodies:
        T = bodies_b(vehicle, shape_at_random(vehicle, np.random.default_rng(seed)))
        found[:, :3] = [T[of][:3, :3] @ x + T[of][:3, 3] for of, x in zip(bodies, found[:, :3], strict=True)]
    return found


def drawn_points(
    vehicle: Vehicle, seed: int, limits: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> np.ndarray:
    """(n, 3) of all that pictures show of it but flames, in the main body's frame, with its parts anywhere.

    limits: of controls by name, in place of the vehicle's own.
    """
    rng = np.random.default_rng(seed)
    shape = shape_at_random(vehicle, rng)
    ranges = [limits.get(c.name, (c.low, c.high)) for c in vehicle.controls]
    controls = np.array([rng.choice([low, rng.uniform(low, high), high]) for low, high in ranges])
    seen = DrawnVehicle(
        model=vehicle.name,
        T_wb=np.eye(4),
        shape=shape,
        controls=controls,
        time_s=float(rng.uniform(0.0, 3.0)),
        bodies=bodies_b(vehicle, shape),
        config=config_named(vehicle.name),
    )
    pose = rig_pose(seen)
    if has_model(vehicle.name):
        asset = load_model(vehicle.name)
    else:
        half_m = config_named(vehicle.name).model.box_half_m
        asset = cart_asset() if on_wheels(vehicle.name) else box_asset(half_m)
    found = [np.zeros((0, 3))]
    for number, name in enumerate(asset.nodes):
        own = asset.vertices[asset.vertices[:, 8] == number]
        solid = asset.materials[own[:, 7].astype(int), 2, 3] != FINISHES.index("flame")
        T = pose.placed.get(name)
        if T is None:
            T = pose.nodes.get(name, np.eye(4)).copy()
            T[:3, 3] += asset.pivots[number]
        found.append(own[solid, :3] @ T[:3, :3].T + T[:3, 3])
    angles = np.linspace(0.0, 2.0 * np.pi, 100)
    for disc in pose.discs:
        rim = disc.rotor.radius_m * np.column_stack(
            [
                np.cos(disc.rotor.coning_rad) * np.cos(angles),
                np.cos(disc.rotor.coning_rad) * np.sin(angles),
                np.full(100, np.sin(disc.rotor.coning_rad)),
            ]
        )
        found.append(rim @ disc.T_bd[:3, :3].T + disc.T_bd[:3, 3])
    return np.concatenate(found)


@pytest.mark.parametrize("name", OVER_ROCK)
def test_rock_is_grown_by_no_more_than_the_ball_around_all_that_flies_over_it(name: str) -> None:
    """About its own middle, which plans hold over the rock: about the vehicle's origin 0.8 m more are needed."""
    vehicle, task = task_of_scene(load_scene(name))
    ground = task.ground
    assert ground is not None
    radius_m = ground.margin_m - task.clearance_m
    for seed in range(SAMPLES):
        assert outside_m(drawn_points(vehicle, seed), np.array([[*ground.held_b, radius_m]]), False) <= 0.0
    assert radius_m == pytest.approx(max(ball[3] for ball in cover(vehicle).balls))


@pytest.mark.parametrize("name", sim.vehicles())
def test_all_that_is_drawn_of_a_vehicle_is_within_its_balls(name: str) -> None:
    vehicle = sim.vehicle(name)
    found = cover(vehicle)
    balls = np.array(found.balls)
    if vehicle.form in TREES or vehicle.form is Form.GROUP_ACTION:
        of = np.array(found.bodies)
        for body, triangles in covered_solids(vehicle).items():
            assert outside_m(triangles.reshape(-1, 3), balls[of == body], False) <= 0.0
            look = config_named(name).model.look_of(body)
            for seed in range(SAMPLES) if look is not None else ():
                assert outside_m(drawn_points(sim.vehicle(look), seed), balls[of == body], False) <= 0.0
    else:
        assert max(Counter(found.bodies or ("",) * len(balls)).values()) <= 4  # of each body
        for seed in range(SAMPLES):
            placed = balls_b(vehicle, found.balls, found.bodies, seed)
            assert outside_m(drawn_points(vehicle, seed), placed, planar(vehicle)) <= 0.0


def test_a_vehicle_of_ones_own_is_covered_by_its_model(trike: Path) -> None:
    vehicle, task = task_of_scene(load_scene(trike, trusted=True))
    assert task.body == cover(vehicle).balls
    for seed in range(SAMPLES):
        placed = balls_b(vehicle, task.body, task.bodies, seed)
        assert outside_m(drawn_points(vehicle, seed), placed, True) <= 0.0


def test_balls_follow_the_parameters(trike: Path) -> None:
    load_scene(trike, trusted=True)
    longer = sim.vehicle("trike", wheelbase=2.0)
    for seed in range(SAMPLES):
        placed = balls_b(longer, cover(longer).balls, cover(longer).bodies, seed)
        assert outside_m(drawn_points(longer, seed), placed, True) <= 0.0


def test_a_part_that_moves_without_bounds_is_left_out_and_said(
    trike: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = trike / "vehicle.toml"
    text = file.read_text().replace('body = "fork"', 'moves = [{ shift = ["psi", 0.0, 0.0] }]')
    file.write_text(text)
    with caplog.at_level(logging.WARNING):
        _, task = task_of_scene(load_scene(trike, trusted=True))
    (said,) = [record.getMessage() for record in caplog.records]
    assert "trike" in said
    assert "fork" in said
    assert "\n" not in said
    assert len(task.body) > 1


@pytest.mark.parametrize("name", PLANNED)
def test_scenes_plan_for_what_is_drawn(name: str) -> None:
    vehicle, task = task_of_scene(load_scene(name))
    assert task.body == cover(vehicle).balls


def test_what_lands_beside_a_bridge_is_covered_down_to_its_skids() -> None:
    vehicle, task = task_of_scene(load_scene(DECK))
    assert min(z - radius for _, _, z, radius in task.body) > -1.4  # the deck's height below it
    for seed in range(SAMPLES):
        points = drawn_points(vehicle, seed, {c.name: (0.0, 0.0) for c in vehicle.controls})
        assert outside_m(points[points[:, 2] > SKIDS_M], np.array(task.body), False) <= 0.0


def test_the_blades_of_the_quadrotor_pass_between_the_gates_posts() -> None:
    vehicle, task = task_of_scene(load_scene("plan-quadrotor-gates"))
    found = plan(vehicle, task, starts=1)
    rim = drawn_points(vehicle, 0)
    for T in found.trajectory.pose:
        places = rim @ T[:3, :3].T + T[:3, 3]
        for post in task.obstacles:
            assert np.linalg.norm(places[:, :2] - post.centre_w[:2], axis=1).min() > post.radius_m


@pytest.mark.parametrize("size_m", [0.2, 30.0, 3000.0])
def test_balls_hold_triangles_of_any_size(size_m: float) -> None:
    """From a toy to an asteroid."""
    points = np.random.default_rng(5).uniform(-0.5, 0.5, (200, 3, 3)) * (size_m, 0.7 * size_m, 0.4 * size_m)
    balls = np.array(fitted_balls(points))
    inside = np.linalg.norm(points[:, :, None] - balls[:, :3], axis=3) <= balls[:, 3] + 1e-9
    assert inside.any(axis=2).all()
