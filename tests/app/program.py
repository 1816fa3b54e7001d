"""Running the app as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import app

ROOT = Path(app.__file__).resolve().parent


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
