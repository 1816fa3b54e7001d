"""How long tests wait for what others do: threads, processes, windows, browsers."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 600.0
"""What takes a second on an idle machine comes within it on a slow and busy one; no test asserts how soon."""


def wait_until(holds: Callable[[], T], told: str | Callable[[], object] = "", every_s: float = 0.02) -> T:
    """What `holds` gives once it counts as true; fails with what is told where it never does."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < end_s, told() if callable(told) else told
        time.sleep(every_s)
    return found
