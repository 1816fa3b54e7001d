"""What identification finds, how sure it is, and what it cannot tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sim.vehicles import State, Vehicle
from sim.vehicles.forms.parameters import Value


@dataclass(frozen=True, eq=False)
class Identified:
    """Values with standard errors; nan where the data do not tell."""

    vehicle: Vehicle
    """With the values that were found."""
    values: Mapping[str, Value]
    """Of the unknown parameters."""
    standard_errors: Mapping[str, Value]
    """As many numbers as the values have."""
    correlation: np.ndarray
    """(k, k) of all their numbers, in their order."""
    confounded: tuple[tuple[str, ...], ...]
    """Numbers that the data cannot tell apart, or not at all; of a vector `inertia.0` is the first."""
    initial: State = field(repr=False)
    """Where the motion began."""
    noise: Mapping[str, float]
    """Standard deviation of what was measured, by group: as given, or as it turned out."""
    iterations: int
    converged: bool

    def __str__(self) -> str:
        """A line a parameter, then what cannot be told."""
        lines = [
            f"{name} = {_text(value)} +- {_text(self.standard_errors[name])}"
            for name, value in self.values.items()
        ]
        lines += [
            f"{names[0]} is not told by these data"
            if len(names) == 1
            else f"{' and '.join(names)} are not told apart by these data"
            for names in self.confounded
        ]
        return "\n".join(lines)


def _text(value: Value) -> str:
    return f"{value:.5g}" if isinstance(value, int | float) else f"({', '.join(f'{v:.5g}' for v in value)})"
