"""Laws of what several processes want at once: one of them makes it, the others find it in the cache."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import sim
from sim.native.function import native
from sim.native.values import NotTranslated
from sim.platform import cache as turns
from sim.platform.cache import turn
from tests.patience import PATIENCE_S

ROOT = Path(sim.__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(turns.fcntl is None, reason="no locks of bytes on this system")


def begun(program: str) -> subprocess.Popen[str]:
    """Another process of this cache that speaks by lines and waits for one where it reads."""
    text = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{textwrap.dedent(program)}"
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", text], stdin=pipe, stdout=pipe, text=True)


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


COMPILES = """
    import numpy as np
    from sim.platform.progress import compilations_reported
    from sim.water.flip.pressure import solve
    from sim.water.flip.multigrid import Levels
    from sim.water.flip.transfer import fold

    told, six = [], np.zeros(6)
    levels = Levels.of((10, 10, 10)).system
    fields = [np.zeros((10, 10, 10), np.float32) for _ in range(4)]
    cells, column = np.zeros((1, 3), np.int32), np.zeros((1, 6), np.float32)
    print("ready", flush=True)
    input()
    with compilations_reported(told.append):
        solve(levels, cells, column, 0, np.zeros((6, 6)), six, six, *fields, 1e-3, np.zeros(2))
        fold(np.zeros((3, 10, 10, 10, 2), np.float32))
    print(*told, flush=True)
"""


def test_what_two_processes_want_at_once_is_compiled_once(cache: Path) -> None:
    processes = [begun(COMPILES) for _ in range(2)]
    assert [said(process) for process in processes] == ["ready", "ready"]
    go_on(*processes)
    compiled = [name for process in processes for name in said(process).split()]
    assert sorted(compiled) == ["fold", "solve"]
    assert [process.wait(PATIENCE_S) for process in processes] == [0, 0]


HOLDS = """
    from sim.platform.cache import turn
    with turn("kernels", "thing"):
        print("taken", flush=True)
        input()
    print("given back", flush=True)
    input()
"""


def in_turn(name: str = "thing") -> threading.Thread:
    """A thread that has been in its turn once it ends."""

    def take() -> None:
        with turn("kernels", name):
            pass

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("killed", [False, True])
def test_a_turn_comes_when_the_other_gives_it_back_or_is_killed(cache: Path, killed: bool) -> None:
    other = begun(HOLDS)
    assert said(other) == "taken"
    with turn("kernels", "another thing"):
        pass  # has nothing to wait for
    waiting = in_turn()
    waiting.join(0.2)
    assert waiting.is_alive()
    if killed:
        other.send_signal(signal.SIGKILL)
    else:
        go_on(other)
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    other.kill()
    other.wait()


def test_a_turn_that_never_comes_is_waited_for_so_long_and_not_longer(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "LONGEST_S", 0.3)
    other = begun(HOLDS)
    assert said(other) == "taken"
    began_s = time.monotonic()
    with turn("kernels", "thing"):
        assert time.monotonic() - began_s >= 0.3
    assert other.poll() is None
    with turn("kernels", "thing"):  # and it is still the other's
        assert time.monotonic() - began_s >= 0.6
    other.kill()
    other.wait()


def test_turns_nest_and_threads_of_one_process_share_one(cache: Path) -> None:
    with turn("kernels", "whole"):
        with turn("kernels", "part"):
            in_turn("part").join(PATIENCE_S)
        in_turn("whole").join(PATIENCE_S)
        (place,) = turns.held_files
        other = begun(HOLDS.replace("thing", "whole"))
        word = threading.Thread(target=said, args=(other,), daemon=True)
        word.start()
        word.join(1.0)
        assert word.is_alive()  # what the threads and the inner turn gave back was theirs alone
    word.join(PATIENCE_S)
    assert not word.is_alive()
    assert place.parent.parent == cache
    assert turns.held_files == {}
    other.kill()
    other.wait()


def test_where_the_file_of_turns_cannot_be_opened_nobody_waits(cache: Path) -> None:
    (cache / "turns" / "taken").mkdir(parents=True)
    with turn("kernels", "thing"):
        assert turns.held_files == {}


def test_without_a_cache_everybody_takes_his_own_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "file" / "cache"))
    with turn("kernels", "thing"):
        assert turns.held_files == {}


def test_a_function_that_cannot_be_compiled_keeps_nobody_waiting(cache: Path) -> None:
    @native
    def wrong(x: float) -> float:
        return x.nothing

    with pytest.raises(NotTranslated, match="nothing"):
        wrong(1.0)
    assert turns.held_files == {}
