"""Plots and timeline are one: the playhead in a plot, zoom, marks, and earlier flights behind the present one."""

from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui

from sim.commands import Scrub
from sim.recordings.take import LaneStatus
from sim.simulation.lanes.snapshot import LaneSnapshot, LookBack, Snapshot
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.flight import draw_timeline
from ui.features.plots.channels import measured
from ui.features.plots.curves import Curves, History, observe_curves
from ui.features.plots.panel import draw_plots
from ui.features.plots.parts import playhead_text, span
from ui.features.recordings import WHOLE_S, PlotWindow
from ui.settings.view_settings import ViewSettings
from ui.window.context import ChangeView

AREA = "plots/energy/area"


def at(time_s: float, **changes: object) -> Snapshot:
    """The present, so long after its begin."""
    lane = fakes.lane(time_current_s=time_s)
    return replace(fakes.snapshot(lane), clock_s=time_s, recorded_s=(0.0, time_s), **changes)


def past(time_s: float, end_s: float, opened: str = "") -> Snapshot:
    """An earlier moment, or one of a take that is open."""
    return at(time_s, look_back=LookBack(opened, 0.0, end_s, time_s))


def seen(bench: Bench, *times_s: float) -> None:
    for time_s in times_s:
        observe_curves(at(time_s), bench.context)


def test_the_whole_recording_is_shown_or_what_one_has_zoomed_to() -> None:
    window = PlotWindow()
    assert window.span(0.0, 80.0, WHOLE_S) == (0.0, 80.0)
    assert window.span(0.0, 80.0, 20.0) == (60.0, 80.0)
    view = window.zoomed(ViewSettings(), (0.0, 80.0), 20.0, 3.0, 80.0)
    start_s, end_s = window.span(0.0, 80.0, view.plot_s)
    assert end_s - start_s == pytest.approx(80.0 / 1.25**3)
    assert (20.0 - start_s) / (end_s - start_s) == pytest.approx(0.25)  # stays under the mouse
    window.panned((start_s, end_s), -5.0, 80.0)
    assert window.span(0.0, 90.0, view.plot_s) == pytest.approx((start_s - 5.0, end_s - 5.0))
    window.panned((start_s, end_s), 500.0, 80.0)
    assert window.span(0.0, 90.0, view.plot_s)[1] == 90.0
    far_out = window.zoomed(view, (0.0, 80.0), 20.0, -50.0, 80.0)
    assert window.span(0.0, 90.0, far_out.plot_s)[1] >= 90.0


def test_what_is_posed_while_time_stands_is_plotted_as_it_is_now(bench: Bench) -> None:
    seen(bench, 0.5, 1.0)
    for generation, energy_J in ((1, 1500.0), (1, 1700.0), (2, 1800.0)):
        lane = fakes.lane(time_current_s=1.0, generation=generation, energy_J=energy_J)
        observe_curves(fakes.snapshot(lane), bench.context)
    history = bench.context.of(Curves).histories["flown"]
    assert history.at("energy", 1.0) == 800.0
    assert history.at("energy", 0.9) == 200.0
    assert len(history) == 2


def test_a_drag_in_a_plot_looks_at_that_moment_and_the_wheel_zooms(bench: Bench) -> None:
    seen(bench, *np.arange(0.0, 40.0, 0.1))
    bench.context.view = replace(bench.context.view, plot_s=WHOLE_S)
    now, io = at(39.9), imgui.get_io()
    for _ in range(3):
        bench.frame(draw_plots, now)
    x, y, width, height = bench.context.rects[AREA]
    asked = []
    for share, down in ((0.25, True), (0.5, True), (0.5, False)):
        io.add_mouse_pos_event(x + share * width, y + height / 2.0)
        bench.frame(draw_plots, now)
        io.add_mouse_button_event(0, down)
        asked += bench.frame(draw_plots, now) + bench.frame(draw_plots, now)
    times_s = [request.time_s for request in asked if isinstance(request, Scrub)]
    assert times_s[0] == pytest.approx(0.25 * 39.9, abs=0.3)
    assert times_s[-1] == pytest.approx(0.5 * 39.9, abs=0.3)
    io.add_mouse_wheel_event(0.0, 1.0)
    zoomed = [r for _ in range(2) for r in bench.frame(draw_plots, now) if isinstance(r, ChangeView)]
    assert [request.view.plot_s for request in zoomed] == [pytest.approx(39.9 / 1.25, rel=1e-3)]


