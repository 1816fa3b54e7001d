"""The walks through the program that docs/contributing.md tells are walks: file by file along imports, and run."""

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from sim.commands import PilotInput, SetPilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

ROOT = Path(__file__).parents[2]
MOST = {
    "A key press to a picture": 32,
    "A scene file to a lane": 20,
    "A plan request to an overlay": 22,
}
"""Half of what each took at c7b849e."""


def walks() -> dict[str, list[str]]:
    """Title -> files, as the document has them."""
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    section = text.partition("## Three walks")[2].partition("\n## ")[0]
    found: dict[str, list[str]] = {}
    for title, body in re.findall(r"^(A [a-z ]+):\n\n((?:\d+\. .*\n)+)", section, re.MULTILINE):
        found[title] = re.findall(r"^\d+\. `([^`]+)`", body, re.MULTILINE)
    return found


def imported(path: str) -> set[str]:
    """Files that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            base = node.module.replace(".", "/")
            names = [f"{base}/{alias.name}.py" for alias in node.names]
            found |= {base + ".py", base + "/__init__.py", *names}
    return found


def reached_from(path: str) -> set[str]:
    """The same, and what the packages that it imports pass on."""
    found = imported(path)
    packages = [name for name in found if name.endswith("__init__.py") and (ROOT / name).is_file()]
    return found.union(*map(imported, packages))


@pytest.mark.parametrize("title", MOST)
def test_a_walk_goes_along_imports_and_is_half_as_long_as_it_was(title: str) -> None:
    files = walks()[title]
    assert 10 < len(files) <= MOST[title]
    assert len(set(files)) == len(files)
    reached = {path: reached_from(path) for path in files}
    for k, path in enumerate(files[1:], 1):
        behind = files[:k]
        assert any(path in reached[b] or b in reached[path] for b in behind), path


def passed(work: Callable[[], object]) -> set[str]:
    """Files of the program of which a function is called meanwhile."""
    codes = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return {str(Path(file).relative_to(ROOT)) for file in codes if file.startswith(f"{ROOT}/")}


def test_what_is_listed_of_the_simulation_is_run() -> None:
    """A scene is opened, and a key held in it."""
    told = walks()
    kept: list[Simulation] = []

    def open_it() -> None:
        scene = load_scene("canyon")
        kept.append(Simulation(scene, load_world("canyon", seed=7)))

    def fly() -> None:
        kept[0].submit(SetPilotInput(PilotInput(pitch=0.5)))
        kept[0].advance(0.05)

    opened, flown = passed(open_it), passed(fly)
    # Values and an interface, which have no code of their own that runs.
    values = {"sim/simulation/lanes/snapshot.py", "sim/compiler/stepper.py"}
    assert {f for f in told["A scene file to a lane"] if f.startswith("sim/")} <= opened
    assert {f for f in told["A key press to a picture"] if f.startswith("sim/")} - values <= flown
