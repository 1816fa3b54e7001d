"""Files that were asked for: complete, or refused in one clear line."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sim.platform.replacing


class OutputError(Exception):
    """A file that was asked for could not be written. The message is one clear line."""


@contextmanager
def replacing(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """As `sim.platform.replacing.replacing`, but raises OutputError where the file cannot be created or finished."""
    with naming_file(path), sim.platform.replacing.replacing(path, lasting=lasting) as temporary:
        yield temporary


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """What the system refuses within becomes an OutputError that names this file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None


def check_places(paths: Iterable[Path]) -> None:
    """Raises OutputError for the first of the files that could not be created: before hours of work, not after."""
    for path in paths:
        with naming_file(path):
            sim.platform.replacing.check_place(path)
