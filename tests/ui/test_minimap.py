"""Laws of the map: what it shows lies where it lies in the world, and the whole of a level ground fits on it."""

from dataclasses import replace

import numpy as np
import pytest

from sim.simulation.lanes.snapshot import Snapshot
from sim.world import load_world
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.hud.minimap import MARGIN, MapFrame, draw_map, draw_wind, outline_of, outlines, wind_of
from ui.window.context import PanelContext
from ui.window.widgets import overlap


def test_the_map_keeps_shapes_and_has_north_up() -> None:
    frame = MapFrame(np.array([10.0, -4.0, 3.0]), 50.0, (100.0, 200.0), 150.0)
    assert frame.place(np.array([10.0, -4.0])) == pytest.approx([175.0, 275.0])
    assert frame.place(np.array([60.0, 46.0])) == pytest.approx([250.0, 200.0])
    assert frame.length(50.0) == pytest.approx(75.0)


def test_the_canyon_is_its_river_between_its_walls() -> None:
    world = load_world("canyon", seed=7)
    found = outlines(world)
    assert found is not None
    assert found.half_m is None
    assert world.river is not None
    x, y = found.floor[:, 1].T
    assert np.all(found.floor[:, 0, 1] < found.water[:, 0, 1])
    assert np.all(y > found.water[:, 1, 1])
    high = world.terrain.height(x, y) - world.river.level_m
    walls = y - world.river.centre(x) < 117.0
    assert walls.mean() > 0.9
    assert high[walls].min() > 14.0


@pytest.mark.parametrize("name", ["canyon", "harbour"])
def test_strips_are_filled_clockwise_and_wholly(name: str) -> None:
    found = outlines(load_world(name))
    assert found is not None
    corner, opposite = (100.0, 200.0), (250.0, 350.0)
    middle = found.water.mean(axis=(0, 1))
    for strip in filter(len, (found.floor, found.water)):
        for half_m in (170.0, 5000.0):
            places = MapFrame(middle, half_m, corner, 150.0).place(strip)
            x, y = outline_of(places, corner, opposite).T
            twice_area = np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)  # positive clockwise: y runs down
            assert twice_area > 0.0
            if half_m == 5000.0:
                wide, deep = np.diff(places[:, :, 0].mean(axis=1)), -np.diff(places[:, :, 1], axis=1)[:, 0]
                assert twice_area == pytest.approx(np.sum(wide * (deep[1:] + deep[:-1])), rel=1e-9)
    assert len(outline_of(places + 1e4, corner, opposite)) == 0


@pytest.mark.parametrize("name", ["driving", "plaza", "harbour", "street"])
def test_a_level_ground_fits_on_the_map(name: str) -> None:
    world = load_world(name)
    found = outlines(world)
    assert found is not None
    assert found.half_m is not None
    assert len(found.blocks) == len(world.grounds.blocks)
    inside = [np.abs(block).max() for block in found.blocks]
    assert max(inside, default=0.0) < 1.2 * found.half_m


def test_a_plain_has_nothing_to_show() -> None:
    assert outlines(load_world("plain")) is None


@pytest.mark.parametrize("name", ["canyon", "driving"])
def test_the_map_is_drawn_at_the_lower_right_and_leaves_small_scenes_alone(name: str, bench: Bench) -> None:
    found = outlines(load_world(name))
    assert found is not None
    goal_w = np.array([1e4, -3e3, 0.0])

    def draw(snapshot: Snapshot, context: PanelContext) -> None:
        draw_map(found, snapshot, goal_w, context)

    bench.frame(draw, fakes.snapshot())
    x, y, width, height = bench.context.rects["hud/minimap"]
    left, top, wide, tall = bench.context.scene_rect
    assert (x + width, y + height) == pytest.approx((left + wide - MARGIN, top + tall - MARGIN))
    lost = fakes.snapshot()
    gone = replace(lost, lanes=(replace(lost.lanes[0], bodies={"body": np.full((4, 4), np.nan)}),))
    for snapshot, rect in ((gone, bench.context.scene_rect), (lost, (0.0, 0.0, 400.0, 300.0))):
        bench.context.scene_rect = rect
        bench.frame(draw, snapshot)
        assert "hud/minimap" not in bench.context.rects


def test_the_winds_arrow_is_told_by_the_flown_vehicles_parameters_and_clear_of_the_map(bench: Bench) -> None:
    world = load_world("harbour")
    found = outlines(world)
    assert found is not None

    def draw(now: Snapshot, context: PanelContext) -> None:
        draw_map(found, now, None, context)
        draw_wind(now, context)

    blown = fakes.snapshot(fakes.lane(parameters={"wind": (4.0, 2.0, 0.0)}))
    bench.frame(draw, blown)
    assert not overlap(bench.context.rects["hud/wind"], bench.context.rects["hud/minimap"])
    assert wind_of(blown.lanes[0]) == pytest.approx([4.0, 2.0])
    for parameters in ({"wind": (0.0, 0.0)}, {}):
        bench.frame(draw, fakes.snapshot(fakes.lane(parameters=parameters)))
        assert "hud/wind" not in bench.context.rects
