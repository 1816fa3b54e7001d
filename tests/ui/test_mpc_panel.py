"""Pilot: Plan in panels and over the view: switched on and off, its sliders, what it tells, and where one points."""

from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui

from render.frame import look_at, perspective
from sim.commands import SetParameter
from sim.control.mpc import MpcPhase, MpcStatus
from sim.planner.service.requests import EditTask, FlyByMpc, LeaveMpc, MpcView, SetMpc
from sim.planner.service.session import PlanView
from sim.planner.task.mpc import MpcSettings
from sim.world import load_world
from tests.sim.plan_samples import BOAT, task
from tests.ui import fakes
from tests.ui.bench import Bench, InView
from ui.features.plan.pages import draw_pilot
from ui.features.plan.pointing import Pointing, Ray, on_ground, on_level
from ui.hud.instruments import mpc_text

PLAIN = load_world("plain", seed=7)
HOW = MpcSettings(horizon_s=6.0, goal_weight=20.0)


def view(*, on: bool) -> PlanView:
    return PlanView(BOAT, task(), mpc=MpcView(HOW, 25.0, on))


def picture(phase: MpcPhase, **changes: object) -> MpcStatus:
    usual = {"age_s": 0.045, "lag_s": 0.03, "solves_per_s": 24.0, "solve_s": 0.003, "asked": 50, "failed": 0}
    told = {"phase": phase, **usual, "late": 0, "reason": "", "places_w": None, **changes}
    return MpcStatus(**told)  # type: ignore[arg-type]


def page(snapshot, context):
    return draw_pilot(context.find(PlanView), snapshot, context)


def test_it_is_switched_on_and_off_by_its_button(bench: Bench) -> None:
    for on, request in ((False, FlyByMpc()), (True, LeaveMpc())):
        bench.context.show(view(on=on))
        assert bench.click("plan/pilot", page, fakes.snapshot()) == [request]


def test_horizon_weight_and_rate_are_on_sliders(bench: Bench) -> None:
    bench.context.show(view(on=True))
    now = fakes.snapshot()
    horizon, weight, rate = (
        bench.click(f"pilot/{name}", page, now, at=0.3) for name in ("horizon", "weight", "rate")
    )
    for asked in (horizon, weight, rate):
        assert isinstance(asked[0], SetMpc)
    assert horizon[0].how.horizon_s != 6.0
    assert horizon[0].how.goal_weight == 20.0
    assert weight[0].how.goal_weight != 20.0
    assert rate[0].how == HOW
    assert rate[0].rate_hz != 25.0


def test_wind_is_turned_where_the_vehicle_feels_it(bench: Bench) -> None:
    bench.context.show(view(on=True))
    lane = replace(fakes.lane(), parameters={"wind": (0.0, 0.0)})
    asked = bench.click("pilot/wind/y", page, fakes.snapshot(lane), at=0.75)
    assert isinstance(asked[0], SetParameter)
    assert asked[0].name == "wind"
    assert asked[0].value[0] == 0.0
    assert asked[0].value[1] > 1.0


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (picture("preparing"), "you fly"),
        (picture("flying", late=3), "24 plans/s of 3 ms, 45 ms old; 3 late"),
        (picture("late", age_s=0.8, reason="no way"), "0.8 s old"),
        (picture("holding", reason="start is inside an obstacle"), "held here"),
    ],
)
def test_what_flies_and_how_late_it_is_is_said(seen: MpcStatus, says: str) -> None:
    lines = [text for text, _ in mpc_text(seen)]
    assert any(says in line for line in lines)
    assert seen.reason in ("", lines[-1])


def test_a_click_puts_the_goal_on_the_ground_and_its_dot_is_dragged() -> None:
    bench, pointing = InView(), Pointing()
    goal_w = task().goal.state.node[BOAT.group.position]
    height_m = float(PLAIN.surface_m(*goal_w))
    place_w = np.array([*goal_w, height_m])
    look = look_at(place_w + np.array([-20.0, 1.0, 30.0]), place_w, np.array([0.0, 0.0, 1.0]))
    lens = perspective(0.9, 936.0 / 628.0, 0.1, 1000.0)

    def ray(x: float, y: float) -> Ray:
        return Ray.through(2.0 * x / 936.0 - 1.0, 1.0 - 2.0 * y / 628.0, look, lens)

    def draw(snapshot, context):
        return pointing.draw(view(on=True), ray, lens @ look, PLAIN, context)

    io, now = imgui.get_io(), fakes.snapshot()
    bench.frame(draw, now)
    x, y, width, height = bench.context.rects["plan/handle/goal"]
    asked = {}
    for name, way in (
        ("click", ((600.0, 200.0, True), (600.0, 200.0, False))),
        ("turn", ((600.0, 200.0, True), (640.0, 220.0, False))),
        ("drag", ((x + width / 2, y + height / 2, True), (300.0, 400.0, True), (300.0, 400.0, False))),
    ):
        asked[name] = []
        for right, down, pressed in way:
            io.add_mouse_pos_event(right, down)
            bench.frame(draw, now)
            io.add_mouse_button_event(0, pressed)
            asked[name] += bench.frame(draw, now) + bench.frame(draw, now)
    assert asked["turn"] == []
    for name, at in (("click", (600.0, 200.0)), ("drag", (300.0, 400.0))):
        wanted = on_ground(ray(*at), PLAIN) if name == "click" else on_level(ray(*at), height_m)
        request = asked[name][-1]
        assert isinstance(request, EditTask)
        np.testing.assert_allclose(request.task.goal.state.node[BOAT.group.position], wanted[:2], atol=1e-3)
    bench.close()


def test_a_ray_meets_the_ground_where_it_is_and_nothing_above_the_horizon() -> None:
    origin = np.array([3.0, 4.0, 50.0])
    forward = np.array([1.0, 0.0, 0.0])
    down = np.array([0.6, 0.1, -0.8]) / np.linalg.norm([0.6, 0.1, -0.8])
    met = on_ground(Ray(origin, down, forward), PLAIN)
    assert met is not None
    assert met[2] == pytest.approx(float(PLAIN.surface_m(met[0], met[1])), abs=1e-4)
    assert on_ground(Ray(origin, np.array([0.6, 0.0, 0.8]), forward), PLAIN) is None
    assert on_level(Ray(origin, np.array([1.0, 0.0, 0.0]), forward), 0.0) is None
