"""Laws of what belongs to all plots: legend, how far back they look, and the values under the mouse."""

from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui

from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicle_config import PLOTTED, config_named
from sim.vehicles import vehicles
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.plots import panel
from ui.features.plots.channels import OWN, Channel, columns, measured, offered
from ui.features.plots.curves import Curves, History, SaveCurves
from ui.features.plots.parts import SPANS_S, fitting, span, value_text
from ui.window.context import ChangeView

STOPPED = fakes.lane(
    "rk4",
    status=LaneStatus.DIVERGED,
    status_text="rigid-body under rk4 at h = 0.125 s: energy past 4000 J at t = 2 s",
    time_current_s=2.0,
)


def remembered(bench: Bench, *shown, until_s: float) -> None:
    for lane in shown:
        history = bench.context.of(Curves).histories.setdefault(lane.name, History())
        for time_s in np.arange(0.0, until_s + 0.05, 0.1):
            history.append(time_s, {key: value + time_s for key, value in measured(lane).items()})


@pytest.mark.parametrize("draw", [panel.draw_plots, panel.draw_errors])
def test_a_click_sets_how_far_back_the_plots_look(bench: Bench, draw) -> None:
    remembered(bench, fakes.lane(), STOPPED, until_s=30.0)
    now, view = fakes.snapshot(fakes.lane(), STOPPED), bench.context.view
    for span_s in SPANS_S:
        wanted = [ChangeView(replace(view, plot_s=span_s))]
        assert bench.click(f"plots/span/{span_s:g}", draw, now) == wanted


def test_plots_end_now_and_begin_their_span_before_or_at_the_start(bench: Bench) -> None:
    remembered(bench, fakes.lane(), until_s=30.0)
    bench.context.view = replace(bench.context.view, plot_s=5.0)
    assert span([fakes.lane()], bench.context) == pytest.approx((25.0, 30.0))
    bench.context.view = replace(bench.context.view, plot_s=60.0)
    assert span([fakes.lane()], bench.context) == (0.0, 60.0)


def test_the_legend_names_the_first_lanes_as_far_as_there_is_room() -> None:
    lanes = [fakes.lane(f"l{k}") for k in range(4)]
    assert fitting(lanes, [100.0] * 4, 1000.0) == lanes
    assert fitting(lanes, [100.0] * 4, 250.0) == lanes[:2]
    assert fitting(lanes, [100.0] * 4, 50.0) == []


def test_the_value_under_the_mouse_is_the_last_one_by_then_or_why_there_is_none(bench: Bench) -> None:
    remembered(bench, fakes.lane(), STOPPED, until_s=3.0)
    expected = measured(fakes.lane())["omega"] + 1.2

    def told(lane, time_s: float) -> str:
        return value_text(lane, offered(lane)["omega"], time_s, bench.context)

    assert told(fakes.lane(), 1.27) == f"{expected:.4g} rad/s"
    assert told(STOPPED, 1.27) == f"{expected:.4g} rad/s"
    assert told(STOPPED, 2.5) == "diverged, energy past 4000 J at t = 2 s"
    assert told(fakes.lane(), -0.5) == "nothing known"
    assert (
        value_text(fakes.lane(), Channel("position_error", "", "m", "", 0.0), 1.0, bench.context)
        == "nothing known"
    )


def test_the_history_is_read_at_any_kept_time() -> None:
    history = History(("a",), capacity=4)
    assert np.isnan(history.at("a", 0.0))
    for k in range(11):
        history.append(float(k), {"a": 10.0 * k})
    assert history.at("a", 99.0) == 100.0
    assert history.at("a", 8.5) == 80.0
    assert history.at("a", 7.0) == 70.0
    assert np.isnan(history.at("a", 6.5))


def test_a_click_asks_for_the_curves_as_a_table(bench: Bench) -> None:
    remembered(bench, fakes.lane(), until_s=3.0)
    assert bench.click("plots/save", panel.draw_plots, fakes.snapshot(fakes.lane())) == [SaveCurves()]


