"""Whether the pilot has begun to steer while an earlier moment is shown."""

from sim.commands import PilotInput
from ui.input.sticks import AXES

LEAST = 0.12
"""Deflection, away from where a stick was, that is meant."""


class Intervention:
    """Told of the sticks once a frame; says once for each look back that somebody steers.

    What is held or leaves the centre by itself when the look back begins counts only once it goes further out.
    """

    def __init__(self) -> None:
        self._rest: dict[str, float] | None = None
        self._held: frozenset[str] = frozenset()
        self._over = False

    def begins(self, sticks: PilotInput, *, looking: bool) -> bool:
        """True in the first frame in which a control is moved outwards or an action is pressed."""
        if not looking:
            self._rest, self._over = None, False
            return False
        if self._rest is None:
            self._rest = {axis: getattr(sticks, axis) for axis in AXES}
            self._held = sticks.actions
            return False
        pressed = bool(sticks.actions - self._held)
        self._held &= sticks.actions
        moved = [self._moved(axis, getattr(sticks, axis), self._rest) for axis in AXES]
        if self._over or not (pressed or any(moved)):
            return False
        self._over = True
        return True

    @staticmethod
    def _moved(axis: str, value: float, rest: dict[str, float]) -> bool:
        """Whether the axis is further out than it rests; back towards the centre is a new rest."""
        if value * rest[axis] < 0.0:
            rest[axis] = 0.0
        if abs(value) < abs(rest[axis]):
            rest[axis] = value
        return abs(value - rest[axis]) > LEAST
