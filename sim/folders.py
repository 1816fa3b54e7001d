"""The user's folders, where each platform has them."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from sim.errors import InputError


def user_place(variable: str, *, windows: str, library: str, xdg: str, home: str) -> Path | None:
    """Where the project's own files of one purpose belong; nothing is created. None where no home is known.

    variable: of the environment, overrides the platform's place. windows, xdg: variables that name that place;
    library: its name under macOS; home: what `xdg` defaults to. Empty variables count as missing ones, and so do
    relative ones of the platform, as its conventions have it.
    """
    override = os.environ.get(variable)
    if override:
        return Path(os.path.abspath(os.path.expanduser(override)))
    named = os.environ.get(windows if sys.platform == "win32" else xdg, "")
    if sys.platform != "darwin" and os.path.isabs(named):
        return Path(named) / "holonomy"
    own = _home()
    if own is None:
        return None
    if sys.platform == "win32":
        return own / "holonomy"
    return own / (f"Library/{library}" if sys.platform == "darwin" else home) / "holonomy"


def _home() -> Path | None:
    """Of the user; None where neither the environment nor the system knows one."""
    named = os.environ.get("HOME", "")
    if not named and sys.platform == "win32":
        named = os.path.expanduser("~")
    elif not named:
        import pwd

        with suppress(KeyError):
            named = pwd.getpwuid(os.getuid()).pw_dir
    return Path(named) if os.path.isabs(named) else None


def user_folder(variable: str, *, windows: str, library: str, xdg: str, home: str) -> Path:
    """As `user_place`, created on demand. Raises InputError where that cannot be."""
    folder = user_place(variable, windows=windows, library=library, xdg=xdg, home=home)
    if folder is None:
        raise InputError(f"no home folder is known; {variable} may name one that can be written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"the folder {folder} cannot be made ({error.strerror})"
        raise InputError(f"{why}; {variable} may name one that can be written") from None
    return folder