def test_the_present_is_remembered_while_its_past_or_another_take_is_shown(bench: Bench) -> None:
    seen(bench, *np.arange(0.0, 10.0, 0.1))
    present = bench.context.of(Curves).histories["flown"]
    for time_s in (2.0, 7.0, 1.0):
        observe_curves(past(time_s, 9.9), bench.context)
    assert bench.context.of(Curves).histories["flown"] is present
    assert (present.begin_s, present.latest_s) == (0.0, pytest.approx(9.9))
    for time_s in (0.0, 0.5, 1.0, 0.3):
        observe_curves(past(time_s, 3.0, "a take"), bench.context)
    assert bench.context.of(Curves).histories["flown"].latest_s == 1.0
    seen(bench, 10.0)
    assert bench.context.of(Curves).histories["flown"] is present
    assert present.latest_s == 10.0


def read(
    name: str, begin_s: float, end_s: float, offset_J: float, **changes: object
) -> tuple[LaneSnapshot, ...]:
    """What is read of a take, every 0.1 s; its energy grows by a joule a second."""
    count = round((end_s - begin_s) / 0.1) + 1
    return tuple(
        fakes.lane(name, time_current_s=t, energy_J=1000.0 + offset_J + t, **changes)
        for t in np.linspace(begin_s, end_s, count).tolist()
    )


def test_a_ghost_by_the_same_inputs_is_plotted_beside_the_flight_along_all_its_way(bench: Bench) -> None:
    seen(bench, *np.arange(0.0, 10.0, 0.1))
    curves = bench.context.of(Curves)
    present = curves.histories["flown"]
    moved = fakes.pose(x=(10.0, 5.0, 30.0))
    ghost = read("rk4", 2.0, 6.0, 7.0, T_wb=moved)
    followed, back = read("flown", 0.0, 9.9, 0.0), past(9.9, 9.9)
    lanes = (*back.lanes, ghost[-1])
    for count in (0, 5, len(ghost)):  # as far as it has been read
        shown = replace(back, lanes=lanes, read={"flown": followed, "rk4": ghost[:count]})
        observe_curves(shown, bench.context)
    assert curves.histories["flown"] is present
    history = curves.histories["rk4"]
    assert (history.begin_s, history.latest_s, len(history)) == (2.0, 6.0, len(ghost))
    assert history.at("energy", 4.05) == pytest.approx(11.0)
    assert history.at("apart", 4.05) == pytest.approx(3.0)
    bench.frame(draw_plots, shown)
    another = replace(shown, read={"flown": followed, "rk4": read("rk4", 0.0, 3.0, -1.0)})
    observe_curves(another, bench.context)
    assert curves.histories["rk4"].latest_s == 3.0
    seen(bench, 10.0)
    assert set(curves.histories) == {"flown"}


def test_a_take_that_is_open_is_plotted_whole_and_the_plots_follow_what_is_shown(bench: Bench) -> None:
    followed = read("flown", 0.0, 40.0, 0.0)
    for time_s in (0.0, 25.0):
        shown = replace(past(time_s, 40.0, "a take"), read={"flown": followed})
        observe_curves(shown, bench.context)
    assert bench.context.of(Curves).histories["flown"].latest_s == 40.0
    lanes = list(shown.lanes)
    bench.context.view = replace(bench.context.view, plot_s=20.0)
    assert span(lanes, bench.context) == (5.0, 25.0)
    bench.context.view = replace(bench.context.view, plot_s=WHOLE_S)
    assert span(lanes, bench.context) == (0.0, 40.0)


