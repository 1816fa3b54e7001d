"""Laws of calls that may never come back."""

import os
import sys
import threading
import time

import pytest

from sim.planner.solvers.backends import WatchedCall


def test_what_answers_is_told_and_what_it_raises_is_raised() -> None:
    assert WatchedCall(lambda: 3).answer(60.0) == 3

    def fails() -> int:
        raise ZeroDivisionError("none")

    with pytest.raises(ZeroDivisionError):
        WatchedCall(fails).answer(60.0)


def test_what_waits_for_its_turns_is_not_silent_and_what_goes_round_is() -> None:
    def waits() -> int:
        time.sleep(0.5)
        return 3

    assert WatchedCall(waits).answer(0.1) == 3
    ends = threading.Event()

    def goes_round() -> None:
        while not ends.is_set():
            pass

    try:
        assert WatchedCall(goes_round).answer(0.1) is None
    finally:
        ends.set()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own there alone")
def test_what_is_left_behind_gets_no_time_that_anything_else_wants() -> None:
    ends, thread, own = threading.Event(), [], os.sched_getscheduler(0)

    def silent() -> None:
        thread.append(threading.get_native_id())
        ends.wait()

    try:
        assert WatchedCall(silent).answer(0.0) is None
        assert os.sched_getscheduler(thread[0]) == os.SCHED_IDLE
        assert os.sched_getscheduler(0) == own
    finally:
        ends.set()
