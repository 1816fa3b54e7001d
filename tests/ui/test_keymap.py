"""Laws of the key tables, for every vehicle that there is and for one that nobody knows."""

import pytest
from pyglet.window import key

import sim
from sim.control import flight_modes, has_autopilot
from sim.simulation.lanes.snapshot import LookBack
from sim.vehicle_config.modes import STICK_KEYS
from sim.vehicles import VEHICLES
from tests.ui import fakes
from ui.features.help import gamepad_lines, lines
from ui.input.controllers import TRIGGER_NAMES
from ui.input.desk import chord_name
from ui.input.keymap import VIEWER_KEYS, Keymap, actions_by_key, key_label, key_name, keymap_of, orbit_of
from ui.input.profile import AXES, GAMEPAD_BUTTONS
from ui.settings.view_settings import ViewSettings
from ui.shell.keys import request_of

FLOWN = (*sim.vehicles(), "a-vehicle-of-ones-own")


def keys_of(vehicle: str) -> dict[str, tuple[str, ...]]:
    keymap = keymap_of(vehicle)
    return {binding.action: binding.keys for binding in (*keymap.vehicle, *keymap.viewer)}


def labels_of(vehicle: str) -> list[str]:
    return [binding.label for binding in keymap_of(vehicle).vehicle]


@pytest.fixture(params=FLOWN)
def keymap(request: pytest.FixtureRequest) -> Keymap:
    return keymap_of(request.param)


def test_no_key_stands_twice_even_across_the_tables(keymap: Keymap) -> None:
    keys = [k for table in (keymap.vehicle, keymap.viewer) for binding in table for k in binding.keys]
    assert len(keys) == len(set(keys))


def test_no_action_stands_twice_and_each_has_a_key(keymap: Keymap) -> None:
    for table in (keymap.vehicle, keymap.viewer):
        actions = [binding.action for binding in table]
        assert len(actions) == len(set(actions))
        assert all(binding.keys for binding in table)


def test_each_key_is_told_with_what_it_does_and_both_ends_of_an_axis_share_a_line_where_they_are_alike() -> (
    None
):
    told = keymap_of("helicopter").told_of
    assert told(("throttle+",)) == ["Hold R: climb"]
    assert told(("throttle+", "throttle-")) == ["Hold R / F: climb / descend"]
    assert told(("pitch+", "yaw-", "yaw+")) == [
        "Hold W: nose down, fly forward",
        "Hold Q / E: turn left / right",
    ]
    assert told(("pitch+", "pitch-")) == ["Hold W: nose down, fly forward", "Hold S: nose up, slow down"]
    assert keymap_of("boat").told_of(("roll-", "roll+")) == ["Hold A / D: turn to port / starboard"]
    assert keymap_of("snakeboard").told_of(("gait-drive",)) == ["Hold 1: drive"]
    assert told(()) == []


def test_a_vehicle_takes_no_viewer_action_away(keymap: Keymap) -> None:
    left_out = {b.action for b in VIEWER_KEYS} - {b.action for b in keymap.viewer}
    assert left_out <= {"mode", "demo"}


@pytest.mark.parametrize("vehicle", sim.vehicles())
def test_modes_and_autopilot_are_offered_where_there_are_any(vehicle: str) -> None:
    offered = {binding.action for binding in keymap_of(vehicle).viewer}
    assert ("mode" in offered) == (len(flight_modes(VEHICLES[vehicle])) > 1)
    assert ("demo" in offered) == has_autopilot(VEHICLES[vehicle])


def test_every_key_is_one_that_the_window_reports_under_that_name(keymap: Keymap) -> None:
    for table in (keymap.vehicle, keymap.viewer):
        for name in actions_by_key(table):
            *held, last = name.split("+")
            assert key_name(getattr(key, last)) == last
            if held:
                mask = key.MOD_ACCEL | (key.MOD_SHIFT if "SHIFT" in held else 0)
                assert chord_name(getattr(key, last), mask) == name


