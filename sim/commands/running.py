"""Time: whether and how fast it goes on, and where it begins."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.scene_tables import Start

SPEED_RANGE = (1.0 / 32.0, 8.0)
"""Simulated seconds per wall second."""


@dataclass(frozen=True, slots=True)
class SetPaused:
    paused: bool


@dataclass(frozen=True, slots=True)
class SingleStep:
    """Advance every lane by `count` steps of the flown lane, then stay paused."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Simulated seconds per wall second, within SPEED_RANGE. Never changes h."""

    speed: float


@dataclass(frozen=True, slots=True)
class Reset:
    """All lanes back to the scene's start."""


@dataclass(frozen=True, slots=True)
class StartAt:
    """All lanes begin there, now and whenever they start over."""

    start: "Start"
