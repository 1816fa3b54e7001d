"""Laws of other programs at the stick: what they ask is done between steps, and nothing they send does harm."""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sim
from sim.commands import SetPaused
from sim.live.client import Connection
from sim.live.wire import FILE, announced, decode, encode, found
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

pytest.importorskip("websockets", reason="websockets is not there")
from websockets.exceptions import ConnectionClosed

from sim.live.server import MOST_CLIENTS, Server  # after the question whether it can be
from tests.patience import PATIENCE_S, wait_until

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
SEVERAL = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Listening:
    """A simulation in its thread with a server beside it."""

    def __init__(self) -> None:
        scene = load_scene("plain")
        self.simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
        self.simulation.submit(SetPaused(True))
        self.scenes: list[str] = []
        self.server = Server(lambda: self.simulation, self.opened)
        self.simulation.start()

    def opened(self, name: str) -> Future[None]:
        """At once."""
        self.scenes.append(name)
        answer: Future[None] = Future()
        answer.set_result(None)
        return answer

    def close(self) -> None:
        self.server.close()
        self.simulation.stop()


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    folder = tmp_path_factory.mktemp("config")
    before = os.environ.get("HOLONOMY_CONFIG")
    os.environ["HOLONOMY_CONFIG"] = str(folder)
    made = Listening()
    try:
        yield made
    finally:
        made.close()
        assert not (folder / FILE).exists()
        if before is None:
            del os.environ["HOLONOMY_CONFIG"]
        else:
            os.environ["HOLONOMY_CONFIG"] = before


@pytest.fixture
def app(listening: Listening) -> Iterator[Connection]:
    with sim.connect() as made:
        yield made
        made.pause()


def test_in_lockstep_a_program_flies_what_simulate_flies_to_the_bit(
    app: Connection, listening: Listening
) -> None:
    app.command("SetStep", step_s=0.01)
    app.command("Reset")
    start = app.snapshot()["lanes"][0]
    vehicle = listening.simulation.run.vehicle
    rng = np.random.default_rng(4)
    weight = float(vehicle.values["mass"]) * float(vehicle.values["gravity"])
    orders = np.r_[np.zeros(5), weight] + rng.normal(size=(6, 6)) * [0.02, 0.02, 0.02, 1.0, 1.0, 1.0]
    seen = [start, *(app.step(10, controls)["lanes"][0] for controls in orders)]
    assert seen[-1]["time_s"] == pytest.approx(60 * start["step_s"])
    T_wb, twist_b = next(iter(start["bodies"].values())), start["twist_b"]
    again = sim.simulate(
        vehicle, start["integrator"], step=start["step_s"], duration=60 * start["step_s"],
        initial=vehicle.state(R=T_wb[:3, :3], x=T_wb[:3, 3], omega=twist_b[:3], v=twist_b[3:]),
        controls=np.repeat(orders, 10, axis=0),
    )  # fmt: skip
    poses = np.array([next(iter(lane["bodies"].values())) for lane in seen])
    assert np.array_equal(poses, again.pose[::10])


@NODE
def test_plain_javascript_flies_what_simulate_flies_to_the_bit(app: Connection, listening: Listening) -> None:
    """By the example, which shares no line with the page or the client in Python."""
    app.command("SetStep", step_s=0.01)
    app.command("Reset")
    start = app.snapshot()["lanes"][0]
    vehicle = listening.simulation.run.vehicle
    controls = [
        0.013,
        -0.021,
        0.03,
        0.7,
        -0.4,
        1.03 * float(vehicle.values["mass"] * vehicle.values["gravity"]),
    ]
    file = Path(os.environ["HOLONOMY_CONFIG"]) / FILE
    flown = javascript(file, 6, controls)
    assert flown.returncode == 0, flown.stderr
    rows = [json.loads(line) for line in flown.stdout.splitlines()]
    T_wb, twist_b = next(iter(start["bodies"].values())), start["twist_b"]
    again = sim.simulate(
        vehicle, start["integrator"], step=0.01, duration=0.6, controls=np.array(controls),
        initial=vehicle.state(R=T_wb[:3, :3], x=T_wb[:3, 3], omega=twist_b[:3], v=twist_b[3:]),
    )  # fmt: skip
    assert [row[0] for row in rows] == pytest.approx(again.time[10::10])
    assert np.array_equal(np.array([row[1] for row in rows]).reshape(-1, 4, 4), again.pose[10::10])
    refused = javascript(file, 1, [1.0])
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "a finite number for each of torque_x" in refused.stderr


