"""Steering a boat by two thrusters: along a line or a planned course, from place to place, or to stay where it is."""

import math
from dataclasses import dataclass, field

import numpy as np

from sim.control.berthing import OPEN, Berthing, framed, hull_discs
from sim.control.pilot import Automatic, Mission, Sensed
from sim.control.planar_craft import CURRENT, FORCE, THETA, Disturbance, U, V, numbers_of, through_water
from sim.controllers import PilotInput
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.parameters import Value
from sim.world.path import arc_length

_TURNING_SHARE = 1.0
"""Of the thrust that can be had both ways: what turning may take, so that it drives the boat neither on nor back."""
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

        Where both cannot be had it turns.
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
    """What leads the boat aside over ground, seen as sideways speed, evened out."""

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


AHEAD_MPS, TURN_RADPS = 3.5, 0.9
_CENTRE = 0.05
_CATCH_MPS = 0.8
"""Slower than this, hands off, the place is held."""
_AHEAD_PER_S, _MOST_MPS = 0.7, 1.5
_LEARNT_PER_MS = 0.05
_TURNED_PER_M = 0.5
_MOST_TURNED_RAD = 1.2
_FAR_M = 6.0
"""Further off it steers for the place itself."""


class StationPilot:
    """Remembers the place that is held and the heading that has held it so far."""

    def __init__(self, place_w: np.ndarray | None = None) -> None:
        """`place_w` (2,): to be held [m]; else the one where it comes to rest."""
        self._helm = Helm()
        self._place = place_w
        self._bow_rad: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Pitch or throttle: speed ahead; roll or yaw: turn rate to starboard."""
        ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        right = min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        now = heading(sensed)
        if max(abs(ahead), abs(right)) > _CENTRE:
            self._place = None
            turn = -TURN_RADPS * right
            bow = now + turn / self._helm.heading_per_s if abs(right) > _CENTRE else self._held(now)
            self._bow_rad = None if abs(right) > _CENTRE else bow
            return self._helm.thrusts(vehicle, sensed, bow, turn, AHEAD_MPS * ahead)
        if self._place is None:
            if float(np.linalg.norm(sensed.v_w[:2])) > _CATCH_MPS:
                return self._helm.thrusts(vehicle, sensed, self._held(now), 0.0, 0.0)
            self._place = sensed.x_w[:2].copy()
        return self._stay(self._place - sensed.x_w[:2], sensed, vehicle, dt_s)

    def _held(self, now: float) -> float:
        if self._bow_rad is None:
            self._bow_rad = now
        return self._bow_rad

    def _stay(self, off: np.ndarray, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Towards a place that is `off` (2,) m."""
        now = heading(sensed)
        bow = self._held(now)
        forward = math.cos(now) * off[0] + math.sin(now) * off[1]
        aside = -math.sin(bow) * off[0] + math.cos(bow) * off[1]
        if float(np.linalg.norm(off)) > _FAR_M:
            wanted = math.atan2(off[1], off[0])
        else:
            self._bow_rad = bow = bow + _LEARNT_PER_MS * aside * dt_s
            turned = min(max(_TURNED_PER_M * aside, -_MOST_TURNED_RAD), _MOST_TURNED_RAD)
            # Astern of the place it turns to it, ahead of it away: then thrust astern leads there.
            wanted = bow + (turned if forward > -0.3 else -turned)
        speed = min(max(_AHEAD_PER_S * forward, -_MOST_MPS), _MOST_MPS)
        return self._helm.thrusts(vehicle, sensed, wanted, 0.0, speed)


CRUISE_MPS = 3.0
REACHED_M = 3.0
"""Nearer than this to a place it has been there."""
_BRAKE_MPS2 = 0.4


class SailPilot(Automatic):
    """To the mission's places one after the other; it stays at the last one, or where it is if there are none."""

    def __init__(self, mission: Mission) -> None:
        self._left = [np.array(place) for place in mission.places_w]
        self._helm, self._drift = Helm(), Drift()
        self._station = StationPilot() if not self._left else None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Left and right thrust."""
        drift = self._drift.see(sensed, dt_s)
        if self._station is None and float(np.linalg.norm(self._left[0] - sensed.x_w[:2])) < REACHED_M:
            place = self._left.pop(0)
            self._station = None if self._left else StationPilot(place)
        if self._station is not None:
            return self._station.controls(PilotInput(), sensed, vehicle, dt_s)
        off = self._left[0] - sensed.x_w[:2]
        away = float(np.linalg.norm(off))
        speed = CRUISE_MPS
        if len(self._left) == 1:
            speed = min(speed, math.sqrt(2.0 * _BRAKE_MPS2 * away))
        wanted = speed / away * off - drift
        course = math.atan2(float(wanted[1]), float(wanted[0]))
        ahead = float(np.linalg.norm(wanted)) * max(math.cos(course - heading(sensed)), 0.0)
        return self._helm.thrusts(vehicle, sensed, course, 0.0, ahead)


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
_ALONG_PER_S, _MOST_BACK_MPS = 0.7, 1.0
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
            vehicle, sensed, self._end_heading, 0.0, min(max(back, -_MOST_BACK_MPS), _MOST_BACK_MPS)
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
