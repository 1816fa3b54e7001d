"""What a planner has built and keeps: the few that were asked for last, for a problem holds 10 to 30 MB."""

from typing import Generic, TypeVar

import numpy as np

_SIMILAR = float(np.log(3.0))
"""Sizes within this factor share the scaling of one problem."""
_Built = TypeVar("_Built")


class LatestBuilt(Generic[_Built]):
    """By key, and by the size of the task that it was built for."""

    def __init__(self, at_most: int) -> None:
        """at_most: so many are kept; those that were not asked for longest go."""
        assert at_most > 0
        self._at_most = at_most
        self._kept: list[tuple[object, np.ndarray, _Built]] = []

    def find(self, key: object, size: np.ndarray) -> _Built | None:
        """What was built for a task of about this size (n,), natural logarithms; None where nothing was."""
        for k, (same, there, built) in enumerate(self._kept):
            if same == key and np.abs(there - size).max() < _SIMILAR:
                self._kept.append(self._kept.pop(k))
                return built
        return None

    def keep(self, key: object, size: np.ndarray, built: _Built) -> None:
        """From now on; the one that was not asked for longest makes room."""
        self._kept.append((key, size, built))
        del self._kept[: -self._at_most]
