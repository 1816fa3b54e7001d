"""The guide's folder, which stands in examples/, done exactly as it is printed."""

import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import app
import sim
from assets.scripts.build import vehicle_recipes
from render.frame import View
from render.plan.view import _bodies_w
from render.vehicles.rigs import rig_pose
from render.vehicles.scene_view import SceneView
from sim.commands import PilotInput, RenewVehicle, SetPilotInput
from sim.contact.ground import GroundContact
from sim.models.asset import check_model, load_asset
from sim.planner.api import task_of_scene
from sim.planner.service.jobs import Built, PlanJob
from sim.planner.service.worker import PlanWorker
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.placing import Footing, placement
from sim.simulation.runs.scene_setup import start_node
from sim.vehicle_config import VEHICLE_FOLDER, config_named
from sim.vehicle_config.registry import own_program, renewal
from sim.vehicles import VEHICLES
from sim.world import load_world
from tests.app.program import run_app
from ui.features.vehicle import EVERY_S, OwnVehicle
from ui.input.keymap import keymap_of

ROOT = Path(app.__file__).resolve().parent
EXAMPLE = ROOT / "examples" / "trike"
GUIDE = (ROOT / "docs" / "your-own-vehicle.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("\n## As a folder\n")[2].partition("\n## ")[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example under the name that the guide gives it, in the current folder."""
    shutil.copytree(EXAMPLE, tmp_path / "my_vehicle")
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "my_vehicle"
    VEHICLES.pop("trike", None)


def test_the_example_is_what_the_guide_prints() -> None:
    declaration = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)[0]
    imported, bodies = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
    first = "from sim.vehicles import"
    assert (EXAMPLE / "vehicle.py").read_text() == declaration.replace(
        first, imported + first
    ) + "\n" + bodies
    config, scene = re.findall(r"```toml\n(.*?)```", SECTION, flags=re.DOTALL)
    assert (EXAMPLE / "vehicle.toml").read_text(encoding="utf-8") == config
    assert (EXAMPLE / "scene.toml").read_text(encoding="utf-8") == scene


def test_the_examples_model_is_what_its_script_makes() -> None:
    for path, recipe in vehicle_recipes(EXAMPLE).items():
        assert path.read_bytes() == recipe()


@pytest.mark.parametrize("name", sorted(path.name for path in VEHICLE_FOLDER.iterdir() if path.is_dir()))
def test_every_part_that_a_folder_names_is_in_its_model(name: str) -> None:
    check_model(config_named(name))


def test_it_runs_and_plans_from_the_command_line(folder: Path) -> None:
    """The two commands of the guide."""
    commands = re.findall(r"^    \./run (my_vehicle/.*)$", SECTION, flags=re.MULTILINE)
    assert commands == ["my_vehicle/", "my_vehicle/ --headless --plan --csv planned.csv"]
    done = run_app(*commands[1].split(), "--trust")
    assert done.returncode == 0, done.stderr
    assert "Solved" in done.stdout
    x, y = map(float, (Path("planned.csv").read_text().splitlines()[-1]).split(",")[5:7])
    assert np.hypot(x + 10.0, y - 13.5) < 0.1
    done = run_app("my_vehicle/", "--headless", "--seconds", "0.5", "--csv", "flown.csv")
    assert done.returncode == 0, done.stderr
    assert ",trike,variational," in Path("flown.csv").read_text()


def test_its_keys_and_words_are_its_own(folder: Path) -> None:
    load_scene(folder, trusted=True)
    assert keymap_of("trike").summary()[:2] == [("W S", "pedal"), ("A D", "fork")]


def test_its_nodes_stand_where_its_bodies_are(folder: Path) -> None:
    """In flight, with a longer wheelbase and larger wheels: each pivot at its body's origin, wheels of the radius."""
    scene = load_scene(folder, trusted=True)
    simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
    for name, value in (("wheelbase", 1.4), ("wheel_radius", 0.4)):
        simulation.submit(sim.commands.SetParameter(name, value))
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0, roll=-1.0)))
    simulation.advance(1.5)
    view = SceneView()
    view.observe(simulation.snapshot, time.perf_counter() + 10.0)
    (drawn,) = view.frame(View(np.zeros(3), np.eye(4), np.eye(4))).vehicles
    pose, lane = rig_pose(drawn), simulation.snapshot.lanes[0]
    assert lane.shape[1] > 0.05
    asset = load_asset(folder / "model.glb")
    node = asset.vertices[:, 8].astype(int)
    for name, body in (("rear_wheels", "rear wheels"), ("fork", "fork"), ("front_wheel", "front wheel")):
        assert np.allclose(pose.placed[name][:3, 3], drawn.bodies[body][:3, 3])
    ahead = np.linalg.inv(drawn.T_wb) @ drawn.bodies["front wheel"]
    assert ahead[:3, 3] == pytest.approx([1.4, 0.0, 0.4], abs=1e-9)
    wheel = asset.vertices[node == asset.nodes.index("front_wheel"), :3]
    reach = np.linalg.norm(wheel[:, [0, 2]], axis=1).max() * np.linalg.norm(pose.placed["front_wheel"][:3, 0])
    assert reach == pytest.approx(0.4, rel=0.01)


