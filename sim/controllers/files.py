"""A user's own controller: a class in a Python file, named `hover.py:Hover`, and the file as it is saved anew.

Nothing of a user's file is run that he has not trusted: `sim.platform.user_files`.
"""

import ast
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from sim.controllers.controller import Controller
from sim.platform.errors import InputError
from sim.platform.user_files import found_file, list_of, require_trust, run_own

_MOST_BYTES = 1 << 20


def holds_controller(path: Path) -> bool:
    """Whether a Python file declares a controller, by its text alone: nothing of it is run."""
    with suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        if path.suffix == ".py" and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            bases = [
                base
                for node in ast.walk(ast.parse(path.read_bytes()))
                if isinstance(node, ast.ClassDef)
                for base in node.bases
            ]
            return any(ast.unparse(base).rpartition(".")[2] == Controller.__name__ for base in bases)
    return False


def load_controller(
    reference: str, folders: Sequence[Path], *, trusted: bool | Path = False
) -> tuple[type[Controller], Path]:
    """(the class that `FILE.py:CLASS` names, its file), looked for in `folders`; without a class the file's only one.

    The file is run, as it is now. trusted: the user's word, as in `sim.scene.load_scene`. Raises InputError in one line
    for a missing file or class and for an error in the file, UntrustedFile where it may not be run.
    """
    file, _, class_name = reference.partition(":")
    path = found_file("controller", file, folders)
    require_trust(path, trusted)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if len(source) > _MOST_BYTES:
        raise InputError(f"{path}: {len(source)} bytes are refused; allowed: {_MOST_BYTES}")
    module = run_own("controller", reference, path, source)
    found = {name: kind for name, kind in vars(module).items() if _is_own(kind, module)}
    if not class_name and len(found) == 1:
        (class_name,) = found
    if class_name not in found:
        raise InputError(
            f"controller {reference!r}: {path.name} has no controller {class_name!r}; it has: {list_of(found)}"
        )
    return found[class_name], path


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Controller) and value.__module__ == module.__name__
