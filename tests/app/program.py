"""Running the app as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import app

ROOT = Path(app.__file__).resolve().parent
EVIL = """
from pathlib import Path

Path(__file__).with_name("marker").touch()

from sim.vehicles.rigid_body import RigidBody

class Evil(RigidBody):
    name = "evil"
"""
"""A vehicle's file that leaves a mark when it is run."""


def run_app(*arguments: object, timeout_s: float = 1500.0) -> subprocess.CompletedProcess[str]:
    """`python app.py ARGUMENTS` without a display."""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        [sys.executable, str(ROOT / "app.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=environment,
        check=False,
    )
