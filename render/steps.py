"""Work in steps, so that frames can come between them."""

from collections.abc import Iterator


def step(steps: Iterator[None]) -> bool:
    """Take one; whether there was one to take."""
    for _ in steps:
        return True
    return False


def finish(steps: Iterator[None]) -> None:
    """Take all that are left."""
    for _ in steps:
        pass
