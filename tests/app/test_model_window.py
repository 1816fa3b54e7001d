"""The Model page with mouse and keys: joints, poses, actuators, a body that is chosen and pushed, the root."""

import math
import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen
from tests.sim.multibody.test_robot_vehicles import URDF

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_every_joint_actuator_and_body_of_a_robot_is_taken_hold_of(screen: Screen, tmp_path: Path) -> None:
    path = tmp_path / "leg.urdf"
    path.write_text(URDF.format(name="one leg"))
    app = App(screen, tmp_path, str(path), "--quality", "software", "--size", "900x800")

    def told(text: str) -> None:
        app.wait_until(lambda p: text in p["message"], timeout_s=60, what=text)

    def joint(value_rad: float) -> None:
        app.wait_until(
            lambda p: (
                p["message"].startswith("hip = ")
                and abs(float(p["message"].strip("hip =\N{DEGREE SIGN}")) - math.degrees(value_rad)) < 2.0
            ),
            timeout_s=60,
            what=f"hip = {value_rad}",
        )

    def shown(widget: str) -> list[float]:
        seen = app.wait_until(lambda p: widget in p["widgets"], timeout_s=60, what=widget)
        return seen["widgets"][widget]

    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("transport/play")
        app.click("tab/Model")
        app.click("model/joint/hip")  # -1.5 to 2 rad: its middle
        joint(0.25)
        app.click("model/pose")
        shown("model/pose/typing")
        screen.xdotool("type", "kneeling")
        app.wait_frames(4)
        app.click("model/pose/keep")
        shown("model/pose/kneeling")
        app.click("model/pose/kneeling/rename")  # the field has the keyboard, its text is chosen
        shown("model/pose/typing")
        app.wait_frames(2)
        screen.xdotool("type", "bent")
        app.wait_frames(4)
        app.click("model/pose/keep")
        shown("model/pose/bent")
        assert "model/pose/kneeling" not in app.seen()["widgets"]
        app.click("model/joint/hip/reset")
        joint(0.0)
        app.click("model/pose/bent")
        told('pose "bent"')

        (actuator,) = {
            name.split("/")[2]
            for name in app.seen()["widgets"]
            if name.startswith("model/actuator/") and not name.endswith("/free")
        }
        x, y, width, height = shown(f"model/actuator/{actuator}")
        slider = x + 0.7 * width, y + 0.5 * height
        app.click("model/actuators/spring")
        app.press(*slider)
        told(f"{actuator} is let go")
        app.click("model/actuators/hold")
        app.press(*slider)
        told(f"{actuator} is held at")
        app.click(f"model/actuator/{actuator}/free")
        told(f"{actuator} is let go")

        app.click("model/body/combo")
        app.click("model/body/item/leg")
        x, y, _, height = shown("model/chosen")
        at = x - 18.0, y + 0.5 * height
        app.click("model/joint/hip/reset")  # time stands: the body is seen where it is put all the same
        joint(0.0)
        app.wait_until(
            lambda p: math.dist(p["widgets"]["model/chosen"][:2], (x, y)) > 5.0, timeout_s=60, what="it moves"
        )
        app.click("model/pose/bent")
        app.wait_until(
            lambda p: math.dist(p["widgets"]["model/chosen"][:2], (x, y)) < 2.0,
            timeout_s=60,
            what="it is back",
        )
        left, top, width, _ = shown("scene")
        app.press(left + 0.75 * width, top + 60.0)  # the sky
        app.wait_until(lambda p: "model/chosen" not in p["widgets"], timeout_s=60, what="nothing is chosen")
        app.press(*at)
        shown("model/chosen")
        app.click("model/push/+y")
        told("leg is pushed by 1 N s")
        for overlay in ("inertia", "joints", "contacts", "arrows"):
            app.click(f"model/show/{overlay}")

        app.press(left + 0.75 * width, top + 60.0)
        app.click("transport/play")
        x, y, size, _ = shown(
            "plan/handle/goal"
        )  # lies over the body: with Ctrl the body is taken all the same
        screen.xdotool("mousemove", round(x + 0.5 * size), round(y + 0.5 * size))
        app.wait_frames(2)
        screen.xdotool("keydown", "ctrl")
        app.wait_frames(2)
        screen.xdotool("mousedown", 1)
        app.wait_until(lambda p: p["lanes"][0]["pull"] is not None, timeout_s=60, what="it is pulled")
        screen.xdotool("mouseup", 1)
        screen.xdotool("keyup", "ctrl")
        app.wait_until(lambda p: p["lanes"][0]["pull"] is None, timeout_s=60, what="it is let go")
        app.click("model/root/free")
        seen = app.wait_until(
            lambda p: p["lanes"][0]["x_w"][2] < 0.5 and p["lanes"][0]["status"] == "running",
            timeout_s=240,
            what="it is free",
        )
        assert seen["gl_errors"] == []
    finally:
        app.close()
