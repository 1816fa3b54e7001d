"""The light of a scene, sun, sky and haze, as every material sees them, and the day that a place of the sun belongs to.

World x is east, y is north.
"""

import math

import numpy as np

from render.room_light import RoomLight
from sim.platform.values import dataclass
from sim.scene.tables import USUAL_SUN
from sim.scene.tables import Sun as SceneSun

_LUMA = np.array([0.2126, 0.7152, 0.0722])
_DAY = 9.0
"""Irradiance of level ground in the morning and afternoon; from there on nothing has to be adapted to."""
_ADAPTATION = 0.4
_IN_ORBIT = 1.05
"""The planet below and a craft in the sun are as bright as a beach at noon."""
_SUNLIT = 0.12
"""Of a room, how much of the sun's patches the eye follows."""


@dataclass(frozen=True, slots=True)
class Sun:
    """Where the sun stands, and in what a sky. Angles in radians; azimuth counts from world x towards y."""

    azimuth_rad: float = math.radians(-143.7)
    elevation_rad: float = math.radians(41.6)
    clouds: float = USUAL_SUN.clouds
    """0..1, share of the sky that is under them."""
    rain: float = USUAL_SUN.rain
    """0..1, of the heaviest."""

    @staticmethod
    def of(named: SceneSun) -> "Sun":
        """As a scene has it."""
        return Sun(
            math.radians(named.azimuth_deg), math.radians(named.elevation_deg), named.clouds, named.rain
        )

    @property
    def direction_w(self) -> np.ndarray:
        """(3,) unit vector towards the sun."""
        c = np.cos(self.elevation_rad)
        return np.array(
            [c * np.cos(self.azimuth_rad), c * np.sin(self.azimuth_rad), np.sin(self.elevation_rad)]
        )


PLANET_M = 6360e3
"""Its radius, at the sea."""


def horizon_rad(height_m: float) -> float:
    """Elevation of the planet's edge, seen from that height over its sea; 0 and below."""
    return -math.acos(PLANET_M / (PLANET_M + height_m))


@dataclass(frozen=True, slots=True)
class Light:
    """Sun and sky of one moment, linear and relative (the exposure belongs to the picture)."""

    direction_w: np.ndarray
    """(3,) towards the sun."""
    sun_irradiance: np.ndarray
    """(3,) on a surface that faces the sun."""
    sky_harmonics: np.ndarray
    """(9, 3) second-order spherical harmonics of the sky's irradiance, cosine lobe included; of a room in one."""
    clouds: float = 0.0
    """0..1, share of the sky."""
    rain: float = 0.0
    """0..1, of the heaviest."""
    room: RoomLight | None = None
    """Of the room that one is in."""
    orbit_m: float | None = None
    """Height over the planet's sea, where all is in orbit."""

    @property
    def sky_irradiance_above(self) -> np.ndarray:
        """(3,) on level ground under an open sky (render/shaders/sky.glsl)."""
        return np.maximum(self.sky_harmonics[0] + self.sky_harmonics[2] + 2.0 * self.sky_harmonics[6], 0.0)

    @property
    def exposure(self) -> float:
        """By how much a picture of this light is to be brighter than one of full day: eyes follow a dusk half-way."""
        if self.orbit_m is not None:
            return _IN_ORBIT
        level = self.sun_irradiance * max(float(self.direction_w[2]), 0.0) + self.sky_harmonics[0]
        if self.room is not None:
            level = self.room.mean + _SUNLIT * self.sun_irradiance
        return float(np.clip((_DAY / max(float(level @ _LUMA), 1e-6)) ** _ADAPTATION, 1.0, 4.0))


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
    clouds: float = USUAL_SUN.clouds
    rain: float = USUAL_SUN.rain

    @staticmethod
    def of(sun: Sun) -> "Day":
        """The day on which the sun comes by that place."""
        east, north, up = sun.direction_w.tolist()
        s, c = math.sin(LATITUDE_RAD), math.cos(LATITUDE_RAD)
        angle_rad = math.atan2(-east, c * up - s * north)
        declination_rad = math.asin(min(max(s * up + c * north, -1.0), 1.0))
        return Day(declination_rad, _NOON_H + _HOURS_PER_RAD * angle_rad, sun.clouds, sun.rain)

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
        return Sun(math.atan2(north, east), math.asin(min(max(up, -1.0), 1.0)), self.clouds, self.rain)
