"""The vertical channel: climb rate from the throttle, altitude hold, flare, and standing on the ground."""

from dataclasses import dataclass, replace

from sim.pilot.contract import Sensed
from sim.pilot.gains import Gains

CENTRE = 0.04
"""Throttle deflections below this are hands-off."""
TOUCHING_M = 0.08
SETTLE_S = 0.5
SPOOL_S = 0.8


@dataclass(frozen=True, slots=True)
class ClimbState:
    """What the vertical channel remembers."""

    altitude_m: float | None = None
    """Held while the throttle is centred; None while climbing or descending."""
    standing: bool = False
    """On the ground with the rotor idle, until the throttle is raised."""
    settled_s: float = 0.0
    """For how long the skids have been touching at rest without a call to climb."""
    spool: float = 1.0


@dataclass(frozen=True, slots=True)
class Climb:
    """Wanted vertical acceleration [m/s^2] and the share of the lift that the rotor gives."""

    acceleration: float
    spool: float


def first_climb_state(sensed: Sensed) -> ClimbState:
    """Standing when the vehicle is on the ground, else in flight."""
    standing = sensed.clearance_m < TOUCHING_M and float(sensed.v_b @ sensed.v_b) < 0.25
    return ClimbState(standing=standing, spool=0.0 if standing else 1.0)


def by_throttle(
    state: ClimbState, throttle: float, sensed: Sensed, gains: Gains, dt_s: float
) -> tuple[ClimbState, Climb]:
    """One control period: throttle in [-1, 1] asks for a climb rate, centred it holds the altitude."""
    state = settled(state, throttle, sensed, dt_s)
    if state.standing:
        return state, Climb(0.0, state.spool)
    height, rising = float(sensed.x_w[2]), float(sensed.v_w[2])
    if abs(throttle) > CENTRE:
        state = replace(state, altitude_m=None)
        wanted = throttle * (gains.climb_mps if throttle > 0.0 else gains.descent_mps)
    else:
        if state.altitude_m is None and abs(rising) < 1.5:
            state = replace(state, altitude_m=height + 0.4 * rising)
        wanted = 0.0 if state.altitude_m is None else gains.altitude * (state.altitude_m - height)
    return state, climb_at(state, wanted, sensed, gains)


def climb_at(state: ClimbState, wanted_mps: float, sensed: Sensed, gains: Gains) -> Climb:
    """Towards a vertical speed; near the ground never faster down than skids or load bear."""
    flare = 0.5 + 0.6 * max(min(sensed.clearance_m, sensed.load_clearance_m), 0.0)
    wanted = max(min(wanted_mps, gains.climb_mps), -gains.descent_mps, -flare)
    pull = gains.climb * (wanted - float(sensed.v_w[2]))
    return Climb(max(min(pull, 4.0), -4.0), state.spool)


def level_authority(sensed: Sensed) -> float:
    """0 with the skids on the ground, 1 from half a metre up: how much of a tilt may be asked for."""
    return min(max((sensed.clearance_m - TOUCHING_M) / 0.5, 0.0), 1.0)


def settled(state: ClimbState, throttle: float, sensed: Sensed, dt_s: float) -> ClimbState:
    """Notice landing and take-off, and run the rotor up or down."""
    quiet = sensed.clearance_m < TOUCHING_M and abs(float(sensed.v_w[2])) < 0.3 and throttle <= CENTRE
    settled_s = state.settled_s + dt_s if quiet else 0.0
    leaving = throttle > CENTRE or sensed.clearance_m > 0.5
    standing = not leaving and (state.standing or settled_s > SETTLE_S)
    spool = state.spool + (-dt_s if standing else dt_s) / SPOOL_S
    altitude = None if standing else state.altitude_m
    return ClimbState(altitude, standing, settled_s, min(max(spool, 0.0), 1.0))