def test_what_is_saved_is_taken_up_once_it_has_stayed_the_same_for_a_moment(folder: Path) -> None:
    load_scene(folder, trusted=True)
    own, now_s = OwnVehicle(), 0.0

    def polled() -> RenewVehicle | None:
        nonlocal now_s
        now_s += EVERY_S
        return own.poll("trike", now_s)

    assert polled() is None
    path = folder / "vehicle.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("distance_m = 5.5", "distance_m = 9.25"), encoding="utf-8"
    )
    assert polled() is None
    renewed = polled()
    assert renewed is not None
    assert renewed.renewal.config.camera.distance_m == 9.25
    assert config_named("trike").camera.distance_m == 5.5
    renewed.renewal.enter()
    assert config_named("trike").camera.distance_m == 9.25
    assert polled() is None


def test_a_program_saved_before_the_first_look_is_taken_up(folder: Path) -> None:
    load_scene(folder, trusted=True)
    path = folder / "vehicle.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nSAVED = 1\n", encoding="utf-8")
    own = OwnVehicle()
    renewed = own.poll("trike", 1.0)
    assert renewed is not None
    assert vars(sys.modules[renewed.renewal.kind.__module__])["SAVED"] == 1
    renewed.renewal.enter()
    assert own.poll("trike", 2.0) is None


def test_a_mistake_is_told_once_and_a_broken_model_is_one(folder: Path) -> None:
    load_scene(folder, trusted=True)
    own = OwnVehicle()
    own.poll("trike", 0.0)
    for number, (name, content, answer) in enumerate(
        (
            ("model.glb", b"glTF nonsense", "is no model that can be drawn"),
            ("vehicle.toml", b"[camera]\ndistance_m = -1.0\n", "line 2: camera.distance_m"),
        )
    ):
        (folder / name).write_bytes(content)
        own.poll("trike", 10.0 * number + 1.0)
        with pytest.raises(sim.InputError) as refusal:
            own.poll("trike", 10.0 * number + 2.0)
        assert answer in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert own.poll("trike", 10.0 * number + 3.0) is None
        assert own.mistake == str(refusal.value)
        shutil.copy(EXAMPLE / name, folder / name)
        own.poll("trike", 10.0 * number + 4.0)
        assert own.poll("trike", 10.0 * number + 5.0) is not None
        assert own.mistake == ""


def test_what_waits_for_its_kernel_waits_on_while_other_files_are_saved(folder: Path) -> None:
    load_scene(folder, trusted=True)
    own, moments = OwnVehicle(), iter(range(100))

    def taken_up(name: str, old: str, new: str) -> RenewVehicle:
        own.poll("trike", float(next(moments)))
        path = folder / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        own.poll("trike", float(next(moments)))
        renewed = own.poll("trike", float(next(moments)))
        assert renewed is not None
        return renewed

    first = taken_up("vehicle.py", "0.4 * u[0]", "0.75 * u[0]").renewal
    second = taken_up("vehicle.toml", "distance_m = 5.5", "distance_m = 9.25").renewal
    assert first.kind is second.kind is not VEHICLES["trike"]
    assert second.config.camera.distance_m == 9.25
    third = taken_up("vehicle.py", "0.75 * u[0]", "0.5 * u[0]").renewal
    assert third.kind is not second.kind


def test_the_ghosts_of_its_plan_have_their_parts_where_its_bodies_are(folder: Path) -> None:
    scene = load_scene(folder, trusted=True)
    world = load_world(scene.world, seed=scene.seed)
    vehicle, _ = task_of_scene(scene, world=world)
    start = vehicle.state(theta=0.3, x=-20.0, y=12.0, shape=(0.4, 0.5)).node
    nodes, controls = np.tile(start, (3, 1)), np.zeros((3, 2))
    record = SimpleNamespace(vehicle=vehicle, nodes=nodes, controls=controls, step_s=0.1)
    poses = np.array([placement(vehicle, node, world).T_wb for node in nodes])
    bodies = _bodies_w(record, poses)
    fork = np.linalg.inv(poses[0]) @ bodies["fork"][0]
    assert fork[:3, 3] == pytest.approx([1.1, 0.0, 0.0], abs=1e-12)
    assert np.arctan2(fork[1, 0], fork[0, 0]) == pytest.approx(0.5)


