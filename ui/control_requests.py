"""What the user asks of their controls, and what panels see of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ui.input.control_setup import Conflict, ControlSetup
from ui.input.listening import Listening
from ui.input.profile import DeviceNow, Profile


@dataclass(frozen=True, slots=True)
class Listen:
    """What is moved or pressed next is assigned to this; None: to nothing."""

    what: Listening | None


@dataclass(frozen=True, slots=True)
class SetProfile:
    """What the axes and buttons of a kind of controller do."""

    profile: Profile


@dataclass(frozen=True, slots=True)
class ForgetProfile:
    """A kind of controller does the usual again."""

    guid: str


@dataclass(frozen=True, slots=True)
class SettleKey:
    """Whether a key that another action has is taken from it."""

    take: bool


@dataclass(frozen=True, slots=True)
class UsualKeys:
    """An action has its usual keys again."""

    scope: str
    action: str


@dataclass(frozen=True, slots=True)
class ExportControls:
    """Write profiles and keys to a file that others can open."""


ControlRequest = Listen | SetProfile | ForgetProfile | SettleKey | UsualKeys | ExportControls


@dataclass(frozen=True, slots=True)
class ControlView:
    """The controls in one frame."""

    devices: tuple[DeviceNow, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By guid, where they are not the usual."""
    listening: Listening | None = None
    conflict: Conflict | None = None
    chosen_keys: frozenset[tuple[str, str]] = frozenset()
    """(scope, action) whose keys are the user's."""


def control_view(setup: ControlSetup, devices: tuple[DeviceNow, ...]) -> ControlView:
    """For this frame."""
    chosen = frozenset((own.scope, own.action) for own in setup.keys.chosen)
    return ControlView(devices, setup.profiles, setup.listening, setup.conflict, chosen)


def carried_out(
    request: ControlRequest, setup: ControlSetup, devices: tuple[DeviceNow, ...], vehicle: str
) -> str:
    """Do it; returns what is to be told. Raises InputError where a file cannot be written."""
    match request:
        case Listen(what):
            setup.listen(what, devices)
        case SetProfile(profile):
            setup.set_profile(profile)
        case ForgetProfile(guid):
            setup.forget(guid)
        case SettleKey(take):
            setup.settle(vehicle, take=take)
        case UsualKeys(scope, action):
            setup.usual_keys(scope, action)
        case ExportControls():
            return f"Controls saved: {setup.export(devices[0].name if devices else 'keys')}"
    return ""
