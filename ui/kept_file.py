"""What the user's folder keeps of one kind, as JSON: read guarded, damaged files set aside, written whole or not."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.user_files import as_type, json_value, read_text, refusals, require_finite
from ui.config import set_aside

Kept = TypeVar("Kept")


def read_kept(path: Path, kind: type[Kept], what: str, check: Callable[[Kept], None]) -> Kept:
    """The dataclass `kind` that a file holds, its defaults where there is none.

    One that is damaged, or that `check` refuses by InputError, gets the ending `.damaged`. what: "no settings".
    """
    if not path.exists():
        return kind()
    try:
        with refusals(path, what):
            value = json_value(read_text(path))
            require_finite(value)
            kept = as_type(value, kind)
            check(kept)
    except InputError:
        set_aside(path)
        return kind()
    return kept


def write_kept(path: Path, kept: Any) -> None:
    """A folder that cannot be written costs only the memory."""
    with suppress(OSError), replacing(path, lasting=False) as draft:
        draft.write_text(json.dumps(asdict(kept), indent=1), encoding="utf-8")
