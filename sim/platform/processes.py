"""Work in worker processes: one piece with progress and a way to give up, work kept in the cache, and forks.

A worker process stops no window, has a processor to itself, can be ended at once, and takes nothing along where it
crashes. `started` begins one, `run_in_process` waits for its answer, `CacheWorkers` has something made once and kept in
the cache, and `in_order` shares many small pieces of work with forks that have in memory what this process has.
"""

import hashlib
import itertools
import logging
import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from sim.platform.cache import can_keep, found, keep
from sim.platform.errors import InputError
from sim.platform.progress import Tell, compilations_reported
from sim.platform.values import dataclass

NICENESS, LEAST_URGENT = 5, 19
"""By how much a worker process stands back: for work that somebody waits for, and for work that nobody asked for."""
_POLL_S = 0.02
_T = TypeVar("_T")


class GivenUp(Exception):
    """The work was ended before it was done."""


def started(name: str, work: Callable[..., object], *arguments: object) -> BaseProcess:
    """`work(*arguments)`, a function of a module, in a fresh process that ends with this one at the latest.

    It never gets Ctrl+C, which is for the one who started it, and takes no module from the current folder.
    """
    process = multiprocessing.get_context("spawn").Process(
        target=_ending_with_parent, args=(work, *arguments), name=name, daemon=True
    )
    with _ctrl_c_blocked(), no_modules_from_current_folder():
        process.start()
    return process


def _ending_with_parent(work: Callable[..., object], *arguments: object) -> None:
    """`work(*arguments)`; the process ends once the one that started it is gone, even if that was killed."""
    _ParentWatch(name="parent", daemon=True).start()
    work(*arguments)


class _ParentWatch(threading.Thread):
    """Ends this process once the one that started it is gone."""

    def run(self) -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)  # nobody is left who would hear of it


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
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


_scripts: list[Any] = []
"""What `__main__` said of itself, for each of those who are within `no_script_in_workers`."""


@contextmanager
def no_script_in_workers() -> Iterator[None]:
    """Processes that multiprocessing starts meanwhile do not run the script that started this one.

    Usually they do, and a script that does not ask for its `__name__` begins all over again in each. Only for work
    that brings the script's functions and classes along, as cloudpickle does.
    """
    script = sys.modules["__main__"]
    with _changing:
        _scripts.append(_scripts[0] if _scripts else getattr(script, "__spec__", None))
        script.__spec__ = ModuleSpec("__main__", None)  # of this name, nothing is run
    try:
        yield
    finally:
        with _changing:
            script.__spec__ = _scripts.pop()
            if _scripts:
                script.__spec__ = ModuleSpec("__main__", None)


def run_in_process(
    work: Callable[[Any, Tell], Any],
    job: object,
    *,
    name: str,
    prepare: Callable[[], object] | None = None,
    progress: Tell,
    given_up: threading.Event,
    tidy_s: float = 0.0,
    niceness: int = NICENESS,
    refusals: tuple[type[Exception], ...] = (InputError,),
    allowed: str,
) -> Any:
    """What `work(job, tell)` returns; it is a function of a module, and all of this can be pickled.

    prepare: called in the process before the job is read, e.g. to load the user's class that it speaks of. progress:
    gets what `work` reports. tidy_s: how long work that is given up has for its own end. refusals: exceptions that are
    raised here as they were there.
    Waits. Raises GivenUp where the event is set meanwhile, InputError where the work fails otherwise.
    """
    here, there = Pipe()
    process = None
    try:
        with here:
            process = started(name, _serve, there, work, niceness, refusals)
            there.close()
            here.send(prepare)
            here.send(job)
            while True:
                if given_up.is_set():
                    raise GivenUp
                if not here.poll(_POLL_S):
                    continue
                kind, content = here.recv()
                if kind == "progress":
                    progress(*content)
                elif kind == "refused":
                    raise content
                elif kind == "failed":
                    raise InputError(f"the {name} failed: {content}; {allowed}")
                else:
                    return content
    except (EOFError, OSError):
        raise InputError(f"the {name} ended without an answer; {allowed}") from None
    finally:
        if process is not None:
            process.join(tidy_s)  # it ends with its next word, since nobody listens
            process.terminate()
            process.join()


