"""What shakes a controller: the flown vehicle ends its flight, or touches down hard. Pure but for its memory."""

import numpy as np

from sim.snapshot import LaneStatus, Snapshot

CRASH = (1.0, 0.6)
"""Strength 0..1 and duration [s]."""
HARD_MPS = 1.5
"""A change of velocity within one frame, beyond what thrust gives, that is felt."""
FULL_MPS = 8.0


class Jolts:
    """Told of every snapshot."""

    def __init__(self) -> None:
        self._running = True
        self._velocity_w: np.ndarray | None = None
        self._time_s, self._generation = 0.0, -1

    def felt(self, snapshot: Snapshot) -> tuple[float, float] | None:
        """(strength, duration in s) where something has just struck."""
        lane = snapshot.lanes[0]
        running = lane.status is LaneStatus.RUNNING
        velocity_w = lane.T_wb[:3, :3] @ lane.twist_b[3:]
        went_on = self._generation == lane.generation and 0.0 < snapshot.clock_s - self._time_s < 0.2
        struck_mps = 0.0
        if went_on and running and self._velocity_w is not None:
            struck_mps = float(np.linalg.norm(velocity_w - self._velocity_w))
            struck_mps -= 30.0 * (snapshot.clock_s - self._time_s)  # what 3 g do in that time is flown
        crashed = went_on and self._running and not running
        self._running, self._velocity_w = running, velocity_w
        self._time_s, self._generation = snapshot.clock_s, lane.generation
        if crashed:
            return CRASH
        if struck_mps > HARD_MPS:
            return min(struck_mps / FULL_MPS, 1.0), 0.25
        return None
