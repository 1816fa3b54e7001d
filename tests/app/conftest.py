"""What window tests share."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.app.desktop import Screen


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    """One for all windows of a module."""
    with closing(Screen()) as made:
        yield made