class _Unheard(BaseException):
    """Nobody listens any more; not an error that work would report."""


def _serve(
    pipe: Connection,
    work: Callable[[Any, Tell], Any],
    niceness: int,
    refusals: tuple[type[Exception], ...],
) -> None:
    """The worker process: one job in, its progress and one answer out. What its user sees and steers goes first."""
    logging.getLogger("holonomy").setLevel(logging.CRITICAL)  # the one who started it says what is wrong
    if hasattr(os, "nice"):
        os.nice(niceness)
    with suppress(EOFError, OSError, KeyboardInterrupt, _Unheard):
        prepare = pipe.recv()
        if prepare is not None:
            prepare()
        pipe.send(_answer(pipe, work, pipe.recv(), refusals))


def _answer(
    pipe: Connection, work: Callable[[Any, Tell], Any], job: object, refusals: tuple[type[Exception], ...]
) -> tuple[str, object]:
    def tell(*content: object) -> None:
        try:
            pipe.send(("progress", content))
        except OSError:
            raise _Unheard from None

    try:
        return "answer", work(job, tell)
    except refusals as refusal:
        return "refused", refusal
    except Exception as error:
        return "failed", str(error).splitlines()[0] if str(error) else repr(error)


class CacheWorkers:
    """Has things made once and kept in the cache, each in a worker process, as many at once as there are processors.

    Compiling kernels and growing worlds take long and keep the interpreter busy.
    """

    def __init__(self, niceness: int = NICENESS) -> None:
        """`niceness`: by how much the processes stand back."""
        self._niceness = niceness
        self._free = threading.Semaphore(os.cpu_count() or 1)
        self._closed = threading.Event()

    def ensure(
        self, name: str, work: Callable[..., object], *arguments: object, progress: Tell | None = None
    ) -> None:
        """Have `work(*arguments)` in the cache: it runs in a process, and only if it never has on this machine.

        name: of what it makes, with a digest of all that it is made from. `work` is a function of a module. progress:
        gets the name of each function that is compiled for it.
        Work that fails is not reported: whoever needs its outcome makes it in their own process, and fails there. So
        they do where there is no cache that could hand it over.
        Waits for the process; raises GivenUp where `close` comes first.
        """
        mark = _mark(name)
        with self._free:
            if self._closed.is_set():
                raise GivenUp
            if found("done", mark) is not None or not can_keep("done"):
                return
            with suppress(InputError):
                run_in_process(
                    _compiled,
                    (work, arguments),
                    name="cache",
                    progress=progress or _silent,
                    given_up=self._closed,
                    niceness=self._niceness,
                    refusals=(),
                    allowed="",
                )
                keep("done", mark, Path.touch)

    def close(self) -> None:
        """End what runs, at once. Any thread may call this; those that wait in `ensure` get GivenUp."""
        self._closed.set()

    @property
    def closed(self) -> bool:
        """Whether it takes no more work."""
        return self._closed.is_set()


def _silent(*_: object) -> None:
    """Nobody wants to know."""


def _mark(name: str) -> str:
    """Name of a file that is there once the work is done. Machine code is this compiler's, for this processor."""
    import llvmlite.binding

    machine = (sys.version, llvmlite.__version__, platform.machine(), llvmlite.binding.get_host_cpu_name())
    digest = hashlib.sha256(" ".join(machine).encode()).hexdigest()[:8]
    return f"{name}-{digest}"


def _compiled(job: tuple[Callable[..., object], tuple[object, ...]], tell: Tell) -> None:
    work, arguments = job
    with compilations_reported(tell):
        work(*arguments)


MOST = 4
"""Processes that share pieces of work, with the one that asks."""
_GRACE_S = 6.0
"""For answers that come too late: a solver that is silent is left behind after five seconds."""
_PIPE_BYTES = 1 << 20
"""Several answers fit in, so that nobody waits for who is at work himself."""
_TICKET_BYTES = 2
_LOOK_S = 0.1
"""Between two looks at whether what is waited for is still wanted."""


