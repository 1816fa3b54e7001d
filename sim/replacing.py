"""Files that appear complete or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the name of `path` at the end, and goes at an error.

    Raises OSError where the file cannot be created, before anything costly is done, or finished.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "is a folder")
        temporary.touch()
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def file_stem(name: str, otherwise: str) -> str:
    """Letters, digits, dots and dashes of a name; `otherwise` where nothing is left of it."""
    return "".join(c if c.isalnum() or c in "-." else "-" for c in name).strip(".-") or otherwise
