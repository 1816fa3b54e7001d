"""Gamepads and joysticks behind one interface. Whatever a device does wrong, it is left out and the app goes on."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sim.commands import PilotInput
from sim.outfit import Keys
from ui.input.axes import Calibration, Response, single, stick
from ui.input.sticks import combined
from ui.input.vehicle_keys import vehicle_keys

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
TRIGGER_NAMES = ("lefttrigger", "righttrigger")
CROSS = {"dpright": (0, 1.0), "dpleft": (0, -1.0), "dpup": (1, 1.0), "dpdown": (1, -1.0)}
"""Button of the cross -> its axis and side."""

CYCLIC = Response(deadzone=0.10, expo=0.4)
PEDALS = Response(deadzone=0.12, expo=0.4)
LEVER = Response(deadzone=0.10, expo=0.2)
LEVER_DOWN = Response(deadzone=0.10, expo=0.2, inverted=True)
TRIGGERS = Response(deadzone=0.05, expo=0.2)
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
class PadNow:
    """Last reported state of one gamepad; sticks x right and y up, triggers 0..1."""

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    lefttrigger: float = 0.0
    righttrigger: float = 0.0
    down: set[str] = field(default_factory=set)
    """Buttons that are held."""


def gamepad_input(pad: PadNow, controls: Keys) -> PilotInput:
    """Left stick: yaw and throttle; right stick: roll and pitch (mode 2); triggers and buttons by vehicle."""
    yaw, throttle = stick(RAW.apply(pad.left[0]), RAW.apply(pad.left[1]), PEDALS, LEVER)
    roll, pitch = stick(RAW.apply(pad.right[0]), RAW.apply(pad.right[1]), CYCLIC, CYCLIC)
    sticks = PilotInput(pitch=pitch, roll=roll, yaw=yaw, throttle=throttle)
    pulled = single(RAW.apply(pad.righttrigger - pad.lefttrigger), TRIGGERS)
    held = frozenset(action for button, action in controls.buttons.items() if button in pad.down)
    return combined(sticks, replace(PilotInput(actions=held), **{controls.triggers: pulled}))


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

    def serve(self, vehicle: str) -> None:
        """No vehicle is served."""

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
        self._controls = vehicle_keys("")
        self.rescan()

    def serve(self, vehicle: str) -> None:
        """Triggers and held buttons are from now on those of this vehicle."""
        self._controls = vehicle_keys(vehicle)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self._gamepads) + tuple(j.device.name for j in self._joysticks)

    def sample(self) -> PilotInput:
        """All devices together, at this moment."""
        total = PilotInput()
        for pad in self._gamepads.values():
            total = combined(total, gamepad_input(pad, self._controls))
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
            controller.push_handlers(
                on_stick_motion=self._stick_moved,
                on_trigger_motion=self._trigger_moved,
                on_dpad_motion=self._cross_moved,
                on_button_press=self._button_pressed,
                on_button_release=self._button_released,
            )
            self._gamepads[controller] = PadNow()

    def _disconnect(self, controller) -> None:
        if self._gamepads.pop(controller, None) is not None:
            controller.pop_handlers()
            _closed(controller)

    def _stick_moved(self, controller, name: str, vector) -> None:
        # Events and not attributes: only in events do all platforms agree that y points up.
        pad = self._gamepads.get(controller)
        if pad is not None:
            setattr(pad, name.removesuffix("stick"), (float(vector[0]), float(vector[1])))

    def _trigger_moved(self, controller, name: str, value: float) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None and name in TRIGGER_NAMES:
            setattr(pad, name, float(value))

    def _cross_moved(self, controller, vector) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None:
            pad.down -= set(CROSS)
            pad.down |= {name for name, (axis, sign) in CROSS.items() if sign * vector[axis] > 0.5}

    def _button_pressed(self, controller, button: str) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None:
            pad.down.add(button)
        if button in GAMEPAD_BUTTONS:
            self.on_action(GAMEPAD_BUTTONS[button])

    def _button_released(self, controller, button: str) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None:
            pad.down.discard(button)

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
