"""Things as a user places them: put up by a click, moved, scaled, deleted, undone, and saved."""

import math
import sys
from pathlib import Path

import pytest

from sim.scene import load_scene
from sim.shapes import Shape
from tests.app.desktop import App, Probe, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_barrel_is_put_up_deleted_brought_back_and_saved(screen: Screen, tmp_path: Path) -> None:
    scene = tmp_path / "alley.toml"
    scene.write_text(
        'vehicle = "car"\nstep_s = 0.01\n[world]\nname = "plain"\n[start]\nposition_m = [0.0, 0.0, 0.0]\n'
    )
    app = App(screen, tmp_path, str(scene), "--quality", "software")
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("tab/Placing")
        app.click("place/barrel")
        app.press(420, 420)
        app.wait_until(lambda p: p["message"] == "1 prop", timeout_s=60, what="it stands there")
        app.wait_until(lambda p: "place/chosen" in p["widgets"], timeout_s=30, what="it is chosen")
        app.rest()
        screen.xdotool("key", "Delete")
        app.wait_until(lambda p: p["message"] == "0 props", timeout_s=60, what="it is gone")
        app.rest()
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: p["message"] == "1 prop", timeout_s=60, what="it is back")
        app.click("place/save")
        seen = app.wait_until(
            lambda p: len(list(tmp_path.glob("alley-*.toml"))) == 1, timeout_s=60, what="a file"
        )
        assert seen["gl_errors"] == []
        app.wait_until(
            lambda p: len(list((tmp_path / "pictures").glob("*.jpg"))) == 2,
            timeout_s=60,
            what="pictures of the scene that was opened and of the one that was saved",
        )
    finally:
        app.close()
    (saved,) = tmp_path.glob("alley-*.toml")
    (one,) = load_scene(saved).environment.placed
    assert one.prop.shape.kind == "drum"
    assert one.prop.T_w[2, 3] == pytest.approx(0.45, abs=0.01)


def test_a_race_and_a_goal_are_laid_out_by_hand_and_saved_as_ones_own_scene(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "yard.toml"
    scene.write_text(
        'vehicle = "quadrotor"\n[world]\nname = "plain"\n[start]\nposition_m = [0.0, 0.0, 1.0]\n'
    )
    app = App(screen, tmp_path, str(scene), "--quality", "software")

    def told(text: str) -> None:
        app.wait_until(lambda p: p["message"] == text, timeout_s=60, what=text)

    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("tab/Placing")
        app.click("place/gate")
        app.press(360, 420)
        told("gate put up")
        app.wait_until(lambda p: "place/gate 1" in p["widgets"], timeout_s=30, what="a second one")
        app.click("place/goal")
        app.press(560, 400)
        told("goal put up")
        app.wait_until(lambda p: "goals" in p["widgets"], timeout_s=30, what="it is to be done")
        app.rest()
        app.click("place/start")
        app.click("place/ground")
        told("start moved")
        app.rest()
        app.click("place/gate 0")
        app.click("place/delete")
        told("gate removed")
        app.rest()
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: "place/gate 1" in p["widgets"], timeout_s=60, what="the race is back")
        app.click("place/save")
        app.wait_until(lambda p: len(list(tmp_path.glob("yard-*.toml"))) == 1, timeout_s=60, what="a file")
        app.click("tab/Scene")
        (saved,) = tmp_path.glob("yard-*.toml")
        app.click(f"scene/open/{saved}")
        seen = app.wait_until(
            lambda p: abs(p["lanes"][0]["x_w"][2] - 0.17) < 0.05,
            timeout_s=120,
            what="it starts on the ground",
        )
        assert seen["gl_errors"] == []
    finally:
        app.close()
    read = load_scene(saved)
    assert len(read.race.gates) == 2
    assert [goal.title for goal in read.goals] == ["Go to place 1"]
    assert read.start.position_w[2] == pytest.approx(read.config.contact.soles_m)


