"""Which keys are down, by name. One set, cleared when the window loses the focus."""

from collections.abc import Callable

from pyglet.window import key, mouse

from sim.commands import PilotInput
from sim.platform.values import dataclass
from ui.input.control_setup import ControlSetup
from ui.input.controllers import AnyControllers, NoControllers, open_controllers, profile_of
from ui.input.keymap import VIEWER_KEYS, KeyBinding, Keymap, actions_by_key, key_name, keymap_of, orbit_of
from ui.input.profile import DeviceNow, combined, moved, released


@dataclass(frozen=True, slots=True)
class CameraMotion:
    """What mouse and arrow keys ask of the camera in one frame; logical pixels, x right, y up."""

    drag_px: tuple[float, float] = (0.0, 0.0)
    """Left-button drag that began in the scene."""
    pan_px: tuple[float, float] = (0.0, 0.0)
    """The same with the middle or right button."""
    zoom: float = 0.0
    """Scroll clicks, positive nearer."""
    orbit: tuple[float, float] = (0.0, 0.0)
    """Held arrow keys (right, up), -1..1, a rate."""


class HeldKeys:
    """Remembers the keys of some tables while they are down."""

    def __init__(self, *tables: tuple[KeyBinding, ...]) -> None:
        self._actions = {key: action for table in tables for key, action in actions_by_key(table).items()}
        self._down: set[str] = set()

    def press(self, key: str) -> None:
        if key in self._actions:
            self._down.add(key)

    def release(self, key: str) -> None:
        """A key that is not down is no mistake: its press may have gone to a text field."""
        self._down.discard(key)

    def take_over(self, before: "HeldKeys") -> None:
        """What was down before and means something here is down."""
        self._down = before._down & self._actions.keys()

    def release_all(self) -> None:
        self._down.clear()

    @property
    def actions(self) -> frozenset[str]:
        """Actions whose key is down; an action stays while any of its keys does."""
        return frozenset(self._actions[key] for key in self._down)


FOREIGN_MODIFIERS = key.MOD_ALT | key.MOD_COMMAND | key.MOD_WINDOWS
"""With these held a key belongs to the desktop."""


_SHIFTS = ("LSHIFT", "RSHIFT")
_UNDECIDED_FRAMES = 4
"""Of the panels, from a press of the mouse on, or its release on a panel, within which it shows whether a text field
takes the keyboard, or leaves it."""


def chord_name(symbol: int, modifiers: int) -> str:
    """The key with Ctrl (Command on a Mac) and perhaps Shift, as the key tables name it; empty without."""
    if not modifiers & key.MOD_ACCEL:
        return ""
    return "CTRL+" + ("SHIFT+" if modifiers & key.MOD_SHIFT else "") + key_name(symbol)


@dataclass(frozen=True, slots=True)
class InputSample:
    """What was done since the last frame."""

    pilot: PilotInput
    pressed: tuple[str, ...]
    """Viewer actions, in order."""
    camera: CameraMotion
    hand_px: tuple[float, float] | None = None
    """Where the mouse is (logical, y up) while the hand that pulls bodies is closed."""
    held: frozenset[str] = frozenset()
    """Viewer actions whose keys are down."""


