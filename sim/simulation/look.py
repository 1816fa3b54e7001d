"""By what a lane is told apart."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """A lane's name and colour, and whether it is the flown one or beside it."""

    name: str
    tint: tuple[float, float, float]
    """Linear RGB."""
    ghost: bool
