"""Driving along a line: pure pursuit of a point ahead on it, as fast as its bends allow.

R. C. Coulter, "Implementation of the Pure Pursuit Path Tracking Algorithm", CMU-RI-TR-92-01 (1992): the arc through the
middle of the rear axle and a point of the line at (x, y) in the body frame has the curvature 2 y / (x^2 + y^2).
"""

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.pilot.airframe import scalar
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.drive import driven, reach
from sim.pilot.errand import Errand
from sim.pilot.route import Route, make_route
from sim.vehicles import Vehicle

LEAST_AHEAD_M, AHEAD_S = 3.5, 0.5
"""The point that is pursued is so far ahead, and so many seconds of driving if that is more."""
CRUISE, SIDEWAYS, BRAKING = 0.85, 0.6, 0.4
"""Shares of the outfit's limits of speed, sideways acceleration and brake."""
_SMOOTHING_M = 4.0
_TURNING_MPS = 3.5
"""While the line is not ahead."""
_GAIN = 2.0
"""Acceleration per missing speed [1/s]."""


class LineDrive(Automatic):
    """Round and round a closed line, to the end of another one; without a line the car is brought to rest."""

    def __init__(self, errand: Errand) -> None:
        line = errand.line_w
        self._line = np.column_stack([line, np.zeros(len(line))])
        self._closed = errand.closed
        self._lap_m = float(np.linalg.norm(np.diff(line[[*range(len(line)), 0]], axis=0), axis=1).sum())
        self._route: Route | None = None
        self._arc_m: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = outfit_of(vehicle.name).modes.driving
        speed = float(sensed.v_b[0])
        if len(self._line) < 2:
            return driven(vehicle, sensed, _towards(0.0, speed, limits.brake_mps2, dt_s), 0.0, dt_s)
        if self._route is None:
            line = np.vstack([self._line] * 3 + [self._line[:1]]) if self._closed else self._line
            self._route = make_route(
                line,
                cruise_mps=CRUISE * limits.speed_limit_mps,
                sideways=SIDEWAYS * limits.side_limit_mps2,
                braking=BRAKING * limits.brake_mps2,
                smoothing_m=_SMOOTHING_M,
            )
        route, level_w = self._route, np.array([sensed.x_w[0], sensed.x_w[1], 0.0])
        arc = self._arc_m = self._round(route.nearest(level_w, self._arc_m))
        ahead_m = max(LEAST_AHEAD_M, AHEAD_S * abs(speed))
        ahead = route.at(arc + ahead_m)
        x, y = (sensed.R_wb.T @ (ahead.point_w - level_w))[:2]
        sigma = 2.0 * scalar(vehicle.values["wheelbase"]) * float(y) / max(float(x * x + y * y), 1.0)
        wanted = min(route.at(arc).speed_mps, ahead.speed_mps + 0.5 * limits.brake_mps2)
        most = reach(vehicle, speed)
        if x < abs(y):
            wanted, sigma = min(wanted, _TURNING_MPS), float(np.copysign(most, y))
        pull = min(_towards(wanted, speed, limits.brake_mps2, dt_s), limits.acceleration_mps2)
        return driven(vehicle, sensed, pull, min(max(sigma, -most), most), dt_s)

    def _round(self, arc_m: float) -> float:
        """Of a closed line, which is laid out three times over, the middle counts."""
        if not self._closed:
            return arc_m
        return 0.5 * self._lap_m + (arc_m - 0.5 * self._lap_m) % self._lap_m


def _towards(wanted_mps: float, speed_mps: float, brake_mps2: float, dt_s: float) -> float:
    """m/s^2 towards a speed, braking no harder than that."""
    return max(min(_GAIN, 0.5 / dt_s) * (wanted_mps - speed_mps), -brake_mps2)
