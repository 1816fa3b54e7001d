"""Being asked to end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Being asked to end, or losing the terminal, leaves by the way that Ctrl+C takes: what was flown is saved."""
    before = {}

    def leave(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # once: the second must not stop the saving
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
