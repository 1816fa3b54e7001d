"""Heading hold: the yaw stick turns a wanted heading, hands off it stays."""

from sim.pilot.contract import Sensed
from sim.pilot.rotation import heading_of, turn_between

LEAD_RAD = 0.35


def turned(held_rad: float | None, yaw_rate: float, sensed: Sensed, dt_s: float) -> float:
    """The heading to hold after `dt_s` at `yaw_rate` [rad/s]; never far ahead of the body's own."""
    actual = heading_of(sensed.R_wb)
    if held_rad is None:
        return actual
    lead = turn_between(actual, held_rad + yaw_rate * dt_s)
    return actual + min(max(lead, -LEAD_RAD), LEAD_RAD)