def processes_at_once() -> int:
    """How many are worth it here; one where a fork might find a lock held by a thread that it has not got."""
    with_locks = [thread for thread in threading.enumerate() if not isinstance(thread, _ParentWatch)]
    if sys.platform != "linux" or len(with_locks) > 1:
        return 1
    cores = len(os.sched_getaffinity(0))
    return min(cores, max(2, cores - 1), MOST)


def in_order(
    work: Callable[[int], _T],
    count: int,
    *,
    processes: int,
    until_s: float,
    given_up: Callable[[], bool] = lambda: False,
) -> Generator[_T | None, None, None]:
    """What `work(i)` returns for i = 0, 1 .. count - 1 (at most 30,000): each is done by whoever is free first.

    until_s: `time.perf_counter` at which the work ends by itself. None for what a fork was lost with, or has not
    answered soon after. What `work` raises in a fork is raised here when its turn comes. given_up: asked again and
    again, in this process alone; once it is so nothing more is answered. Forks end as soon as the iterator is closed,
    or does so itself.
    """
    tickets, to_give = os.pipe()
    os.write(to_give, b"".join(i.to_bytes(_TICKET_BYTES, "little") for i in range(count)))
    os.close(to_give)
    forks = [_forked(work, tickets) for _ in range(min(processes, count) - 1)]
    answers: dict[int, _T | BaseException] = {}
    try:
        for turn in range(count):
            while turn not in answers:
                if given_up():
                    return
                ticket = _taken(tickets)
                if ticket is not None:
                    answers[ticket] = work(ticket)
                elif not any(fork.listening for fork in forks):
                    break
                _gather(forks, answers, until_s + _GRACE_S if ticket is None else None, given_up)
            answer = answers.pop(turn, None)
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        os.close(tickets)
        for fork in forks:
            fork.end()


@dataclass(eq=False)
class _Fork:
    pid: int
    pipe: Connection
    listening: bool = True

    def end(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pipe.close()


def _forked(work: Callable[[int], object], tickets: int) -> _Fork:
    from fcntl import F_SETPIPE_SZ, fcntl  # Linux alone has it, and is alone to fork here.

    here, there = Pipe(duplex=False)
    with suppress(OSError):  # The administrator may allow less.
        fcntl(there.fileno(), F_SETPIPE_SZ, _PIPE_BYTES)
    with warnings.catch_warnings():
        # Threads of linear algebra wait for work and hold nothing; the interpreter counts them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            _serve_tickets(work, tickets, there)
        finally:
            os._exit(0)
    there.close()
    return _Fork(pid, here)


def _serve_tickets(work: Callable[[int], object], tickets: int, pipe: Connection) -> None:
    """The fork: takes tickets until there are none left, or nobody listens."""
    # Others wait for the ends of pipes that were open in the process before.
    edges = [2, *sorted((tickets, pipe.fileno())), os.sysconf("SC_OPEN_MAX")]
    for low, high in itertools.pairwise(edges):
        os.closerange(low + 1, high)
    while (ticket := _taken(tickets)) is not None:
        try:
            answer = work(ticket)
        except Exception as error:
            answer = error
        pipe.send((ticket, answer))


def _taken(tickets: int) -> int | None:
    """The next piece of work that nobody has taken, if there is one."""
    read = os.read(tickets, _TICKET_BYTES)
    return int.from_bytes(read, "little") if read else None


def _gather(
    forks: list[_Fork], answers: dict[int, Any], last_s: float | None, given_up: Callable[[], bool]
) -> None:
    """What has been answered; with `last_s`, waits for the first until then or until it is given up, and after that
    listens no more."""
    pipes = [fork.pipe for fork in forks if fork.listening]
    ready = wait(pipes, 0.0)
    while last_s is not None and not ready and not given_up() and time.perf_counter() < last_s:
        ready = wait(pipes, min(_LOOK_S, max(0.0, last_s - time.perf_counter())))
    for fork in forks:
        if fork.pipe not in ready:
            continue
        try:
            number, answer = fork.pipe.recv()
            answers[number] = answer
        except (EOFError, OSError):
            fork.listening = False
    if last_s is not None and not ready:
        for fork in forks:
            fork.listening = False
