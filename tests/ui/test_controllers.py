"""Laws of gamepads and joysticks, with devices made up."""

from types import SimpleNamespace

import pytest
from pyglet.event import EventDispatcher

from sim.commands import PilotInput
from ui.input.controllers import Controllers, NoControllers, open_controllers
from ui.input.keymap import VIEWER_KEYS, vehicle_keys
from ui.input.profile import GAMEPAD_BUTTONS, DeviceNow, flown, usual

DT = 1.0 / 60.0


def names(found: Controllers) -> list[str]:
    return [device.name for device in found.devices]


class Device(EventDispatcher):
    """A gamepad or joystick; `broken` ones cannot be opened."""

    def __init__(self, name: str, *, broken: bool = False) -> None:
        self.name, self.broken, self.is_open = name, broken, False
        self.device = SimpleNamespace(name=name)
        self.x = self.y = self.rz = 0.0
        self.z = -1.0

    def open(self) -> None:
        if self.broken:
            raise OSError("no right to read")
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


for event in (
    "on_stick_motion",
    "on_trigger_motion",
    "on_dpad_motion",
    "on_button_press",
    "on_button_release",
    "on_joyaxis_motion",
    "on_joybutton_press",
    "on_joybutton_release",
):
    Device.register_event_type(event)


class Manager(EventDispatcher):
    """pyglet's manager, with what is plugged in at the start."""

    def __init__(self, *plugged: Device) -> None:
        self._plugged = plugged

    def get_controllers(self) -> list[Device]:
        return list(self._plugged)


Manager.register_event_type("on_connect")
Manager.register_event_type("on_disconnect")


@pytest.fixture
def pressed() -> list[str]:
    return []


def devices(monkeypatch, pressed: list[str], *pads: Device, joysticks: tuple[Device, ...] = ()):
    import pyglet.input

    manager = Manager(*pads)
    monkeypatch.setattr(pyglet.input, "ControllerManager", lambda: manager)
    monkeypatch.setattr(pyglet.input, "get_joysticks", lambda: list(joysticks))
    return Controllers(lambda device, button: pressed.append(button)), manager


def test_a_machine_without_devices_gets_the_null_device(monkeypatch) -> None:
    import pyglet.input

    for error in (FileNotFoundError("/dev/input"), AttributeError("xlib")):

        def failing(error=error):
            raise error

        monkeypatch.setattr(pyglet.input, "ControllerManager", failing)
        none = open_controllers(lambda device, button: None)
        assert isinstance(none, NoControllers)
        assert none.sample({}, DT) == PilotInput()
        none.rescan()
        none.close()


def test_stick_signs_are_the_pilots() -> None:
    pad = DeviceNow("pad", "pad", True, {"leftx": 1.0, "lefty": 1.0, "rightx": 0.0, "righty": 1.0})
    stick = DeviceNow("stick", "stick", False, {"x": 0.0, "y": -1.0, "rz": 1.0, "z": -1.0})
    for device in (pad, stick):
        device.moved.update(device.axes)
        pilot = flown(device, usual("", "", gamepad=device.gamepad), vehicle_keys(""), {}, DT)
        assert pilot.pitch == pytest.approx(1.0)
        assert pilot.yaw > 0.5
        assert pilot.throttle > 0.5


def test_gamepads_come_and_go_while_flying(monkeypatch, pressed: list[str]) -> None:
    first, second = Device("first"), Device("second")
    found, manager = devices(monkeypatch, pressed, first)
    assert names(found) == ["first"]
    manager.dispatch_event("on_connect", second)
    second.dispatch_event("on_stick_motion", second, "rightstick", (1.0, 0.0))
    assert found.sample({}, DT).roll == pytest.approx(1.0)
    manager.dispatch_event("on_disconnect", second)
    assert names(found) == ["first"]
    assert found.sample({}, DT) == PilotInput()
    second.dispatch_event("on_stick_motion", second, "rightstick", (1.0, 0.0))
    assert found.sample({}, DT) == PilotInput()
    found.close()
    assert not first.is_open


def test_buttons_do_what_viewer_keys_do(monkeypatch, pressed: list[str]) -> None:
    pad = Device("pad")
    found, _ = devices(monkeypatch, pressed, pad)
    pad.dispatch_event("on_button_press", pad, "start")
    pad.dispatch_event("on_button_press", pad, "guide")
    assert [GAMEPAD_BUTTONS.get(button) for button in pressed] == ["pause", None]
    found.close()
    assert set(GAMEPAD_BUTTONS.values()) <= {binding.action for binding in VIEWER_KEYS}


def test_triggers_are_what_the_vehicle_has_for_them(monkeypatch, pressed: list[str]) -> None:
    pad = Device("pad")
    found, _ = devices(monkeypatch, pressed, pad)
    pad.dispatch_event("on_trigger_motion", pad, "righttrigger", 1.0)
    assert (found.sample({}, DT).yaw, found.sample({}, DT).throttle) == (pytest.approx(1.0), 0.0)
    found.serve("spacecraft")
    assert (found.sample({}, DT).yaw, found.sample({}, DT).throttle) == (0.0, pytest.approx(1.0))
    pad.dispatch_event("on_trigger_motion", pad, "lefttrigger", 1.0)
    assert found.sample({}, DT) == PilotInput()
    pad.dispatch_event("on_trigger_motion", pad, "righttrigger", 0.0)
    assert found.sample({}, DT).throttle == pytest.approx(-1.0)


def test_held_buttons_are_the_vehicles_and_end_with_the_release(monkeypatch, pressed: list[str]) -> None:
    pad = Device("pad")
    found, _ = devices(monkeypatch, pressed, pad)
    found.serve("snakeboard")
    pad.dispatch_event("on_dpad_motion", pad, (0.0, 1.0))
    assert found.sample({}, DT).actions == {"gait-drive"}
    pad.dispatch_event("on_dpad_motion", pad, (-1.0, 0.0))
    assert found.sample({}, DT).actions == {"gait-spin"}
    pad.dispatch_event("on_dpad_motion", pad, (0.0, 0.0))
    found.serve("spacecraft")
    pad.dispatch_event("on_button_press", pad, "a")
    assert found.sample({}, DT).actions == {"engine-down"}
    found.serve("helicopter")
    assert not found.sample({}, DT).actions
    found.serve("spacecraft")
    pad.dispatch_event("on_button_release", pad, "a")
    assert not found.sample({}, DT).actions


def test_a_device_that_cannot_be_opened_is_left_out(monkeypatch, pressed: list[str]) -> None:
    with pytest.warns(UserWarning, match="no right to read"):
        found, _ = devices(monkeypatch, pressed, Device("locked", broken=True), Device("good"))
    assert names(found) == ["good"]


def test_a_lever_that_was_never_moved_flies_nothing(monkeypatch, pressed: list[str]) -> None:
    stick = Device("hotas")
    found, _ = devices(monkeypatch, pressed, joysticks=(stick,))
    assert found.sample({}, DT) == PilotInput()
    stick.dispatch_event("on_joyaxis_motion", stick, "z", -1.0)
    assert found.sample({}, DT).throttle == pytest.approx(1.0)
    found.rescan()
    assert names(found) == ["hotas"]