def test_what_flew_before_lies_behind_and_what_came_after_the_moment_flown_on_from_is_cut_off(
    bench: Bench,
) -> None:
    seen(bench, *np.arange(0.0, 10.0, 0.1))
    bench.context.of(PlotWindow).mark(8.0, "late")
    bench.context.of(PlotWindow).mark(2.0, "early")
    seen(bench, 4.05, 4.1)
    assert [flight.latest_s for flight in bench.context.of(Curves).flights] == [pytest.approx(9.9)]
    assert bench.context.of(Curves).histories["flown"].latest_s == 4.1
    assert len(bench.context.of(Curves).histories["flown"]) == 43
    assert [mark.text for mark in bench.context.of(PlotWindow).marks] == ["early"]
    for begin_s in (3.0, 2.0, 1.0):
        seen(bench, begin_s)
    assert len(bench.context.of(Curves).flights) == 3
    bench.frame(draw_plots, at(1.0))


def test_a_crash_is_marked_once_and_so_is_what_the_user_marks(bench: Bench) -> None:
    seen(bench, 0.0, 1.0, 2.0)
    crashed = replace(fakes.lane(time_current_s=2.5), status=LaneStatus.CRASHED, status_text="crashed: 7 m/s")
    for _ in range(3):
        observe_curves(replace(fakes.snapshot(crashed), clock_s=2.5, recorded_s=(0.0, 2.5)), bench.context)
    assert [(m.time_s, m.text, m.kind) for m in bench.context.of(PlotWindow).marks] == [
        (2.5, "crashed: 7 m/s", "stop")
    ]
    bench.click("plots/mark", draw_plots, past(1.5, 2.5))
    assert [(m.time_s, m.kind) for m in bench.context.of(PlotWindow).marks][1:] == [(1.5, "user")]
    assert playhead_text(bench.context.of(PlotWindow).marks[1]) == "1.50 s: mark 1"
    bench.frame(draw_timeline, past(1.5, 2.5))
    assert "timeline/line" in bench.context.rects


def test_a_history_that_grows_keeps_what_it_had() -> None:
    history = History(("up",), 5000)
    for k in range(12_000):
        history.append(float(k), {"up": -float(k)})
    assert len(history) == 5000
    times_s, values = history.kept(("up",))
    np.testing.assert_array_equal(times_s, np.arange(7000.0, 12_000.0))
    np.testing.assert_array_equal(values[0], -times_s)
    assert set(measured(fakes.lane())) > {"energy"}


def test_what_was_between_two_frames_is_plotted_by_simulated_time(bench: Bench) -> None:
    seen(bench, 0.0, 0.1)
    between = tuple((fakes.lane(time_current_s=t),) for t in (0.05, 0.2, 0.3, 0.4))
    other_run = (fakes.lane(time_current_s=0.35, generation=7),)
    observe_curves(replace(at(0.5), samples=(*between, other_run)), bench.context)
    observe_curves(replace(at(0.6), samples=between[1:]), bench.context)
    history = bench.context.of(Curves).histories["flown"]
    assert history.trace("energy", 0.0, 1.0).time_s.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_what_has_been_seen_of_a_flight_is_not_taken_up_again(bench: Bench) -> None:
    samples = tuple((fakes.lane(time_current_s=t),) for t in (0.1, 0.2, 0.3, 0.4))
    observe_curves(replace(at(0.5), samples=samples), bench.context)
    moments = bench.context.of(Curves).moments
    seen_once = [moments.at(time_s) for time_s in (0.1, 0.2, 0.3, 0.4)]
    observe_curves(replace(at(0.6), samples=samples), bench.context)
    assert [lane.time_current_s for lane in seen_once if lane is not None] == [0.1, 0.2, 0.3, 0.4]
    assert all(
        moments.at(time_s) is lane for time_s, lane in zip((0.1, 0.2, 0.3, 0.4), seen_once, strict=True)
    )


def test_curves_begin_anew_with_what_was_since_the_new_start(bench: Bench) -> None:
    seen(bench, *np.arange(0.0, 5.0, 0.1))
    anew = tuple((fakes.lane(time_current_s=t, generation=1),) for t in (0.0, 0.1))
    now = fakes.lane(time_current_s=0.2, generation=1)
    observe_curves(replace(fakes.snapshot(now), clock_s=0.2, samples=anew), bench.context)
    curves = bench.context.of(Curves)
    assert len(curves.flights) == 1
    assert curves.histories["flown"].latest_s == 0.2
    assert len(curves.histories["flown"]) <= 3
