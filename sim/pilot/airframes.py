"""Which airframe a vehicle's controllers work with."""

from sim.pilot.airframe import Airframe
from sim.pilot.fixed_rotors import FixedRotors
from sim.pilot.tilted_lift import TiltedLift
from sim.vehicles import Vehicle


def airframe_of(vehicle: Vehicle) -> Airframe:
    """By what its controls are: a lift that tilts, or what makes a wrench linearly."""
    return (TiltedLift if vehicle.planned_inputs == "thrust vector" else FixedRotors).of(vehicle)
