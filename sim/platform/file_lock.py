"""Processes take turns at making what the cache lacks: one makes it, the others wait and find it there.

The turns are locks on bytes of one file, which the system gives back when a process ends, however it does. Where there
are none (another system, a cache that cannot be written) everybody makes his own.
"""

import hashlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sim.platform.cache import cache_dir, can_keep

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_S = 60.0
"""Whoever has waited for so long makes it himself: the other may have been stopped, or stand back for everything."""
_FIRST_LOOK_S, _LAST_LOOK_S = 0.002, 0.05


@contextmanager
def turn(kind: str, name: str) -> Iterator[None]:
    """Alone, among all processes of this cache, with what `sim.platform.cache.keep(kind, name, ...)` keeps.

    Whoever enters looks in the cache first: he may have waited for it. Turns may be nested where what is made never
    needs itself. Threads of one process do not wait for each other.
    """
    folder = cache_dir("turns")
    if fcntl is None or folder is None or not can_keep(kind):
        yield
        return
    place = folder / "taken"
    byte = int.from_bytes(hashlib.sha256(f"{kind}/{name}".encode()).digest()[:7])
    taken = _taken(place, byte)
    try:
        yield
    finally:
        if taken:
            _give_back(place, byte)


class _File:
    """Open while this process has turns: closing it gives all of them back."""

    def __init__(self, place: Path) -> None:
        self.number = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.turns: Counter[int] = Counter()
        """How many threads have which byte."""


_lock = threading.Lock()
held_files: dict[Path, _File] = {}
"""Of which this process has turns now."""


def _taken(place: Path, byte: int) -> bool:
    end_s, look_s = time.monotonic() + LONGEST_S, _FIRST_LOOK_S
    while True:
        with _lock:
            try:
                if _tried(place, byte):
                    return True
            except OSError:
                return False
        if time.monotonic() >= end_s:
            return False
        time.sleep(look_s)
        look_s = min(1.5 * look_s, _LAST_LOOK_S)


def _tried(place: Path, byte: int) -> bool:
    file = held_files.get(place) or _File(place)
    try:
        if byte not in file.turns:
            fcntl.lockf(file.number, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):  # which of the two, the system chooses
        return False
    else:
        file.turns[byte] += 1
        held_files[place] = file
        return True
    finally:
        if not file.turns:
            os.close(file.number)


def _give_back(place: Path, byte: int) -> None:
    with _lock:
        file = held_files[place]
        file.turns[byte] -= 1
        if file.turns[byte]:
            return
        del file.turns[byte]
        if file.turns:
            with suppress(OSError):
                fcntl.lockf(file.number, fcntl.LOCK_UN, 1, byte)
        else:
            del held_files[place]
            os.close(file.number)
