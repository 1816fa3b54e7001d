"""What all tests share: being asked to end ends them, with what they have started; and the order of their files."""

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from sim.vehicles import VEHICLES

_SETTINGS = tempfile.TemporaryDirectory(prefix="holonomy-tests-")


def pytest_configure() -> None:
    os.environ.setdefault("HOLONOMY_AHEAD", "0")  # tests compile what they ask for
    # Nothing that they keep or trust gets among what the user has.
    os.environ.setdefault("HOLONOMY_CONFIG", _SETTINGS.name)
    # A handler of its own: tests run the app, which takes over what has none, and its leaving would be one failure.
    signal.signal(signal.SIGTERM, _end)
    # Workers are ended by it; a shell has what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _vehicles_kept() -> Iterator[None]:
    before = dict(VEHICLES)
    yield
    VEHICLES.clear()
    VEHICLES.update(before)


@pytest.fixture(autouse=True, scope="module")
def own_vehicles_end_with_their_file() -> Iterator[None]:
    """What a file of tests enters among the vehicles is no vehicle of the next."""
    with _vehicles_kept():
        yield


@pytest.fixture
def registry() -> Iterator[None]:
    """What a test enters among the vehicles is forgotten after it."""
    with _vehicles_kept():
        yield


_MANY = 40
"""Tests of a file that has its place before windows, which wait for frames and so leave processors to others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first, so that no process is left with one at the end; order within a file stays."""
    sizes = Counter(item.path for item in items)

    def turn(item: pytest.Item) -> tuple[int, int]:
        size = sizes[item.path]
        first = 0 if size >= _MANY else 1 if "window" in item.path.stem else 2
        return first, -size

    items.sort(key=turn)


_ASKED: list[int] = []
"""The signal that this process was asked to end by."""


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once: the second must not stop the clearing up
    _ASKED.append(number)
    # What `pytest.exit` raises is an Exception, which whatever guards against failures keeps.
    raise KeyboardInterrupt("asked to end")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _ASKED:
        session.exitstatus = 128 + _ASKED[0]
