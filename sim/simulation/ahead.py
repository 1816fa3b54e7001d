"""Kernels that nobody has asked for yet, made ready one after the other while nobody waits for another."""

import threading
from collections.abc import Callable, Iterable

from sim.aside import LEAST_URGENT, Aside, GivenUp
from sim.platform.errors import InputError

FIRST_S = 2.0
"""A scene's first moments are left alone."""
_LOOK_S = 0.25


class Ahead:
    """A thread that has them made; each in a process that gives way to everything else."""

    def __init__(
        self, make: Callable[[str, Aside], None], methods: Iterable[str], *, idle: Callable[[], bool]
    ) -> None:
        """`make(method, aside)` has one ready. `idle`: whether nobody waits for another kernel."""
        self._make, self._idle = make, idle
        self._methods = list(methods)
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._aside = Aside(LEAST_URGENT)
        self._thread = threading.Thread(target=self._run, name="kernels ahead", daemon=True)
        self._thread.start()

    @property
    def left(self) -> int:
        """How many are not ready."""
        return len(self._methods)

    def give_way(self) -> None:
        """Somebody waits for another kernel: what is being compiled is taken up again after that."""
        with self._lock:
            self._aside.close()
            self._aside = Aside(LEAST_URGENT)

    def close(self) -> None:
        """For good; what is loaded just now is loaded to its end."""
        with self._lock:
            self._closed.set()
            self._aside.close()

    def join(self) -> None:
        """Wait for that end."""
        self._thread.join()

    def _run(self) -> None:
        wait_s = FIRST_S
        while self._methods and not self._closed.wait(wait_s):
            wait_s = _LOOK_S
            if self._idle():
                self._made_next()

    def _made_next(self) -> None:
        with self._lock:
            aside = self._aside
        try:
            self._make(self._methods[0], aside)
        except GivenUp:
            return
        except InputError:
            pass  # whoever asks for it is told why
        del self._methods[0]
