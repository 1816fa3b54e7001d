"""Laws of the goals over the view: the due one is told with its key, marks lie where they point, nothing overlaps."""

import math
from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui

from render.frame import look_at, perspective
from sim.scene.conditions import AlongWay, AtPad, Height, OnGround, Speed
from sim.scene.goals import Landing, SceneGoal
from sim.simulation.lanes.snapshot import LookBack, Snapshot
from sim.simulation.runs.judge import Progress
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.goals import DUE, OPEN, SKIPPED, TICK, draw_goals, goal_lines
from ui.features.lanes import draw_lanes_out_of_view
from ui.hud.instruments import draw_instruments, draw_past
from ui.hud.pen import Pen, clear_of, draw_marker, edge_place
from ui.window.context import PanelContext, SceneCamera
from ui.window.theme import ACCENT_BRIGHT
from ui.window.widgets import overlap

GOALS = (
    SceneGoal(
        "Take off", "Climb until you are 20 m above the ground.", ("throttle+",), (Height(20.0, 500.0),)
    ),
    SceneGoal("Hover", "Let go of all keys, and it levels itself.", (), (Speed(0.0, 3.0),), hold_s=3.0),
    SceneGoal("Land", "Come down on the pad.", ("throttle-",), (AtPad("landing"), OnGround()), grade=Landing),
)
RECT = (0.0, 0.0, 900.0, 600.0)
EYE = np.array([0.0, 0.0, 2.0])
VIEW, LENS = look_at(EYE, EYE + np.array([1.0, 0.0, 0.0])), perspective(math.radians(60.0), 1.5, 0.1, 1e4)


def texts(progress: Progress, bench: Bench) -> list[str]:
    found: list[str] = []

    def draw(snapshot: Snapshot, context: PanelContext) -> None:
        pen = Pen(imgui.get_background_draw_list(), context.fonts, context.scale)
        lines = goal_lines(progress, pen, 230.0, context)
        found[:] = [f"{mark} {text}" for mark, text, *_ in lines]

    bench.frame(draw, fakes.snapshot())
    return found


def test_the_due_goal_is_told_with_its_key_and_what_is_done_is_ticked_off(bench: Bench) -> None:
    first = texts(Progress(GOALS), bench)
    assert first[0] == f"{DUE} Take off"
    assert " Hold R: throttle up" in first
    assert f"{OPEN} Land" in first
    assert any("F2" in line and "F3" in line for line in first)
    last = texts(Progress(GOALS, at=2, skipped=frozenset({1}), marker_w=np.ones(3), distance_m=41.6), bench)
    assert last[:3] == [f"{TICK} Take off", f"{SKIPPED} Hover", f"{DUE} Land"]
    assert " 42 m to the marker" in last
    done = " ".join(texts(Progress(GOALS, at=3, graded=Landing(0.8, 0.3, 2.1)), bench))
    assert "good: sink 0.8 m/s, drift 0.3 m/s, 2.1 m from the" in done.replace("   ", " ").replace("  ", " ")
    assert "All done" in done


@pytest.mark.parametrize("place", [(50.0, 0.0, 2.0), (50.0, 12.0, 8.0), (400.0, -90.0, -40.0)])
def test_a_place_in_view_is_marked_where_it_is_drawn(place: tuple) -> None:
    (x, y), bearing = edge_place(np.array(place), VIEW, LENS, RECT, 20.0)
    assert bearing is None
    scale = 300.0 / math.tan(math.radians(30.0))
    ahead, left, up = np.array(place) - EYE
    assert (x, y) == pytest.approx((450.0 - scale * left / ahead, 300.0 - scale * up / ahead))


@pytest.mark.parametrize(
    ("place", "side"),
    [
        ((1.0, 300.0, 2.0), "left"), ((1.0, -300.0, 2.0), "right"), ((-50.0, 30.0, 2.0), "left"),
        ((-50.0, -30.0, 2.0), "right"), ((1.0, 0.0, 90.0), "up"), ((1.0, 0.0, -90.0), "down"),
    ],
)  # fmt: skip
def test_what_is_out_of_view_is_marked_at_the_edge_to_which_one_has_to_turn(place: tuple, side: str) -> None:
    (x, y), bearing = edge_place(np.array(place), VIEW, LENS, RECT, 20.0)
    assert bearing is not None
    wanted = {"left": (20.0, None), "right": (880.0, None), "up": (None, 20.0), "down": (None, 580.0)}[side]
    for value, expected in zip((x, y), wanted, strict=True):
        assert expected is None or value == pytest.approx(expected)
    assert (math.cos(bearing) < -0.5, math.cos(bearing) > 0.5) == (side == "left", side == "right")


