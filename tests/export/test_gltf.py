"""Binary glTF of motions: what independent readers find in it is what was flown."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from assets.scripts.build import recipes
from export.gltf import to_bytes
from export.ground import ground_under
from export.motion import LaneMotion, motion_of_trajectory
from export.nodes import nodes_of
from sim.models.asset import load_model
from sim.scene import load_scene
from sim.shapes import Cylinder
from sim.vehicle_config import config_named, named_values
from sim.vehicle_config.model import moved
from sim.vehicles import VEHICLES, enter_own
from sim.world import load_world
from tests.export.flights import helicopter_flight, motion_of
from tests.export.khronos import complaints, poses_in


def written(path: Path, *motions: LaneMotion, **scenery: object) -> Path:
    path.write_bytes(to_bytes(nodes_of(motions), title="test", **scenery))  # type: ignore[arg-type]
    return path


def test_every_model_of_the_project_passes_the_khronos_validator() -> None:
    models = [path for path in recipes() if path.suffix == ".glb"]
    assert len(models) > 20
    assert complaints(*models) == {}


def test_what_is_exported_of_every_vehicle_passes_the_khronos_validator(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{name}.glb", motion_of(name)) for name in sim.vehicles()]
    assert complaints(*files) == {}


def test_poses_of_all_bodies_are_those_that_were_flown(tmp_path: Path) -> None:
    flights = [motion_of_trajectory(helicopter_flight()), motion_of("pendulum"), motion_of("car")]
    file = written(tmp_path / "all.glb", *flights)
    asked = [0, 7, 50, 133, 199]
    found = poses_in(file, [float(np.float32(0.01 * k)) for k in asked], tmp_path)
    for motion in flights:
        for body, poses in motion.bodies.items():
            path = next(
                name
                for name in found
                if name.startswith(f"world/{motion.name}/") and name.endswith(f"/{body}")
            )
            # Measured: 2e-7, the rounding of quaternions; of places a kilometre off 1e-9.
            assert np.abs(found[path] - poses[asked]).max() < 1e-6, (motion.name, body)


def test_what_a_method_takes_off_the_rotations_is_written_by_the_nearest(tmp_path: Path) -> None:
    """Runge and Kutta on the six numbers of a rod leave the sphere: its axes end 0.012 off right angles."""
    vehicle = sim.vehicle("pendulum", links=2, mass=1.0, length=0.8)
    motion = motion_of_trajectory(sim.simulate(vehicle, "rk4", step=0.2, duration=6.0))
    file = written(tmp_path / "off.glb", motion)
    assert complaints(file) == {}
    asked = [0, 12, 30]
    found = poses_in(file, [float(np.float32(0.2 * k)) for k in asked], tmp_path)
    (path,) = (name for name in found if name.endswith("/bob_2"))
    for T, flown in zip(found[path], motion.bodies["bob_2"][asked], strict=True):
        assert np.abs(T[:3, 3] - flown[:3, 3]).max() < 1e-6
        left, _, right = np.linalg.svd(flown[:3, :3])
        turned = T[:3, :3] / np.linalg.norm(T[:3, :3], axis=0)
        assert np.abs(turned - left @ right).max() < 1e-3


def test_parts_turn_and_steer_as_the_config_says(tmp_path: Path) -> None:
    motion = motion_of("car")
    file = written(tmp_path / "car.glb", motion)
    k = 130
    found = poses_in(file, [float(np.float32(motion.time[k]))], tmp_path)
    values = named_values(
        sim.vehicle("car"), controls=motion.controls[k], shape=motion.shape[k], parameters=motion.parameters
    )
    parts = config_named("car").model.parts
    assert len(parts) == 3
    for part in parts:
        for name in part.nodes:
            path = next(each for each in found if each.endswith(f"/{name}"))
            rest = poses_in(file, [0.0], tmp_path)[path][0]
            local = np.linalg.inv(motion.main[k]) @ found[path][0]
            turned = moved(part.moves, values, float(motion.time[k]), motion.main[k], False)
            # The pivot is where the wheel rests less what its moves shift it by.
            first = moved(
                part.moves, named_values(sim.vehicle("car"), finite=True), 0.0, motion.main[0], False
            )
            pivot = (np.linalg.inv(motion.main[0]) @ rest)[:3, 3] - first[:3, 3]
            turned[:3, 3] += pivot
            # Measured: 4e-7.
            assert np.abs(local - turned).max() < 2e-6
    assert abs(motion.shape[k] - motion.shape[0]).max() > 0.1


def test_blades_turn_at_their_rate_however_far_apart_the_samples_are(tmp_path: Path) -> None:
    motion = motion_of_trajectory(helicopter_flight(2.0))
    coarse = replace(
        motion,
        time=motion.time[::10],
        bodies={name: poses[::10] for name, poses in motion.bodies.items()},
        controls=0.0 * motion.controls[::10],
        twist=motion.twist[::10],
        shape=motion.shape[::10],
        energy=motion.energy[::10],
        observables={},
        wreck=motion.wreck[::10],
    )
    file = written(tmp_path / "blades.glb", coarse)
    # Between two samples, a tenth of a second apart: the tail rotor turns three times and a half.
    times = [0.5, 0.503]
    found = poses_in(file, times, tmp_path)
    path = next(name for name in found if name.endswith("/tail_blades"))
    local = np.linalg.inv(found[path.rsplit("/", 1)[0]]) @ found[path]
    turn = local[0, :3, :3].T @ local[1, :3, :3]
    angle = np.arctan2(turn[0, 2], turn[0, 0])
    # Linear between keys 7 ms apart at the same rate: measured 1e-5.
    assert angle == pytest.approx(214.0 * 0.003, abs=1e-3)


def test_several_lanes_share_their_meshes_and_a_ghost_is_seen_through(tmp_path: Path) -> None:
    first = motion_of_trajectory(helicopter_flight(1.0), "flown")
    second = replace(
        motion_of_trajectory(helicopter_flight(1.0, "rk4"), "rk4"), ghost=True, tint=(0.2, 0.6, 1.0)
    )
    one = written(tmp_path / "one.glb", first)
    two = written(tmp_path / "two.glb", first, second)
    assert complaints(two) == {}
    assert two.stat().st_size < one.stat().st_size + 100_000
    found = poses_in(two, [0.0], tmp_path)
    assert not any(name.startswith("world/rk4") and name.endswith("/pilot") for name in found)
    assert any(name.startswith("world/flown") and name.endswith("/pilot") for name in found)


def test_land_under_the_motion_has_the_heights_of_the_world(tmp_path: Path) -> None:
    world = load_world("canyon", seed=7)
    vehicle = sim.vehicle("rigid-body")
    x, y, z = world.pads[0].centre_w
    flight = sim.simulate(vehicle, duration=1.0, initial=vehicle.state(x=(x, y, z + 30.0), v=(3.0, 4.0, 0.0)))
    motion = motion_of_trajectory(flight)
    ground = ground_under(world, [motion])
    file = written(tmp_path / "land.glb", motion, ground=ground)
    assert complaints(file) == {}
    land, water = ground.positions[: 192 * 192], ground.positions[-4:]
    assert ground.water == 2
    far = np.hypot(*(land[:, :2] - world.pads[0].centre_w[:2]).T) > 1.5 * (world.pads[0].radius_m + 1.5)
    assert np.abs(land[:, 2] - world.terrain.height(land[:, 0], land[:, 1]))[far].max() < 1e-9
    under = np.hypot(*(land[:, :2] - world.pads[0].centre_w[:2]).T) < world.pads[0].radius_m
    assert (land[under, 2] < world.pads[0].centre_w[2]).all()  # it is not seen through the slab
    assert (water[:, 2] == world.water_level_m).all()
    assert (land[:, 2] < world.water_level_m).any()
    assert (ground.normals[: 192 * 192, 2] > 0.0).all()
    slab = ground.positions[192 * 192 : -4] - world.pads[0].centre_w
    top = slab[(np.abs(slab[:, 2]) < 1e-3)]
    reach = np.hypot(top[:, 0], top[:, 1])
    assert reach.max() == pytest.approx(np.sqrt(2.0) * (world.pads[0].radius_m - 0.12), abs=1e-4)  # f4


def test_what_stands_on_the_ground_goes_along_with_it() -> None:
    world = load_world("harbour", seed=7)
    mast, motion = Cylinder((12.3, -4.5, 6.0), 0.7), motion_of("boat")
    ground = ground_under(world, [motion], [mast])
    foot_m = float(world.surface_m(12.3, -4.5)) - 1.0
    points, normals, faces = mast.between(foot_m, motion.main[:, 2, 3].max() + 6.0).surface()
    assert ground.water == 2  # its four corners come last
    np.testing.assert_allclose(ground.positions[-len(points) - 4 : -4], points)
    np.testing.assert_allclose(ground.normals[-len(points) - 4 : -4], normals)
    np.testing.assert_array_equal(
        ground.triangles[-len(faces) - 2 : -2], faces + len(ground.positions) - len(points) - 4
    )
    assert world.grounds is not None
    tops = [block.height_m for block in world.grounds.blocks if np.abs(block.centre_m).max() < 40.0]
    assert tops
    assert np.isclose(ground.positions[:, 2][:, None], tops, atol=1e-6).any(axis=0).all()


def test_a_minute_of_flight_is_written_whole_and_small(tmp_path: Path) -> None:
    motion = motion_of_trajectory(helicopter_flight(60.0))
    thinned = replace(
        motion,
        time=motion.time[::3],
        bodies={name: poses[::3] for name, poses in motion.bodies.items()},
        controls=motion.controls[::3],
        twist=motion.twist[::3],
        shape=motion.shape[::3],
        energy=motion.energy[::3],
        observables={name: column[::3] for name, column in motion.observables.items()},
        wreck=motion.wreck[::3],
    )
    begun = time.perf_counter()
    file = written(tmp_path / "minute.glb", thinned)
    print(f"{file.stat().st_size / 1e6:.2f} MB in {time.perf_counter() - begun:.2f} s")
    # Measured: see the line printed; most of it is the model.
    assert file.stat().st_size < 5_000_000


def test_what_stands_still_of_a_robot_stands_at_its_pivot_while_its_bodies_move() -> None:
    vehicle = load_scene("robot").vehicle.with_parameters(turn_target=1.0)
    flown = motion_of_trajectory(sim.simulate(vehicle, "riqn", step=0.01, duration=0.4))
    nodes = nodes_of([replace(flown, pivot_w=(1.0, 2.0, 0.5))])
    (stand,) = (k for k, node in enumerate(nodes) if node.name == "stand")
    (lane,) = (node for node in nodes if node.parent is None)
    np.testing.assert_allclose(np.add(lane.at_m, nodes[stand].at_m), [1.0, 2.0, 0.5], atol=1e-9)
    assert nodes[stand].track is None
    shown = {node.name: nodes[node.parent].name for node in nodes if node.asset is not None}
    assert shown["world"] == "stand"
    assert {body for node, body in shown.items() if node != "world"} == set(vehicle.tree.names)


def test_what_a_body_looks_like_goes_along_with_it() -> None:
    carried = motion_of("quadrotors-with-load", 0.2)
    nodes = nodes_of([carried])
    shown = [(node.name, nodes[node.parent].name) for node in nodes if node.asset is not None]
    wearers = [name for name in carried.bodies if name.startswith("quadrotor")]
    worn = set(load_model("quadrotor").nodes)
    assert wearers
    for wearer in wearers:
        assert worn <= {name for name, parent in shown if parent == wearer}
    assert ("load link", "load") in shown
    assert "box" not in dict(shown)


def test_a_vehicle_of_ones_own_wears_another_ones_model(tmp_path: Path) -> None:
    """As its folder says: the model turns with the body that wears it, and no box stands in for anything."""
    folder = tmp_path / "my_raft"
    folder.mkdir()
    (folder / "vehicle.py").write_text(
        "from sim.vehicles.boat import Boat\n\n\nclass Raft(Boat):\n    name = 'raft'\n"
    )
    (folder / "vehicle.toml").write_text('[model]\nwears = { body = "boat" }\n')
    try:
        enter_own(f"{folder}/")
        flown = replace(motion_of("boat", 0.2), vehicle="raft", config=config_named("raft"))
        nodes = nodes_of([flown])
    finally:
        VEHICLES.pop("raft", None)
    shown = [(node.name, nodes[node.parent].name) for node in nodes if node.asset is not None]
    assert sorted(shown) == sorted((name, "body") for name in load_model("boat").nodes)


def test_links_of_a_tree_reach_from_end_to_end() -> None:
    motion = motion_of("chain", 0.2)
    nodes = nodes_of([motion])
    links = [link for link in motion.links if link.body in motion.bodies and link.length_m > 0.05]
    assert len(links) > 2
    for link in links:
        (shown,) = (node for node in nodes if node.name == f"{link.body} link")
        assert nodes[shown.parent].name == link.body  # type: ignore[index]
        assert shown.asset is not None
        places = shown.asset.vertices[:, :3].astype(float)
        begin, end = np.array(link.begin_b), np.array(link.end_b)
        along = (end - begin) / link.length_m
        reach = (places - begin) @ along
        assert reach.max() == pytest.approx(link.length_m + link.radius_m, abs=1e-5)
        off = np.linalg.norm(places - begin - reach[:, None] * along, axis=1)
        assert off[reach > link.length_m].max() <= link.radius_m + 1e-5
    assert len({id(node.asset) for node in nodes if node.asset is not None}) < len(links)
