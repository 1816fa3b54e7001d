"""Laws of configs: `vehicle.toml` is checked, tied to its vehicle, and taken up again when it is saved."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, RenewVehicle, SetParameter, SetPilotInput
from sim.control import MODES
from sim.platform.toml_table import TomlTable
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.vehicle_config import ASSETS, VEHICLE_FOLDER, config_named, named_values
from sim.vehicle_config.config import read_config
from sim.vehicle_config.registry import fallback, own_program, read_for, renewal, saved_file
from sim.vehicle_config.terms import term_of
from sim.vehicles import VEHICLES
from sim.world import load_world

EXAMPLE = ASSETS.parent / "examples" / "trike"
FOLDERS = sorted(path.name for path in VEHICLE_FOLDER.iterdir() if path.is_dir())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of the example's folder; the registry is left as it was."""
    copy = tmp_path / "mine"
    shutil.copytree(EXAMPLE, copy)
    yield copy
    VEHICLES.pop("trike", None)


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_vehicles_folder_holds_together(name: str) -> None:
    """Read by its own vehicle: names, keys, modes and points are those that there are."""
    config = read_for(VEHICLES[name])
    assert config.folder == VEHICLE_FOLDER / name
    assert config.modes.default in config.modes.names
    assert set(config.modes.names) <= set(MODES)
    assert config.contact.points.shape[1] == 4
    assert config.keys.held or not VEHICLES[name].controls
    values = named_values(VEHICLES[name]())
    for part in config.model.parts:
        for move in part.moves:
            for term in move.terms:
                assert all(n in values or n not in dict.fromkeys(term.of) for n in term.over)


def test_every_vehicle_of_the_project_has_a_folder() -> None:
    assert set(FOLDERS) == {name for name, kind in VEHICLES.items() if kind.__module__.startswith("sim.")}


def test_a_name_that_nobody_knows_has_the_fallback() -> None:
    assert config_named("nobody-knows-it") is fallback()
    assert config_named("nobody-knows-it").modes.names == ("raw",)


def test_a_term_is_the_formula_that_it_says() -> None:
    table = TomlTable("a.toml", {})
    values = {"a": 3.0, "b": 2.0, "c": 0.0}
    known = tuple(values)
    for written, expected in (
        (1.5, 1.5),
        ("a", 3.0),
        ("-a", -3.0),
        ({"of": ["a", "b"]}, 6.0),
        ({"of": "a", "over": "b", "times": 2.0, "plus": 1.0}, 4.0),
        ({"of": "a", "scaled": 0.5, "curve": "tanh", "times": 2.0}, 2.0 * np.tanh(1.5)),
        ({"of": "a", "limit": [-1.0, 1.0]}, 1.0),
        ({"spin_radps": 2.0}, 2.0 * 0.7),
        ({"of": "c", "curve": "sign", "spin_radps": 2.0}, 0.0),
    ):
        assert term_of(table, "key", written, known).value(values, 0.7) == pytest.approx(expected, rel=1e-15)
    assert np.isnan(term_of(table, "key", {"of": "a", "over": "c"}, known).value(values))


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        (
            'triggers = "throttle"',
            'triggers = "left"',
            'keys.gamepad.triggers: unknown "left"; allowed: pitch',
        ),
        ("f_psi = {", "f_psy = {", "raw.controls.f_psy: unknown control; allowed: f_psi, f_phi"),
        (
            'body = "fork"',
            'body = "forc"',
            'model.parts[1].body: unknown "forc"; allowed: , body, rear wheels',
        ),
        ('of = "wheel_radius"', 'of = "radius"', 'unknown "radius"; allowed: psi, phi, f_psi'),
        (
            "distance_m = 5.5",
            'distance_m = "far"',
            "camera.distance_m: 'far' is refused; allowed: a number",
        ),
        ("[camera]", "[kamera]", "kamera: unknown key; allowed:"),
        ("width_m = 0.05", "width_m =", "not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_with_file_line_key_and_what_is_allowed(
    folder: Path, old: str, new: str, answer: str
) -> None:
    changed(folder / "vehicle.toml", old, new)
    text = (folder / "vehicle.toml").read_text(encoding="utf-8")
    line = text[: text.index(new)].count("\n") + 1
    with pytest.raises(sim.InputError) as refusal:
        load_scene(folder, trusted=True)
    assert answer in str(refusal.value)
    assert str(refusal.value).startswith("mine/vehicle.toml")
    assert f"line {line}" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_words_for_axes_that_no_key_moves_are_refused(folder: Path) -> None:
    text = (folder / "vehicle.toml").read_text(encoding="utf-8")
    begin, end = text.index("[[keys.groups]]"), text.index("[keys.gamepad]")
    (folder / "vehicle.toml").write_text(text[:begin] + text[end:], encoding="utf-8")
    with pytest.raises(sim.InputError, match=r"keys\.words: stand without \[\[keys\.groups\]\]"):
        load_scene(folder, trusted=True)


