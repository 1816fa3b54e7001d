"""What a headless run exports: all that was asked for, complete, or nothing."""

import csv
import json
import subprocess
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from export.file import export_motions
from export.motion import MotionRecorder, motion_of_take, motion_of_trajectory
from export.pictures import averaged
from export.tables import channels_of, chosen_channels
from sim.commands import KeepTake
from sim.platform.errors import InputError
from sim.recordings import Take
from tests.app.program import ROOT, run_app
from tests.export.flights import helicopter_flight, motion_of
from tests.export.khronos import complaints, poses_in
from tests.sim.simulation_scenes import fly, helicopter_scene, simulation


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second of two lanes in the laboratory, as everything there is."""
    folder = tmp_path_factory.mktemp("exported")
    names = ("run.glb", "run.csv", "run.npz", "run.mp4", "frame-###.png")
    files = [argument for name in names for argument in ("--export", folder / name)]
    more = ("--fps", 20, "--size", "160x96", "--quality", "software", "--blur", 2, "--transparent")
    done = run_app("plain", "--headless", "--seconds", 1, *files, *more, "--include", "terrain,camera")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_scene_of_two_lanes_with_land_and_camera_passes_and_has_the_poses_of_the_table(
    exported: Path, tmp_path: Path
) -> None:
    assert complaints(exported / "run.glb") == {}
    with (exported / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lanes = dict.fromkeys(row["lane"] for row in rows)
    assert len(lanes) == 2
    assert len(rows) == 21 * 2
    found = poses_in(exported / "run.glb", [0.0, 0.5, 1.0], tmp_path)
    assert "world/camera" in found
    assert "world/ground" in found
    for lane in lanes:
        mine = [row for row in rows if row["lane"] == lane]
        for shown, k in ((0, 0), (1, 10), (2, 20)):
            place = [float(mine[k][f"position.{axis} [m]"]) for axis in "xyz"]
            R = np.array([[float(mine[k][f"rotation.R{i}{j}"]) for j in "123"] for i in "123"])
            body = next(name for name in found if name.startswith(f"world/{lane}/"))
            # Measured: 1e-7, the rounding of float32 quaternions.
            assert np.abs(found[body][shown][:3, :3] - R).max() < 1e-6
            assert np.abs(found[body][shown][:3, 3] - place).max() < 1e-6


def test_a_video_decoded_again_has_the_frames_size_and_rate_asked_for(exported: Path) -> None:
    with av.open(str(exported / "run.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert float(container.streams.video[0].average_rate) == 20.0
    assert len(frames) == 20
    assert frames[0].shape == (96, 160, 3)


def test_pictures_with_a_transparent_background_show_the_vehicles_alone(exported: Path) -> None:
    files = sorted(exported.glob("frame-*.png"))
    assert [file.name for file in files] == [f"frame-{k:03d}.png" for k in range(1, 21)]
    picture = np.asarray(Image.open(files[-1]))
    assert picture.shape == (96, 160, 4)
    alpha = picture[..., 3]
    assert alpha[0].max() == 0  # the sky is not there
    assert 0.002 < (alpha > 250).mean() < 0.5


def test_numbers_are_those_of_the_simulation_with_their_units(exported: Path) -> None:
    with np.load(exported / "run.npz") as file:
        about = json.loads(str(file["about"]))
        lane, told = next(iter(about.items()))
        assert told["channels"]["position"] == {"unit": "m", "components": ["x", "y", "z"]}
        R = file[f"{lane}/rotation"].reshape(-1, 3, 3)
        time = file[f"{lane}/time"]
    assert time == pytest.approx(np.arange(21) / 20.0, abs=1e-9)
    assert np.abs(R.swapaxes(1, 2) @ R - np.eye(3)).max() < 1e-13


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("--export", "run.obj"), "allowed: a file name ending in .glb"),
        (("--export", "run.csv", "--channels", "energy,lift"), "unknown channel 'lift'; allowed: position"),
        (("--export", "run.glb", "--include", "sea"), "--include: unknown 'sea'; allowed: terrain, camera"),
        (("--export", "run.glb", "--fps", 0), "--fps: 0 is refused; allowed: a whole number from 1 to 240"),
        (("--export", "run.glb", "--export", "run.glb"), "two name one file"),
        (("--transparent",), "--transparent: refused without pictures"),
        (("--export", "run.mp4", "--export", "run.mov"), "one of its kind in a run"),
        (("--export", "run.glb", "--channels", "energy"), "--channels: refused without a table"),
        (("--export", "run.csv", "--include", "terrain"), "--include: refused without a scene"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(
    arguments: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    placed = [tmp_path / a if str(a).startswith("run.") else a for a in arguments]
    done = run_app("plain", "--headless", "--seconds", 0.1, *placed)
    assert done.returncode == 2
    message = done.stderr.strip().splitlines()[-1]
    assert told in message
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


_FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from export.file import export_motions
from export.output import OutputError
from tests.export.flights import motion_of
motion = motion_of("rigid-body")
try:
    export_motions(sys.argv[2], [motion])
except OutputError as error:
    print(error)
"""


@pytest.mark.parametrize("ending", ["glb", "usdc", "csv", "npz"])
def test_a_disk_that_is_full_leaves_no_half_file(ending: str, tmp_path: Path) -> None:
    """A limit on the size of files stands in for it: writing fails half way, as there."""
    path = tmp_path / f"run.{ending}"
    path.write_bytes(b"an older one")
    room = {"glb": 100_000, "usdc": 100_000, "csv": 20_000, "npz": 10_000}[ending]
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(room), str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1, done.stdout
    assert "written" in done.stdout
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"an older one"


