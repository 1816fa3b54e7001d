"""Autopilots of what spins, rolls or swings: attitude hold, a calmed top, a disc round a circle, pendula swung up."""

import math

import numpy as np

from sim.control.airframe import scalar, wrench_effect
from sim.control.pilot import Automatic, Mission, Sensed
from sim.controllers import PilotInput
from sim.groups.numeric import rotation_exp, rotation_log, skew
from sim.vehicles import Vehicle

STOP_PER_S = 2.0
"""Bandwidth of the loop of turn rates; that of the attitude is a third."""
CAUGHT_RADPS = 0.03
"""Turning slower than this, the attitude is held ..."""
LOST_RADPS = 1.5
"""... until something makes it turn faster than this."""


class SteadyPilot(Automatic):
    """Serves bodies whose controls make torques linearly. Forces are left alone."""

    def __init__(self, mission: Mission) -> None:
        del mission
        self._held_R_wb: np.ndarray | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) neutral, but for what makes the torque."""
        rate = min(STOP_PER_S, 0.4 / dt_s)
        inertia = np.asarray(vehicle.values["inertia"], float)
        omega = sensed.omega_b
        turning = float(np.linalg.norm(omega))
        if turning > LOST_RADPS:
            self._held_R_wb = None
        elif self._held_R_wb is None and turning < CAUGHT_RADPS:
            self._held_R_wb = sensed.R_wb.copy()
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        torques = wrench_effect(vehicle)[:3]
        if self._held_R_wb is None:
            torque = -rate * inertia * omega
        else:
            error = rotation_log(sensed.R_wb.T @ self._held_R_wb)
            authority = np.abs(torques) @ np.minimum(high, -low).clip(0.0) / inertia
            stoppable = np.sqrt(authority * np.abs(error))
            wanted = np.clip(rate / 3.0 * error, -stoppable, stoppable)
            torque = rate * inertia * (wanted - omega) + skew(omega) @ (inertia * omega)
        by_torque = np.linalg.pinv(torques) @ torque
        return np.clip(vehicle.neutral_controls + by_torque, low, high)


CALM_PER_S = 1.5
"""By which nodding is damped, of a body that does not spin."""
UPRIGHT = 1e-3
"""Sine of the lean below which no direction is across it; then all turning but the spin is damped."""


class CalmTopPilot(Automatic):
    """Serves bodies about a fixed point with an `arm` and an `inertia`, whose controls are torques."""

    def __init__(self, mission: Mission) -> None:
        del mission

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(3,) torques about the body's axes [N m], within their ranges."""
        arm_b = np.asarray(vehicle.values["arm"], float)
        inertia = np.asarray(vehicle.values["inertia"], float)
        rate = min(CALM_PER_S, 0.4 / dt_s)
        axis_b = arm_b / max(float(np.linalg.norm(arm_b)), 1e-12)
        across_b = np.cross(sensed.R_wb[2], axis_b)
        sine = float(np.linalg.norm(across_b))
        spin_radps = float(axis_b @ sensed.omega_b)
        omega_b = sensed.omega_b - axis_b * spin_radps
        if sine > UPRIGHT:
            across_b = across_b / sine
            omega_b = across_b * (across_b @ omega_b)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        # The top turns on while the torque is held: it points as it should halfway.
        onward = rotation_exp(-0.5 * dt_s * spin_radps * axis_b)
        return np.clip(onward @ (-rate * inertia * omega_b), low, high)


SPEED_MPS, CIRCLE_M = 4.0, 8.0
LEAN_PER_S, TURN_PER_S, ROLL_PER_S = 6.0, 2.0, 1.0
"""Bandwidths of the rate of the lean, of the turn rate by it, and of the speed."""
_MOST_RADPS = 0.8
"""Of the lean."""
_SLOW_RADPS = 1.0
"""Rolling slower than about this it is set upright instead: its turns do not follow the lean."""