def test_what_is_kept_is_the_window_of_the_last_samples_and_a_copy() -> None:
    history = History(("a", "b"), capacity=3)
    for k in range(5):
        history.append(float(k), {"a": k, "b": -k})
    times, values = history.kept(("a", "b"))
    np.testing.assert_array_equal(times, [2.0, 3.0, 4.0])
    np.testing.assert_array_equal(values, [[2.0, 3.0, 4.0], [-2.0, -3.0, -4.0]])
    history.clear()
    np.testing.assert_array_equal(times, [2.0, 3.0, 4.0])


def test_a_name_gives_way_to_its_value(bench: Bench) -> None:
    seen = {}

    def draw(snapshot: object, context: object) -> None:
        for room in (500.0, 60.0, 3.0):
            text = panel.fitting("Energy change", room)
            seen[room] = (text, imgui.calc_text_size(text).x)

    bench.frame(draw, fakes.snapshot())
    assert seen[500.0][0] == "Energy change"
    assert seen[60.0][0].startswith("En")
    assert all(width <= room for room, (_, width) in seen.items())


def test_a_unit_gives_way_before_a_name_does(bench: Bench) -> None:
    ways, seen = ("-1.219 kJ", "-1.219k"), {}

    def draw(snapshot: object, context: object) -> None:
        title, long, short = (imgui.calc_text_size(text).x for text in ("Energy change", *ways))
        for width in (title + long, title + long - 1.0, title + short, title):
            seen[width - title] = panel.leaving_room("Energy change", ways, width)
        seen[-1.0] = panel.leaving_room("Energy change", (), 500.0)

    bench.frame(draw, fakes.snapshot())
    assert list(seen.values()) == [ways[0], ways[1], ways[1], ways[1], ""]


def test_columns_of_the_table_have_units() -> None:
    units = {"lean": "rad", "momentum_p": "kg m^2/s", "axis": "1", "slip": "m/s"}
    keys = ("energy", "cost", "lean", "axis.0", "slip", "momentum_p change")
    assert columns(keys, units) == (
        "energy_change_J",
        "step_cost_us",
        "lean_rad",
        "axis_0",
        "slip_mps",
        "momentum_p_change_kgm2ps",
    )


def test_everything_that_a_vehicle_tells_can_be_plotted(bench: Bench) -> None:
    """Also of one that no config knows: its observables are in the list with their units, and drawn once ticked."""
    told = {"sag": 0.3, "axis": np.array([1.0, 0.0, 0.0])}
    own = fakes.lane(vehicle="my-chain", observables=told, units={"sag": "m", "axis": "1"})
    remembered(bench, own, until_s=3.0)
    now = fakes.snapshot(own)
    for _ in range(3):
        bench.frame(panel.draw_plots, now)
    assert "plots/sag" not in bench.context.rects
    bench.click("plots/choose", panel.draw_plots, now)
    bench.frame(panel.draw_plots, now)
    assert {f"plots/choose/{key}" for key in ("energy", "omega", "sag", "axis.0", "axis.2")} <= set(
        bench.context.rects
    )
    bench.click("plots/choose/sag", panel.draw_plots, now)
    bench.frame(panel.draw_plots, now)
    assert "plots/sag" in bench.context.rects
    assert offered(own)["sag"].unit == "m"
    bench.click("plots/choose/energy", panel.draw_plots, now)
    bench.frame(panel.draw_plots, now)
    assert "plots/energy" not in bench.context.rects
    bench.click("plots/choose/as usual", panel.draw_plots, now)
    bench.frame(panel.draw_plots, now)
    assert "plots/energy" in bench.context.rects
    assert "plots/sag" not in bench.context.rects


def test_every_config_plots_what_there_is() -> None:
    assert tuple(channel.key for channel in OWN) == PLOTTED
    for name in vehicles():
        assert config_named(name).instruments.plots