def test_a_barrel_is_scaled_by_mouse_copied_and_undone_while_time_stands(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "court.toml"
    scene.write_text(
        'vehicle = "car"\nstep_s = 0.01\n[world]\nname = "plain"\n[start]\nposition_m = [0.0, 0.0, 0.0]\n'
    )
    app = App(screen, tmp_path, str(scene), "--quality", "software")

    def told(text: str) -> None:
        app.wait_until(lambda p: p["message"] == text, timeout_s=60, what=text)

    def saved() -> list[Shape]:
        before = set(tmp_path.glob("court-*.toml"))
        app.click("place/save")
        app.wait_until(
            lambda p: len(set(tmp_path.glob("court-*.toml"))) > len(before), timeout_s=60, what="a file"
        )
        (file,) = set(tmp_path.glob("court-*.toml")) - before
        return [one.prop.shape for one in load_scene(file).environment.placed]

    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("transport/play")
        app.wait_until(lambda p: p["paused"], timeout_s=30, what="time stands")
        app.click("tab/Placing")
        app.click("place/barrel")
        app.press(300, 420)
        told("1 prop")
        app.rest()
        app.click("place/mode/scale")
        app.click("place/snap/25 cm")
        app.drag("place/chosen", (50, 0))
        app.rest()
        (larger,) = saved()
        assert larger.radius_m in [pytest.approx(0.3 * (1.0 + 0.25 * k)) for k in range(1, 5)]
        app.click("place/ground")
        app.rest()
        screen.xdotool("key", "ctrl+d")
        told("2 props")
        app.rest()
        stood, copy = saved()
        assert (stood.radius_m, copy.radius_m) == pytest.approx([larger.radius_m] * 2)
        assert stood.extremes_w[:, 2].min() == pytest.approx(0.0, abs=1e-3)
        for _ in range(3):  # the copy, down to the ground, larger
            screen.xdotool("key", "ctrl+z")
            app.rest()
        told("1 prop")
        (first,) = saved()
        assert first.radius_m == pytest.approx(0.3)
        seen = app.seen()
        assert seen is not None
        assert seen["gl_errors"] == []
    finally:
        app.close()


def test_start_and_wind_are_dragged_undone_and_done_again_and_the_saved_scene_is_flown(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "field.toml"
    scene.write_text(
        'vehicle = "quadrotor"\nflight_mode = "attitude"\n[world]\nname = "plain"\n'
        "[start]\nposition_m = [0.0, 0.0, 2.0]\n"
    )
    app = App(screen, tmp_path, str(scene), "--quality", "software")

    def place_m(seen: Probe) -> tuple[float, ...]:
        return tuple(seen["lanes"][0]["x_w"][:2])

    def at_px(seen: Probe) -> tuple[float, ...]:
        return tuple(seen["widgets"]["place/chosen"][:2])

    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("transport/play")
        app.wait_until(lambda p: p["paused"], timeout_s=30, what="time stands")
        app.click("tab/Placing")
        app.click("place/snap/25 cm")
        for name in ("start", "wind"):
            app.click(f"place/choose/{name}")
            app.wait_until(lambda p: "place/chosen" in p["widgets"], timeout_s=60, what=f"{name} is chosen")
            before = at_px(app.rest())
            app.drag("place/chosen", (110, -70))
            there = at_px(app.rest())  # a drag is one edit once it has come to rest
            assert math.dist(there, before) > 20.0, (name, before, there)
            for key, wanted in (("ctrl+z", before), ("ctrl+y", there)):
                screen.xdotool("key", key)
                app.wait_until(
                    lambda p, wanted=wanted: math.dist(at_px(p), wanted) < 3.0,
                    timeout_s=60,
                    what=f"{name} is at {wanted} after {key}",
                )
                app.rest()
        app.click("place/save")
        app.wait_until(lambda p: len(list(tmp_path.glob("field-*.toml"))) == 1, timeout_s=60, what="a file")
        (saved,) = tmp_path.glob("field-*.toml")
        app.click("tab/Scene")
        app.click(f"scene/open/{saved}")
        opened = app.wait_until(
            lambda p: not p["paused"] and p["lanes"][0]["status"] == "running", timeout_s=240, what="it runs"
        )
        screen.xdotool("keydown", "w")
        try:
            app.wait_until(
                lambda p: math.dist(place_m(p), place_m(opened)) > 3.0, timeout_s=120, what="it is flown"
            )
        finally:
            screen.xdotool("keyup", "w")
        assert app.seen()["gl_errors"] == []
    finally:
        app.close()
    read = load_scene(saved)
    assert read.start.position_w[:2] == pytest.approx(place_m(opened), abs=0.5)
    assert math.hypot(*read.start.position_w[:2]) > 0.2
    assert max(map(abs, read.vehicle.values["wind"])) > 0.2
