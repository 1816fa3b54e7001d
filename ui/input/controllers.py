"""Gamepads and joysticks behind one interface. Whatever a device does wrong, it is left out and the app goes on."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from sim.commands import PilotInput
from ui.input.axes import Calibration, Response, single, stick
from ui.input.sticks import combined

GAMEPAD_BUTTONS = {
    "start": "pause",
    "back": "reset",
    "y": "camera",
    "x": "mode",
    "b": "demo",
    "leftshoulder": "slower",
    "rightshoulder": "faster",
}
"""Button -> viewer action."""

CYCLIC = Response(deadzone=0.10, expo=0.4)
PEDALS = Response(deadzone=0.12, expo=0.4)
LEVER = Response(deadzone=0.10, expo=0.2)
LEVER_DOWN = Response(deadzone=0.10, expo=0.2, inverted=True)
RAW = Calibration()

DEVICE_ERRORS = (
    OSError,
    AttributeError,
    ImportError,
    RuntimeError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
)
"""What device layers were seen to raise: no /dev/input, no display, unreadable or vanished devices."""


@dataclass(slots=True)
class SticksNow:
    """Last reported deflections of one gamepad, x right and y up."""

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)


def gamepad_input(sticks: SticksNow) -> PilotInput:
    """Left stick: pedals and collective; right stick: cyclic (mode 2)."""
    yaw, throttle = stick(RAW.apply(sticks.left[0]), RAW.apply(sticks.left[1]), PEDALS, LEVER)
    roll, pitch = stick(RAW.apply(sticks.right[0]), RAW.apply(sticks.right[1]), CYCLIC, CYCLIC)
    return PilotInput(pitch=pitch, roll=roll, yaw=yaw, throttle=throttle)


def joystick_input(x: float, y: float, rz: float, z: float) -> PilotInput:
    """Stick x, y: cyclic; twist or pedals rz: yaw; lever z: collective. Raw axes point right, back, down."""
    roll, back = stick(RAW.apply(x), RAW.apply(y), CYCLIC, CYCLIC)
    return PilotInput(
        pitch=-back, roll=roll, yaw=single(RAW.apply(rz), PEDALS), throttle=single(RAW.apply(z), LEVER_DOWN)
    )


class NoControllers:
    """Stands in where the machine has no input devices."""

    names: tuple[str, ...] = ()

    def sample(self) -> PilotInput:
        return PilotInput()

    def rescan(self) -> None:
        """Nothing to look for."""

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Controllers:
    """All gamepads (hot-plugged) and joysticks (found by `rescan`) that could be opened."""

    on_action: Callable[[str], None]
    """Called with a viewer action when a gamepad's button is pressed."""
    _gamepads: dict = field(default_factory=dict)
    _joysticks: list = field(default_factory=list)

    def __post_init__(self) -> None:
        import pyglet.input

        self._input = pyglet.input
        self._manager = pyglet.input.ControllerManager()
        self._manager.push_handlers(on_connect=self._connect, on_disconnect=self._disconnect)
        for controller in self._manager.get_controllers():
            self._connect(controller)
        self.rescan()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self._gamepads) + tuple(j.device.name for j in self._joysticks)

    def sample(self) -> PilotInput:
        """All devices together, at this moment."""
        total = PilotInput()
        for sticks in self._gamepads.values():
            total = combined(total, gamepad_input(sticks))
        for j in self._joysticks:
            moved = self._moved.get(id(j), set())
            lever = j.z if "z" in moved else 0.0
            twist = j.rz if "rz" in moved else 0.0
            total = combined(total, joystick_input(j.x, j.y, twist, lever))
        return total

    def rescan(self) -> None:
        """Open every joystick there is now; those that vanished are dropped."""
        self._close_joysticks()
        self._moved: dict[int, set[str]] = {}
        try:
            found = self._input.get_joysticks()
        except DEVICE_ERRORS:
            found = []
        for joystick in found:
            if self._opened(joystick):
                self._moved[id(joystick)] = set()
                joystick.push_handlers(on_joyaxis_motion=self._axis_moved)
                self._joysticks.append(joystick)

    def close(self) -> None:
        for device in (*self._gamepads, *self._joysticks):
            _closed(device)
        self._gamepads.clear()
        self._joysticks.clear()

    def _opened(self, device) -> bool:
        try:
            device.open()
        except DEVICE_ERRORS as error:
            warnings.warn(f"{device}: not used ({error})", stacklevel=2)
            return False
        return True

    def _connect(self, controller) -> None:
        if controller not in self._gamepads and self._opened(controller):
            controller.push_handlers(on_stick_motion=self._stick_moved, on_button_press=self._button_pressed)
            self._gamepads[controller] = SticksNow()

    def _disconnect(self, controller) -> None:
        if self._gamepads.pop(controller, None) is not None:
            controller.pop_handlers()
            _closed(controller)

    def _stick_moved(self, controller, name: str, vector) -> None:
        # Events and not attributes: only in events do all platforms agree that y points up.
        sticks = self._gamepads.get(controller)
        if sticks is not None:
            setattr(sticks, name.removesuffix("stick"), (float(vector[0]), float(vector[1])))

    def _button_pressed(self, controller, button: str) -> None:
        if button in GAMEPAD_BUTTONS:
            self.on_action(GAMEPAD_BUTTONS[button])

    def _axis_moved(self, joystick, axis: str, value: float) -> None:
        # A lever reports nothing until it is moved; its made-up position must not fly the vehicle.
        self._moved.setdefault(id(joystick), set()).add(axis)

    def _close_joysticks(self) -> None:
        for joystick in self._joysticks:
            _closed(joystick)
        self._joysticks.clear()


def _closed(device) -> None:
    try:
        device.close()
    except DEVICE_ERRORS as error:
        warnings.warn(f"{device}: did not close ({error})", stacklevel=2)


def open_controllers(on_action: Callable[[str], None]) -> Controllers | NoControllers:
    """The machine's controllers, or the null device where there are none to be had."""
    try:
        return Controllers(on_action)
    except DEVICE_ERRORS:
        return NoControllers()
