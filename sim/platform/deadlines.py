"""Calls of a user's own code that are ended where they do not come back."""

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

ASLEEP = 10.0
"""Deadlines for which a call may sleep."""
_AGAIN_S = 0.1
"""After which a call that has caught its end is told so again."""
_INSISTING_S = 0.001
"""And again from then on: what catches everything is hit between two of its tries only by chance."""


class TookTooLong(BaseException):
    """Raised in a call that does not come back; no handler of the user's is to catch it."""


def ended_after(seconds: float, function: Callable[..., T], *given: Any) -> T:
    """The function's answer; raises TookTooLong in it where it has worked for so long, or slept for ten times as long.

    What other programs leave it of the processor is not its fault, where the system tells how much that was. Python
    code is ended within a millisecond, and again where it goes on all the same; a call into C is waited for.
    """
    lock, thread, over, told = threading.Lock(), threading.get_ident(), threading.Event(), threading.Event()
    worked_s = _worked_by(thread)
    end_s, begin_s = monotonic() + ASLEEP * seconds, worked_s()

    def watch() -> None:
        wait_s, again_s = seconds, _AGAIN_S
        while not over.wait(wait_s):
            if worked_s() - begin_s < 0.99 * seconds and monotonic() < end_s:
                continue
            with lock:
                if _imports(thread):
                    wait_s = _INSISTING_S
                    continue
                if not over.is_set():
                    told.set()
                    _raise_in(thread)
            wait_s, again_s = again_s, _INSISTING_S

    def ends() -> None:
        with lock:
            over.set()
        if told.is_set():
            _come_to_its_end()

    threading.Thread(target=watch, name="watch over a call", daemon=True).start()
    try:
        try:
            return function(*given)
        finally:
            ends()
    finally:  # once more, where it has come just then
        ends()


def _imports(thread: int) -> bool:
    """Whether it is at a line of Python's own import: ended there it can leave a lock at which all others wait."""
    frame = sys._current_frames().get(thread)
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _raise_in(thread: int) -> None:
    """At the thread's next line of Python.

    Never taken back: taking back leaves Python at the look-out for good, in all threads, which slows each of its lines
    and stops profilers.
    """
    error = ctypes.py_object(TookTooLong)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _come_to_its_end() -> None:
    """Have what this thread was told raised here, where it has not been yet."""
    try:
        for _ in range(8):  # each time around Python looks
            pass
    except TookTooLong:
        pass


def _worked_by(thread: int) -> Callable[[], float]:
    """Tells the processor's time of a thread [s]; where the system does not, the clock's."""
    try:
        clock = time.pthread_getcpuclockid(thread)
    except (AttributeError, OSError):
        return monotonic
    return lambda: time.clock_gettime(clock)
