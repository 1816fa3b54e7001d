"""A file that is dragged from another program and dropped onto the window is opened, as by Open..."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import sim
from sim.recordings import Take, save_take
from tests.app.desktop import App, Screen
from tests.app.program import ROOT

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]
START_S = 60.0


def drop(screen: Screen, file: Path, types: int) -> None:
    """By a program of its own that offers it in so many types, over the XDND protocol."""
    environment = {**os.environ, "DISPLAY": screen.display}
    subprocess.run(
        [sys.executable, "-m", "tests.app.xdnd", str(file), str(types)],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=600,
    )


def resize(screen: Screen, size: tuple[int, int]) -> None:
    """Every window of a screen, as a desktop would."""
    found = subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--name", ""],
        env={**os.environ, "DISPLAY": screen.display},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    for window in found.stdout.split():
        screen.xdotool("windowsize", window, *size)


def test_a_dropped_scene_is_opened_and_what_is_none_ends_nothing(screen: Screen, tmp_path: Path) -> None:
    """From programs that offer one type, as many terminals do, and more than an event has room for.

    Into a window whose settings are of no use to anybody, and which is made as small and as flat as may be.
    """
    kept = ("settings.json", "controls.json", "bookmarks.json")
    for name, text in zip(
        kept, ("[" * 100_000, '{"look": {"exposure": NaN}}', '{"a":' * 90_000), strict=True
    ):
        (tmp_path / name).write_text(text)
    take = tmp_path / "flown.npz"
    run = sim.simulate("rigid-body", "rk4", step=0.02, duration=1.0)
    save_take(Take.of_trajectory(run, scene="plain"), take)
    first, second = tmp_path / "first.toml", tmp_path / "second scene, bücher.toml"
    first.write_text('vehicle = "rigid-body"\n[world]\nname = "plain"\n')
    second.write_text('vehicle = "pendulum"\nintegrator = "cf4"\n[world]\nname = "plain"\n')
    robot = tmp_path / "robot.xml"
    robot.write_text(
        '<mujoco model="dropped robot"><worldbody><body pos="0 0 1"><joint axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.6" size=".05"/></body></worldbody></mujoco>'
    )
    broken = tmp_path / "broken.toml"
    broken.write_text('vehicle = "zeppelin"\n')
    arguments = (str(first), "--quality", "software", "--size", "900x560")
    with closing(App(screen, tmp_path, *arguments)) as app:

        def flies(vehicle: str) -> None:
            app.wait_until(
                lambda p: p["lanes"][0]["vehicle"] == vehicle, timeout_s=START_S, what=f"{vehicle} flies"
            )

        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        drop(screen, broken, 1)
        app.wait_frames(5)
        flies("rigid-body")
        drop(screen, second, 1)
        flies("pendulum")
        drop(screen, first, 6)
        flies("rigid-body")
        for size in ((200, 150), (1111, 301), (333, 777), (900, 560)):
            resize(screen, size)
            app.wait_until(lambda p, s=size: p["size"] == list(s), timeout_s=START_S, what=f"it is {size}")
        assert app.wait_frames(3)["gl_errors"] == []
        drop(screen, take, 1)
        app.wait_until(lambda p: p["look_back"], timeout_s=START_S, what="the take is shown")
        assert all((tmp_path / f"{name}.damaged").exists() for name in kept)
        drop(screen, first, 1)
        app.wait_until(lambda p: not p["look_back"], timeout_s=START_S, what="the scene is opened again")
        drop(screen, robot, 1)
        flies("dropped-robot")


OWN = """
import numpy as np

import sim


class Lift(sim.Controller):
    force = sim.Gain({force}, 0.0, 500.0, "N")

    def control(self, t, state, sticks, memory):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, self.force])
"""


def test_a_dropped_controller_flies_once_it_is_trusted_and_anew_whenever_it_is_saved(
    screen: Screen, tmp_path: Path
) -> None:
    scene, own = tmp_path / "first.toml", tmp_path / "own" / "lift.py"
    scene.write_text('vehicle = "rigid-body"\n[world]\nname = "plain"\n')
    own.parent.mkdir()
    own.write_text(OWN.format(force=123.0))
    with closing(App(screen, tmp_path, str(scene), "--quality", "software", "--size", "900x560")) as app:

        def lifts(force: float) -> None:
            app.wait_until(
                lambda p: p["lanes"][0]["controls"][5:] == [force], timeout_s=START_S, what=f"{force} N"
            )

        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        drop(screen, own, 1)
        seen = app.wait_until(lambda p: "trust" in p["widgets"], timeout_s=START_S, what="it is asked")
        assert seen["lanes"][0]["controls"][5] == 0.0
        app.click("trust/folder")
        lifts(123.0)
        own.write_text(OWN.format(force=77.5))
        lifts(77.5)
        own.write_text(OWN.format(force=5.0).replace("return", "retrun"))
        app.wait_frames(30)
        lifts(77.5)
        second = own.with_name("second.py")
        second.write_text(OWN.format(force=31.0).replace("Lift", "Second"))
        drop(screen, second, 1)  # the folder is trusted by now: in flight, and nothing is asked
        lifts(31.0)
        assert "trust" not in app.wait_frames(3)["widgets"]
        assert "Traceback" not in app.log()
