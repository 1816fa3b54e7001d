"""Flight modes of rotorcraft and of bodies moved by torques: what the sticks ask for, and what is done hands off."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sim.control.airframe import airframe_of
from sim.control.flight import (
    CALM,
    CENTRE,
    JERK,
    ClimbState,
    Demand,
    Gains,
    VelocityState,
    against_swing,
    by_throttle,
    first_climb_state,
    fly,
    level_authority,
    limited,
    rate_torque,
    settled,
    towards,
    within,
)
from sim.control.pilot import Sensed, turned
from sim.controllers import PilotInput
from sim.groups.numeric import level_axes
from sim.platform.values import dataclass
from sim.vehicle_config import config_of, named_values
from sim.vehicle_config.modes import Holding, Mix, Righting, Tilting
from sim.vehicles import Vehicle

STIFFNESS, DAMPING = 1.0, 2.0
"""Of that turn: 1/s^2 and 1/s, critical."""


def righted(law: Righting, wanted: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
    """The controls `wanted`, with torques that bring the axis to the vertical and stop all turning."""
    up_b = sensed.R_wb.T @ np.array([0.0, 0.0, 1.0])
    axis_b = np.array(law.axis_b) / np.linalg.norm(law.axis_b)
    # From hanging straight down every way is as good: the small push takes one.
    aside_b = np.roll(axis_b, 1)
    error_b = np.cross(axis_b, up_b) + (axis_b @ up_b < -0.999) * 0.05 * aside_b
    inertia = np.asarray(vehicle.values["inertia"], float)
    torque_b = inertia * (STIFFNESS * error_b - DAMPING * sensed.omega_b)
    names = [control.name for control in vehicle.controls]
    controls = wanted.copy()
    for (name, sign), torque in zip(law.torques, torque_b, strict=True):
        controls[names.index(name)] = sign * torque
    return controls


_UPRIGHT = 1e-6


def pushed(axle: str, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
    """Body torques (3,) [N m]: pitch pushes the tip down, roll to the right of one who stands at the pivot.

    axle: the vehicle's parameter along which it lies.
    """
    arm_b = np.asarray(vehicle.values[axle], float)
    axis_w = sensed.R_wb @ (arm_b / max(float(np.linalg.norm(arm_b)), 1e-12))
    level = math.hypot(axis_w[0], axis_w[1])
    # An upright axis leans no way: it is pushed as if along x.
    ahead = axis_w[:2] / level if level > _UPRIGHT else np.array([1.0, 0.0])
    left_w = np.array([-ahead[1], ahead[0], 0.0])
    force_w = sticks.pitch * np.cross(left_w, axis_w) - sticks.roll * left_w
    hand, twist = (vehicle.controls[k].high for k in (0, 2))
    return sensed.R_wb.T @ (hand * np.cross(axis_w, force_w) - 0.5 * twist * sticks.yaw * axis_w)


class RawPilot:
    """Serves every vehicle, as its config says; remembers nothing."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Full stick is the full throw; centred sticks are the hover, or the neutral controls."""
        raw = config_of(vehicle).raw
        if raw.pushed_axle:
            wanted = pushed(raw.pushed_axle, sticks, sensed, vehicle)
        else:
            wanted = mixed(raw.mixes or usual_mixes(vehicle), sticks, vehicle)
        if raw.righting is not None and raw.righting.action in sticks.actions:
            wanted = righted(raw.righting, wanted, sensed, vehicle)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


def mixed(mixes: tuple[Mix, ...], sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Controls, not yet within their ranges; those without a mix stay neutral."""
    deflections = {
        "pitch": sticks.pitch,
        "roll": sticks.roll,
        "yaw": sticks.yaw,
        "throttle": sticks.throttle,
        "ahead": min(max(sticks.pitch + sticks.throttle, -1.0), 1.0),
        "right": min(max(sticks.roll + sticks.yaw, -1.0), 1.0),
    }
    values = _numbers(vehicle)
    by_control = {mix.control: mix for mix in mixes}
    wanted = []
    for control in vehicle.controls:
        mix = by_control.get(control.name)
        if mix is None:
            wanted.append(control.neutral)
            continue
        share = sum(part * deflections[stick] for stick, part in mix.sticks)
        rest = control.neutral if mix.rest is None else mix.rest.value(values)
        if mix.reach is not None:
            reach = mix.reach.value(values)
        else:
            reach = control.high - rest if share > 0.0 else rest - control.low
        wanted.append(rest + share * reach)
    return np.array(wanted)


@lru_cache(maxsize=64)
def _numbers(vehicle: Vehicle) -> Mapping[str, float]:
    """Of its parameters, by the names that terms of its config have for them."""
    return named_values(vehicle, parameters=vehicle.values)


def usual_mixes(vehicle: Vehicle) -> tuple[Mix, ...]:
    """Controls named after a stick follow it; where none is, the first two go with the stick ahead and to the left."""
    by_name = {"pitch": "pitch", "roll": "roll", "yaw": "yaw", "thrust": "throttle"}
    named = tuple(
        Mix(control.name, ((by_name[control.name], 1.0),))
        for control in vehicle.controls
        if control.name in by_name
    )
    in_order = zip(vehicle.controls, (("ahead", 1.0), ("right", -1.0)), strict=False)
    return named or tuple(Mix(control.name, (stick,)) for control, stick in in_order)


class RatePilot:
    """Hands off the vehicle keeps its attitude in space, and drifts with it."""

    def __init__(self) -> None:
        self._climb: ClimbState | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Centred throttle lifts the weight at moderate tilts; on the ground the rotor idles until raised."""
        airframe = airframe_of(vehicle)
        modes = config_of(vehicle).modes
        gains, most = Gains.of(airframe, dt_s, modes.flying), modes.rates
        self._climb = settled(self._climb or first_climb_state(sensed), sticks.throttle, sensed, dt_s)
        wanted = np.array(
            [most.roll_radps * sticks.roll, most.pitch_radps * sticks.pitch, -most.yaw_radps * sticks.yaw]
        )
        torque = rate_torque(airframe, sensed, wanted, gains)
        upright = max(float(sensed.R_wb[2, 2]), math.cos(math.radians(45.0)))
        lift = airframe.weight_N / upright * (1.0 + most.lift_span * sticks.throttle)
        return airframe.allocate(torque * self._climb.spool, lift * self._climb.spool)


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
        modes = config_of(vehicle).modes
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
        modes = config_of(vehicle).modes
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
