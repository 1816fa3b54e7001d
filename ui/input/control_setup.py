"""The user's controls as they stand: read at the start, changed by requests, kept as they change."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sim.platform.errors import InputError
from sim.platform.replacing import file_stem
from ui.config import set_aside
from ui.input.control_file import ENDING, Controls, read_controls, write_controls
from ui.input.controllers import profile_of
from ui.input.keymap import keymap_of
from ui.input.listening import Ear, ForAxis, ForButton, ForKey, ForRange, Listening
from ui.input.own_keys import VIEWER, OwnKeys
from ui.input.profile import AxisUse, DeviceNow, Profile

FILE = "controls.json"
EXPORT_FOLDER = Path("out")
NO_KEYS = (
    "LSHIFT",
    "RSHIFT",
    "LCTRL",
    "RCTRL",
    "LALT",
    "RALT",
    "LCOMMAND",
    "RCOMMAND",
    "LWINDOWS",
    "RWINDOWS",
)
"""Held with another one."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A key was pressed for an action that another one has."""

    wanted: ForKey
    key: str
    holder: ForKey
    label: str
    """What the holder does, in words."""


@dataclass(slots=True)
class ControlSetup:
    """`folder`: the user's; a file there that is damaged gets the ending `.damaged`, and the usual controls count."""

    folder: Path
    profiles: dict[str, Profile] = field(default_factory=dict)
    """By guid, where they are not the usual."""
    keys: OwnKeys = field(default_factory=OwnKeys)
    listening: Listening | None = None
    conflict: Conflict | None = None
    _ear: Ear = field(default_factory=Ear)

    def __post_init__(self) -> None:
        path = self.folder / FILE
        if not path.exists():
            return
        try:
            self._use(read_controls(path))
        except InputError:
            set_aside(path)

    def listen(self, what: Listening | None, devices: tuple[DeviceNow, ...]) -> None:
        """For this from now on; None: for nothing."""
        self.conflict, self.listening = None, what
        if what is not None:
            self._ear = Ear.at(devices, what)

    def hear(self, devices: tuple[DeviceNow, ...]) -> None:
        """Told once a frame how the controllers stand."""
        if isinstance(self.listening, ForAxis):
            heard = self._ear.moved(devices)
            if heard is not None:
                device, source, down = heard
                profile = profile_of(device, self.profiles)
                old = next((use for use in profile.axes if use.source == source), None)
                use = replace(old or AxisUse(source, ""), target=self.listening.target)
                # It is moved to the side that the panel asks for: right, up, ahead.
                use = replace(use, response=replace(use.response, inverted=down))
                self.set_profile(profile.with_axis(use))
                self.listening = None
        elif isinstance(self.listening, ForRange):
            self._calibrate(self.listening, devices)

    def hear_button(self, device: DeviceNow, button: str) -> bool:
        """Whether a pressed button was waited for."""
        if not isinstance(self.listening, ForButton):
            return False
        self.set_profile(profile_of(device, self.profiles).with_button(button, self.listening.action))
        self.listening = None
        return True

    def hear_key(self, key: str, vehicle: str) -> bool:
        """Whether a pressed key, or a chord, was waited for. Escape ends the waiting."""
        if self.listening is None:
            return False
        if key == "ESCAPE":
            self.listening = None
            return True
        if not isinstance(self.listening, ForKey) or key in NO_KEYS:
            return False
        wanted, self.listening = self.listening, None
        holder = self._holder(key, vehicle)
        if holder is None or (holder[0].scope, holder[0].action) == (wanted.scope, wanted.action):
            self._give(wanted, key)
        else:
            self.conflict = Conflict(wanted, key, *holder)
        return True

    def settle(self, vehicle: str, *, take: bool) -> None:
        """Of the conflict: the key leaves whoever has it, or everything stays."""
        conflict, self.conflict = self.conflict, None
        if conflict is None or not take:
            return
        holder = conflict.holder
        binding = keymap_of(vehicle, self.keys).binding(holder.scope, holder.action)
        left = tuple(key for key in binding.keys if key != conflict.key) if binding else ()
        self.keys = self.keys.with_keys(holder.scope, holder.action, left)
        self._give(conflict.wanted, conflict.key)

    def usual_keys(self, scope: str, action: str) -> None:
        """The action has its usual keys again."""
        self.keys = self.keys.without(scope, action)
        self._keep()

    def set_profile(self, profile: Profile) -> None:
        self.profiles[profile.guid] = profile
        self._keep()

    def forget(self, guid: str) -> None:
        """The device does the usual again."""
        self.profiles.pop(guid, None)
        self._keep()

    def export(self, name: str, folder: Path = EXPORT_FOLDER) -> Path:
        """Write all of it under a name. Raises InputError where that cannot be."""
        path = folder / f"{file_stem(name, 'mine')}{ENDING}"
        try:
            folder.mkdir(exist_ok=True)
            write_controls(path, self._controls())
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        return path

    def take_over(self, path: Path) -> None:
        """What a file of such a kind says, from now on. Raises InputError, and changes nothing then."""
        self._use(read_controls(path))
        self._keep()

    def _calibrate(self, listening: ForRange, devices: tuple[DeviceNow, ...]) -> None:
        found = self._ear.widen(devices, listening)
        for device in devices:
            if device.guid == listening.guid:
                profile = profile_of(device, self.profiles)
                uses = tuple(
                    replace(use, calibration=found) if use.source == listening.source else use
                    for use in profile.axes
                )
                if uses != profile.axes and found.low < found.high:
                    self.set_profile(replace(profile, axes=uses))
                return

    def _holder(self, key: str, vehicle: str) -> tuple[ForKey, str] | None:
        keymap = keymap_of(vehicle, self.keys)
        for scope, table in ((vehicle, keymap.vehicle), (VIEWER, keymap.viewer)):
            for binding in table:
                if key in binding.keys:
                    return ForKey(scope, binding.action), binding.label
        return None

    def _give(self, wanted: ForKey, key: str) -> None:
        self.keys = self.keys.with_keys(wanted.scope, wanted.action, (key,))
        self._keep()

    def _controls(self) -> Controls:
        return Controls(tuple(self.profiles.values()), self.keys.chosen)

    def _use(self, controls: Controls) -> None:
        self.profiles = {profile.guid: profile for profile in controls.profiles}
        self.keys = OwnKeys(controls.keys)
        self.listening = self.conflict = None

    def _keep(self) -> None:
        """A folder that cannot be written costs only the memory."""
        with suppress(OSError):
            write_controls(self.folder / FILE, self._controls())
