"""The two key tables: what flies the vehicle, and what the viewer does.

Keys are named as pyglet names its symbols. The help is generated from these tables and the window
looks keys up in them, so a binding exists in exactly one place.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """One action and the keys that cause it."""

    action: str
    keys: tuple[str, ...]
    label: str
    group: str


VEHICLE_KEYS = (
    KeyBinding("pitch+", ("W",), "Nose down, fly forward; drive", "Cyclic"),
    KeyBinding("pitch-", ("S",), "Nose up, slow down; brake, reverse", "Cyclic"),
    KeyBinding("roll-", ("A",), "Roll left; steer left", "Cyclic"),
    KeyBinding("roll+", ("D",), "Roll right; steer right", "Cyclic"),
    KeyBinding("yaw-", ("Q",), "Turn left", "Pedals"),
    KeyBinding("yaw+", ("E",), "Turn right", "Pedals"),
    KeyBinding("throttle+", ("R", "PAGEUP", "LSHIFT"), "Climb", "Collective"),
    KeyBinding("throttle-", ("F", "PAGEDOWN", "LCTRL"), "Descend", "Collective"),
    KeyBinding("engine-down", ("X",), "Hold: engine down", "Spacecraft"),
    KeyBinding("gait-drive", ("_1",), "Gait: drive", "Snakeboard"),
    KeyBinding("gait-spin", ("_2",), "Gait: spin on the spot", "Snakeboard"),
    KeyBinding("gait-parallel", ("_3",), "Gait: sideways", "Snakeboard"),
)
"""Held keys; 'axis+' and 'axis-' move that axis of the stick. Any other action is held by name."""

VIEWER_KEYS = (
    KeyBinding("help", ("F1",), "Show or hide this help", "Window"),
    KeyBinding("panels", ("H", "TAB"), "Show or hide the panels", "Window"),
    KeyBinding("plots", ("M",), "Show or hide the plots", "Window"),
    KeyBinding("fullscreen", ("F11",), "Full screen", "Window"),
    KeyBinding("screenshot", ("F12",), "Save a picture", "Window"),
    KeyBinding("escape", ("ESCAPE",), "Close the help, leave full screen", "Window"),
    KeyBinding("pause", ("SPACE",), "Pause or continue", "Time"),
    KeyBinding("step", ("N",), "One step, then stay paused", "Time"),
    KeyBinding("slower", ("BRACKETLEFT", "COMMA"), "Half the speed", "Time"),
    KeyBinding("faster", ("BRACKETRIGHT", "PERIOD"), "Twice the speed", "Time"),
    KeyBinding("reset", ("BACKSPACE",), "Back to the start", "Time"),
    KeyBinding("mode", ("G",), "Next flight mode", "Flight"),
    KeyBinding("demo", ("P",), "Autopilot on or off", "Flight"),
    KeyBinding("camera", ("C",), "Next camera", "View"),
    KeyBinding("arrows", ("V",), "Force arrows", "View"),
    KeyBinding("trail", ("T",), "Trail", "View"),
    KeyBinding("orbit_left", ("LEFT",), "Turn the camera left", "View"),
    KeyBinding("orbit_right", ("RIGHT",), "Turn the camera right", "View"),
    KeyBinding("orbit_up", ("UP",), "Raise the camera", "View"),
    KeyBinding("orbit_down", ("DOWN",), "Lower the camera", "View"),
)
"""Pressed keys, except for the camera's arrows, which are held."""

KEY_LABELS = {
    "BRACKETLEFT": "[",
    "BRACKETRIGHT": "]",
    "COMMA": ",",
    "PERIOD": ".",
    "PAGEUP": "Page Up",
    "PAGEDOWN": "Page Down",
    "LSHIFT": "Shift",
    "LCTRL": "Ctrl",
    "SPACE": "Space",
    "BACKSPACE": "Backspace",
    "ESCAPE": "Esc",
    "TAB": "Tab",
    "LEFT": "Left",
    "RIGHT": "Right",
    "UP": "Up",
    "DOWN": "Down",
}


def actions_by_key(bindings: tuple[KeyBinding, ...]) -> dict[str, str]:
    """Key name -> action."""
    return {key: binding.action for binding in bindings for key in binding.keys}


def key_label(key: str) -> str:
    """A key's name as printed on it."""
    return KEY_LABELS.get(key, key.lstrip("_"))


def groups(bindings: tuple[KeyBinding, ...]) -> dict[str, tuple[KeyBinding, ...]]:
    """Bindings by group, both in table order."""
    names = dict.fromkeys(binding.group for binding in bindings)
    return {name: tuple(b for b in bindings if b.group == name) for name in names}