def test_a_key_that_stands_twice_is_refused(folder: Path) -> None:
    changed(folder / "vehicle.toml", 'keys = ["A", "Q"]', 'keys = ["W"]')
    with pytest.raises(sim.InputError, match=r'keys\.groups: the key "W" stands twice; allowed: once'):
        load_scene(folder, trusted=True)


@pytest.mark.parametrize(
    "name, body, answer",
    [
        (
            "helicopter-with-load",
            "load",
            "towed: helicopter-with-load tows nothing; allowed: vehicles in the plane",
        ),
        ("rigid-body", "body", "towed: rigid-body tows nothing; allowed: vehicles in the plane"),
        ("car-with-trailers", "body", r'towed\[0\].body: unknown "body"; allowed: rear_wheels, .*second$'),
    ],
)
def test_only_what_a_vehicle_in_the_plane_moves_is_towed(
    tmp_path: Path, name: str, body: str, answer: str
) -> None:
    """A load that swings does not go as its carrier does, and impulses on it would be wrong."""
    file = tmp_path / "vehicle.toml"
    file.write_text(f'[footprint]\n[[footprint.towed]]\nbody = "{body}"\n', encoding="utf-8")
    with pytest.raises(sim.InputError, match=answer):
        read_config(file, "vehicle.toml", None, VEHICLES[name], fallback())


def test_a_mode_is_refused_where_the_vehicle_has_not_what_it_needs(folder: Path) -> None:
    with (folder / "vehicle.toml").open("a", encoding="utf-8") as file:
        file.write('\n[modes]\nnames = ["raw", "hold"]\n')
    with pytest.raises(sim.InputError, match=r'modes\.names: "hold" needs the parameter "inertia"'):
        load_scene(folder, trusted=True)


@pytest.mark.parametrize(
    ("cycle", "answer"),
    [
        ("pose_s = 1.0", r'modes\.cycle\.poses: is missing; allowed: tables with "off"'),
        (
            "poses = [{ off = [1.0, 2.0, 3.0] }]",
            r"modes\.cycle\.poses\[0\]\.off: .* is refused; allowed: 2 numbers",
        ),
        ("poses = [{}]", r"modes\.cycle\.poses\[0\]\.off: is missing; allowed: a number for each control"),
    ],
)
def test_a_cycle_is_refused_without_poses_that_have_a_number_for_each_control(
    folder: Path, cycle: str, answer: str
) -> None:
    with (folder / "vehicle.py").open("a", encoding="utf-8") as file:
        file.write(
            '\nTrike.parameters = (*Trike.parameters, Parameter("hold", "", 1.0, 0.0, 2.0, "A."), '
            'Parameter("gravity", "", 1.0, 0.0, 2.0, "A."))\n'
        )
    with (folder / "vehicle.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[modes]\nautopilot = "cycle"\n[modes.cycle]\n{cycle}\n')
    with pytest.raises(sim.InputError, match=answer):
        load_scene(folder, trusted=True)


@pytest.mark.parametrize(
    ("autopilot", "answer"),
    [
        ("gaits", r'modes\.autopilot: unknown "gaits"; allowed: .*'),
        ("steady", r'modes\.autopilot: "steady" needs the parameter "inertia"'),
    ],
)
@pytest.mark.parametrize("with_scene", [True, False])
def test_an_autopilot_is_refused_that_is_none_or_reads_what_the_vehicle_lacks(
    folder: Path, autopilot: str, answer: str, with_scene: bool
) -> None:
    with (folder / "vehicle.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[modes]\nautopilot = "{autopilot}"\n')
    if not with_scene:
        (folder / "scene.toml").unlink()
    with pytest.raises(sim.InputError, match=answer):
        load_scene(folder, trusted=True)


def test_a_folder_without_a_scene_stands_on_a_plain_and_one_without_data_has_the_fallback(
    folder: Path,
) -> None:
    (folder / "scene.toml").unlink()
    (folder / "vehicle.toml").unlink()
    scene = load_scene(folder, trusted=True)
    assert (scene.vehicle.name, scene.world, scene.path) == ("trike", "plain", folder)
    assert config_named("trike").keys == fallback().keys
    assert config_named("trike").file("model.glb") == folder / "model.glb"


def test_a_folder_without_a_vehicle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sim.InputError, match=r"no scene\.toml and no vehicle\.py in it"):
        load_scene(tmp_path, trusted=True)


def test_raw_sticks_act_as_the_folder_says(folder: Path) -> None:
    simulation = _flying(folder)
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0, roll=0.5)))
    lane = simulation.advance(0.1).lanes[0]
    assert lane.controls.tolist() == [60.0, -3.0]


