"""Laws of the two key tables."""

from pyglet.window import key

from tests.ui import fakes
from ui.imgui_keys import key_name
from ui.input.keymap import VEHICLE_KEYS, VIEWER_KEYS, actions_by_key, key_label
from ui.input.sticks import AXES
from ui.input.viewer import orbit_of, request_of
from ui.panels.help import lines
from ui.view_settings import ViewSettings

TABLES = (VEHICLE_KEYS, VIEWER_KEYS)


def test_no_key_stands_twice_even_across_the_tables() -> None:
    keys = [k for table in TABLES for binding in table for k in binding.keys]
    assert len(keys) == len(set(keys))


def test_no_action_stands_twice_in_a_table() -> None:
    for table in TABLES:
        actions = [binding.action for binding in table]
        assert len(actions) == len(set(actions))


def test_every_key_is_one_that_the_window_reports_under_that_name() -> None:
    for table in TABLES:
        for name in actions_by_key(table):
            assert key_name(getattr(key, name)) == name


def test_the_help_lists_every_binding_with_every_key_and_a_meaning() -> None:
    for table in TABLES:
        shown = [row for rows in lines(table).values() for row in rows]
        assert len(shown) == len(table)
        for binding in table:
            keys, meaning = next(row for row in shown if row[1] == binding.label)
            assert all(key_label(k) in keys for k in binding.keys)
            assert meaning


def test_every_axis_has_both_directions() -> None:
    actions = {binding.action for binding in VEHICLE_KEYS}
    assert actions >= {f"{axis}{sign}" for axis in AXES for sign in "+-"}


def test_every_viewer_key_does_something() -> None:
    for binding in VIEWER_KEYS:
        request = request_of(binding.action, fakes.snapshot(), ViewSettings())
        assert request is not None or orbit_of(frozenset({binding.action})) != (0.0, 0.0)
