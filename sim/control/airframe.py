"""A flying machine that lifts along its body z, as its controllers see it: what all kinds of it have."""

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Protocol, runtime_checkable

import casadi as ca
import numpy as np

from sim.groups.numeric import skew
from sim.platform.values import dataclass
from sim.vehicle_config.modes import lift_tilts
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure

DAMPING = 0.35
"""Of the swing, as a share of the critical one."""


@runtime_checkable
class Hanging(Protocol):
    """What a vehicle reports of a load that hangs from it, beside `Vehicle.hanging_kg`."""

    @property
    def hangs_from_m(self) -> float:
        """Length from the hook to the load."""

    def load_off_hook(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) way from hook to load [m] and its rate of change [m/s], in the world, of a flat node."""


@lru_cache(maxsize=64)
def swing_radps(vehicle: Vehicle) -> float:
    """Of what hangs from it, small swings; endless where nothing does: w^2 = g/L (1 + m/M)."""
    if not isinstance(vehicle, Hanging):
        return math.inf
    gravity, mass = (float(np.max(vehicle.values[name])) for name in ("gravity", "mass"))
    return math.sqrt(gravity / vehicle.hangs_from_m * (1.0 + vehicle.hanging_kg / mass))


LIFT_WEIGHTS = 2.2
"""Most lift the flight modes ask for, in weights."""


def scalar(value: float | tuple[float, ...]) -> float:
    """A parameter value that is one number."""
    return float(value) if isinstance(value, (int, float)) else float(value[0])


@dataclass(frozen=True, slots=True)
class Airframe(ABC):
    """The parameters that matter to controllers; subclasses say which controls make a wanted torque and lift."""

    mass_kg: float
    inertia: np.ndarray
    """(3,) principal moments [kg m^2]."""
    gravity: float
    drag: float
    """Force per squared speed [kg/m]."""
    low: np.ndarray
    """(n_controls,) lower ends of the controls that the flight modes use."""
    high: np.ndarray

    @property
    def weight_N(self) -> float:
        return self.mass_kg * self.gravity

    @property
    def reversal(self) -> float:
        """Rate [1/s] above which turning pushes it the wrong way first; endless where it does not."""
        return math.inf

    def drag_acceleration(self, v_w: np.ndarray) -> np.ndarray:
        """(3,) acceleration [m/s^2] that makes up for drag in still air."""
        return self.drag / self.mass_kg * math.sqrt(float(v_w @ v_w)) * v_w

    @property
    def swing_radps(self) -> float:
        """Of what hangs from it; endless where nothing does."""
        return math.inf

    @abstractmethod
    def angular_authority(self) -> np.ndarray:
        """(3,) angular acceleration [rad/s^2] that half the control throws can make in a hover."""

    def gyroscopic_torque(self, omega_b: np.ndarray) -> np.ndarray:
        """(3,) torque [N m] that keeps the body rate constant."""
        torque: np.ndarray = skew(omega_b) @ (self.inertia * omega_b)
        return torque

    @abstractmethod
    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Controls (n_controls,) with this torque [N m] and this force along body z [N], within the ranges."""


def wrench_effect(vehicle: Vehicle) -> np.ndarray:
    """(6, n_controls) torque [N m] and force [N] in the body frame per unit of each control; not to be written to."""
    return _effect(Structure.of(vehicle), vehicle.parameter_vector.tobytes())


@lru_cache(maxsize=64)
def _effect(structure: Structure, numbers: bytes) -> np.ndarray:
    vehicle = structure.vehicle
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX(np.frombuffer(numbers))
    wrench = vehicle.control_wrench(u, vehicle.symbols(p))
    return np.array(ca.evalf(ca.densify(ca.jacobian(wrench, u))))


_TORQUE_AND_LIFT = (0, 1, 2, 5)
"""Components of a wrench."""


