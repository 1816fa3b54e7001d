"""Laws of sweeps: every point is asked once and kept, whatever happens to who was asked."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.analysis.sweep_table import SweepGrid, opened
from sim.platform.errors import InputError
from tests.patience import PATIENCE_S

pytest.importorskip("distributed", reason="dask.distributed is not there")


tells_memory = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="nobody tells how much memory is in use"
)


def area(width: float, height: float) -> dict[str, object]:
    return {"area": width * height, "sides": [width, height], "square": int(width == height)}


def test_every_combination_is_asked_and_stands_at_its_place() -> None:
    table = sim.sweep(area, {"width": [1.0, 2.0, 3.0], "height": [2.0, 5.0]}, workers=1)
    assert table.finished
    assert table["area"].tolist() == [2.0, 5.0, 4.0, 10.0, 6.0, 15.0]
    assert table["width"].tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    data = table.to_xarray()
    assert data["area"].dims == ("width", "height")
    assert float(data["area"].sel(width=3.0, height=5.0)) == 15.0
    assert data["sides"].shape == (3, 2, 2)
    with pytest.raises(InputError, match="no column 'volume'; allowed: width, height, area"):
        table["volume"]


def heights(mass: np.ndarray, lift: np.ndarray) -> dict[str, np.ndarray]:
    """Of helicopters after a second."""
    controls = np.stack([lift, 0 * lift, 0 * lift, 0 * lift], axis=1)[:, None]
    runs = sim.batch("helicopter", controls=controls, parameters={"mass": mass}, duration=1.0)
    return {"height": runs.pose[:, -1, 2, 3], "climb": runs.velocity[:, -1, 5]}


def test_batches_are_swept_and_fall_as_newton_says() -> None:
    grid = {"mass": np.linspace(4.0, 6.0, 40), "lift": np.linspace(40.0, 60.0, 25)}
    table = sim.sweep(heights, grid, vectorised=True, chunk=300, workers=2)
    rise = table["lift"] / table["mass"] - 9.81
    # Constant acceleration for a second; measured 3e-14.
    assert table["climb"] == pytest.approx(rise, abs=1e-10)


def slow(k: int, log: str) -> dict[str, float]:
    """Leaves a line a call, and takes a while."""
    with open(log, "a") as file:
        file.write(f"{k} {os.getpid()}\n")
    time.sleep(0.05)
    return {"twice": 2.0 * k}


def test_a_worker_that_is_killed_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    log, killed = tmp_path / "calls", []

    def kill_one(told: str, share: float) -> None:
        if share > 0.3 and not killed:
            killed.append(int(log.read_text().split()[-1]))
            os.kill(killed[0], signal.SIGKILL)

    grid = SweepGrid({"k": np.arange(40), "log": np.full(40, str(log))}, paired=True)
    table = sim.sweep(slow, grid, chunk=2, workers=2, store=tmp_path / "store", progress=kill_one)
    assert killed
    assert table.finished
    assert table["twice"].tolist() == (2.0 * np.arange(40)).tolist()
    calls = [int(line.split()[0]) for line in log.read_text().splitlines()]
    assert set(calls) == set(range(40))
    # Only what was handed to the one that is gone is asked again: at most what is ahead of it.
    assert len(calls) - 40 <= 2 * 6


def killed_once(k: int, mark: str) -> dict[str, float]:
    if k == 5 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"twice": 2.0 * k}


def test_the_only_worker_may_be_killed(tmp_path: Path) -> None:
    """With it goes what all chunks share."""
    grid = SweepGrid({"k": np.arange(12), "mark": np.full(12, str(tmp_path / "mark"))}, paired=True)
    table = sim.sweep(killed_once, grid, chunk=2, workers=1)
    assert (tmp_path / "mark").exists()
    assert table["twice"].tolist() == (2.0 * np.arange(12)).tolist()


def kills(k: int) -> dict[str, float]:
    if k == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"twice": 2.0 * k}


def test_points_that_kill_every_worker_are_told_in_one_line_and_all_else_is_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"points 4 to 5: every worker .* was killed or crashed") as refusal:
        sim.sweep(kills, {"k": np.arange(12)}, chunk=2, workers=1, store=tmp_path / "store")
    assert "\n" not in str(refusal.value)
    done = opened(SweepGrid({"k": np.arange(12)}), 2, tmp_path / "store").done
    assert done.tolist() == [True, True, False, True, True, True]


UNGUARDED = """
import math
import sim

