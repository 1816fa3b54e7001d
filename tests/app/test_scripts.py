"""./run and ./test set up only what is missing, and say exactly what they may not install themselves."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import app

ROOT = Path(app.__file__).resolve().parent
SCRIPTS = ("run", "test", ".ci/run", "scripts/setup.sh")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the scripts' Linux side")

FAKE_PYTHON = """#!/bin/sh
echo "python $*" >>"$LOG"
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
esac
"""


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


class Checkout:
    """A copy of the scripts with stand-ins for Python and the system's programs, which log their calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "check out"
        self.programs = folder / "programs"
        self.log = folder / "log"
        for name in (*SCRIPTS, "pyproject.toml", "constraints.txt"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        self.programs.mkdir()
        write_program(self.programs / "python3", FAKE_PYTHON)
        write_program(
            self.programs / "ldconfig", "#!/bin/sh\necho libGLX_nvidia.so.0\n" + self._all_libraries()
        )
        for name in ("Xvfb", "xdotool"):
            write_program(self.programs / name, "#!/bin/sh\n")

    def _all_libraries(self) -> str:
        words = (self.folder / "scripts/setup.sh").read_text().split()
        names = [word.split(":")[0] for word in words if word.startswith("lib") and ":" in word]
        assert "libGL.so.1" in names
        return "".join(f"echo {name}\n" for name in names)

    def start(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "LOG": str(self.log),
            "HOME": str(self.folder),
        }
        return subprocess.run(
            [self.folder / script, *arguments],
            env=environment,
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )

    def calls(self) -> list[str]:
        lines = self.log.read_text().splitlines()
        self.log.unlink()
        return lines


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_are_sound_bash(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "-x", script], check=True, cwd=ROOT)


def test_a_second_run_starts_nothing_but_the_app(checkout: Checkout) -> None:
    assert checkout.start("run", "plain").returncode == 0
    first = checkout.calls()
    assert any(line.startswith("python -m venv") for line in first)
    assert sum("pip install" in line for line in first) == 1
    assert checkout.start("run", "plain", "--demo").returncode == 0
    (only,) = checkout.calls()
    assert only.endswith("plain --demo")
    assert "app.py" in only


def test_changed_requirements_are_installed_again_into_the_same_environment(checkout: Checkout) -> None:
    checkout.start("run")
    checkout.calls()
    with (checkout.folder / "constraints.txt").open("a") as file:
        file.write("# changed\n")
    assert checkout.start("run").returncode == 0
    calls = checkout.calls()
    assert sum("pip install" in line for line in calls) == 1
    assert not any("-m venv" in line for line in calls)


def test_the_suite_installs_its_own_tools_and_checks_style_format_types_and_tests(checkout: Checkout) -> None:
    checkout.start("run")
    checkout.calls()
    assert checkout.start(".ci/run").returncode == 0
    calls = checkout.calls()
    assert sum("[dev]" in line for line in calls) == 1
    order = [line.split(" -m ", 1)[1].split()[0] for line in calls if " -m " in line]
    assert order[-4:] == ["ruff", "ruff", "mypy", "pytest"]


def test_a_missing_library_is_named_with_the_exact_command_where_it_may_not_be_installed(
    checkout: Checkout,
) -> None:
    listing = (checkout.programs / "ldconfig").read_text().replace("echo libEGL.so.1\n", "")
    write_program(checkout.programs / "ldconfig", listing)
    write_program(checkout.programs / "id", "#!/bin/sh\necho 1000\n")
    write_program(checkout.programs / "apt-get", "#!/bin/sh\nexit 9\n")
    result = checkout.start("run")
    assert result.returncode == 1
    assert "sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1\n" in result.stderr
    assert not any("app.py" in line for line in checkout.calls())


def test_a_missing_library_is_installed_where_it_may_be(checkout: Checkout) -> None:
    listing = (checkout.programs / "ldconfig").read_text().replace("echo libX11.so.6\n", "")
    write_program(checkout.programs / "ldconfig", listing)
    write_program(checkout.programs / "id", "#!/bin/sh\necho 0\n")
    write_program(checkout.programs / "apt-get", '#!/bin/sh\necho "apt-get $*" >>"$LOG"\n')
    assert checkout.start("run").returncode == 0
    installs = [line for line in checkout.calls() if line.startswith("apt-get") and "install" in line]
    assert len(installs) == 1
    assert installs[0].split()[-1] == "libx11-6"


EXTRAS = {
    "anywidget",
    "capytaine",
    "cma",
    "dask",
    "distributed",
    "gymnasium",
    "mcap",
    "pin",
    "pymavlink",
    "pyulog",
    "rerun-sdk",
    "traitlets",
    "usd-core",
    "websockets",
    "xarray",
}
"""Asked for by what one may leave out: USD files and logs, clusters, learning, other programs."""
NOT_HERE = {"capytaine": "capytaine", "pinocchio": "pin", "rerun": "rerun-sdk"}
"""Of those, by what is imported, what the tests do without for its size."""


def requirements(lines: list[str]) -> dict[str, Requirement]:
    """By the name of the distribution."""
    found = [Requirement(line) for line in lines]
    return {each.name.lower(): each for each in found if each.marker is None or each.marker.evaluate()}


def test_what_the_program_imports_is_installed_with_it_in_versions_that_were_tested() -> None:
    """A clone that ./run has set up has what its main paths import, robots' files included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = requirements(project["dependencies"])
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    tested = requirements([line for line in pins if line and not line.startswith("#")])
    imported = {
        name.split(".")[0]
        for folder in ("sim", "render", "ui", "export", "studies")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
        )
    }
    sources = packages_distributions()
    for name in imported - set(sys.stdlib_module_names) - {"app", "sim", "render", "ui", "export", "studies"}:
        distributions = {each.lower() for each in sources.get(name, [NOT_HERE.get(name, "")])}
        assert distributions & (set(needed) | EXTRAS), name
    for name, requirement in needed.items():
        (pin,) = tested[name].specifier
        assert requirement.specifier.contains(pin.version), name