def _flying(folder: Path) -> Simulation:
    scene = load_scene(folder, trusted=True)
    return Simulation(scene, load_world(scene.world, seed=scene.seed))


def _saved(simulation: Simulation):
    """The files are taken up; the lane right after."""
    simulation.submit(RenewVehicle(renewal("trike")))
    return simulation.advance(0.0)


def test_saved_data_is_taken_up_and_the_mechanics_stay_the_same_class(folder: Path) -> None:
    simulation = _flying(folder)
    kind = VEHICLES["trike"]
    files = saved_file(kind, folder / "vehicle.py")
    assert not files.saved()
    changed(folder / "vehicle.toml", "f_psi = { ahead = 1.0 }", "f_psi = { ahead = 0.25 }")
    os.utime(folder / "vehicle.toml", (1.0, 1.0))
    assert [files.saved(), files.saved()] == [False, True]
    _saved(simulation)
    assert VEHICLES["trike"] is kind
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0)))
    assert simulation.advance(0.1).lanes[0].controls[0] == 15.0


def test_saved_mechanics_of_the_same_space_go_on_from_the_same_state(folder: Path) -> None:
    simulation = _flying(folder)
    simulation.submit(SetParameter("mass", 120.0))
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0, roll=0.3)))
    before = simulation.advance(1.0).lanes[0]
    assert np.linalg.norm(before.twist_b) > 0.1
    changed(folder / "vehicle.py", '"kg m^2", 0.2, 0.01', '"kg m^2", 0.9, 0.01')
    after = _saved(simulation).lanes[0]
    np.testing.assert_allclose(after.T_wb, before.T_wb, atol=1e-12)
    np.testing.assert_allclose(after.twist_b, before.twist_b, atol=1e-12)
    assert after.generation == before.generation
    assert after.parameters["wheel_inertia"] == 0.9
    assert after.parameters["mass"] == 120.0
    assert simulation.snapshot.message == "trike: its files are taken up"
    assert simulation.advance(0.5).lanes[0].time_current_s == pytest.approx(1.5)


def test_saved_mechanics_of_another_space_start_anew(folder: Path) -> None:
    simulation = _flying(folder)
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0)))
    simulation.advance(1.0)
    changed(folder / "vehicle.py", 'Control("f_phi",', 'Control("f_fork",')
    changed(folder / "vehicle.toml", "f_phi = {", "f_fork = {")
    after = _saved(simulation).lanes[0]
    assert after.time_current_s == 0.0
    assert np.linalg.norm(after.twist_b) == 0.0
    assert "starts anew" in simulation.snapshot.message
    assert simulation.advance(0.5).lanes[0].time_current_s == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("file", "old", "new", "answer"),
    [
        ("vehicle.toml", "ahead = 1.0", "ahead = nonsense", "not valid TOML"),
        (
            "vehicle.py",
            "def constraints(self, r, q):",
            "def constraints(self, r, q)",
            "(line 30): SyntaxError",
        ),
        (
            "vehicle.py",
            'name = "trike"',
            'name = "bike"',
            "is now called 'bike'; allowed: 'trike' while it moves",
        ),
        ("vehicle.py", "q.fork_inertia * (xi[0] + u[1]) ** 2", "0", "gives 'phi' no positive kinetic energy"),
    ],
)
def test_while_a_mistake_stands_in_a_file_the_old_one_moves_on(
    folder: Path, file: str, old: str, new: str, answer: str
) -> None:
    simulation = _flying(folder)
    kind, config = VEHICLES["trike"], config_named("trike")
    changed(folder / file, old, new)
    with pytest.raises(sim.InputError) as refusal:
        renewal("trike")
    assert answer in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert (VEHICLES["trike"], config_named("trike")) == (kind, config)
    assert simulation.advance(0.5).lanes[0].time_current_s == pytest.approx(0.5)


def test_only_vehicles_of_ones_own_are_watched(folder: Path) -> None:
    load_scene(folder, trusted=True)
    assert own_program("trike") == folder / "vehicle.py"
    assert own_program("helicopter") is None


def test_what_is_like_another_has_its_sections_but_for_those_of_its_own(folder: Path) -> None:
    load_scene(folder, trusted=True)
    path = folder / "vehicle.toml"
    path.write_text('like = "helicopter"\n\n[camera]\ndistance_m = 3.25\n', encoding="utf-8")
    found, other = read_for(VEHICLES["trike"]), config_named("helicopter")
    assert (found.camera.distance_m, found.keys) == (3.25, other.keys)
    np.testing.assert_array_equal(found.contact.points, other.contact.points)
    path.write_text('like = "helicoptre"\n', encoding="utf-8")
    with pytest.raises(sim.InputError, match=r'like: unknown "helicoptre"; allowed: .*helicopter'):
        read_for(VEHICLES["trike"])
