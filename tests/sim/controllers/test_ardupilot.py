"""ArduPilot beside this program: a stand-in that speaks its protocol flies in lockstep, and bad packets do no harm."""

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import app
import sim
from sim.control.feedback import ArduPilot
from sim.control.feedback.ardupilot import MAGIC, read_frame, told
from sim.platform.errors import InputError
from sim.recordings import Take

CENTRE = (1500,) * 16


def packet(count: int, pwm: tuple[int, ...], *, magic: int = 18458, rate_hz: int = 400) -> bytes:
    return struct.pack(f"<HHI{MAGIC[magic]}H", magic, rate_hz, count, *pwm, *(0,) * (MAGIC[magic] - len(pwm)))


class StandIn:
    """Sends a frame, waits for the answer, sends the next one; what it was told is kept."""

    def __init__(self, port: int, fly: Callable[[int, dict], tuple[int, ...]], *, magic: int = 18458) -> None:
        self._to, self._fly, self._magic = ("127.0.0.1", port), fly, magic
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.3)
        self.heard: list[dict] = []
        self.repeats = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        count, pwm = 0, self._fly(0, {})
        while not self._over.is_set():
            self.socket.sendto(packet(count, pwm, magic=self._magic), self._to)
            try:
                line = self.socket.recv(4096)
            except OSError:
                self.repeats += 1  # nobody there yet, or lost: the same frame again
                time.sleep(0.005)
                continue
            assert line.startswith(b"\n{")
            assert line.endswith(b"}\n")
            assert b" " not in line
            answer = json.loads(line)
            if self.heard and answer["timestamp"] <= self.heard[-1]["timestamp"]:
                continue  # the answer to a repeat
            self.heard.append(answer)
            count += 1
            pwm = self._fly(count, self.heard[-1])

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.socket.close()