print("begun")
OFFSET = 3.0


class Rod:
    def __init__(self, length):
        self.length = length


def period(length):
    return {"period": OFFSET + 2.0 * math.pi * math.sqrt(Rod(length).length / 9.81)}


print(sim.sweep(period, {"length": [1.0, 2.0, 3.0]}, workers=2)["period"].tolist())
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_a_script_that_does_not_ask_for_its_name_is_run_once(as_module: bool, tmp_path: Path) -> None:
    """Processes that multiprocessing starts usually run it again, each."""
    (tmp_path / "unguarded.py").write_text(UNGUARDED)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(sim.__file__).resolve().parents[1])]),
    }
    called = ["-m", "unguarded"] if as_module else [str(tmp_path / "unguarded.py")]
    run = subprocess.run(
        [sys.executable, *called], env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert run.returncode == 0, run.stderr
    first, last = run.stdout.splitlines()
    assert first == "begun"
    wanted = [3.0 + 2.0 * np.pi * np.sqrt(x / 9.81) for x in (1.0, 2.0, 3.0)]
    assert [float(x) for x in last.strip("[]").split(",")] == pytest.approx(wanted, rel=1e-15)


SCHEDULER = """
if __name__ == "__main__":
    from distributed import LocalCluster
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def test_a_scheduler_that_is_killed_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "scheduler.py").write_text(SCHEDULER)
    command = [sys.executable, str(tmp_path / "scheduler.py")]
    environment = {**os.environ, "PYTHONPATH": str(Path(sim.__file__).resolve().parents[1])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes) as cluster:  # type: ignore[call-overload]
        address = cluster.stdout.readline().strip()

        def kill(told: str, share: float) -> None:
            if cluster.poll() is None:
                os.killpg(cluster.pid, signal.SIGKILL)

        grid = SweepGrid({"k": np.arange(40), "log": np.full(40, str(tmp_path / "log"))}, paired=True)
        with pytest.raises(InputError, match="the scheduler of the sweep is gone"):
            sim.sweep(slow, grid, chunk=2, scheduler=address, progress=kill)


ALONE = """
import asyncio, sys
from distributed import Worker
async def main():
    async with Worker(sys.argv[1], nthreads=1) as worker:
        await worker.finished()
asyncio.run(main())
"""


def test_a_sweep_whose_last_worker_is_gone_ends_in_one_line_and_keeps_what_was_finished(
    tmp_path: Path,
) -> None:
    """Of a cluster that starts no others in their place."""
    from distributed import LocalCluster

    environment = {**os.environ, "PYTHONPATH": str(Path(sim.__file__).resolve().parents[1])}
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster:
        address = cluster.scheduler_address
        command = [sys.executable, "-c", ALONE, address]
        worker = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            cluster.wait_for_workers(1, timeout=PATIENCE_S)
            grid = SweepGrid({"k": np.arange(40), "log": np.full(40, str(tmp_path / "log"))}, paired=True)
            with pytest.raises(InputError, match="the workers of the sweep are all gone") as refusal:
                sim.sweep(
                    slow,
                    grid,
                    chunk=2,
                    scheduler=address,
                    await_s=2.0,
                    store=tmp_path / "store",
                    progress=lambda told, share: worker.kill(),
                )
        finally:
            worker.kill()
            worker.wait()
    assert "\n" not in str(refusal.value)
    assert opened(grid, 2, tmp_path / "store").done.any()


def test_the_same_sweep_goes_on_from_what_a_folder_has(tmp_path: Path) -> None:
    grid = SweepGrid({"width": np.arange(1.0, 11.0), "height": np.full(10, 3.0)}, paired=True)
    half = opened(grid, 2, tmp_path / "store")
    for chunk in (0, 3):
        begin, end = half.bounds(chunk)
        half.put(chunk, {"area": np.full(end - begin, -1.0)})
    del half
    table = sim.sweep(area_alone, grid, chunk=2, workers=1, store=tmp_path / "store")
    assert table["area"].tolist() == [-1.0, -1.0, 9.0, 12.0, 15.0, 18.0, -1.0, -1.0, 27.0, 30.0]
    with pytest.raises(InputError, match="has results of another sweep"):
        sim.sweep(area_alone, {"width": [1.0], "height": [2.0]}, chunk=2, store=tmp_path / "store")
    saved = np.load(table.save(tmp_path / "table.npz"))
    assert saved["area"].tolist() == table["area"].tolist()


def test_a_folder_is_gone_on_from_on_a_computer_with_more_cores(tmp_path: Path) -> None:
    """Which would take smaller chunks: those of the folder are kept, unless others are asked for."""
    grid = SweepGrid({"width": np.arange(96.0), "height": np.full(96, 2.0)}, paired=True)
    begun = opened(grid, 4, tmp_path / "store")
    begun.put(0, {"area": np.full(4, -1.0)})
    table = opened(grid, 2, tmp_path / "store", other_chunk=True)
    assert table.chunk == 4
    assert table.done.tolist() == [True] + 23 * [False]
    with pytest.raises(InputError, match="has results of another sweep"):
        opened(grid, 2, tmp_path / "store")


@pytest.mark.parametrize("stored", [False, True])
def test_whole_numbers_that_get_fractions_later_keep_them(stored: bool, tmp_path: Path) -> None:
    grid = SweepGrid({"width": np.arange(6.0)})
    table = opened(grid, 2, tmp_path / "store" if stored else None)
    table.put(1, {"count": np.array([4, 7]), "done": np.array([1, 0])})
    table.put(0, {"count": np.array([0.5, 2.0]), "done": np.array([2, 3])})
    for seen in (table, opened(grid, 2, tmp_path / "store")) if stored else (table,):
        assert seen["count"][:4].tolist() == [0.5, 2.0, 4.0, 7.0]
        assert np.isnan(seen["count"][4:]).all()
        assert seen["done"].tolist() == [2, 3, 1, 0, 0, 0]  # a name that says nothing of the sweep
        assert seen.done.tolist() == [True, True, False]


def test_results_may_have_any_name_but_that_of_an_axis(tmp_path: Path) -> None:
    table = opened(SweepGrid({"width": np.arange(2.0)}), 2, None)
    table.put(0, {"file": np.arange(2.0), "self": np.ones(2)})
    saved = np.load(table.save(tmp_path / "table.npz"))
    assert {name: saved[name].tolist() for name in saved} == {
        "width": [0.0, 1.0], "file": [0.0, 1.0], "self": [1.0, 1.0],
    }  # fmt: skip
    with pytest.raises(InputError, match="result 'width' has the name of an axis"):
        table.put(0, {"width": np.ones(2)})


@pytest.mark.parametrize(
    "name, content", [("sweep.done", b""), ("area", b"\x93NUMPY\x01"), ("area", b"junk")]
)
def test_a_folder_with_a_damaged_file_is_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    grid = SweepGrid({"width": np.arange(6.0)})
    opened(grid, 2, tmp_path / "store").put(0, {"area": np.ones(2)})
    (tmp_path / "store" / f"{name}.npy").write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}\.npy is no column of this sweep") as refusal:
        opened(grid, 2, tmp_path / "store")
    assert "\n" not in str(refusal.value)


@tells_memory
def test_what_is_stored_stays_in_no_memory(tmp_path: Path) -> None:
    table = opened(SweepGrid({"width": np.arange(3_000_000.0)}), 100_000, tmp_path / "store")

    def store(chunk: int) -> None:
        begin, end = table.bounds(chunk)
        table.put(chunk, {"area": 0.5 * np.arange(begin, end)})

    opened(SweepGrid({"width": np.arange(2.0)}), 1, tmp_path / "small").put(0, {"area": np.ones(1)})
    before = resident_mb()
    for chunk in range(len(table.done)):
        store(chunk)
    assert resident_mb() - before < 8.0  # of 24 that are stored; measured 0.3
    assert np.array_equal(table["area"], 0.5 * np.arange(3_000_000.0))


def test_a_full_disk_is_told_and_leaves_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = opened(SweepGrid({"width": np.arange(6.0)}), 2, tmp_path / "store")
    table.put(0, {"area": np.ones(2)})

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="store: cannot be written: No space left on device"):
            table.put(1, {"area": np.ones(2)})
    again = opened(SweepGrid({"width": np.arange(6.0)}), 2, tmp_path / "store")
    assert again.done.tolist() == [True, False, False]
    assert again["area"][:2].tolist() == [1.0, 1.0]
    assert np.isnan(again["area"][4:]).all()


def resident_mb() -> float:
    """Of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def same(width: np.ndarray) -> dict[str, np.ndarray]:
    return {"again": width}


@tells_memory
def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path) -> None:
    marks: list[float] = []
    grid = SweepGrid({"width": np.arange(4_000_000.0)})
    table = sim.sweep(
        same,
        grid,
        vectorised=True,
        chunk=100_000,
        workers=1,
        store=tmp_path / "store",
        progress=lambda told, share: marks.append(resident_mb()),
    )
    assert table.finished
    # Of 48 that come and go; measured 1, and 40 where messages are kept.
    assert marks[-1] - marks[9] < 16.0


