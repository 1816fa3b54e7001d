"""Where bodies of an environment were during a segment, for pictures and exports; what they go on from is elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PERIOD_S = 0.02
"""Between two looks at them, which whole multiples of it are."""
ROW = 7
"""Numbers of a pose: place [m], quaternion (w, x, y, z)."""
Look = tuple[int, np.ndarray, np.ndarray]
"""A step, bodies (k,) that have moved since the look before, and their poses (k, ROW) float32."""


def moved_since(before: np.ndarray | None, poses: np.ndarray) -> np.ndarray:
    """(k,) of bodies whose poses (n, ROW) float32 are others than before; None: all."""
    if before is None or before.shape != poses.shape:
        return np.arange(len(poses))
    return np.flatnonzero((before != poses).any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class SolidsLog:
    """Looks one after the other. Arrays are never written to."""

    steps: np.ndarray
    """(k,) int64, increasing."""
    begins: np.ndarray
    """(k,) int64: the first row of each look."""
    which: np.ndarray
    """(m,) int64: the body of each row; the first look has all."""
    poses: np.ndarray
    """(m, ROW) float32."""

    @classmethod
    def of(cls, looks: Sequence[Look]) -> "SolidsLog | None":
        if not looks:
            return None
        counts = [len(which) for _, which, _ in looks]
        return cls(
            np.array([step for step, _, _ in looks], np.int64),
            np.cumsum([0, *counts[:-1]]).astype(np.int64),
            np.concatenate([which for _, which, _ in looks]).astype(np.int64),
            np.concatenate([poses for _, _, poses in looks]).astype(np.float32),
        )

    @property
    def count(self) -> int:
        """Bodies."""
        return int(self.which.max(initial=-1)) + 1

    def at(self, step: int) -> np.ndarray:
        """(bodies, ROW) as of the last look that is not later than a step; of the first where there is none."""
        look = max(int(np.searchsorted(self.steps, step, side="right")) - 1, 0)
        end = int(self.begins[look + 1]) if look + 1 < len(self.steps) else len(self.which)
        last = np.zeros(self.count, np.int64)
        last[self.which[:end]] = np.arange(end)
        return self.poses[last].astype(float)

    def looks(self, begin: int, end: int) -> list[Look]:
        """Those from one step to before another."""
        bounds = [*self.begins.tolist(), len(self.which)]
        return [
            (step, self.which[bounds[k] : bounds[k + 1]], self.poses[bounds[k] : bounds[k + 1]])
            for k, step in enumerate(self.steps.tolist())
            if begin <= step < end
        ]