@contextmanager
def beside(
    fly: Callable[[int, dict], tuple[int, ...]], *, magic: int = 18458
) -> Iterator[tuple[type[ArduPilot], StandIn]]:
    """A controller class with a port of its own, and the stand-in that calls it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        number = next(k for k in range(40, 99) if _free(9002 + 10 * k))
        free.close()

    class Beside(ArduPilot):
        instance, first_s, patience_s = number, 20.0, 20.0

    stand_in = StandIn(9002 + 10 * number, fly, magic=magic)
    stand_in._thread.start()
    try:
        yield Beside, stand_in
    finally:
        stand_in.close()


def _free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        try:
            plug.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def test_what_is_told_is_in_north_east_down_and_forward_right_down() -> None:
    """By an independent way: whole matrices of both changes of frame."""
    rng = np.random.default_rng(3)
    flip = np.diag([1.0, -1.0, -1.0])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=5).as_matrix(), rng.normal(size=3)
    twist, gyro, accel = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    line = json.loads(told(1.25, T, twist, gyro, accel))
    w, x, y, z = line["quaternion"]
    R = flip @ T[:3, :3] @ flip
    assert np.abs(Rotation.from_quat([x, y, z, w]).as_matrix() - R).max() < 1e-8
    np.testing.assert_allclose(line["position"], flip @ T[:3, 3], atol=1e-9)
    np.testing.assert_allclose(line["velocity"], R @ flip @ twist[3:], atol=1e-8)
    np.testing.assert_allclose(line["imu"]["gyro"], flip @ gyro, atol=1e-9)
    np.testing.assert_allclose(line["imu"]["accel_body"], flip @ accel, atol=1e-9)
    assert line["timestamp"] == 1.25


WANTED = {
    "timestamp": ("", 1), "gyro": ("imu", 3), "accel_body": ("imu", 3), "position": ("", 3),
    "quaternion": ("", 4), "velocity": ("", 3),
}  # fmt: skip
"""Name -> under which other name it is looked for, and how many numbers stand there."""


@pytest.mark.parametrize("seed", range(20))
def test_who_searches_for_names_finds_what_a_parser_finds(seed: int) -> None:
    """The firmware has no parser of JSON: it takes the first place where the letters of a name stand, after those of
    the name above it, skips the quotation mark and the colon, and reads numbers as C does, which ends at a NaN."""
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = (
        Rotation.random(random_state=seed).as_matrix(),
        rng.normal(size=3) * 10.0 ** rng.integers(-9, 6),
    )
    line = told(
        float(rng.uniform(0.0, 1e5)),
        T,
        rng.normal(size=6),
        rng.normal(size=3) * 1e-12,
        rng.normal(size=3) * 1e3,
    ).decode("ascii")
    assert (line[0], line[-1], line.count("\n")) == ("\n", "\n", 2)
    parsed = json.loads(line)
    for name, (above, count) in WANTED.items():
        start = line.index(above) + len(above) + 1
        rest = line[line.index(name, start) + len(name) :]
        assert rest.startswith('":')
        numbers = re.match(r"\[?(-?[0-9.]+(?:,-?[0-9.]+)*)[\],]", rest[2:])
        assert numbers is not None
        found = [float(number) for number in numbers[1].split(",")][:count]
        owner = parsed[above] if above else parsed
        assert found == np.ravel(owner[name]).tolist()


def test_bytes_are_those_of_the_protocol() -> None:
    """Written down by hand from its description: little-endian, 40 bytes of 16 channels, 72 of 32; a line of JSON."""
    head, pulses = "1a48 9001 2a000000", "dc05 e803 d007 0000"
    short = bytes.fromhex(head + pulses * 4)
    long = bytes.fromhex("8173" + head[4:] + pulses * 8)
    assert (len(short), len(long)) == (40, 72)
    for data, channels in ((short, 16), (long, 32)):
        frame = read_frame(data)
        assert frame is not None
        assert (frame.rate_hz, frame.count) == (400, 42)
        assert frame.pwm_us == (1500, 1000, 2000, 0) * (channels // 4)
        assert read_frame(data[:-1]) is None
        assert read_frame(data + b"\0") is None
    east, west_up = np.eye(4), np.zeros(6)
    east[:3, :3] = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # its nose to the east, y is west
    east[:3, 3], west_up[3:] = (1.0, 2.0, 3.0), (0.0, 0.0, 0.5)
    line = told(0.0025, east, west_up, np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 9.81]))
    assert line == (
        b'\n{"timestamp":0.002500000,"imu":{"gyro":[0.100000000,-0.200000000,-0.300000000],'
        b'"accel_body":[0.000000000,0.000000000,-9.810000000]},'
        b'"position":[1.000000000,-2.000000000,-3.000000000],'
        b'"quaternion":[0.707106781,0.000000000,0.000000000,0.707106781],'
        b'"velocity":[0.000000000,0.000000000,-0.500000000]}\n'
    )


def hovering(mass: float = 1.0) -> Callable[[int, dict], tuple[int, ...]]:
    """A stand-in's autopilot of a quadrotor: holds 3 m of height by what it is told, in its own frames."""

    def fly(count: int, seen: dict) -> tuple[int, ...]:
        if not seen:
            return CENTRE
        down, sinking = seen["position"][2], seen["velocity"][2]
        w, x, y, z = seen["quaternion"]
        roll, pitch = 2.0 * (w * x + y * z), 2.0 * (w * y - z * x)
        p, q, r = seen["imu"]["gyro"]
        lift = 1500 + 150 * (down + 3.0) + 120 * sinking
        a, b, c = -120 * roll - 20 * p, -120 * pitch - 20 * q, -30 * r
        mix = [
            (-a + b + c),
            (a - b + c),
            (a + b - c),
            (-a - b - c),
        ]  # front right, rear left, front left, rear right
        return tuple(int(np.clip(lift + part, 1000, 2000)) for part in mix)

    return fly


