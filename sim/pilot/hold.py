"""Position hold: sticks ask for a velocity, hands off the vehicle stays where it is."""

from dataclasses import dataclass

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.outfit.modes import Holding
from sim.pilot.airframes import airframe_of
from sim.pilot.climb import CENTRE, ClimbState, by_throttle, first_climb_state, level_authority
from sim.pilot.contract import Sensed
from sim.pilot.flight import Demand, fly
from sim.pilot.gains import Gains
from sim.pilot.heading import turned
from sim.pilot.rotation import level_axes
from sim.pilot.swing import against_swing
from sim.pilot.velocity import CALM, VelocityState, towards, within
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class HoldState:
    """What position hold remembers between control periods."""

    climb: ClimbState
    velocity: VelocityState = CALM
    heading_rad: float | None = None
    position_w: tuple[float, float] | None = None
    """Held; None while moving."""


class HoldPilot:
    """Sticks are velocities in the frame of the level nose; steady wind is learnt and leant against."""

    def __init__(self) -> None:
        self._state: HoldState | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Pitch and roll sticks: velocity ahead and to the right; yaw: turn rate; throttle: climb rate."""
        airframe = airframe_of(vehicle)
        modes = outfit_of(vehicle.name).modes
        gains, most = Gains.of(airframe, dt_s, modes.flying), modes.holding
        state = self._state or HoldState(first_climb_state(sensed))
        climb_state, climb = by_throttle(state.climb, sticks.throttle, sensed, gains, dt_s)
        standing = climb_state.standing
        yaw_rate = 0.0 if standing else -most.yaw_radps * sticks.yaw
        heading = turned(None if standing else state.heading_rad, yaw_rate, sensed, dt_s)
        held = None if standing else _held(state.position_w, sticks, sensed, most.catch_mps)
        velocity = _wanted_velocity(held, sticks, sensed, gains, most)
        turn = yaw_rate * np.array([-velocity[1], velocity[0]])
        drag = airframe.drag_acceleration(sensed.v_w)[:2]
        velocity_state, level = towards(
            state.velocity,
            velocity - sensed.v_w[:2],
            turn + drag,
            gains,
            dt_s,
            authority=0.0 if standing else level_authority(sensed),
        )
        self._state = HoldState(climb_state, velocity_state, heading, held)
        wanted = np.append(
            level + level_authority(sensed) * against_swing(vehicle, sensed), climb.acceleration
        )
        return fly(airframe, sensed, Demand(wanted, heading, yaw_rate, climb.spool), gains)


def _held(
    held: tuple[float, float] | None, sticks: PilotInput, sensed: Sensed, catch_mps: float
) -> tuple[float, float] | None:
    """The position to hold: caught once hands are off and the speed is low."""
    if max(abs(sticks.pitch), abs(sticks.roll)) > CENTRE:
        return None
    v = sensed.v_w
    if held is None and float(v[0] ** 2 + v[1] ** 2) < catch_mps**2:
        return float(sensed.x_w[0]), float(sensed.x_w[1])
    return held


def _wanted_velocity(
    held: tuple[float, float] | None, sticks: PilotInput, sensed: Sensed, gains: Gains, most: Holding
) -> np.ndarray:
    """(2,) horizontal velocity in the world [m/s]."""
    if held is not None:
        return within(gains.position * (np.array(held) - sensed.x_w[:2]), 3.0)
    ahead, left = level_axes(sensed.R_wb)
    return (most.ahead_mps * sticks.pitch * ahead - most.aside_mps * sticks.roll * left)[:2]
