"""The user's folders, where each platform has them."""

import os
import sys
from pathlib import Path

from sim.errors import InputError


def user_folder(variable: str, *, windows: str, library: str, xdg: str, home: str, inner: str = "") -> Path:
    """A folder of the project's own for one purpose, created on demand.

    variable: of the environment, overrides the platform's place. windows, xdg: variables that name that place;
    library: its name under macOS; home: what `xdg` defaults to. Raises InputError where the folder cannot be made.
    """
    override = os.environ.get(variable)
    if override:
        root = Path(override)
    elif sys.platform == "win32":
        root = Path(os.environ.get(windows, Path.home())) / "holonomy"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / library / "holonomy"
    else:
        root = Path(os.environ.get(xdg, Path.home() / home)) / "holonomy"
    folder = root / inner
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"the folder {folder} cannot be made ({error.strerror})"
        raise InputError(f"{why}; {variable} may name one that can be written") from None
    return folder
