"""Moving parts obey the kinematics of their vehicles."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import DrawnVehicle
from render.vehicles.rigs import rig_pose
from sim.models.asset import load_asset, model_file
from sim.multibody.declaration import WORLD
from sim.vehicle_config import VEHICLE_FOLDER, config_named, config_of
from sim.vehicle_config.model import turn
from sim.vehicles import known_vehicle
from sim.vehicles.heavy_top import HeavyTop

VEHICLE_FOLDERS = sorted(path.parent.name for path in VEHICLE_FOLDER.glob("*/vehicle.toml"))


def _vehicle(model: str, *, shape=(), controls=(), **changes) -> DrawnVehicle:
    return DrawnVehicle(
        model=model,
        T_wb=np.eye(4),
        shape=np.array(shape, float),
        controls=np.array(controls, float),
        **changes,
        config=config_named(model),
    )


def _pose(model: str, **changes):
    return rig_pose(_vehicle(model, **changes))


@pytest.mark.parametrize("model", VEHICLE_FOLDERS)
def test_every_part_that_a_rig_moves_or_hides_is_in_the_model(model):
    file = model_file(model)
    nodes = set(load_asset(file).nodes) if file.is_file() else set()  # what has no model moves nothing in it
    for changes in (
        {"shape": (0.3, 0.2), "controls": (0.1, 0.1, 0.1, 0.5), "time_s": 0.1},
        {"wreck": True},
    ):
        pose = _pose(model, **changes)
        assert set(pose.nodes) | pose.hidden <= nodes


@pytest.mark.parametrize("model", VEHICLE_FOLDERS)
def test_values_that_are_missing_or_not_finite_leave_finite_parts(model):
    for changes in ({}, {"shape": (np.nan, np.inf), "controls": (np.nan,) * 4, "time_s": 0.0}):
        for pose in _pose(model, **changes).nodes.values():
            assert np.isfinite(pose).all()


def test_wheels_roll_without_slip():
    radius, step = 0.32, 1e-6
    contact = np.array([0.0, 0.0, -radius, 1.0])
    before, after = (_pose("car", shape=(psi, 0.0)).nodes["wheel_rear_left"] @ contact for psi in (0.0, step))
    velocity_of_contact = (after - before)[:3] / step + [radius, 0.0, 0.0]
    assert np.allclose(velocity_of_contact, 0.0, atol=1e-5)


@pytest.mark.parametrize("sigma", [0.6, 0.1, -0.4])
def test_front_wheels_steer_about_one_centre_on_the_rear_axle(sigma):
    asset = load_asset(model_file("car"))
    pivots = dict(zip(asset.nodes, asset.pivots, strict=True))
    pose = _pose("car", shape=(0.0, sigma))
    wheelbase = pivots["wheel_front_left"][0] - pivots["wheel_rear_left"][0]
    centre = np.array([0.0, wheelbase / sigma])
    for name in ("wheel_front_left", "wheel_front_right"):
        rolling = pose.nodes[name][:2, 0]
        assert rolling @ (pivots[name][:2] - centre) == pytest.approx(0.0, abs=1e-9)


def test_a_longer_wheelbase_and_larger_wheels_move_the_drawn_ones():
    """The wheels stand on the ground at the axles that the mechanics has, and still steer about one centre."""
    asset = load_asset(model_file("car"))
    pivots = dict(zip(asset.nodes, asset.pivots, strict=True))
    wheelbase, radius, sigma = 3.1, 0.45, 0.4
    pose = _pose("car", shape=(0.2, sigma), parameters={"wheelbase": wheelbase, "wheel_radius": radius})
    for name, x in (("wheel_front_left", wheelbase), ("wheel_rear_right", 0.0)):
        centre = pivots[name] + pose.nodes[name][:3, 3]
        assert centre[0] == pytest.approx(x, abs=2e-3)
        assert centre[2] == pytest.approx(pivots[name][2] - 0.32 + radius, abs=1e-9)
        own = asset.vertices[asset.vertices[:, 8].astype(int) == asset.nodes.index(name), :3]
        reach = np.linalg.norm(own[:, [0, 2]], axis=1).max()
        assert np.linalg.norm(pose.nodes[name][:3, 0]) * reach == pytest.approx(radius, rel=0.02)
    place = pivots["wheel_front_left"][:2] + pose.nodes["wheel_front_left"][:2, 3]
    rolling = pose.nodes["wheel_front_left"][:2, :2] @ [np.cos(0.2), 0.0]
    assert abs(np.arctan2(rolling[1], rolling[0]) - np.arctan2(sigma, 1 - 0.75 * sigma / wheelbase)) < 1e-9
    assert place == pytest.approx([wheelbase, 0.75], abs=0.06)


@pytest.mark.parametrize(("gamma_p", "gamma_r"), [(0.2, 0.0), (0.0, -0.2), (0.15, 0.1)])
def test_the_rotor_disc_faces_along_the_thrust_of_its_tilt(gamma_p, gamma_r):
    """It leans one and a half times as far, so that the eye reads it."""
    (disc, _) = _pose("helicopter", controls=(1.0, 0.0, gamma_p, gamma_r), time_s=0.3).discs
    p, r = 1.5 * gamma_p, 1.5 * gamma_r
    assert np.allclose(
        disc.T_bd[:3, 2], [np.sin(p) * np.cos(r), -np.sin(r), np.cos(p) * np.cos(r)], atol=1e-12
    )


def test_snakeboard_axles_steer_against_each_other_and_the_torso_turns_with_the_rotor():
    pose = _pose("snakeboard", shape=(0.7, 0.3))
    angle = {name: np.arctan2(turn[1, 0], turn[0, 0]) for name, turn in pose.nodes.items()}
    assert angle["plate_back"] == pytest.approx(0.3)
    assert angle["plate_front"] == pytest.approx(-0.3)
    assert angle["torso"] == pytest.approx(0.7)


def test_a_leaning_disc_touches_the_ground_at_its_point_of_contact():
    lean = 0.4
    turn = _pose("rolling-disc", shape=(lean, 1.3)).nodes["disc"]
    assert np.allclose(turn @ [0, 0, 0, 1], [0, -0.5 * np.sin(lean), 0.5 * np.cos(lean), 1])
    axle = turn[:3, 1]
    assert axle[0] == pytest.approx(0.0, abs=1e-12)


def test_the_flame_burns_with_thrust_only():
    assert "flame" in _pose("spacecraft", controls=(0, 0, 0, 0.0)).hidden
    weak, strong = (_pose("spacecraft", controls=(0, 0, 0, t)).nodes["flame"][0, 0] for t in (0.2, 3.0))
    assert 0 < weak < strong


def test_models_stand_on_the_ground_of_a_planar_vehicle():
    for model in ("car", "snakeboard"):
        asset = load_asset(model_file(model))
        z = asset.vertices[:, 2] + asset.pivots[asset.vertices[:, 8].astype(int), 2]
        assert z.min() == pytest.approx(0.0, abs=0.015)


def test_a_tops_stand_stays_upright_on_its_point_however_the_top_turns():
    lean = turn("x", 0.9) @ turn("z", 2.1)
    lean[:3, 3] = 4.0, -2.0, 1.0
    vehicle = _vehicle("heavy-top")
    vehicle = DrawnVehicle(
        model="heavy-top",
        T_wb=lean,
        controls=vehicle.controls,
        shape=vehicle.shape,
        config=config_named("heavy-top"),
    )
    stand = lean @ rig_pose(vehicle).nodes["stand"]
    assert np.allclose(stand[:3, :3], np.eye(3), atol=1e-12)
    assert np.allclose(stand[:3, 3], lean[:3, 3])


def test_the_top_is_drawn_with_the_point_and_the_height_that_the_simulation_gives_it():
    asset = load_asset(model_file("heavy-top"))
    node = asset.vertices[:, 8].astype(int)
    top = asset.vertices[node == asset.nodes.index("top"), :3]
    stand = asset.vertices[node == asset.nodes.index("stand"), :3]
    assert top[:, 2].min() == pytest.approx(0.0, abs=1e-4)
    assert top[:, 2].max() == pytest.approx(config_named("heavy-top").trail.point_b[2], abs=1e-3)
    assert np.hypot(top[:, 0], top[:, 1]).max() == pytest.approx(0.251, abs=0.002)
    # The foot's rim lies on the ground; what is below it is for slopes.
    assert stand[np.abs(stand[:, 2] + HeavyTop.stand_m) < 0.02].size
    assert -HeavyTop.stand_m - 0.2 < stand[:, 2].min() < -HeavyTop.stand_m


@pytest.mark.parametrize("name", ["scara", "six-axis-arm", "pusher"])
def test_a_ghost_of_a_robot_moves_its_bodies_and_leaves_its_stand_where_it_is(name):
    """A ghost's stand went with its first body: a second block hung in the air."""
    vehicle = known_vehicle(name)
    bodies = {body: turn("z", 0.7) for body in vehicle.tree.names}
    first, nothing = bodies[vehicle.tree.names[0]], np.zeros(0)
    drawn = DrawnVehicle(name, first, nothing, nothing, config=config_of(vehicle), bodies=bodies)
    ghost = rig_pose(replace(drawn, ghost=True))
    assert ghost.hidden == {WORLD}
    assert WORLD not in rig_pose(drawn).hidden
    assert set(ghost.placed) == {geom.body for geom in vehicle.solids} - {WORLD}
