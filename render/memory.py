"""Memory that a scene has freed goes back to the system.

The C library keeps what is freed for later, in pieces between what is still in use: with worlds that are made by
other threads the process grows by some thirty megabytes a scene, though nothing of the old ones is left.
"""

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Takes some milliseconds; does nothing where the C library has no such call."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """`malloc_trim` of glibc; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
