"""Attitude mode, the default: sticks tilt, the throttle climbs, hands off the vehicle stops and hovers."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.outfit.modes import Tilting
from sim.pilot.airframes import airframe_of
from sim.pilot.climb import ClimbState, by_throttle, first_climb_state, level_authority
from sim.pilot.contract import Sensed
from sim.pilot.flight import Demand, fly
from sim.pilot.gains import Gains
from sim.pilot.heading import turned
from sim.pilot.rotation import level_axes
from sim.pilot.swing import against_swing
from sim.pilot.velocity import JERK, limited
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class AttitudeState:
    """What attitude mode remembers between control periods."""

    climb: ClimbState
    heading_rad: float | None = None
    level_w: tuple[float, float] = (0.0, 0.0)
    """Wanted horizontal acceleration [m/s^2], after the jerk limit."""


class AttitudePilot:
    """For beginners: nothing the sticks do lasts longer than they are held."""

    def __init__(self) -> None:
        self._state: AttitudeState | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Pitch and roll sticks set the tilt, yaw turns (and banks as the speed asks), throttle climbs."""
        airframe = airframe_of(vehicle)
        modes = outfit_of(vehicle.name).modes
        gains = Gains.of(airframe, dt_s, modes.flying)
        state = self._state or AttitudeState(first_climb_state(sensed))
        climb_state, climb = by_throttle(state.climb, sticks.throttle, sensed, gains, dt_s)
        level, yaw_rate = _level_demand(sticks, sensed, airframe.gravity, gains, modes.tilting)
        level = limited(state.level_w, level * level_authority(sensed), JERK * dt_s)
        yaw_rate = 0.0 if climb_state.standing else yaw_rate
        held = None if climb_state.standing else state.heading_rad
        heading = turned(held, yaw_rate, sensed, dt_s)
        self._state = replace(
            state, climb=climb_state, heading_rad=heading, level_w=(float(level[0]), float(level[1]))
        )
        wanted = np.append(
            level + level_authority(sensed) * against_swing(vehicle, sensed), climb.acceleration
        )
        return fly(airframe, sensed, Demand(wanted, heading, yaw_rate, climb.spool), gains)


def _level_demand(
    sticks: PilotInput, sensed: Sensed, gravity: float, gains: Gains, most: Tilting
) -> tuple[np.ndarray, float]:
    """Horizontal acceleration (2,) in the world and yaw rate that the sticks ask for."""
    ahead, left = level_axes(sensed.R_wb)
    velocity = sensed.v_w
    forward, sideways = float(velocity @ ahead), float(velocity @ left)
    tilt_rad = math.radians(most.tilt_deg)
    tilt_ahead = gravity * math.tan(tilt_rad * sticks.pitch)
    tilt_left = -gravity * math.tan(tilt_rad * sticks.roll)
    turn = -sticks.yaw * min(most.yaw_radps, most.bank_mps2 / max(abs(forward), 1e-3))
    too_fast = _overspeed(forward, most.speed_limit_mps)
    along = tilt_ahead + _hands_off(sticks.pitch) * _brake(forward, gains, most) - too_fast
    across = tilt_left + _hands_off(sticks.roll) * _brake(sideways, gains, most) + turn * forward
    # At speed a bank turns the nose with the path, so that roll alone flies round a bend.
    moving = min(max((forward - 4.0) / 6.0, 0.0), 1.0)
    return (ahead * along + left * across)[:2], turn + moving * tilt_left / max(forward, 4.0)


def _hands_off(stick: float) -> float:
    """1 with the stick centred, 0 from a small deflection on."""
    return max(1.0 - abs(stick) / 0.15, 0.0)


def _brake(speed: float, gains: Gains, most: Tilting) -> float:
    return min(max(-gains.velocity * speed, -most.brake_mps2), most.brake_mps2)


def _overspeed(speed: float, limit_mps: float) -> float:
    excess = abs(speed) - limit_mps
    return math.copysign(excess, speed) if excess > 0.0 else 0.0
