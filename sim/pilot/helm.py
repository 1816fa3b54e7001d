"""Steering a boat by two thrusters: along a planned course, or to stay at a place, in wind, waves and current.

Two thrusters push ahead and turn; nothing pushes sideways. So what drives her aside is met by the heading: she steers
where the wanted velocity over ground, less the drift that has been seen, points to.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle
from sim.vehicles.parameter import Value

_TURNING_SHARE = 1.0
"""Of the thrust that can be had both ways: what turning may take, so that it drives her neither on nor back."""
_DRIFT_S = 3.0
"""In which drift that is not known yet shrinks to 1/e."""


@dataclass(frozen=True, slots=True)
class Helm:
    """Gains of a boat: speed and heading follow what is wanted as springs and dampers of these rates."""

    speed_per_s: float = 2.5
    heading_per_s: float = 3.0
    damping: float = 0.9
    """Of the heading, relative to critical."""

    def thrusts(
        self, vehicle: Vehicle, sensed: Sensed, heading_rad: float, turn_radps: float, ahead_mps: float
    ) -> np.ndarray:
        """(n_controls,) left and right thrust [N] towards a heading, a turn rate and a speed ahead over ground.

        Where both cannot be had she turns.
        """
        values = vehicle.values
        left, right = (np.asarray(values[name], float) for name in ("thruster_left", "thruster_right"))
        mass = component(values["mass"], 0) + component(values.get("added_mass", 0.0), 0)
        inertia = component(values["inertia"], 2) + component(values.get("added_inertia", 0.0), 2)
        off = math.remainder(heading_rad - heading(sensed), 2.0 * math.pi)
        turning = self.heading_per_s**2 * off + 2.0 * self.damping * self.heading_per_s * (
            turn_radps - sensed.omega_b[2]
        )
        drag = component(values["drag"], 0) * sensed.v_b[0]
        force = mass * self.speed_per_s * (ahead_mps - sensed.v_b[0]) + drag
        torque = inertia * turning
        arm = 0.5 * (left[1] - right[1])
        half = torque / (2.0 * max(arm, 1e-6))
        low = np.array([control.low for control in vehicle.controls[:2]])
        high = np.array([control.high for control in vehicle.controls[:2]])
        most = min(float(high.min()), float(-low.max())) * _TURNING_SHARE
        half = min(max(half, -most), most)
        middle = float(
            np.clip(0.5 * force, max(low[0] + half, low[1] - half), min(high[0] + half, high[1] - half))
        )
        controls = vehicle.neutral_controls.copy()
        controls[:2] = np.clip([middle - half, middle + half], low, high)
        return controls


class Drift:
    """What leads her aside over ground, seen as sideways speed, evened out."""

    def __init__(self) -> None:
        self.w = np.zeros(2)
        """(2,) world [m/s]."""

    def see(self, sensed: Sensed, dt_s: float) -> np.ndarray:
        """Take in a moment; returns the drift."""
        c, s = math.cos(heading(sensed)), math.sin(heading(sensed))
        v = sensed.v_w[:2]
        aside = -s * v[0] + c * v[1]
        across = aside * np.array([-s, c])
        self.w = self.w - math.expm1(-dt_s / _DRIFT_S) * (across - self.w)
        return self.w


def heading(sensed: Sensed) -> float:
    """Of the bow, from world x towards y [rad]."""
    return math.atan2(sensed.R_wb[1, 0], sensed.R_wb[0, 0])


def component(value: Value, k: int) -> float:
    """Of a parameter with components; one that is a number is the same in all of them."""
    return float(value) if isinstance(value, (int, float)) else float(value[k])
