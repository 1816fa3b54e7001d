"""Generated arrays on disk: named by what made them, written whole or not at all."""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from sim.cache import cache_dir

Arrays = dict[str, np.ndarray]


def source_digest(*modules: str) -> str:
    """Short digest of source files: a cache named by it can never outlive the code that filled it."""
    digest = hashlib.sha256()
    for path in sorted(modules):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:12]


def package_digest(package_init: str, names: Iterable[str]) -> str:
    """`source_digest` of the named sibling modules of a package's file.

    To be taken when a module is imported: later the files may no longer be the code that runs.
    """
    folder = Path(package_init).parent
    return source_digest(*(str(folder / f"{name}.py") for name in names))


def _read(path: Path) -> Arrays | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def cached_arrays(kind: str, name: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays stored as `name` in the cache folder `kind`; made and stored when absent or unreadable.

    Uncompressed, so that loading costs little more than reading the bytes. A folder that cannot be
    written only costs the time to make the arrays again.
    """
    return cached_family(kind, name, lambda: {name: make()})


def cached_family(kind: str, name: str, make: Callable[[], dict[str, Arrays]]) -> Arrays:
    """Like `cached_arrays` for things that are made together: `make` returns all of them by name."""
    folder = cache_dir(kind)
    arrays = _read(folder / f"{name}.npz")
    if arrays is not None:
        return arrays
    family = make()
    for member, made in family.items():
        with suppress(OSError):
            _write(folder / f"{member}.npz", made)
    return family[name]
