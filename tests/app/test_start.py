"""What a start does not load: it would be waited for before there is a first frame."""

import os
import subprocess
import sys

import pytest

from tests.app.program import ROOT

HEAVY = (
    "av",
    "cma",
    "distributed",
    "glfw",
    "gymnasium",
    "matplotlib",
    "mujoco",
    "numpy.ma",
    "pandas",
    "pxr",
    "pydantic",
    "rich",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.sparse",
    "tomlkit",
)
"""Libraries that films, studies, fits, solvers and whoever writes files ask for when they begin."""
LISTS_DO_WITHOUT = (
    *HEAVY,
    "PIL",
    "imgui_bundle",
    "moderngl",
    "pyglet",
    "sim.water.flip",
    "sim.simulation",
)
OPENING = "import ui.desktop.window_run"
WINDOW = "import ui.desktop.window_run, ui.features.scenes.preparation, ui.desktop.session"


def loaded(program: str) -> set[str]:
    """Modules that are there after a program in a process of its own."""
    code = f"{program}\nimport sys\nprint('\\n'.join(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    asked = [sys.executable, "-c", code]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("import app", LISTS_DO_WITHOUT),
        (f"import app; {OPENING}", (*HEAVY, "sim.simulation", "sim.commands")),
        (f"import app; {WINDOW}", (*HEAVY, "PIL.ImageDraw", "sim.water.flip", "sim.analysis.identify")),
    ],
    ids=["lists and refusals", "the opening screen", "a window's first frame"],
)
def test_nothing_is_loaded_that_it_does_not_need(program: str, without: tuple[str, ...]) -> None:
    there = loaded(program)
    assert "numpy" in there
    assert sorted(there & set(without)) == []
