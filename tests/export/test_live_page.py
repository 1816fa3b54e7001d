"""A browser beside a running simulation: it shows where things are, by what goes over the WebSocket alone."""

import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from export.page import LivePage, Surroundings
from sim.commands import AddLane, SetPaused
from sim.live.wire import page_file
from sim.planner.service.session import PlanView
from sim.scene import load_scene
from sim.shapes import Box, Shape
from sim.simulation import Simulation
from sim.world import load_world
from tests.export.browser import Browser, browser, installed
from tests.sim.plan_samples import BOAT, record, task

pytest.importorskip("websockets", reason="websockets is not there")
from sim.live.server import Server  # after the question whether it can be
from tests.patience import PATIENCE_S, wait_until

pytestmark = pytest.mark.skipif(not installed(), reason="there is no chromedriver")


PLANNED: list[PlanView | None] = [None]
"""What the window plans; the last one counts."""


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    """A helicopter that hovers over the plain, with a server beside it."""
    folder = tmp_path_factory.mktemp("config")
    scene = load_scene("plain")
    made = Simulation(scene, load_world(scene.world, seed=scene.seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLONOMY_CONFIG", str(folder))
        around = LivePage(lambda: Surroundings(made.run.world, (), PLANNED[-1]))
        with Server(lambda: made, lambda name: Future(), page=around):
            made.start()
            try:
                yield made
            finally:
                made.stop()
        assert os.listdir(folder) == []


@pytest.fixture(scope="module")
def page(simulation: Simulation) -> Iterator[Browser]:
    with browser() as window:
        window.open(page_file(), "window.holonomy && window.holonomy.latest && window.holonomy.plots.length")
        yield window


def shown(page: Browser) -> tuple[float, np.ndarray]:
    """Time of the last picture, and pose of the first lane's first body in it."""
    time_s, T = page.run("return [window.holonomy.latest.time_s, window.holonomy.poses(0)[0]]")
    return time_s, np.array(T)


def test_it_shows_where_the_vehicle_is_and_follows_it(page: Browser, simulation: Simulation) -> None:
    simulation.ask(SetPaused(False)).result(PATIENCE_S)
    before, _ = shown(page)
    wait_until(lambda: shown(page)[0] >= before + 0.5)
    simulation.ask(SetPaused(True)).result(PATIENCE_S)
    lane = simulation.snapshot.lanes[0]
    there = next(iter(lane.bodies.values()))

    def arrived() -> bool:
        now, T = shown(page)
        return now == pytest.approx(simulation.snapshot.clock_s) and np.abs(T - there).max() < 1e-9

    # Once the last picture has come, and the share between two is over; 0: float64 all the way.
    wait_until(arrived, lambda: (shown(page), there))
    assert page.complaints() == []


def test_what_is_drawn_is_no_blank_picture(page: Browser, tmp_path: Path) -> None:
    picture = np.asarray(Image.open(page.picture(tmp_path / "live.png")).convert("RGB"), float)
    view = picture[100:400, 200:700]
    assert view.std(axis=(0, 1)).max() > 10.0
    plots = picture[-100:]
    assert plots.std() > 5.0


def test_its_button_pauses_and_goes_on(page: Browser, simulation: Simulation) -> None:
    for _ in range(2):
        before = simulation.snapshot.paused
        page.run("document.getElementById('play').click()")
        wait_until(lambda before=before: simulation.snapshot.paused != before)
        wait_until(lambda before=before: page.run("return window.holonomy.paused") != before)


def test_another_lane_appears_in_it(page: Browser, simulation: Simulation) -> None:
    simulation.ask(AddLane("rk4", 0.01)).result(PATIENCE_S)
    names = "return [...document.querySelectorAll('#lanes label')].map((label) => label.textContent)"
    wait_until(lambda: len(page.run(names)) >= len(simulation.snapshot.lanes) > 1, page.complaints)
    assert page.run(names) == [lane.name for lane in simulation.snapshot.lanes]
    assert page.complaints() == []


def test_a_plan_appears_in_it_once_it_is_there(page: Browser, simulation: Simulation) -> None:
    PLANNED.append(replace(PlanView(BOAT, task(), plan=record()), phase="solving"))
    asked = "return Boolean(window.holonomy.plan) && window.holonomy.about.lanes.length > 0"
    time.sleep(0.5)
    assert page.run(asked) is False  # the planner still works
    PLANNED.append(PlanView(BOAT, task(), plan=record()))
    wait_until(lambda: page.run(f"{asked} && document.querySelector('#plan') !== null"), page.complaints)
    ghosts = page.run(
        "window.holonomy.poses(0); return window.holonomy.plan.children.filter((n) => !n.isMesh)"
        ".map((n) => n.children[0]).map((n) => n.name.endsWith('place') ? n.children[0] : n)"
        ".map((n) => n.matrixWorld.elements.slice(12, 14))"
    )
    assert np.array(ghosts)[[0, -1]] == pytest.approx(np.array([[0.0, 0.0], [10.0, 0.0]]), abs=1e-6)
    assert page.complaints() == []
    PLANNED.append(None)


def test_what_a_plan_keeps_clear_of_stands_on_it_too(simulation: Simulation) -> None:
    """A box is added half a kilometre up: the page is told of another scene, in which something is as high."""
    solids: list[Shape] = []
    page, snapshot = LivePage(lambda: Surroundings(simulation.run.world, solids)), simulation.snapshot

    def highest_m() -> float:
        glb = page.scene(snapshot)["glb"]
        told = json.loads(glb[20 : 20 + int.from_bytes(glb[12:16], "little")])
        return max(part["max"][2] for part in told["accessors"] if len(part.get("max", ())) == 3)

    before, low_m = page.picture(snapshot)["key"], highest_m()
    solids.append(Box((0.0, 0.0, 500.0), (1.0, 1.0, 2.0)))
    assert page.picture(snapshot)["key"] == page.scene(snapshot)["key"] != before
    assert low_m < 490.0
    assert highest_m() == pytest.approx(502.0, abs=0.01)


def test_without_the_token_a_page_gets_nothing(simulation: Simulation) -> None:
    place = page_file().read_text().split("url=")[1].split("#")[0]
    with browser() as window:
        window.go(place + "#" + "0" * 32)
        notice = wait_until(lambda: window.run("return document.getElementById('notice').textContent"))
        assert "does not answer" in notice
        assert not window.run("return Boolean(window.holonomy)")
