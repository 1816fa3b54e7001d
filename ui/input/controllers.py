"""A controller that another program writes into a file: a bridge from what has no driver, or a script's hand."""

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from sim.commands import PilotInput
from sim.platform.errors import InputError
from sim.platform.user_files import as_type, json_value, read_text, refusals, require_finite
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from sim.vehicle_config import Keys
from ui.input.keymap import vehicle_keys
from ui.input.profile import DeviceNow, Profile, combined, flown, usual

VARIABLE = "HOLONOMY_CONTROLLER"
MOST_BYTES = 1 << 16
MOST_PARTS = 64
"""Axes, and buttons."""


@dataclass(frozen=True, slots=True)
class Written:
    """The file's content: `{"name": "Bridge", "axes": {"x": 0.5}, "buttons": {"0": true}}`."""

    name: str = "File"
    axes: dict[str, float] = field(default_factory=dict)
    """-1..1, as a joystick's: right, back and down."""
    buttons: dict[str, bool] = field(default_factory=dict)


class ControllerFile:
    """Read anew whenever it has been replaced; what cannot be read lets go of everything."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self.now = DeviceNow(f"file:{path.name}", path.stem, gamepad=False)
        self.poll()

    @classmethod
    def named(cls) -> "ControllerFile | None":
        """Where the environment names one."""
        path = os.environ.get(VARIABLE, "")
        return cls(Path(path).expanduser()) if path else None

    def poll(self) -> tuple[str, ...]:
        """Read what is new; returns the buttons that went down."""
        try:
            stat = self._path.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
        except OSError:
            stamp = None
        if stamp == self._stamp:
            return ()
        self._stamp = stamp
        try:
            with refusals(self._path, "no controller"):
                written = read_written(read_text(self._path, MOST_BYTES))
        except InputError:
            written = Written(self.now.name)
        return self._take(written)

    def _take(self, written: Written) -> tuple[str, ...]:
        now = self.now
        now.name = written.name
        # An axis counts once its value differs from the first one, as a real lever does.
        first = not now.axes
        now.moved |= {
            axis for axis, value in written.axes.items() if not first and value != now.axes.get(axis)
        }
        now.axes = dict(written.axes)
        now.moved &= now.axes.keys()
        now.buttons = tuple(written.buttons)
        down = {button for button, held in written.buttons.items() if held}
        pressed = tuple(sorted(down - now.down))
        now.down = down
        return pressed


def read_written(text: str) -> Written:
    """Raises ValueError or InputError."""
    value = json_value(text)
    require_finite(value)
    written = as_type(value, Written)
    if max(len(written.axes), len(written.buttons)) > MOST_PARTS:
        raise InputError(f"has more than {MOST_PARTS} axes or buttons")
    names = (written.name, *written.axes, *written.buttons)
    if any(len(name) > 60 or not name.isprintable() for name in names):
        raise InputError("has a name that cannot be shown; allowed: 60 printable characters")
    return written


STICKS = {"leftstick": ("leftx", "lefty"), "rightstick": ("rightx", "righty")}
TRIGGER_NAMES = ("lefttrigger", "righttrigger")
CROSS = {"dpright": (0, 1.0), "dpleft": (0, -1.0), "dpup": (1, 1.0), "dpdown": (1, -1.0)}
"""Button of the cross -> its axis and side."""
PAD_AXES = ("leftx", "lefty", "rightx", "righty", *TRIGGER_NAMES)
PAD_BUTTONS = (
    *("a", "b", "x", "y", "back", "start", "leftshoulder", "rightshoulder", "leftthumb", "rightthumb"),
    *CROSS,
)
STICK_AXES = ("x", "y", "z", "rx", "ry", "rz")

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


class NoControllers:
    """Stands in where the machine has no input devices."""

    devices: tuple[DeviceNow, ...] = ()

    def sample(self, profiles: Mapping[str, Profile], dt_s: float) -> PilotInput:
        return PilotInput()

    def serve(self, vehicle: str) -> None:
        """No vehicle is served."""

    def rescan(self) -> None:
        """Nothing to look for."""

    def rumble(self, strength: float, duration_s: float) -> None:
        """Nothing shakes."""

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Controllers:
    """All gamepads (hot-plugged) and joysticks (found by `rescan`) that could be opened."""

    on_button: Callable[[DeviceNow, str], None]
    """Called when a button is pressed."""
    _gamepads: dict = field(default_factory=dict)
    _joysticks: dict = field(default_factory=dict)
    _held: dict[int, dict[str, float]] = field(default_factory=dict)

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
        """Triggers and held buttons are from now on those of this vehicle; what was held by an axis is let go."""
        self._controls = vehicle_keys(vehicle)
        self._held.clear()

    @property
    def devices(self) -> tuple[DeviceNow, ...]:
        """What each reports now."""
        return (*self._gamepads.values(), *self._joysticks.values())

    def sample(self, profiles: Mapping[str, Profile], dt_s: float) -> PilotInput:
        """All devices together; `dt_s` seconds have passed. profiles: by guid, where they are not the usual."""
        return sampled(self.devices, profiles, self._controls, self._held, dt_s)

    def rescan(self) -> None:
        """Open every joystick there is now; those that vanished are dropped."""
        self._close_joysticks()
        try:
            found = self._input.get_joysticks()
        except DEVICE_ERRORS:
            found = []
        for joystick in found:
            if self._opened(joystick):
                joystick.push_handlers(
                    on_joyaxis_motion=self._axis_moved,
                    on_joybutton_press=self._joystick_pressed,
                    on_joybutton_release=self._joystick_released,
                )
                axes = [name for name in STICK_AXES if getattr(joystick, f"{name}_control", None) is not None]
                buttons = tuple(str(k) for k in range(len(getattr(joystick, "buttons", ()))))
                name = joystick.device.name
                now = DeviceNow(
                    _guid(joystick.device, name), name, False, dict.fromkeys(axes, 0.0), buttons=buttons
                )
                self._joysticks[joystick] = now

    def rumble(self, strength: float, duration_s: float) -> None:
        """Shake what can be shaken; 0..1."""
        for controller in self._gamepads:
            with suppress(*DEVICE_ERRORS):
                controller.rumble_play_strong(strength, duration_s)

    def close(self) -> None:
        for device in (*self._gamepads, *self._joysticks):
            _closed(device)
        self._gamepads.clear()
        self._joysticks.clear()

    def _opened(self, device: Any) -> bool:
        try:
            device.open()
        except DEVICE_ERRORS as error:
            warnings.warn(f"{device}: not used ({error})", stacklevel=2)
            return False
        return True

    def _connect(self, controller: Any) -> None:
        if controller not in self._gamepads and self._opened(controller):
            controller.push_handlers(
                on_stick_motion=self._stick_moved,
                on_trigger_motion=self._trigger_moved,
                on_dpad_motion=self._cross_moved,
                on_button_press=self._button_pressed,
                on_button_release=self._button_released,
            )
            guid = getattr(controller, "guid", None) or controller.name
            now = DeviceNow(guid, controller.name, True, dict.fromkeys(PAD_AXES, 0.0), buttons=PAD_BUTTONS)
            self._gamepads[controller] = now

    def _disconnect(self, controller: Any) -> None:
        if self._gamepads.pop(controller, None) is not None:
            controller.pop_handlers()
            _closed(controller)

    def _stick_moved(self, controller: Any, name: str, vector: Any) -> None:
        # Events and not attributes: only in events do all platforms agree that y points up.
        pad = self._gamepads.get(controller)
        if pad is not None and name in STICKS:
            pad.axes.update(zip(STICKS[name], (float(vector[0]), float(vector[1])), strict=True))
            pad.moved.update(STICKS[name])

    def _trigger_moved(self, controller: Any, name: str, value: float) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None and name in TRIGGER_NAMES:
            pad.axes[name] = float(value)
            pad.moved.add(name)

    def _cross_moved(self, controller: Any, vector: Any) -> None:
        pad = self._gamepads.get(controller)
        if pad is not None:
            before = set(pad.down)
            pad.down -= set(CROSS)
            pad.down |= {name for name, (axis, sign) in CROSS.items() if sign * vector[axis] > 0.5}
            for name in pad.down - before:
                self.on_button(pad, name)

    def _button_pressed(self, controller: Any, button: str) -> None:
        self._pressed(self._gamepads.get(controller), button)

    def _button_released(self, controller: Any, button: str) -> None:
        self._released(self._gamepads.get(controller), button)

    def _axis_moved(self, joystick: Any, axis: str, value: float) -> None:
        stick = self._joysticks.get(joystick)
        if stick is not None:
            stick.axes[axis] = float(value)
            stick.moved.add(axis)

    def _joystick_pressed(self, joystick: Any, button: int) -> None:
        self._pressed(self._joysticks.get(joystick), str(button))

    def _joystick_released(self, joystick: Any, button: int) -> None:
        self._released(self._joysticks.get(joystick), str(button))

    def _pressed(self, device: DeviceNow | None, button: str) -> None:
        if device is not None:
            device.down.add(button)
            self.on_button(device, button)

    @staticmethod
    def _released(device: DeviceNow | None, button: str) -> None:
        if device is not None:
            device.down.discard(button)

    def _close_joysticks(self) -> None:
        for joystick in self._joysticks:
            _closed(joystick)
        self._joysticks.clear()


@dataclass
class WithFile:
    """What the machine has, and the controller that another program writes into a file."""

    others: Controllers | NoControllers
    file: ControllerFile
    on_button: Callable[[DeviceNow, str], None]
    _held: dict[int, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._controls = vehicle_keys("")

    @property
    def devices(self) -> tuple[DeviceNow, ...]:
        return (*self.others.devices, self.file.now)

    def sample(self, profiles: Mapping[str, Profile], dt_s: float) -> PilotInput:
        for button in self.file.poll():
            self.on_button(self.file.now, button)
        own = sampled((self.file.now,), profiles, self._controls, self._held, dt_s)
        return combined(self.others.sample(profiles, dt_s), own)

    def serve(self, vehicle: str) -> None:
        self._controls = vehicle_keys(vehicle)
        self._held.clear()
        self.others.serve(vehicle)

    def rescan(self) -> None:
        self.others.rescan()

    def rumble(self, strength: float, duration_s: float) -> None:
        self.others.rumble(strength, duration_s)

    def close(self) -> None:
        self.others.close()


AnyControllers = Controllers | NoControllers | WithFile


def sampled(
    devices: tuple[DeviceNow, ...],
    profiles: Mapping[str, Profile],
    controls: Keys,
    held: dict[int, dict[str, float]],
    dt_s: float,
) -> PilotInput:
    """All devices together. held: by device, what its axes that hold have come to."""
    total = PilotInput()
    for device in devices:
        profile = profile_of(device, profiles)
        total = combined(total, flown(device, profile, controls, held.setdefault(id(device), {}), dt_s))
    return total


def profile_of(device: DeviceNow, profiles: Mapping[str, Profile]) -> Profile:
    """The user's, or the usual one."""
    return profiles.get(device.guid) or usual(device.guid, device.name, gamepad=device.gamepad)


