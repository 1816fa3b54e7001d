"""A pilot that sails a planned course: along its places at no less than a sailing speed, to lie where it ends."""

import math
from dataclasses import dataclass, field

import numpy as np

from sim.control.berthing import OPEN, Berthing, framed, hull_discs
from sim.control.helm import Drift, Helm, heading
from sim.control.pilot import Automatic, Sensed
from sim.control.planar_craft import CURRENT, FORCE, THETA, Disturbance, U, V, numbers_of, through_water
from sim.controllers import PilotInput
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.world.path import arc_length

_LEAST_MPS = 2.0
"""Slower, drift would need too much of the heading."""
_ACROSS_PER_S = 0.8
_MOST_ACROSS = 0.7
"""Of the speed along the course, towards it."""
_REACH_M = 3.0
_BERTHING_M = 7.0
"""With so much of the course left, the way into the berth is worked out anew all the time."""
_EVERY_S = 0.1
NEAR_M, NEAR_RAD, SLOW_MPS = 0.5, math.radians(5.0), 0.6
"""Of the berth, over ground: with all at once it has arrived."""
_ALONG_PER_S, _MOST_MPS = 0.7, 1.0
_ABOUT_M = 20.0
"""What stands so near to the berth is kept clear of on the way in."""
_AWAY_M = 2.5
"""Further off, once it has arrived, and the way into the berth is worked out again."""


@dataclass(frozen=True, slots=True, eq=False)
class FollowCourse:
    """Have the flown vehicle follow, from where it is, a course that was planned for another one, and lie at its end.

    It is the vehicle's autopilot that does so; time goes on, and so does the weather.
    """

    places_w: np.ndarray = field(repr=False)
    """(n, 2) [m]."""
    headings_rad: np.ndarray = field(repr=False)
    """(n,)."""
    step_s: float
    """Between the places."""


@dataclass(frozen=True, slots=True)
class CourseStatus:
    """How a vehicle gets on along a course."""

    left_m: float
    """Of the course."""
    off_m: float
    """From its end."""
    off_rad: float
    """Of the heading there."""
    arrived: bool
    """It has been there: slow, and as it should lie."""


