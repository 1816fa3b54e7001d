"""Logs of what still flies: others' readers find in them, at any moment, what was flown until then."""

import json
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import sim
from export.live_log import LiveLog
from export.motion import STEPS_S, LaneMotion, motion_of_take
from export.output import OutputError
from sim.commands import KeepTake, Reset, SetPaused
from sim.recordings import Take
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world
from tests.export.test_mcap import pose
from tests.export.test_rrd import tables
from tests.patience import PATIENCE_S, wait_until


def simulation(name: str) -> Simulation:
    scene = load_scene(name)
    return Simulation(scene, load_world(scene.world, seed=scene.seed))


def flown(flight: Simulation) -> LaneMotion:
    """All steps of the first lane, which stands still meanwhile."""
    flight.ask(SetPaused(True)).result(PATIENCE_S)
    reply: Future[Take] = Future()
    flight.submit(KeepTake(reply))
    return motion_of_take(reply.result(PATIENCE_S), every_s=STEPS_S)


def streamed(path: Path) -> dict[str, list[tuple[float, dict]]]:
    """Topic -> (time [s], message) of a file that may end anywhere, from its start on."""
    stream = pytest.importorskip("mcap.stream_reader", reason="mcap is not there")
    records, end = pytest.importorskip("mcap.records"), pytest.importorskip("mcap.exceptions").EndOfFile
    channels: dict[int, str] = {}
    found: dict[str, list[tuple[float, dict]]] = {}
    with path.open("rb") as file, suppress(end):
        for record in stream.StreamReader(file, validate_crcs=True).records:
            if isinstance(record, records.Channel):
                channels[record.id] = record.topic
            elif isinstance(record, records.Message):
                row = 1e-9 * record.log_time, json.loads(record.data)
                found.setdefault(channels[record.channel_id], []).append(row)
    return found


def test_a_log_is_read_while_it_is_written_and_goes_on_with_another_scene(tmp_path: Path) -> None:
    reader = pytest.importorskip("mcap.reader", reason="mcap is not there")
    first, path = simulation("plain"), tmp_path / "flight.mcap"
    shown = [first]
    log = LiveLog(path, lambda: shown[0])
    first.start()
    wait_until(lambda: len(streamed(path).get("/tf", ())) > 5 or log.fault, "the file has some of it")
    part, motion = streamed(path), flown(first)
    channel = f"/{first.snapshot.lanes[0].name}/channels"
    body = f"{first.snapshot.lanes[0].name}/{next(iter(motion.bodies))}"
    for when, row in part[channel][1:-1:3]:
        k = int(np.argmin(np.abs(motion.time - row["scene time [s]"])))
        assert motion.time[k] == pytest.approx(row["scene time [s]"], abs=1e-9)
        assert np.abs(pose(part, body, when) - motion.main[k]).max() < 1e-9  # 2e-13
    first.ask(Reset()).result(PATIENCE_S)
    first.ask(SetPaused(False)).result(PATIENCE_S)
    wait_until(lambda: first.snapshot.clock_s > 0.2 or log.fault, "it flies anew")
    first.stop()
    shown[0] = simulation("heavy-top")
    shown[0].start()
    wait_until(lambda: shown[0].snapshot.clock_s > 0.5 or log.fault, "another scene moves")
    shown[0].stop()
    log.close()
    assert log.fault == ""
    times, scenes = [], []
    with path.open("rb") as file:
        for _, topic, message in reader.make_reader(file, validate_crcs=True).iter_messages():
            times.append(message.log_time)
            if topic.topic == "/scene":
                scenes.append(json.loads(message.data))
    assert times == sorted(times)
    assert [len(scene["deletions"]) for scene in scenes] == [0, 1]
    assert all(scene["entities"] for scene in scenes)


def test_rerun_finds_what_was_flown_in_a_recording_that_was_made_meanwhile(tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="rerun-sdk is not there")
    flight, path = simulation("plain"), tmp_path / "flight.rrd"
    log = LiveLog(path, lambda: flight)
    flight.start()
    wait_until(lambda: path.stat().st_size > 100_000 or log.fault, "models and ground are written")
    begun_s = flight.snapshot.clock_s
    wait_until(lambda: flight.snapshot.clock_s > begun_s + 1.0 or log.fault, "it flies on")
    motion = flown(flight)
    flight.stop()
    log.close()
    assert log.fault == ""
    found, name = tables(path), flight.snapshot.lanes[0].name
    body = found[f"/{name}/{next(iter(motion.bodies))}"]
    lane, clock = found[f"/{name}"], found[f"/{name}/channels/scene time [s]"]
    seconds = np.array(clock["Scalars:scalars"])[:, 0]
    # What the lane's node and the body's add up to is the place, but for one origin for all.
    places = np.array(lane["Transform3D:translation"])[:, 0] + np.array(body["Transform3D:translation"])[:, 0]
    assert len(seconds) == len(places) > 5
    at = np.argmin(np.abs(motion.time[:, None] - seconds), axis=0)
    assert np.abs(motion.time[at] - seconds).max() < 1e-9
    assert np.ptp(places - motion.main[at, :3, 3], axis=0).max() < 1e-4  # float32
    assert any("Mesh3D:vertex_positions" in columns for columns in found.values())


def test_what_is_no_log_or_has_no_place_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(sim.InputError, match=r"a.glb is refused with a window; allowed: .mcap or .rrd"):
        LiveLog(tmp_path / "a.glb", lambda: simulation("plain"))
    pytest.importorskip("mcap", reason="mcap is not there")
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        LiveLog(tmp_path / "none" / "a.mcap", lambda: simulation("plain"))
