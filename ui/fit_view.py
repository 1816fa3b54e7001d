"""What there is of a fit of the vehicle's parameters to a take, as the panels show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sim.vehicles.parameter import Value

if TYPE_CHECKING:
    from sim.identification import Identified

BEFORE, AFTER = "before the fit", "after the fit"
"""Names of the ghosts that fly the take's inputs with the guess, and with what was found."""


@dataclass(frozen=True, slots=True, eq=False)
class FitView:
    """Immutable; replaced as a whole."""

    guess: Mapping[str, Value] = field(default_factory=dict)
    """Where the search began: the present parameters."""
    running: bool = False
    iteration: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)
    """Of the unknown parameters, so far."""
    found: "Identified | None" = None
    span_s: tuple[float, float] = (0.0, 0.0)
    """The part of the take that was fitted to."""
