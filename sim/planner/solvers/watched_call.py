"""A call that may never come back, made where it can be left behind."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

_LOOK_S = 0.25
_T = TypeVar("_T")


class WatchedCall(Generic[_T]):
    """A call on a thread of its own, which is given up where it shows no sign of life for too long."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self._call = call
        self._seen_s = time.monotonic()
        self._answer: list[_T] = []
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the call has been made and has not come back yet."""
        return self._thread is not None and self._thread.is_alive()

    def alive(self) -> None:
        """To be called by what is called, now and then."""
        self._seen_s = time.monotonic()

    def answer(self, silence_s: float) -> _T | None:
        """What the call returns or raises; None where it has been silent for so long, and runs on behind.

        It cannot be ended, and may go round for ever: on Linux it gets no time any more that anything else wants.
        """
        thread = self._thread = threading.Thread(target=self._run, name="watched call", daemon=True)
        self.alive()
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_S)
            if time.monotonic() - self._seen_s > silence_s:
                _yield_to_all(thread)
                return None
        if self._error is not None:
            raise self._error
        return self._answer[0]

    def _run(self) -> None:
        try:
            self._answer.append(self._call())
        except BaseException as error:
            self._error = error


def _yield_to_all(thread: threading.Thread) -> None:
    if sys.platform == "linux" and thread.native_id is not None:
        with suppress(OSError):  # it has just ended, or this is not allowed
            os.sched_setscheduler(thread.native_id, os.SCHED_IDLE, os.sched_param(0))
