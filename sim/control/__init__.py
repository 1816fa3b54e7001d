"""Control: flight modes (what the sticks do, `MODES`), autopilots (`autopilot_of`) and feedback along plans.

Each keeps its memory in an explicit state.
"""

from collections.abc import Callable

from sim.control.autopilots import autopilot_of, has_autopilot, vehicles_with_autopilot
from sim.control.driving import BalancePilot, DrivePilot, RidePilot, TowPilot
from sim.control.flight_modes import AttitudePilot, HoldPilot, RatePilot, RawPilot
from sim.control.helm import StationPilot
from sim.control.pilot import Automatic, ControllerPilot, Mission, Pilot, Sensed
from sim.control.plan_following import PlannedPilot, Regulator, regulator
from sim.controllers import PilotInput
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle

MODES: dict[str, Callable[[], Pilot]] = {
    "raw": RawPilot,
    "rate": RatePilot,
    "attitude": AttitudePilot,
    "hold": HoldPilot,
    "drive": DrivePilot,
    "tow": TowPilot,
    "balance": BalancePilot,
    "ride": RidePilot,
    "station": StationPilot,
}
"""By name; which of them a vehicle has is in its config."""
_RESTING = ("hold", "station")
"""Those that keep a place."""

__all__ = [
    "MODES",
    "AttitudePilot",
    "Automatic",
    "BalancePilot",
    "ControllerPilot",
    "DrivePilot",
    "Mission",
    "HoldPilot",
    "Pilot",
    "PilotInput",
    "PlannedPilot",
    "Regulator",
    "RatePilot",
    "RawPilot",
    "Sensed",
    "RidePilot",
    "StationPilot",
    "TowPilot",
    "autopilot_of",
    "default_mode",
    "flight_modes",
    "has_autopilot",
    "regulator",
    "resting_mode",
    "vehicles_with_autopilot",
]


def flight_modes(vehicle: Vehicle | type[Vehicle]) -> tuple[str, ...]:
    """Modes that a vehicle has."""
    return config_of(vehicle).modes.names


def default_mode(vehicle: Vehicle | type[Vehicle]) -> str:
    """The mode a beginner should have."""
    return config_of(vehicle).modes.default


def resting_mode(vehicle: Vehicle) -> str:
    """The mode that, hands off, holds the vehicle where it is, as well as any of its modes does."""
    modes = config_of(vehicle).modes
    return next((mode for mode in _RESTING if mode in modes.names), modes.default)
