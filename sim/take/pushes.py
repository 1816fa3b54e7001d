"""What an environment that moves has done to a vehicle: impulses at moments of a grid, recorded like controls."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Pushes:
    """Impulses on a body in its own frame, each whole at the start of a step. Arrays are never written to."""

    steps: np.ndarray
    """(k,) int64, increasing."""
    impulses: np.ndarray
    """(k, dim) in the components of the vehicle's wrenches, times s."""
    environments: np.ndarray
    """(r, s) the environment's state at the restart points, before it is asked there; s = 0 where none is kept."""

    def wrenches(self, begin: int, end: int, step_s: float) -> np.ndarray:
        """(end - begin, dim): the wrench that is each impulse over its step, and none between them."""
        w = np.zeros((end - begin, self.impulses.shape[1]))
        for k in self._within(begin, end):
            w[self.steps[k] - begin] = self.impulses[k] / step_s
        return w

    def divided(self, begin: int, end: int, step_s: float) -> list[tuple[np.ndarray, int]]:
        """(wrench, steps) one after the other over these steps."""
        nothing = np.zeros(self.impulses.shape[1])
        out, at = [], begin
        for k in self._within(begin, end):
            step = int(self.steps[k])
            out += [(nothing, step - at)] if step > at else []
            out.append((self.impulses[k] / step_s, 1))
            at = step + 1
        return [*out, (nothing, end - at)] if end > at else out

    def _within(self, begin: int, end: int) -> range:
        first, last = np.searchsorted(self.steps, (begin, end))
        return range(int(first), int(last))

    def moved(self, steps: np.ndarray, until: int) -> "Pushes":
        """The same impulses at the starts of other steps before `until`; those that come together act together."""
        kept = steps < until
        at, where = np.unique(steps[kept], return_inverse=True)
        impulses = np.zeros((len(at), self.impulses.shape[1]))
        np.add.at(impulses, where, self.impulses[kept])
        return Pushes(at, impulses, np.zeros((0, 0)))
