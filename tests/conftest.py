"""What all tests share: being asked to end ends them, with what they have started."""

import os
import signal
from types import FrameType

import pytest


def pytest_configure() -> None:
    os.environ.setdefault("HOLONOMY_AHEAD", "0")  # tests compile what they ask for
    # A handler of its own: tests run the app, which takes over what has none, and its leaving would be one failure.
    signal.signal(signal.SIGTERM, _end)
    # Workers are ended by it; a shell has what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once: the second must not stop the clearing up
    pytest.exit("asked to end", returncode=128 + number)
