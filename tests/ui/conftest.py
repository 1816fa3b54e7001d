"""An imgui context a test."""

from collections.abc import Iterator

import pytest

from tests.ui.bench import Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()
