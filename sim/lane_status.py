"""How it stands with a lane: what snapshots tell of the present and takes of their end."""

from enum import Enum


class LaneStatus(Enum):
    """Whether a lane runs, and if not, why."""

    RUNNING = "running"
    DIVERGED = "diverged"
    CRASHED = "crashed"
