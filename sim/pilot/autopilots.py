"""Which autopilots there are: one by name for each kind of vehicle; which of them a vehicle has is in its outfit."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.outfit import outfit_of
from sim.pilot.calm_top import CalmTopPilot
from sim.pilot.contract import Pilot
from sim.pilot.course import CoursePilot
from sim.pilot.cycle import CyclePilot
from sim.pilot.errand import Errand
from sim.pilot.hover import HoverPilot
from sim.pilot.lead import LeadPilot
from sim.pilot.line_drive import LineDrive
from sim.pilot.roll_round import RollRoundPilot
from sim.pilot.route_flight import RouteFlight
from sim.pilot.sail import SailPilot
from sim.pilot.skate import SkatePilot
from sim.pilot.steady import SteadyPilot
from sim.pilot.swing_up import SwingUpPilot
from sim.vehicles import vehicles


@dataclass(frozen=True, slots=True)
class Kind:
    """An autopilot."""

    does: str
    """What a user sees of it, in a sentence."""
    make: Callable[[Errand], Pilot]
    follow: Callable[[np.ndarray, np.ndarray, float, np.ndarray], CoursePilot] | None = None
    """Who follows a course that was planned for another vehicle, as `CoursePilot` is made; None where nobody does."""


def _route(errand: Errand) -> Pilot:
    """Where there is nowhere to land it hovers."""
    if errand.landing_w is None:
        return HoverPilot(errand)
    return RouteFlight(errand.path_w, errand.landing_w)


AUTOPILOTS: dict[str, Kind] = {
    "route": Kind("Takes off, flies along the world's safe way, and lands on the far pad.", _route),
    "hover": Kind(
        "Rises, goes to the goals' places in turn, and holds the last one, wind or not.", HoverPilot
    ),
    "line": Kind("Drives the lap, or through the gates of a race; without either it stops.", LineDrive),
    "sail": Kind(
        "Goes to the goals' places in turn, and lies at the last one against wind and waves.",
        SailPilot,
        CoursePilot,
    ),
    "gait": Kind("Swings torso and feet: to the goals' places in turn, then round the last one.", SkatePilot),
    "steady": Kind("Stops all turning, then holds the attitude.", SteadyPilot),
    "calm": Kind("Takes the nodding out of the top, and leaves its spin and its going round.", CalmTopPilot),
    "lead": Kind("Leads the load's target along the scene's way, or round a level circle.", LeadPilot),
    "cycle": Kind("Goes from pose to pose, round and round, about where the servos hold it.", CyclePilot),
    "roll-round": Kind("Rolls upright round a circle at a steady speed.", RollRoundPilot),
    "swing-up": Kind(
        "Swings a rod with motors up and keeps it standing; several rods, or by hand, it calms.", SwingUpPilot
    ),
}


def autopilot_of(vehicle: str) -> Kind | None:
    """Of a vehicle by its registry name; None where it has none."""
    return AUTOPILOTS.get(outfit_of(vehicle).modes.autopilot)


def has_autopilot(vehicle: str) -> bool:
    """Whether there is one."""
    return autopilot_of(vehicle) is not None


def vehicles_with_autopilot() -> tuple[str, ...]:
    """Their names."""
    return tuple(name for name in vehicles() if has_autopilot(name))
