"""The user's controls as a file: what their controllers and keys do, kept for the next start and to be passed on."""

import json
import re
from contextlib import suppress
from dataclasses import asdict, field, replace
from pathlib import Path

from sim.platform.errors import InputError
from sim.platform.replacing import file_stem, replacing
from sim.platform.user_files import as_type, json_value, read_text, refusals, require_finite
from sim.platform.values import dataclass
from ui.input.controllers import profile_of
from ui.input.keymap import VIEWER, OwnKey, OwnKeys, keymap_of
from ui.input.profile import (
    TARGETS,
    AxisUse,
    DeviceNow,
    Ear,
    ForAxis,
    ForButton,
    ForKey,
    ForRange,
    Listening,
    Profile,
)
from ui.settings.view_settings import set_aside

VERSION = 1
ENDING = ".controls.json"
MOST = 256
"""Profiles, axes, buttons or keys."""
_KEY = re.compile(r"(CTRL\+(SHIFT\+)?)?[A-Z0-9_]{1,24}")
_NAME = 120


@dataclass(frozen=True, slots=True)
class Controls:
    """All that the user has chosen."""

    profiles: tuple[Profile, ...] = ()
    keys: tuple[OwnKey, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    version: int
    profiles: tuple[Profile, ...]
    keys: tuple[OwnKey, ...]


def read_controls(path: Path) -> Controls:
    """Raises InputError, one line with the place."""
    with refusals(path, "no controls"):
        value = json_value(read_text(path))
        require_finite(value)
        file = as_type(value, _File)
        if file.version != VERSION:
            raise InputError(f"version = {file.version}; allowed: {VERSION}")
        _check(file)
        return Controls(file.profiles, file.keys)


def write_controls(path: Path, controls: Controls) -> None:
    """Raises OSError where it cannot be written."""
    with replacing(path, lasting=False) as draft:
        draft.write_text(json.dumps({"version": VERSION, **asdict(controls)}, indent=1), encoding="utf-8")


def _check(file: _File) -> None:
    for profile in file.profiles:
        for use in profile.axes:
            _check_axis(use)
        _few("buttons", len(profile.buttons))
        _few("axes", len(profile.axes))
        for text in (profile.guid, profile.name, *profile.buttons, *profile.buttons.values()):
            _check_name(text)
    _few("profiles", len(file.profiles))
    _few("keys", len(file.keys))
    for own in file.keys:
        _few(own.action, len(own.keys))
        _check_name(own.scope)
        _check_name(own.action)
        for key in own.keys:
            if not _KEY.fullmatch(key):
                raise InputError(f"key = {key[:40]!r}; allowed: a key's name, as CTRL+SHIFT+Z")
    keys = [key for scope in {own.scope for own in file.keys} for key in _keys(file.keys, scope)]
    if len({(scope, key) for scope, key in keys}) < len(keys):
        raise InputError("a key that stands twice; allowed: one action for each")


def _keys(keys: tuple[OwnKey, ...], scope: str) -> list[tuple[str, str]]:
    return [(scope, key) for own in keys if own.scope == scope for key in own.keys]


def _check_axis(use: AxisUse) -> None:
    _check_name(use.source)
    if use.target not in TARGETS:
        raise InputError(f"target = {use.target[:40]!r}; allowed: {', '.join(TARGETS)}")
    calibration, response = use.calibration, use.response
    bounds = {
        "low": (calibration.low, -10.0, 10.0),
        "centre": (calibration.centre, calibration.low, calibration.high),
        "high": (calibration.high, -10.0, 10.0),
        "deadzone": (response.deadzone, 0.0, 0.9),
        "expo": (response.expo, 0.0, 1.0),
        "scale": (response.scale, 0.0, 2.0),
    }
    for name, (value, low, high) in bounds.items():
        if not low <= value <= high:
            raise InputError(f"{name} = {value:g}; allowed: {low:g} to {high:g}")


def _check_name(text: str) -> None:
    if len(text) > _NAME or not text.isprintable():
        raise InputError(f"{text[:40]!r} as a name; allowed: {_NAME} printable characters")


def _few(what: str, count: int) -> None:
    if count > MOST:
        raise InputError(f"{count} {what}; allowed: {MOST}")


FILE = "controls.json"
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

    def export(self, name: str, folder: Path) -> Path:
        """Write all of it under a name. Raises InputError where that cannot be."""
        path = folder / f"{file_stem(name, 'mine')}{ENDING}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
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
