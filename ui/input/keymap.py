"""One action and the keys that cause it. Keys are named as pyglet names its symbols."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache

from pyglet.window import key

from sim.platform.values import dataclass
from sim.vehicle_config import Keys, VehicleConfig, config_named


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


def vehicle_keys(vehicle: str) -> Keys:
    """Of a vehicle by its registry name; of one that says nothing, or that nobody knows, the names of the sticks."""
    return config_named(vehicle).keys


def bindings(keys: Keys) -> tuple[KeyBinding, ...]:
    """Stick axes, and other actions that are held by name."""
    return tuple(KeyBinding(held.action, held.keys, held.does, held.group) for held in keys.held)


VIEWER = ""
"""The scope of actions that every vehicle has."""


@dataclass(frozen=True, slots=True)
class OwnKey:
    """Keys of one action instead of the usual ones."""

    scope: str
    """A vehicle's name, or VIEWER."""
    action: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """All of them; hashable."""

    chosen: tuple[OwnKey, ...] = ()

    def of(self, scope: str) -> Mapping[str, tuple[str, ...]]:
        """Action -> its keys."""
        return {own.action: own.keys for own in self.chosen if own.scope == scope}

    def with_keys(self, scope: str, action: str, keys: tuple[str, ...]) -> "OwnKeys":
        """The action has these, and no others."""
        return OwnKeys((*self.without(scope, action).chosen, OwnKey(scope, action, keys)))

    def without(self, scope: str, action: str) -> "OwnKeys":
        """The action has its usual keys again."""
        return OwnKeys(tuple(own for own in self.chosen if (own.scope, own.action) != (scope, action)))


VIEWER_KEYS = (
    KeyBinding("help", ("F1",), "Show or hide this help", "Window"),
    KeyBinding("panels", ("H", "TAB"), "Show or hide the panels", "Window"),
    KeyBinding("plots", ("M",), "Show or hide the plots", "Window"),
    KeyBinding("fullscreen", ("F11",), "Full screen", "Window"),
    KeyBinding("screenshot", ("F12",), "Save a picture; held: photo mode", "Window"),
    KeyBinding("escape", ("ESCAPE",), "Close a menu or the help, leave full screen", "Window"),
    KeyBinding(
        "skip_goal", ("F2",), "Skip the goal that is due; after the last one, the next scene", "Goals"
    ),
    KeyBinding("goals_again", ("F3",), "Begin with the first goal again", "Goals"),
    KeyBinding("goals", ("F4",), "Show or hide the goals", "Goals"),
    KeyBinding("pause", ("SPACE", "K"), "Pause or continue", "Time"),
    KeyBinding("step", ("N",), "One step, then stay paused", "Time"),
    KeyBinding("slower", ("BRACKETLEFT", "COMMA"), "Half the speed", "Time"),
    KeyBinding("faster", ("BRACKETRIGHT", "PERIOD"), "Twice the speed", "Time"),
    KeyBinding("reset", ("BACKSPACE",), "Back to the start", "Time"),
    KeyBinding("back", ("F5",), "A second back in the recording", "Recording"),
    KeyBinding("on", ("F6",), "A second on", "Recording"),
    KeyBinding("retake", ("F7",), "Fly on from the moment shown; so does any control", "Recording"),
    KeyBinding("now", ("F8",), "Back to the present", "Recording"),
    KeyBinding("save_take", ("F9",), "Save what is recorded as a take", "Recording"),
    KeyBinding("undo", ("CTRL+Z",), "Undo an edit of parameters, lanes or the plan's task", "Edits"),
    KeyBinding("redo", ("CTRL+SHIFT+Z", "CTRL+Y"), "Do it again", "Edits"),
    KeyBinding("delete", ("DELETE",), "Delete what is chosen in the view", "Edits"),
    KeyBinding("duplicate", ("CTRL+D",), "One more like the chosen one", "Edits"),
    KeyBinding("mode", ("G", "B"), "Next flight mode", "Flight"),
    KeyBinding("demo", ("P",), "Autopilot on or off", "Flight"),
    KeyBinding("fly_plan", ("J",), "Fly the plan, or leave it", "Flight"),
    KeyBinding("camera", ("C",), "Next camera", "View"),
    KeyBinding("director", ("F10",), "Cameras as in a film, one after the other; again: chase", "View"),
    KeyBinding("arrows", ("V",), "Force arrows", "View"),
    KeyBinding("trail", ("T", "L"), "Trail", "View"),
    KeyBinding("overview", ("O",), "Frame the whole plan", "View"),
    KeyBinding("orbit_left", ("LEFT",), "Turn the camera left", "View"),
    KeyBinding("orbit_right", ("RIGHT",), "Turn the camera right", "View"),
    KeyBinding("orbit_up", ("UP",), "Raise the camera", "View"),
    KeyBinding("orbit_down", ("DOWN",), "Lower the camera", "View"),
)
"""Pressed keys, except for the camera's arrows, which are held."""


PULLING = ("Ctrl", "and drag: pull it with the mouse")
"""What is told where no key does anything."""


USUAL = OwnKeys()


