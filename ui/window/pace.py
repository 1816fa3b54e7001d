"""How frames and simulation keep up, and what is offered where they do not. Pure but for its memory."""

from dataclasses import dataclass

from sim.simulation.lanes.snapshot import Snapshot

SLOW_S = 3.0
"""So long has something to lag before it is told of."""
KEEPS_UP = 0.9
_IN_TIME = 0.97


@dataclass(frozen=True, slots=True)
class Pace:
    """Of the frames."""

    frame_s: float = 0.0
    """Wall seconds; 0 before it is known."""
    scale: float = 1.0
    """Of the scene, relative to the window."""
    overspent: bool = False
    """Not even the smallest scale is in time."""

    @property
    def words(self) -> str:
        """As they are shown."""
        rate = f"{1.0 / self.frame_s:.0f} fps, " if self.frame_s else ""
        return f"{rate}scene at {self.scale:.0%} of the window"


def is_late(snapshot: Snapshot) -> bool:
    """Whether the motion falls behind a clock that runs no faster than wall time."""
    return not snapshot.paused and snapshot.speed <= 1.0 and 0.0 < snapshot.real_time_factor < _IN_TIME


class Offers:
    """Told of every frame; says once what would help, until it has been well again."""

    def __init__(self) -> None:
        self._behind_s = self._late_s = 0.0

    def heard(self, pace: Pace, snapshot: Snapshot, dt_s: float, *, lesser: str, slower: str) -> str:
        """What is to be told now, or nothing. lesser: the next lower quality; slower: the key that halves the speed."""
        runs = not snapshot.paused and snapshot.look_back is None
        behind = runs and 0.0 < snapshot.real_time_factor < KEEPS_UP
        self._behind_s, tell_behind = _lasting(self._behind_s, dt_s, behind)
        self._late_s, tell_late = _lasting(self._late_s, dt_s, pace.overspent)
        if tell_behind and slower:
            return (
                f"The simulation keeps up with {snapshot.real_time_factor:.2g} of real time: "
                f"{slower} shows it at half the speed"
            )
        if tell_late and lesser:
            return f"{pace.words}: quality {lesser} would be faster (View)"
        return ""


def _lasting(for_s: float, dt_s: float, lasts: bool) -> tuple[float, bool]:
    """(seconds for which it lasts, whether it is to be told of in this frame)."""
    if not lasts:
        return 0.0, False
    return for_s + dt_s, for_s <= SLOW_S < for_s + dt_s
