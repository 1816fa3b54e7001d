"""Flight modes: what the sticks do. One mode a file, each with its memory in an explicit state."""

from collections.abc import Callable

from sim.pilot.attitude import AttitudePilot
from sim.pilot.autopilot import Autopilot
from sim.pilot.contract import Pilot, Sensed
from sim.pilot.hold import HoldPilot
from sim.pilot.planned import PlannedPilot
from sim.pilot.rate import RatePilot
from sim.pilot.raw import RawPilot
from sim.pilot.tracking import Track, track

MODES: dict[str, Callable[[], Pilot]] = {
    "raw": RawPilot,
    "rate": RatePilot,
    "attitude": AttitudePilot,
    "hold": HoldPilot,
}

__all__ = [
    "MODES",
    "AttitudePilot",
    "Autopilot",
    "HoldPilot",
    "Pilot",
    "PlannedPilot",
    "RatePilot",
    "RawPilot",
    "Sensed",
    "Track",
    "default_mode",
    "flight_modes",
    "has_autopilot",
    "track",
]


def flight_modes(vehicle: str) -> tuple[str, ...]:
    """Modes that a vehicle has, by its registry name."""
    return tuple(MODES) if vehicle == "helicopter" else ("raw",)


def default_mode(vehicle: str) -> str:
    """The mode a beginner should have."""
    return "attitude" if vehicle == "helicopter" else "raw"


def has_autopilot(vehicle: str) -> bool:
    """Whether the demonstration can fly the vehicle."""
    return vehicle == "helicopter"
