"""Laws of the panels that set lanes side by side."""

from dataclasses import replace

import numpy as np
import pytest

from sim.commands import AddLane, SetLanePilot, SetReference
from sim.scene import Comparison, Scene, load_scene
from sim.simulation.lanes.snapshot import Deviation, LaneStatus, length_text, off_text, outcome
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.lanes import (
    NewLane,
    draw_caption,
    draw_labels,
    draw_lanes,
    outcome_colour,
    step_text,
)
from ui.features.plots.channels import measured, offered
from ui.features.plots.curves import Curves, History
from ui.features.plots.panel import ERROR_PLOTS, cause, decades, draw_errors, stopped
from ui.settings.view_settings import ViewSettings, opened
from ui.window import theme
from ui.window.context import ChangeView
from ui.window.theme import encoded, linear
from ui.window.widgets import overlap

STOPPED = fakes.lane(
    "rk4",
    integrator="rk4",
    status=LaneStatus.DIVERGED,
    status_text="rigid-body under rk4 at h = 0.125 s: energy past 4e+03 J at t = 4.75 s",
    time_current_s=4.75,
)


def pair():
    return fakes.snapshot(fakes.lane(), fakes.lane("ghost", integrator="rk4", own_pilot=False))


def remembered(bench: Bench, *shown) -> None:
    for lane in shown:
        history = bench.context.of(Curves).histories.setdefault(lane.name, History())
        for k in range(40):
            history.append(0.1 * k, measured(lane))


def test_a_lane_is_shown_alone_and_again_with_the_others(bench: Bench) -> None:
    now, start = pair(), bench.context.view
    assert bench.click("lanes/solo/ghost", draw_lanes, now) == [ChangeView(replace(start, solo="ghost"))]
    bench.context.view = replace(start, solo="ghost")
    assert bench.click("lanes/solo/ghost", draw_lanes, now) == [ChangeView(start)]
    assert bench.click("lanes/solo/flown", draw_lanes, now) == [ChangeView(replace(start, solo="flown"))]


def test_a_ghost_gets_a_pilot_of_its_own_and_gives_him_up(bench: Bench) -> None:
    assert bench.click("lanes/pilot/ghost", draw_lanes, pair()) == [SetLanePilot("ghost", True)]
    own = fakes.snapshot(fakes.lane(), fakes.lane("ghost", own_pilot=True))
    assert bench.click("lanes/pilot/ghost", draw_lanes, own) == [SetLanePilot("ghost", False)]
    assert "lanes/pilot/flown" not in bench.context.rects


def test_the_number_of_pictures_the_reference_and_the_words_are_chosen(bench: Bench) -> None:
    now, start = pair(), bench.context.view
    for views in (2, 3, 4):
        wanted = [ChangeView(replace(start, views=views))]
        assert bench.click(f"lanes/views/{views}", draw_lanes, now) == wanted
    assert bench.click("lanes/reference", draw_lanes, now) == [SetReference(True)]
    on = replace(now, reference=True)
    assert bench.click("lanes/reference", draw_lanes, on) == [SetReference(False)]
    assert bench.click("lanes/caption", draw_lanes, now) == [ChangeView(replace(start, caption=False))]
    *_, last = bench.click("lanes/spread", draw_lanes, now, at=0.5)
    assert isinstance(last, ChangeView)
    assert last.view.spread_m == pytest.approx(15.0, abs=2.0)


def test_eight_lanes_leave_no_room_for_a_ninth(bench: Bench) -> None:
    full = fakes.snapshot(fakes.lane(), *(fakes.lane(f"g{k}") for k in range(7)))
    bench.frame(draw_lanes, full)
    assert "lanes/add" not in bench.context.rects
    assert "lanes/tint/g6" in bench.context.rects


def test_colours_come_back_from_the_screen_as_they_went() -> None:
    for part in (0.0, 0.002, 0.18, 0.5, 1.0):
        assert linear(encoded(part)) == pytest.approx(part, abs=1e-9)


def test_error_plots_draw_with_and_without_a_reference_and_mark_who_has_stopped(bench: Bench) -> None:
    off = Deviation(position_m=0.1, rotation_rad=0.2, energy_J=np.inf, momentum=np.nan)
    shown = (fakes.lane(deviation=off), STOPPED)
    remembered(bench, *shown)
    for _ in range(3):
        assert bench.frame(draw_errors, fakes.snapshot(*shown)) == []
    assert {f"errors/{name}" for name in ERROR_PLOTS} <= set(bench.context.rects)
    assert stopped(list(shown)) == [STOPPED]
    assert cause(STOPPED) == "energy"


def test_errors_are_against_the_reference_where_there_is_one() -> None:
    off = Deviation(position_m=0.1, rotation_rad=0.2, energy_J=-3.0, momentum=4.0)
    with_it = measured(fakes.lane(deviation=off))
    assert [with_it[name] for name in ("energy_error", "momentum_error")] == [-3.0, 4.0]
    assert [with_it[name] for name in ("position_error", "rotation_error")] == [0.1, 0.2]
    without = measured(fakes.lane())
    assert without["energy_error"] == 200.0
    assert np.isnan(without["position_error"])
    assert without["cost_per_s"] == pytest.approx(without["cost"] / 0.01)
    assert without["orthogonality"] < 1e-15


def test_logarithmic_limits_hold_all_that_is_finite() -> None:
    low, high = decades([np.array([1e-9, 0.0, np.nan]), np.array([-1e4, np.inf])], 1e-12)
    assert low < 1e-9
    assert high > 1e4
    low, high = decades([], 1e-12)
    assert 0.0 < low < high


