"""What an environment that moves has done to a vehicle: impulses at moments of a grid, recorded like controls."""

from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise

import numpy as np

from sim.steppers import Stepper
from sim.trees.stepper import TreeStepper
from sim.vehicles import Vehicle
from sim.vehicles.impulses import struck


@dataclass(frozen=True, slots=True, eq=False)
class Pushes:
    """Impulses on a body in its own frame. Arrays are never written to."""

    steps: np.ndarray
    """(k,) int64, increasing."""
    impulses: np.ndarray
    """(k, impulse_size) of the vehicle; each acts at once, before its step."""
    environments: np.ndarray
    """(r, s) the environment's state at some of the restart points, before it is asked there."""
    points: np.ndarray
    """(r,) int64, increasing: which restart points these are."""

    def divided(self, begin: int, end: int) -> list[tuple[np.ndarray | None, int]]:
        """(impulse at the start, steps until the next one) one after the other over these steps."""
        at = sorted({begin, *(int(self.steps[k]) for k in self._within(begin, end))})
        return [(self.at(step), until - step) for step, until in pairwise((*at, end))]

    def at(self, step: int) -> np.ndarray | None:
        """(impulse_size,) at the start of a step, where there is one."""
        k = int(np.searchsorted(self.steps, step))
        return self.impulses[k] if k < len(self.steps) and self.steps[k] == step else None

    def _within(self, begin: int, end: int) -> range:
        first, last = np.searchsorted(self.steps, (begin, end))
        return range(int(first), int(last))

    def moved(self, steps: np.ndarray, until: int) -> "Pushes":
        """The same impulses at the starts of other steps before `until`; those that come together act together."""
        kept = steps < until
        at, where = np.unique(steps[kept], return_inverse=True)
        impulses = np.zeros((len(at), self.impulses.shape[1]))
        np.add.at(impulses, where, self.impulses[kept])
        return Pushes(at, impulses, np.zeros((0, 0)), np.zeros(0, np.int64))


@singledispatch
def strike(
    kernel: Stepper, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float
) -> None:
    """Change a private state in place as an impulse (impulse_size,) does at once, by its momentum alone.

    A wrench that is held over a step would turn with the body, and give another momentum in space.
    """
    p = vehicle.parameter_vector
    y[:] = kernel.start(struck(vehicle, kernel.node(y, u, p, h), impulse), u, p, h)


@strike.register
def _(
    kernel: TreeStepper, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float
) -> None:
    kernel.strike(y, impulse, vehicle.parameter_vector)