class CoursePilot(Automatic):
    """Sticks are not heard. The course may be that of another vehicle in the plan: its places and headings count.

    It is joined where it is nearest at first. Where it ends the boat keeps place and heading by thrust ahead and astern
    and by turning; what pushes it aside cannot be pushed back, so it may lean on what it lies at.
    """

    def __init__(
        self,
        places_w: np.ndarray,
        headings_rad: np.ndarray,
        step_s: float,
        solids: np.ndarray = OPEN[0],
    ) -> None:
        """places_w (n, 2) [m], headings_rad (n,), `step_s` apart; solids (n, 6) of the world, as for `nearness`."""
        steps = np.linalg.norm(np.diff(places_w, axis=0), axis=1)
        keep = np.r_[True, steps > 1e-4]
        self._places = places_w[keep]
        self._along = arc_length(self._places)
        self._speeds = np.r_[steps[steps > 1e-4] / step_s, 0.0]
        self._end, self._end_heading = places_w[-1], float(headings_rad[-1])
        self._helm, self._drift, self._disturbance = Helm(), Drift(), Disturbance()
        self._berthing: Berthing | None = None
        about = np.linalg.norm(solids[:, :2] - self._end, axis=1) < _ABOUT_M + np.hypot(*solids[:, 2:4].T)
        self._solids = framed(solids[about], self._end, self._end_heading)
        self._hull = OPEN[1]
        self._craft: np.ndarray | None = None
        self._way_m, self._since_s = math.nan, math.inf
        self._thrust = np.zeros(2)
        self._lies = False
        self.arrived = False
        """Whether it has been in its berth."""

    @property
    def left_m(self) -> float:
        """Of the course."""
        return float(self._along[-1]) - (0.0 if math.isnan(self._way_m) else self._way_m)

    def off(self, sensed: Sensed) -> tuple[float, float]:
        """From the end of the course: (distance [m], angle [rad])."""
        angle = math.remainder(heading(sensed) - self._end_heading, 2.0 * math.pi)
        return float(np.linalg.norm(sensed.x_w[:2] - self._end)), abs(angle)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Left and right thrust."""
        if self._craft is None:
            self._craft = numbers_of(vehicle)
            footprint = config_of(vehicle).footprint
            if footprint is not None:
                self._hull = hull_discs(footprint.centre_m, footprint.half_m)
        controls = self._wanted(sensed, vehicle, dt_s)
        self._disturbance.see(self._craft, over_ground(sensed), controls[:2], dt_s)
        return controls

    def _wanted(self, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        drift = self._drift.see(sensed, dt_s)
        place = sensed.x_w[:2]
        self._way_m = self._nearest(place)
        if self._berthing is None and self.left_m < _BERTHING_M:
            self._berthing = Berthing(self._solids, self._hull)
        if self._berthing is not None:
            if self._at_berth(sensed):
                return self._alongside(sensed, vehicle)
            return self._into_berth(self._berthing, sensed, vehicle, dt_s)
        on, tangent = self._at(self._way_m)
        normal = np.array([-tangent[1], tangent[0]])
        planned = float(np.interp(self._way_m, self._along, self._speeds))
        speed = max(planned, _LEAST_MPS)
        across = float(normal @ (on - place)) * _ACROSS_PER_S
        across = min(max(across, -_MOST_ACROSS * speed), _MOST_ACROSS * speed)
        wanted = speed * tangent + across * normal - drift
        course = math.atan2(wanted[1], wanted[0])
        ahead = float(np.linalg.norm(wanted)) * max(math.cos(course - heading(sensed)), 0.0)
        return self._helm.thrusts(vehicle, sensed, course, self._turn(speed), ahead)

    def _at_berth(self, sensed: Sensed) -> bool:
        """Whether it lies there, or has not drifted off far since it did."""
        off_m, off_rad = self.off(sensed)
        if off_m <= NEAR_M and off_rad <= NEAR_RAD and float(np.linalg.norm(sensed.v_w[:2])) <= SLOW_MPS:
            self.arrived = self._lies = True
        elif off_m > _AWAY_M and self._lies:
            self._lies, self._berthing = False, Berthing(self._solids, self._hull)
        return self._lies

    def _alongside(self, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
        """Its place along the berth, and its heading."""
        ahead = np.array([math.cos(self._end_heading), math.sin(self._end_heading)])
        back = _ALONG_PER_S * float(ahead @ (self._end - sensed.x_w[:2]))
        return self._helm.thrusts(
            vehicle, sensed, self._end_heading, 0.0, min(max(back, -_MOST_MPS), _MOST_MPS)
        )

    def _into_berth(self, berthing: Berthing, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Everything in the frame of the berth: its place is the origin, its heading zero."""
        assert self._craft is not None
        if self._since_s >= _EVERY_S - 1e-9:
            low = np.array([control.low for control in vehicle.controls[:2]])
            high = np.array([control.high for control in vehicle.controls[:2]])
            craft, ground = self._disturbance.adjusted(self._craft), over_ground(sensed)
            c, s = math.cos(self._end_heading), math.sin(self._end_heading)
            to_berth = np.array([[c, s], [-s, c]])
            ground[:2] = to_berth @ (ground[:2] - self._end)
            ground[THETA] = math.remainder(ground[THETA] - self._end_heading, 2.0 * math.pi)
            ground[[U, V]] = to_berth @ ground[[U, V]]
            for at in (CURRENT, FORCE):
                craft[at : at + 2] = to_berth @ craft[at : at + 2]
            state = through_water(craft, ground)
            passed_s = self._since_s if math.isfinite(self._since_s) else 0.0
            self._thrust = berthing.thrust(craft, state, low, high, passed_s)
            self._since_s = 0.0
        self._since_s += dt_s
        controls = vehicle.neutral_controls.copy()
        controls[:2] = self._thrust
        return controls

    def _nearest(self, place: np.ndarray) -> float:
        """How far along the course it is: never back, and never far ahead at once, but for the first time."""
        if math.isnan(self._way_m):
            self._way_m = float(self._along[np.argmin(np.linalg.norm(self._places - place, axis=1))])
        ways = np.linspace(self._way_m, min(self._way_m + _REACH_M, float(self._along[-1])), 61)
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


def over_ground(sensed: Sensed) -> np.ndarray:
    """(6,) place, heading, velocity over ground in the world, turn rate about the vertical."""
    return np.array(
        [*sensed.x_w[:2], heading(sensed), *sensed.v_w[:2], float(sensed.R_wb[2] @ sensed.omega_b)]
    )
