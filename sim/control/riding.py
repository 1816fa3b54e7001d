"""Riding a board that winds its torso and steers its feet: by hand, by a gait, or from place to place."""

import math
from dataclasses import dataclass

import numpy as np

from sim.control.airframe import scalar
from sim.control.pilot import Automatic, Errand, PilotInput, Sensed
from sim.control.rotation import heading_of, turn_between
from sim.vehicle_config import config_of
from sim.vehicle_config.modes import Gait, Riding
from sim.vehicles import Vehicle

_STIFFNESS = 11.0
"""Natural frequency of torso and feet about what is asked of them [rad/s]."""
_TURNABOUT_MPS = 0.2
"""Going backwards at twice this, the feet are steered the other way."""
_EASE_S = 0.5
"""A gait swells and fades over about this time."""


@dataclass(frozen=True, slots=True)
class RideState:
    """What is remembered between control periods."""

    gait: str = ""
    time_s: float = 0.0
    """In the gait."""
    strength: float = 0.0
    """0 standing .. 1 in full swing."""
    asked: tuple[float, float] = (0.0, 0.0)
    """Torso and feet asked for last [rad]."""


class RidePilot:
    """Serves vehicles with torques on a torso and on the feet that steer."""

    def __init__(self) -> None:
        self._state = RideState()

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Roll or yaw turns the feet, pitch winds the torso; the actions of the config's gaits swing both."""
        riding = config_of(vehicle).modes.riding
        state = self._state = _next(riding, self._state, sticks, float(sensed.v_b[0]), dt_s)
        at = vehicle.node_layout
        r, u = sensed.node[at.shape], sensed.node[at.shape_velocity]
        inertia = _inertias(vehicle, float(r[1]))
        stiffness = min(_STIFFNESS, 0.25 / dt_s)
        pull = stiffness**2 * (np.array(state.asked) - r) - 2.0 * stiffness * u
        low = [control.low for control in vehicle.controls]
        high = [control.high for control in vehicle.controls]
        return np.clip(inertia * pull, low, high)


def _next(riding: Riding, state: RideState, sticks: PilotInput, ahead_mps: float, dt_s: float) -> RideState:
    """One control period on."""
    gaits = {each.action: each for each in riding.gaits}
    held = next((name for name in gaits if name in sticks.actions), "")
    gait = held or state.gait
    step = dt_s / _EASE_S
    strength = min(state.strength + step, 1.0) if held else max(state.strength - step, 0.0)
    begun = held != "" and held != state.gait
    time_s = 0.0 if begun else state.time_s + dt_s
    torso = riding.twist_rad * min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    # Right is right of the way the board goes: gaits drive it backwards.
    way = min(max(1.0 + ahead_mps / _TURNABOUT_MPS, -1.0), 1.0)
    feet = riding.steer_rad * way * min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    if gait in gaits:
        swing = _swing(gaits[gait], time_s)
        torso, feet = torso + strength * swing[0], feet + strength * swing[1]
    limit = riding.feet_limit_rad
    asked = (torso, min(max(feet, -limit), limit))
    return RideState(gait if strength > 0.0 else "", time_s, strength, asked)


def _swing(gait: Gait, time_s: float) -> tuple[float, float]:
    return (
        gait.torso_rad * math.sin(gait.torso_radps * time_s),
        gait.feet_rad * math.sin(gait.feet_radps * time_s + gait.phase_rad),
    )


def _inertias(vehicle: Vehicle, phi: float) -> np.ndarray:
    """(2,) kg m^2 that torso and feet have for their torques, the board's recoil taken into account."""
    values = {name: scalar(value) for name, value in vehicle.values.items()}
    rotor = values["rotor_inertia"]
    recoil = rotor * math.sin(phi) ** 2 / (values["mass"] * values["half_length"] ** 2)
    return np.array([rotor * max(1.0 - recoil, 0.1), 2.0 * values["wheel_inertia"]])


CRUISE_MPS = 1.4
CIRCLE_M = 5.0
"""Round the last place."""
REACHED_M = 1.0
_TURN_PER_S = 0.5
"""Turn rate of the course per radian that it is off."""
_MOST_STICK, _LEAST_MPS = 0.7, 0.5
_EVENED_S = 0.7
"""The course that counts is evened out: every swing of the torso turns the board to and fro."""


class SkatePilot(Automatic):
    """Sticks and gaits of `RidePilot`, given by the course."""

    def __init__(self, errand: Errand) -> None:
        self._ride = RidePilot()
        self._left = [np.array(place) for place in errand.places_w]
        self._circled: np.ndarray | None = None
        self._course: np.ndarray | None = None
        """(2,) unit vector that it goes along, evened out."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque of the torso, torque of the feet) [N m]."""
        riding = config_of(vehicle).modes.riding
        board = heading_of(sensed.R_wb)
        astern = -np.array([math.cos(board), math.sin(board)])  # the gait drives it backwards
        before = astern if self._course is None else self._course
        self._course = before - math.expm1(-dt_s / _EVENED_S) * (astern - before)
        place = sensed.x_w[:2]
        if self._left and float(np.linalg.norm(self._left[0] - place)) < REACHED_M:
            self._circled = self._left.pop(0)
        if self._circled is None and not self._left:
            self._circled = place.copy()
        speed = -float(sensed.v_b[0])
        off = turn_between(math.atan2(self._course[1], self._course[0]), self._wanted(place))
        turn = _TURN_PER_S * off + (0.0 if self._left else speed / CIRCLE_M)
        # Both axles turned by phi, one against the other, bend the way by tan(phi) over their distance from the middle.
        bend = turn / max(speed, _LEAST_MPS) * scalar(vehicle.values["half_length"])
        stick = min(max(-math.atan(bend) / riding.steer_rad, -_MOST_STICK), _MOST_STICK)
        held = (
            frozenset({riding.gaits[0].action}) if riding.gaits and speed < CRUISE_MPS else frozenset[str]()
        )
        return self._ride.controls(PilotInput(roll=stick, actions=held), sensed, vehicle, dt_s)

    def _wanted(self, place: np.ndarray) -> float:
        """Course [rad] to the next place, or round the last one, counter-clockwise."""
        if self._left:
            to = self._left[0] - place
            return math.atan2(float(to[1]), float(to[0]))
        assert self._circled is not None
        out = place - self._circled
        away = float(np.linalg.norm(out))
        bearing = math.atan2(float(out[1]), float(out[0]))
        return bearing + 0.5 * math.pi + math.atan(0.8 * (away - CIRCLE_M))
