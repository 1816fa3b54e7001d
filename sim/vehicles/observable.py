"""What a vehicle may tell of itself beside energy and momentum."""

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True, slots=True)
class Observable:
    """A named quantity of a vehicle."""

    name: str
    unit: str
    value: ca.SX
    """A scalar or a column."""
    traced: bool = False
    """Its way since the start is kept, with all its turns between two pictures; it depends on bodies' places only."""
    direction: bool = False
    """A unit vector, and so is all that lies on its way."""
