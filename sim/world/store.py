"""Generated arrays on disk: named by what made them, written whole or not at all."""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from sim.platform.cache import found, keep, turn

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


_FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "contact")
KERNEL_DIGEST = source_digest(*(str(path) for folder in _FOLDERS for path in folder.glob("*.py")))
"""Of all that is compiled for worlds and for the contact with them: what they made should be named by it."""


def _read(kind: str, name: str) -> Arrays | None:
    path = found(kind, name)
    if path is None:
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:  # a damaged file can make numpy fail in any way
        return None


def cached_arrays(kind: str, name: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays stored as `name` in the cache folder `kind`; made and stored when absent or unreadable.

    Uncompressed, so that loading costs little more than reading the bytes. A folder that cannot be
    written only costs the time to make the arrays again.
    """
    return cached_family(kind, name, lambda: {name: make()})


def cached_family(kind: str, name: str, make: Callable[[], dict[str, Arrays]]) -> Arrays:
    """Like `cached_arrays` for things that are made together: `make` returns all of them by name."""
    arrays = _read(kind, f"{name}.npz")
    if arrays is not None:
        return arrays
    with turn(kind, f"{name}.npz"):
        arrays = _read(kind, f"{name}.npz")
        if arrays is not None:
            return arrays
        family = make()
        for member, made in family.items():
            keep(kind, f"{member}.npz", partial(_write, arrays=made))
        return family[name]


def _write(path: Path, arrays: Arrays) -> None:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
