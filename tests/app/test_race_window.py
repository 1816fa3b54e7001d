"""A race in its window, by keys: the optimum is there by itself, a run is timed at the gates, the best one is kept."""

import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")

COURSE = """
title = "Straight on"
vehicle = "car"
step_s = 0.01
flight_mode = "drive"

[world]
name = "driving"

[start]
position_m = [-60.0, -58.0, 0.0]

[[goals]]
title = "The line"
text = "Drive."
keys = ["pitch+"]
gates = 1

[[race.gates]]
position_m = [-56.0, -58.0, 1.2]

[[race.gates]]
position_m = [-48.0, -58.0, 1.2]

[[race.gates]]
position_m = [-38.0, -58.0, 1.2]

[plan]
duration_s = 5.0
free_duration_s = [2.0, 20.0]
steps = 32
[plan.start]
position_m = [-60.0, -58.0]
[plan.goal]
position_m = [-34.0, -58.0]
velocity = "free"
[plan.limits]
speed_mps = 16.0
[plan.limits.controls]
f_psi = [-2000.0, 1500.0]
[plan.effort_scale]
f_psi = 2000.0
u_sigma = 1.0
[plan.weights]
effort = 0.001
time = 1.0
comfort = 0.0
"""


def test_a_race_is_driven_by_a_key_against_the_optimum_and_the_best_run_is_kept(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "straight.toml"
    scene.write_text(COURSE)
    app = App(screen, tmp_path, str(scene), "--quality", "software", "--size", "900x600")
    try:
        seen = app.wait_until(
            lambda p: p["frames"] > 3 and "optimum" in p["race"]["rivals"],
            timeout_s=240,
            what="the optimum is there",
        )
        assert "race" in seen["widgets"]
        assert seen["plan"] == {}  # it is a rival, not a task
        screen.xdotool("keydown", "w")
        seen = app.wait_until(lambda p: p["race"]["laps"] == 1, timeout_s=60, what="the last gate is passed")
        screen.xdotool("keyup", "w")
        optimum, splits = seen["race"]["rivals"]["optimum"], seen["race"]["splits_s"]
        assert len(splits) == len(optimum) == 3
        assert optimum[-1] < splits[-1]  # nobody is quicker than the least time
        seen = app.wait_until(lambda p: "your best" in p["race"]["rivals"], timeout_s=30, what="it is kept")
        assert seen["race"]["rivals"]["your best"] == splits
        assert list(tmp_path.rglob("bests/straight-car-*.npz"))
        screen.xdotool("key", "BackSpace")
        seen = app.wait_until(lambda p: p["race"]["due"] == 0, timeout_s=30, what="back at the start")
        assert set(seen["race"]["rivals"]) == {"optimum", "your best"}
        assert seen["gl_errors"] == []
    finally:
        screen.xdotool("keyup", "w")
        app.close()
