"""Laws of the panel of controllers: which one flies, its gains, and its file as it is saved."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from sim.commands import FlyBy, SetFlightMode, SetGain
from sim.control.feedback import Geometric, Pid
from sim.controllers import PilotInput, gains_of
from sim.controllers.controller import load_controller
from sim.simulation.lanes.snapshot import ControllerSnapshot
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.controllers import OwnControllers, draw_controllers
from ui.features.edits import Edits
from ui.features.plots.channels import offered, shown_at_first
from ui.window.widgets import who_text


def flying(kind=Pid, *, fault: str = "", late: str = "", **gains: float) -> ControllerSnapshot:
    """As a lane tells it."""
    usual = {name: gain.default for name, gain in gains_of(kind).items()}
    return ControllerSnapshot(kind, usual | gains, {}, fault, late)


def test_the_menu_has_the_projects_controllers_and_gives_back_to_the_hand(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.click("controller/combo", draw_controllers, now)
    (asked,) = bench.click("controller/item/geometric", draw_controllers, now)
    assert isinstance(asked, FlyBy)
    assert isinstance(asked.controller, Geometric)
    now = fakes.snapshot(fakes.lane(controller=flying()))
    bench.click("controller/combo", draw_controllers, now)
    assert bench.click("controller/item/by hand", draw_controllers, now) == [SetFlightMode("attitude")]


def test_a_gain_is_a_slider_over_its_range(bench: Bench) -> None:
    now = fakes.snapshot(fakes.lane(controller=flying()), fakes.lane("beside", controller=flying(Geometric)))
    asked = bench.click("controller/beside/k_x", draw_controllers, now, at=0.75)
    assert asked
    assert (asked[0].name, asked[0].lane) == ("k_x", "beside")
    gain = gains_of(Geometric)["k_x"]
    assert 0.6 < (asked[0].value - gain.low) / (gain.high - gain.low) < 0.9


def test_lanes_that_controllers_fly_are_told_apart_by_them() -> None:
    assert who_text(fakes.lane(controller=flying())) == "Pid"
    assert who_text(fakes.lane("mine", controller=flying(Geometric))) == "mine"
    assert who_text(fakes.lane("mine")) == fakes.lane("mine").integrator


def test_what_a_controller_plots_is_shown_first_and_no_longer_once_the_hand_flies() -> None:
    flown = replace(flying(), shown={"error": (0.3, "m")})
    lane = fakes.lane(controller=flown, observables={"lift_ratio": 1.0, "error": 0.3}, units={"error": "m"})
    usual = shown_at_first(fakes.lane(observables={"lift_ratio": 1.0}))
    assert len(usual) > 2
    assert shown_at_first(lane) == ("error", *usual)
    assert offered(lane)["error"].unit == "m"
    assert "controller" in offered(lane)["error"].doc
    assert "controller" not in offered(lane)["lift_ratio"].doc


def test_a_changed_gain_is_undone_and_done_again() -> None:
    edits, now_s = Edits(), 0.0

    def show(**gains: float) -> None:
        nonlocal now_s
        for _ in range(5):
            now_s += 0.2
            edits.observe(fakes.snapshot(fakes.lane(controller=flying(**gains))), None, now_s, busy=False)

    edits.observe(
        fakes.snapshot(), None, now_s, busy=False
    )  # by hand at first: that somebody else flies is no edit
    show()
    assert edits.names == ["start"]
    show(place=3.0)
    assert edits.names == ["start", "place 1.5 \N{RIGHTWARDS ARROW} 3"]
    assert edits.step(-1, now_s) == [SetGain("place", 1.5, "flown")]
    show()
    assert edits.step(1, now_s) == [SetGain("place", 3.0, "flown")]


def test_a_file_is_taken_up_once_it_is_saved_whole_and_a_mistake_is_told_until_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "config"))
    file, now_s = tmp_path / "own.py", 0.0

    def saved(body: str) -> None:
        text = f"import sim\nclass Own(sim.Controller):\n    def control(self, *given):\n        {body}\n"
        file.write_text(text, encoding="utf-8")

    saved("return 1")
    kind, _ = load_controller(str(file), (tmp_path,), trusted=True)
    own = OwnControllers()

    def looked() -> list:
        nonlocal now_s
        found = []
        for _ in range(4):
            now_s += 0.3
            found += own.poll([kind], now_s)
        while own.busy:  # beside the frames
            time.sleep(0.01)
            found += own.poll([kind], now_s)
        return found

    assert looked() == []
    saved("return 1234")
    (renewed,) = looked()
    assert renewed.kind().control(0.0, None, PilotInput(), {}) == 1234
    saved("return (")
    assert looked() == []
    (mistake,) = own.mistakes
    assert mistake.endswith("own.py cannot be run (line 4): SyntaxError: '(' was never closed")
    saved("return 12345")
    (renewed,) = looked()
    assert own.mistakes == ()


def test_what_was_saved_before_the_first_look_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "config"))
    file = tmp_path / "own.py"
    text = "import sim\nclass Own(sim.Controller):\n    def control(self, *given):\n        return 1\n"
    file.write_text(text, encoding="utf-8")
    kind, _ = load_controller(str(file), (tmp_path,), trusted=True)
    file.write_text(text.replace("return 1", "return 2"), encoding="utf-8")
    own, found = OwnControllers(), []
    for look in range(4):
        found += own.poll([kind], look * 0.3)
    while own.busy:
        time.sleep(0.01)
        found += own.poll([kind], 2.0)
    (renewed,) = found
    assert renewed.kind().control(0.0, None, PilotInput(), {}) == 2
