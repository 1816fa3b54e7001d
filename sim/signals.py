"""Being asked to end."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SAVING_S = 5.0
"""In which what was flown is saved: being asked again then changes nothing."""


@contextmanager
def ended_by_signals(clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Being asked to end, or losing the terminal, leaves by the way that Ctrl+C takes: what was flown is saved.

    Asked again after SAVING_S, it is tried again: what is raised within a callback of a library is lost there.
    """
    before = {}
    asked_s = clock() - SAVING_S

    def leave(number: int, _frame: object) -> None:
        nonlocal asked_s
        if clock() - asked_s >= SAVING_S:
            asked_s = clock()
            raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