def javascript(file: Path, rounds: int, controls: list[float]) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).parents[2] / "examples" / "client.mjs"
    command = in_node(script, file, rounds, *controls)
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def in_node(script: Path, *told: object) -> list[str]:
    return ["node", "--experimental-websocket", "--no-warnings", str(script), *map(str, told)]


@contextmanager
def reading(file: Path, every_s: float, messages: int, asleep_ms: float) -> Iterator[subprocess.Popen[str]]:
    """A program in JavaScript that reads a stream, and sleeps after each message."""
    command = in_node(Path(__file__).with_name("reader.mjs"), file, every_s, messages, asleep_ms)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as made:
        try:
            yield made
        finally:
            made.kill()


def come_to(threads: int) -> None:
    """Wait for all others to end."""
    wait_until(lambda: threading.active_count() <= threads, threading.enumerate)


@NODE
def test_two_programs_in_javascript_are_served_at_once(app: Connection) -> None:
    app.command("SetStep", step_s=0.01)
    app.command("Reset")
    app.pause()
    file = Path(os.environ["HOLONOMY_CONFIG"]) / FILE
    with reading(file, 0.002, 10**6, 0.0) as reader:
        first = json.loads(reader.stdout.readline())[0]
        seen = [first]

        def seen_meanwhile() -> bool:
            """Whether it saw what the other did while it was done; a busy machine may give it no turn in between."""
            flown = javascript(file, 20, [0.0, 0.0, 0.0, 0.0, 0.0, 50.0])
            assert flown.returncode == 0, flown.stderr
            times = [json.loads(line)[0] for line in flown.stdout.splitlines()]
            while seen[-1] < times[-1]:
                seen.append(json.loads(reader.stdout.readline())[0])
            assert seen[-1] == times[-1]
            return len(set(seen) & set(times)) > 2

        wait_until(seen_meanwhile)
    assert seen == sorted(seen)


@NODE
def test_a_reader_that_sleeps_is_told_what_it_missed_and_keeps_nobody_waiting(app: Connection) -> None:
    app.command("Reset")
    app.resume()
    file = Path(os.environ["HOLONOMY_CONFIG"]) / FILE
    with reading(file, 0.001, 6, 700.0) as reader:
        times, skipped = [], []
        for line in reader.stdout:
            time_s, missed = json.loads(line)
            times.append(time_s)
            skipped.append(missed)
            assert app.snapshot()["time_s"] >= time_s  # others are served meanwhile, and it flies on
        assert reader.wait(PATIENCE_S) == 0, reader.stderr.read()
    assert len(times) == 6
    assert times == sorted(times)
    assert sum(skipped) > 100  # of some 3500 that were due


