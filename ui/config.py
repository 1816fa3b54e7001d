"""Where the user's settings live: the layout of the panels, the size of the interface."""

import json
import os
import sys
from pathlib import Path

from sim.errors import InputError


def config_dir() -> Path:
    """The user's configuration folder, created on demand. `$HOLONOMY_CONFIG` overrides the platform's.

    Raises InputError where the folder cannot be made.
    """
    override = os.environ.get("HOLONOMY_CONFIG")
    if override:
        folder = Path(override)
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA", Path.home())) / "holonomy"
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support" / "holonomy"
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config")) / "holonomy"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the settings folder {folder} cannot be made ({error.strerror}); "
            "HOLONOMY_CONFIG may name one that can be written"
        ) from None
    return folder


def read_scale(folder: Path, default: float = 1.0) -> float:
    """Interface scale of the last session; the default where it was never set or cannot be read."""
    try:
        scale = float(json.loads((folder / "interface.json").read_text())["scale"])
    except (OSError, ValueError, KeyError, TypeError):
        return default
    return scale if 0.5 <= scale <= 3.0 else default


def write_scale(folder: Path, scale: float) -> None:
    """Remember the interface scale; a folder that cannot be written costs only the memory."""
    try:
        (folder / "interface.json").write_text(json.dumps({"scale": scale}))
    except OSError:
        return