def test_it_is_planned_in_the_process_beside_the_window_too(folder: Path) -> None:
    """Its class is known there only because its file is run there as well, and again when it has changed."""
    scene = load_scene(folder, trusted=True)
    world = load_world(scene.world, seed=scene.seed)
    worker = PlanWorker()
    try:
        for number in range(2):
            vehicle, task = task_of_scene(scene, world=world)
            worker.submit(PlanJob(number, vehicle, task, scene.integrator, only_build=True))
            answers = []
            while not answers:
                assert worker.alive
                time.sleep(0.05)
                answers = worker.answers()
            assert answers == [Built(number)]
            changed = folder / "vehicle.py"
            changed.write_text(changed.read_text().replace("90.0, 1.0", "80.0, 1.0"))
            renewal("trike").enter()
    finally:
        worker.close()


LANDER = """
import casadi as ca

from sim.groups import SE3
from sim.vehicles import Control, HolonomicVehicle, Parameter


class Lander(HolonomicVehicle):
    name = "lander"
    group = SE3
    parameters = (Parameter("mass", "kg", 300.0, 1.0, 1e4, "All."),)
    controls = (Control("u_lift", "N", 0.0, 1200.0, "Engine."), Control("u_roll", "N m", -9.0, 9.0, "Jets."))

    def inertia(self, q):
        return q.mass * ca.diag(ca.DM([0.4, 0.4, 0.5, 1.0, 1.0, 1.0]))

    def potential(self, g, q):
        return 1.62 * q.mass * g[11]

    def control_wrench(self, u, q):
        return ca.vertcat(u[1], 0, 0, 0, 0, u[0])
"""
LEGS = """
[contact]
stands_on_m = [[1.0, 1.0, -0.8], [1.0, -1.0, -0.8], [-1.0, 0.0, -0.8]]
fragile = true

[raw.controls]
u_lift = { throttle = 1.0 }
u_roll = { roll = 1.0 }

[keys.words]
throttle = "engine"

[[keys.groups]]
name = "Engine"
actions = [
  { action = "throttle+", does = "More", keys = ["R"] },
  { action = "throttle-", does = "Less", keys = ["F"] },
]

[instruments]
rows = [{ name = "LIFT", value = "u_lift", unit = "N", decimals = 0 }]
"""
ERRAND = """
vehicle = "vehicle.py:Lander"
[world]
name = "plain"
[start]
pad = "start"
[plan.goal]
position_m = [20.0, 0.0, 6.0]
[plan.start]
position_m = [0.0, 0.0, 6.0]
"""


def test_a_new_vehicle_is_its_folder_and_nothing_else(tmp_path: Path) -> None:
    """Keys, instruments, contact with the ground, a box for want of a model, and a task: all by three files."""
    for name, text in (("vehicle.py", LANDER), ("vehicle.toml", LEGS), ("scene.toml", ERRAND)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    try:
        scene = load_scene(tmp_path, trusted=True)
        world = load_world(scene.world, seed=scene.seed)
        vehicle, task = task_of_scene(scene, world=world)
        assert vehicle.name == "lander"
        np.testing.assert_array_equal(task.goal.state.node[9:12], [20.0, 0.0, 6.0])
        footing = Footing(vehicle, world)
        assert footing.soles_m == 0.8
        legs = start_node(scene.start, vehicle, footing)[11] - 0.8
        assert legs == pytest.approx(float(world.surface_m(*world.start_pose("start", 0.0)[:2, 3])), abs=1e-9)
        assert isinstance(footing.environment, GroundContact)
        config = config_named("lander")
        assert config.contact.fragile
        assert [row.name for row in config.instruments.rows] == ["LIFT"]
        assert "engine" in dict(keymap_of("lander").summary()).values()
        check_model(config)
    finally:
        VEHICLES.pop("lander", None)


def test_a_file_beside_a_scene_is_watched_and_may_become_a_folder_while_it_is_open(
    folder: Path, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    program = beside / "trike.py"
    program.write_text((folder / "vehicle.py").read_text(encoding="utf-8"), encoding="utf-8")
    load_scene(f"{program}:Trike", trusted=True)
    own, now_s = OwnVehicle(), 0.0
    assert own.poll("trike", now_s) is None
    text = program.read_text(encoding="utf-8")
    program.write_text(f"{text}\n# saved again\n", encoding="utf-8")
    found = [own.poll("trike", now_s + k * EVERY_S) for k in (1, 2)]
    assert found[0] is None
    assert found[1] is not None
    assert found[1].renewal.kind.name == "trike"
    other = tmp_path / "other"
    other.mkdir()
    (other / "vehicle.py").write_text(f"{text}\n# of somebody else\n", encoding="utf-8")
    with pytest.raises(sim.InputError, match="the name 'trike' is taken by another vehicle"):
        load_scene(other, trusted=True)
    program.rename(folder / "vehicle.py")
    assert load_scene(folder, trusted=True).vehicle.name == "trike"
    assert own_program("trike") == folder / "vehicle.py"
