"""Measured poses: read as they stand or refused with their line, and shown on the clock of what is simulated."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from export.file import export_motions
from sim.commands import RemoveLane, Reset, ShowMeasured
from sim.platform.errors import InputError
from sim.scene import load_scene
from sim.scene.measured import columns_of, load_measured
from sim.simulation import Simulation
from sim.world import load_world
from tests.export.flights import motion_of

HEADINGS = "t,x,y,z,qx,qy,qz,qw\n"


def table(path: Path, *rows: str, headings: str = HEADINGS) -> Path:
    path.write_text(headings + "".join(f"{row}\n" for row in rows))
    return path


def test_what_was_exported_is_read_again_to_the_last_digits(tmp_path: Path) -> None:
    motion = motion_of("helicopter", 1.0)
    export_motions(tmp_path / "flight.csv", [motion, motion_of("rigid-body", 0.5)])
    found = load_measured(tmp_path / "flight.csv")
    assert np.array_equal(found.time, motion.time)
    # Measured: 3e-16, since rotations are made orthonormal once more.
    assert np.abs(found.poses - motion.main).max() < 1e-14
    pose, twist = found.at(float(motion.time[40]))
    assert np.abs(pose - motion.main[40]).max() < 1e-14
    # A twist over a step of 10 ms against that at its beginning: first order, measured 0.06.
    assert np.abs(twist - motion.twist[40]).max() < 0.2


def test_between_two_samples_it_follows_the_screw_that_joins_them(tmp_path: Path) -> None:
    # A quarter turn about z while going round a circle of radius 2 m about the origin.
    half = Rotation.from_euler("z", 90.0, degrees=True).as_quat()
    end = ",".join(f"{v:.17g}" for v in half)
    found = load_measured(table(tmp_path / "turn.csv", "1,2,0,0,0,0,0,1", f"3,0,2,0,{end}"))
    pose, twist = found.at(2.0)
    assert pose[:3, 3] == pytest.approx([2**0.5, 2**0.5, 0.0], abs=1e-12)
    assert twist[:3] == pytest.approx([0.0, 0.0, np.pi / 4.0], abs=1e-12)
    for outside in (0.0, 9.0):
        assert np.array_equal(found.at(outside)[1], np.zeros(6))


def test_without_attitudes_it_is_level_and_faces_where_it_goes(tmp_path: Path) -> None:
    rows = ("0,0,0,5", "1,0,1,5", "2,0,1,6", "3,-1,1,6")
    found = load_measured(table(tmp_path / "way.csv", *rows, headings="time_s,x_m,y_m,z_m\n"))
    headings = np.degrees(np.arctan2(found.poses[:, 1, 0], found.poses[:, 0, 0]))
    assert headings == pytest.approx([90.0, 90.0, 180.0, 180.0])
    assert found.poses[:, 2, 2] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "rows, told",
    [
        (("0,0,0,0,0,0,0,1", "1,0,,0,0,0,0,1"), "line 3: y is missing"),
        (("0,0,0,0,0,0,0,1", "1,0,0"), "line 3: z is missing"),
        (("0,0,0,0,0,0,0,1", "1,0,nan,0,0,0,0,1"), "line 3: y = 'nan' is refused; allowed: a finite number"),
        (("0,0,0,0,0,0,0,1", "1,0,abc,0,0,0,0,1"), "line 3: y = 'abc' is refused"),
        (
            ("0,0,0,0,0,0,0,1", "2,0,0,0,0,0,0,1", "1.5,0,0,0,0,0,0,1"),
            "line 4: time 1.5 s is not after 2 s; allowed: times that increase",
        ),
        (("0,0,0,0,0,0,0,1", "0,0,0,0,0,0,0,1"), "line 3: time 0 s is not after 0 s"),
        (("0,0,0,0,0,0,0,3",), "line 2: the quaternion has length 3; allowed: 1"),
        (("0,0,0,0,0,0,0,1",), "has 1 rows of poses; allowed: two or more"),
    ],
)
def test_gaps_nonsense_and_time_that_runs_back_are_refused_with_their_line(
    rows: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "bad.csv", *rows)
    with pytest.raises(InputError) as refusal:
        load_measured(path)
    assert str(refusal.value).startswith(str(path))
    assert told in str(refusal.value)
    with pytest.raises(InputError, match="a place is missing"):
        load_measured(table(tmp_path / "none.csv", "0,1", headings="t,height\n"))


ROWS = ((0.0, 1.5, -2.25, 3.0), (0.1, 1.75, -2.0, 3.5), (0.3, 2.0, -1.5, 4.25))


@pytest.mark.parametrize(
    ("headings", "times", "lengths", "mark"),
    [
        ("Time [ms],X [mm],Y [mm],Z [mm]", 1e3, 1e3, ","),
        ("t_us;x_cm;y_cm;z_cm", 1e6, 1e2, ";"),
        ("timestamp [ns]\tpose.position.x\tpose.position.y\tpose.position.z", 1e9, 1.0, "\t"),
        (
            "TIMESTAMP,field.pose.position.x [km],field.pose.position.y [km],field.pose.position.z [km]",
            1.0,
            1e-3,
            ",",
        ),
    ],
)
def test_other_programs_units_headings_and_marks_mean_the_same(
    headings: str, times: float, lengths: float, mark: str, tmp_path: Path
) -> None:
    lines = [[times * row[0], *(lengths * x for x in row[1:])] for row in ROWS]
    point = "." if mark == "," else ","
    text = "\r\n".join(
        [headings, *(mark.join(f"{x:.9f}".replace(".", point) for x in line) for line in lines)]
    )
    path = tmp_path / "other.csv"
    path.write_text("\ufeff" + text, encoding="utf-8")
    found = load_measured(path)
    np.testing.assert_allclose(found.time, [row[0] for row in ROWS], atol=1e-12)
    np.testing.assert_allclose(found.poses[:, :3, 3], [row[1:] for row in ROWS], atol=1e-9)


def test_attitudes_have_several_names_dates_begin_at_zero_and_feet_are_refused(tmp_path: Path) -> None:
    turned = "0,0,0.6,0.8"
    for names in (
        "q_x,q_y,q_z,q_w",
        "pose.orientation.x,pose.orientation.y,pose.orientation.z,pose.orientation.w",
    ):
        path = table(
            tmp_path / "turned.csv", f"1.7e9,0,0,0,{turned}", f"1.7000000005e9,1,0,0,{turned}",
            headings=f"t,x,y,z,{names}\n",
        )  # fmt: skip
        found = load_measured(path)
        np.testing.assert_allclose(found.time, [0.0, 0.5], atol=1e-6)
        np.testing.assert_allclose(found.poses[0, :3, 0], [0.28, 0.96, 0.0], atol=1e-12)
    for heading in ("x [ft]", "x_ft", "x_in"):
        path = table(tmp_path / "feet.csv", "0,1,2,3", "1,1,2,3", headings=f"t,{heading},y,z\n")
        with pytest.raises(InputError, match=r"the unit of 'x.*' is refused; allowed: m, cm, mm, km"):
            load_measured(path)


def test_columns_of_a_table_come_in_si_units(tmp_path: Path) -> None:
    path = table(tmp_path / "more.csv", "90,36", "45,72", headings="omega.x [deg/s],v [km/h]\n")
    np.testing.assert_allclose(columns_of(path, ("omega.x", "v")), [[np.pi / 2, 10.0], [np.pi / 4, 20.0]])


def test_a_measured_ghost_keeps_to_the_clock_through_reset_and_removal(tmp_path: Path) -> None:
    scene = load_scene("plain")
    simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
    rows = [f"{0.1 * k},{k},{-k},3,0,0,0,1" for k in range(30)]
    before = simulation.advance(0.5)
    simulation.submit(ShowMeasured(load_measured(table(tmp_path / "gps.csv", *rows))))
    shown = simulation.advance(0.25)
    assert [lane.name for lane in shown.lanes] == [*(lane.name for lane in before.lanes), "gps"]
    ghost = shown.lanes[-1]
    assert ghost.ghost
    assert ghost.T_wb[:3, 3] == pytest.approx([7.5, -7.5, 3.0])
    assert ghost.twist_b == pytest.approx([0.0, 0.0, 0.0, 10.0, -10.0, 0.0])
    assert set(ghost.bodies) == set(shown.lanes[0].bodies)
    simulation.submit(Reset())
    assert simulation.advance(0.0).lanes[-1].T_wb[:3, 3] == pytest.approx([0.0, 0.0, 3.0])
    simulation.submit(RemoveLane("gps"))
    assert [lane.name for lane in simulation.advance(0.0).lanes] == [lane.name for lane in before.lanes]


def test_of_several_lanes_the_first_is_taken_and_rows_that_tell_none_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lanes.csv"
    path.write_text(
        "t,x,y,z,u,lane\n0,0,0,1,5,flown\n0,9,9,9,6,rk4\n0.1,1,0,1,7\n0.1,9,9,9,6,rk4\n\n0.2,2,0,1,8,flown\n"
    )
    assert load_measured(path).poses[:, 0, 3].tolist() == [0.0, 1.0, 2.0]
    assert columns_of(path, ("u",)).ravel().tolist() == [5.0, 7.0, 8.0]  # type: ignore[union-attr]


FEW = "0,1,2,3\n0.5,1,2,4\n"


@pytest.mark.parametrize(
    "head",
    ["Time (s),X (m),Y (m),Z (m)", "# of a tracker\n# 2026\ntime,x,y,z", "\n t [s], x [m], y [m], z [m]"],
)
def test_units_in_round_brackets_and_remarks_above_are_read(head: str, tmp_path: Path) -> None:
    path = tmp_path / "flown.csv"
    path.write_text(f"{head}\n{FEW}", encoding="utf-8")
    assert load_measured(path).poses[1, :3, 3].tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    "name, data, line",
    [
        ("empty.csv", b"", "empty.csv: is empty; allowed: a line of headings"),
        ("blank.csv", b"\n\n# nothing\n", "blank.csv: is empty"),
        (
            "wide.csv",
            f"time,x,y,z\n{FEW}".encode("utf-16"),
            "wide.csv: is no text in UTF-8; allowed: a table",
        ),
        ("book.csv", b"PK\3\4\xff\xfe", "book.csv: is no text in UTF-8"),
        ("twice.csv", f"time,x,y,z,x\n{FEW}".encode(), "line 1: x stands there twice"),
        ("page.csv", b"<html><body>404</body></html>", "line 1: a time is missing among <html>"),
        ("globe.csv", f"time,lat,lon,alt\n{FEW}".encode(), "line 1: a place is missing among time, lat"),
        ("other.mcap", b"time,x,y,z", "other.mcap: is no log of MCAP, which begins otherwise"),
        ("empty.mcap", b"", "empty.mcap: is empty"),
        ("other.ulg", b"\xa3\x95\x80", "other.ulg: is no log of PX4"),
        ("other.bin", b"ULog\x01\x12\x35", "other.bin: is no log of ArduPilot"),
    ],
)
def test_files_of_other_kinds_are_refused_in_a_line_that_says_what_may_be(
    name: str, data: bytes, line: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as refusal:
        load_measured(tmp_path / name)
    assert line in str(refusal.value)
    assert str(refusal.value).isprintable()