@pytest.mark.parametrize("magic", MAGIC)
def test_a_stand_in_holds_a_quadrotor_in_the_air_in_lockstep(magic: int) -> None:
    vehicle = sim.vehicle("quadrotor")
    start = vehicle.state(x=(1.0, -2.0, 2.5), R=Rotation.from_euler("xyz", [0.15, -0.1, 0.3]).as_matrix())
    with beside(hovering(), magic=magic) as (controller, stand_in):
        run = sim.simulate(vehicle, step=0.0025, duration=4.0, initial=start, controller=controller)
    assert run.diverged_at is None
    assert abs(run.pose[-1, 2, 3] - 3.0) < 0.1  # 0.01
    assert run.pose[-1, 2, 2] > 0.999
    stamps = np.array([seen["timestamp"] for seen in stand_in.heard])
    assert (
        len(stamps) == len(run.controls) - 1
    )  # a frame a step: the first has no answer yet, the last awaits none
    np.testing.assert_allclose(np.diff(stamps), 0.0025, atol=1e-9)
    noise = (
        np.array([seen["imu"]["gyro"][0] for seen in stand_in.heard]) - run.velocity[1 : 1 + len(stamps), 0]
    )
    assert 5e-4 < noise.std() < 8e-3  # the vehicle's imu has 0.002 rad/s
    again = sim.simulate(vehicle, step=0.0025, duration=4.0, initial=start, controls=run.controls)
    np.testing.assert_array_equal(again.nodes, run.nodes)  # without it, to the bit
    take = Take.of_trajectory(run)
    assert take.segments[0].controls.shape[1] == 4


@pytest.mark.parametrize(
    "name, pwm, seen",
    [
        ("boat", {1: 2000, 3: 1000}, {"u_left": 150.0, "u_right": -75.0}),
        ("boat", {1: 1500, 3: 0}, {"u_left": 0.0, "u_right": 0.0}),
        ("car", {1: 1500, 3: 1750}, {"f_psi": 1500.0, "u_sigma": 0.0}),
        ("car", {1: 2000, 3: 1500}, {"f_psi": 0.0, "u_sigma": -4.0}),
        ("helicopter", {1: 1750, 2: 1250, 3: 1500, 4: 1500}, {"gamma_r": 0.1, "gamma_p": 0.1, "u_c": 49.05}),
    ],
)
def test_channels_do_what_the_vehicles_file_says(name: str, pwm: dict, seen: dict) -> None:
    pulses = list(CENTRE)
    for channel, pulse in pwm.items():
        pulses[channel - 1] = pulse
    with beside(lambda count, heard: tuple(pulses)) as (controller, _):
        vehicle = sim.vehicle(name)
        run = sim.simulate(vehicle, step=0.01, duration=0.02, controller=controller)
    names = [control.name for control in vehicle.controls]
    for control, value in seen.items():
        assert run.controls[0, names.index(control)] == pytest.approx(value, abs=1e-9), control


def test_what_stands_on_the_ground_feels_its_weight() -> None:
    with beside(lambda count, heard: CENTRE) as (controller, stand_in):
        sim.simulate("car", step=0.01, duration=0.3, controller=controller)
        accel = np.mean([seen["imu"]["accel_body"] for seen in stand_in.heard], axis=0)
    np.testing.assert_allclose(accel, [0.0, 0.0, -9.81], atol=0.1)


def test_loss_repeats_strange_bytes_and_a_restart_change_nothing() -> None:
    """Of ten packets some are lost, some come twice, some are not ArduPilot's, and then it begins anew."""
    rng = np.random.default_rng(8)

    def fly(count: int, heard: dict) -> tuple[int, ...]:
        return (1500 + count % 100,) * 16

    with beside(fly) as (controller, _):
        stop = threading.Event()

        def noise() -> None:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
                while not stop.is_set():
                    for data in (b"", b"x" * 40, rng.bytes(40), packet(5, CENTRE)[:-1], rng.bytes(72)):
                        plug.sendto(data, ("127.0.0.1", 9002 + 10 * controller.instance))
                    time.sleep(0.001)

        thread = threading.Thread(target=noise, daemon=True)
        thread.start()
        run = sim.simulate("boat", step=0.01, duration=1.0, controller=controller)
        stop.set()
        thread.join()
    pulses = run.controls[:, 0] / 150.0 * 500.0
    np.testing.assert_allclose(pulses, np.arange(len(pulses)) % 100, atol=1e-6)  # each frame once, in order


