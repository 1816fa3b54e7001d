"""From a raw axis of a device to a stick deflection: calibrate, dead zone, expo, invert, scale. Pure."""

import math
from dataclasses import dataclass


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
