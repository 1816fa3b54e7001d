"""A pilot that sails a planned course: along its places at no less than a sailing speed, to lie where it ends."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.pilot.helm import Drift, Helm, heading
from sim.vehicles import Vehicle

_LEAST_MPS = 2.0
"""Slower, drift would need too much of the heading."""
_BRAKE_MPS2 = 0.9
_ALIGN_M = 0.7
"""So far before the end the heading becomes that of the berth."""
_ACROSS_PER_S = 0.8
_MOST_ACROSS = 0.7
"""Of the speed along the course, towards it."""
_AHEAD_PER_S = 0.9
_LEAD_S = 1.1
_REACH_M = 3.0
_ROOM_M = 3.5
"""Astern of the berth: whoever misses it goes back there and comes again."""
_MISSED_M, _PATIENCE_S = 0.5, 2.0


class CoursePilot:
    """Sticks are not heard. The course may be that of another vehicle in the plane: its places and headings count."""

    def __init__(self, places_w: np.ndarray, headings_rad: np.ndarray, step_s: float) -> None:
        """places_w (n, 2) [m], headings_rad (n,), `step_s` apart."""
        steps = np.linalg.norm(np.diff(places_w, axis=0), axis=1)
        keep = np.r_[True, steps > 1e-4]
        self._places, self._headings = places_w[keep], np.unwrap(headings_rad)[keep]
        self._along = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(self._places, axis=0), axis=1))]
        self._speeds = np.r_[steps[steps > 1e-4] / step_s, 0.0]
        self._end, self._end_heading = places_w[-1], float(headings_rad[-1])
        self._helm, self._drift = Helm(), Drift()
        self._bow = np.array([math.cos(self._end_heading), math.sin(self._end_heading)])
        self._way_m, self._lying_s, self._backing = 0.0, 0.0, False

    @property
    def left_m(self) -> float:
        """Of the course."""
        return float(self._along[-1]) - self._way_m

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Left and right thrust."""
        drift = self._drift.see(sensed, dt_s)
        place = sensed.x_w[:2]
        self._way_m = self._nearest(place)
        off = self._beside(place)
        if self._backing and off[0] < -_ROOM_M:
            self._backing, self._way_m = False, self._nearest(place, anew=True)
        if self._backing:
            back = self._end - (_ROOM_M + 1.5) * self._bow - place
            wanted = _LEAST_MPS * back / max(float(np.linalg.norm(back)), 1e-9) - drift
            course = math.atan2(-wanted[1], -wanted[0])
            astern = -float(np.linalg.norm(wanted)) * max(math.cos(course - heading(sensed)), 0.0)
            return self._helm.thrusts(vehicle, sensed, course, 0.0, astern)
        if self.left_m < _ALIGN_M or off[0] > 0.0:
            self._lying_s += dt_s
            if self._lying_s > _PATIENCE_S and abs(off[1]) > _MISSED_M:
                self._backing, self._lying_s = True, 0.0
            bow = np.array([math.cos(heading(sensed)), math.sin(heading(sensed))])
            ahead = _AHEAD_PER_S * float((self._end - place) @ bow)
            return self._helm.thrusts(vehicle, sensed, self._end_heading, 0.0, ahead)
        on, tangent = self._at(self._way_m)
        normal = np.array([-tangent[1], tangent[0]])
        planned = float(np.interp(self._way_m, self._along, self._speeds))
        speed = min(max(planned, _LEAST_MPS), math.sqrt(2.0 * _BRAKE_MPS2 * self.left_m))
        lead_s = _LEAD_S if self.left_m < _ROOM_M else 0.0  # she drifts on while she stops and straightens
        across = float(normal @ (on - place - lead_s * drift)) * _ACROSS_PER_S
        across = min(max(across, -_MOST_ACROSS * speed), _MOST_ACROSS * speed)
        wanted = speed * tangent + across * normal - drift
        course = math.atan2(wanted[1], wanted[0])
        ahead = float(np.linalg.norm(wanted)) * max(math.cos(course - heading(sensed)), 0.0)
        return self._helm.thrusts(vehicle, sensed, course, self._turn(speed), ahead)

    def _beside(self, place: np.ndarray) -> tuple[float, float]:
        """How far ahead of the berth and to its left she is [m]."""
        off = place - self._end
        return float(off @ self._bow), float(off @ (-self._bow[1], self._bow[0]))

    def _nearest(self, place: np.ndarray, *, anew: bool = False) -> float:
        """How far along the course she is: never back, and never far ahead at once; anew: near its end."""
        last = float(self._along[-1])
        begin = max(last - _ROOM_M - 1.5, 0.0) if anew else self._way_m
        ways = np.linspace(begin, min(begin + _REACH_M, last), 61)
        points = np.stack([np.interp(ways, self._along, self._places[:, k]) for k in range(2)], axis=1)
        return float(ways[np.argmin(np.linalg.norm(points - place, axis=1))])

    def _at(self, way_m: float) -> tuple[np.ndarray, np.ndarray]:
        """Place and unit tangent of the course."""
        point = np.array([np.interp(way_m, self._along, self._places[:, k]) for k in range(2)])
        ends = np.clip([way_m - 0.3, way_m + 0.3], 0.0, self._along[-1])
        a, b = (np.array([np.interp(end, self._along, self._places[:, k]) for k in range(2)]) for end in ends)
        return point, (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)

    def _turn(self, speed: float) -> float:
        """Turn rate of the course ahead [rad/s]."""
        (_, a), (_, b) = self._at(self._way_m), self._at(min(self._way_m + 0.6, float(self._along[-1])))
        return speed * math.atan2(a[0] * b[1] - a[1] * b[0], float(a @ b)) / 0.6
