"""Laws of placing: signs stay in the picture and off one another as long as there is room; sizes snap."""

import numpy as np
import pytest
from imgui_bundle import imgui

from render.frame import look_at, perspective
from sim.commands import SetParameter
from sim.planner import task_of_scene
from sim.planner.service.session import PlanView
from sim.planner.task.handles import handles
from sim.scene import load_scene
from sim.shapes.shape import Handle
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import load_world
from tests.sim.simulation_scenes import simulation
from tests.ui import fakes
from tests.ui.bench import Bench, InView
from ui.features.placing import panel
from ui.features.placing.gizmo import SNAPS, Gizmo, GizmoFields, TaskMarks, scaling
from ui.features.placing.panel import PAGE, draw_placing
from ui.features.placing.things import SceneThings
from ui.window.context import PanelContext, Request
from ui.window.widgets import overlap, placed

PICTURE = (100.0, 50.0, 800.0, 500.0)


def inside(box) -> bool:
    x, y, w, h = box
    left, top, width, height = PICTURE
    return left <= x and top <= y and x + w <= left + width and y + h <= top + height


def test_a_sign_that_is_clear_stays_where_it_is_wanted():
    wanted = (300.0, 200.0, 120.0, 20.0)
    assert placed(wanted, PICTURE, [(300.0, 221.0, 120.0, 20.0)], step=8.0) == wanted


def test_many_signs_about_one_place_end_up_in_the_picture_and_apart():
    rng = np.random.default_rng(4)
    for centre in ((110.0, 60.0), (880.0, 545.0), (500.0, 300.0), (2000.0, -400.0)):
        taken = [(100.0, 50.0, 430.0, 250.0)]
        for _ in range(8):
            x, y = np.array(centre) + rng.uniform(-30.0, 30.0, 2)
            taken.append(placed((x, y, rng.uniform(60.0, 200.0), 22.0), PICTURE, taken, step=8.0))
        assert all(inside(box) for box in taken)
        assert not any(overlap(a, b) for k, a in enumerate(taken) for b in taken[:k])


def test_it_moves_no_farther_than_it_must():
    taken = [(290.0, 180.0, 200.0, 40.0)]
    x, y, _, height = placed((300.0, 185.0, 50.0, 20.0), PICTURE, taken, step=1.0)
    assert (x, y + height) == (300.0, 180.0)


def test_without_room_it_lies_on_another_rather_than_outside():
    box = placed((0.0, 0.0, 100.0, 20.0), PICTURE, [PICTURE], step=8.0)
    assert inside(box)
    assert inside(placed((0.0, 900.0, 5.0, 20.0), PICTURE, [PICTURE], step=8.0))


@pytest.mark.parametrize("step", [snap[2] for snap in SNAPS.values() if snap is not None])
def test_a_snapped_size_is_a_whole_step_away_and_what_is_drawn_back_is_as_it_was(step):
    for factor in np.geomspace(0.12, 9.0, 40).tolist():
        snapped = scaling(factor, step)
        larger = max(snapped, 1.0 / snapped)
        assert (larger - 1.0) / step == pytest.approx(round((larger - 1.0) / step), abs=1e-9)
        assert abs(larger - max(factor, 1.0 / factor)) <= 0.5 * step + 1e-12
        assert scaling(1.0 / factor, step) == pytest.approx(1.0 / snapped)
    assert scaling(1.0 + 0.4 * step, step) == 1.0


def test_without_snapping_a_drag_scales_by_as_much_as_it_says_and_by_ten_at_most():
    assert scaling(1.234, None) == 1.234
    assert scaling(80.0, None) == 10.0
    assert scaling(0.0, None) == 0.1


class Goals:
    """Two things in one place."""

    prefix = "place"
    handles = (Handle("goal 0", np.eye(4), ""), Handle("goal 1", np.eye(4), ""))

    def never_along(self, name: str) -> np.ndarray | None:
        return np.array([0.0, 0.0, 1.0])

    def dotted(self, name: str) -> bool:
        return True


