"""Colours of lanes on the screen: the renderer's tints are linear, panels are drawn in sRGB."""

from sim.snapshot import LaneSnapshot
from ui.theme import ACCENT, Colour

SMALLEST_CONTRAST = 0.08


def encoded(linear: float) -> float:
    """sRGB transfer function."""
    linear = min(max(linear, 0.0), 1.0)
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1.0 / 2.4) - 0.055


def linear(encoded_part: float) -> float:
    """The inverse of the sRGB transfer function."""
    part = min(max(encoded_part, 0.0), 1.0)
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def screen_colour(tint: tuple[float, float, float]) -> Colour:
    """A linear tint as panels draw it."""
    red, green, blue = (encoded(part) for part in tint)
    return (red, green, blue, 1.0)


def line_colour(lane: LaneSnapshot) -> Colour:
    """A lane's colour in plots and lists; the flown lane, whose tint is about white or grey, gets the accent."""
    if not lane.ghost and max(lane.tint) - min(lane.tint) < SMALLEST_CONTRAST:
        return ACCENT
    return screen_colour(lane.tint)
