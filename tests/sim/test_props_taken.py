"""Takes and exports hold the bodies of a scene: shown again, saved, and written to files."""

import json
import struct
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from export.file import export_motions
from export.motion import MotionRecorder, motion_of_take
from sim.commands import BackToNow, KeepTake, PilotInput, Retake, Scrub, SetPaused, SetPilotInput
from sim.recordings import Take, load_take, save_take
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world


@pytest.fixture(scope="module")
def flown() -> tuple[Simulation, list, MotionRecorder]:
    scene = load_scene("bowling")
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    seen, recorder = [], MotionRecorder()
    for _ in range(75):
        seen.append(running.advance(0.04))
        recorder.add(seen[-1])
    return running, seen, recorder


def _take(running: Simulation) -> Take:
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply))
    running.advance(0.0)
    return reply.result(0)


def test_the_past_is_shown_with_its_bodies(flown) -> None:
    """To the single precision that they are kept with, 1e-6 of 20 m."""
    running, seen, _ = flown
    moved = np.linalg.norm(
        seen[-1].environment.poses_w[:, :3, 3] - seen[0].environment.poses_w[:, :3, 3], axis=1
    )
    assert (moved > 0.5).sum() > 3
    for k in (60, 10, 72, 45):  # a little before the end, where the last look was
        running.submit(Scrub(seen[k].clock_s))
        shown = running.advance(0.0)
        np.testing.assert_allclose(shown.environment.poses_w, seen[k].environment.poses_w, atol=1e-5)
    running.submit(BackToNow())
    np.testing.assert_array_equal(running.advance(0.0).environment.poses_w, seen[-1].environment.poses_w)


def test_a_saved_take_has_them_and_a_damaged_one_is_refused(flown, tmp_path: Path) -> None:
    take = _take(flown[0])
    again = load_take(save_take(take, tmp_path / "bowled.npz"))
    kept, read = take.segments[0].solids, again.segments[0].solids
    assert kept is not None
    for name in ("steps", "begins", "which", "poses"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(read, name))
    arrays = dict(np.load(tmp_path / "bowled.npz"))
    arrays["leg0_solids_which"] = arrays["leg0_solids_which"] + 7
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(Exception, match=r"^[^\n]*bodies that fit[^\n]*$"):
        load_take(tmp_path / "bad.npz")


def test_a_run_and_its_take_are_written_with_them(flown, tmp_path: Path) -> None:
    """To single precision where both have looked."""
    running, seen, recorder = flown
    (live,) = recorder.motions()
    taken = motion_of_take(_take(running), every_s=0.01, world=running.run.world, solids=seen[-1].environment)
    bodies = len(seen[-1].environment.shapes)
    for motion in (live, taken):
        path = export_motions(tmp_path / "bowled.glb", [motion])
        data = path.read_bytes()
        (length,) = struct.unpack("<I", data[12:16])
        names = [node.get("name", "") for node in json.loads(data[20 : 20 + length])["nodes"]]
        assert sum(name.startswith(("box ", "drum ", "sphere ", "mesh ")) for name in names) >= bodies
    at_s = live.solids.time[-5]
    at = int(np.abs(taken.solids.time - at_s).argmin())
    assert taken.solids.time[at] == pytest.approx(at_s)
    np.testing.assert_allclose(taken.solids.poses_w[at], live.solids.poses_w[-5], atol=1e-5)


def test_flown_on_from_a_moment_of_the_past_they_go_the_way_they_went(flown) -> None:
    """To the bit. (Last here, since it changes what is flown.)"""
    running, seen, _ = flown
    running.submit(Scrub(seen[40].clock_s))
    running.submit(Retake())
    running.submit(SetPaused(False))
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    again = running.advance(seen[70].clock_s - seen[40].clock_s)
    np.testing.assert_array_equal(again.environment.poses_w, seen[70].environment.poses_w)
    np.testing.assert_array_equal(again.lanes[0].T_wb, seen[70].lanes[0].T_wb)
