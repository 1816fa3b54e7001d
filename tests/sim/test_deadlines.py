"""Laws of calls that are ended where they do not come back."""

import _imp
import subprocess
import sys
import threading
import time

import pytest

from sim.platform.deadlines import TookTooLong, ended_after
from tests.patience import PATIENCE_S


def _for_ever() -> None:
    while True:
        pass


def _stubborn(end_s: float) -> str:
    """Catches whatever ends it, and goes on."""
    while time.monotonic() < end_s:
        try:
            while time.monotonic() < end_s:
                pass
        except BaseException:
            continue
    return "came back"


def _imports_in_vain() -> None:
    """Catches whatever ends it, and is outside of its tries but once in tens of lines."""
    while True:
        try:
            import sys.nothing_of_this_name  # noqa: F401
        except BaseException:
            continue


def test_an_answer_in_time_is_given_and_an_error_is_the_calls_own():
    assert ended_after(5.0, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        ended_after(5.0, divmod, 7, 0)


def test_what_goes_on_is_ended_and_nothing_of_it_comes_later():
    for _ in range(3):
        with pytest.raises(TookTooLong):
            ended_after(0.05, _for_ever)
        total = 0
        for k in range(200_000):  # where what was told would be raised
            total += k
        assert total == 19_999_900_000


def test_what_catches_its_end_nearly_everywhere_is_ended_all_the_same():
    for _ in range(8):
        with pytest.raises(TookTooLong):
            ended_after(0.05, _imports_in_vain)
        assert not _imp.lock_held()  # else whatever others import waits for ever
    assert sum(range(100_000)) == 4_999_950_000


def test_a_call_that_catches_its_end_may_answer_late():
    assert ended_after(0.02, _stubborn, time.monotonic() + 0.5) == "came back"
    assert sum(range(100_000)) == 4_999_950_000


def test_calls_in_several_threads_end_by_themselves():
    ended: list[int] = []

    def tried(k: int) -> None:
        try:
            ended_after(0.05 + 0.02 * k, _for_ever)
        except TookTooLong:
            ended.append(k)

    threads = [threading.Thread(target=tried, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(ended) == [0, 1, 2, 3]


def test_python_is_at_no_look_out_afterwards():
    """Else Python 3.11 never gets into the first function that a profiler is to see."""
    program = (
        "import sys\n"
        "from sim.platform.deadlines import TookTooLong, ended_after\n"
        "def work(): return sum(i for i in range(10))\n"
        "def endless():\n"
        "    while True: pass\n"
        "ended_after(5.0, work)\n"
        "try: ended_after(0.05, endless)\n"
        "except TookTooLong: pass\n"
        "seen = []\n"
        "sys.setprofile(lambda frame, event, argument: seen.append(event))\n"
        "work()\n"
        "sys.setprofile(None)\n"
        "print(len(seen) > 10)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert done.stdout == "True\n", done.stderr
