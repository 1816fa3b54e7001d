"""Laws of work that is shared with forks: answered in order, whoever does it, and nobody is waited for for ever."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.platform.processes import in_order, processes_at_once
from tests.patience import PATIENCE_S, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there processes are forked")
HERE = os.getpid()


def later() -> float:
    return time.perf_counter() + PATIENCE_S


def until(there: Path) -> None:
    """Wait for what somebody else does."""
    wait_until(there.exists, every_s=0.002)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_answers_come_in_order_each_once(processes: int) -> None:
    answers = in_order(lambda i: (i, bytes(100_000 * (i % 4))), 9, processes=processes, until_s=later())
    assert [(i, len(filled)) for i, filled in answers] == [(i, 100_000 * (i % 4)) for i in range(9)]


def test_there_may_be_hundreds() -> None:
    assert list(in_order(lambda i: -i, 600, processes=2, until_s=later())) == [-i for i in range(600)]


def test_who_is_free_takes_the_next_and_both_work_at_once(tmp_path: Path) -> None:
    """Whoever takes the first piece waits for the second to be done, which only another process can do."""

    def work(i: int) -> int:
        if i == 0:
            until(tmp_path / "done")
        if i == 1:
            (tmp_path / "done").touch()
        return os.getpid()

    first, second, *_ = in_order(work, 5, processes=2, until_s=later())
    assert first != second
    assert os.getpid() in (first, second)


def as_a_fork(what: Callable[[], None], folder: Path) -> Callable[[int], int]:
    """Work that a fork does `what` instead of, and that nobody else gets done before a fork has begun."""

    def work(i: int) -> int:
        if os.getpid() != HERE:
            (folder / str(os.getpid())).touch()
            what()
        while not any(folder.iterdir()):
            time.sleep(0.002)
        return i

    return work


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ValueError("in a fork")


def test_a_fork_that_dies_takes_only_its_piece_along(tmp_path: Path) -> None:
    answers = list(in_order(as_a_fork(die, tmp_path), 6, processes=2, until_s=later()))
    assert answers.count(None) == 1
    assert all(answer in (None, i) for i, answer in enumerate(answers))


def test_a_fork_that_does_not_answer_is_given_up_and_ended(tmp_path: Path) -> None:
    over = time.perf_counter() - PATIENCE_S
    answers = list(in_order(as_a_fork(signal.pause, tmp_path), 4, processes=2, until_s=over))
    assert answers.count(None) == 1
    assert_ended(tmp_path)


def test_what_a_fork_raises_is_raised_where_it_is_awaited(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in a fork"):
        list(in_order(as_a_fork(fail, tmp_path), 4, processes=2, until_s=later()))


def test_forks_end_when_nobody_listens_any_more(tmp_path: Path) -> None:
    over = time.perf_counter() - PATIENCE_S
    answers = in_order(as_a_fork(signal.pause, tmp_path), 4, processes=2, until_s=over)
    next(answers)
    answers.close()
    assert_ended(tmp_path)


def test_who_has_given_up_does_not_wait_for_a_fork(tmp_path: Path) -> None:
    answers = in_order(
        as_a_fork(signal.pause, tmp_path),
        2,
        processes=2,
        until_s=later(),
        given_up=lambda: any(tmp_path.iterdir()),
    )
    assert list(answers) in ([], [0])
    assert_ended(tmp_path)


def assert_ended(folder: Path) -> None:
    (fork,) = folder.iterdir()
    with pytest.raises(ProcessLookupError):
        os.kill(int(fork.name), 0)


def test_beside_another_thread_nothing_is_forked_unasked() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert processes_at_once() == 1
    finally:
        over.set()
        thread.join()
