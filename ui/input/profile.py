"""What the axes, buttons and held keys of a controller or a keyboard do: assignment, calibration and response of each,
and stick deflections that move as a hand would move them. Pure."""

import math
from collections.abc import Mapping
from dataclasses import field, replace

from sim.commands import PilotInput
from sim.platform.values import dataclass
from sim.vehicle_config import Keys

AXES = ("pitch", "roll", "yaw", "throttle")


@dataclass(frozen=True, slots=True)
class RampRates:
    """How fast a key moves an axis, in full deflections a second."""

    away: float
    """From the centre outwards."""
    back: float
    """Towards the centre: after release, or against the other side."""


RATES: Mapping[str, RampRates] = {
    "pitch": RampRates(away=2.2, back=4.5),
    "roll": RampRates(away=2.2, back=4.5),
    "yaw": RampRates(away=2.5, back=5.0),
    "throttle": RampRates(away=2.0, back=4.0),
}


def ramp(value: float, target: float, dt_s: float, rates: RampRates) -> float:
    """`value` moved towards `target` for `dt_s` seconds, never past it.

    Motion towards the centre is faster than away from it, and a change of side spends first what the
    way back to the centre needs.
    """
    remaining_s = dt_s
    if value * target <= 0.0 and value != 0.0:
        back = min(abs(value), rates.back * remaining_s)
        remaining_s -= back / rates.back
        value -= back if value > 0.0 else -back
    rate = rates.away if abs(target) > abs(value) else rates.back
    reach = rate * max(remaining_s, 0.0)
    return value + min(max(target - value, -reach), reach)


def targets(actions: frozenset[str]) -> dict[str, float]:
    """Where held actions want each axis: -1, 0 or 1; both sides at once cancel."""
    return {axis: float(f"{axis}+" in actions) - float(f"{axis}-" in actions) for axis in AXES}


def held_actions(actions: frozenset[str]) -> frozenset[str]:
    """Held actions that are no axes, e.g. a brake."""
    axes = {f"{axis}{sign}" for axis in AXES for sign in "+-"}
    return actions - axes


def moved(sticks: PilotInput, actions: frozenset[str], dt_s: float) -> PilotInput:
    """Keyboard sticks after `dt_s` seconds with `actions` held."""
    wanted = targets(actions)
    values = {axis: ramp(getattr(sticks, axis), wanted[axis], dt_s, RATES[axis]) for axis in AXES}
    return PilotInput(**values, actions=held_actions(actions))


def combined(keyboard: PilotInput, device: PilotInput) -> PilotInput:
    """Both at once: deflections add up, within -1..1."""
    values = {axis: clipped(getattr(keyboard, axis) + getattr(device, axis)) for axis in AXES}
    return PilotInput(**values, actions=keyboard.actions | device.actions)


def same(a: PilotInput, b: PilotInput) -> bool:
    """Whether a change is too small to tell the simulation about."""
    close = all(abs(getattr(a, axis) - getattr(b, axis)) < 1e-4 for axis in AXES)
    centred = all((getattr(a, axis) == 0.0) == (getattr(b, axis) == 0.0) for axis in AXES)
    return close and centred and a.actions == b.actions


def released(sticks: PilotInput) -> PilotInput:
    """Hands off at once: what losing the focus means."""
    return replace(sticks, pitch=0.0, roll=0.0, yaw=0.0, throttle=0.0, actions=frozenset())


