"""What the vehicle is flown by: sticks, flight mode, autopilot, a hand."""

from dataclasses import dataclass

from sim.control.pilot import PilotInput


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