class RollRoundPilot(Automatic):
    """Serves a disc whose shape is lean and roll, with a torque for each. To the left, wherever it is."""

    def __init__(self, mission: Mission) -> None:
        del mission

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque of the lean, torque of the roll) [N m]."""
        mass, radius, axial, across, gravity = (
            scalar(vehicle.values[name])
            for name in ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity")
        )
        at, node = vehicle.node_layout, sensed.node
        lean, (lean_rate, roll_rate) = float(node[at.shape][0]), node[at.shape_velocity]
        turn, speed = float(node[at.velocity][0]), radius * float(roll_rate)
        sine, cosine = math.sin(lean), math.cos(lean)
        by_lean = axial / across * float(roll_rate)
        slow = (axial / across * _SLOW_RADPS) ** 2
        share = by_lean / (by_lean**2 + slow)
        wanted = -TURN_PER_S * (speed / CIRCLE_M - turn) * share
        wanted -= TURN_PER_S * lean * (slow / (by_lean**2 + slow)) ** 2
        wanted = min(max(wanted, -_MOST_RADPS), _MOST_RADPS)
        free = mass * radius * (gravity * sine + cosine * turn * (speed + radius * sine * turn))
        free += cosine * turn * (axial * (float(roll_rate) + sine * turn) - across * sine * turn)
        inertia = mass * radius**2 + across
        rate = min(LEAN_PER_S, 0.4 / dt_s)
        leaning = inertia * rate * (wanted - float(lean_rate)) - free
        rolling = (mass * radius**2 + axial) * ROLL_PER_S * (SPEED_MPS - speed) / radius
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip([leaning, rolling], low, high)


_UP = np.array([0.0, 0.0, 1.0])
_NUDGE = 0.5
"""Share of the motors that begins the swing of a rod that hangs still ..."""
_STILL = 0.01
"""... which has less than this share of the energy that leads from hanging to standing."""
_PUMP = 1.0
"""Moment by missing energy and turn rate, in units of 1/sqrt(g/length) ..."""
_OUT_RATE, _STAND_RATE = 1.5, 1.5
"""... and bandwidths of what keeps it in the plane and of what keeps it up, in units of sqrt(g/length)."""
_CAUGHT = 0.8
"""Share of the motors with which standing must be done with when it begins; it ends where they cannot do it."""
_LEAN_COS = 0.8
"""It stands only within this of upright."""
_LEAST_GRAVITY_MPS2 = 0.1
"""Paces are those of at least so much, that there are some without gravity."""


class SwingUpPilot(Automatic):
    """Serves rods in a chain whose state is a direction and a turn rate each; remembers the plane it swings in."""

    def __init__(self, mission: Mission) -> None:
        del mission
        self._normal: np.ndarray | None = None
        """(3,) level unit vector: of the plane in which it is swung."""
        self._stands = False

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(2,) pushes [N] on the last bob or moments [N m] on the first rod along world x and y."""
        rods = sensed.node.reshape(-1, 2, 3)
        masses, lengths = (np.ravel(np.asarray(vehicle.values[name], float)) for name in ("mass", "length"))
        gravity = float(np.asarray(vehicle.values["gravity"]))
        if not vehicle.counts["pivot_motor"]:
            moving = np.cross(rods[:, 1], rods[:, 0]).T @ lengths  # of the last bob, in the world
            rate = min(_pace(gravity, float(lengths[-1])), 0.4 / dt_s)
            wanted = -masses[-1] * rate * moving
        elif len(rods) > 1:
            rate = min(_pace(gravity, float(lengths.sum())), 0.4 / dt_s)
            wanted = -masses[0] * lengths[0] ** 2 * rate * rods[0, 1]
        else:
            most = min(control.high for control in vehicle.controls)
            wanted = self._swung(rods[0], float(masses[0]), float(lengths[0]), gravity, most)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted[:2], low, high)

    def _swung(self, rod: np.ndarray, mass: float, length: float, gravity: float, most: float) -> np.ndarray:
        """(3,) moment [N m], level: of what stands, or comes to stand."""
        direction, turning = rod
        inertia, lift = mass * length**2, mass * gravity * length
        pace = _pace(gravity, length)
        stand = lift + inertia * (_STAND_RATE * pace) ** 2
        upright = stand * np.cross(direction, _UP) - 2.0 * inertia * _STAND_RATE * pace * turning
        needed = math.hypot(upright[0], upright[1])
        self._stands = direction[2] > _LEAN_COS and needed < most * (1.0 if self._stands else _CAUGHT)
        if self._stands:
            return upright
        normal = self._plane(direction, turning)
        swing = float(turning @ normal)
        missing = 2.0 * lift - (0.5 * inertia * float(turning @ turning) + lift * (1.0 + direction[2]))
        still = missing > 2.0 * (1.0 - _STILL) * lift
        pump = _NUDGE * most if still else min(max(_PUMP / pace * missing * swing, -most), most)
        out, out_rate = float(direction @ normal), float(np.cross(turning, direction) @ normal)
        rate = _OUT_RATE * pace
        back = -direction[2] * inertia * (rate**2 * out + 2.0 * rate * out_rate)
        back = min(max(back, -most), most)
        return pump * normal + back * np.cross(_UP, normal)

    def _plane(self, direction: np.ndarray, turning: np.ndarray) -> np.ndarray:
        """That of the motion when it begins, as far as it is level."""
        if self._normal is None:
            level = np.array([turning[0], turning[1], 0.0])
            size = float(np.linalg.norm(level))
            self._normal = level / size if size > 1e-6 else np.array([0.0, 1.0, 0.0])
        return self._normal


def _pace(gravity: float, length: float) -> float:
    """sqrt(g/length) [rad/s]."""
    return math.sqrt(max(gravity, _LEAST_GRAVITY_MPS2) / length)