def _guid(device: Any, name: str) -> str:
    try:
        return device.get_guid() or name
    except DEVICE_ERRORS:
        return name


def _closed(device: Any) -> None:
    try:
        device.close()
    except DEVICE_ERRORS as error:
        warnings.warn(f"{device}: did not close ({error})", stacklevel=2)


def open_controllers(on_button: Callable[[DeviceNow, str], None]) -> AnyControllers:
    """The machine's controllers, or the null device where there are none to be had."""
    try:
        found: Controllers | NoControllers = Controllers(on_button)
    except DEVICE_ERRORS:
        found = NoControllers()
    file = ControllerFile.named()
    return found if file is None else WithFile(found, file, on_button)


CRASH = (1.0, 0.6)
"""Strength 0..1 and duration [s]."""
HARD_MPS = 1.5
"""A change of velocity within one frame, beyond what thrust gives, that is felt."""
FULL_MPS = 8.0


class Jolts:
    """Told of every snapshot."""

    def __init__(self) -> None:
        self._running = True
        self._velocity_w: np.ndarray | None = None
        self._time_s, self._generation = 0.0, -1

    def felt(self, snapshot: Snapshot) -> tuple[float, float] | None:
        """(strength, duration in s) where something has just struck."""
        lane = snapshot.lanes[0]
        running = lane.status is LaneStatus.RUNNING
        velocity_w = lane.T_wb[:3, :3] @ lane.twist_b[3:]
        went_on = self._generation == lane.generation and 0.0 < snapshot.clock_s - self._time_s < 0.2
        struck_mps = 0.0
        if went_on and running and self._velocity_w is not None:
            struck_mps = float(np.linalg.norm(velocity_w - self._velocity_w))
            struck_mps -= 30.0 * (snapshot.clock_s - self._time_s)  # what 3 g do in that time is flown
        crashed = went_on and self._running and not running
        self._running, self._velocity_w = running, velocity_w
        self._time_s, self._generation = snapshot.clock_s, lane.generation
        if crashed:
            return CRASH
        if struck_mps > HARD_MPS:
            return min(struck_mps / FULL_MPS, 1.0), 0.25
        return None
