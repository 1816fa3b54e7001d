"""Folders whose programs the user has said may be run, remembered by path and content.

A file in a trusted folder may change: the word holds as long as the folder is the one that it was given for, or as long
as the file still says what it said when it was last run. Where both have changed, something else has taken the place.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sim.platform.cache import user_folder
from sim.platform.errors import InputError, UntrustedFile
from sim.platform.replacing import replacing
from sim.platform.user_files import as_type, json_value, read_text, refusals

MOST_FOLDERS = 1000
"""That are remembered; the oldest word goes first."""
_FILE = "trusted.json"


@dataclass(frozen=True, slots=True)
class _Word:
    """Of the user, for one folder."""

    identity: int = 0
    """The folder's own number in its file system."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file that was run, by name, as it was then."""


def require_trust(file: Path, word: bool | Path, say: Callable[[str], str] = str) -> None:
    """Returns where a user's program may be run; raises UntrustedFile, in the words of `say`, where it may not.

    file: links followed. word: the user's, now: True for whatever is asked for, or for this file only. It is
    remembered for the file's folder.
    """
    words = _words()
    before = words.pop(str(file.parent), None)
    try:
        identity, digest = file.parent.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    known = before is not None and (before.identity == identity or before.files.get(file.name) == digest)
    if not known and word is not True and word != file:
        raise UntrustedFile(
            say(f"{file} is a program in a folder that you have not trusted; allowed: --trust, once"), file
        )
    files = dict(before.files) if known and before is not None else {}
    now = _Word(identity, files | {file.name: digest})
    if now != before:
        words[str(file.parent)] = now
        _remember(words)


def config_folder() -> Path:
    """The user's, created on demand. Raises InputError where it cannot be made."""
    return user_folder(
        "HOLONOMY_CONFIG",
        windows="APPDATA",
        library="Application Support",
        xdg="XDG_CONFIG_HOME",
        home=".config",
    )


def _words() -> dict[str, _Word]:
    """By folder, the oldest first; none where the file is damaged."""
    with suppress(InputError):
        path = config_folder() / _FILE
        if path.exists():
            with refusals(path, "no list of trusted folders"):
                return as_type(json_value(read_text(path)), dict[str, _Word])
    return {}


def _remember(words: dict[str, _Word]) -> None:
    """A folder that cannot be written costs only the memory."""
    kept = {folder: asdict(words[folder]) for folder in list(words)[-MOST_FOLDERS:]}
    with suppress(InputError, OSError), replacing(config_folder() / _FILE) as draft:
        draft.write_text(json.dumps(kept, indent=1), encoding="utf-8")
