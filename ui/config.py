"""Where the user's settings live: the layout of the panels, the size of the interface."""

import json
import logging
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.trust import config_folder
from sim.platform.user_files import as_type, json_value, read_text, refusals

LEAST_SCALE, LARGEST_SCALE = 0.5, 3.0
VARIABLE = "HOLONOMY_CONFIG"
AHEAD = "HOLONOMY_AHEAD"
_log = logging.getLogger("holonomy")


def config_dir() -> Path:
    """The user's configuration folder, created on demand. `$HOLONOMY_CONFIG` overrides the platform's.

    Where the platform's cannot be made, a temporary one serves this run, and the terminal is told. Raises InputError
    where the one that the variable names cannot be made.
    """
    try:
        return config_folder()
    except InputError as error:
        if os.environ.get(VARIABLE):
            raise
        return _of_this_run(str(error))


@cache
def _of_this_run(reason: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="holonomy-"))
    _log.warning("holonomy: %s; settings, takes and plans of this run are in %s", reason, folder)
    return folder


def prepares_ahead() -> bool:
    """Whether kernels are compiled before they are asked for: unless `$HOLONOMY_AHEAD` is 0."""
    return os.environ.get(AHEAD) != "0"


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
        set_aside(path)
        return default
    return scale


def set_aside(path: Path) -> None:
    """Give a damaged file the ending `.damaged`, where that can be."""
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged"))


def write_scale(folder: Path, scale: float) -> None:
    """Remember the interface scale; a folder that cannot be written costs only the memory."""
    with suppress(OSError), replacing(folder / "interface.json") as draft:
        draft.write_text(json.dumps({"scale": scale}))
