"""Pieces of work shared with forked processes, and answered in their order, as if done one after the other.

What a process has built is there in its forks at once, and a solver that crashes in one takes nothing else along.
"""

import itertools
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from signal import SIGKILL
from typing import Any, TypeVar

MOST = 4
"""Processes, with the one that asks."""
_GRACE_S = 6.0
"""For answers that come too late: a solver that is silent is left behind after five seconds."""
_PIPE_BYTES = 1 << 20
"""Several answers fit in, so that nobody waits for who is at work himself."""
_TICKET_BYTES = 2
_T = TypeVar("_T")


def processes_at_once() -> int:
    """How many are worth it here; one where a fork might find a lock held by a thread that it has not got."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    cores = len(os.sched_getaffinity(0))
    return min(cores, max(2, cores - 1), MOST)


def in_order(
    work: Callable[[int], _T], count: int, *, processes: int, until_s: float
) -> Generator[_T | None, None, None]:
    """What `work(i)` returns for i = 0, 1 .. count - 1 (at most 30,000): each is done by whoever is free first.

    until_s: `time.perf_counter` at which the work ends by itself. None for what a fork was lost with, or has not
    answered soon after. What `work` raises in a fork is raised here when its turn comes. Forks end as soon as the
    iterator is closed.
    """
    tickets, to_give = os.pipe()
    os.write(to_give, b"".join(i.to_bytes(_TICKET_BYTES, "little") for i in range(count)))
    os.close(to_give)
    forks = [_forked(work, tickets) for _ in range(min(processes, count) - 1)]
    answers: dict[int, _T | BaseException] = {}
    try:
        for turn in range(count):
            while turn not in answers:
                ticket = _taken(tickets)
                if ticket is not None:
                    answers[ticket] = work(ticket)
                elif not any(fork.listening for fork in forks):
                    break
                _gather(forks, answers, until_s + _GRACE_S if ticket is None else None)
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
        os.kill(self.pid, SIGKILL)
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
            _serve(work, tickets, there)
        finally:
            os._exit(0)
    there.close()
    return _Fork(pid, here)


def _serve(work: Callable[[int], object], tickets: int, pipe: Connection) -> None:
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


def _gather(forks: list[_Fork], answers: dict[int, Any], last_s: float | None) -> None:
    """What has been answered; with `last_s`, waits for the first until then, and after that listens no more."""
    pipes = [fork.pipe for fork in forks if fork.listening]
    ready = wait(pipes, 0.0 if last_s is None else max(0.0, last_s - time.perf_counter()))
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
