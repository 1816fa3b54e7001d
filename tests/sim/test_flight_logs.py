"""Logs of flights: what another program's readers find in them comes back as the poses that were logged."""

import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from export.file import export_motions
from export.motion import motion_of_trajectory
from sim.platform.errors import InputError
from sim.scene.flight_log import read_log
from sim.scene.measured import load_measured
from sim.vehicle_config import config_of

pytest.importorskip("pyulog", reason="pyulog is not there")
pytest.importorskip("pymavlink", reason="pymavlink is not there")
FLIP = np.diag([1.0, -1.0, -1.0])
STEP = 0.02


def flown(count: int = 150) -> tuple[sim.Vehicle, sim.Trajectory, np.ndarray]:
    """A quadrotor under pulses (count, 4) of an autopilot's outputs that change with every step, and these."""
    vehicle = sim.vehicle("quadrotor", mass=1.3)
    t = STEP * np.arange(count)[:, None]
    pulses = np.round(1500 + 40 * np.sin(t * [3.1, 2.3, 4.7, 3.9]))
    values = {"mass": 1.3, "gravity": 9.81}
    names = [control.name for control in vehicle.controls]
    controls = np.zeros((count, 4))
    for servo in config_of(vehicle).servos:
        controls[:, names.index(servo.control)] = [servo.value(row.tolist(), values) for row in pulses]
    run = sim.simulate(vehicle, step=STEP, duration=count * STEP, controls=controls)
    return vehicle, run, pulses


def frd(run: sim.Trajectory) -> tuple[np.ndarray, Rotation]:
    """Places north, east, down, and attitudes of a body forward, right, down."""
    return run.pose[:, :3, 3] @ FLIP, Rotation.from_matrix(FLIP @ run.pose[:, :3, :3] @ FLIP)


def ulg(path: Path, run: sim.Trajectory, pulses: np.ndarray) -> Path:
    """As PX4's documents describe the format, byte by byte."""

    def message(kind: bytes, body: bytes) -> bytes:
        return struct.pack("<Hc", len(body), kind) + body

    place, turn = frd(run)
    q = turn.as_quat()
    out = b"\x55\x4c\x6f\x67\x01\x12\x35\x01" + struct.pack("<Q", 7_000_000)
    out += message(b"B", bytes(40))
    out += message(b"F", b"vehicle_local_position:uint64_t timestamp;double x;double y;double z;")
    out += message(b"F", b"vehicle_attitude:uint64_t timestamp;double[4] q;")
    out += message(b"F", b"actuator_outputs:uint64_t timestamp;float[4] output;")
    names = (b"vehicle_local_position", b"vehicle_attitude", b"actuator_outputs")
    for number, name in enumerate(names):
        out += message(b"A", struct.pack("<BH", 0, number) + name)
    for k, t in enumerate(run.time):
        stamp = 7_000_000 + round(1e6 * t)
        out += message(b"D", struct.pack("<HQ4d", 1, stamp, q[k, 3], *q[k, :3]))
        out += message(b"D", struct.pack("<HQ3d", 0, stamp, *place[k]))
        if k < len(pulses):
            out += message(b"D", struct.pack("<HQ4f", 2, stamp, *pulses[k]))
    path.write_bytes(out)
    return path


def dataflash(path: Path, run: sim.Trajectory, pulses: np.ndarray) -> Path:
    """As ArduPilot's boards write it."""

    def told(kind: int, name: bytes, types: bytes, columns: bytes, length: int) -> bytes:
        return b"\xa3\x95\x80" + struct.pack("<BB4s16s64s", kind, length, name, types, columns)

    place, turn = frd(run)
    angles = np.degrees(turn.as_euler("ZYX"))
    out = told(128, b"FMT", b"BBnNZ", b"Type,Length,Name,Format,Columns", 89)
    out += told(1, b"XKF1", b"QBdddddd", b"TimeUS,C,Roll,Pitch,Yaw,PN,PE,PD", 3 + 8 + 1 + 48)
    out += told(2, b"RCOU", b"QHHHH", b"TimeUS,C1,C2,C3,C4", 3 + 8 + 8)
    for k, t in enumerate(run.time):
        stamp = 3_000_000 + round(1e6 * t)
        for core in (0, 1):  # a second estimate that is another one
            row = (*angles[k, ::-1], *(place[k] + 100.0 * core))
            out += b"\xa3\x95\x01" + struct.pack("<QB6d", stamp, core, *row)
        if k < len(pulses):
            out += b"\xa3\x95\x02" + struct.pack("<Q4H", stamp, *pulses[k].astype(int))
    path.write_bytes(out)
    return path


