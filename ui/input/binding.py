"""One action and the keys that cause it. Keys are named as pyglet names its symbols."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """One action and the keys that cause it."""

    action: str
    keys: tuple[str, ...]
    label: str
    group: str


KEY_LABELS = {
    "BRACKETLEFT": "[",
    "BRACKETRIGHT": "]",
    "COMMA": ",",
    "PERIOD": ".",
    "PAGEUP": "Page Up",
    "PAGEDOWN": "Page Down",
    "LSHIFT": "Shift",
    "LCTRL": "Ctrl",
    "DELETE": "Delete",
    "SPACE": "Space",
    "BACKSPACE": "Backspace",
    "ESCAPE": "Esc",
    "TAB": "Tab",
    "LEFT": "Left",
    "RIGHT": "Right",
    "UP": "Up",
    "DOWN": "Down",
}


def key_label(key: str) -> str:
    """A key's name as printed on it; keys that are held with it come first, as in CTRL+SHIFT+Z."""
    *held, last = key.split("+")
    return "+".join([*(part.capitalize() for part in held), KEY_LABELS.get(last, last.lstrip("_"))])


def actions_by_key(bindings: tuple[KeyBinding, ...]) -> dict[str, str]:
    """Key name -> action."""
    return {key: binding.action for binding in bindings for key in binding.keys}


def groups(bindings: tuple[KeyBinding, ...]) -> dict[str, tuple[KeyBinding, ...]]:
    """Bindings by group, both in table order."""
    names = dict.fromkeys(binding.group for binding in bindings)
    return {name: tuple(b for b in bindings if b.group == name) for name in names}
