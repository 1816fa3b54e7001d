"""Laws of the whole window, run once without a display in a process of its own."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from ui.window.layout import COLUMN_PX

ROOT = Path(__file__).resolve().parents[2]


PARTS = ("layout", "clicks", "keys", "typing", "dragging", "hiding", "look")


def play(folder: Path, *parts: str) -> dict:
    """A session of its own process: pyglet chooses between window systems once."""
    environment = {**os.environ, "PYGLET_HEADLESS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.window_session", str(folder), *parts],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("settings")


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict:
    return play(folder, *PARTS)


def test_at_1280_by_800_no_window_overlaps_another_or_the_scene(seen: dict) -> None:
    layout = seen["layout"]
    width, height = layout["size"]
    x, y, w, h = layout["scene_px"]
    rects = {**layout["windows"], "scene": (x, height - y - h, w, h)}
    assert {"window/Simulation", "window/Scene", "window/Plots"} <= set(rects)
    for (one, a), (two, b) in combinations(rects.items(), 2):
        overlap_x = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
        overlap_y = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
        assert overlap_x <= 1 or overlap_y <= 1, (one, two)
    assert sum(r[2] * r[3] for r in rects.values()) == pytest.approx(width * height, rel=0.02)
    assert w * h > 0.5 * width * height


def test_panels_are_clicked_and_the_scene_does_not_see_it(seen: dict) -> None:
    assert seen["clicks"]["commands"] == ["SetIntegrator(name='rk4', lane='')", "SetPaused(paused=True)"]
    assert seen["clicks"]["drags"] == []


def test_keys_command_and_escape_only_closes_the_help(seen: dict) -> None:
    keys = seen["keys"]
    assert keys["commands"] == ["SetPaused(paused=True)"]
    assert keys["help"]
    assert not keys["help_after_escape"]
    assert keys["actions"] == ["TakeScreenshot()"]
    # A menu that has dropped down closes first, and alone.
    assert keys["menu"]
    assert not keys["menu_after_escape"]
    assert keys["help_beside_menu"]


def test_a_held_key_flies_and_losing_the_focus_lets_go(seen: dict) -> None:
    assert seen["keys"]["flown"]
    assert seen["keys"]["after_focus_loss"] == 0.0


def test_typing_a_step_flies_nothing_and_sets_the_step(seen: dict) -> None:
    assert seen["typing"]["silent"]
    assert seen["typing"]["commands"] == ["SetStep(step_s=0.025, lane='')"]


def test_a_drag_from_the_scene_onto_a_panel_is_the_cameras_to_the_end(seen: dict) -> None:
    assert seen["dragging"]["drags"] == [[800.0, 10.0]]
    assert seen["dragging"]["commands"] == []


def test_hidden_panels_give_the_whole_window_to_the_scene_and_come_back(seen: dict) -> None:
    rect, windows = seen["hiding"]["hidden"]
    assert rect == [0, 0, 1280, 800]
    assert windows == []
    for colour in seen["hiding"]["colours"]:  # shows, where panels were as well
        assert colour == pytest.approx([0.3 * 255, 0.5 * 255, 0.7 * 255], abs=9)
    assert seen["hiding"]["back"] == seen["layout"]["scene_px"]
    assert seen["hiding"]["fronts"] == sorted(seen["layout"]["windows"])


def test_the_scene_shows_through_the_middle_and_panels_have_text(seen: dict) -> None:
    scene, panel = seen["look"]["scene"], seen["look"]["panel"]
    assert scene == pytest.approx([0.3 * 255, 0.5 * 255, 0.7 * 255], abs=9)
    assert max(panel) < 60
    assert seen["look"]["bright_in_panel"] > 500


def test_there_was_no_gl_error(seen: dict) -> None:
    assert seen["errors"] == ["GL_NO_ERROR"]


def test_panels_that_nobody_touches_are_drawn_as_they_were_and_keys_fly_all_the_same(
    tmp_path: Path,
) -> None:
    played = play(tmp_path, "sparing")
    seen = played["sparing"]
    assert seen["untouched"] == [False] * 4
    assert seen["same"] == [True] * 4
    assert seen["touched"] == [True]
    assert max(seen["off"]) < 1e-3
    assert seen["changed"]
    assert seen["commands"]  # the key's own
    assert seen["held"] == [False] * 3
    assert seen["flown"] == 3
    assert played["errors"] == ["GL_NO_ERROR"]


def test_the_layout_is_remembered(seen: dict, folder: Path) -> None:
    (name,) = seen["files"]
    assert name.startswith("layout-")
    (layout,) = folder.glob("*.ini")
    column = round(COLUMN_PX)
    rest = seen["layout"]["size"][0] - column - 2
    text = layout.read_text()
    for width, wider in ((column, column + 100), (rest, rest - 100)):
        text = text.replace(f"SizeRef={width}", f"SizeRef={wider}")
    layout.write_text(text)
    again = play(folder, "layout")
    assert again["layout"]["scene_px"][2] == seen["layout"]["scene_px"][2] - 100


def test_a_hurried_click_on_a_tab_behind_keys_is_not_lost(tmp_path: Path) -> None:
    """imgui's tabs take a press only where the mouse was the frame before."""
    seen = play(tmp_path, "hurried")["hurried"]
    assert not seen["before"]
    assert seen["after"]


def test_a_click_is_carried_out_within_three_pictures_however_long_they_take(tmp_path: Path) -> None:
    """Its press and its release come in one picture, and imgui takes them in two."""
    assert play(tmp_path, "slow")["slow"]["commands"] == ["SetPaused(paused=True)"]


def test_a_key_after_a_click_on_a_field_waits_for_the_click_that_waits_for_other_keys(tmp_path: Path) -> None:
    seen = play(tmp_path, "overtaken")["overtaken"]
    assert seen == {"commands": [], "typing": True}


def test_the_page_that_a_scene_needs_comes_before_the_one_in_which_it_was_chosen(tmp_path: Path) -> None:
    assert play(tmp_path, "chosen")["chosen"]["plan"]
