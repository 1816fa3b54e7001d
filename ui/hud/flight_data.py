"""What the instruments show, out of a lane. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.vehicle_config import Bar, Dial, Readout, named_values
from sim.vehicles import VEHICLES
from ui.settings.view_settings import SI, read

ROUNDING = 1e-9
"""Less than this is rounding and no motion, in whatever unit."""


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
    bars: tuple[tuple[Bar, float], ...] = ()
    """Beside the numbers, with their values; nan where there is nothing to show."""
    dial: Dial = field(default_factory=Dial)
    dial_values: Mapping[str, float] = field(default_factory=dict)
    """Of the dial's terms."""
    rows: tuple[tuple[str, str, str], ...] = ()
    """(name, number, unit) of what its config has the pilot read."""
    held: bool = False
    """It turns about a fixed point."""

    @property
    def goes(self) -> bool:
        """Somewhere, so that heading and dial mean something."""
        return not self.held and self.dial.kind != "none"


def flight_data(lane: LaneSnapshot, units: str = SI) -> FlightData:
    """From pose, body twist and observables; the rows in `units`, one of `ui.settings.view_settings.UNITS`."""
    R_wb, x_b_w = lane.T_wb[:3, :3], lane.T_wb[:3, 0]
    v_w = R_wb @ lane.twist_b[3:6]
    instruments, values = lane.config.instruments, values_of(lane)
    values |= {
        "speed": float(np.linalg.norm(v_w)),
        "climb": float(v_w[2]),
        "height": float(lane.height_above_ground_m),
        "ahead": float(lane.twist_b[3]),
        "turn": -float(lane.twist_b[2]),
        "turning": float(np.linalg.norm(lane.twist_b[:3])),
    }
    return FlightData(
        speed_mps=float(np.linalg.norm(v_w)),
        climb_mps=float(v_w[2]),
        height_m=float(lane.height_above_ground_m),
        heading_deg=math.degrees(math.atan2(x_b_w[0], x_b_w[1])) % 360.0,
        pitch_rad=math.asin(min(max(float(x_b_w[2]), -1.0), 1.0)),
        roll_rad=math.atan2(float(R_wb[2, 1]), float(R_wb[2, 2])),
        bars=tuple((bar, _finite(bar.value.value(values))) for bar in instruments.bars),
        dial=instruments.dial,
        dial_values={name: _finite(term.value(values)) for name, term in instruments.dial.terms.items()},
        rows=tuple((row.name, *read_row(row, values, units)) for row in instruments.rows),
        held=lane.pivot_w is not None,
    )


def values_of(lane: LaneSnapshot) -> dict[str, float]:
    """What a vehicle's data may name, at the moment of a snapshot."""
    return named_values(
        VEHICLES.get(lane.vehicle),
        controls=lane.controls,
        shape=lane.shape,
        parameters=lane.parameters,
        observables=lane.observables,
    )


def read_row(row: Readout, values: Mapping[str, float], units: str) -> tuple[str, str]:
    """(number, unit); what is told to the millimetre is no height, and stays in metres."""
    factor, unit = read(1.0, row.unit, units)
    if factor == 1.0 or row.scientific or row.decimals > 1:
        return number_of(row, values), row.unit
    decimals = 0 if unit == "ft" else row.decimals
    return number_of(replace(row, decimals=decimals), values, factor), unit


def number_of(row: Readout, values: Mapping[str, float], factor: float = 1.0) -> str:
    """As it is printed; a dash where there is none."""
    value = factor * row.value.value(values)
    if not math.isfinite(value):
        return "\N{EM DASH}"
    if row.scientific:
        return f"{value:.0e}" if abs(value) > ROUNDING else "0"
    return f"{round(value, row.decimals) + 0.0:{'+' if row.signed else ''}.{row.decimals}f}"


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan


def compass(heading_deg: float) -> str:
    """'N', '030', 'E': what a tape writes at a multiple of ten degrees."""
    degrees = round(heading_deg) % 360
    return {0: "N", 90: "E", 180: "S", 270: "W"}.get(degrees, f"{degrees:03d}")
