"""From a wanted velocity or acceleration to the controls of a rotorcraft: the loops that all flight modes share."""

import math
from dataclasses import replace

import numpy as np

from sim.control.airframe import DAMPING, Airframe, Hanging, swing_radps
from sim.control.pilot import Sensed
from sim.groups.numeric import attitude_of, rotation_log
from sim.platform.values import dataclass
from sim.vehicle_config.modes import Flying
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class Gains:
    """Bandwidths of the cascaded loops [1/s], each a third of the one inside it, and the fastest climb and descent."""

    rate: float
    attitude: float
    velocity: float
    position: float
    climb: float
    altitude: float
    climb_mps: float
    descent_mps: float

    @classmethod
    def of(cls, airframe: Airframe, dt_s: float, flying: Flying) -> "Gains":
        """Bandwidths as wanted, as far as they stay stable with controls held for `dt_s`.

        Where turning the body first pushes it the wrong way, that limits how fast the velocity loop may be; so does
        the swing of what hangs from it.
        """
        rate = min(flying.rate_gain, 0.4 / dt_s)
        attitude = rate / 3.0
        velocity = min(attitude / 3.0, 0.33 * airframe.reversal, 0.4 * airframe.swing_radps)
        climb = min(flying.climb_gain, 0.4 / dt_s)
        return cls(
            rate,
            attitude,
            velocity,
            velocity / 3.0,
            climb,
            climb / 2.5,
            flying.climb_mps,
            flying.descent_mps,
        )


MOST_MPS2 = 2.5


def against_swing(vehicle: Vehicle, sensed: Sensed) -> np.ndarray:
    """(2,) level acceleration [m/s^2] after the load, which takes the energy out of its swing.

    Of a load m under an airframe M the way x from hook to load obeys x'' = -w^2 x - (1 + m/M) a, so that
    a = 2 D w x' / (1 + m/M) damps it.
    """
    swing = swing_radps(vehicle)
    if swing == math.inf or not isinstance(vehicle, Hanging):
        return np.zeros(2)
    _, rate_w = vehicle.load_off_hook(sensed.node)
    heavier = 1.0 + vehicle.hanging_kg / float(np.max(vehicle.values["mass"]))
    return within(2.0 * DAMPING * swing / heavier * rate_w[:2], MOST_MPS2)


INTEGRAL_LIMIT = 3.0
"""Most that is learnt about steady wind and drag [m/s^2]."""
ACCELERATION_LIMIT = 4.5
JERK = 14.0
"""How fast the wanted acceleration may change [m/s^3]: keys are pressed all at once."""


@dataclass(frozen=True, slots=True)
class VelocityState:
    """What the loop remembers: both horizontal, in the world frame [m/s^2]."""

    learnt_w: tuple[float, float] = (0.0, 0.0)
    """Acceleration that cancels steady disturbances."""
    wanted_w: tuple[float, float] = (0.0, 0.0)
    """Last output, after the jerk limit."""


CALM = VelocityState()


def towards(
    state: VelocityState,
    error_w: np.ndarray,
    feed_w: np.ndarray,
    gains: Gains,
    dt_s: float,
    *,
    authority: float = 1.0,
) -> tuple[VelocityState, np.ndarray]:
    """One control period.

    error_w: (2,) wanted minus actual horizontal velocity [m/s]; feed_w: (2,) acceleration known to be
    needed [m/s^2]; authority: 0 on the ground to 1 in flight. Returns the new state and the
    acceleration (2,) to fly.
    """
    learnt = np.array(state.learnt_w)
    if authority < 1.0:
        learnt = np.zeros(2)
    elif float(error_w @ error_w) < 9.0:
        learnt = within(learnt + 0.2 * gains.velocity**2 * dt_s * error_w, INTEGRAL_LIMIT)
    pull = within(gains.velocity * error_w + feed_w, ACCELERATION_LIMIT)
    wanted = limited(state.wanted_w, authority * (pull + learnt), JERK * dt_s)
    return VelocityState(_pair(learnt), _pair(wanted)), wanted


