"""What several exports are looked at with."""

from collections.abc import Iterator

import pytest

from tests.export.browser import Browser, browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all pages of a module."""
    with browser() as made:
        yield made