@dataclass(frozen=True, slots=True)
class FixedRotors(Airframe):
    """Torque and lift are `effect @ controls`."""

    effect: np.ndarray
    """(4, n_controls) torque about x, y, z [N m] and force along z [N]."""
    inverse: np.ndarray
    """(n_controls, 4) its pseudoinverse."""

    @classmethod
    def of(cls, vehicle: Vehicle) -> "FixedRotors":
        """Read off a vehicle's own wrench."""
        values = vehicle.values
        mass_kg, gravity = scalar(values["mass"]), scalar(values["gravity"])
        effect = wrench_effect(vehicle)[list(_TORQUE_AND_LIFT)]
        most = LIFT_WEIGHTS * mass_kg * max(gravity, 1.0) / max(float(effect[3].sum()), 1e-9)
        return cls(
            mass_kg=mass_kg,
            inertia=np.asarray(values["inertia"], float),
            gravity=gravity,
            drag=0.0,
            low=np.array([control.low for control in vehicle.controls]),
            high=np.minimum([control.high for control in vehicle.controls], most),
            effect=effect,
            inverse=np.linalg.pinv(effect),
        )

    def angular_authority(self) -> np.ndarray:
        """About a hover, where the rotors share the weight."""
        hover = self.weight_N / max(float(self.effect[3].sum()), 1e-9)
        room = np.minimum(self.high - hover, hover - self.low).clip(1e-6)
        torque: np.ndarray = 0.5 * np.abs(self.effect[:3]) @ room
        return torque / self.inertia

    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Where a range ends turning about the lift gives way first, then lift, then roll and pitch."""
        inverse = self.inverse
        tilting = inverse @ np.array([torque_b[0], torque_b[1], 0.0, lift_N])
        turning = inverse[:, 2] * torque_b[2]
        controls = tilting + _share(tilting, turning, self.low, self.high) * turning
        over, under = float((controls - self.high).max()), float((self.low - controls).max())
        return np.clip(controls + (-over if over > 0.0 else max(under, 0.0)), self.low, self.high)


def _share(begin: np.ndarray, way: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """How much of a way stays within the ranges, 0..1."""
    room = np.where(way > 0.0, high - begin, begin - low).clip(0.0)
    return float(np.min(room / np.maximum(np.abs(way), 1e-9), initial=1.0))


TAIL_WEIGHTS = 0.12
CYCLIC_RAD = 0.3


@dataclass(frozen=True, slots=True)
class TiltedLift(Airframe):
    """Controls (u_c, u_psi, gamma_p, gamma_r)."""

    rotor_offset_m: float
    tail_offset_m: float
    rotor_momentum: float
    """Spin momentum of the rotor along body z [kg m^2/s]."""
    swing_radps: float = math.inf

    @classmethod
    def of(cls, vehicle: Vehicle) -> "TiltedLift":
        """Read off a vehicle's parameters and control ranges."""
        values = vehicle.values
        mass_kg, gravity = scalar(values["mass"]) + vehicle.hanging_kg, scalar(values["gravity"])
        size_N = mass_kg * max(gravity, 1.0)
        throws = np.array([LIFT_WEIGHTS * size_N, TAIL_WEIGHTS * size_N, CYCLIC_RAD, CYCLIC_RAD])
        return cls(
            mass_kg=mass_kg,
            inertia=np.asarray(values["inertia"], float),
            rotor_offset_m=max(scalar(values["rotor_offset"]), 1e-3),
            tail_offset_m=max(scalar(values["tail_offset"]), 1e-3),
            rotor_momentum=scalar(values.get("rotor_momentum", 0.0)),
            drag=scalar(values.get("drag", 0.0)),
            gravity=gravity,
            swing_radps=swing_radps(vehicle),
            low=np.maximum([control.low for control in vehicle.controls], -throws),
            high=np.minimum([control.high for control in vehicle.controls], throws),
        )

    @property
    def reversal(self) -> float:
        """Tilting the rotor to turn the body first pushes it the wrong way: sqrt(m g d_t / J), that response's zero."""
        lever = self.weight_N * self.rotor_offset_m
        return math.sqrt(max(lever, 1e-9) / max(float(self.inertia[0]), float(self.inertia[1])))

    def angular_authority(self) -> np.ndarray:
        """(3,) angular acceleration [rad/s^2] that half the control throws can make in a hover."""
        lever = self.rotor_offset_m * float(self.high[0]) / LIFT_WEIGHTS
        roll = lever * math.sin(0.5 * float(self.high[3]))
        pitch = lever * math.sin(0.5 * float(self.high[2]))
        yaw = self.tail_offset_m * 0.5 * float(self.high[1])
        return np.array([roll, pitch, yaw]) / self.inertia

    def gyroscopic_torque(self, omega_b: np.ndarray) -> np.ndarray:
        """(3,) torque [N m] that keeps the body rate constant: omega x (J omega + spin)."""
        momentum = self.inertia * omega_b
        momentum[2] += self.rotor_momentum
        torque: np.ndarray = skew(omega_b) @ momentum
        return torque

    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Controls (4,) with this torque [N m] and this force along body z [N], within the ranges.

        Where the range of the cyclic ends, lift is kept and torque is given up.
        """
        along_x = float(torque_b[1]) / self.rotor_offset_m
        along_y = -float(torque_b[0]) / self.rotor_offset_m
        # Below a quarter of the weight the disc would have to tilt without bound.
        along_z = max(lift_N, 0.25 * self.weight_N, 1e-9)
        controls = np.empty(4)
        pitch = math.atan2(along_x, along_z)
        roll = -math.atan2(along_y, math.hypot(along_x, along_z))
        controls[2] = min(max(pitch, float(self.low[2])), float(self.high[2]))
        controls[3] = min(max(roll, float(self.low[3])), float(self.high[3]))
        controls[0] = lift_N / (math.cos(controls[2]) * math.cos(controls[3]))
        controls[1] = float(torque_b[2]) / self.tail_offset_m
        return np.clip(controls, self.low, self.high)


@lru_cache(maxsize=64)
def airframe_of(vehicle: Vehicle) -> Airframe:
    """By what its controls are: a lift that tilts, or what makes a wrench linearly. Not to be written to."""
    return (TiltedLift if lift_tilts(vehicle) else FixedRotors).of(vehicle)
