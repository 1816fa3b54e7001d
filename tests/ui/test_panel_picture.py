"""Panels stay in the window as they are while nothing is drawn over them."""

import pytest
from imgui_bundle import imgui

from tests.ui.bench import Bench
from ui.window.backend import within

SCENE = (12.0, 30.0, 700.0, 500.0)


@pytest.mark.parametrize(
    "ends, clipped, seen_within",
    [
        (((20.0, 40.0), (600.0, 500.0)), False, True),
        (((20.0, 40.0), (900.0, 700.0)), False, False),
        (((20.0, 40.0), (900.0, 700.0)), True, True),
    ],
    ids=["within", "beyond", "beyond, and cut off"],
)
def test_what_its_clip_cuts_off_is_not_over_the_panels(
    bench: Bench, ends: tuple[tuple[float, float], tuple[float, float]], clipped: bool, seen_within: bool
) -> None:
    x, y, width, height = SCENE
    imgui.new_frame()
    pen = imgui.get_background_draw_list()
    if clipped:
        pen.push_clip_rect((x, y), (x + width, y + height))
    pen.add_line(*ends, 0xFFFFFFFF, 2.0)
    if clipped:
        pen.pop_clip_rect()
    pen.add_circle_filled((300.0, 200.0), 9.0, 0xFFFFFFFF)
    imgui.render()
    lists = [drawn for drawn in imgui.get_draw_data().cmd_lists if drawn._owner_name == "##Background"]
    assert lists
    assert all(within(drawn, SCENE) for drawn in lists) is seen_within
