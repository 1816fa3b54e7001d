"""Cameras that circle the vehicle: behind it (chase) or at a fixed bearing (orbit).

They follow by critically damped springs, stepped exactly, so that 30 and 240 frames a second give the same motion.
"""

import math

import numpy as np

from render.cameras.clearance import CameraInput, CameraSubject, Shot, looking_at


class Spring:
    """Follows a target without overshoot; exact for a target that moves evenly during a step."""

    def __init__(self, rate_per_s: float):
        self._rate = rate_per_s
        self._value: np.ndarray | None = None
        self._velocity = np.zeros(0)
        self._target = np.zeros(0)

    @property
    def value(self) -> np.ndarray | None:
        """Where the spring is; None before the first step."""
        return self._value

    def snap(self, target: np.ndarray | float, velocity: np.ndarray | float = 0.0) -> np.ndarray:
        """Stand at the target at once, moving with it at `velocity`."""
        self._target = np.array(target, float)
        self._value = self._target.copy()
        self._velocity = np.broadcast_to(np.asarray(velocity, float), self._target.shape).copy()
        return self._value

    def step(self, target: np.ndarray | float, dt_s: float) -> np.ndarray:
        """Advance by `dt_s`, the target having moved evenly from its last place to `target`."""
        target = np.asarray(target, float)
        if self._value is None or self._value.shape != target.shape:
            return self.snap(target)
        if dt_s <= 0.0:
            return self._value
        target_velocity = (target - self._target) / dt_s
        offset = self._value - self._target
        closing = self._velocity - target_velocity + self._rate * offset
        fade = math.exp(-self._rate * dt_s)
        new_offset = (offset + closing * dt_s) * fade
        self._velocity = target_velocity + (closing - self._rate * (offset + closing * dt_s)) * fade
        self._target = target.copy()
        self._value = target + new_offset
        return self._value


def nearest_turn(angle_rad: float, reference_rad: float) -> float:
    """The angle plus whole turns that lies nearest to `reference_rad`."""
    return reference_rad + math.remainder(angle_rad - reference_rad, 2 * math.pi)


def left_after(dt_s: float, time_constant_s: float) -> float:
    """The share that an exponential fall over `dt_s` leaves."""
    return math.exp(-dt_s / time_constant_s)


DRAG_RAD_PER_PX = 0.006
KEYS_RAD_PER_S = 1.4
ZOOM_PER_CLICK = 0.88
FOV_RAD = math.radians(46.0)


def polar_offset(bearing_rad: float, elevation_rad: float, distance_m: float) -> np.ndarray:
    """(3,) from the aim to an eye that looks along `bearing_rad` and down by `elevation_rad`."""
    c = math.cos(elevation_rad)
    way = np.array([-c * math.cos(bearing_rad), -c * math.sin(bearing_rad), math.sin(elevation_rad)])
    return distance_m * way


class Circling:
    """The user's turn, tilt and zoom about the subject."""

    def __init__(self, elevation_rad: float):
        self.turn_rad = 0.0
        self.elevation_rad = elevation_rad
        self.zoom = 1.0
        self.idle_s = 1e9

    def take(self, motion: CameraInput, dt_s: float) -> None:
        """Apply one frame of mouse and keys."""
        right = -DRAG_RAD_PER_PX * motion.drag_px[0] + KEYS_RAD_PER_S * dt_s * motion.orbit[0]
        up = -DRAG_RAD_PER_PX * motion.drag_px[1] + KEYS_RAD_PER_S * dt_s * motion.orbit[1]
        moved = right != 0.0 or up != 0.0
        self.idle_s = 0.0 if moved else self.idle_s + dt_s
        self.turn_rad += right
        self.elevation_rad = min(max(self.elevation_rad + up, -1.2), 1.45)
        self.zoom = min(max(self.zoom * ZOOM_PER_CLICK**motion.zoom, 0.25), 8.0)


