"""The guide to a vehicle of one's own, done exactly as it is printed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import app
import sim
from sim.scene import load_scene
from sim.vehicles import VEHICLES, enter_own
from tests.app.program import run_app

ROOT = Path(app.__file__).resolve().parent
GUIDE = (ROOT / "docs" / "your-own-vehicle.md").read_text(encoding="utf-8")
MECHANICS = GUIDE.partition("\n## As a folder\n")[0]
DECLARATION, CONNECTION, SCRIPT, AIRSHIP, FLIGHT, PLANNED, TOLD = re.findall(
    r"```python\n(.*?)```", MECHANICS, flags=re.DOTALL
)
(SCENE,) = re.findall(r"```toml\n(.*?)```", MECHANICS, flags=re.DOTALL)


def with_connection(text: str) -> str:
    """The tricycle with one more method, before its last."""
    at = DECLARATION.index("    def shape_force")
    return f"{DECLARATION[:at]}{text}\n{DECLARATION[at:]}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the guide's files; the registry is left as it was."""
    (tmp_path / "my_vehicle.py").write_text(DECLARATION)
    (tmp_path / "my_airship.py").write_text(AIRSHIP)
    (tmp_path / "trike.toml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    VEHICLES.pop("trike", None)
    VEHICLES.pop("airship", None)


def test_the_declaration_is_about_forty_lines() -> None:
    assert DECLARATION.count("\n") <= 50


def printed(folder: Path, script: str) -> str:
    """What a script of the guide prints."""
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_script_runs_as_printed(folder: Path) -> None:
    sideways = printed(folder, SCRIPT).split("sideways velocity ")[1]
    assert abs(float(sideways)) < 1e-12


def test_the_airship_takes_on_the_velocity_of_the_wind(folder: Path) -> None:
    """Drag alone: m v' = -k v^2 leaves 0.06 m/s after two minutes."""
    drift = printed(folder, FLIGHT).split("drifts at [")[1].split("]")[0]
    v = [float(x) for x in drift.split()]
    assert v[0] == v[2] == 0.0
    mass, drag = 105.0, 14.0
    left = 4.0 / (1.0 + 4.0 * drag / mass * 120.0)
    assert v[1] == pytest.approx(4.0 - left, abs=0.011)


def test_the_airship_is_planned_for_as_printed(folder: Path) -> None:
    assert printed(folder, PLANNED).startswith("solved in ")


def test_the_airships_equations_are_those_of_its_forces(folder: Path) -> None:
    """Momenta by hand against what is derived, at a generic pose: buoyancy rights it, added mass turns it across."""
    ship = sim.vehicle("my_airship.py:Airship", wind=(1.0, -2.0, 0.5))
    R = Rotation.from_euler("zyx", [0.7, -0.4, 0.9]).as_matrix()
    omega, v, u = np.array([0.2, -0.3, 0.5]), np.array([3.0, 0.4, -0.6]), np.array([11.0, -4.0, 6.0, 9.0])
    J, M = np.diag([40.0, 160.0, 150.0]), np.diag([66.0, 105.0, 105.0])
    up = R.T @ [0.0, 0.0, 60.0 * 9.81]
    air = v - R.T @ [1.0, -2.0, 0.5]
    pushes = [((0, 1.2, -1.5), (u[0], 0, 0)), ((0, -1.2, -1.5), (u[1], 0, 0))]
    pushes += [((3.0, 0, 0), (0, 0, u[2])), ((-3.0, 0, 0), (0, 0, u[3]))]
    force = sum(np.array(f) for _, f in pushes) - np.array([1.5, 14, 14]) * np.linalg.norm(air) * air
    torque = sum(np.cross(c, f) for c, f in pushes) + np.cross([0, 0, 0.5], up) - 60.0 * omega
    turning = np.cross(J @ omega, omega) + np.cross(M @ v, v) + torque
    wanted = np.r_[np.linalg.solve(J, turning), np.linalg.solve(M, np.cross(M @ v, omega) + force)]

    q = ship.symbols(ca.SX(ship.parameter_vector))
    g, xi = ca.SX(np.r_[R.T.ravel(), 5.0, 6.0, 7.0]), ca.SX(np.r_[omega, v])
    derived = ship.acceleration(g, xi, ca.SX(u), ca.SX(6, 1), q)
    np.testing.assert_allclose(np.array(ca.evalf(ca.densify(derived))).ravel(), wanted, atol=1e-6)


def test_a_connection_of_ones_own_is_the_derived_one(folder: Path) -> None:
    (folder / "my_vehicle.py").write_text(with_connection(CONNECTION))
    own = sim.vehicle("my_vehicle.py:Trike")
    (folder / "my_vehicle.py").write_text(DECLARATION)
    derived = sim.vehicle("my_vehicle.py:Trike")
    ends = [
        sim.simulate(
            trike,
            step=0.01,
            duration=2.0,
            initial=trike.state(shape=(0.0, 0.3), shape_velocity=(10.0, -0.5)),
            controls=[8.0, 1.0],
        ).nodes[-1]
        for trike in (own, derived)
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-12)


def test_the_scene_runs_in_the_app(folder: Path) -> None:
    done = run_app("trike.toml", "--trust", "--headless", "--seconds", "1", "--csv", "trike.csv")
    assert done.returncode == 0, done.stderr
    rows = (folder / "trike.csv").read_text().splitlines()
    assert ",trike,variational," in rows[1]
    assert "control_f_phi" in rows[0]


def test_the_scene_knows_the_vehicle_by_its_own_name(folder: Path) -> None:
    scene = load_scene("trike.toml", trusted=True)
    assert scene.vehicle.name == "trike"
    assert scene.vehicle.values["mass"] == 80.0


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
            (DECLARATION, with_connection(CONNECTION.replace("horzcat(-turn, 0)", "horzcat(turn, 0)"))),
            "connection A(r) does not annihilate the constraint directions",
        ),
        (("q.fork_inertia * (xi[0] + u[1]) ** 2", "0"), "lagrangian gives 'phi' no positive kinetic energy"),
        (
            (DECLARATION, with_connection(CONNECTION.replace("ca.SX(1, 2))\n", "ca.SX(2, 2))\n"))),
            "connection is 4 x 2, wanted 3 x 2",
        ),
        (('name = "trike"', 'name = "car"'), "the name 'car' is taken by another vehicle"),
        (('    name = "trike"\n', ""), 'class Trike has no name; add a line: name = "trike"'),
        (("class Trike", "class Bike"), "my_vehicle.py has no vehicle 'Trike'; it has: Bike"),
        (
            ("import casadi as ca", "import cassadi as ca"),
            "my_vehicle.py cannot be run (line 1): ModuleNotFoundError",
        ),
    ],
)
def test_mistakes_are_answered_with_file_and_piece(
    folder: Path, change: tuple[str, str], answer: str
) -> None:
    assert change[0] in DECLARATION
    (folder / "my_vehicle.py").write_text(DECLARATION.replace(*change))
    with pytest.raises(sim.InputError) as caught:
        load_scene("trike.toml", trusted=True)
    assert str(caught.value).startswith("trike.toml: vehicle: ")
    assert answer in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_with_the_folders(folder: Path) -> None:
    with pytest.raises(sim.InputError, match=r"vehicle file 'no\.py' is not there; looked in"):
        enter_own("no.py:Trike")


def test_a_missing_file_with_a_whole_path_is_looked_for_nowhere_else(folder: Path) -> None:
    missing = folder / "no.py"
    with pytest.raises(sim.InputError) as caught:
        enter_own(f"{missing}:Trike")
    assert str(caught.value) == f"vehicle file {str(missing)!r} is not there"


def test_answers_in_the_guide_are_those_given() -> None:
    """Their wording lives in one place."""
    folder = ROOT / "sim" / "vehicles" / "forms"
    files = ("nonholonomic", "holonomic", "declaration", "reduction", "base")
    source = " ".join((folder / f"{name}.py").read_text() for name in files)
    for phrase in (
        "is outside the admissible set",
        "has no velocity terms, so nothing has inertia",
        "violates constraint",
        "; every direction needs a positive one",
        "inertia is not symmetric: row ",
        "; a small number under a root keeps it so at rest",
        "is out of range; allowed: ",
        "cannot be evaluated",
        "set stops that keep away from there",
    ):
        assert phrase in GUIDE
        assert phrase in source


def test_what_a_vehicle_tells_by_itself_is_in_the_trajectory(folder: Path) -> None:
    speed, unit = printed(folder, TOLD).split()
    assert 0.0 < float(speed) < 2.0
    assert unit == "m/s"
