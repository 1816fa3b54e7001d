"""A headless run writes what was asked for, the same each time, or nothing at all."""

import csv
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from export import headless
from export.output import OutputError, replacing
from export.pictures import VideoWriter
from export.request import Request
from export.tables import COLUMNS
from sim.scene import Scene, load_scene
from tests.app.program import ROOT, run_app
from tests.patience import PATIENCE_S, wait_until


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of a second in the laboratory."""
    path = tmp_path_factory.mktemp("laboratory") / "run.csv"
    result = run_app("plain", "--headless", "--seconds", 1, "--csv", path)
    assert result.returncode == 0, result.stderr
    assert f"wrote {path}" in result.stdout
    return path


def test_the_table_has_a_row_a_lane_and_moment_and_the_documented_columns(laboratory: Path) -> None:
    rows = read_rows(laboratory)
    assert len(rows) == 31 * 2
    assert tuple(rows[0])[: len(COLUMNS)] == COLUMNS
    documentation = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for column in ("time_s", "x_m", "R_11", "omega_x_radps", "energy_J", "momentum_angular_x", "status"):
        assert column in COLUMNS
        assert f"`{column}`" in documentation
    assert float(rows[-1]["time_s"]) == pytest.approx(1.0, abs=1e-9)


def test_rotations_in_the_table_are_rotations_to_rounding(laboratory: Path) -> None:
    row = read_rows(laboratory)[-1]
    R = np.array([[float(row[f"R_{i}{j}"]) for j in "123"] for i in "123"])
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-14
    assert np.linalg.det(R) > 0.0


def test_two_equal_runs_write_equal_files(laboratory: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.csv"
    assert run_app("plain", "--headless", "--seconds", 1, "--csv", again).returncode == 0
    assert again.read_bytes() == laboratory.read_bytes()


def test_video_and_picture_have_the_size_and_length_asked_for(tmp_path: Path) -> None:
    video, picture = tmp_path / "run.mp4", tmp_path / "run.png"
    result = run_app(
        "plain",
        "--headless",
        "--seconds",
        0.4,
        "--size",
        "160x96",
        "--quality",
        "software",
        "--video",
        video,
        "--screenshot",
        picture,
    )
    assert result.returncode == 0, result.stderr
    with av.open(str(video)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.video[0].codec_context.name == "h264"
        assert float(container.streams.video[0].average_rate) == 30.0
    assert len(frames) == 12
    assert frames[0].shape == (96, 160, 3)
    still = np.asarray(Image.open(picture))
    assert still.shape == (96, 160, 3)
    assert still.std() > 5.0  # a picture of something
    assert np.abs(still.astype(float) - frames[-1]).mean() < 12.0  # the last picture of the video
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.mp4", "run.png"]


@pytest.mark.parametrize("option", ["--video", "--screenshot", "--csv"])
def test_a_file_that_cannot_be_written_is_status_1_and_leaves_nothing(option: str, tmp_path: Path) -> None:
    name = {"--video": "run.mp4", "--screenshot": "run.png", "--csv": "run.csv"}[option]
    path = tmp_path / "missing" / name
    other = tmp_path / "other.csv"
    arguments = [option, path] if option == "--csv" else [option, path, "--csv", other]
    result = run_app("plain", "--headless", "--seconds", 0.1, *arguments)
    assert result.returncode == 1
    assert f"{path} cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def begin_a_video_and_fail(path: Path) -> None:
    with replacing(path) as temporary:
        writer = VideoWriter(temporary, container="mp4", size_px=(64, 48))
        writer.add(np.zeros((48, 64, 3), np.uint8))
        writer.close()
        raise ZeroDivisionError


def test_a_run_that_breaks_off_leaves_neither_file_nor_temporary(tmp_path: Path) -> None:
    path = tmp_path / "run.mp4"
    path.write_bytes(b"an older video")
    with pytest.raises(ZeroDivisionError):
        begin_a_video_and_fail(path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.mp4"]
    assert path.read_bytes() == b"an older video"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("name, status", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_run_that_is_told_to_end_has_the_status_of_shells_and_leaves_nothing(
    name: str, status: int, tmp_path: Path
) -> None:
    command = [sys.executable, str(ROOT / "app.py"), "plain", "--headless", "--seconds", "80000"]
    files = ["--csv", str(tmp_path / "run.csv"), "--export", str(tmp_path / "run.npz")]
    number = getattr(signal, name)
    with subprocess.Popen(
        [*command, *files],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # whatever this process ignores
    ) as program:
        try:
            wait_until(lambda: list(tmp_path.iterdir()) or program.poll() is not None)
            program.send_signal(number)
            _, told = program.communicate(timeout=PATIENCE_S)
        finally:
            program.kill()
    assert program.returncode == status
    assert b"Traceback" not in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_an_export_that_is_ended_while_it_is_written_leaves_nothing_of_it(tmp_path: Path) -> None:
    take, folder = tmp_path / "flight.npz", tmp_path / "out"
    folder.mkdir()
    assert run_app("plain", "--headless", "--seconds", 300, "--take", take).returncode == 0
    command = [sys.executable, str(ROOT / "app.py"), str(take), "--headless"]
    with subprocess.Popen(
        [*command, "--export", str(folder / "flight.mcap")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as program:
        try:
            wait_until(lambda: program.poll() is not None or begun(folder))
            assert [path.suffix for path in folder.iterdir()] == [".part"]
            program.terminate()
            _, told = program.communicate(timeout=PATIENCE_S)
        finally:
            program.kill()
    assert program.returncode == 128 + signal.SIGTERM
    assert b"Traceback" not in told
    assert list(folder.iterdir()) == []


def begun(folder: Path) -> bool:
    """Whether a part of a file that is being written has some content already."""
    return any(path.stat().st_size for path in folder.glob(".*.part"))


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is a folder"), replacing(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_what_is_no_ordinary_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match="is no ordinary file"), replacing(pipe):
        pass
    assert pipe.is_fifo()


def test_a_link_goes_on_leading_to_the_file(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    with replacing(link) as temporary:
        temporary.write_text("through")
    assert link.is_symlink()
    assert file.read_text() == "through"


def test_an_empty_name_is_refused_as_the_folder_it_means() -> None:
    with pytest.raises(OutputError, match="is a folder"), replacing(Path("")):
        pass


def test_without_opengl_4_1_the_message_says_what_was_found() -> None:
    """Mesa can be told to offer less than it has."""
    code = "import export.studio as s\ntry: s.offscreen_context()\nexcept s.DisplayError as e: print(e)"
    environment = {**os.environ, "MESA_GL_VERSION_OVERRIDE": "3.3", "LIBGL_ALWAYS_SOFTWARE": "1"}
    command = [sys.executable, "-c", code]
    printed = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if not printed:
        pytest.skip("this driver takes no orders from Mesa's environment")
    assert "found OpenGL 3.3" in printed


def test_a_flight_is_kept_as_a_take_and_played_beside_another_method(tmp_path: Path) -> None:
    take, first, again = tmp_path / "flight.npz", tmp_path / "first.csv", tmp_path / "again.csv"
    flying = ("--integrator", "variational", "--seconds", 1)
    flown = run_app("plain", "--headless", *flying, "--take", take, "--csv", first)
    assert flown.returncode == 0, flown.stderr
    arguments = ("--integrator", "rk4", "--step", 0.02, "--csv", again)
    played = run_app(take, "--headless", *arguments)
    assert played.returncode == 0, played.stderr
    original = [row for row in read_rows(first) if row["lane"] == "flown"]
    rows = read_rows(again)
    shown = [row for row in rows if row["lane"] == "flown"]
    ghost = [row for row in rows if row["lane"] == "rk4 20 ms"]
    assert len(rows) == len(shown) + len(ghost)
    for column in ("time_s", "x_m", "R_33", "status"):
        assert [row[column] for row in shown] == [row[column] for row in original]
    apart = [float(a["R_33"]) - float(b["R_33"]) for a, b in zip(ghost, original, strict=True)]
    assert 1e-5 < max(map(abs, apart)) < 0.1


def test_a_file_that_cannot_be_written_is_told_before_anything_is_made_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepared(scene: Scene) -> None:
        raise AssertionError("something was compiled first")

    monkeypatch.setattr(headless, "prepare", prepared)
    wanted = {"csv": tmp_path / "run.csv", "take": tmp_path / "missing" / "run.npz"}
    with pytest.raises(OutputError, match=r"run\.npz cannot be written"):
        headless.run_headless(load_scene("plain"), Request(**wanted))
    assert list(tmp_path.iterdir()) == []
