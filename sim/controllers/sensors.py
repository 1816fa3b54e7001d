"""What a controller may measure: an inertial unit, satellite positions, a range finder, encoders.

Each has a rate, a delay and noise, which are data of the vehicle (`[sensors]` of its `vehicle.toml`). Noise follows
from a seed alone, so that a run repeats to the bit.
"""

import copy
from collections import deque
from dataclasses import field

import numpy as np

from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.vehicle_config.instruments import SENSORS, Sensing, Sensor
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.form import Support

SEED = 0
STANDARD_GRAVITY = 9.81


@dataclass(frozen=True, slots=True, eq=False)
class Imu:
    """An inertial measurement unit in the body's origin."""

    gyro_b: np.ndarray
    """(3,) angular velocity, body frame [rad/s]."""
    accel_b: np.ndarray
    """(3,) specific force, body frame [m/s^2]: at rest +g along what points up. Mean since the last sample."""
    time_s: float
    """When it was measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Gps:
    """A receiver in the body's origin."""

    x_w: np.ndarray
    """(3,) place in the world [m]."""
    v_w: np.ndarray
    """(3,) velocity in the world [m/s]."""
    time_s: float


@dataclass(frozen=True, slots=True, eq=False)
class RangeFinder:
    """What looks down."""

    distance_m: float
    """Between the vehicle's lowest point and the ground; nan where nothing is in reach."""
    time_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """Of wheels, joints, and what else moves within the vehicle."""

    angles: np.ndarray
    """(n_shape,) shape coordinates; of what has none all numbers of its configuration."""
    time_s: float


@dataclass(slots=True, eq=False)
class Readings:
    """The latest of each sensor that the controller names; None before the first one has come."""

    imu: Imu | None = None
    gps: Gps | None = None
    range_finder: RangeFinder | None = None
    encoder: Encoder | None = None


Reading = Imu | Gps | RangeFinder | Encoder


@dataclass(slots=True)
class _Line:
    """One sensor: what it has measured and not yet reported."""

    data: Sensor
    rng: np.random.Generator
    sample: int = -1
    under_way: deque[tuple[float, Reading]] = field(default_factory=deque)


class SensorSuite:
    """The sensors that a controller names."""

    def __init__(self, where: str, names: object, sensing: Sensing, vehicle: Vehicle) -> None:
        """Raises InputError for names that are none, and for a vehicle that such a sensor has nothing to measure of."""
        if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
            raise InputError(
                f'{where}: sensors = {quote(names)} is refused; allowed: a tuple as ("imu", "gps")'
            )
        for name in names:
            if name not in SENSORS:
                raise InputError(f"{where}: unknown sensor {quote(name)}; allowed: {one_of(SENSORS, name)}")
            if name != "encoder" and not hasattr(vehicle, "group"):
                raise InputError(f"{where}: the {vehicle.name} carries no {name}; allowed: encoder")
        self._names, self._vehicle = tuple(names), vehicle
        self._lines = {
            name: _Line(getattr(sensing, name), np.random.default_rng([SEED, SENSORS.index(name)]))
            for name in self._names
        }
        self._latest = Readings()
        self._before: tuple[float, np.ndarray] | None = None

    def after(self, other: "SensorSuite") -> "SensorSuite":
        """As they go on from those of another controller: the same ones where it names the same."""
        return other if other._names == self._names else self

    def read(self, time_s: float, state: State, clearance_m: float) -> Readings | None:
        """The latest readings at a moment; None where nothing is measured."""
        if not self._names:
            return None
        for name, line in self._lines.items():
            sample = int(np.floor(time_s * line.data.rate_hz + 1e-6))
            if sample != line.sample:
                line.sample = sample
                reading = self._measured(name, line, time_s, state, clearance_m)
                line.under_way.append((time_s + line.data.delay_s, reading))
            while line.under_way and line.under_way[0][0] <= time_s + 1e-9:
                setattr(self._latest, name, line.under_way.popleft()[1])
        return copy.copy(self._latest)

    def _measured(self, name: str, line: _Line, time_s: float, state: State, clearance_m: float) -> Reading:
        def noisy(value: np.ndarray, kind: str) -> np.ndarray:
            return value + line.data.noise.get(kind, 0.0) * line.rng.standard_normal(np.shape(value))

        if name == "encoder":
            angles = state.shape if state.shape.size else state.node[state.layout.pose].copy()
            return Encoder(noisy(angles, "angle"), time_s)
        if name == "range_finder":
            seen = float(noisy(np.array(clearance_m), "distance"))
            return RangeFinder(seen if clearance_m <= line.data.reach_m else float("nan"), time_s)
        T_wb, twist_b = in_space(self._vehicle, state)
        v_w = T_wb[:3, :3] @ twist_b[3:]
        if name == "gps":
            return Gps(noisy(T_wb[:3, 3], "place"), noisy(v_w, "speed"), time_s)
        # What is carried by definition, on ground or water, has its weight there whether its equations know it or not.
        usual = 0.0 if self._vehicle.support is Support.NOTHING else STANDARD_GRAVITY
        gravity = float(np.max(self._vehicle.values.get("gravity", usual)))
        before, self._before = self._before, (time_s, v_w)
        change = np.zeros(3) if before is None else (v_w - before[1]) / (time_s - before[0])
        force_b = T_wb[:3, :3].T @ (change + np.array([0.0, 0.0, gravity]))
        return Imu(noisy(twist_b[:3], "gyro"), noisy(force_b, "accel"), time_s)


def in_space(vehicle: Vehicle, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(4, 4) pose and (6,) body twist (omega, v) of a vehicle on any group."""
    pose, group = state.pose, vehicle.group
    T_wb = np.eye(4)
    n = 2 if group.turns == 1 else 3
    T_wb[:n, :n] = pose[:n, :n]
    if pose.shape[0] == n + 1:
        T_wb[:n, 3] = pose[:n, n]
    return T_wb, group.twist_embedding @ state.velocity
