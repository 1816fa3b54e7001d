"""What `pip install .` gives: one name in site-packages, a command and a library that work from any folder."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from sim.scene import scene_names
from tests.app.program import ROOT

LAYERS = ("sim", "render", "ui", "export")
CARRIED = (*LAYERS, "scenes", "assets", "examples")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "out", "build", "dist", "*.egg-info", "tests", "docs")
OFFLINE = ("Could not find a version", "No matching distribution", "Connection", "Temporary failure")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "sources", ignore=LEFT_OUT)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, folder / "sources"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode and any(word in done.stderr for word in OFFLINE):
        pytest.skip("what builds wheels can neither be found nor fetched here")
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("holonomy-*.whl")
    return made


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of an environment with the wheel in it; the libraries that it needs are borrowed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    command = [sys.executable, "-m", "pip", f"--python={programs / 'python'}", "install"]
    subprocess.run([*command, "--no-deps", "--no-index", "-q", wheel], check=True, timeout=1500)
    (packages,) = {path.parent for path in folder.rglob("holonomy/__init__.py")}
    (packages.parent / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def run(programs: Path, folder: Path, *command: str) -> str:
    """What an installed program prints, started in a folder with modules that have the project's names."""
    for name in ("sim", "app", "render"):
        (folder / f"{name}.py").write_text("raise RuntimeError('not this one')\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "PYTHONPATH")}
    done = subprocess.run(
        [programs / command[0], *command[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_site_packages_get_one_name_and_everything_under_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"holonomy"}
    for folder in CARRIED:
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        wanted = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
        wanted = {name for name in wanted if not any(part.startswith(".") for part in name.split("/"))}
        assert len(wanted) > 5
        assert {f"holonomy/lib/{name}" for name in wanted} - names == set()


def test_the_command_lists_scenes_and_flies_one_from_any_folder(programs: Path, tmp_path: Path) -> None:
    listed = run(programs, tmp_path, "holonomy", "--list")
    assert [line.split()[0] for line in listed.splitlines()] == list(scene_names())
    flown = run(programs, tmp_path, "holonomy", "canyon", "--headless", "--seconds", "1")
    assert flown.startswith("canyon: 1 s, helicopter under ")
    pictured = run(programs, tmp_path, "python", "-m", "holonomy", "plain", "--headless", "--seconds", "0.1")
    assert pictured.startswith("plain: 0.1 s")
    # Its own folders look for it where a path of the user's leads nowhere.
    own = run(programs, tmp_path, "holonomy", "examples/trike", "--headless", "--seconds", "0.1")
    assert own.startswith("trike: 0.1 s")


def test_studies_and_the_version_are_told_by_the_command(programs: Path, tmp_path: Path) -> None:
    assert run(programs, tmp_path, "holonomy", "--version").startswith("holonomy 0.")
    assert "fig3" in run(programs, tmp_path, "holonomy", "study", "--help")


def test_the_readmes_script_runs_by_the_installed_name(programs: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = "\n".join(
        re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    )  # the second goes on with the first
    folder = tmp_path / "scripts"
    folder.mkdir()
    script = folder / "example.py"
    script.write_text(example.replace("import sim\n", "from holonomy import sim\n") + "print(sim.__file__)\n")
    printed = run(programs, tmp_path, "python", str(script))
    assert "rk4 4" in printed
    assert Path(printed.splitlines()[-1]).parts[-4:] == ("holonomy", "lib", "sim", "__init__.py")


COPIES = """
import sys
from holonomy import export, render, sim, ui
import sim as same
assert same is sim
assert sim.groups.__name__ == "sim.groups"
objects = {id(module): module for module in sys.modules.values()}.values()  # an old name may lead to one
files = [module.__file__ for module in objects if getattr(module, "__file__", None)]
ours = [file for file in files if "/site-packages/holonomy/" in file.replace("\\\\", "/")]
assert len(ours) > 20
print(len(ours) - len(set(ours)))
try:
    import holonomy.sim
except ModuleNotFoundError as error:
    print(error)
"""


def test_there_is_one_copy_of_every_module(programs: Path, tmp_path: Path) -> None:
    script = tmp_path / "copies.py"
    script.write_text(COPIES)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert run(programs, folder, "python", str(script)).splitlines() == [
        "0",
        "No module named 'holonomy.sim'",
    ]


def test_another_module_of_that_name_is_told_of(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    script = tmp_path / "other" / "script.py"
    script.write_text("try:\n    from holonomy import sim\nexcept ImportError as error:\n    print(error)\n")
    (tmp_path / "other" / "sim.py").write_text("")
    told = run(programs, tmp_path, "python", str(script))
    assert told.strip() == f"{tmp_path / 'other' / 'sim.py'} hides Holonomy's own sim"
