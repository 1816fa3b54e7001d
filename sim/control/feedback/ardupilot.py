"""ArduPilot at the stick: its JSON interface for simulators, spoken over UDP, in lockstep by its frames.

ArduPilot sends pulses of its servo outputs, packets of whole numbers in little-endian order; the answer is a line of
JSON with what an inertial unit measures and where the vehicle is, in its frames: north, east, down, and a body with
forward, right, down. Here x is north and y west. Written after the description in ArduPilot's documentation
(examples/JSON of its simulator); tried against a stand-in that speaks the protocol, not against the firmware.
"""

import math
import socket
import struct
import time
from typing import Any

import numpy as np

from sim.controllers import Controller, PilotInput
from sim.controllers.sensors import SensorSuite, in_space
from sim.groups.numeric import quaternion_of
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicle_config import config_of, named_values
from sim.vehicle_config.config import Servo
from sim.vehicles import State, Vehicle

PORT, INSTANCES, PER_INSTANCE = 9002, 100, 10
MAGIC = {18458: 16, 29569: 32}
"""First number of a packet -> how many channels follow."""
LONGEST_STEP_S = 0.1
"""What ArduPilot takes for a step of time, and not for a pause."""
_HEAD = struct.Struct("<HHI")
_FLIP = np.array([1.0, -1.0, -1.0])
"""Of vectors, from x, y left, z up to x, y right, z down; the same way back."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What ArduPilot wants of its outputs."""

    rate_hz: int
    count: int
    pwm_us: tuple[int, ...]


def read_frame(data: bytes) -> Frame | None:
    """Of a packet; None for what is none."""
    if len(data) < _HEAD.size:
        return None
    magic, rate_hz, count = _HEAD.unpack_from(data)
    channels = MAGIC.get(magic)
    if channels is None or len(data) != _HEAD.size + 2 * channels:
        return None
    return Frame(rate_hz, count, struct.unpack_from(f"<{channels}H", data, _HEAD.size))


def told(
    time_s: float, T_wb: np.ndarray, twist_b: np.ndarray, gyro_b: np.ndarray, accel_b: np.ndarray
) -> bytes:
    """The answer, in ArduPilot's frames; a reader that looks for names finds each of them once.

    T_wb (4, 4), twist_b (6,) (omega, v), gyro_b [rad/s] and accel_b, specific force [m/s^2], in the frames here.
    """
    w, x, y, z = quaternion_of(T_wb[:3, :3])
    velocity = _FLIP * (T_wb[:3, :3] @ twist_b[3:])
    parts = (
        f'"timestamp":{_number(time_s)}',
        f'"imu":{{"gyro":{_numbers(_FLIP * gyro_b)},"accel_body":{_numbers(_FLIP * accel_b)}}}',
        f'"position":{_numbers(_FLIP * T_wb[:3, 3])}',
        f'"quaternion":{_numbers((w, x, -y, -z))}',
        f'"velocity":{_numbers(velocity)}',
    )
    return f"\n{{{','.join(parts)}}}\n".encode("ascii")


def _numbers(values: Any) -> str:
    return f"[{','.join(map(_number, values))}]"


def _number(value: float) -> str:
    return f"{value + 0.0:.9f}"


