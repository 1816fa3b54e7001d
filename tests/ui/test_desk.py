"""Laws of the input desk: who owns a press, and that nothing stays held."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyglet.window import key, mouse

from sim.commands import PilotInput
from sim.vehicle_config import config_named
from sim.vehicle_config.registry import enter_config
from sim.vehicles import VEHICLES
from ui.input.control_setup import ControlSetup
from ui.input.desk import InputDesk
from ui.input.profile import ForAxis, ForKey

DT = 1.0 / 60.0


class Place:
    """What the window around the desk would answer."""

    typing = False
    in_scene = True


@pytest.fixture
def place() -> Place:
    return Place()


@pytest.fixture
def setup(tmp_path: Path) -> ControlSetup:
    return ControlSetup(tmp_path)


@pytest.fixture
def desk(place: Place, setup: ControlSetup) -> Iterator[InputDesk]:
    desk = InputDesk(setup, typing=lambda: place.typing, scene_has=lambda *at: place.in_scene)
    desk.serve("helicopter")
    yield desk
    desk.close()


def settled(desk: InputDesk, seconds: float = 1.0):
    for _ in range(round(seconds / DT)):
        sample = desk.sample(DT)
    return sample.pilot


def test_a_held_key_flies_until_it_is_released(desk: InputDesk) -> None:
    desk.on_key_press(key.W, 0)
    assert settled(desk).pitch == 1.0
    desk.on_key_release(key.W, 0)
    assert settled(desk).pitch == 0.0


def test_losing_the_focus_centres_the_sticks_at_once(desk: InputDesk) -> None:
    desk.on_key_press(key.R, 0)
    desk.on_key_press(key.LEFT, 0)
    settled(desk)
    desk.on_deactivate()
    sample = desk.sample(DT)
    assert sample.pilot.throttle == 0.0
    assert sample.camera.orbit == (0.0, 0.0)


def test_typing_in_a_field_flies_nothing_and_lets_go_of_what_was_held(desk: InputDesk, place: Place) -> None:
    desk.on_key_press(key.D, 0)
    settled(desk)
    place.typing = True
    desk.on_key_press(key.W, 0)
    desk.on_key_press(key.SPACE, 0)
    assert desk.sample(DT).pressed == ()
    pilot = settled(desk)
    assert (pilot.pitch, pilot.roll) == (0.0, 0.0)
    place.typing = False
    desk.on_key_release(key.W, 0)
    assert settled(desk).pitch == 0.0


def test_a_key_right_after_a_click_is_the_fields_that_the_click_was_on(desk: InputDesk, place: Place) -> None:
    place.in_scene = False
    desk.on_mouse_press(5, 5, mouse.LEFT, 0)
    desk.on_key_press(key.P, 0)  # the field has the keyboard from the next frame but one on
    first = desk.sample(DT)
    place.typing = True
    pressed = [name for _ in range(5) for name in (*first.pressed, *desk.sample(DT).pressed)]
    desk.on_key_release(key.P, 0)
    assert pressed == []


def test_a_key_right_after_a_list_has_opened_is_its_searchs(desk: InputDesk, place: Place) -> None:
    """A list opens as the button is let go, however long it was down."""
    place.in_scene = False
    desk.on_mouse_press(5, 5, mouse.LEFT, 0)
    for _ in range(20):
        desk.sample(DT)
    desk.on_mouse_release(5, 5, mouse.LEFT, 0)
    desk.sample(DT)
    desk.on_key_press(key.P, 0)
    first = [*desk.sample(DT).pressed, *desk.sample(DT).pressed]
    place.typing = True
    assert first + [name for _ in range(5) for name in desk.sample(DT).pressed] == []


def test_keys_right_after_a_click_elsewhere_act_in_order_some_frames_later(
    desk: InputDesk, place: Place
) -> None:
    place.typing = True
    desk.on_mouse_press(5, 5, mouse.LEFT, 0)  # leaves the field
    desk.on_key_press(key.W, 0)
    desk.on_key_press(key.C, 0)
    desk.on_key_release(key.C, 0)
    desk.on_key_press(key.P, 0)
    desk.sample(DT)
    place.typing = False
    pressed = [name for _ in range(5) for name in desk.sample(DT).pressed]
    assert pressed == ["camera", "demo"]
    assert settled(desk).pitch == 1.0


def test_viewer_keys_are_told_once_a_press_in_order(desk: InputDesk) -> None:
    for symbol in (key.C, key.SPACE, key.F1):
        desk.on_key_press(symbol, 0)
        desk.on_key_release(symbol, 0)
    assert desk.sample(DT).pressed == ("camera", "pause", "help")
    assert desk.sample(DT).pressed == ()


def test_the_keys_are_those_of_the_vehicle_that_is_flown(desk: InputDesk) -> None:
    desk.serve("spacecraft")
    for symbol in (key.BACKSPACE, key.K, key.G):
        desk.on_key_press(symbol, 0)
    desk.on_key_press(key.T, 0)
    assert desk.sample(DT).pressed == ("reset", "pause")
    flown = settled(desk)
    assert flown.throttle == 1.0
    assert flown.actions == {"engine-down"}
    desk.serve("helicopter")
    after = settled(desk)
    assert (after.throttle, after.actions) == (0.0, frozenset())
    for symbol in (key.T, key.SPACE, key.G):
        desk.on_key_press(symbol, 0)
    assert desk.sample(DT).pressed == ("trail", "pause", "mode")


def test_a_held_key_stays_down_while_its_vehicle_is_renewed(desk: InputDesk) -> None:
    """A saved change of its data enters another config under the same name."""
    kind, before = VEHICLES["helicopter"], config_named("helicopter")
    desk.on_key_press(key.W, 0)
    assert settled(desk).pitch == 1.0
    pitch = next(held for held in before.keys.held if "W" in held.keys)
    others = tuple(held for held in before.keys.held if held is not pitch)
    try:
        enter_config(kind, replace(before, modes=replace(before.modes, autopilot="")))
        desk.serve("helicopter")
        assert settled(desk).pitch == 1.0
        enter_config(kind, replace(before, keys=replace(before.keys, held=others)))
        desk.serve("helicopter")
        assert settled(desk).pitch == 0.0  # W means nothing any more
    finally:
        enter_config(kind, before)


def test_a_key_held_with_another_is_one_of_its_own_and_flies_nothing(desk: InputDesk) -> None:
    desk.on_key_press(key.LCTRL, 0)
    desk.on_key_press(key.Z, key.MOD_CTRL)
    desk.on_key_press(key.LSHIFT, key.MOD_CTRL)
    desk.on_key_press(key.Z, key.MOD_CTRL | key.MOD_SHIFT)
    assert desk.sample(DT).pressed == ("undo", "redo")
    assert settled(desk) == PilotInput()
    desk.on_key_press(key.W, key.MOD_CTRL)  # stands in no table: flown with
    assert settled(desk).pitch == 1.0


def test_combinations_of_the_desktop_are_left_to_it(desk: InputDesk) -> None:
    desk.on_key_press(key.TAB, key.MOD_ALT)
    desk.on_key_press(key.H, key.MOD_COMMAND)
    assert desk.sample(DT).pressed == ()


def test_a_drag_that_began_in_the_scene_goes_on_over_the_panels(desk: InputDesk, place: Place) -> None:
    desk.on_mouse_press(10, 10, mouse.LEFT, 0)
    place.in_scene = False
    desk.on_mouse_drag(600, 10, 30, -4, mouse.LEFT, 0)
    desk.on_mouse_drag(600, 10, 5, 1, mouse.LEFT, 0)
    assert desk.sample(DT).camera.drag_px == (35.0, -3.0)
    desk.on_mouse_release(600, 10, mouse.LEFT, 0)
    desk.on_mouse_drag(600, 10, 30, -4, mouse.LEFT, 0)
    assert desk.sample(DT).camera.drag_px == (0.0, 0.0)


def test_a_drag_that_began_on_a_panel_moves_no_camera(desk: InputDesk, place: Place) -> None:
    place.in_scene = False
    desk.on_mouse_press(600, 10, mouse.LEFT, 0)
    place.in_scene = True
    desk.on_mouse_drag(10, 10, 30, -4, mouse.LEFT, 0)
    camera = desk.sample(DT).camera
    assert (camera.drag_px, camera.pan_px) == ((0.0, 0.0), (0.0, 0.0))


def test_two_buttons_pan_and_release_leaves_none_stuck(desk: InputDesk) -> None:
    desk.on_mouse_press(10, 10, mouse.LEFT, 0)
    desk.on_mouse_press(10, 10, mouse.RIGHT, 0)
    desk.on_mouse_drag(11, 12, 1, 2, mouse.LEFT | mouse.RIGHT, 0)
    assert desk.sample(DT).camera.pan_px == (1.0, 2.0)
    desk.on_mouse_release(10, 10, mouse.RIGHT, 0)
    desk.on_mouse_drag(11, 12, 3, 2, mouse.LEFT, 0)
    assert desk.sample(DT).camera.drag_px == (3.0, 2.0)


def test_the_wheel_zooms_over_the_scene_only(desk: InputDesk, place: Place) -> None:
    desk.on_mouse_scroll(10, 10, 0.0, 1.0)
    place.in_scene = False
    desk.on_mouse_scroll(600, 10, 0.0, 5.0)
    assert desk.sample(DT).camera.zoom == 1.0
    assert desk.sample(DT).camera.zoom == 0.0


def test_a_key_that_is_waited_for_does_nothing_else_and_is_the_actions_from_then_on(
    desk: InputDesk, setup: ControlSetup
) -> None:
    setup.listen(ForKey("helicopter", "pitch+"), desk.devices)
    desk.on_key_press(key.U, 0)
    assert desk.sample(DT).pressed == ()
    desk.on_key_release(key.U, 0)
    desk.serve("helicopter")
    desk.on_key_press(key.W, 0)
    assert settled(desk).pitch == 0.0
    desk.on_key_press(key.U, 0)
    assert settled(desk).pitch == 1.0
    assert desk.keymap.keys_of(("pitch+",)) == "U"


def test_a_controller_of_a_file_is_assigned_by_moving_it_and_flies(
    place: Place, setup: ControlSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bridge.json"

    def write(rx: float) -> None:
        replace_text(path, f'{{"name": "Bridge", "axes": {{"rx": {rx}, "ry": 0.0}}}}')

    write(0.1)
    monkeypatch.setenv("HOLONOMY_CONTROLLER", str(path))
    desk = InputDesk(setup, typing=lambda: False, scene_has=lambda *at: True)
    desk.serve("helicopter")
    assert [device.name for device in desk.devices] == ["Bridge"]
    setup.listen(ForAxis("roll"), desk.devices)
    write(-0.9)
    assert desk.sample(DT).pilot.roll == 0.0  # it is being assigned
    assert setup.listening is None
    # Moved down to the side that was asked for: the axis is inverted.
    assert settled(desk).roll > 0.5
    write(0.9)
    assert settled(desk).roll < -0.5
    replace_text(path, "[" * 5000)
    assert settled(desk) == PilotInput()
    desk.close()


def replace_text(path: Path, text: str) -> None:
    draft = path.with_suffix(".part")
    draft.write_text(text)
    draft.replace(path)
