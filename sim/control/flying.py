"""Autopilots of rotorcraft: hover over places, or take off, fly along a smooth route and land."""

import math
from dataclasses import replace
from enum import Enum

import numpy as np

from sim.control.airframe import airframe_of
from sim.control.flight import (
    CALM,
    Climb,
    ClimbState,
    Demand,
    Gains,
    VelocityState,
    against_swing,
    by_throttle,
    climb_at,
    first_climb_state,
    fly,
    level_authority,
    settled,
    towards,
    within,
)
from sim.control.flight_modes import HoldPilot
from sim.control.pilot import Automatic, Mission, Sensed, turned
from sim.controllers import PilotInput
from sim.groups.numeric import heading_of, level_axes, turn_between
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle

SPACING_M = 2.0
_CLIMB_MPS = 4.0
SMOOTHING_M = 14.0


@dataclass(frozen=True, slots=True)
class Spot:
    """One place on a route."""

    point_w: np.ndarray
    """(3,) [m]."""
    tangent_w: np.ndarray
    """(3,) unit."""
    bend_w: np.ndarray
    """(3,) derivative of the tangent by arc length [1/m]."""
    speed_mps: float


@dataclass(frozen=True)
class Route:
    """Resampled at equal arc length."""

    points: np.ndarray
    """(n, 3) [m]."""
    tangents: np.ndarray
    bends: np.ndarray
    speeds: np.ndarray
    """(n,) [m/s], zero at the end."""

    @property
    def length_m(self) -> float:
        return (len(self.points) - 1) * SPACING_M

    def nearest(self, x_w: np.ndarray, from_m: float | None = None) -> float:
        """Arc length [m] of the point nearest to `x_w` (3,).

        from_m: look only from a little before to 60 m beyond this arc length, so that nothing is cut short.
        """
        first, last = 0, len(self.points)
        if from_m is not None:
            first = max(int(from_m / SPACING_M) - 3, 0)
            last = min(first + 34, last)
        offsets = self.points[first:last] - x_w
        best = first + int(np.argmin(np.einsum("ij,ij->i", offsets, offsets)))
        beyond = float((x_w - self.points[best]) @ self.tangents[best])
        return min(max(best * SPACING_M + min(max(beyond, -SPACING_M), SPACING_M), 0.0), self.length_m)

    def at(self, arc_m: float) -> Spot:
        """Interpolated at an arc length [m], clamped to the ends."""
        place = min(max(arc_m / SPACING_M, 0.0), len(self.points) - 1.000001)
        i = int(place)
        w = place - i
        tangent = (1 - w) * self.tangents[i] + w * self.tangents[i + 1]
        return Spot(
            (1 - w) * self.points[i] + w * self.points[i + 1],
            tangent / np.linalg.norm(tangent),
            (1 - w) * self.bends[i] + w * self.bends[i + 1],
            float((1 - w) * self.speeds[i] + w * self.speeds[i + 1]),
        )


def make_route(
    polyline_w: np.ndarray,
    *,
    cruise_mps: float,
    sideways: float = 3.5,
    braking: float = 1.6,
    smoothing_m: float = SMOOTHING_M,
) -> Route:
    """Route along a polyline (n, 3) [m].

    Its speed keeps to `cruise_mps`, to the acceleration `sideways` in bends and `braking` before them and
    before the end [m/s^2], and to 4 m/s on slopes. Corners are rounded over `smoothing_m`.
    """
    points = _smoothed(_resampled(np.asarray(polyline_w, float)[:, :3], SPACING_M), smoothing_m)
    points = _resampled(points, SPACING_M)
    tangents = np.gradient(points, SPACING_M, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    bends = np.gradient(tangents, SPACING_M, axis=0)
    curvature = np.linalg.norm(bends[:, :2], axis=1)
    speeds = np.minimum(cruise_mps, np.sqrt(sideways / np.maximum(curvature, 1e-6)))
    speeds = np.minimum(speeds, _CLIMB_MPS / np.maximum(np.abs(tangents[:, 2]), 1e-6))
    speeds[-1] = 0.0
    for i in range(len(speeds) - 2, -1, -1):
        speeds[i] = min(speeds[i], np.sqrt(speeds[i + 1] ** 2 + 2.0 * braking * SPACING_M))
    return Route(points, tangents, bends, speeds)


def _resampled(points: np.ndarray, spacing_m: float) -> np.ndarray:
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.r_[True, lengths > 1e-9]]
    arc = np.r_[0.0, np.cumsum(lengths[lengths > 1e-9])]
    count = max(int(arc[-1] / spacing_m), 2) + 1
    wanted = np.linspace(0.0, arc[-1], count)
    return np.column_stack([np.interp(wanted, arc, points[:, k]) for k in range(3)])


def _smoothed(points: np.ndarray, over_m: float) -> np.ndarray:
    """Corners rounded by a moving average that keeps both ends in place."""
    reach = int(over_m / SPACING_M)
    before = 2.0 * points[0] - points[reach:0:-1]
    after = 2.0 * points[-1] - points[-2 : -2 - reach : -1]
    padded = np.vstack((before, points, after))
    kernel = np.hanning(2 * reach + 3)[1:-1]
    kernel /= kernel.sum()
    return np.column_stack([np.convolve(padded[:, k], kernel, mode="valid") for k in range(3)])


