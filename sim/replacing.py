"""Files that appear complete or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the name of `path` at the end, and goes at an error.

    A link is followed: it goes on leading to the file. Raises OSError where the file cannot be created, before
    anything costly is done, or finished, and where something else has the name: devices are not replaced.
    """
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is no ordinary file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.touch()
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def file_stem(name: str, otherwise: str) -> str:
    """Letters, digits, dots and dashes of a name; `otherwise` where nothing is left of it."""
    return "".join(c if c.isalnum() or c in "-." else "-" for c in name).strip(".-") or otherwise
