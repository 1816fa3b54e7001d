"""Signals that ask to end: saving what was flown first, and hearing Ctrl+C where a library swallows it."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

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


@contextmanager
def interrupts_heard() -> Iterator[Callable[[], None]]:
    """Gives a function that raises KeyboardInterrupt where one has been raised and lost since.

    Compilers and solvers call back into Python, and what is raised there is printed and forgotten. Outside of the main
    thread, or where somebody else handles the signal, nothing is done.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield lambda: None
        return
    asked = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.default_int_handler(number, frame)

    def check() -> None:
        if asked:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