@NODE
def test_a_wrong_token_is_told_in_a_line_and_leaves_nothing(
    listening: Listening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = threading.active_count()
    told = json.loads((Path(os.environ["HOLONOMY_CONFIG"]) / FILE).read_text(encoding="utf-8"))
    (tmp_path / FILE).write_text(json.dumps(told | {"token": "0" * 32}), encoding="utf-8")
    refused = javascript(tmp_path / FILE, 1, [0.0])
    assert refused.returncode == 1
    assert refused.stderr == "no window listens, or the token is not its\n"
    with pytest.raises(sim.InputError, match="HTTP 401") as refusal:
        sim.connect(told["port"], "0" * 32)
    assert str(refusal.value).isprintable()
    come_to(before)
    assert not [record for record in caplog.records if record.exc_info]


@NODE
def test_who_vanishes_or_stops_reading_is_let_go(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = threading.active_count()
    monkeypatch.setattr("sim.live.server.UNREAD_S", 1.0)
    file = Path(os.environ["HOLONOMY_CONFIG"]) / FILE
    for end in (signal.SIGKILL, signal.SIGSTOP):
        with reading(file, 0.001, 10**6, 0.0) as reader:
            assert reader.stdout.readline()
            reader.send_signal(end)
            come_to(before)
    with sim.connect() as app:
        assert app.snapshot()["scene"] == "plain"


def test_who_leaves_with_much_unread_leaves_no_trace(
    app: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    app.resume()
    for _ in range(6):
        asleep = app.stream(every_s=0.001)
        next(asleep)
        time.sleep(1.0)
        asleep.close()
    assert not [record for record in caplog.records if record.exc_info]


@NODE
def test_a_server_is_closed_whoever_does_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    scene = load_scene("plain")
    flight = Simulation(scene, load_world(scene.world, seed=scene.seed))
    server = Server(lambda: flight, lambda name: Future())
    with reading(tmp_path / FILE, 0.001, 10**6, 0.0) as reader:
        assert reader.stdout.readline()
        reader.send_signal(signal.SIGSTOP)
        time.sleep(3.0)  # until nothing more is taken
        closing = threading.Thread(target=server.close, daemon=True)
        closing.start()
        closing.join(PATIENCE_S)
        assert not closing.is_alive()


def test_controls_are_those_that_were_given_and_the_hand_gets_them_back(app: Connection) -> None:
    app.command("SetStep", step_s=0.01)
    app.command("Reset")
    app.controls = [0.01, 0.0, 0.02, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(app.step(1)["lanes"][0]["controls"], [0.01, 0.0, 0.02, 0.0, 0.0, 0.0])
    mode = app.snapshot()["flight_mode"]
    assert app.command("SetFlightMode", mode=mode)["message"] == f"flight mode: {mode}"
    assert app.step(1)["lanes"][0]["controls"][2] != 0.02
    app.controls = [0.0, 0.0, 0.0, 0.0, 0.0, 1e9]
    assert app.step(1)["lanes"][0]["controls"][5] == 1e7  # the end of its range


def test_what_cannot_be_is_answered_in_one_line_that_says_what_may(app: Connection) -> None:
    wrong = [
        (("SetSped", {"speed": 1.0}), "unknown command 'SetSped'; allowed: .*SetSpeed"),
        (("SetSpeed", {"sped": 1.0}), "SetSpeed: unknown field 'sped'; allowed: speed"),
        (("SetSpeed", {"speed": "fast"}), "SetSpeed: Expected `float`, got `str`"),
        (("SetSpeed", {}), "SetSpeed: .*missing required field `speed`"),
        (("SetSpeed", {"speed": 1e9}), "speed 1e.09 is refused; allowed"),
        (("SetControls", {"values": [1.0]}), "allowed: a finite number for each of torque_x"),
        (("SetControls", {"values": [float("nan")] * 6}), "allowed: a finite number for each of torque_x"),
        (("SetParameter", {"name": "mas", "value": 1.0}), "mas"),
        (("SetVehicle", {"name": "/tmp/mine"}), "unknown command 'SetVehicle'"),
    ]
    for (name, fields), line in wrong:
        with pytest.raises(sim.InputError, match=line) as refusal:
            app.command(name, **fields)
        assert "\n" not in str(refusal.value)


def test_what_the_guide_prints_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of its first script, but of endless streams the beginning."""
    guide = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
    block = max(re.findall(r"(?:^    .*\n)+", guide, re.M), key=len)
    code = re.sub(r"in (app\.stream\(.*?\)):", r"in itertools.islice(\1, 3):", textwrap.dedent(block))
    assert code.count("islice") == 2
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    scene = load_scene("plain", vehicle="helicopter")
    flight = Simulation(scene, load_world(scene.world, seed=scene.seed))
    flight.submit(
        SetPaused(True)
    )  # it is on the ground after 0.25 s, and a busy machine takes as long to connect
    with Server(lambda: flight, lambda name: Future()):
        flight.start()
        try:
            exec(code, {"sim": sim, "itertools": itertools})
        finally:
            flight.stop()
    assert len(capsys.readouterr().out.splitlines()) >= 7
    assert flight.snapshot.lanes[0].controls.tolist() == [49.0, 0.0, 0.01, 0.0]


def test_a_scene_is_asked_of_the_window(app: Connection, listening: Listening) -> None:
    app.scene("harbour")
    assert listening.scenes[-1] == "harbour"


def test_who_asks_of_a_scene_that_was_left_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its simulation has stopped, and after."""
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    scene = load_scene("plain")
    flight = Simulation(scene, load_world(scene.world, seed=scene.seed))
    with Server(lambda: flight, lambda name: Future()), sim.connect() as app:
        waits = flight.ask(SetPaused(True))
        flight.stop()
        assert waits.cancelled()
        with pytest.raises(sim.InputError, match="SetPaused: the scene was left meanwhile; allowed: to ask"):
            app.pause()
        flight.start()
        app.pause()
        flight.stop()
    assert flight.snapshot.paused


@pytest.mark.parametrize("name", ["harbor", "/tmp/own.toml", "scenes/harbour.toml", ""])
def test_what_is_no_scene_of_the_project_is_refused_and_no_file_is_read(
    app: Connection, listening: Listening, name: str
) -> None:
    asked = list(listening.scenes)
    with pytest.raises(sim.InputError, match=r"unknown scene .* allowed: .*") as refused:
        app.scene(name)
    assert "\n" not in str(refused.value)
    assert listening.scenes == asked


def test_a_stream_shows_the_latest_however_slowly_it_is_read(app: Connection) -> None:
    app.command("Reset")
    app.resume()
    stream = app.stream(every_s=0.005)
    first = next(stream)["time_s"]
    time.sleep(0.5)
    for _ in range(200):  # what was on its way
        next(stream)
    second = wait_until(lambda: next((s for s in [next(stream)["time_s"]] if s > first), None))
    now = app.snapshot()["time_s"]
    stream.close()
    app.pause()
    assert first < second <= now


def test_a_stream_of_names_has_their_values_and_refuses_others_in_a_line(app: Connection) -> None:
    app.pause()
    lane = app.lanes[0]
    body = next(iter(lane["bodies"]))
    time_s, energy_J, controls, pose = next(app.stream("energy", "controls", body))
    assert (time_s, energy_J) == (lane["time_s"], lane["energy_J"])
    assert np.array_equal(controls, lane["controls"])
    assert np.array_equal(pose, lane["bodies"][body])
    with pytest.raises(sim.InputError, match=r"stream: unknown 'enrgy'; .*energy") as refused:
        next(app.stream("enrgy"))
    assert "\n" not in str(refused.value)


def test_who_has_no_token_or_comes_from_a_page_or_to_another_host_is_refused(listening: Listening) -> None:
    port, token = found()

    def answer(*headers: str, host: str = f"127.0.0.1:{port}") -> str:
        lines = [
            "GET / HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Version: 13", *headers, "", "",
        ]  # fmt: skip
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plug:
            plug.sendall("\r\n".join(lines).encode())
            return plug.recv(200).split(b"\r\n")[0].decode()

    bearer = f"Authorization: Bearer {token}"
    assert " 101 " in answer(bearer)
    assert " 401 " in answer()
    assert " 401 " in answer("Authorization: Bearer " + "0" * len(token))
    assert " 401 " in answer(bearer, bearer)
    assert " 403 " in answer(bearer, "Origin: null")
    assert " 400 " in answer(bearer, host="evil.example")
    assert " 400 " in answer(bearer, f"Host: 127.0.0.1:{port}")
    with pytest.raises(sim.InputError, match="no window listens at port"):
        sim.connect(port, "wrong")


def test_no_more_programs_are_served_than_there_are_places(listening: Listening) -> None:
    """Who leaves makes room at once; who came first is served, however late its thread is."""
    with ExitStack() as taken:
        for _ in range(20):
            with sim.connect():
                pass
        for _ in range(MOST_CLIENTS):
            first = taken.enter_context(sim.connect())
        with sim.connect() as another, pytest.raises(sim.InputError, match=f"{MOST_CLIENTS} programs are"):
            another.snapshot()
        assert first.snapshot()["scene"] == "plain"


def sent(app: Connection, data: bytes) -> dict:
    app._socket.send(data)  # what no client of ours would send
    return decode(app._socket.recv(30.0))


def test_floods_readers_that_sleep_and_links_that_break_leave_nothing_behind(listening: Listening) -> None:
    from websockets.sync.client import connect

    port, token = found()
    head = {"Authorization": f"Bearer {token}"}
    before = threading.active_count()
    asked = (
        encode({"id": 1, "ask": "look"}),
        encode({"id": 2, "ask": "stream", "every_s": 0.0}),
        encode({"id": 3, "ask": "do", "command": "SetSpeed", "fields": {"speed": "x" * 500}}),
    )
    for request in asked:
        place = f"ws://127.0.0.1:{port}"
        with (
            suppress(OSError, ConnectionClosed),
            connect(place, additional_headers=head, compression=None) as plug,
        ):
            with suppress(OSError, TimeoutError, ConnectionClosed):
                plug.socket.settimeout(1.0)
                for _ in range(2000):  # and not one answer is read
                    plug.send(request)
            with sim.connect() as other:  # whoever reads is served meanwhile
                assert other.snapshot()["scene"] == "plain"
            plug.socket.sendall(b"\x82\x7e\xff")  # a frame that never ends
            plug.socket.shutdown(socket.SHUT_RDWR)  # without a word
    come_to(before)
    with sim.connect() as app:
        app.command("Reset")
        assert app.step(2)["lanes"][0]["time_s"] > 0.0


@SEVERAL
@given(st.binary(max_size=200))
def test_bad_bytes_are_answered_in_one_line_and_nothing_ends(app: Connection, data: bytes) -> None:
    told = sent(app, data)
    assert "\n" not in told["error"]
    assert app.snapshot()["scene"] == "plain"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@SEVERAL
@given(
    st.sampled_from(["SetControls", "SetPilotInput", "SetStep", "AddLane", "Scrub", "SetLaneTint"]),
    JSON,
    JSON,
)
def test_odd_fields_of_true_commands_are_answered(
    app: Connection, name: str, one: object, other: object
) -> None:
    keys = ["values", "pilot", "step_s", "integrator", "time_s", "lane"]
    fields = dict.fromkeys(keys, one) | {"colour": other}
    told = sent(app, encode({"id": 7, "ask": "do", "command": name, "fields": fields}))
    assert told["id"] in (7, None)
    assert "\n" not in told.get("error", "")


@given(
    st.sampled_from(["<f8", "<f4", "<i8", "<i4", "|b1"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.integers(),
)
def test_arrays_arrive_as_they_were_sent(kind: str, shape: list[int], seed: int) -> None:
    values = np.random.default_rng(seed % 1000).normal(size=shape).astype(kind)
    back = decode(encode({"a": values}))["a"]
    assert back.dtype == values.dtype
    assert back.shape == values.shape
    assert np.array_equal(back, values)


def test_port_and_token_are_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    with announced(4242) as token:
        assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
        assert found() == (4242, token)
        with announced(4243):
            pass
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(sim.InputError, match="no window listens; allowed: to start one with --listen"):
        found()
