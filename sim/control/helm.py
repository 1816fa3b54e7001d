"""Steering a boat by two thrusters: from place to place, to stay where it is, or to lie in a berth."""

import math

import numpy as np

from sim.control.pilot import Automatic, Mission, Sensed
from sim.controllers import PilotInput
from sim.platform.values import dataclass
from sim.vehicles import Vehicle
from sim.vehicles.forms.parameters import Value

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


NEAR_M, NEAR_RAD, SLOW_MPS = 0.5, math.radians(5.0), 0.6
"""Of the berth, over ground: with all at once it has arrived."""
_ALONG_PER_S, _MOST_BACK_MPS = 0.7, 1.0
_AWAY_M = 2.5
"""Further off, once it has arrived, it has left its berth."""


@dataclass(frozen=True, slots=True)
class Berth:
    """Where a boat is to lie."""

    place_w: tuple[float, float]
    """World x and y [m]."""
    heading_rad: float

    def off(self, sensed: Sensed) -> tuple[float, float]:
        """(distance [m], angle [rad])."""
        angle = math.remainder(heading(sensed) - self.heading_rad, 2.0 * math.pi)
        return math.dist(sensed.x_w[:2], self.place_w), abs(angle)

    def lies(self, sensed: Sensed, before: bool) -> bool:
        """Whether it lies there: it has come near and slow, or it did before and has not drifted off far."""
        off_m, off_rad = self.off(sensed)
        slow = float(np.linalg.norm(sensed.v_w[:2])) <= SLOW_MPS
        return (off_m <= NEAR_M and off_rad <= NEAR_RAD and slow) or (before and off_m <= _AWAY_M)


@dataclass(frozen=True, slots=True)
class BerthStatus:
    """How a boat gets on towards a berth."""

    off_m: float
    off_rad: float
    speed_mps: float
    """Over ground."""
    arrived: bool
    """It has been there: slow, and as it should lie."""

    def outcome(self) -> str:
        """In a line; nothing before it has arrived."""
        off = f"{self.off_m:.2f} m and {math.degrees(self.off_rad):.1f} degrees off"
        return f"in its berth: {off}, at {self.speed_mps:.2f} m/s" if self.arrived else ""


class AlongsidePilot(Automatic):
    """Keeps place along a berth and heading, by thrust ahead and astern and by turning. What pushes it aside cannot be
    pushed back, so it may lean on what it lies at."""

    def __init__(self, berth: Berth) -> None:
        self._berth, self._helm = berth, Helm()

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Left and right thrust."""
        bow = self._berth.heading_rad
        along = np.array([math.cos(bow), math.sin(bow)]) @ (np.array(self._berth.place_w) - sensed.x_w[:2])
        back = min(max(_ALONG_PER_S * float(along), -_MOST_BACK_MPS), _MOST_BACK_MPS)
        return self._helm.thrusts(vehicle, sensed, bow, 0.0, back)


def over_ground(sensed: Sensed) -> np.ndarray:
    """(6,) place, heading, velocity over ground in the world, turn rate about the vertical."""
    return np.array(
        [*sensed.x_w[:2], heading(sensed), *sensed.v_w[:2], float(sensed.R_wb[2] @ sensed.omega_b)]
    )
