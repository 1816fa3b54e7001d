"""`sweep`: a function at many points, on dask.distributed; what is finished is kept whatever happens to a worker."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sim.analysis.sweep_table import SweepGrid, Table, opened
from sim.platform.errors import InputError, number, quote, whole
from sim.platform.processes import no_modules_from_current_folder, no_script_in_workers
from sim.platform.progress import TellShare

Question = Callable[..., Mapping[str, Any]]
"""(axis=value, ...) -> name -> number; vectorised: arrays (n,) -> arrays (n, ...)."""

_AHEAD = 3
"""Chunks that are handed out for every worker: memory does not grow with their number."""
_SETTINGS = {
    # Else dask keeps the last thousand messages, with the points of their chunks.
    "distributed.admin.low-level-log-length": 1,
    # Else a cluster on this computer gives up whoever is not there, or not again, so long after it was lost (15 s).
    "distributed.deploy.lost-worker-timeout": "1 hour",
}
_ANSWER_S = 5.0
"""A scheduler that has not answered by then does not."""
_WATCH_S = 0.5
"""How often is looked whether there are any."""
_RETRIES = 5
"""Workers that may be lost by one chunk."""
_SUSPECTS = 8
"""Chunks whose workers have all been lost, after which no more are handed out."""


def sweep(
    question: Question,
    over: SweepGrid | Mapping[str, Sequence[float] | Sequence[str] | np.ndarray],
    *,
    vectorised: bool = False,
    chunk: int | None = None,
    store: str | Path | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    await_s: float = 60.0,
    progress: TellShare | None = None,
) -> Table:
    """Ask a question at every point; returns the table of its answers.

    over: axes whose every combination is a point, or a Grid. vectorised: the question takes and gives arrays, as one
    around `sim.batch` does. chunk: points that a worker gets at a time. store: a folder that keeps what is finished;
    the same sweep goes on from there. scheduler: address of a dask scheduler, "tcp://host:8786"; without one there is a
    cluster of processes on this computer, `workers` of them (as many as it has cores). await_s: a cluster that grows on
    demand, or has lost its workers, may be without any for so long.
    Raises InputError in one line: without dask, for a scheduler that does not answer, and for a question that fails.
    """
    grid = over if isinstance(over, SweepGrid) else SweepGrid(over)
    count = (os.cpu_count() or 1) if workers is None else whole("workers", workers, "processes")
    size = _chunk(len(grid), count, vectorised) if chunk is None else whole("chunk", chunk, "points")
    if not (store is None or isinstance(store, str | Path)):
        raise InputError(f"store = {quote(store)} is refused; allowed: a folder")
    if not (scheduler is None or isinstance(scheduler, str)):
        raise InputError(f"scheduler = {quote(scheduler)} is refused; allowed: tcp://HOST:PORT")
    wait_s = number("await_s", await_s, above=0.0)
    folder = None if store is None else Path(store)
    table = opened(grid, size, folder, other_chunk=chunk is None)
    report = progress or (lambda told, share: None)
    left = [int(k) for k in np.flatnonzero(~table.done)]
    if left:
        with _client(scheduler, count, wait_s) as client:
            _run(client, question, table, left, vectorised, wait_s, report)
    return table


def _chunk(points: int, workers: int, vectorised: bool) -> int:
    """Some dozens of chunks a worker, of no more than what is swiftly done anew."""
    most = 20_000 if vectorised else 200
    return max(min(math.ceil(points / (24 * workers)), most), 1)


@contextmanager
def _client(scheduler: str | None, workers: int, await_s: float) -> Iterator[Any]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError('a sweep needs dask.distributed: pip install "holonomy[cluster]"') from None
    with dask.config.set(_SETTINGS):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=_ANSWER_S)
            except (OSError, TimeoutError, ValueError, AssertionError) as error:
                told = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise InputError(
                    f"scheduler {quote(scheduler)} does not answer ({told}); allowed: tcp://HOST:PORT"
                ) from None
            with client:
                _await_workers(client, scheduler, await_s)
                yield client
            return
        options = {
            "n_workers": workers,
            "threads_per_worker": 1,
            "dashboard_address": None,
            "silence_logs": 50,
        }
        with (
            no_modules_from_current_folder(),
            no_script_in_workers(),
            LocalCluster(**options) as cluster,
            Client(cluster) as client,
        ):
            yield client


def _await_workers(client: Any, scheduler: str, await_s: float) -> None:
    """Raises InputError where a cluster has none."""
    try:
        client.wait_for_workers(1, timeout=await_s)
    except TimeoutError:
        raise InputError(
            f"scheduler {quote(scheduler)} has no workers; allowed: one or more, as dask worker {scheduler} starts them"
        ) from None


def _run(
    client: Any,
    question: Question,
    table: Table,
    left: list[int],
    vectorised: bool,
    await_s: float,
    report: TellShare,
) -> None:
    """Hand out chunks, a few ahead of the workers, and store what comes."""
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    total, waiting = len(left), iter(left)
    ahead = _AHEAD * max(len(client.scheduler_info()["workers"]), 1)
    places: dict[Any, int] = {}

    def hand_out(chunk: int) -> Any:
        points = table.grid.columns(*table.bounds(chunk))
        # With its question: one that all chunks share would be lost with the worker that has it.
        future = client.submit(answers, question, points, vectorised, pure=False, retries=_RETRIES)
        places[future] = chunk
        return future

    def keep(future: Any) -> None:
        """Raises KilledWorker, or InputError."""
        chunk = places[future]
        try:
            answer = future.result()
        except (InputError, KilledWorker):
            raise
        except (CancelledError, CommClosedError):  # the latter while an answer is fetched from who has gone
            lost = "workers of the sweep are all" if deserted.is_set() else "scheduler of the sweep is"
            raise InputError(f"the {lost} gone; allowed: one that stays") from None
        except Exception as error:
            raise InputError(_failure_line(error, table, chunk)) from None
        finally:
            del places[future]  # not before: what is still to be fetched may be lost with its worker
        table.put(chunk, answer)
        future.release()

    with _watched(client, places, await_s) as deserted:
        pending = as_completed([hand_out(chunk) for _, chunk in zip(range(ahead), waiting, strict=False)])
        suspects: list[int] = []
        finished = 0
        for future in pending:
            chunk = places[future]
            try:
                keep(future)
            except KilledWorker:  # by this chunk, or by one that the worker had at the same time
                suspects.append(chunk)
            else:
                finished += 1
                report(f"{table.bounds(chunk)[1]} points", finished / total)
            following = next(waiting, None) if len(suspects) < _SUSPECTS else None
            if following is not None:
                pending.add(hand_out(following))
        guilty = []
        for chunk in suspects:  # one at a time: now it is known which one it is
            try:
                keep(hand_out(chunk))
            except KilledWorker:
                guilty.append(chunk)
            else:
                finished += 1
                report(f"{table.bounds(chunk)[1]} points", finished / total)
    if guilty:
        begin, end = table.bounds(min(guilty))
        raise InputError(
            f"points {begin} to {end - 1}: every worker that was asked for them was killed or crashed"
        )


@contextmanager
def _watched(client: Any, handed_out: Mapping[Any, int], await_s: float) -> Iterator[threading.Event]:
    """While no worker has been there for long, what is handed out would be waited for without end: it is taken back
    then, and the event set."""
    deserted, over = threading.Event(), threading.Event()

    def watch() -> None:
        seen_s = time.monotonic()
        while not over.wait(_WATCH_S):
            if client.scheduler_info()["workers"]:
                seen_s = time.monotonic()
            if time.monotonic() - seen_s > await_s:
                deserted.set()
                client.cancel([*handed_out])
                return

    watcher = threading.Thread(target=watch, name="watch over workers", daemon=True)
    watcher.start()
    try:
        yield deserted
    finally:
        over.set()
        watcher.join()


def _failure_line(error: BaseException, table: Table, chunk: int) -> str:
    begin, end = table.bounds(chunk)
    text = str(error).splitlines()[0] if str(error) else ""
    return f"points {begin} to {end - 1}: {type(error).__name__} {text}"


def answers(question: Question, points: Mapping[str, np.ndarray], vectorised: bool) -> dict[str, np.ndarray]:
    """Of one chunk; runs where the worker is. Raises InputError with the point at which a question fails."""
    if vectorised:
        return {name: np.asarray(values) for name, values in question(**points).items()}
    rows = []
    for values in zip(*(column.tolist() for column in points.values()), strict=True):
        point = dict(zip(points, values, strict=True))
        try:
            rows.append(dict(question(**point)))
        except InputError as refusal:
            told = ", ".join(f"{name} = {value}" for name, value in point.items())
            raise InputError(f"at {told}: {refusal}") from None
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
