"""Files that appear complete or not at all."""

import errno
import itertools
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_PART = re.compile(r"\..+\.\d+-\d+\.part")
_ABANDONED_S = 3600.0
"""A part that has not grown for so long belongs to nobody any more."""
_numbers = itertools.count()


@contextmanager
def replacing(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the name of `path` at the end, and goes at an error.

    lasting: the content is on the disk before the name is, so that not even a power cut leaves half a file.
    A link is followed: it goes on leading to the file. Raises OSError where the file cannot be created, before
    anything costly is done, or finished, and where something else has the name: devices are not replaced.
    """
    path = _place(path)
    temporary = _temporary_path(path)
    try:
        temporary.touch()
        _clear_parts(path.parent)
        yield temporary
        if lasting:
            _settle(temporary)
        os.replace(temporary, path)
        if lasting:
            _settle_name(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Raises OSError where a file of that name could not be created. Leaves nothing."""
    temporary = _temporary_path(_place(path))
    try:
        temporary.touch()
    finally:
        temporary.unlink(missing_ok=True)


def _place(path: Path) -> Path:
    """Where a file of that name really lies; OSError where something else does."""
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is no ordinary file")
    return path


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.part")


def _settle(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _settle_name(folder: Path) -> None:
    if os.name != "posix":
        return
    with suppress(OSError):  # not every file system knows how
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@cache
def _clear_parts(folder: Path) -> None:
    """Once a process: remove what runs that were killed have left."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _PART.fullmatch(path.name) and time.time() - path.stat().st_mtime > _ABANDONED_S:
                path.unlink(missing_ok=True)


def file_stem(name: str, otherwise: str) -> str:
    """Letters, digits, dots and dashes of a name; `otherwise` where nothing is left of it."""
    return "".join(c if c.isalnum() or c in "-." else "-" for c in name).strip(".-") or otherwise
