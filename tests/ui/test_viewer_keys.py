"""What viewer keys ask for."""

from sim.commands import SetDemo, SetFlightMode, SetPaused, SetSpeed
from sim.scene import CAMERAS
from tests.ui import fakes
from ui.settings.view_settings import ViewSettings
from ui.shell.keys import following, request_of
from ui.window.context import ChangeView
from ui.window.widgets import doubled, halved


def test_space_pauses_and_continues() -> None:
    assert request_of("pause", fakes.snapshot(), ViewSettings()) == SetPaused(True)
    assert request_of("pause", fakes.snapshot(paused=True), ViewSettings()) == SetPaused(False)


def test_speed_halves_and_doubles_within_its_range() -> None:
    assert request_of("slower", fakes.snapshot(speed=1.0), ViewSettings()) == SetSpeed(0.5)
    assert halved(1 / 32) == 1 / 32
    assert doubled(8.0) == 8.0
    assert doubled(halved(0.25)) == 0.25


def test_the_camera_key_visits_every_camera_and_comes_back() -> None:
    view, seen = ViewSettings(), []
    for _ in CAMERAS:
        request = request_of("camera", fakes.snapshot(), view)
        assert isinstance(request, ChangeView)
        view = request.view
        seen.append(view.camera)
    assert sorted(seen) == sorted(CAMERAS)
    assert view == ViewSettings()


def test_the_mode_key_offers_only_modes_the_vehicle_has() -> None:
    shown = fakes.snapshot(flight_modes=("raw", "rate"), flight_mode="rate")
    assert request_of("mode", shown, ViewSettings()) == SetFlightMode("raw")


def test_the_demo_key_hands_over_and_takes_back() -> None:
    assert request_of("demo", fakes.snapshot(demo=True), ViewSettings()) == SetDemo(False)


def test_names_that_are_gone_lead_to_the_first() -> None:
    assert following(("a", "b"), "z") == "a"
    assert following((), "z") == "z"