@pytest.mark.parametrize("at_w", [(3.0, 0.0, 30.0), (3.0, 8.0, 30.0), (3.0, -9.0, 30.0)])
def test_the_arrow_of_a_mark_keeps_clear_of_compass_and_badges(bench: Bench, at_w: tuple[float, ...]) -> None:
    """The mark lies above the view, left and right."""

    def flying(snapshot: Snapshot, context: PanelContext) -> None:
        draw_instruments(snapshot, context)
        draw_marker("goal_marker", np.array(at_w), "42 m", ACCENT_BRIGHT, SceneCamera(VIEW, LENS), context)

    bench.frame(flying, fakes.snapshot())
    rects = bench.context.rects
    assert not any(overlap(rects["goal_marker"], rects[name]) for name in ("hud/heading", "hud/badges"))


def test_a_mark_keeps_clear_of_the_panes_at_the_left() -> None:
    assert clear_of((50.0, 100.0), [(10.0, 60.0, 260.0, 180.0)], 30.0) == (300.0, 100.0)
    assert clear_of((500.0, 100.0), [(10.0, 60.0, 260.0, 180.0)], 30.0) == (500.0, 100.0)


@pytest.mark.parametrize(
    "scene", [(0.0, 0.0, 648.0, 468.0), (0.0, 0.0, 904.0, 628.0), (0.0, 0.0, 1544.0, 908.0)]
)
def test_goals_label_of_the_past_and_instruments_do_not_overlap(
    bench: Bench, scene: tuple[float, float, float, float]
) -> None:
    bench.context.scene_rect = scene
    progress = Progress(GOALS, at=2, marker_w=np.ones(3), distance_m=41.6, graded=Landing(0.8, 0.3, 2.1))

    def flying(snapshot: Snapshot, context: PanelContext) -> None:
        draw_instruments(snapshot, context)
        draw_goals(progress, context)
        place_w = np.array([-50.0, 30.0, 2.0])
        draw_marker("goal_marker", place_w, "42 m", ACCENT_BRIGHT, SceneCamera(VIEW, LENS), context)

    def looking(snapshot: Snapshot, context: PanelContext) -> None:
        draw_instruments(snapshot, context)
        draw_past(snapshot, context)

    def compared(snapshot: Snapshot, context: PanelContext) -> None:
        context.rects["caption"] = (12.0, 12.0, 0.49 * scene[2], 0.45 * scene[3])
        draw_past(snapshot, context)

    back = fakes.snapshot(look_back=LookBack("", 0.0, 9.0, 6.0), recorded_s=(0.0, 9.0), paused=True)
    for draw, snapshot, names in (
        (flying, fakes.snapshot(), ("goals", "goal_marker")),
        (looking, back, ("past",)),
        (compared, back, ("caption", "past")),
    ):
        bench.frame(draw, snapshot)
        rects = bench.context.rects
        for name in names:
            others = [rects[other] for other in rects if other.startswith("hud/") or other in names]
            assert not any(overlap(rects[name], other) for other in others if other != rects[name])


@pytest.mark.parametrize(
    ("at_w", "told"), [((4.0, 0.0, 3.0), False), ((0.0, 90.0, 3.0), True), ((-200.0, 0.0, 3.0), True)]
)
def test_a_ghost_out_of_the_picture_is_pointed_at_from_its_edge(
    bench: Bench, at_w: tuple[float, float, float], told: bool
) -> None:
    flown, ghost = fakes.lane(T_wb=fakes.pose()), fakes.lane("rk4 50 ms", T_wb=fakes.pose(x=at_w))
    bench.context.show(SceneCamera(VIEW, LENS))
    bench.frame(draw_lanes_out_of_view, fakes.snapshot(flown, ghost))
    arrow = bench.context.rects.get("marker/rk4 50 ms")
    assert (arrow is not None) == told
    if arrow is not None:
        x, y, width, height = bench.context.scene_rect
        assert x <= arrow[0] <= x + width - arrow[2]
        assert y <= arrow[1] <= y + height - arrow[3]
    bench.context.view = replace(bench.context.view, views=2)
    bench.frame(draw_lanes_out_of_view, fakes.snapshot(flown, ghost))
    assert "marker/rk4 50 ms" not in bench.context.rects, "linked pictures show every lane in its own"


def test_a_way_is_told_by_what_is_done_and_left_of_it_and_by_a_bar(bench: Bench) -> None:
    along = SceneGoal("Follow the river", "On.", (), (AlongWay(1200.0),))
    progress = Progress((along,), marker_w=np.array([40.0, 0.0, 2.0]), distance_m=300.0)
    assert " 900 m along the way, 300 m left" in texts(progress, bench)
    bench.frame(lambda snapshot, context: draw_goals(progress, context), fakes.snapshot())
    *_, whole, _ = bench.context.rects["goals"]
    assert bench.context.rects["goals/way"][2] == pytest.approx(0.75 * whole)