HEIGHT_M = 4.0
"""Above the ground; where there is none its height is kept as it is."""
HOVER_CRUISE_MPS = 4.0
REACHED_M = 0.6
_ROOM_M = 0.3
"""Within this of the height it holds what it has."""
_BRAKE_PER_S = 0.5
_STILL_MPS = 0.5
_SPARE_S = 0.5
"""Longer than it is asked to be still: what judges that sees it later."""


class HoverPilot(Automatic):
    """Serves what `hold` serves; wind is learnt there."""

    def __init__(self, mission: Mission) -> None:
        self._hold = HoldPilot()
        self._left = [np.array(place) for place in mission.places_w]
        self._still_s = mission.still_s + _SPARE_S if mission.still_s else 0.0

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) of position hold under sticks that lead there."""
        most = config_of(vehicle).modes.holding
        rise = HEIGHT_M - sensed.clearance_m
        throttle = (
            0.0 if not np.isfinite(rise) or abs(rise) < _ROOM_M else float(np.clip(0.4 * rise, -1.0, 1.0))
        )
        velocity_w = np.zeros(2)
        if self._still_s > 0.0 and abs(rise) < _ROOM_M:
            if float(np.linalg.norm(sensed.v_w)) < _STILL_MPS:
                self._still_s -= dt_s
        elif self._left and abs(rise) < 1.0:
            off = self._left[0] - sensed.x_w[:2]
            if float(np.linalg.norm(off)) < REACHED_M and len(self._left) > 1:
                self._left.pop(0)
            elif float(np.linalg.norm(off)) > REACHED_M:
                velocity_w = within(_BRAKE_PER_S * off, HOVER_CRUISE_MPS)
        ahead, left = level_axes(sensed.R_wb)
        pitch = float(velocity_w @ ahead[:2]) / most.ahead_mps
        roll = -float(velocity_w @ left[:2]) / most.aside_mps
        given = PilotInput(
            pitch=min(max(pitch, -1.0), 1.0), roll=min(max(roll, -1.0), 1.0), throttle=throttle
        )
        return self._hold.controls(given, sensed, vehicle, dt_s)


CRUISE_MPS = 23.0
HOVER_HEIGHT_M = 9.0
"""Above the pads, before going and before landing, where the goals want it no higher."""
_ABOVE_M = 1.5
"""What they want is passed by so much."""
LAG_S = 0.5
"""From a wanted bank to the bank."""


class Phase(Enum):
    """What the flight is at."""

    TAKE_OFF = "take off"
    HOVER = "hover"
    FOLLOW = "follow"
    LAND = "land"


@dataclass(frozen=True, slots=True)
class RouteFlightState:
    """What it remembers between control periods."""

    phase: Phase
    climb: ClimbState
    anchor_w: tuple[float, float]
    """Where it rises or comes down."""
    velocity: VelocityState = CALM
    heading_rad: float | None = None
    arc_m: float | None = None
    """Progress along the route."""
    still_s: float = 0.0
    """For how long it has hovered."""


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """What one phase asks for: velocity (3,), acceleration (2,) it needs, and the turn rate of the nose."""

    velocity_w: np.ndarray
    feed_w: np.ndarray
    yaw_rate: float


class RouteFlight(Automatic):
    """Serves what flies with a lift that tilts. landing_w: (3,) where to touch down at the end of the mission's way."""

    def __init__(self, mission: Mission, landing_w: np.ndarray) -> None:
        above = np.asarray(landing_w, float) + np.array([0.0, 0.0, HOVER_HEIGHT_M])
        path_w = np.asarray(mission.path_w, float)[:, :3]
        self._route = make_route(_ending_at(path_w, above), cruise_mps=CRUISE_MPS)
        self._landing_w = above
        self._rise_m = max(HOVER_HEIGHT_M, mission.rise_m + _ABOVE_M)
        self._hover_s = mission.still_s + _SPARE_S if mission.still_s else 0.0
        self._state: RouteFlightState | None = None

    @property
    def phase(self) -> Phase | None:
        """None before the first control period."""
        return self._state.phase if self._state else None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """One control period of whatever phase is due."""
        airframe = airframe_of(vehicle)
        gains = Gains.of(airframe, dt_s, config_of(vehicle).modes.flying)
        state = self._next_phase(self._state or self._first(sensed), sensed, dt_s)
        command = self._command(state, sensed, gains)
        climb_state, climb = self._climb(state, command, sensed, gains, dt_s)
        velocity_state, level = towards(
            state.velocity,
            command.velocity_w[:2] - sensed.v_w[:2],
            command.feed_w + airframe.drag_acceleration(sensed.v_w)[:2],
            gains,
            dt_s,
            authority=0.0 if climb_state.standing else level_authority(sensed),
        )
        held = None if climb_state.standing else state.heading_rad
        heading = turned(held, command.yaw_rate, sensed, dt_s)
        self._state = replace(state, climb=climb_state, velocity=velocity_state, heading_rad=heading)
        wanted = np.append(
            level + level_authority(sensed) * against_swing(vehicle, sensed), climb.acceleration
        )
        return fly(airframe, sensed, Demand(wanted, heading, command.yaw_rate, climb.spool), gains)

    def _first(self, sensed: Sensed) -> RouteFlightState:
        climb = replace(first_climb_state(sensed), standing=False)
        anchor = float(sensed.x_w[0]), float(sensed.x_w[1])
        return RouteFlightState(Phase.TAKE_OFF, climb, anchor)

    def _next_phase(self, state: RouteFlightState, sensed: Sensed, dt_s: float) -> RouteFlightState:
        speed_mps = float(np.linalg.norm(sensed.v_w))
        if state.phase is Phase.TAKE_OFF and sensed.clearance_m > self._rise_m - 1.0:
            state = replace(state, phase=Phase.HOVER)
        if state.phase is Phase.HOVER:
            state = replace(state, still_s=state.still_s + (dt_s if speed_mps < 2.0 * _STILL_MPS else 0.0))
            if state.still_s >= self._hover_s:
                state = replace(state, phase=Phase.FOLLOW, arc_m=self._route.nearest(sensed.x_w))
        if state.phase is Phase.FOLLOW:
            arc = self._route.nearest(sensed.x_w, state.arc_m)
            state = replace(state, arc_m=max(arc, state.arc_m or 0.0))
            if self._off_pad(sensed) < 8.0 and speed_mps < 2.0:
                anchor = float(self._landing_w[0]), float(self._landing_w[1])
                state = replace(state, phase=Phase.LAND, anchor_w=anchor)
        return state

    def _off_pad(self, sensed: Sensed) -> float:
        off = self._landing_w - sensed.x_w
        return math.hypot(float(off[0]), float(off[1]))

    def _command(self, state: RouteFlightState, sensed: Sensed, gains: Gains) -> VelocityCommand:
        if state.phase is Phase.FOLLOW:
            return _along(self._route, state.arc_m or 0.0, sensed, gains)
        off = np.array(state.anchor_w) - sensed.x_w[:2]
        level = within(1.5 * gains.position * off, 3.0)
        # In the take-off only the height above the ground counts, in the landing the throttle decides.
        rise = gains.altitude * (self._rise_m - sensed.clearance_m) if state.phase is Phase.HOVER else 3.5
        return VelocityCommand(np.array([level[0], level[1], rise]), np.zeros(2), 0.0)

    def _climb(
        self, state: RouteFlightState, command: VelocityCommand, sensed: Sensed, gains: Gains, dt_s: float
    ) -> tuple[ClimbState, Climb]:
        if state.phase is Phase.LAND:
            over_pad = self._off_pad(sensed) < 0.8 or sensed.clearance_m < 1.5
            return by_throttle(state.climb, -0.7 if over_pad else 0.0, sensed, gains, dt_s)
        climb_state = settled(state.climb, 1.0, sensed, dt_s)
        return climb_state, climb_at(climb_state, float(command.velocity_w[2]), sensed, gains)


