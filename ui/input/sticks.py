"""From held keys to stick deflections that move as a hand would move them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sim.commands import PilotInput

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
