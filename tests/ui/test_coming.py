"""Laws of what is told while a scene is made ready."""

from dataclasses import replace

from sim.commands import GiveUpWaiting, SetIntegrator, SetVehicle
from sim.platform.progress import Preparation
from sim.simulation.lanes.snapshot import Waiting
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.scenes.coming import draw_coming, draw_waiting, job_line
from ui.features.scenes.view import CancelLoading
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
    from threading import Event

    from ui.features.scenes.actions import SceneChange
    from ui.features.scenes.loader import Loader

    change, go = SceneChange(Loader()), Event()

    def scene() -> None:
        go.wait(30.0)
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
