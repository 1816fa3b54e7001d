"""No file leads to running code, except a vehicle's own in a folder that the user has trusted."""

import json
from collections.abc import Iterator
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import app
import sim
from sim.commands import PlayTake, Resimulate, SetVehicle
from sim.integrators import integrator
from sim.planner.result.store import load_record, save_record
from sim.planner.service.session import PlanSession
from sim.platform.errors import InputError, UntrustedFile
from sim.recordings import Take, load_take, save_take
from sim.scene import load_scene
from sim.vehicles import VEHICLES, Control, HolonomicVehicle, Parameter, enter_own, known_vehicle
from tests.app.program import EVIL
from tests.sim.plan_samples import BOAT, record, task
from tests.sim.simulation_scenes import helicopter_scene, simulation, world
from ui.features.takes.actions import AUTOSAVED, Takes


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, empty."""
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "settings"))
    return tmp_path / "settings"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a file in it that leaves a mark when it is run."""
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    VEHICLES.pop("evil", None)


def ran(folder: Path) -> bool:
    return (folder / "marker").exists()


def references(folder: Path) -> tuple[str, ...]:
    return ("evil.py:Evil", f"{folder}/evil.py:Evil", "./evil.py:Evil", "evil.py")


def flown() -> Take:
    return Take.of_trajectory(sim.simulate(sim.vehicle("rigid-body"), "rk4", step=0.05, duration=1.0))


def with_vehicle(path: Path, text: str, name: str) -> Path:
    """The file with another name of its vehicle in the JSON of the array `text`."""
    with np.load(path) as file:
        arrays = dict(file)
    arrays[text] = np.array(json.dumps({**json.loads(str(arrays[text])), "vehicle": name}))
    np.savez_compressed(path, **arrays)
    return path


def evil_take(path: Path, name: str) -> Path:
    return with_vehicle(save_take(flown(), path), "header", name)


def test_a_take_runs_nothing(folder: Path) -> None:
    for name in references(folder):
        path = evil_take(folder / "flight.npz", name)
        with pytest.raises(InputError, match="unknown vehicle") as refusal:
            load_take(path)
        assert "\n" not in str(refusal.value)
    assert not ran(folder)


def test_a_take_on_the_command_line_runs_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil_take(folder / "flight.npz", "evil.py:Evil")
    for more in ([], ["--integrator", "rk2"], ["--step", "0.02"], ["--trust"]):
        assert app.main(["flight.npz", "--headless", *more]) == 2
        assert "unknown vehicle" in capsys.readouterr().err
    assert not ran(folder)


def test_the_window_lists_and_opens_takes_without_running_them(folder: Path) -> None:
    for place in (folder / "takes", folder / "takes" / AUTOSAVED):
        evil_take(place / "flight.npz", "evil.py:Evil")
    desk, running = Takes(folder / "takes"), simulation(helicopter_scene())
    for listed in (*desk.view.stored, *desk.view.autosaved):
        desk.open(str(listed.path))
    desk.close(running, world("plain"))
    assert not ran(folder)


def test_a_kept_plan_runs_nothing(folder: Path) -> None:
    for name in references(folder):
        path = with_vehicle(save_record(record("harbour"), folder), "about", name)
        with pytest.raises(InputError, match="unknown vehicle"):
            load_record(path)
        assert PlanSession(BOAT, task(name="harbour"), "variational", folder).view.kept == ()
    assert not ran(folder)


NOT_TRUSTED = r"is a program in a folder that you have not trusted; allowed: --trust"


@pytest.mark.parametrize(
    "name", ["../evil.py:Evil", "evil.py:Evil", "{folder}/evil.py:Evil", "link.py:Evil", "inner.py:Evil"]
)
def test_a_scene_runs_a_program_of_any_folder_only_where_it_is_trusted(folder: Path, name: str) -> None:
    scene = folder / "inner" / "own.toml"
    scene.write_text(f'vehicle = "{name.format(folder=folder)}"\n')
    (folder / "inner" / "link.py").symlink_to(folder / "evil.py")
    (folder / "inner" / "inner.py").write_text(EVIL.replace("with_name(", "parent.with_name("))
    with pytest.raises(UntrustedFile, match=NOT_TRUSTED):
        load_scene(scene)
    assert not ran(folder)
    assert load_scene(scene, trusted=True).vehicle.name == "evil"
    assert ran(folder)


@pytest.mark.parametrize("asked", ["evil.py:Evil", "evil.py", "own", "own/", "own/scene.toml", "plain"])
def test_what_is_named_on_the_command_line_is_run_only_where_it_is_trusted(
    folder: Path, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "vehicle.py").write_text(EVIL.replace("with_name(", "parent.with_name("))
    (folder / "own" / "scene.toml").write_text('vehicle = "vehicle.py"\n')
    more = ["--vehicle", "evil.py:Evil"] if asked == "plain" else []
    command = [asked, "--headless", "--seconds", "0.05", *more]
    assert app.main(command) == 2
    told = capsys.readouterr().err
    assert "not trusted; allowed: --trust" in told
    assert told.count("\n") == 1
    assert not ran(folder)
    for words in (["--trust"], []):  # once is enough
        assert app.main([*command, *words]) == 0, capsys.readouterr().err