def clipped(value: float) -> float:
    """Within -1..1."""
    return min(max(value, -1.0), 1.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Raw values of an axis at its ends and at rest."""

    low: float = -1.0
    centre: float = 0.0
    high: float = 1.0

    def apply(self, raw: float) -> float:
        """-1 at `low`, 0 at `centre`, 1 at `high`, clipped; 0 where the raw value or the calibration is void."""
        if not math.isfinite(raw):
            return 0.0
        span = self.high - self.centre if raw >= self.centre else self.centre - self.low
        if span <= 0.0:
            return 0.0
        return min(max((raw - self.centre) / span, -1.0), 1.0)


@dataclass(frozen=True, slots=True)
class Response:
    """How a deflection is shaped."""

    deadzone: float = 0.08
    """Share of the throw around the centre that counts as none, 0..0.9."""
    expo: float = 0.35
    """0 linear, 1 cubic: finer around the centre, full at the ends."""
    inverted: bool = False
    scale: float = 1.0


def radial_deadzone(x: float, y: float, deadzone: float) -> tuple[float, float]:
    """A stick's two axes with a round dead zone; the rest is stretched so that the rim stays at 1."""
    radius = math.hypot(x, y)
    if radius <= deadzone or radius == 0.0:
        return 0.0, 0.0
    stretched = min((radius - deadzone) / (1.0 - deadzone), 1.0)
    return x * stretched / radius, y * stretched / radius


def deadzone(x: float, width: float) -> float:
    """The same for a single axis."""
    return radial_deadzone(x, 0.0, width)[0]


def expo(x: float, k: float) -> float:
    """(1 - k) x + k x^3."""
    return (1.0 - k) * x + k * x**3


def shaped(x: float, response: Response) -> float:
    """Expo, inversion and scale of a deflection that has left the dead zone."""
    value = expo(x, response.expo) * response.scale
    return min(max(-value if response.inverted else value, -1.0), 1.0)


def stick(x: float, y: float, response_x: Response, response_y: Response) -> tuple[float, float]:
    """A two-axis stick, with the larger of both dead zones, round."""
    x, y = radial_deadzone(x, y, max(response_x.deadzone, response_y.deadzone))
    return shaped(x, response_x), shaped(y, response_y)


def single(x: float, response: Response) -> float:
    """An axis of its own: pedals, a throttle lever."""
    return shaped(deadzone(x, response.deadzone), response)


EXTRA = "extra"
"""The axis that a vehicle gives to a gamepad's triggers."""
TARGETS = (*AXES, EXTRA)
PARTNERS = {"leftx": "lefty", "lefty": "leftx", "rightx": "righty", "righty": "rightx", "x": "y", "y": "x"}
"""Axes of one stick: their dead zone is round."""
HELD_RATE = 0.8
"""Full deflections a second by which an axis that holds moves what it is assigned to."""


RAW, PLAIN = Calibration(), Response()


@dataclass(slots=True)
class DeviceNow:
    """What a controller reports at this moment."""

    guid: str
    """Of its kind: two of the same make share it."""
    name: str
    gamepad: bool
    axes: dict[str, float] = field(default_factory=dict)
    """-1..1, triggers 0..1; gamepads' sticks point right and up, joysticks' axes right, back and down."""
    moved: set[str] = field(default_factory=set)
    """Axes that have reported: a lever says nothing until it is moved, and its made-up place must fly nothing."""
    down: set[str] = field(default_factory=set)
    """Buttons that are held."""
    buttons: tuple[str, ...] = ()
    """All that are known."""


@dataclass(frozen=True, slots=True)
class AxisUse:
    """One axis of a controller and what it moves."""

    source: str
    target: str
    """Of TARGETS."""
    calibration: Calibration = RAW
    response: Response = PLAIN
    holds: bool = False
    """What it moves stays where it was left: the axis says how fast, not where."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Of one kind of controller."""

    guid: str
    name: str
    axes: tuple[AxisUse, ...] = ()
    buttons: Mapping[str, str] = field(default_factory=dict)
    """Button -> a viewer's action, or one that the vehicle holds; the vehicle's own choice where there is none."""

    def with_axis(self, use: AxisUse) -> "Profile":
        """With it, and without whatever its source or, but for the triggers' pair, its target had before."""
        kept = [
            old for old in self.axes
            if old.source != use.source and (old.target != use.target or use.target == EXTRA)
        ]  # fmt: skip
        return replace(self, axes=(*kept, use))

    def with_button(self, button: str, action: str) -> "Profile":
        """With it, and without the action's former button."""
        kept = {old: does for old, does in self.buttons.items() if old != button and does != action}
        return replace(self, buttons={**kept, button: action})


CYCLIC = Response(deadzone=0.10, expo=0.4)
PEDALS = Response(deadzone=0.12, expo=0.4)
LEVER = Response(deadzone=0.10, expo=0.2)
TRIGGERS = Response(deadzone=0.05, expo=0.2)
GAMEPAD_AXES = (
    AxisUse("leftx", "yaw", response=PEDALS),
    AxisUse("lefty", "throttle", response=LEVER),
    AxisUse("rightx", "roll", response=CYCLIC),
    AxisUse("righty", "pitch", response=CYCLIC),
    AxisUse("righttrigger", EXTRA, response=TRIGGERS),
    AxisUse("lefttrigger", EXTRA, response=replace(TRIGGERS, inverted=True)),
)
"""Left stick: yaw and throttle; right stick: roll and pitch (mode 2)."""
JOYSTICK_AXES = (
    AxisUse("x", "roll", response=CYCLIC),
    AxisUse("y", "pitch", response=replace(CYCLIC, inverted=True)),
    AxisUse("rz", "yaw", response=PEDALS),
    AxisUse("z", "throttle", response=replace(LEVER, inverted=True)),
)
"""Stick: cyclic; twist or pedals: yaw; lever: collective."""
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


def usual(guid: str, name: str, *, gamepad: bool) -> Profile:
    """Until the user has chosen otherwise."""
    if gamepad:
        return Profile(guid, name, GAMEPAD_AXES, GAMEPAD_BUTTONS)
    return Profile(guid, name, JOYSTICK_AXES)


def deflection(device: DeviceNow, profile: Profile, use: AxisUse) -> float:
    """-1..1 of one axis as it is now: calibrated, out of its dead zone, shaped; 0 until it has moved."""
    if use.source not in device.moved:
        return 0.0
    beside = PARTNERS.get(use.source, "")
    calibrations = {other.source: other.calibration for other in profile.axes}
    other = calibrations.get(beside, RAW).apply(device.axes.get(beside, 0.0)) if beside else 0.0
    value = use.calibration.apply(device.axes[use.source])
    return shaped(radial_deadzone(value, other, use.response.deadzone)[0], use.response)


def flown(
    device: DeviceNow, profile: Profile, controls: Keys, held: dict[str, float], dt_s: float
) -> PilotInput:
    """What the device asks for. `held`: by source, what its axes that hold have come to; moved on by `dt_s`."""
    values = dict.fromkeys(AXES, 0.0)
    for use in profile.axes:
        value = deflection(device, profile, use)
        if use.holds:
            value = held[use.source] = clipped(held.get(use.source, 0.0) + HELD_RATE * value * dt_s)
        target = controls.triggers if use.target == EXTRA else use.target
        values[target] = clipped(values[target] + value)
    actions = (profile.buttons.get(button) or controls.buttons.get(button) for button in device.down)
    named = {each.action for each in controls.held}
    return PilotInput(**values, actions=frozenset(action for action in actions if action in named))


FAR = 0.5
"""A move of an axis that is meant, in raw units from where it was when the listening began."""


@dataclass(frozen=True, slots=True)
class ForAxis:
    """Whichever axis is moved far moves this from now on."""

    target: str


@dataclass(frozen=True, slots=True)
class ForButton:
    """Whichever button is pressed does this from now on."""

    action: str


@dataclass(frozen=True, slots=True)
class ForKey:
    """Whichever key is pressed does this from now on."""

    scope: str
    action: str


@dataclass(frozen=True, slots=True)
class ForRange:
    """How far this axis goes to either side; it is left at rest when the listening begins."""

    guid: str
    source: str


Listening = ForAxis | ForButton | ForKey | ForRange


@dataclass(slots=True)
class Ear:
    """Hears the axes while it listens."""

    rest: dict[tuple[int, str], float] = field(default_factory=dict)
    """Where each axis of each device was at first."""
    low: float = 0.0
    high: float = 0.0
    centre: float = 0.0

    @classmethod
    def at(cls, devices: tuple[DeviceNow, ...], listening: Listening) -> "Ear":
        """As the devices stand."""
        rest = {(id(device), axis): value for device in devices for axis, value in device.axes.items()}
        centre = 0.0
        if isinstance(listening, ForRange):
            centre = next(
                (d.axes.get(listening.source, 0.0) for d in devices if d.guid == listening.guid), 0.0
            )
        return cls(rest, centre, centre, centre)

    def moved(self, devices: tuple[DeviceNow, ...]) -> tuple[DeviceNow, str, bool] | None:
        """(device, axis, whether it went down) of the axis that has moved farthest, once one has moved far."""
        best: tuple[float, DeviceNow, str] | None = None
        for device in devices:
            for axis in device.moved:
                away = device.axes[axis] - self.rest.get((id(device), axis), 0.0)
                if abs(away) > max(FAR, 0.0 if best is None else abs(best[0])):
                    best = (away, device, axis)
        return None if best is None else (best[1], best[2], best[0] < 0.0)

    def widen(self, devices: tuple[DeviceNow, ...], listening: ForRange) -> Calibration:
        """The range that has been seen so far; a side that was not gone to is as far as the other."""
        for device in devices:
            if device.guid == listening.guid and listening.source in device.axes:
                value = device.axes[listening.source]
                self.low, self.high = min(self.low, value), max(self.high, value)
        return Calibration(self.low, self.centre, self.high)
