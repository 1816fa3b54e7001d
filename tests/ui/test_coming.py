"""Laws of what is told while a scene is made ready."""

from tests.ui import fakes
from tests.ui.bench import Bench
from ui.opening import Job
from ui.panels import coming
from ui.requests import CancelLoading


def test_what_is_made_ready_is_told_and_can_be_given_up(bench: Bench) -> None:
    jobs = (Job("World: canyon", 0.0, ended_s=1.5), Job("Kernel: rk4", 1.0, "step", 7))
    asked = bench.click(
        "coming/cancel", lambda now, context: coming.draw("canyon", jobs, context), fakes.snapshot()
    )
    assert asked == [CancelLoading()]
    assert coming.told(jobs[0]) == "World: canyon, 1.5 s"
    assert coming.told(jobs[1]).startswith("Kernel: rk4, compiling step (7), ")


def test_a_scene_that_is_given_up_never_comes() -> None:
    from threading import Event

    from ui.desktop.loader import Loader
    from ui.desktop.scene_change import SceneChange

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
