"""The guide to a vehicle of one's own, done exactly as it is printed."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
import sim
from sim.scene import load_scene
from sim.vehicles import VEHICLES, enter_own
from tests.app.program import run_app

ROOT = Path(app.__file__).resolve().parent
GUIDE = (ROOT / "docs" / "your-own-vehicle.md").read_text(encoding="utf-8")
DECLARATION, SCRIPT = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
(SCENE,) = re.findall(r"```toml\n(.*?)```", GUIDE, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the guide's two files; the registry is left as it was."""
    (tmp_path / "my_vehicle.py").write_text(DECLARATION)
    (tmp_path / "trike.toml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    VEHICLES.pop("trike", None)


def test_the_declaration_is_about_forty_lines() -> None:
    assert DECLARATION.count("\n") <= 50


def test_the_script_runs_as_printed(folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    assert "sideways velocity 0.0" in done.stdout


def test_the_scene_runs_in_the_app(folder: Path) -> None:
    done = run_app("trike.toml", "--headless", "--seconds", "1", "--csv", "trike.csv")
    assert done.returncode == 0, done.stderr
    rows = (folder / "trike.csv").read_text().splitlines()
    assert ",trike,variational," in rows[1]
    assert "control_f_phi" in rows[0]


def test_the_scene_knows_the_vehicle_by_its_own_name(folder: Path) -> None:
    scene = load_scene("trike.toml")
    assert scene.vehicle == "trike"
    assert sim.vehicle("trike", **scene.parameters["trike"]).values["mass"] == 80.0


def test_it_is_as_accurate_as_the_others(folder: Path) -> None:
    """Order two for the variational method, on a shape with springs and dampers."""
    trike = sim.vehicle("my_vehicle.py:Trike")
    start = trike.state(shape=(0.0, 0.3), shape_velocity=(10.0, -0.5))
    ends = [
        sim.simulate(trike, method, step=h, duration=2.0, initial=start, controls=[8.0, 1.0]).nodes[-1]
        for method, h in (("rk4", 0.001), ("variational", 0.02), ("variational", 0.01))
    ]
    coarse, fine = (abs(end - ends[0]).max() for end in ends[1:])
    assert 3.6 < coarse / fine < 4.4


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (
            ("horzcat(-turn, 0)", "horzcat(turn, 0)"),
            "connection A(r) does not annihilate the constraint directions",
        ),
        (("q.fork_inertia * (xi[0] + u[1]) ** 2", "0"), "lagrangian gives 'phi' no positive kinetic energy"),
        (("ca.SX(1, 2))\n", "ca.SX(2, 2))\n"), "connection is 4 x 2, wanted 3 x 2"),
        (('name = "trike"', 'name = "car"'), "the name 'car' is taken by another vehicle"),
        (('    name = "trike"\n', ""), 'class Trike has no name; add a line: name = "trike"'),
        (("class Trike", "class Bike"), "my_vehicle.py has no vehicle 'Trike'; it has: Bike"),
        (("import casadi as ca", "import cassadi as ca"), "my_vehicle.py cannot be run: ModuleNotFoundError"),
    ],
)
def test_mistakes_are_answered_with_file_and_piece(
    folder: Path, change: tuple[str, str], answer: str
) -> None:
    assert change[0] in DECLARATION
    (folder / "my_vehicle.py").write_text(DECLARATION.replace(*change))
    with pytest.raises(sim.InputError) as caught:
        load_scene("trike.toml")
    assert str(caught.value).startswith("trike.toml: vehicle: ")
    assert answer in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_with_the_folders(folder: Path) -> None:
    with pytest.raises(sim.InputError, match=r"vehicle file 'no\.py' is not there; looked in"):
        enter_own("no.py:Trike")


def test_answers_in_the_guide_are_those_given() -> None:
    """Their wording lives in one place."""
    source = (ROOT / "sim" / "vehicles" / "nonholonomic_declaration.py").read_text()
    for phrase in (
        "is outside the admissible set",
        "has no velocity terms, so nothing has inertia",
        "violates constraint",
    ):
        assert phrase in GUIDE
        assert phrase in source