def within(vector: np.ndarray, most: float) -> np.ndarray:
    """`vector` (2,), shortened to the length `most` where it is longer."""
    size = math.hypot(float(vector[0]), float(vector[1]))
    return vector if size <= most else vector * (most / size)


def limited(before: tuple[float, float], wanted: np.ndarray, most: float) -> np.ndarray:
    """`wanted` (2,), but no further from `before` than `most`."""
    return np.array(before) + within(wanted - np.array(before), most)


def _pair(vector: np.ndarray) -> tuple[float, float]:
    return float(vector[0]), float(vector[1])


MAX_TILT_RAD = math.radians(32.0)
MAX_RATE = np.array([1.6, 1.3, 1.4])
"""Body rates the attitude loop asks for [rad/s]."""

LEAST_LIFT = 0.5
"""In flight, in weights."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a flight mode asks of the loops below it."""

    acceleration_w: np.ndarray
    """(3,) wanted acceleration [m/s^2], without gravity."""
    heading_rad: float
    yaw_rate: float = 0.0
    """Rate at which the wanted heading turns [rad/s]."""
    spool: float = 1.0
    """Share of the lift that the rotor gives: 0 stopped on the ground, 1 in flight."""


def fly(airframe: Airframe, sensed: Sensed, demand: Demand, gains: Gains) -> np.ndarray:
    """Controls (4,) that follow the demand."""
    target = attitude_of(_roof(demand.acceleration_w, airframe.gravity), demand.heading_rad)
    yaw_b = sensed.R_wb[2, :] * demand.yaw_rate
    torque = attitude_torque(airframe, sensed, target, yaw_b, gains)
    upright = float(sensed.R_wb[2, 2])
    vertical = airframe.mass_kg * max(airframe.gravity + float(demand.acceleration_w[2]), 0.0)
    lift = vertical / max(upright, 0.5) if upright > 0.0 else 0.0
    # Cyclic needs lift to turn the body with, upside down too.
    lift = max(lift, LEAST_LIFT * airframe.weight_N)
    return airframe.allocate(torque * demand.spool, lift * demand.spool)


def attitude_torque(
    airframe: Airframe, sensed: Sensed, target_R_wb: np.ndarray, feed_omega_b: np.ndarray, gains: Gains
) -> np.ndarray:
    """Torque (3,) [N m] that turns the body to `target_R_wb`, itself turning at `feed_omega_b`."""
    error = rotation_log(sensed.R_wb.T @ target_R_wb)
    return rate_torque(airframe, sensed, feed_omega_b + _approach_rate(airframe, error, gains), gains)


def rate_torque(airframe: Airframe, sensed: Sensed, omega_b: np.ndarray, gains: Gains) -> np.ndarray:
    """Torque (3,) [N m] that brings the body rates to `omega_b`."""
    authority = airframe.angular_authority()
    acceleration = np.clip(gains.rate * (omega_b - sensed.omega_b), -2.0 * authority, 2.0 * authority)
    return airframe.inertia * acceleration + airframe.gyroscopic_torque(sensed.omega_b)


def _approach_rate(airframe: Airframe, error: np.ndarray, gains: Gains) -> np.ndarray:
    """Rates that close an attitude error: proportional, but never faster than can be stopped in time."""
    stoppable = np.sqrt(1.2 * airframe.angular_authority() * np.abs(error))
    limit = np.minimum(stoppable, MAX_RATE)
    return np.clip(gains.attitude * error, -limit, limit)


def _roof(acceleration_w: np.ndarray, gravity: float) -> np.ndarray:
    """Unit vector along the wanted specific force, tilted by no more than the limit."""
    upward = max(gravity + float(acceleration_w[2]), 0.5 * gravity, 1e-6)
    roof = np.array([float(acceleration_w[0]), float(acceleration_w[1]), upward])
    level = math.hypot(roof[0], roof[1])
    limit = upward * math.tan(MAX_TILT_RAD)
    if level > limit:
        roof[:2] *= limit / level
    return roof / math.sqrt(float(roof @ roof))


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
