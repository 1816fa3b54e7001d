"""The section `[keys]` of `vehicle.toml`. Keys are named as pyglet names its symbols."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.platform.toml_table import TomlTable

AXES = ("pitch", "roll", "yaw", "throttle")
STICK_KEYS: dict[str, tuple[str, ...]] = {
    "pitch+": ("W",),
    "pitch-": ("S",),
    "roll-": ("A",),
    "roll+": ("D",),
    "yaw-": ("Q",),
    "yaw+": ("E",),
    "throttle+": ("R", "PAGEUP", "LSHIFT"),
    "throttle-": ("F", "PAGEDOWN"),
}
"""'axis+' and 'axis-' move that axis of the stick; of vehicles that say nothing else."""
KEYS = (
    *"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    *(f"_{digit}" for digit in range(10)),
    *(
        "SPACE",
        "TAB",
        "BACKSPACE",
        "RETURN",
        "COMMA",
        "PERIOD",
        "BRACKETLEFT",
        "BRACKETRIGHT",
        "MINUS",
        "EQUAL",
    ),
    *("PAGEUP", "PAGEDOWN", "HOME", "END", "INSERT", "DELETE", "LSHIFT", "RSHIFT", "LCTRL", "RCTRL"),
)
"""That a vehicle may have; arrows and function keys are the viewer's."""
BUTTONS = ("a", "dpup", "dpdown", "dpleft", "dpright")
"""Of a gamepad, that a vehicle may have."""
VIEWER_ACTIONS = (
    "pause",
    "step",
    "slower",
    "faster",
    "reset",
    "mode",
    "demo",
    "camera",
    "arrows",
    "trail",
    "overview",
)
"""What a vehicle may give further keys to."""


@dataclass(frozen=True, slots=True)
class StickKeys:
    """An action that is held: 'axis+' and 'axis-' move a stick, others have a name of their own."""

    action: str
    keys: tuple[str, ...]
    does: str
    """In the vehicle's words."""
    group: str


@dataclass(frozen=True, slots=True)
class Keys:
    """What flies it."""

    held: tuple[StickKeys, ...]
    words: Mapping[str, str]
    """What each axis is to this vehicle, in a word or two."""
    viewer: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Viewer action -> further keys while this vehicle is flown; whoever else has them gives them up."""
    triggers: str = "yaw"
    """Axis of a gamepad's triggers: the right one is positive."""
    buttons: Mapping[str, str] = field(default_factory=dict)
    """Button of a gamepad -> action that is held."""


def read_keys(table: TomlTable) -> Keys:
    """Raises InputError for unknown keys and actions, and for a key or an action that stands twice."""
    held: list[StickKeys] = []
    for group in table.tables("groups"):
        name = group.text("name")
        held += [_read_held(inner, name) for inner in group.tables("actions")]
        group.finish()
    actions = [each.action for each in held]
    for action in actions:
        if actions.count(action) > 1:
            raise table.error("groups", f'"{action}" stands twice; allowed: once')
    viewer = _read_viewer(table.table("viewer"))
    taken = [key for each in held for key in each.keys] + [key for keys in viewer.values() for key in keys]
    for key in taken:
        if taken.count(key) > 1:
            raise table.error("groups", f'the key "{key}" stands twice; allowed: once')
    words_table = table.table("words")
    words = {axis: words_table.text(axis) for axis in words_table.names() if axis in AXES}
    words_table.finish()
    if words and not held:
        raise table.error(
            "words",
            "stand without [[keys.groups]], and no key would steer; allowed: beside groups, or no [keys] at all",
        )
    gamepad = table.table("gamepad")
    triggers = gamepad.name("triggers", AXES, "yaw")
    named = [action for action in actions if action not in STICK_KEYS]
    buttons = {b: gamepad.name(b, named, "") for b in BUTTONS if gamepad.has(b)}
    gamepad.finish()
    return Keys(tuple(held), words, viewer, triggers, buttons)


def _read_held(table: TomlTable, group: str) -> StickKeys:
    action = table.text("action")
    if not action:
        raise table.error("action", f"is missing; allowed: {', '.join(STICK_KEYS)}, or a name of your own")
    keys = _keys(table, "keys") or STICK_KEYS.get(action, ())
    if not keys:
        raise table.error("keys", f'is missing; allowed: a list of keys for "{action}"')
    held = StickKeys(action, keys, table.text("does", action), group)
    table.finish()
    return held


def _read_viewer(table: TomlTable) -> dict[str, tuple[str, ...]]:
    for name in table.names():
        if name not in VIEWER_ACTIONS:
            raise table.error(name, f"unknown action; allowed: {', '.join(VIEWER_ACTIONS)}")
    viewer = {name: _keys(table, name) for name in table.names()}
    table.finish()
    return viewer


def _keys(table: TomlTable, key: str) -> tuple[str, ...]:
    keys = table.texts(key)
    for name in keys:
        if name not in KEYS:
            raise table.error(
                key, f'unknown key "{name}"; allowed: letters, _0 to _9, {", ".join(KEYS[36:])}'
            )
    return keys
