"""The user's controls as a file: what their controllers and keys do, kept for the next start and to be passed on."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.user_files import as_type, json_value, read_text, refusals, require_finite
from ui.input.own_keys import OwnKey
from ui.input.profile import TARGETS, AxisUse, Profile

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
