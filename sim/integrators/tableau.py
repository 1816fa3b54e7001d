"""Explicit Runge-Kutta methods are their tableaux."""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau of an explicit method: strictly lower a, weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    def step(self, rate: Callable[[ca.SX], ca.SX], y: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """y after a step of y' = rate(y), and the first stage's rate."""
        stages: list[ca.SX] = []
        for row in self.a:
            stages.append(rate(_combined(y, h, row, stages)))
        return _combined(y, h, self.b, stages), stages[0]


def _combined(y: ca.SX, h: ca.SX, weights: tuple[float, ...], stages: list[ca.SX]) -> ca.SX:
    terms = [b * k for b, k in zip(weights, stages, strict=True) if b]
    return y + h * sum(terms[1:], terms[0]) if terms else y


EULER = Tableau(((),), (1.0,))
MIDPOINT = Tableau(((), (1 / 2,)), (0.0, 1.0))
KUTTA4 = Tableau(((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
