"""Laws of what is told while a scene is made ready."""

import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from sim.commands import Command, GiveUpWaiting, SetIntegrator, SetVehicle, ShowMeasured
from sim.platform.errors import InputError
from sim.platform.progress import Preparation
from sim.scene.measured import Measured, load_measured
from sim.simulation.lanes.snapshot import Waiting
from tests.patience import PATIENCE_S, wait_until
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.scenes.actions import SceneActions, SceneChange
from ui.features.scenes.coming import PictureComes, draw_arrival, draw_coming, draw_waiting, job_line
from ui.features.scenes.loader import Loader
from ui.features.scenes.view import CancelLoading, OpenPath
from ui.window.widgets import menu_text, swaps


def test_what_is_made_ready_is_told_and_can_be_given_up(bench: Bench) -> None:
    jobs = (
        Preparation("Growing the canyon", 0.0, ended_s=1.5),
        Preparation("Compiling the boat (rk4)", 1.0, "step", 7),
    )
    asked = bench.click(
        "coming/cancel", lambda now, context: draw_coming("canyon", jobs, context), fakes.snapshot()
    )
    assert asked == [CancelLoading()]
    assert job_line(jobs[0]) == "Growing the canyon, 1.5 s"
    assert job_line(jobs[1]).startswith("Compiling the boat (rk4), 7 parts, ")


def test_a_scene_that_is_given_up_never_comes() -> None:
    change, go = SceneChange(Loader()), Event()

    def scene() -> None:
        go.wait(PATIENCE_S)
        raise AssertionError("nobody waits for it")

    try:
        change.load("canyon", scene, "software", "")
        assert change.coming == "canyon"
        change.cancel()
        assert change.coming == ""
        go.set()
        assert change.take() is None
    finally:
        go.set()
        change.close()


def test_a_flight_log_is_read_beside_the_frames_and_told(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes; of a mistake in it there is one line."""
    go, told, asked = Event(), list[str](), list[Command]()

    def slow(path: str) -> Measured:
        assert go.wait(PATIENCE_S)
        return load_measured(path)

    monkeypatch.setattr("ui.features.scenes.actions.load_measured", slow)
    bench.context.show(Loader())
    app = SimpleNamespace(context=bench.context, submit=asked.append, tell=told.append)
    actions = SceneActions(app)
    try:
        for rows, name in (("0,0,0,0,1,0,0,0\n1,1,0,0,1,0,0,0\n", "good.csv"), ("0,0\n", "bad.csv")):
            (tmp_path / name).write_text("time_s,x_m,y_m,z_m,qw,qx,qy,qz\n" + rows)
            actions.carry_out(OpenPath(str(tmp_path / name)))
            actions.poll(fakes.snapshot())
            if name == "good.csv":
                assert (told, asked) == ([f"Reading {name}"], [])  # it is still being read
            go.set()
            with pytest.raises(InputError, match=r"bad\.csv") if name == "bad.csv" else nullcontext():

                def answered(name: str = name) -> bool:
                    actions.poll(fakes.snapshot())
                    return bool(asked) and name == "good.csv"

                wait_until(answered)
    finally:
        actions.close()
    (shown,) = asked
    assert isinstance(shown, ShowMeasured)
    assert shown.measured.name == "good"
    assert shown.measured.poses[-1, 0, 3] == 1.0


def test_a_swap_that_waits_for_its_kernel_is_told_in_its_menu_and_can_be_given_up(bench: Bench) -> None:
    job = Preparation("Compiling the helicopter (rk4)", 0.0, "rollout", 3)
    waiting = (Waiting(SetIntegrator("rk4"), job.title, None), Waiting(SetVehicle("boat"), job.title, job))
    now = replace(fakes.snapshot(), waiting=waiting)
    assert swaps(now) == ("rk4", "boat")
    assert swaps(fakes.snapshot()) == ("", "")
    of_a_ghost = replace(now, waiting=(Waiting(SetIntegrator("rk4", "another lane"), job.title, job),))
    assert swaps(of_a_ghost) == ("", "")
    assert menu_text("rk2", "") == "rk2"
    assert menu_text("rk2", "rk4").split()[0::2] == ["rk2", "rk4"]
    asked = bench.click("coming/cancel", lambda shown, context: draw_waiting(shown.waiting, context), now)
    assert asked == [GiveUpWaiting()]


def test_a_scene_whose_picture_is_long_in_coming_says_so(bench: Bench) -> None:
    """Only where somebody has waited for it; from the frame on in which it began to be waited for."""
    for comes, told in (
        (PictureComes(), False),
        (PictureComes(True, time.perf_counter()), False),
        (PictureComes(True, time.perf_counter() - 5.0), True),
        (PictureComes(True, time.perf_counter() - 5.0).now(yes=True), True),
        (PictureComes(False, time.perf_counter() - 5.0).now(yes=True), False),
    ):
        bench.context.show(comes)
        bench.frame(draw_arrival, fakes.snapshot())
        assert ("arriving" in bench.context.rects) == told