def test_the_users_word_is_for_a_folder_and_outlives_what_changes_in_it(folder: Path) -> None:
    scene, program = folder / "own.toml", folder / "evil.py"
    scene.write_text('vehicle = "evil.py:Evil"\n')
    load_scene(scene, trusted=program)
    program.write_text(f"{EVIL}\n# changed")
    (folder / "other.py").write_text(EVIL)
    (folder / "other.toml").write_text('vehicle = "other.py:Evil"\n')
    VEHICLES.pop("evil")
    assert load_scene(scene).vehicle.name == "evil"
    VEHICLES.pop("evil")
    assert load_scene(folder / "other.toml").vehicle.name == "evil"


@pytest.mark.parametrize("changed", [False, True])
def test_what_takes_the_place_of_a_trusted_folder_is_trusted_only_where_it_says_the_same(
    folder: Path, changed: bool
) -> None:
    place, moved = folder / "own", folder / "moved"
    for one in (place, moved):
        one.mkdir()
        (one / "vehicle.py").write_text(EVIL)
    load_scene(place, trusted=True)
    with pytest.raises(UntrustedFile):
        load_scene(moved)
    place.rename(folder / "away")
    moved.rename(place)
    (folder / "away" / "marker").unlink()
    if changed:
        (place / "vehicle.py").write_text(f"{EVIL}\n# another one")
        with pytest.raises(UntrustedFile):
            load_scene(place)
        assert not (place / "marker").exists()
    else:
        assert load_scene(place).vehicle.name == "evil"


def test_a_damaged_list_of_trusted_folders_trusts_nothing(folder: Path, settings: Path) -> None:
    (folder / "own.toml").write_text('vehicle = "evil.py:Evil"\n')
    load_scene(folder / "own.toml", trusted=True)
    kept = settings / "trusted.json"
    for text in ("", "[]", '{"x": 3}', kept.read_text().replace('"', "'")):
        kept.write_text(text)
        with pytest.raises(UntrustedFile):
            load_scene(folder / "own.toml")


def test_the_projects_own_examples_need_no_word() -> None:
    example = next(
        path for path in (Path(app.__file__).parent / "examples").iterdir() if (path / "vehicle.py").is_file()
    )
    assert load_scene(f"examples/{example.name}").vehicle.name in VEHICLES


def test_a_scene_names_parameters_of_known_vehicles_only(folder: Path) -> None:
    (folder / "inner" / "own.toml").write_text('[parameters."../evil.py:Evil"]\nmass = 1.0\n')
    with pytest.raises(InputError, match="unknown vehicle"):
        load_scene(folder / "inner" / "own.toml")
    assert not ran(folder)


def test_a_vehicle_that_the_user_has_entered_is_known_to_files(folder: Path) -> None:
    evil_take(folder / "flight.npz", "evil")
    with pytest.raises(InputError, match="unknown vehicle 'evil'"):
        load_take(folder / "flight.npz")
    assert not ran(folder)
    assert enter_own("evil.py:Evil") == "evil"
    assert load_take(folder / "flight.npz").vehicle.name == "evil"


def test_commands_name_known_vehicles_only(folder: Path) -> None:
    running = simulation(helicopter_scene())
    for command in (SetVehicle("evil.py:Evil"), PlayTake(flown()), Resimulate("evil.py:Evil")):
        running.submit(command)
        running.advance(0.0)
    assert "unknown integrator" in running.snapshot.message
    assert not ran(folder)


@pytest.mark.parametrize(
    "name", ['x"""\nimport os\n"""', "a b", "evil.py:Evil", "../car", "", "a" * 61, 3, None]
)
def test_names_that_are_no_identifiers_with_hyphens_are_refused(name: object) -> None:
    """They are pasted into generated source and into names of files."""
    parameter, control = Parameter("size", "m", 1.0, 0.0, 2.0, ""), Control("u", "N", -1.0, 1.0, "")
    odd = {
        "name": {"name": name},
        "parameters": {"name": "own", "parameters": (Parameter(name, "m", 1.0, 0.0, 2.0, ""),)},  # type: ignore[arg-type]
        "controls": {"name": "own", "controls": (control, Control(name, "N", -1.0, 1.0, ""))},  # type: ignore[arg-type]
    }
    for what, declared in odd.items():
        with pytest.raises(InputError, match=rf"{what}.* is refused; allowed"):
            type("Own", (HolonomicVehicle,), declared)()
    listed = {"parameters": (parameter,), "controls": (control,), "inertia": lambda self, q: ca.SX.eye(6)}
    type("Own", (HolonomicVehicle,), {"name": "own-2_b", **listed})()


def test_an_option_of_a_method_is_a_number() -> None:
    with pytest.raises(InputError, match="alpha = '__import__' is no number"):
        integrator("variational", alpha="__import__")


def test_what_is_dropped_or_opened_in_the_window_runs_nothing_that_a_file_names(folder: Path) -> None:
    """`OpenTake` gets takes that are dropped, `load_scene` everything else."""
    dropped = folder / "inner"
    evil_take(dropped / "flight.npz", "../evil.py:Evil")
    (dropped / "scene.toml").write_text('vehicle = "../evil.py:Evil"\n')
    (folder / "vehicle.py").write_text(EVIL)
    (dropped / "odd.toml").write_text('vehicle = "./"\n')
    for path in (dropped, dropped / "scene.toml", dropped / "odd.toml"):
        with pytest.raises(InputError, match=NOT_TRUSTED):
            load_scene(path)
    with pytest.raises(InputError, match="unknown vehicle"):
        load_take(dropped / "flight.npz")
    for name in ("../", "./", str(folder)):
        with pytest.raises(InputError, match="unknown vehicle"):
            known_vehicle(name)
    assert not ran(folder)