@dataclass(frozen=True)
class Keymap:
    """All keys while one vehicle is flown; no key stands twice."""

    controls: Keys
    viewer: tuple[KeyBinding, ...]

    @cached_property
    def vehicle(self) -> tuple[KeyBinding, ...]:
        """What flies it."""
        return bindings(self.controls)

    def first(self, action: str) -> str:
        """The first key of a viewer action as printed on it; empty where it has none."""
        keys = next((b.keys for b in self.viewer if b.action == action), ())
        return key_label(keys[0]) if keys else ""

    def binding(self, scope: str, action: str) -> KeyBinding | None:
        """Of the viewer (scope VIEWER) or the vehicle; None where there is no such action."""
        table = self.viewer if scope == VIEWER else self.vehicle
        return next((binding for binding in table if binding.action == action), None)

    def keys_of(self, actions: tuple[str, ...]) -> str:
        """First keys of actions that fly the vehicle, as printed on them."""
        keys = {binding.action: binding.keys for binding in self.vehicle if binding.keys}
        return "  ".join(key_label(keys[action][0]) for action in actions if action in keys)

    def told_of(self, actions: tuple[str, ...]) -> list[str]:
        """What to hold and what it does, a line each; both ends of an axis share one where only a last word differs."""
        left = [binding for action in actions for binding in self.vehicle if binding.action == action]
        lines = []
        while left:
            one, *left = left
            keys, does = [one.keys[0]] if one.keys else [], _lowered(one.label).removeprefix("hold: ")
            for other in left:
                same, last = one.label.rpartition(" ")[0], other.label.rpartition(" ")
                if other.action[:-1] == one.action[:-1] and other.keys and last[0] == same:
                    keys, does = [*keys, other.keys[0]], f"{does} / {_lowered(last[2])}"
                    left.remove(other)
                    break
            if keys:
                lines.append(f"Hold {' / '.join(map(key_label, keys))}: {does}")
        return lines

    def hint(self, action: str) -> str:
        """' (K)', to be put behind what the action is called."""
        return f" ({self.first(action)})" if self.first(action) else ""

    def summary(self) -> list[tuple[str, str]]:
        """(keys, what they do) in few words: both ends of each axis, what is held or pressed beside, the help."""
        bound = {binding.action: binding for binding in self.vehicle}
        axes = {f"{axis}{sign}": axis for axis in self.controls.words for sign in "+-"}
        found = []
        for axis, word in self.controls.words.items():
            # Left comes before right, but ahead before back.
            signs = "-+" if axis in ("roll", "yaw") else "+-"
            ends = [bound[f"{axis}{sign}"] for sign in signs if f"{axis}{sign}" in bound]
            found.append((" ".join(key_label(end.keys[0]) for end in ends if end.keys), word))
        found += [
            (key_label(b.keys[0]), _lowered(b.label)) for b in self.vehicle if b.action not in axes and b.keys
        ]
        labels = {binding.action: binding.label for binding in self.viewer}
        found += [(self.first(name), _lowered(labels[name])) for name in self.controls.viewer]
        found = [(keys, word) for keys, word in found if keys]
        return [*(found or [PULLING]), (self.first("help"), "all keys")]


def _lowered(label: str) -> str:
    """As it stands within a line."""
    return label[:1].lower() + label[1:]


def keymap_of(vehicle: str, own: OwnKeys = USUAL) -> Keymap:
    """Of a vehicle by its registry name; one that is not known here has the names of the sticks. own: the user's."""
    return _keymap(vehicle, config_named(vehicle), own)


@lru_cache(maxsize=64)
def _keymap(vehicle: str, config: VehicleConfig, own: OwnKeys) -> Keymap:
    chosen = own.of(vehicle)
    claimed = {key for keys in chosen.values() for key in keys}
    held = tuple(
        replace(each, keys=chosen.get(each.action, tuple(k for k in each.keys if k not in claimed)))
        for each in config.keys.held
    )
    controls = replace(config.keys, held=held)
    flying = {key for binding in held for key in binding.keys}
    return Keymap(controls, _viewer(controls.viewer, flying, own.of(VIEWER), config))


def _viewer(
    further: Mapping[str, tuple[str, ...]],
    flying: set[str],
    chosen: Mapping[str, tuple[str, ...]],
    config: VehicleConfig,
) -> tuple[KeyBinding, ...]:
    """What flies the vehicle comes first, then the user's choice, then the vehicle's own viewer keys."""
    claimed = {key for keys in chosen.values() for key in keys} - flying
    taken = {key for keys in further.values() for key in keys} | flying | claimed
    viewer = []
    for binding in VIEWER_KEYS:
        if not _concerns(binding.action, config):
            continue
        if binding.action in chosen:
            keys = tuple(key for key in chosen[binding.action] if key not in flying)
        else:
            special = tuple(key for key in further.get(binding.action, ()) if key not in flying | claimed)
            keys = (*special, *(key for key in binding.keys if key not in taken))
        viewer.append(replace(binding, keys=keys))
    return tuple(viewer)


def _concerns(action: str, config: VehicleConfig) -> bool:
    """Whether a viewer action does anything for the vehicle."""
    if action == "mode":
        return len(config.modes.names) > 1
    return action != "demo" or config.modes.autopilot != ""


def key_name(symbol: int) -> str:
    """pyglet's name of a key, as the key tables use it."""
    return key.symbol_string(symbol)


def orbit_of(held: frozenset[str]) -> tuple[float, float]:
    """Camera rate (right, up) from held arrow keys."""
    right = float("orbit_right" in held) - float("orbit_left" in held)
    up = float("orbit_up" in held) - float("orbit_down" in held)
    return right, up
