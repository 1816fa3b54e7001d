"""Fitting a vehicle to a take in the real window."""

import sys
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.recordings import Take, save_take
from tests.app.desktop import App, Screen
from ui.features.fit import AFTER, BEFORE

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_heavier_helicopter_is_found_in_its_take_used_and_taken_back(tmp_path: Path) -> None:
    heavy = sim.vehicle("helicopter", mass=5.6)
    t = 0.01 * np.arange(300)
    controls = [56.0, 0.0, 0.0, 0.0] + [8.0, 0.4, 0.02, 0.02] * np.sin(t[:, None] * [3.1, 2.3, 4.7, 3.9])
    start = heavy.state(x=(0.0, 0.0, 40.0), v=(6.0, 1.0, 0.0))
    run = sim.simulate(heavy, step=0.01, duration=3.0, initial=start, controls=controls)
    (tmp_path / "takes").mkdir()
    save_take(Take.of_trajectory(run, scene="plain"), tmp_path / "takes" / "heavy.npz")
    scene = tmp_path / "flat.toml"
    scene.write_text(
        'title = "Flat"\nvehicle = "helicopter"\nstep_s = 0.01\n[world]\nname = "plain"\nseed = 7\n'
    )
    screen = Screen(960, 1500)
    app = App(screen, tmp_path, str(scene), "--quality", "software", "--size", "900x1440")
    try:
        app.wait_until(lambda p: p["clock_s"] > 0.5, timeout_s=120, what="it flies")
        app.click("tab/Takes")
        app.click("takes/stored/0/play")
        app.wait_until(lambda p: p["look_back"], timeout_s=60, what="the take is shown")
        app.click("fit/begin")
        app.wait_until(lambda p: "fit/found/mass" in p["widgets"], timeout_s=120, what="the mass is found")
        seen = app.wait_until(lambda p: len(p["lanes"]) == 3, timeout_s=60, what="both ghosts are shown")
        assert [lane["name"] for lane in seen["lanes"][1:]] == [BEFORE, AFTER]
        app.click("fit/apply")
        mass = app.wait_until(
            lambda p: p["look_back"] is None, timeout_s=30, what="it is used in the present"
        )
        assert mass["lanes"][0]["parameters"]["mass"] == pytest.approx(5.6, rel=1e-6)
        app.rest()
        screen.xdotool("key", "ctrl+z")
        app.wait_until(
            lambda p: p["lanes"][0]["parameters"]["mass"] == 5.0, timeout_s=30, what="the edit is taken back"
        )
        app.click("fit/drop")
        seen = app.wait_until(lambda p: "fit/apply" not in p["widgets"], timeout_s=30, what="it is forgotten")
        assert seen["gl_errors"] == []
    finally:
        app.close()
        screen.close()