def test_a_take_is_exported_as_the_trajectory_that_it_keeps(tmp_path: Path) -> None:
    run = helicopter_flight(1.0)
    direct = motion_of_trajectory(run)
    kept = motion_of_take(Take.of_trajectory(run), every_s=0.0)
    assert np.abs(kept.main - direct.main).max() == 0.0
    for one, other in zip(channels_of(kept).values(), channels_of(direct).values(), strict=True):
        assert np.array_equal(one.values, other.values, equal_nan=True)


def test_a_take_feels_again_the_forces_of_its_flight() -> None:
    """It stands on its skids, leaves them and comes down again: what the snapshots had, at their moments."""
    running, recorder = simulation(helicopter_scene()), MotionRecorder()
    for throttle in (0.0, 1.0, -1.0):
        for _ in range(40):
            fly(running, 0.05, throttle=throttle)
            recorder.add(running.snapshot)
    (seen,) = recorder.motions()
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply))
    running.advance(0.0)
    kept = motion_of_take(reply.result(0), every_s=0.0, world=running.run.world)
    at = np.searchsorted(kept.time, seen.time - 1e-6)
    assert np.abs(kept.time[at] - seen.time).max() < 1e-9
    felt, told = kept.forces_w["environment"], seen.forces_w["environment"]
    assert np.abs(felt[at] - told).max() < 1e-6 * np.abs(told).max()
    assert felt[at][10] == pytest.approx([0.0, 0.0, 1100.0 * 9.81], abs=1.0)
    assert (np.linalg.norm(told, axis=1) == 0.0).sum() > 20


def test_chosen_channels_of_several_vehicles_stand_in_one_table(tmp_path: Path) -> None:
    motions = [motion_of("car", 0.2), motion_of("pendulum", 0.2)]
    path = export_motions(tmp_path / "both.csv", motions, channels=["position", "sigma", "energy"])
    rows = list(csv.reader(path.open(newline="")))
    assert rows[0] == [
        "time [s]",
        "lane",
        "position.x [m]",
        "position.y [m]",
        "position.z [m]",
        "sigma [1]",
        "energy [J]",
    ]
    assert len(rows) == 1 + 2 * 21
    assert rows[-1][5] == ""  # a pendulum has no such thing
    assert float(rows[21][5]) == motions[0].shape[20][1]
    export_motions(tmp_path / "both.npz", motions, channels=["energy"])
    with pytest.raises(InputError, match=r"unknown channel 'sgma'; allowed: .*sigma"):
        chosen_channels(motions, ["sgma"])
    with pytest.raises(InputError, match=r"ending in \.glb"):
        export_motions(tmp_path / "both.fbx", motions)


def test_what_two_lanes_tell_by_one_name_stands_apart_where_it_differs(tmp_path: Path) -> None:
    """In parts, in units or in the lane's own name: nothing is shifted into another's column, nothing lost."""
    one = motion_of("rigid-body", 0.05)
    more = {"load": np.arange(12.0).reshape(6, 2)}, {"load": np.arange(6.0)}, {"load": np.arange(6.0)}
    units = {"load": "N"}, {"load": "N"}, {"load": "kg"}
    motions = [replace(one, observables=o, units=u) for o, u in zip(more, units, strict=True)]
    path = export_motions(tmp_path / "run.csv", motions, channels=["load"])
    rows = list(csv.reader(path.open(newline="")))
    assert rows[0][2:] == ["load.0 [N]", "load.1 [N]", "load [N]", "load [kg]"]
    assert rows[2] == ["0.01", "rigid-body", "2.0", "3.0", "", ""]
    assert rows[8] == ["0.01", "rigid-body 2", "", "", "1.0", ""]
    assert rows[14] == ["0.01", "rigid-body 3", "", "", "", "1.0"]
    with np.load(export_motions(tmp_path / "run.npz", motions)) as arrays:
        for name, motion in zip(("rigid-body", "rigid-body 2", "rigid-body 3"), motions, strict=True):
            assert np.array_equal(arrays[f"{name}/load"], motion.observables["load"])
    with pytest.raises(InputError, match="nothing to export"):
        export_motions(tmp_path / "run.glb", [])
    with pytest.raises(InputError, match="allowed: a list of motions"):
        export_motions(tmp_path / "run.glb", one)  # type: ignore[arg-type]


def test_motion_blur_is_the_mean_of_linear_light() -> None:
    black, white = np.zeros((2, 2, 3), np.uint8), np.full((2, 2, 3), 255, np.uint8)
    # Half the light is 188 of 255 in sRGB (IEC 61966-2-1).
    assert (averaged([black, white]) == 188).all()
    clear = np.zeros((2, 2, 4), np.uint8)
    red = np.array([[[255, 0, 0, 255]] * 2] * 2, np.uint8)
    assert averaged([clear, red])[0, 0].tolist() == [255, 0, 0, 128]


_FULL_VIDEO = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from export.output import OutputError, replacing
from export.pictures import VideoWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
rng = np.random.default_rng(0)
try:
    with replacing(Path(sys.argv[1])) as temporary:
        writer = VideoWriter(temporary, container="mp4", size_px=(320, 240))
        try:
            for _ in range(40):
                writer.add(rng.integers(0, 255, (240, 320, 3), np.uint8))
            writer.finish()
        finally:
            writer.close()
except OutputError as error:
    print(error)
"""


def test_a_disk_that_is_full_leaves_no_half_video(tmp_path: Path) -> None:
    path = tmp_path / "run.mp4"
    command = [sys.executable, "-c", _FULL_VIDEO, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []
