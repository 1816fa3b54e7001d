"""Laws of exports and videos of a window: what is pressed is what is asked for, what was seen is what is kept."""

import json
import re
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest

import sim
from export.pictures import FPS, Film
from render.vehicles.crash_film import LIVE_S, REPLAYED_S, SLOWNESS, CrashFilm
from sim.commands import KeepTake, PlayTake, ShowMeasured
from sim.planner.service.session import PlanView
from sim.platform.errors import InputError
from sim.recordings import Take
from sim.recordings.take import FALLS_S, LaneStatus
from sim.scene import load_scene
from sim.scene.measured import Measured
from sim.simulation import Simulation
from sim.world import load_world
from tests.export.test_fall import crashed
from tests.sim.plan_samples import BOAT, record, task
from tests.sim.simulation_scenes import helicopter_scene, simulation
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.feature import News
from ui.features.takes.export_actions import KINDS, Sharing
from ui.features.takes.live_actions import LiveActions
from ui.features.takes.panel import draw_takes
from ui.features.takes.sharing import (
    VIDEO,
    CancelExport,
    EndListening,
    EndLogs,
    ExportChoices,
    ExportShown,
    FilmView,
    Listen,
    ListenView,
    LogFlight,
    LogsView,
    RecordVideo,
    SharingView,
    StopVideo,
    Work,
    draw_sharing,
)


def flying():
    return fakes.snapshot(recorded_s=(0.0, 12.0))


def test_what_is_shown_is_exported_in_the_form_that_is_chosen(bench: Bench) -> None:
    bench.context.show(SharingView(KINDS))
    assert bench.click("sharing/export", draw_takes, flying()) == [ExportShown(".glb")]
    assert bench.click("sharing/ground", draw_sharing, flying()) == []
    assert bench.click("sharing/export", draw_sharing, flying()) == [ExportShown(".glb", ground=True)]
    bench.context.of(ExportChoices).ending = ".csv"
    assert bench.click("sharing/export", draw_sharing, flying()) == [ExportShown(".csv")]
    assert bench.click("sharing/share", draw_sharing, flying()) == [
        ExportShown(".html")
    ]  # whatever is chosen
    bench.context.show(SharingView(KINDS, exporting=True))
    assert bench.click("sharing/export", draw_sharing, flying()) == []
    bench.frame(draw_sharing, fakes.snapshot(recorded_s=(0.0, 0.0)))
    assert "sharing/export" not in bench.context.rects
    assert [kind.ending for kind in KINDS if kind.ground] == [".glb", ".usdc"]


def test_a_video_is_drawn_anew_by_the_camera_and_with_the_blur_that_are_chosen(bench: Bench) -> None:
    bench.context.show(SharingView(KINDS))
    bench.context.of(ExportChoices).ending = VIDEO
    bench.context.of(ExportChoices).camera, bench.context.of(ExportChoices).blur = "tower", 8
    assert bench.click("sharing/export", draw_sharing, flying()) == [
        ExportShown(VIDEO, camera="tower", subframes=8)
    ]
    assert {"sharing/camera/combo", "sharing/blur/combo"} <= set(bench.context.rects)
    assert "sharing/ground" not in bench.context.rects
    bench.context.show(SharingView(KINDS, exporting=True, work=Work("", 0.25)))
    assert bench.click("sharing/give-up", draw_sharing, flying()) == [CancelExport()]
    assert "sharing/work" in bench.context.rects


def test_a_log_is_begun_of_the_kind_that_is_chosen_and_ended(bench: Bench) -> None:
    bench.context.show(SharingView(KINDS))
    assert bench.click("sharing/log", draw_sharing, flying()) == [LogFlight(".mcap")]
    bench.context.of(ExportChoices).ending = ".rrd"
    assert bench.click("sharing/log", draw_sharing, flying()) == [LogFlight(".rrd")]
    assert bench.click("sharing/log", draw_sharing, fakes.snapshot(recorded_s=(0.0, 0.0))) == [
        LogFlight(".rrd")
    ]
    bench.context.show(LogsView(("flight.rrd",)))
    assert bench.click("sharing/end-log", draw_sharing, flying()) == [EndLogs()]
    assert "sharing/log" not in bench.context.rects


def test_the_window_is_opened_to_other_programs_and_closed_again_by_a_button(bench: Bench) -> None:
    assert bench.click("sharing/listen", draw_sharing, flying()) == [Listen()]
    bench.context.show(ListenView("/home/me/live.html"))
    assert bench.click("sharing/listen", draw_sharing, flying()) == [EndListening()]


def test_what_listens_is_connected_to_until_it_is_told_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("websockets")
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    simulation, told = Simulation(load_scene("plain"), load_world("plain")), list[str]()
    app = SimpleNamespace(simulation=simulation, tell=told.append)
    actions = LiveActions(app)
    simulation.start()
    try:
        assert list(actions.views(simulation.snapshot))[1] == ListenView("")
        actions.carry_out(Listen())
        assert list(actions.views(simulation.snapshot))[1] == ListenView(str(tmp_path / "live.html"))
        with sim.connect() as connected:
            assert connected.lanes[0]["name"] == "flown"
        actions.carry_out(EndListening())
        with pytest.raises(InputError):
            sim.connect()
        assert list(actions.views(simulation.snapshot))[1] == ListenView("")
    finally:
        actions.close()
        simulation.stop()
    assert told[0].startswith("Listening at port ")


def test_without_websockets_listening_is_refused_in_a_line_and_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window tells what an action raises; nothing is left half open, and other buttons go on."""
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    for hidden in ("websockets.sync.server", "websockets.sync.client", "websockets.exceptions"):
        monkeypatch.setitem(sys.modules, hidden, None)
    simulation, told = Simulation(load_scene("plain"), load_world("plain")), list[str]()
    actions = LiveActions(SimpleNamespace(simulation=simulation, tell=told.append))
    for _ in range(2):
        with pytest.raises(InputError) as refusal:
            actions.carry_out(Listen())
        assert "needs websockets" in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert list(actions.views(simulation.snapshot))[1] == ListenView("")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "live.json").write_text('{"port": 1, "token": "t"}')
    with pytest.raises(InputError, match="connect: needs websockets"):
        sim.connect()
    actions.carry_out(EndListening())
    actions.close()


def test_a_video_is_begun_ended_and_given_up_by_buttons(bench: Bench) -> None:
    assert bench.click("sharing/record", draw_sharing, flying()) == [RecordVideo()]
    bench.context.show(SharingView(film=FilmView(3.2, 0.4)))
    assert bench.click("sharing/keep", draw_sharing, flying()) == [StopVideo(keep=True)]
    assert bench.click("sharing/cancel", draw_sharing, flying()) == [StopVideo(keep=False)]
    assert "sharing/progress" in bench.context.rects


def test_what_is_shared_has_lanes_measured_flights_the_plan_and_the_words_of_the_scene(
    tmp_path: Path,
) -> None:
    scene = replace(load_scene("plain"), text="What is said of it.")
    world = load_world("plain")
    simulation = Simulation(scene, world)
    time = np.linspace(0.0, 1.0, 20)
    simulation.submit(ShowMeasured(Measured("gps", time, np.tile(np.eye(4), (20, 1, 1)))))
    simulation.advance(1.0)
    sharing = Sharing(tmp_path)
    planned = PlanView(BOAT, task(), plan=record())
    sharing.export(ExportShown(".html"), simulation, world, planned, scene)
    simulation.advance(0.1)
    news: list[News] = []
    while not news:
        news = sharing.poll()
    sharing.close()
    assert not news[0].error, news[0].text
    (page,) = tmp_path.iterdir()
    found = re.search(r'id="about">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    about = json.loads(found[1])
    assert about["title"] == scene.title
    assert about["caption"][0] == {"text": "What is said of it."}
    assert len(about["plan"]["lines"]) > 3
    lanes = [(lane["name"], lane["ghost"]) for lane in about["lanes"]]
    assert lanes == [("flown", False), ("rk4", True), ("gps", True)]


def test_a_film_has_its_rate_however_fast_the_frames_come(tmp_path: Path) -> None:
    film = Film(tmp_path / "film.mp4", (65, 49))
    pictures = np.linspace(0, 255, 10).astype(np.uint8)
    for k, level in enumerate(pictures):  # five frames a second
        film.picture(np.full((49, 65, 3), level, np.uint8), 0.2 * k)
    film.picture(np.full((98, 130, 3), 255, np.uint8), 2.0)  # the window has grown meanwhile
    film.finish()
    film.join()
    assert film.error == ""
    with av.open(str(film.path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert float(container.streams.video[0].average_rate) == FPS
    assert len(frames) == 2 * FPS + 1
    assert frames[0].shape == (48, 64, 3)
    assert frames[30][0, 0, 0] == pytest.approx(pictures[5], abs=4)


def test_a_film_that_is_given_up_or_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    film = Film(tmp_path / "film.mp4", (64, 48))
    film.picture(np.zeros((48, 64, 3), np.uint8), 0.1)
    film.cancel()
    film.join()
    assert list(tmp_path.iterdir()) == []
    lost = Film(tmp_path / "missing" / "film.mp4", (64, 48))
    lost.join()
    lost.picture(np.zeros((48, 64, 3), np.uint8), 0.1)
    assert "cannot be written" in lost.error


def test_a_video_of_a_take_that_ends_in_a_crash_goes_on_until_the_wreck_lies(tmp_path: Path) -> None:
    """What is seen of the crash among it: it breaks, comes once more slowly, and falls as long as it is followed."""
    _, _, take, _ = crashed()
    running = simulation(helicopter_scene(flight_mode="raw"))
    running.submit(PlayTake(take))
    film, sharing, ages_s = CrashFilm(running.run.world, replays=True), Sharing(tmp_path), list[float]()
    snapshot = running.advance(0.1)
    assert sharing.record(snapshot, (64, 48)) == ""
    try:
        while sharing.view(snapshot).film is not None:
            film.go_on(0.1)
            film.observe(snapshot)
            sharing.look(snapshot, lambda: np.zeros((48, 64, 3), np.uint8), falls=film.falls)
            ages_s.append(film.wreck_age_s if film.on else -1.0)
            assert len(ages_s) < 10 * (take.duration_s + FALLS_S + LIVE_S + 3.0 * REPLAYED_S * SLOWNESS)
            snapshot = running.advance(0.1)
    finally:
        film.observe(replace(snapshot, lanes=(replace(snapshot.lanes[0], status=LaneStatus.RUNNING),)))
        sharing.close()
    assert ages_s[-2] < FALLS_S <= ages_s[-1]
    assert ages_s.count(-1.0) > 5  # its flight before that


def test_a_video_of_another_take_ends_with_it(tmp_path: Path) -> None:
    running = simulation(helicopter_scene())
    running.advance(1.0)
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply))
    running.advance(0.0)
    running.submit(PlayTake(reply.result(0)))
    film, sharing = CrashFilm(running.run.world, replays=True), Sharing(tmp_path)
    snapshot = running.advance(0.1)
    sharing.record(snapshot, (64, 48))
    for _ in range(20):
        film.go_on(0.1)
        film.observe(snapshot)
        sharing.look(snapshot, lambda: np.zeros((48, 64, 3), np.uint8), falls=film.falls)
        snapshot = running.advance(0.1)
    assert sharing.view(snapshot).film is None
    sharing.close()
