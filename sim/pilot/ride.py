"""Riding: the torso winds and the feet steer by hand, or together in a gait while its key is held.

A gait lets both swing about their centres. Which way the board goes lies in the ratio of their
frequencies and in their phase: 1:1 drives, 2:1 (torso to feet) spins on the spot, 3:2 moves sideways.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.outfit.modes import Gait, Riding
from sim.pilot.airframe import scalar
from sim.pilot.contract import Sensed
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
        """Roll or yaw turns the feet, pitch winds the torso; the actions of the outfit's gaits swing both."""
        riding = outfit_of(vehicle.name).modes.riding
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
