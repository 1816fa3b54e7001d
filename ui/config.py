"""Where the user's settings live: the layout of the panels, the size of the interface."""

import json
from pathlib import Path

from sim.folders import user_folder


def config_dir() -> Path:
    """The user's configuration folder, created on demand. `$HOLONOMY_CONFIG` overrides the platform's.

    Raises InputError where the folder cannot be made.
    """
    return user_folder(
        "HOLONOMY_CONFIG",
        windows="APPDATA",
        library="Application Support",
        xdg="XDG_CONFIG_HOME",
        home=".config",
    )


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
