"""Laws of what lies over the scene: nothing that is read covers another such thing, at any size of window."""

from dataclasses import replace

import pytest
from imgui_bundle.imgui import internal

from sim.simulation.lanes.snapshot import Snapshot
from sim.world import load_world
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.notices import Toasts, draw_toasts
from ui.hud.instruments import KeyHint, draw_instruments, draw_plate
from ui.hud.minimap import draw_map, draw_wind, outlines
from ui.window.context import PanelContext
from ui.window.theme import GOOD
from ui.window.widgets import overlap

SCENES = [(0.0, 0.0, 646.0, 465.0), (0.0, 0.0, 902.0, 626.0), (0.0, 0.0, 1544.0, 906.0)]
"""Of windows of 1024x640, 1280x800 and 1920x1080."""
CAPTIONS = [None, (12.0, 12.0, 430.0, 180.0), (12.0, -92.0, 600.0, 80.0)]
"""None, over one picture, over split ones (from the lower edge)."""


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("caption", CAPTIONS)
@pytest.mark.parametrize("mapped", [True, False])
def test_toasts_keys_map_wind_instruments_and_captions_do_not_lie_on_one_another(
    bench: Bench,
    scene: tuple[float, float, float, float],
    caption: tuple[float, float, float, float] | None,
    mapped: bool,
) -> None:
    found, hint, toasts = outlines(load_world("canyon")), KeyHint(), Toasts()
    assert found is not None
    for text in (
        "paused",
        "a plan of 64 steps, which is a good deal longer than what fits on one line of a toast",
    ):
        toasts.add(text, 0.0)

    def draw(snapshot: Snapshot, context: PanelContext) -> None:
        context.scene_rect = scene
        if caption is not None:
            x, y, width, height = caption
            context.rects["caption"] = (x, y if y > 0.0 else scene[3] + y, width, height)
        if caption is None:
            draw_instruments(snapshot, context)
            if mapped:
                draw_map(found, snapshot, None, context)
            draw_wind(snapshot, context)
        hint.draw("helicopter", 0.0, context)
        draw_toasts(toasts.visible(0.0), 0.0, context)

    snapshot = fakes.snapshot()
    flown, *others = snapshot.lanes
    blown = replace(flown, parameters={**flown.parameters, "wind": (3.0, 1.0, 0.0)})
    bench.frame(draw, replace(snapshot, lanes=(blown, *others)))
    rects = {name: rect for name, rect in bench.context.rects.items() if rect[2] > 0.0}
    assert {"toast/0", "toast/1", *(("hud/wind",) if caption is None else ())} <= set(rects)
    at_the_lower_edge = caption is not None and caption[1] < 0.0
    assert ("key_hint" in rects) != at_the_lower_edge
    for one in rects:
        for other in rects:
            assert one == other or not overlap(rects[one], rects[other]), (one, other)
    if "key_hint" in rects:
        assert rects["key_hint"][1] > 0.5 * scene[3], "in the middle is the vehicle"


def test_a_toast_that_takes_another_ones_place_is_seen_whole_at_once(bench: Bench) -> None:
    toasts = Toasts()

    def draw(snapshot: Snapshot, context: PanelContext) -> None:
        draw_toasts(toasts.visible(0.0), 0.0, context)

    for text in ("paused", "a plan of 64 steps", "out of time"):
        toasts.add(text, 0.0)
        for _ in range(3):
            bench.frame(draw, fakes.snapshot())
            box = bench.context.rects["toast/0"]
            window = internal.find_window_by_name("##toast0")
            assert (window.size.x, window.size.y) == pytest.approx(box[2:], abs=1.0)


@pytest.mark.parametrize("scene", SCENES)
def test_a_plate_keeps_beside_the_goals(bench: Bench, scene: tuple[float, float, float, float]) -> None:
    def draw(snapshot: Snapshot, context: PanelContext) -> None:
        context.scene_rect = scene
        draw_instruments(snapshot, context)
        context.rects["goals"] = (12.0, 54.0, 264.0, 120.0)
        draw_plate("hud/pursuit", [("Pilot: Plan. Making the planner ready, you fly", True)], GOOD, context)

    bench.frame(draw, fakes.snapshot())
    plates = bench.context.rects["hud/pursuit"]
    assert not any(
        overlap(plates, rect) for name, rect in bench.context.rects.items() if name != "hud/pursuit"
    )
    assert plates[0] + plates[2] <= scene[2]