@pytest.mark.parametrize("write, name", [(ulg, "flight.ulg"), (dataflash, "flight.bin")])
def test_an_autopilots_log_has_the_poses_and_tells_the_mass(write: object, name: str, tmp_path: Path) -> None:
    vehicle, run, pulses = flown()
    path = write(tmp_path / name, run, pulses)  # type: ignore[operator]
    log = read_log(path)
    np.testing.assert_allclose(log.time, run.time, atol=1e-6)
    assert np.abs(log.poses - run.pose).max() < 1e-9  # 1e-14
    measured = load_measured(path)
    assert measured.name == "flight"
    assert np.abs(measured.at(0.51)[0] - run.pose[25]).max() < 0.1
    found = sim.identify(sim.vehicle("quadrotor", mass=1.3, arm=0.35), path, ["arm"])
    assert found.values["arm"] == pytest.approx(vehicle.values["arm"], rel=1e-4)


def test_a_log_of_our_own_for_foxglove_comes_back(tmp_path: Path) -> None:
    pytest.importorskip("mcap", reason="mcap is not there")
    _, run, _ = flown(50)
    log = read_log(export_motions(tmp_path / "run.mcap", [motion_of_trajectory(run)]))
    np.testing.assert_allclose(log.time, run.time, atol=1e-9)
    assert np.abs(log.poses - run.pose).max() < 1e-9  # 1e-15


def test_of_a_log_that_was_cut_off_what_is_whole_comes_back(tmp_path: Path) -> None:
    pytest.importorskip("mcap", reason="mcap is not there")
    _, run, _ = flown(50)
    path = export_motions(tmp_path / "run.mcap", [motion_of_trajectory(run)])
    whole = path.read_bytes()
    for length in (len(whole) - 1, len(whole) - 30):
        path.write_bytes(whole[:length])
        log = read_log(path)
        assert np.abs(log.poses - run.pose[: len(log.poses)]).max() < 1e-9
        assert len(log.poses) == len(run.pose)
    for length in (0, 8, 20, 1000, len(whole) // 3):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"run\.mcap: ") as refused:
            read_log(path)
        assert "\n" not in str(refused.value)


def test_motion_capture_comes_back_with_z_up_and_without_what_was_hidden(tmp_path: Path) -> None:
    _, run, _ = flown(40)
    down = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # z up becomes y up
    places = 1e3 * run.pose[:, :3, 3] @ down.T
    turns = Rotation.from_matrix(down @ run.pose[:, :3, :3] @ down.T).as_quat()
    lines = [
        "Format Version,1.23,Take Name,Flight,Rotation Type,Quaternion,Length Units,Millimeters",
        "",
        ",Type" + ",Rigid Body" * 7 + ",Marker" * 3,
        ",Name" + ",Quad" * 7 + ",Quad:1" * 3,
        ",ID" + ",1" * 7 + ",2" * 3,
        ",," + ",".join(["Rotation"] * 4 + ["Position"] * 6),
        "Frame,Time (Seconds),X,Y,Z,W,X,Y,Z,X,Y,Z",
    ]
    for k, t in enumerate(run.time):
        numbers = "," * 6 if k == 7 else ",".join(f"{x:.9f}" for x in (*turns[k], *places[k]))
        lines.append(f"{k},{t:.6f},{numbers},0,0,0")
    path = tmp_path / "capture.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = load_measured(path)
    seen = np.delete(np.arange(len(run.time)), 7)
    np.testing.assert_allclose(found.time, run.time[seen], atol=1e-6)
    assert np.abs(found.poses - run.pose[seen]).max() < 1e-8


@pytest.mark.parametrize("write, name", [(ulg, "flight.ulg"), (dataflash, "flight.bin")])
def test_cut_mixed_and_strange_files_end_in_one_line(write: object, name: str, tmp_path: Path) -> None:
    _, run, pulses = flown(30)
    whole = write(tmp_path / name, run, pulses).read_bytes()  # type: ignore[operator]
    rng = np.random.default_rng(2)
    path = tmp_path / f"odd{Path(name).suffix}"
    for data in (
        b"",
        whole[:20],
        b"PK\3\4 something else",
        *(whole[: int(n)] for n in rng.integers(30, len(whole), 12)),
        *(_damaged(whole, rng) for _ in range(12)),
    ):
        path.write_bytes(data)
        log, line = None, ""
        try:
            log = read_log(path)
        except InputError as refusal:
            line = str(refusal)
        if log is None:
            assert path.name in line
            assert "\n" not in line
        else:
            assert len(log.time) >= 2
            assert np.isfinite(log.poses).all()


def _damaged(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for at in rng.integers(8, len(out), 20):
        out[at] = int(rng.integers(256))
    return bytes(out)


def test_what_a_log_does_not_tell_is_said(tmp_path: Path) -> None:
    _, run, pulses = flown(30)
    path = ulg(tmp_path / "flight.ulg", run, pulses)
    with pytest.raises(InputError, match="has no pulses that move a spacecraft"):
        sim.identify("spacecraft", path, ["mass"])
    with pytest.raises(InputError, match="logs are for vehicles in space, not for a car"):
        sim.identify("car", path, ["mass"])
