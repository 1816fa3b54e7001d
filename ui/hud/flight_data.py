"""What the instruments show, out of a lane. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.snapshot import Gyration, LaneSnapshot, Rolling
from sim.vehicles.parameter import Value


@dataclass(frozen=True, slots=True)
class FlightData:
    """In a pilot's terms and units."""

    speed_mps: float
    """Over all directions."""
    climb_mps: float
    height_m: float
    """Above the ground; nan without ground."""
    heading_deg: float
    """Of the nose, clockwise from the world's +y (north), 0..360."""
    pitch_rad: float
    """Nose up is positive."""
    roll_rad: float
    """Right side down is positive."""
    collective: float
    """Lift over weight; nan for vehicles without one."""
    wheels: Rolling | None = None
    """Of vehicles on the ground."""
    gyration: Gyration | None = None
    """Of what turns about a fixed point."""


def flight_data(lane: LaneSnapshot, parameters: Mapping[str, Value]) -> FlightData:
    """From pose, body twist and controls; `parameters` for the weight."""
    R_wb, x_b_w = lane.T_wb[:3, :3], lane.T_wb[:3, 0]
    if len(lane.twist_b) == 6:
        v_w = R_wb @ lane.twist_b[3:6]
    else:
        v_w = R_wb @ np.array([lane.twist_b[1], lane.twist_b[2], 0.0])
    return FlightData(
        speed_mps=float(np.linalg.norm(v_w)),
        climb_mps=float(v_w[2]),
        height_m=float(lane.height_above_ground_m),
        heading_deg=math.degrees(math.atan2(x_b_w[0], x_b_w[1])) % 360.0,
        pitch_rad=math.asin(min(max(float(x_b_w[2]), -1.0), 1.0)),
        roll_rad=math.atan2(float(R_wb[2, 1]), float(R_wb[2, 2])),
        collective=lift_over_weight(lane, parameters),
        wheels=lane.rolling,
        gyration=lane.gyration,
    )


def lift_over_weight(lane: LaneSnapshot, parameters: Mapping[str, Value]) -> float:
    """Share of the weight that the rotor carries, for the helicopter; nan otherwise."""
    mass, gravity = parameters.get("mass"), parameters.get("gravity")
    weight_N = float(mass) * gravity_mps2(gravity) if isinstance(mass, float) else 0.0
    if lane.vehicle != "helicopter" or weight_N <= 0.0 or not len(lane.controls):
        return math.nan
    return float(lane.controls[0]) / weight_N


def gravity_mps2(value: Value | None) -> float:
    """Magnitude, whether declared as a number or as a vector."""
    if value is None:
        return 0.0
    return float(np.linalg.norm(np.atleast_1d(np.asarray(value, float))))


def compass(heading_deg: float) -> str:
    """'N', '030', 'E': what a tape writes at a multiple of ten degrees."""
    degrees = round(heading_deg) % 360
    return {0: "N", 90: "E", 180: "S", 270: "W"}.get(degrees, f"{degrees:03d}")
