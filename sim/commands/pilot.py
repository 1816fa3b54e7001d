"""What the vehicle is flown by: sticks, flight mode, autopilot, a hand."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PilotInput:
    """Stick deflections, each in [-1, 1] unless said otherwise; what they do depends on vehicle and mode.

    Signs are the pilot's: pitch +1 nose down (stick forward), roll +1 right, yaw +1 nose right,
    throttle +1 up / forward.
    """

    pitch: float = 0.0
    roll: float = 0.0
    yaw: float = 0.0
    throttle: float = 0.0
    actions: frozenset[str] = field(default_factory=frozenset)
    """Held actions by name, e.g. 'brake', 'gait-drive'."""


@dataclass(frozen=True, slots=True)
class SetPilotInput:
    """Replaces the live stick position until the next one."""

    pilot: PilotInput


@dataclass(frozen=True, slots=True)
class SetFlightMode:
    mode: str


@dataclass(frozen=True, slots=True)
class SetDemo:
    """Hand the controls to the autopilot or take them back."""

    on: bool


@dataclass(frozen=True, slots=True)
class Pull:
    """A hand's spring between a point of a body and a place, until `LetGo` or another one."""

    lane: str
    body: str
    at_b: tuple[float, float, float]
    """Of the body, in its frame [m]."""
    to_w: tuple[float, float, float]
    """Where it is pulled to, in the world [m]."""


@dataclass(frozen=True, slots=True)
class LetGo:
    """No hand pulls any more."""
