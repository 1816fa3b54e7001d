"""Panels, clicked: what is shown is what is asked for."""

import time
from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui
from imgui_bundle.imgui import internal

from render.light import Day, Sun
from sim.commands import (
    AddLane,
    RemoveLane,
    Reset,
    SetDemo,
    SetFlightMode,
    SetIntegrator,
    SetParameter,
    SetPaused,
    SetSpeed,
    SetStep,
    SetVehicle,
    SingleStep,
)
from sim.control.feedback import Pid
from sim.controllers import gain_values
from sim.scene import Scene
from sim.simulation.lanes.snapshot import ControllerSnapshot, LaneStatus
from sim.vehicles import known_vehicle
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features import vehicle
from ui.features.flight import draw_flight, draw_method, draw_transport
from ui.features.help import _blocks, draw_help, fitting
from ui.features.lanes import draw_lanes
from ui.features.methods import describe, to_try_first
from ui.features.model.panel import draw_model
from ui.features.notices import Toasts, draw_banner, observe_notices
from ui.features.plots import forms, panel
from ui.features.plots.channels import measured
from ui.features.plots.curves import Curves, History, Trace, observe_curves
from ui.features.scenes.gallery import GalleryFields, draw_scene
from ui.features.scenes.view import OpenPath, PendingScene
from ui.features.vehicle import FlownParameters, observe_parameters
from ui.features.view import HourSlider, draw_view
from ui.hud.instruments import draw_instruments
from ui.settings.catalogue import COMPARE, MOVE, PLAN, load_catalogue
from ui.settings.view_settings import Remembered, ViewSettings
from ui.shell.features import FEATURES
from ui.window.context import (
    ChangeView,
    LoadScene,
    RescanControllers,
    ResetLayout,
    SetInterfaceScale,
    TakeScreenshot,
)
from ui.window.widgets import overlap


def test_transport_buttons(bench: Bench) -> None:
    now = fakes.snapshot()
    assert bench.click("transport/play", draw_transport, now) == [SetPaused(True)]
    assert bench.click("transport/play", draw_transport, fakes.snapshot(paused=True)) == [SetPaused(False)]
    assert bench.click("transport/step", draw_transport, now) == [SingleStep()]
    assert bench.click("transport/reset", draw_transport, now) == [Reset()]
    assert bench.click("transport/speed_up", draw_transport, now) == [SetSpeed(2.0)]
    assert bench.click("transport/speed_down", draw_transport, now) == [SetSpeed(0.5)]
    assert bench.click("transport/speed_up", draw_transport, fakes.snapshot(speed=8.0)) == []


def test_the_integrator_menu_swaps_the_method(bench: Bench) -> None:
    now = fakes.snapshot()
    assert bench.click("integrator/combo", draw_method, now) == []
    assert bench.click("integrator/item/rk4", draw_method, now) == [SetIntegrator("rk4")]


