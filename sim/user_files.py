"""Files that a user brings along, read within bounds: whatever is wrong with one is a refusal of one line."""

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, get_type_hints

import msgspec

from sim.errors import InputError, shortened

MOST_TEXT_BYTES = 1 << 20
"""Of a settings file or a scene."""
DEEPEST = 32
"""Brackets within brackets, or tables within tables."""

T = TypeVar("T")


@contextmanager
def refusals(path: str | Path, kind: str) -> Iterator[None]:
    """Within, everything that goes wrong becomes an InputError that begins with the path. kind: "no take".

    A damaged file can make any library fail in any way, so nothing is let through but what ends the program.
    """
    source = shortened(str(path), 120)
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or f'is {kind}'}") from None
    except KeyError as error:
        raise InputError(f"{source}: is {kind} ({error} is missing)") from None
    except RecursionError:
        raise InputError(f"{source}: is {kind} (too deeply nested)") from None
    except MemoryError:
        raise InputError(f"{source}: is {kind} (larger than the memory)") from None
    except Exception as error:
        raise InputError(f"{source}: is {kind} ({str(error) or type(error).__name__})") from None


def opened(path: str | Path) -> BinaryIO:
    """An ordinary file, links followed. Never waits, as for a pipe; InputError for what is none, OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError("is no ordinary file")
    # It may have been replaced meanwhile.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError("is no ordinary file")
    return file


def read_text(path: str | Path, most_bytes: int = MOST_TEXT_BYTES) -> str:
    """A text in UTF-8, with or without a mark of its encoding. Raises InputError, OSError or ValueError."""
    with opened(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"is too large; allowed: {most_bytes} bytes")
    return data.decode("utf-8-sig")


def json_value(text: str) -> Any:
    """What a JSON text says. Raises InputError, ValueError or RecursionError.

    Refused are nesting deeper than DEEPEST and texts that cannot be shown.
    """
    value = json.loads(text)
    left = [(value, 0)]
    while left:
        item, depth = left.pop()
        if depth > DEEPEST:
            raise InputError(f"too deeply nested; allowed: {DEEPEST} levels")
        if isinstance(item, str):
            item.encode()  # halves of characters, which JSON can write, are a ValueError
        elif isinstance(item, list):
            left += [(inner, depth + 1) for inner in item]
        elif isinstance(item, dict):
            left += [(inner, depth + 1) for pair in item.items() for inner in pair]
    return value


def require_finite(value: Any) -> None:
    """Raises ValueError where a number within is none, or without bounds: JSON as Python writes it has such."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} where a finite number belongs")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        require_finite(inner)


def as_type(value: Any, kind: type[T]) -> T:
    """Lists, dicts and numbers out of a file as a dataclass with types of its own, or the like.

    Raises ValueError with the place where they do not fit.
    """
    return msgspec.convert(value, kind)


def as_fields(values: Any, kind: type, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values that are fields of a dataclass, each as its type there, `but` some. Raises ValueError as `as_type`."""
    hints = get_type_hints(kind)
    given = as_type(values, dict[str, Any])
    if unknown := given.keys() - hints.keys():
        raise ValueError(f"unknown {min(unknown)}")
    return {name: as_type(value, hints[name]) for name, value in given.items() if name not in but}