def test_a_new_lane_is_offered_under_a_method_that_serves_the_vehicle(bench: Bench) -> None:
    bench.context.of(NewLane).integrator = "picky"
    (added, *_) = bench.click("lanes/add", draw_lanes, fakes.snapshot())
    assert added == AddLane("variational", bench.context.of(NewLane).step_s)


def test_captions_tell_who_stopped_when_and_why_and_what_shows_no_difference(bench: Bench) -> None:
    assert outcome(STOPPED) == "diverged, energy past 4e+03 J at t = 4.75 s"
    off = Deviation(position_m=2e-5, rotation_rad=0.25, energy_J=0.0, momentum=0.0)
    assert "0.25 rad off" in outcome(fakes.lane(deviation=off))
    assert outcome_colour(fakes.lane(deviation=off)) == theme.WARNING
    assert outcome_colour(fakes.lane()) == theme.GOOD
    assert outcome_colour(STOPPED) == theme.DANGER
    scene = Scene("canyon", "T", comparison=Comparison(caption="See.", note="Not so: try."))

    def draw(now, context) -> list:
        draw_caption(scene, now, context)
        return []

    for _ in range(3):
        bench.frame(draw, fakes.snapshot(fakes.lane(), STOPPED))
    assert "caption" in bench.context.rects
    bench.frame(draw, fakes.snapshot(scene="another"))
    assert "caption" not in bench.context.rects


@pytest.mark.parametrize(
    ("step_s", "text"), [(1 / 16.5, "1/16.5 s"), (0.005, "5 ms"), (0.25, "1/4 s"), (0.0321, "32.1 ms")]
)
def test_steps_are_written_as_people_write_them(step_s: float, text: str) -> None:
    assert step_text(step_s) == text


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (152.4, "152 m"),
        (3.61, "3.6 m"),
        (2e-5, "20 \N{MICRO SIGN}m"),
        (4.2e-9, "4.2 nm"),
        (3e-14, "under 1 nm"),
    ],
)
def test_lengths_are_written_with_the_prefix_that_suits_them(metres: float, text: str) -> None:
    assert length_text(metres) == text


def test_labels_stay_in_the_scene_and_clear_of_one_another_and_of_the_caption(bench: Bench) -> None:
    shown = fakes.snapshot(fakes.lane(), STOPPED, fakes.lane("a"), fakes.lane("b"))
    places = {
        "flown": (60.0, 60.0, 60.0),
        "rk4": (5000.0, 300.0, 320.0),
        "a": (61.0, 62.0, 62.0),
        "b": (64.0, 61.0, 61.0),
    }

    def draw(now, context) -> list:
        context.scene_rect = (0.0, 0.0, 700.0, 500.0)
        context.rects["caption"] = (12.0, 12.0, 300.0, 40.0)
        draw_labels(places, now, context, split=False)
        return []

    bench.frame(draw, shown)
    boxes = [rect for name, rect in bench.context.rects.items() if name.startswith(("label/", "caption"))]
    assert len(boxes) == 5
    assert not any(overlap(a, b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert all(x >= 0.0 and y >= 0.0 and x + w <= 700.0 and y + h <= 500.0 for x, y, w, h in boxes)


def test_a_name_that_the_caption_pushes_off_its_place_does_not_lie_on_the_vehicle(bench: Bench) -> None:
    places = {"flown": (150.0, 160.0, 260.0), "rk4": (420.0, 160.0, 260.0)}

    def draw(now, context) -> list:
        context.scene_rect = (0.0, 0.0, 700.0, 500.0)
        context.rects["caption"] = (12.0, 12.0, 300.0, 146.0)
        draw_labels(places, now, context, split=False)
        return []

    bench.frame(draw, fakes.snapshot(fakes.lane(), STOPPED))
    assert bench.context.rects["label/flown"][1] >= 260.0  # there is no room between caption and vehicle
    _, y, _, height = bench.context.rects["label/rk4"]
    assert y + height == pytest.approx(160.0)


def test_in_a_picture_of_its_own_a_lane_tells_how_far_off_it_is(bench: Bench) -> None:
    off = Deviation(position_m=2.5, rotation_rad=0.25, energy_J=0.0, momentum=0.0)
    lane = fakes.lane(deviation=off)
    assert off_text(lane) == "2.5 m and 0.25 rad off"
    assert off_text(fakes.lane()) == ""

    def height(split: bool) -> float:
        def draw(now, context) -> list:
            context.scene_rect = (0.0, 0.0, 700.0, 500.0)
            draw_labels({"flown": (20.0, 200.0, 220.0)}, now, context, split=split)
            return []

        bench.frame(draw, fakes.snapshot(lane))
        return bench.context.rects["label/flown"][3]

    assert height(True) > height(False)


def test_a_scene_opens_with_its_own_arrangement_and_the_users_picture() -> None:
    view = opened(ViewSettings(quality="low", solo="gone", exposure=2.0), load_scene("blowup-slab"))
    assert (view.views, view.camera, view.solo, view.hud) == (4, "orbit", "", False)
    assert (view.quality, view.exposure) == ("low", 2.0)
    assert opened(view, load_scene("canyon")).views == 1


def test_without_a_reference_energy_and_momentum_are_changes_which_controls_make_and_no_errors() -> None:
    for key in ("energy", "momentum"):
        plot = ERROR_PLOTS[f"{key}_error"]
        assert f"{key} change" in plot.heading(reference=False)
        assert f"{key} error" in plot.heading(reference=True)
    assert ERROR_PLOTS["position_error"].heading(reference=False) == "position error  m"
    assert offered(fakes.lane())["momentum"].title == "Momentum change"