def area_alone(width: float, height: float) -> dict[str, float]:
    return {"area": width * height}


def refuses(width: float) -> dict[str, float]:
    if width == 3.0:
        raise InputError("three is refused; allowed: any other")
    return {"wide": 1.0 / (width - 4.0)}


def test_a_question_that_fails_is_told_with_its_point() -> None:
    with pytest.raises(InputError, match=r"at width = 3\.0: three is refused"):
        sim.sweep(refuses, {"width": [1.0, 2.0, 3.0]}, workers=1)
    with pytest.raises(InputError, match="points 0 to 0: ZeroDivisionError"):
        sim.sweep(refuses, {"width": [4.0]}, workers=1)


def test_a_scheduler_that_does_not_answer_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(InputError, match="does not answer") as refusal:
        sim.sweep(area_alone, {"width": [1.0], "height": [2.0]}, scheduler=address)
    assert address in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_scheduler_without_workers_is_one_line() -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(InputError, match="has no workers; allowed: one or more"),
    ):
        sim.sweep(
            area_alone, {"width": [1.0], "height": [2.0]}, scheduler=cluster.scheduler_address, await_s=0.2
        )


def test_a_scheduler_that_is_there_is_used() -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        table = sim.sweep(area_alone, {"width": [1.0, 2.0], "height": [2.0]}, scheduler=address)
    assert table["area"].tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "axes, told",
    [
        ({}, "a sweep over nothing"),
        ({"width": []}, "axis 'width' = .* is refused"),
        ({"width": [[1.0]]}, "axis 'width' = .* is refused"),
    ],
)
def test_axes_that_are_none_are_refused(axes: dict[str, list[float]], told: str) -> None:
    with pytest.raises(InputError, match=told):
        SweepGrid(axes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="paired axes of 1, 2 values"):
        SweepGrid({"a": np.ones(1), "b": np.ones(2)}, paired=True)
