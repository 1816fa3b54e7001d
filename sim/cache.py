"""Where generated, re-creatable things live on disk: compiled kernels, worlds."""

import os
import sys
from pathlib import Path

from sim.errors import InputError


def cache_dir(kind: str) -> Path:
    """Folder for one kind of generated file, created on demand.

    `$HOLONOMY_CACHE` overrides the platform's cache folder. Raises InputError where the folder cannot be made.
    """
    override = os.environ.get("HOLONOMY_CACHE")
    if override:
        root = Path(override)
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "holonomy"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "holonomy"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "holonomy"
    folder = root / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the cache folder {folder} cannot be made ({error.strerror}); "
            "HOLONOMY_CACHE may name one that can be written"
        ) from None
    return folder
