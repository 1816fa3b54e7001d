"""Work in processes beside this one, for what it leaves in the cache.

Compiling kernels and growing worlds take long and keep the interpreter busy. In a process of its own such work stops
no window, has a processor to itself, and can be given up at once.
"""

import hashlib
import logging
import multiprocessing
import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sim.platform.cache import can_keep, found, keep

NICENESS, LEAST_URGENT = 5, 19
Tell = Callable[[str], None]
"""Called with the name of the function that is being compiled."""


class GivenUp(Exception):
    """The work was ended before it was done."""


class Aside:
    """Starts a process for each piece of work, as many at once as there are processors."""

    def __init__(self, niceness: int = NICENESS) -> None:
        """`niceness`: by how much the processes stand back."""
        self._niceness = niceness
        self._room = threading.Semaphore(os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._running: set[BaseProcess] = set()
        self._closed = False

    def ensure(
        self, name: str, work: Callable[..., object], *arguments: object, tell: Tell | None = None
    ) -> None:
        """Have `work(*arguments)` in the cache: it runs in a process, and only if it never has on this machine.

        name: of what it makes, with a digest of all that it is made from. `work` is a function of a module.
        Work that fails is not told of: whoever needs its outcome makes that himself, and fails there. So he does
        where there is no cache that could hand it over.
        Waits for the process; raises GivenUp where `close` comes first.
        """
        mark = _mark(name)
        with self._room:
            if found("done", mark) is not None or not can_keep("done"):
                return
            if self._ran(work, arguments, tell or _silent):
                keep("done", mark, Path.touch)

    def close(self) -> None:
        """End what runs, at once. Any thread may call this; those that wait in `ensure` get GivenUp."""
        with self._lock:
            self._closed = True
            for process in self._running:
                process.terminate()

    @property
    def closed(self) -> bool:
        """Whether it takes no more work."""
        return self._closed

    def _ran(self, work: Callable[..., object], arguments: tuple[object, ...], tell: Tell) -> bool:
        here, there = Pipe(duplex=False)
        with here:
            with self._lock:
                if self._closed:
                    raise GivenUp
                process = started("aside", _serve, there, self._niceness, work, arguments)
                self._running.add(process)
            there.close()
            with suppress(EOFError, OSError):
                while True:
                    tell(here.recv())
            process.join()
        with self._lock:
            self._running.discard(process)
            if self._closed:
                raise GivenUp
        return process.exitcode == 0


def _silent(function: str) -> None:
    """Nobody wants to know."""


def _mark(name: str) -> str:
    """Name of a file that is there once the work is done. Machine code is this compiler's, for this processor."""
    import llvmlite.binding
    import numba

    machine = (sys.version, numba.__version__, platform.machine(), llvmlite.binding.get_host_cpu_name())
    digest = hashlib.sha256(" ".join(machine).encode()).hexdigest()[:8]
    return f"{name}-{digest}"


def started(name: str, work: Callable[..., object], *arguments: object) -> BaseProcess:
    """`work(*arguments)`, a function of a module, in a fresh process that ends with this one at the latest.

    It never gets Ctrl+C, which is for the one who started it, and takes no module from the current folder.
    """
    process = multiprocessing.get_context("spawn").Process(
        target=work, args=arguments, name=name, daemon=True
    )
    with _keys_kept_off(), no_modules_from_current_folder():
        process.start()
    return process


@contextmanager
def _keys_kept_off() -> Iterator[None]:
    """What this thread starts meanwhile never gets Ctrl+C."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_SAFE_PATH = "PYTHONSAFEPATH"
_changing = threading.Lock()
_before: list[str | None] = []
"""What the variable was, for each of those who are within `no_modules_from_current_folder`."""


@contextmanager
def no_modules_from_current_folder() -> Iterator[None]:
    """Python that is started meanwhile does not look for modules in the folder that is the current one.

    multiprocessing starts its processes by `python -c`, which looks there before anywhere else: a file
    `multiprocessing.py` beside somebody's scene would be run. Where this process itself looks, its workers look too.
    """
    with _changing:
        _before.append(_before[0] if _before else os.environ.get(_SAFE_PATH))
        os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        with _changing:
            before = _before.pop()
            if not _before and before is None:
                del os.environ[_SAFE_PATH]
            elif not _before and before is not None:
                os.environ[_SAFE_PATH] = before


def _told_of(pipe: Connection) -> AbstractContextManager[Any]:
    """Sends the name of each function when its compilation begins."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc] # numba has no types
        def on_start(self, started: Any) -> None:
            pipe.send(started.data["dispatcher"].py_func.__name__)

        def on_end(self, ended: Any) -> None:
            """Of no interest."""

    return event.install_listener("numba:compile", Listener())


def _serve(
    pipe: Connection, niceness: int, work: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    """The process; what its user sees and steers goes first."""
    logging.getLogger("holonomy").setLevel(logging.CRITICAL)  # the one who started it says what is wrong
    if hasattr(os, "nice"):
        os.nice(niceness)
    try:
        with _told_of(pipe):
            work(*arguments)
    except Exception:
        sys.exit(1)
