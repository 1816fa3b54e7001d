"""Explicit Runge-Kutta methods are their tableaux."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca

from sim.integrators.scheme import SAME


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau of an explicit method: strictly lower a, weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Moments of the stages, as shares of the step."""
        return tuple(sum(row) for row in self.a)

    def step(self, rate: Callable[[ca.SX, float], ca.SX], y: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """y after a step of y' = rate(y, moment), and the first stage's rate."""
        stages: list[ca.SX] = []
        for row, moment in zip(self.a, self.c, strict=True):
            stages.append(rate(_combined(y, h, row, stages), moment))
        return _combined(y, h, self.b, stages), stages[0]


def _combined(y: ca.SX, h: ca.SX, weights: tuple[float, ...], stages: list[ca.SX]) -> ca.SX:
    terms = [b * k for b, k in zip(weights, stages, strict=True) if b]
    return y + h * sum(terms[1:], terms[0]) if terms else y


def distinct(moments: Iterable[float]) -> tuple[float, ...]:
    """In ascending order, each once."""
    found: list[float] = []
    for moment in sorted(moments):
        if not found or moment - found[-1] > SAME:
            found.append(moment)
    return tuple(found)


EULER = Tableau(((),), (1.0,))
MIDPOINT = Tableau(((), (1 / 2,)), (0.0, 1.0))
KUTTA4 = Tableau(((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
