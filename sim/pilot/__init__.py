"""Flight modes: what the sticks do. One mode a file, each with its memory in an explicit state."""

from collections.abc import Callable

from sim.pilot.attitude import AttitudePilot
from sim.pilot.autopilot import Autopilot
from sim.pilot.car import CarPilot
from sim.pilot.contract import Pilot, Sensed
from sim.pilot.hold import HoldPilot
from sim.pilot.planned import PlannedPilot
from sim.pilot.rate import RatePilot
from sim.pilot.raw import RawPilot
from sim.pilot.snakeboard import SnakeboardPilot
from sim.pilot.tracking import Track, track

MODES: dict[str, Callable[[], Pilot]] = {
    "raw": RawPilot,
    "rate": RatePilot,
    "attitude": AttitudePilot,
    "hold": HoldPilot,
    "drive": CarPilot,
    "ride": SnakeboardPilot,
}
_MODES_OF: dict[str, tuple[str, ...]] = {
    "helicopter": ("raw", "rate", "attitude", "hold"),
    "car": ("raw", "drive"),
    "snakeboard": ("raw", "ride"),
}
_DEFAULTS = {"helicopter": "attitude", "car": "drive", "snakeboard": "ride"}

__all__ = [
    "MODES",
    "AttitudePilot",
    "Autopilot",
    "CarPilot",
    "HoldPilot",
    "Pilot",
    "PlannedPilot",
    "RatePilot",
    "RawPilot",
    "Sensed",
    "SnakeboardPilot",
    "Track",
    "default_mode",
    "flight_modes",
    "has_autopilot",
    "track",
]


def flight_modes(vehicle: str) -> tuple[str, ...]:
    """Modes that a vehicle has, by its registry name."""
    return _MODES_OF.get(vehicle, ("raw",))


def default_mode(vehicle: str) -> str:
    """The mode a beginner should have."""
    return _DEFAULTS.get(vehicle, "raw")


def has_autopilot(vehicle: str) -> bool:
    """Whether the demonstration can fly the vehicle."""
    return vehicle == "helicopter"
