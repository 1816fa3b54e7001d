"""Recordings for Rerun: its own reader finds in them what was flown."""

import sys
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


def tables(path: Path) -> dict[str, dict[str, list]]:
    """Entity -> column -> rows, in the order of time; static ones beside them."""
    chunk = pytest.importorskip("rerun.chunk", reason="rerun-sdk is not there")
    found: dict[str, dict[str, list]] = {}
    for part in chunk.RrdReader(path).stream().to_chunks():
        for name, rows in part.to_record_batch().to_pydict().items():
            found.setdefault(part.entity_path.replace("\\", ""), {}).setdefault(name, []).extend(rows)
    return found


def test_its_reader_finds_poses_channels_and_models(tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="rerun-sdk is not there")
    flight, car = motion_of_trajectory(helicopter_flight(1.0), "flown"), motion_of("car", 1.0)
    ground = ground_under(load_world("plain"), [flight])
    path = export_motions(tmp_path / "both.rrd", [flight, car], title="both", ground=ground)
    found = tables(path)
    origin = 0.5 * (flight.main[:, :3, 3].min(axis=0) + flight.main[:, :3, 3].max(axis=0)).round(3)
    for motion in (flight, car):
        body = found[f"/{motion.name}/{next(iter(motion.bodies))}"]
        seconds = np.array([t.total_seconds() for t in body["time"]])
        np.testing.assert_allclose(seconds, motion.time, atol=1e-9)
        lane = found.get(f"/{motion.name}", {}).get("Transform3D:translation", [[[0.0, 0.0, 0.0]]])[0][0]
        places = np.array(body["Transform3D:translation"])[:, 0] + lane
        assert (
            np.ptp(places - motion.main[:, :3, 3], axis=0).max() < 1e-5
        )  # 5e-7: float32, one origin for all
        assert np.abs(places - motion.main[:, :3, 3] + origin).max() < 2e-3
        turns = Rotation.from_quat(np.array(body["Transform3D:quaternion"])[:, 0]).as_matrix()
        assert np.abs(turns - motion.main[:, :3, :3]).max() < 1e-6  # 1e-7
        energy = np.array(found[f"/{motion.name}/channels/energy [J]"]["Scalars:scalars"])[:, 0]
        np.testing.assert_array_equal(energy, motion.energy)
    meshes = [columns for entity, columns in found.items() if "Mesh3D:vertex_positions" in columns]
    assert len(meshes) > 10
    for mesh in meshes:
        (points,), (triangles,) = mesh["Mesh3D:vertex_positions"], mesh["Mesh3D:triangle_indices"]
        assert 0 <= np.min(triangles) <= np.max(triangles) < len(points)
    assert len(found["/ground"]["Mesh3D:vertex_colors"][0]) == len(
        found["/ground"]["Mesh3D:vertex_positions"][0]
    )
    assert "wheel" in " ".join(found)


def test_without_the_library_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(OutputError, match=r'run.rrd: .rrd needs rerun-sdk.*pip install "holonomy\[rerun\]"'):
        export_motions(tmp_path / "run.rrd", [motion_of("pendulum", 0.1)])
    assert list(tmp_path.iterdir()) == []
