"""Memory over changes of scene."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_changes_of_scene_leave_no_memory_behind() -> None:
    """Measured: 60 to 70 MB up and down; without giving back 145 to 260 MB more than what is in use."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.render.scene_changes"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 120.0