def test_a_frame_that_comes_twice_is_answered_twice_and_steps_once() -> None:
    class Beside(ArduPilot):
        instance, first_s, patience_s = 97, 20.0, 0.05

    plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plug.bind(("127.0.0.1", 0))
    plug.settimeout(5.0)
    port = 9002 + 970
    vehicle = sim.vehicle("boat")
    controller = Beside()
    memory = controller.start(vehicle, vehicle.state())
    for data in (
        packet(0, (1600,) * 16),
        packet(1, (1700,) * 16),
        packet(1, (1700,) * 16),
        packet(0, (1800,) * 16),
    ):
        plug.sendto(data, ("127.0.0.1", port))
    seen = [
        controller.control(0.01 * k, vehicle.state(), None, memory)[0]  # type: ignore[arg-type]
        for k in range(4)
    ]
    np.testing.assert_allclose(seen, [30.0, 60.0, 90.0, 90.0])  # the last one: nothing came, held
    stamps = [json.loads(plug.recv(4096))["timestamp"] for _ in range(4)]
    assert stamps[0] < stamps[1] == pytest.approx(stamps[0] + 0.01)
    assert stamps == sorted(stamps)
    plug.close()


def test_what_cannot_be_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the spacecraft has no \[pwm\] in its vehicle.toml") as refused:
        sim.simulate("spacecraft", duration=0.1, controller=ArduPilot)
    assert "\n" not in str(refused.value)
    with beside(lambda count, heard: CENTRE) as (controller, _):
        kept = controller().start(sim.vehicle("boat"), sim.vehicle("boat").state())
        with pytest.raises(InputError, match=r"ardupilot: port .* is refused"):
            controller().start(sim.vehicle("boat"), sim.vehicle("boat").state())
        del kept
    for arguments, line in (
        (["plain", "--autopilot", "px4"], "--autopilot: unknown 'px4'; allowed: ardupilot"),
        (["plain", "--autopilot", "ardupilot", "--controller", "pid"], "refused with --controller"),
    ):
        answer = CliRunner().invoke(app.run, arguments)
        assert isinstance(answer.exception, InputError)
        assert line in str(answer.exception)
    assert read_frame(b"") is None


@pytest.mark.parametrize("name", ["helicopter", "quadrotor", "boat", "motorboat", "car"])
def test_every_vehicle_with_channels_flies_in_lockstep_and_again_without_the_stand_in(name: str) -> None:
    """Pulses that change with every frame; the controls that they made lead to the same bits."""
    vehicle = sim.vehicle(name)

    def stirred(count: int, _seen: dict) -> tuple[int, ...]:
        return tuple(1500 + int(120 * np.sin(0.07 * count * (k + 1))) for k in range(16))

    step, duration = 0.02, 1.0
    with beside(stirred) as (controller, stand_in):
        run = sim.simulate(vehicle, step=step, duration=duration, controller=controller)
    assert run.diverged_at is None
    stamps = np.array([seen["timestamp"] for seen in stand_in.heard])
    assert len(stamps) == round(duration / step) - 1  # the last frame awaits no answer
    np.testing.assert_allclose(np.diff(stamps), step, atol=1e-9)
    assert np.ptp(run.controls, axis=0).max() > 0.0
    again = sim.simulate(vehicle, step=step, duration=duration, controls=run.controls)
    assert np.array_equal(again.nodes, run.nodes)
    for k in (1, 25, 47):
        place = run.pose[k + 1, :-1, -1]  # in the plane of what has no height
        told_m = np.diag([1.0, -1.0, -1.0]) @ stand_in.heard[k]["position"]
        assert np.abs(told_m[: len(place)] - place).max() < 1e-8  # 5e-10: nine digits