class Link:
    """The socket, and where the exchange of frames stands. Copies of a flight share it: ArduPilot has one vehicle."""

    def __init__(self, port: int) -> None:
        """Raises InputError where the port is taken."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as error:
            self._socket.close()
            raise InputError(f"ardupilot: port {port} is refused: {error.strerror or error}") from None
        self._peer: Any = None
        self._last: Frame | None = None
        self._answer = b""
        self._clock_s, self._time_s = 0.0, math.nan

    def __deepcopy__(self, memo: object) -> "Link":
        return self

    @property
    def waits(self) -> bool:
        """Nobody has called yet."""
        return self._peer is None

    def exchange(self, time_s: float, answer: Any, patience_s: float) -> Frame | None:
        """Answer the last frame and wait for the next one; None where none has come in that time.

        answer: of ArduPilot's clock, which only goes on, the line that is sent.
        """
        passed = time_s - self._time_s
        # The flight may have gone back in time; ArduPilot's clock must not.
        self._clock_s += (
            passed if 0.0 < passed < LONGEST_STEP_S else 0.0025 if self._time_s == self._time_s else 0.0
        )
        self._time_s = time_s
        if self._last is not None:
            self._answer = answer(self._clock_s)
            self._send()
        end_s = time.monotonic() + patience_s
        while True:
            left_s = end_s - time.monotonic()
            if left_s <= 0.0:
                return None
            self._socket.settimeout(left_s)
            try:
                data, peer = self._socket.recvfrom(2048)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError:
                continue  # the other side has closed; another may come
            frame = read_frame(data)
            if frame is None:
                continue
            self._peer = peer
            if self._last is not None and frame.count == self._last.count:
                self._send()  # our answer was lost
                continue
            self._last = frame  # a lower number: ArduPilot has begun anew
            return frame

    def _send(self) -> None:
        if self._answer:
            try:
                self._socket.sendto(self._answer, self._peer)
            except OSError:
                return  # as if it had been lost on its way


@dataclass(eq=False)
class Memory:
    """Of a flight."""

    vehicle: Vehicle
    link: Link
    servos: tuple[Servo, ...]
    sensors: SensorSuite
    controls: np.ndarray


class ArduPilot(Controller):
    """The firmware ArduPilot flies, which runs beside this: `sim_vehicle.py --model JSON`.

    Until it calls, and while it is silent for longer than `patience_s`, the controls are held.
    """

    rate_hz = 400.0
    instance = 0
    """ArduPilot's: its port is 9002 + 10 * instance."""
    patience_s = 0.5
    """Wall time for which a frame is waited for; before the first one not at all, so that a window stays alive."""
    first_s = 0.0
    """The same before the first frame, for scripts."""

    def start(self, vehicle: Vehicle, state: State) -> Memory:
        """Raises InputError for a vehicle without `[pwm]`, and where the port is taken."""
        servos = config_of(vehicle).servos
        if not servos:
            raise InputError(
                f"ardupilot: the {vehicle.name} has no [pwm] in its vehicle.toml; allowed: what has"
            )
        if not 0 <= self.instance < INSTANCES:
            raise InputError(
                f"ardupilot: instance = {self.instance} is refused; allowed: 0 to {INSTANCES - 1}"
            )
        sensors = SensorSuite("ardupilot", ("imu",), config_of(vehicle).sensors, vehicle)
        link = Link(PORT + PER_INSTANCE * self.instance)
        return Memory(vehicle, link, servos, sensors, vehicle.neutral_controls)

    def control(self, t: float, state: State, sticks: PilotInput, memory: Memory) -> np.ndarray:
        """(n_controls,)"""
        measured = memory.sensors.read(t, state, math.inf)
        T_wb, twist_b = in_space(memory.vehicle, state)
        imu = None if measured is None else measured.imu
        gyro_b = twist_b[:3] if imu is None else imu.gyro_b
        accel_b = T_wb[2, :3] * 9.81 if imu is None else imu.accel_b

        def answer(clock_s: float) -> bytes:
            return told(clock_s, T_wb, twist_b, gyro_b, accel_b)

        patience_s = self.first_s if memory.link.waits else self.patience_s
        frame = memory.link.exchange(t, answer, max(patience_s, 1e-4))
        if frame is None:
            return memory.controls
        values = named_values(
            memory.vehicle, shape=state.shape, parameters=memory.vehicle.values, finite=True
        )
        controls = memory.controls.copy()
        for k, control in enumerate(memory.vehicle.controls):
            servo = next((servo for servo in memory.servos if servo.control == control.name), None)
            if servo is not None:
                value = servo.value(frame.pwm_us, values)
                controls[k] = control.neutral if value is None else value
        used = sorted({channel for servo in memory.servos for channel, _ in servo.weights})
        for channel in used:
            self.plot(f"pwm_{channel}", float(frame.pwm_us[channel - 1]), "us")
        memory.controls = controls
        return controls