class InputDesk:
    """Event handlers of a window. A press belongs to whoever it hit until it is released.

    `typing()`: a text field has the keyboard. `scene_has(x, y, pulls)`: a press there (logical, y up), or one that is
    to pull at what lies there, is the scene's. Keys right after a press of the mouse wait until it is known whose they
    are.
    """

    def __init__(
        self,
        setup: ControlSetup,
        *,
        typing: Callable[[], bool],
        scene_has: Callable[[float, float, bool], bool],
    ) -> None:
        self._setup, self._typing, self._scene_has = setup, typing, scene_has
        self._pressed: list[str] = []
        self._keyboard = PilotInput()
        self._undecided = 0
        self._waiting: list[tuple[Callable[[int, int], None], int, int]] = []
        self._dragging: set[int] = set()
        self._hand_px: tuple[float, float] | None = None
        self._drag, self._pan, self._zoom = [0.0, 0.0], [0.0, 0.0], 0.0
        self._controllers: AnyControllers = open_controllers(self._on_button)
        self._vehicle = ""
        self._keymap: Keymap | None = None
        self._vehicle_keys, self._viewer_keys = HeldKeys(), HeldKeys()
        self.serve("")

    def serve(self, vehicle: str) -> None:
        """The keys are from now on those of this vehicle; of another one, what was held is let go."""
        keymap = keymap_of(vehicle, self._setup.keys)
        if keymap is self._keymap:
            return
        vehicle_keys, viewer_keys = HeldKeys(keymap.vehicle), HeldKeys(keymap.viewer)
        if vehicle == self._vehicle:
            vehicle_keys.take_over(self._vehicle_keys)
            viewer_keys.take_over(self._viewer_keys)
        if vehicle != self._vehicle or self._keymap is None:
            self._controllers.serve(vehicle)
        self._vehicle, self._keymap = vehicle, keymap
        self._vehicle_keys, self._viewer_keys = vehicle_keys, viewer_keys
        self._viewer_actions = actions_by_key(keymap.viewer)

    @property
    def keymap(self) -> Keymap:
        """The keys as they are bound now."""
        assert self._keymap is not None
        return self._keymap

    @property
    def devices(self) -> tuple[DeviceNow, ...]:
        """What each controller reports now."""
        return self._controllers.devices

    def rumble(self, strength: float, duration_s: float) -> None:
        """Shake the controllers that can be shaken; 0..1."""
        self._controllers.rumble(strength, duration_s)

    def rescan_controllers(self) -> None:
        """Look for joysticks again; where there were no devices at all, for everything."""
        if isinstance(self._controllers, NoControllers):
            self._controllers = open_controllers(self._on_button)
            self._controllers.serve(self._vehicle)
        self._controllers.rescan()

    @property
    def undecided(self) -> bool:
        """Whether it depends on the panels' coming frames whose the keys are."""
        return self._undecided > 0

    def sample(self, dt_s: float, *, seen: bool = True) -> InputSample:
        """Everything since the last call; `dt_s` wall seconds have passed.

        seen: the panels have had a frame since then, and with it every press that there was.
        """
        if seen:
            self._decide()
        if self._typing():
            self._release_keys()
        self._keyboard = moved(self._keyboard, self._vehicle_keys.actions, dt_s)
        camera = CameraMotion(
            drag_px=(self._drag[0], self._drag[1]),
            pan_px=(self._pan[0], self._pan[1]),
            zoom=self._zoom,
            orbit=orbit_of(self._viewer_keys.actions),
        )
        flown = self._controllers.sample(self._setup.profiles, dt_s)
        self._setup.hear(self._controllers.devices)
        if self._setup.listening is not None:
            flown = PilotInput()  # what is moved is to be assigned
        held = frozenset(self._viewer_keys.actions)
        sample = InputSample(
            combined(self._keyboard, flown), tuple(self._pressed), camera, self._hand_px, held
        )
        self._pressed.clear()
        self._drag, self._pan, self._zoom = [0.0, 0.0], [0.0, 0.0], 0.0
        return sample

    def close(self) -> None:
        self._controllers.close()

    def _decide(self) -> None:
        """Whose the keys are that came right after a press of the mouse."""
        self._undecided = max(self._undecided - 1, 0)
        if not self._undecided:
            waiting, self._waiting = self._waiting, []
            for handle, symbol, modifiers in waiting:
                handle(symbol, modifiers)

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        if self._undecided:
            self._waiting.append((self.on_key_press, symbol, modifiers))
            return
        if self._typing() and not key.F1 <= symbol <= key.F12:  # no field writes these
            return
        name = key_name(symbol)
        chord = chord_name(symbol, modifiers)
        if self._setup.listening is not None and self._setup.hear_key(chord or name, self._vehicle):
            return
        if chord in self._viewer_actions:
            self._pressed.append(self._viewer_actions[chord])
            return
        on_the_way = modifiers & key.MOD_ACCEL and name in _SHIFTS
        if on_the_way or modifiers & FOREIGN_MODIFIERS:
            return
        self._vehicle_keys.press(name)
        self._viewer_keys.press(name)
        if name in self._viewer_actions:
            self._pressed.append(self._viewer_actions[name])

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        if self._undecided:
            self._waiting.append((self.on_key_release, symbol, modifiers))
            return
        name = key_name(symbol)
        self._vehicle_keys.release(name)
        self._viewer_keys.release(name)

    def on_mouse_press(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._undecided = _UNDECIDED_FRAMES
        pulls = button == mouse.LEFT and bool(modifiers & key.MOD_ACCEL)
        if not self._scene_has(x, y, pulls):
            return
        if pulls:
            self._hand_px = (x, y)
        else:
            self._dragging.add(button)

    def on_mouse_release(self, x: int, y: int, button: int, modifiers: int) -> None:
        if button not in self._dragging and self._hand_px is None:  # may open a list that is searched
            self._undecided = _UNDECIDED_FRAMES
        self._dragging.discard(button)
        if button == mouse.LEFT:
            self._hand_px = None

    def on_mouse_drag(self, x: int, y: int, dx: int, dy: int, buttons: int, modifiers: int) -> None:
        if self._hand_px is not None:
            self._hand_px = (x, y)
        elif self._dragging & {mouse.RIGHT, mouse.MIDDLE}:
            self._pan[0] += dx
            self._pan[1] += dy
        elif mouse.LEFT in self._dragging:
            self._drag[0] += dx
            self._drag[1] += dy

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        if self._scene_has(x, y, False):
            self._zoom += scroll_y

    def on_deactivate(self) -> None:
        """Another window has the keyboard: nobody will tell us of releases."""
        self._waiting.clear()
        self._release_keys()
        self._dragging.clear()
        self._hand_px = None
        self._keyboard = released(self._keyboard)

    def _on_button(self, device: DeviceNow, button: str) -> None:
        if self._setup.hear_button(device, button):
            return
        action = profile_of(device, self._setup.profiles).buttons.get(button, "")
        if any(action == binding.action for binding in VIEWER_KEYS):
            self._pressed.append(action)

    def _release_keys(self) -> None:
        self._vehicle_keys.release_all()
        self._viewer_keys.release_all()