def _along(route: Route, arc_m: float, sensed: Sensed, gains: Gains) -> VelocityCommand:
    """Velocity along the route and back onto it, looking ahead by what the loops lag behind."""
    speed = float(np.linalg.norm(sensed.v_w))
    here, ahead = route.at(arc_m), route.at(arc_m + LAG_S * speed)
    wanted_mps = min(ahead.speed_mps, here.speed_mps) if arc_m < route.length_m - 1.0 else 0.0
    off = here.point_w - sensed.x_w
    if wanted_mps > 1.0:
        off = off - (off @ here.tangent_w) * here.tangent_w
    back = within(2.0 * gains.position * off[:2], 5.0)
    rise = gains.altitude * float(off[2]) + wanted_mps * float(here.tangent_w[2])
    # Never lower than the trees, should the route be cut in a bend.
    rise = max(rise, 4.0 - sensed.clearance_m)
    velocity = np.append(wanted_mps * here.tangent_w[:2] + back, rise)
    feed = wanted_mps**2 * ahead.bend_w[:2]
    return VelocityCommand(velocity, feed, _nose_rate(sensed, ahead.tangent_w))


def _nose_rate(sensed: Sensed, tangent_w: np.ndarray) -> float:
    """Turn rate [rad/s] that brings the nose along the route."""
    heading = math.atan2(float(tangent_w[1]), float(tangent_w[0]))
    off = turn_between(heading_of(sensed.R_wb), heading)
    return min(max(1.2 * off, -0.8), 0.8)


def _ending_at(path_w: np.ndarray, end_w: np.ndarray) -> np.ndarray:
    """The path with its last stretch led to `end_w`."""
    keep = np.linalg.norm(path_w - end_w, axis=1) > 25.0
    last = int(np.argmin(np.linalg.norm(path_w - end_w, axis=1)))
    keep[last:] = False
    kept = path_w[keep]
    return np.vstack((kept if len(kept) else path_w[:1], end_w))
