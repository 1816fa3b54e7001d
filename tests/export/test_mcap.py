"""Logs of motions: an independent reader, with its checksums, finds in them what was flown."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from export.file import export_motions
from export.ground import ground_under
from export.motion import motion_of_trajectory
from export.output import OutputError
from sim.world import load_world
from tests.export.flights import helicopter_flight, motion_of

reader = pytest.importorskip("mcap.reader", reason="mcap is not there")


def messages(path: Path) -> dict[str, list[tuple[float, dict]]]:
    """Topic -> (time [s], message), decoded by the schemas in the file alone."""
    found: dict[str, list[tuple[float, dict]]] = {}
    with path.open("rb") as file:
        for schema, channel, message in reader.make_reader(file, validate_crcs=True).iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            described, values = json.loads(schema.data), json.loads(message.data)
            assert described["title"] == schema.name
            assert set(values) <= set(described["properties"])
            found.setdefault(channel.topic, []).append((1e-9 * message.log_time, values))
    return found


def pose(found: dict, frame: str, time_s: float) -> np.ndarray:
    """(4, 4) of a frame in the world at a moment that was written, through its parents."""
    T = np.eye(4)
    while frame != "world":
        rows = [t for when, m in found["/tf"] if abs(when - time_s) < 1e-9 for t in m["transforms"]]
        row = next(t for t in rows if t["child_frame_id"] == frame)
        step = np.eye(4)
        step[:3, :3] = Rotation.from_quat([row["rotation"][c] for c in "xyzw"]).as_matrix()
        step[:3, 3] = [row["translation"][c] for c in "xyz"]
        T, frame = step @ T, row["parent_frame_id"]
    return T


def test_frames_and_channels_are_those_that_were_flown(tmp_path: Path) -> None:
    flight, car = motion_of_trajectory(helicopter_flight(1.0), "flown"), motion_of("car", 1.0)
    path = export_motions(tmp_path / "both.mcap", [flight, car], title="both")
    found = messages(path)
    for motion in (flight, car):
        body = next(iter(motion.bodies))
        for k in (0, 33, 100):
            T = pose(found, f"{motion.name}/{body}", float(motion.time[k]))
            assert np.abs(T - motion.main[k]).max() < 1e-9  # 2e-13
        rows = found[f"/{motion.name}/channels"]
        np.testing.assert_allclose([when for when, _ in rows], motion.time, atol=1e-9)
        np.testing.assert_array_equal([m["energy [J]"] for _, m in rows], motion.energy)
    frames = {t["child_frame_id"] for _, m in found["/tf"] for t in m["transforms"]}
    assert any("wheel" in name for name in frames), frames
    times = [when for when, _ in found["/tf"]]
    assert times == sorted(times)


def test_models_stand_in_frames_that_move_and_ground_in_the_world(tmp_path: Path) -> None:
    flight = motion_of_trajectory(helicopter_flight(0.5), "flown")
    ground = ground_under(load_world("plain"), [flight])
    found = messages(export_motions(tmp_path / "run.mcap", [flight], ground=ground))
    ((_, scene),) = found["/scene"]
    frames = {"world"} | {t["child_frame_id"] for _, m in found["/tf"] for t in m["transforms"]}
    for entity in scene["entities"]:
        assert entity["frame_id"] in frames
        assert entity["frame_locked"]
        for mesh in entity["triangles"]:
            assert 0 <= min(mesh["indices"]) <= max(mesh["indices"]) < len(mesh["points"])
            assert all(0.0 <= mesh["color"][c] <= 1.0 for c in "rgba")
    (land,) = (entity for entity in scene["entities"] if entity["id"] == "ground")
    assert land["frame_id"] == "world"
    assert len(land["triangles"][0]["colors"]) == len(land["triangles"][0]["points"])


def test_without_the_library_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mcap.writer", None)
    with pytest.raises(OutputError, match=r'run.mcap: MCAP needs mcap.*pip install "holonomy\[mcap\]"'):
        export_motions(tmp_path / "run.mcap", [motion_of("pendulum", 0.1)])
    assert list(tmp_path.iterdir()) == []