def test_methods_that_do_not_serve_the_vehicle_cannot_be_chosen(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.click("integrator/combo", draw_method, now)
    assert "integrator/item/picky" not in bench.context.rects
    bench.click("integrator/family/other", draw_method, now)
    assert bench.click("integrator/item/picky", draw_method, now) == []
    entry = bench.context.catalogue.integrators["picky"]
    assert "it has controls" in describe(entry, "helicopter")


def test_methods_to_try_first_stand_above_the_families_and_search_finds_any(bench: Bench) -> None:
    now, catalogue = fakes.snapshot(), load_catalogue()
    first = to_try_first(catalogue, "helicopter")
    assert list(first) == ["variational-exact", "rk4", "rkmk4"]
    assert list(to_try_first(catalogue, "chain"))[:2] == ["variational", "semi-implicit-euler"]
    for flier in catalogue.vehicles:
        for name in to_try_first(catalogue, flier):
            assert flier not in catalogue.integrators[name].refusals
    bench.context.catalogue = catalogue
    flown = replace(now, lanes=(replace(now.lanes[0], integrator="rkmk4"),))
    bench.click("integrator/combo", draw_method, flown)
    places = {name: bench.context.rects[f"integrator/item/{name}"][1] for name in first}
    assert list(places) == sorted(places, key=places.__getitem__)
    assert max(places.values()) < bench.context.rects["integrator/family/variational"][1]
    assert "integrator/item/cf4" in bench.context.rects, "the family of the present method is unfolded"
    assert "integrator/item/symplectic-half" not in bench.context.rects
    bench.click("integrator/search", draw_method, flown)
    for character in "theta":
        imgui.get_io().add_input_character(ord(character))
    for _ in range(4):
        bench.frame(draw_method, flown)
    assert "integrator/item/symplectic-half" in bench.context.rects
    assert "integrator/item/rk4" not in bench.context.rects


def test_a_methods_tooltip_lies_beside_the_list_and_not_over_it(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.click("integrator/combo", draw_method, now)
    x, y, width, height = bench.context.rects["integrator/item/rk4"]
    imgui.get_io().add_mouse_pos_event(x + 0.5 * width, y + 0.5 * height)
    for _ in range(120):
        bench.frame(draw_method, now)
    left, _, wide, _ = bench.context.rects["method/tooltip"]
    assert left + wide <= x
    assert left >= 0.0


def test_the_step_slider_is_logarithmic_from_1_to_500_ms(bench: Bench) -> None:
    now = fakes.snapshot()
    *_, middle = bench.click("integrator/step", draw_method, now, at=0.5)
    assert isinstance(middle, SetStep)
    assert middle.step_s == pytest.approx(np.sqrt(0.001 * 0.5), rel=0.1)
    *_, low = bench.click("integrator/step", draw_method, now, at=0.001)
    *_, high = bench.click("integrator/step", draw_method, now, at=0.999)
    assert (low, high) == (SetStep(0.001), SetStep(0.5))


@pytest.mark.parametrize(("text", "step_s"), [("33.3", 0.0333), ("9000", 9.0), ("0", 0.0), ("-5", -0.005)])
def test_a_typed_step_is_handed_on_as_it_is_so_that_a_refused_one_is_told_why(
    bench: Bench, text: str, step_s: float
) -> None:
    now = fakes.snapshot()
    bench.click("integrator/step_field", draw_method, now)
    assert bench.type(text, draw_method, now) == [SetStep(step_s)]


def test_flight_modes_are_those_of_the_vehicle(bench: Bench) -> None:
    now = fakes.snapshot(flight_modes=("raw", "hold"), flight_mode="raw")
    assert bench.click("flight/mode/hold", draw_flight, now) == [SetFlightMode("hold")]
    assert bench.click("flight/mode/raw", draw_flight, now) == []
    assert "flight/mode/attitude" not in bench.context.rects
    own = ControllerSnapshot(Pid, gain_values(Pid()), {}, "", "")
    flown = fakes.snapshot(
        fakes.lane(controller=own), flight_modes=("raw", "hold"), flight_mode="raw"
    )  # by a controller: any mode takes it back into the hand
    assert bench.click("flight/mode/raw", draw_flight, flown) == [SetFlightMode("raw")]
    assert bench.click("transport/demo", draw_flight, now) == [SetDemo(True)]
    assert bench.click("flight/devices", draw_flight, now) == [RescanControllers()]
    assert bench.frame(draw_flight, fakes.snapshot(flight_modes=())) == []


def test_the_vehicle_menu_and_every_declared_parameter(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.frame(vehicle.draw_vehicle, now)
    for parameter in fakes.HELICOPTER:
        assert f"vehicle/param/{parameter.name}" in bench.context.rects
    bench.click("vehicle/combo", vehicle.draw_vehicle, now)
    assert bench.click("vehicle/item/rigid-body", vehicle.draw_vehicle, now) == [SetVehicle("rigid-body")]


def test_a_changed_parameter_goes_back_to_its_default(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.context.of(FlownParameters).values["mass"] = 1100.0
    assert bench.click("vehicle/param/mass/reset", vehicle.draw_vehicle, now) == [SetParameter("mass", 5.0)]
    assert bench.context.of(FlownParameters).values["mass"] == 5.0
    assert bench.click("vehicle/param/mass/reset", vehicle.draw_vehicle, now) == []


def test_what_was_just_clicked_does_not_cover_with_its_tooltip_what_came_of_it(bench: Bench) -> None:
    now = fakes.snapshot()

    def tells_after_a_while() -> bool:
        for _ in range(120):
            bench.frame(draw_transport, now)
        return internal.find_window_by_name("##Tooltip_00") is not None

    bench.click("transport/step", draw_transport, now)
    assert not tells_after_a_while()
    x, y, width, height = bench.context.rects["transport/reset"]
    imgui.get_io().add_mouse_pos_event(x + width / 2.0, y + height / 2.0)
    assert tells_after_a_while()


def test_a_parameters_tooltip_tells_meaning_unit_range_and_default() -> None:
    text = vehicle.describe(fakes.HELICOPTER[1])
    for part in ("Principal moments", "kg m^2", "1e-06 to 1e+07", "0.15, 0.3, 0.35"):
        assert part in text


def test_every_parameter_of_every_real_vehicle_has_a_field(bench: Bench) -> None:
    bench.context.catalogue = load_catalogue()
    for entry in bench.context.catalogue.vehicles.values():
        bench.context.of(FlownParameters).values = entry.defaults()
        assert bench.frame(vehicle.draw_vehicle, fakes.snapshot(fakes.lane(vehicle=entry.name))) == []
        named = {name for name in bench.context.rects if name.startswith("vehicle/param/")}
        of_bodies = {parameter.body for parameter in entry.parameters if parameter.body}
        for body in of_bodies:
            bench.context.view = replace(ViewSettings(), chosen=body)
            known = fakes.lane(
                vehicle=entry.name,
                mechanics=(mechanics := known_vehicle(entry.name)),
                node=mechanics.default_state().node,
                controls=mechanics.neutral_controls,
                bodies={body: np.eye(4)},
            )
            assert bench.frame(draw_model, fakes.snapshot(known)) == []
            named |= {name for name in bench.context.rects if name.startswith("vehicle/param/")}
        assert named >= {f"vehicle/param/{parameter.name}" for parameter in entry.parameters}


def test_what_is_on_or_off_is_switched_by_one_click(bench: Bench) -> None:
    bench.context.catalogue = load_catalogue()
    bench.context.of(FlownParameters).values = bench.context.catalogue.vehicles["cosserat-rope"].defaults()
    now = fakes.snapshot(fakes.lane(vehicle="cosserat-rope"))
    for value in (0.0, 1.0):
        assert bench.click("vehicle/param/held", vehicle.draw_vehicle, now) == [SetParameter("held", value)]
        assert bench.context.of(FlownParameters).values["held"] == value


def test_scenes_are_loaded_by_one_click(bench: Bench) -> None:
    now = fakes.snapshot()
    assert bench.click("scene/open/plain", draw_scene, now) == [LoadScene("plain")]
    assert bench.click("scene/open/canyon", draw_scene, now) == []
    assert bench.click("scene/reload", draw_scene, now) == [LoadScene("canyon")]


def test_while_a_scene_is_searched_what_is_found_stands_first_and_what_is_chosen_ends_the_search(
    bench: Bench,
) -> None:
    now, fields = fakes.snapshot(), bench.context.of(GalleryFields)
    fields.search = "plain"
    bench.frame(draw_scene, now)
    assert "scene/reload" not in bench.context.rects
    assert bench.click("scene/open/plain", draw_scene, now) == [LoadScene("plain")]
    # It stays until the scene is there: what comes to lie under the mouse is nobody's second click.
    bench.context.show(PendingScene("plain"))
    assert bench.click("scene/open/plain", draw_scene, now) == []
    scene = next(feature for feature in FEATURES if feature.panel is draw_scene)
    bench.context.forget(*scene.of_scene)
    bench.frame(draw_scene, now)
    assert "scene/reload" in bench.context.rects


def test_scenes_of_ones_own_are_found_and_opened_by_their_path(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.context.show(Remembered(files=("/here/my-canyon-loop.toml", "/here/flight.npz")))
    bench.context.of(GalleryFields).search = "loop"
    opened = bench.click("scene/open//here/my-canyon-loop.toml", draw_scene, now)
    assert opened == [OpenPath("/here/my-canyon-loop.toml")]


def test_every_scene_is_listed_once_under_its_kind(bench: Bench) -> None:
    bench.context.catalogue = load_catalogue()
    scenes = bench.context.catalogue.scenes
    bench.frame(draw_scene, fakes.snapshot(), height=3000.0)
    listed = {name for name in bench.context.rects if name.startswith("scene/open/")}
    assert listed == {f"scene/open/{name}" for name in scenes}
    kinds = {name: entry.kind for name, entry in scenes.items()}
    assert {kind for name, kind in kinds.items() if name.startswith("blowup")} == {COMPARE}
    assert kinds["canyon"] == MOVE
    assert {name for name, kind in kinds.items() if kind == PLAN} == {
        n for n in kinds if n.startswith(("plan-", "chase-"))
    }


def test_view_settings_and_window_buttons(bench: Bench) -> None:
    now, start = fakes.snapshot(), bench.context.view
    assert bench.click("view/camera/tower", draw_view, now) == [ChangeView(replace(start, camera="tower"))]
    assert bench.click("view/trail", draw_view, now) == [ChangeView(replace(start, trail=False))]
    assert bench.click("view/quality/low", draw_view, now) == [ChangeView(replace(start, quality="low"))]
    *_, last = bench.click("view/exposure", draw_view, now, at=0.999)
    assert last == ChangeView(replace(start, exposure=4.0))
    assert bench.click("view/units/kt, ft", draw_view, now) == [ChangeView(replace(start, units="kt, ft"))]
    (chosen,) = bench.click("view/hour", draw_view, now, at=0.999)
    assert chosen.view.hour == pytest.approx(Day.of(Sun()).span[1], abs=0.1)
    assert bench.context.of(HourSlider).hour is None
    bench.context.view = chosen.view
    assert bench.click("view/hour/own", draw_view, now) == [ChangeView(start)]
    bench.context.view = start
    assert bench.click("view/scale/1.5", draw_view, now) == [SetInterfaceScale(1.5)]
    assert bench.click("view/screenshot", draw_view, now) == [TakeScreenshot()]
    assert bench.click("view/layout", draw_view, now) == [ResetLayout()]


def test_ghosts_are_added_and_removed_and_the_flown_lane_is_not(bench: Bench) -> None:
    now = fakes.snapshot(fakes.lane(), fakes.lane("rk4 50 ms", integrator="rk4"))
    assert bench.click("lanes/remove/rk4 50 ms", draw_lanes, now) == [RemoveLane("rk4 50 ms")]
    assert "lanes/remove/flown" not in bench.context.rects
    bench.click("lanes/integrator/combo", draw_lanes, now)
    bench.click("lanes/integrator/item/variational", draw_lanes, now)
    assert bench.click("lanes/add", draw_lanes, now) == [AddLane("variational", 0.005)]
    again = [AddLane("variational", 0.005), Reset()]
    assert bench.click("lanes/add_and_reset", draw_lanes, now) == again


INSTRUMENTS = ((14.0, 478.0, 255.0, 134.0), (738.0, 462.0, 150.0, 150.0))
"""Numbers and map."""


def banner_middle_x(bench: Bench, crashed, caption=None) -> float:
    """Of the button in it: the banner is as wide as its text, so the button's place tells where it stands."""

    def draw(now, context) -> list:
        context.scene_rect = (0.0, 0.0, 930.0, 620.0)
        if caption is not None:
            context.rects["caption"] = caption
        return draw_banner(now, context)

    for _ in range(2):
        bench.frame(draw, crashed)
    x, _, width, _ = bench.context.rects["banner/reset"]
    return x + width / 2.0


def test_a_crash_shows_a_banner_with_a_way_back(bench: Bench) -> None:
    crashed = fakes.snapshot(fakes.lane(status=LaneStatus.CRASHED, status_text="Hit the ground at 7.4 m/s."))
    assert bench.click("banner/reset", draw_banner, crashed) == [Reset()]
    middle = banner_middle_x(bench, crashed)
    assert banner_middle_x(bench, crashed, caption=(12.0, 12.0, 430.0, 200.0)) > middle + 100.0
    assert banner_middle_x(bench, crashed, caption=(12.0, 590.0, 880.0, 100.0)) == pytest.approx(middle)
    bench.frame(draw_banner, fakes.snapshot())
    assert "banner/reset" not in bench.context.rects


@pytest.mark.parametrize("size", [(646.0, 466.0), (936.0, 628.0), (1540.0, 890.0)])
def test_the_banner_of_a_crash_leaves_what_the_camera_looks_at_free(bench: Bench, size) -> None:
    crashed = fakes.snapshot(fakes.lane(status=LaneStatus.CRASHED, status_text="Hit the ground at 7.4 m/s."))
    places = []

    def draw(now, context) -> list:
        context.scene_rect = (0.0, 0.0, *size)
        context.rects["goals"] = (12.0, 52.0, 264.0, 96.0)
        requests = draw_banner(now, context)
        window = internal.find_window_by_name("##banner")
        places.append((*window.pos, *window.size))
        return requests

    for _ in range(3):
        bench.frame(draw, crashed)
    middle = (0.42 * size[0], 0.44 * size[1], 0.16 * size[0], 0.12 * size[1])
    assert not overlap(places[-1], middle)
    assert not overlap(places[-1], (12.0, 52.0, 264.0, 96.0))


@pytest.mark.parametrize("hint", [None, (360.0, 560.0, 220.0, 26.0)])
def test_the_banner_of_a_crash_stands_between_the_instruments_below_who_is_thrown(bench: Bench, hint) -> None:
    """As a window of 1280 x 800 has them: the upper two thirds show a replay, whose rider's head is high up."""
    crashed = fakes.snapshot(
        fakes.lane(status=LaneStatus.CRASHED, status_text="crashed at 4.8 m/s into what stands")
    )
    places = []

    def draw(now, context) -> list:
        context.scene_rect = (0.0, 0.0, 902.0, 626.0)
        context.rects["goals"] = (12.0, 54.0, 264.0, 190.0)
        context.rects["hud/numbers"], context.rects["hud/minimap"] = INSTRUMENTS
        if hint is not None:
            context.rects["key_hint"] = hint
        requests = draw_banner(now, context)
        window = internal.find_window_by_name("##banner")
        places.append((*window.pos, *window.size))
        return requests

    for _ in range(3):
        bench.frame(draw, crashed)
    assert places[-1][1] > 0.66 * 626.0
    assert not any(overlap(places[-1], rect) for rect in INSTRUMENTS)
    assert hint is None or not overlap(places[-1], hint)


def test_plots_live_with_numbers_that_are_not_finite(bench: Bench) -> None:
    history = History()
    for k, energy in enumerate((1000.0, np.nan, np.inf, 1e300)):
        history.append(float(k), measured(fakes.lane(energy_J=energy)))
    bench.context.of(Curves).histories["flown"] = history
    assert bench.frame(panel.draw_plots, fakes.snapshot()) == []
    low, high = panel.limits([history.trace("energy", 0.0, 10.0)], 1e-6)
    assert np.isfinite([low, high]).all()
    assert low < high


def test_numbers_in_plots_are_short() -> None:
    assert panel.engineering(51234.0, "J") == "51.23 kJ"
    assert panel.engineering(0.0012, "J") == "0.0012 J"
    assert panel.engineering(-250e3, "") == "-250k"
    assert panel.engineering(1.2e-14, "rad/s", 1e-3) == "0 rad/s"
    assert panel.engineering(float("nan"), "J") == "not finite"
    assert panel.engineering(1793.0, "\N{MICRO SIGN}s") == "1.79 ms"
    assert panel.engineering(17.93, "\N{MICRO SIGN}s") == "17.9 \N{MICRO SIGN}s"


def test_moments_under_a_plot_are_round_evenly_apart_within_it_and_few() -> None:
    for start_s, length_s, intervals in ((0.0, 20.0, 3), (3.3, 20.0, 2), (101.7, 60.0, 4), (0.4, 5.0, 1)):
        moments = panel.round_moments(start_s, start_s + length_s, intervals)
        steps = np.diff(moments)
        assert 1 <= len(moments) <= intervals + 1
        assert all(start_s <= moment <= start_s + length_s for moment in moments)
        assert np.allclose(steps, steps[:1])
        assert all(
            float(f"{moment:.2g}" if moment < 100.0 else f"{moment:.3g}") == moment for moment in moments
        )


def test_rounding_errors_do_not_fill_a_plot() -> None:
    time_s = np.arange(3.0)
    for values in (np.zeros(3), np.array([0.0, 1e-12, 0.0]), np.full(3, 2.0)):
        low, high = panel.limits([Trace(time_s, values)], 1e-3)
        assert high - low >= 1e-3 - 1e-12
        assert low <= values.min()
        assert values.max() <= high


def test_the_help_draws(bench: Bench) -> None:
    for _ in range(3):
        assert bench.frame(lambda now, context: draw_help(context), fakes.snapshot()) == []
    _, _, width, height = bench.context.rects["help"]
    assert width > 400.0
    assert height > 300.0


@pytest.mark.parametrize("size", [(1024.0, 640.0), (1280.0, 800.0), (1920.0, 1080.0)])
def test_the_help_has_room_for_all_its_rows_in_any_window(size: tuple[float, float], bench: Bench) -> None:
    scales = []

    def draw(_, context) -> list:
        imgui.get_io().display_size = size
        blocks = _blocks(context)
        columns, scale = fitting(blocks, context.scale, size)
        assert [block for column in columns for block in column] == blocks
        scales.append(scale)
        return draw_help(context)

    for _ in range(4):
        bench.frame(draw, fakes.snapshot())
    _, _, width, height = bench.context.rects["help"]
    # What is too large for the display is cut 6 px before its edge.
    assert width < size[0] - 8.0
    assert height < size[1] - 8.0
    assert min(scales) > 0.8


def test_the_instruments_draw(bench: Bench) -> None:
    bench.frame(draw_instruments, fakes.snapshot())
    bench.frame(
        draw_instruments, fakes.snapshot(fakes.lane(vehicle="rigid-body", height_above_ground_m=np.nan))
    )


def test_no_widget_of_any_panel_leaves_the_columns_width(bench: Bench) -> None:
    now = fakes.snapshot(fakes.lane(), fakes.lane("rk4 50 ms"))
    for feature in FEATURES:
        if feature.panel is None:
            continue
        name, draw = feature.name, feature.panel
        bench.frame(draw, now)
        bench.frame(draw, now)
        for widget, (x, _, width, _) in bench.context.rects.items():
            assert x >= 936.0, (name, widget)
            assert x + width <= 1280.0, (name, widget)


def test_parameters_come_from_the_scene_and_edits_outlive_a_swap_of_vehicles(bench: Bench) -> None:
    bench.context.forget(FlownParameters)
    bench.context.show(Scene("s", "S", vehicle=known_vehicle("helicopter", mass=1100.0)))
    flown, other = fakes.snapshot(), fakes.snapshot(fakes.lane(vehicle="rigid-body"))
    observe_parameters(flown, bench.context)
    assert bench.context.of(FlownParameters).values["mass"] == 1100.0
    assert bench.context.of(FlownParameters).values["tail_offset"] == 1.0
    bench.context.of(FlownParameters).values["mass"] = 900.0
    observe_parameters(other, bench.context)
    assert bench.context.of(FlownParameters).values["mass"] == 5.0
    observe_parameters(flown, bench.context)
    assert bench.context.of(FlownParameters).values["mass"] == 900.0


def test_a_ghost_that_stops_is_told_once_and_forgotten_when_removed(bench: Bench) -> None:
    bench.context.show(Scene("s", "S"))
    ghost = fakes.lane("ghost", status=LaneStatus.DIVERGED, status_text="energy passed its bound at 2.3 s")
    for _ in range(3):
        observe_notices(fakes.snapshot(fakes.lane(), ghost), bench.context)
        observe_curves(fakes.snapshot(fakes.lane(), ghost), bench.context)
    told = [toast.text for toast in bench.context.of(Toasts).visible(time.perf_counter())]
    assert told == ["ghost: energy passed its bound at 2.3 s"]
    observe_curves(fakes.snapshot(), bench.context)
    assert set(bench.context.of(Curves).histories) == {"flown"}


def test_frequencies_are_marked_by_round_numbers_and_never_too_many() -> None:
    assert forms.round_frequencies(0.12, 6.0, 8) == pytest.approx([0.2, 0.5, 1.0, 2.0, 5.0])
    for low, high in ((0.05, 50.0), (1e-3, 1e3), (1.5, 1.8), (0.3, 4e4)):
        for most in (1, 3, 6):
            marks = forms.round_frequencies(low, high, most)
            assert all(low <= mark <= high for mark in marks)
            assert len(marks) <= most + 2
    assert forms.positive_range([np.array([0.0, np.nan, 0.2, 7.0])]) == (0.2, 7.0)
    assert forms.positive_range([]) == (1.0, 10.0)
