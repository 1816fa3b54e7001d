"""Where the user's settings live: the layout of the panels, the size of the interface."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from sim.errors import InputError
from sim.folders import user_folder
from sim.user_files import as_type, json_value, read_text, refusals

LEAST_SCALE, LARGEST_SCALE = 0.5, 3.0


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
    """Interface scale of the last session; the default where it was never set.

    A file that is damaged gets the ending `.damaged`, and the default counts.
    """
    path = folder / "interface.json"
    if not path.exists():
        return default
    try:
        with refusals(path, "no settings"):
            scale = as_type(as_type(json_value(read_text(path)), dict[str, Any])["scale"], float)
            if not LEAST_SCALE <= scale <= LARGEST_SCALE:
                raise InputError(f"scale = {scale:g}; allowed: {LEAST_SCALE:g} to {LARGEST_SCALE:g}")
    except InputError:
        _set_aside(path)
        return default
    return scale


def _set_aside(path: Path) -> None:
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged"))


def write_scale(folder: Path, scale: float) -> None:
    """Remember the interface scale; a folder that cannot be written costs only the memory."""
    try:
        (folder / "interface.json").write_text(json.dumps({"scale": scale}))
    except OSError:
        return
