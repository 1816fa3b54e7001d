"""The day that a place of the sun belongs to: the arc on which it rises and sets. World x is east, y is north."""

import math
from dataclasses import dataclass

from render.light import Sun

LATITUDE_RAD = math.radians(36.0)
"""Of a desert with canyons."""
LOWEST_RAD = math.radians(4.0)
"""Of the sun: lower it leaves a canyon in the dark."""
_NOON_H, _HOURS_PER_RAD = 12.0, 12.0 / math.pi


@dataclass(frozen=True, slots=True)
class Day:
    """One declination of the sun."""

    declination_rad: float
    hour: float
    """0..24, by the sun: of the place that the day was made from."""

    @staticmethod
    def of(sun: Sun) -> "Day":
        """The day on which the sun comes by that place."""
        east, north, up = sun.direction_w.tolist()
        s, c = math.sin(LATITUDE_RAD), math.cos(LATITUDE_RAD)
        angle_rad = math.atan2(-east, c * up - s * north)
        return Day(math.asin(min(max(s * up + c * north, -1.0), 1.0)), _NOON_H + _HOURS_PER_RAD * angle_rad)

    @property
    def span(self) -> tuple[float, float]:
        """Hours between which the sun is higher than LOWEST_RAD; noon alone where it never is."""
        s, c = math.sin(LATITUDE_RAD), math.cos(LATITUDE_RAD)
        sine = math.sin(LOWEST_RAD) - s * math.sin(self.declination_rad)
        cosine = c * math.cos(self.declination_rad)
        half_h = _HOURS_PER_RAD * math.acos(min(max(sine / max(cosine, 1e-9), -1.0), 1.0))
        return _NOON_H - half_h, _NOON_H + half_h

    def at(self, hour: float) -> Sun:
        """Where the sun is at an hour 0..24."""
        s, c = math.sin(LATITUDE_RAD), math.cos(LATITUDE_RAD)
        angle_rad = (hour - _NOON_H) / _HOURS_PER_RAD
        equator, pole = math.cos(self.declination_rad), math.sin(self.declination_rad)
        up = s * pole + c * equator * math.cos(angle_rad)
        north = c * pole - s * equator * math.cos(angle_rad)
        east = -equator * math.sin(angle_rad)
        return Sun(math.atan2(north, east), math.asin(min(max(up, -1.0), 1.0)))