class Chase:
    """Behind and above, turning with the vehicle's heading; looking aside falls back after a while."""

    _ELEVATION_RAD = math.radians(14.0)
    _WAIT_S = 1.5
    _RETURN_S = 0.8
    _FAST_MPS = 60.0
    _LEAD_S, _MOST_LEAD = 0.35, 0.30
    """It looks to where the vehicle will be so much later, no farther from it than that share of the distance."""

    def __init__(self) -> None:
        self._circling = Circling(self._ELEVATION_RAD)
        self._place, self._heading, self._speed = Spring(7.0), Spring(3.2), Spring(1.2)
        self._lead = Spring(2.2)

    def stand_back(self, distance: float) -> None:
        """Zoom such that the distance is so many times the usual."""
        self._circling.zoom = distance

    def cut(self, subject: CameraSubject) -> None:
        """Stand behind the subject at once."""
        self._place.snap(subject.aim_w, subject.velocity_w)
        self._heading.snap(_heading(subject, fallback_rad=0.0))
        self._speed.snap(float(np.linalg.norm(subject.velocity_w)))
        self._lead.snap(self._wanted_lead_w(subject))

    def _wanted_lead_w(self, subject: CameraSubject) -> np.ndarray:
        """(3,) m from the vehicle to what is looked at."""
        lead_w = self._LEAD_S * subject.velocity_w
        most = self._MOST_LEAD * subject.framing.distance_m
        return lead_w * min(1.0, most / max(float(np.linalg.norm(lead_w)), 1e-9))

    def shot(self, subject: CameraSubject, motion: CameraInput, dt_s: float) -> Shot:
        """The picture of this frame; the horizon stays level."""
        circling = self._circling
        circling.take(motion, dt_s)
        if circling.idle_s > self._WAIT_S:
            share = left_after(dt_s, self._RETURN_S)
            circling.turn_rad = math.remainder(circling.turn_rad, 2 * math.pi) * share
            circling.elevation_rad = (
                self._ELEVATION_RAD + (circling.elevation_rad - self._ELEVATION_RAD) * share
            )
        aim = self._place.step(subject.aim_w, dt_s)
        known = self._heading.value
        last = float(known) if known is not None else 0.0
        bearing = float(self._heading.step(nearest_turn(_heading(subject, fallback_rad=last), last), dt_s))
        speed = float(self._speed.step(float(np.linalg.norm(subject.velocity_w)), dt_s))
        haste = min(speed / self._FAST_MPS, 1.0)
        distance = subject.framing.distance_m * circling.zoom * (1.0 + 0.12 * haste)
        offset = polar_offset(bearing + circling.turn_rad, circling.elevation_rad, distance)
        # Who looks aside looks at the vehicle.
        ahead = max(math.cos(circling.turn_rad), 0.0) ** 2 * self._lead.step(
            self._wanted_lead_w(subject), dt_s
        )
        return looking_at(aim + offset, aim + ahead, FOV_RAD * (1.0 + 0.14 * haste))


class Crane:
    """An arm that rises and sweeps about the vehicle, slowly, as over a film set."""

    _PERIOD_S, _TURN_RADPS = 22.0, 0.11
    _LOW_RAD, _HIGH_RAD = math.radians(6.0), math.radians(52.0)

    def __init__(self) -> None:
        self._circling = Circling(0.0)
        self._place = Spring(4.0)
        self._time_s, self._bearing_rad = 0.0, 0.0

    def cut(self, subject: CameraSubject) -> None:
        """Begin low, at the vehicle's front quarter."""
        self._place.snap(subject.aim_w, subject.velocity_w)
        self._time_s = 0.0
        self._bearing_rad = _heading(subject, fallback_rad=self._bearing_rad) + math.radians(205.0)

    def shot(self, subject: CameraSubject, motion: CameraInput, dt_s: float) -> Shot:
        """The picture of this frame."""
        circling = self._circling
        circling.take(motion, dt_s)
        self._time_s += dt_s
        risen = 0.5 - 0.5 * math.cos(2.0 * math.pi * self._time_s / self._PERIOD_S)
        elevation = self._LOW_RAD + risen * (self._HIGH_RAD - self._LOW_RAD) + circling.elevation_rad
        bearing = self._bearing_rad + self._TURN_RADPS * self._time_s + circling.turn_rad
        distance = subject.framing.distance_m * circling.zoom * (1.1 + 0.9 * risen)
        aim = self._place.step(subject.aim_w, dt_s)
        offset = polar_offset(bearing, min(max(elevation, -0.3), 1.45), distance)
        return looking_at(aim + offset, aim, FOV_RAD)


class Orbit:
    """At a bearing of the user's choice, whichever way the vehicle turns."""

    def __init__(self) -> None:
        self._circling = Circling(math.radians(18.0))
        self._place, self._view = Spring(9.0), Spring(12.0)
        self._bearing_set = False

    def stand_back(self, distance: float) -> None:
        """Zoom such that the distance is so many times the usual."""
        self._circling.zoom = distance

    def look_along(self, bearing_rad: float) -> None:
        """Look that way, counter-clockwise from +x, instead of at the subject's front quarter."""
        self._circling.turn_rad, self._bearing_set = bearing_rad, True

    def cut(self, subject: CameraSubject) -> None:
        """Keep the bearing, follow the new place at once; the first bearing shows the subject's front quarter."""
        self._place.snap(subject.aim_w, subject.velocity_w)
        if self._view.value is None and not self._bearing_set:
            self._circling.turn_rad = _heading(subject, fallback_rad=0.0) + math.radians(215.0)
        circling = self._circling
        self._view.snap(np.array([circling.turn_rad, circling.elevation_rad, math.log(circling.zoom)]))

    def shot(self, subject: CameraSubject, motion: CameraInput, dt_s: float) -> Shot:
        """The picture of this frame."""
        circling = self._circling
        circling.take(motion, dt_s)
        wanted = np.array([circling.turn_rad, circling.elevation_rad, math.log(circling.zoom)])
        turn, elevation, zoom = self._view.step(wanted, dt_s)
        aim = self._place.step(subject.aim_w, dt_s)
        distance = subject.framing.distance_m * math.exp(zoom)
        return looking_at(aim + polar_offset(turn, elevation, distance), aim, FOV_RAD)


def _heading(subject: CameraSubject, *, fallback_rad: float) -> float:
    """Bearing of the nose [rad]; the last one while the nose points straight up or down."""
    forward = subject.T_wb[:2, 0]
    if np.linalg.norm(forward) < 0.25:
        return fallback_rad
    return math.atan2(forward[1], forward[0])
