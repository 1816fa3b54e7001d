"""Laws of what is open, and of messages."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from sim.commands import Reset
from sim.planner.service.requests import PlanRequest
from tests.ui import fakes
from ui.features.notices import LIFETIME_S, MOST, ONGOING_LIFETIME_S, Toasts
from ui.features.photo import TakePhoto
from ui.features.plots.curves import SaveCurves
from ui.features.plots.forms import SavePlot
from ui.features.scenes.view import OpenControls
from ui.settings.view_settings import ViewSettings
from ui.shell.features import FEATURES
from ui.window.context import (
    OWN,
    Action,
    ChangeView,
    Escape,
    OwnAction,
    ResetLayout,
    SetInterfaceScale,
    ShellState,
    TakeScreenshot,
    ToggleFullscreen,
    ToggleHelp,
    TogglePanels,
    TogglePlots,
    applied,
    flies_off,
    following,
)

START = ShellState(ViewSettings())


@pytest.mark.parametrize("request_type", [ToggleHelp, TogglePanels, TogglePlots, ToggleFullscreen])
def test_a_toggle_twice_is_nothing(request_type: type) -> None:
    once = applied(START, request_type())
    assert once != START
    assert applied(once, request_type()) == START


def test_escape_closes_the_help_first_and_the_full_screen_next_and_never_the_app() -> None:
    both = replace(START, help=True, fullscreen=True)
    first = applied(both, Escape())
    assert (first.help, first.fullscreen) == (False, True)
    second = applied(first, Escape())
    assert (second.help, second.fullscreen) == (False, False)
    assert applied(second, Escape()) == second


def test_asking_for_plots_brings_hidden_panels_back() -> None:
    hidden = replace(START, panels=False, plots=False)
    assert applied(hidden, TogglePlots()).panels


def test_a_new_text_size_or_a_reset_lays_the_panels_out_anew() -> None:
    assert applied(START, SetInterfaceScale(1.5)).layouts_reset == 1
    assert applied(START, ResetLayout()).layouts_reset == 1


def test_the_view_is_replaced_as_a_whole() -> None:
    view = ViewSettings(camera="tower", exposure=2.0)
    assert applied(START, ChangeView(view)).view == view


def test_requests_are_either_the_shells_own_or_the_apps() -> None:
    assert set(OWN) == set(OwnAction.__args__)
    assert not any(issubclass(kind, Action) for kind in OWN)


def test_every_action_is_carried_out_by_one_feature_or_by_the_session() -> None:
    handled = [kind for feature in FEATURES if feature.actions for kind in feature.actions.handles]
    assert len(handled) == len(set(handled))
    assert {*handled} >= {*get_args(PlanRequest)}
    of_the_session = {TakeScreenshot, TakePhoto, SaveCurves, SavePlot, OpenControls}
    named = {kind.__name__ for kind in {*handled, *of_the_session} - {*get_args(PlanRequest)}}
    assert {kind.__name__ for kind in Action.__subclasses__()} == named


def test_no_two_features_show_or_remember_values_of_one_type() -> None:
    kinds = [kind for feature in FEATURES for kind in feature.of_scene]
    assert len(kinds) == len(set(kinds))
    assert len({feature.name for feature in FEATURES}) == len(FEATURES)
    with pytest.raises(TypeError):
        applied(START, Reset())


def test_a_message_is_shown_once_until_it_changes() -> None:
    toasts = Toasts()
    for k in range(10):
        toasts.hear("Integrator: rk4", float(k) * 0.1)
    assert [t.text for t in toasts.visible(1.0)] == ["Integrator: rk4"]
    assert toasts.visible(LIFETIME_S + 0.1) == ()
    toasts.hear("Integrator: rk4", 7.0)
    assert toasts.visible(7.0) == ()
    toasts.hear("", 8.0)
    toasts.hear("Integrator: rk4", 9.0)
    assert len(toasts.visible(9.0)) == 1


def test_the_same_words_said_once_more_are_shown_once_more() -> None:
    toasts = Toasts()
    toasts.hear("trike: its files are taken up", 0.0, 3)
    toasts.hear("trike: its files are taken up", LIFETIME_S + 1.0, 3)
    assert toasts.visible(LIFETIME_S + 1.0) == ()
    toasts.hear("trike: its files are taken up", LIFETIME_S + 2.0, 4)
    assert len(toasts.visible(LIFETIME_S + 2.0)) == 1


def test_what_is_wrong_stands_until_it_is_mended_and_goes_at_once() -> None:
    toasts = Toasts()
    for k in range(100):
        toasts.stand("line 3: no", float(k))
        if k == 98:
            toasts.add("saved", 98.0)
    assert [(t.text, t.error) for t in toasts.visible(99.0)] == [("line 3: no", True), ("saved", False)]
    toasts.stand("line 4: no", 99.0, instead_of="line 3: no")
    assert [t.text for t in toasts.visible(99.0)] == ["saved", "line 4: no"]
    toasts.stand("", 99.5, instead_of="line 4: no")
    assert [t.text for t in toasts.visible(99.5)] == ["saved"]


def test_toasts_fade_at_the_end_and_only_so_many_are_kept() -> None:
    toasts = Toasts()
    for k in range(10):
        toasts.add(f"message {'abcdefghij'[k]}", 0.0, error=k == 9)
    shown = toasts.visible(0.0)
    assert len(shown) == MOST
    assert shown[0].opacity(0.0) == 1.0
    assert 0.0 < shown[0].opacity(LIFETIME_S - 0.1) < 1.0
    assert shown[-1].dies_s > shown[0].dies_s


def test_a_number_that_changes_takes_the_place_of_what_it_was() -> None:
    toasts = Toasts()
    for degrees in (-3.5, 0.0, 1.2e-3, 88.1):
        toasts.add(f"elbow = {degrees}", 0.0)
    toasts.add("shoulder = 1.0", 0.0)
    toasts.add("elbow = 3.0", 0.0)
    assert [t.text for t in toasts.visible(0.0)] == ["elbow = 88.1", "shoulder = 1.0", "elbow = 3.0"]
    for line in (3, 4):
        toasts.add(f"line {line}: no", 0.0, error=True)
    assert [t.text for t in toasts.visible(0.0) if t.error] == ["line 3: no", "line 4: no"]


def test_what_goes_on_is_told_as_long_as_it_does_and_not_much_longer() -> None:
    toasts = Toasts()
    for k in range(200):
        toasts.hear("compiling rk4 for boat ...", 0.1 * k)
    assert [t.text for t in toasts.visible(20.0)] == ["compiling rk4 for boat ..."]
    toasts.hear("integrator: rk4", 20.0)
    assert [t.text for t in toasts.visible(20.0 + ONGOING_LIFETIME_S)] == ["integrator: rk4"]


def test_once_a_plan_is_flown_its_overview_gives_way_to_the_vehicle_unless_the_user_wants_it_back() -> None:
    start = ShellState(ViewSettings(camera="overview"))
    assert following(start, flies=False) == start
    flying = following(start, flies=True)
    assert flying.view.camera == "chase"
    back = applied(flying, ChangeView(replace(flying.view, camera="overview")))
    assert following(back, flies=True).view.camera == "overview"
    assert following(ShellState(ViewSettings(camera="tower")), flies=True).view.camera == "tower"
    assert flies_off(fakes.snapshot(plan_flies=True))
    assert not flies_off(fakes.snapshot(plan_flies=False))
    held = fakes.snapshot(plan_flies=True)
    lanes = (replace(held.lanes[0], pivot_w=np.zeros(3)), *held.lanes[1:])
    assert not flies_off(replace(held, lanes=lanes))  # an arm on its foot