def page(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    context.rects[PAGE] = (0.0, 0.0, 1.0, 1.0)
    return draw_placing(snapshot, context)


def test_of_two_things_in_one_place_each_is_chosen_by_a_dot_of_its_own(bench):
    gizmo, fields = Gizmo(), bench.context.of(GizmoFields)
    view = look_at(np.array([-10.0, 0.0, 5.0]), np.zeros(3))
    projection = perspective(0.9, 936.0 / 628.0, 0.1, 100.0)

    def draw(snapshot, context):
        return gizmo.draw([Goals()], view, projection, context)

    def dots():
        bench.frame(draw, fakes.snapshot())
        return [bench.context.rects[f"place/goal {k}"] for k in (0, 1)]

    assert not overlap(*dots())
    for k in (1, 0, 1):
        io = imgui.get_io()
        x, y, width, height = dots()[k]
        for down in (False, True, False):
            io.add_mouse_pos_event(x + width / 2.0, y + height / 2.0)
            io.add_mouse_button_event(0, down)
            bench.frame(draw, fakes.snapshot())
        assert fields.chosen == f"goal {k}"


@pytest.mark.parametrize("scene", ["quadrotor", "race-slalom", "delivery"])
def test_what_is_done_with_the_chosen_one_can_be_pressed_where_it_does_something(
    bench: Bench, scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start, wind, gates and goals alike: no button is silent."""
    loaded, pressable = load_scene(scene), dict[str, bool]()
    snapshot, world = simulation(loaded).snapshot, load_world(loaded.world)
    bench.context.show(world)
    drawn = panel.button

    def watched(
        context: PanelContext, name: str, *rest: object, enabled: bool = True, **more: object
    ) -> bool:
        pressable[name] = enabled
        return drawn(context, name, *rest, enabled=enabled, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(panel, "button", watched)
    found = set()
    for handle in SceneThings(snapshot, world).handles:
        for name in ("place/duplicate", "place/delete", "place/ground"):
            bench.context.of(GizmoFields).chosen = handle.name
            asked = bench.click(name, page, snapshot)
            bench.context.of(GizmoFields).chosen = handle.name
            bench.frame(page, snapshot)
            assert bool(asked) == pressable[name], f"{name} of {handle.name}"
            found.add((name, pressable[name]))
    assert {(name, False) for name in ("place/duplicate", "place/delete", "place/ground")} <= found


def test_start_and_wind_are_chosen_on_the_page_and_the_winds_velocity_is_typed(bench: Bench) -> None:
    """Its arrow, metres over the start, is mostly out of the picture."""
    running = simulation(load_scene("quadrotor"))
    snapshot = running.snapshot
    bench.context.show(load_world("plain"))

    bench.click("place/choose/start", page, snapshot)
    assert bench.context.of(GizmoFields).chosen == "start"
    bench.click("place/choose/wind", page, snapshot)
    assert bench.context.of(GizmoFields).chosen == "wind"
    bench.frame(page, snapshot)
    x, y, _, height = bench.context.rects["place/at"]
    io = imgui.get_io()
    io.add_mouse_pos_event(x + 8.0, y + height / 2.0)
    bench.frame(page, snapshot)
    for down in (True, False, True, False):  # twice: it is typed
        io.add_mouse_button_event(0, down)
        bench.frame(page, snapshot)
    asked = bench.type("4.5", page, snapshot)
    (change,) = {r for r in asked if isinstance(r, SetParameter)}
    wind = snapshot.lanes[0].parameters["wind"]
    assert (change.name, change.value) == ("wind", (4.5, *wind[1:]))
    running.submit(change)
    assert running.advance(0.0).lanes[0].parameters["wind"][0] == 4.5


@pytest.mark.parametrize(
    ("scene", "eye_from_goal_w", "still"),
    [("plan-deck-landing", (-30.0, -50.0, 30.0), 2), ("plan-chain", (1.0, -3.0, 0.4), 1)],
)
def test_one_drag_of_a_goal_s_dot_moves_it_under_the_mouse_where_it_can_be(
    scene: str, eye_from_goal_w: tuple[float, float, float], still: int
) -> None:
    """On the deck that carries it, at its height; in the plane of parallel hinges, and never across it."""
    bench, gizmo = InView(), Gizmo()
    vehicle, task = task_of_scene(load_scene(scene))
    tasks = [task]

    def goal_w() -> np.ndarray:
        return handles(vehicle, tasks[-1])[0].T_w[:3, 3]

    begin_w = goal_w()
    view = look_at(begin_w + eye_from_goal_w, begin_w)
    projection = perspective(0.9, 936.0 / 628.0, 0.1, 1000.0)

    def draw(snapshot, context):
        asked = gizmo.draw([TaskMarks(PlanView(vehicle, tasks[-1]))], view, projection, context)
        tasks.extend(request.task for request in asked)
        return asked

    io, seen = imgui.get_io(), fakes.snapshot()
    for _ in range(3):
        bench.frame(draw, seen)
    x, y, width, height = bench.context.rects["plan/handle/goal"]
    x, y = x + width / 2.0, y + height / 2.0
    for step in range(12):
        io.add_mouse_pos_event(x - 5.0 * max(step - 2, 0), y + 8.0 * max(step - 2, 0))
        io.add_mouse_button_event(0, step > 1)
        bench.frame(draw, seen)
    io.add_mouse_button_event(0, False)
    bench.frame(draw, seen)
    by_w = goal_w() - begin_w
    assert abs(by_w[still]) < 1e-6
    clip = projection @ view @ np.r_[goal_w(), 1.0]
    at = 468.0 * (1.0 + clip[0] / clip[3]), 314.0 * (1.0 - clip[1] / clip[3])
    assert at == pytest.approx((x - 45.0, y + 72.0), abs=3.0)
    bench.close()