def test_the_help_lists_every_binding_with_every_key_and_a_meaning(keymap: Keymap) -> None:
    for table in (keymap.vehicle, keymap.viewer):
        shown = [row for rows in lines(table).values() for row in rows]
        assert len(shown) == len(table)
        for binding in table:
            keys, meaning = next(row for row in shown if row[1] == binding.label)
            assert all(key_label(k) in keys for k in binding.keys)
            assert meaning


def test_every_axis_that_has_a_word_has_both_directions_but_for_an_engine_that_only_pushes(
    keymap: Keymap,
) -> None:
    actions = {binding.action for binding in keymap.vehicle}
    wanted = {f"{axis}{sign}" for axis in keymap.controls.words for sign in "+-"}
    assert set(keymap.controls.words) <= set(AXES)
    assert wanted - actions <= {"throttle-"}
    assert {a for a in actions if a[-1] in "+-"} <= wanted


def test_the_keys_of_ones_own_vehicle_are_all_of_the_sticks() -> None:
    actions = {binding.action for binding in keymap_of("nobody-knows-it").vehicle}
    assert actions == set(STICK_KEYS) == {f"{axis}{sign}" for axis in AXES for sign in "+-"}


def test_every_viewer_key_does_something(keymap: Keymap) -> None:
    looking = fakes.snapshot(look_back=LookBack("", 0.0, 2.0, 1.0))
    for binding in keymap.viewer:
        request = request_of(binding.action, looking, ViewSettings())
        assert request is not None or orbit_of(frozenset({binding.action})) != (0.0, 0.0)


def test_every_vehicle_of_the_project_has_words_of_its_own() -> None:
    for vehicle in sim.vehicles():
        assert keymap_of(vehicle) is not keymap_of("nobody-knows-it")
        if vehicle != "helicopter":
            assert "Nose down, fly forward" not in labels_of(vehicle)
        assert (vehicle == "snakeboard") == any(a.startswith("gait-") for a in keys_of(vehicle))
        assert (vehicle == "spacecraft") == ("engine-down" in keys_of(vehicle))


def test_the_spacecraft_is_flown_by_the_keys_of_the_article() -> None:
    keys = keys_of("spacecraft")
    named = {"pitch+": "W", "pitch-": "S", "roll-": "A", "roll+": "D", "yaw-": "Q", "yaw+": "E"}
    named |= {"throttle+": "G", "engine-down": "T"}
    assert {action: keys[action][0] for action in named} == named
    assert {"orbit_left": ("LEFT",), "orbit_right": ("RIGHT",)}.items() <= keys.items()
    # What gave way has another key, the same for every vehicle.
    assert keys["trail"] == ("L",)
    for vehicle in FLOWN:
        assert "L" in keys_of(vehicle)["trail"]


@pytest.mark.parametrize("vehicle", sim.vehicles())
def test_space_means_one_thing_whatever_is_flown(vehicle: str) -> None:
    keys = keys_of(vehicle)
    assert keys["pause"] == ("SPACE", "K")
    assert keys["reset"] == ("BACKSPACE",)


def test_the_hint_names_both_ends_of_each_axis_and_what_a_vehicle_has_beside() -> None:
    assert keymap_of("spacecraft").summary() == [
        ("W S", "pitch"),
        ("A D", "yaw"),
        ("Q E", "roll"),
        ("G", "engine"),
        ("T", "hold: turn the engine down"),
        ("F1", "all keys"),
    ]
    assert keymap_of("car").summary()[:2] == [("W S", "drive"), ("A D", "steer")]


def test_a_gamepad_serves_what_there_is(keymap: Keymap) -> None:
    controls = keymap.controls
    actions = {binding.action for binding in controls.held}
    assert controls.triggers in AXES
    assert set(controls.buttons.values()) <= actions
    assert not set(controls.buttons) & {*GAMEPAD_BUTTONS, *TRIGGER_NAMES}
    shown = gamepad_lines(controls)
    assert len(shown) == len(dict(shown))
    assert all(meaning for _, meaning in shown)
