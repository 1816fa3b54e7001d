"""The light of a scene: sun, sky and haze, as every material sees them."""

import math
from dataclasses import dataclass

import numpy as np

from sim.scene.tables import Sun as SceneSun

_LUMA = np.array([0.2126, 0.7152, 0.0722])
_DAY = 9.0
"""Irradiance of level ground in the morning and afternoon; from there on nothing has to be adapted to."""
_ADAPTATION = 0.4


@dataclass(frozen=True, slots=True)
class Sun:
    """Where the sun stands. Angles in radians; azimuth counts from world x towards y."""

    azimuth_rad: float = math.radians(-143.7)
    elevation_rad: float = math.radians(41.6)

    @staticmethod
    def of(named: SceneSun) -> "Sun":
        """As a scene has it."""
        return Sun(math.radians(named.azimuth_deg), math.radians(named.elevation_deg))

    @property
    def direction_w(self) -> np.ndarray:
        """(3,) unit vector towards the sun."""
        c = np.cos(self.elevation_rad)
        return np.array(
            [c * np.cos(self.azimuth_rad), c * np.sin(self.azimuth_rad), np.sin(self.elevation_rad)]
        )


@dataclass(frozen=True, slots=True)
class Light:
    """Sun and sky of one moment, linear and relative (the exposure belongs to the picture)."""

    direction_w: np.ndarray
    """(3,) towards the sun."""
    sun_irradiance: np.ndarray
    """(3,) on a surface that faces the sun."""
    sky_harmonics: np.ndarray
    """(9, 3) second-order spherical harmonics of the sky's irradiance, cosine lobe included."""

    @property
    def sky_irradiance_above(self) -> np.ndarray:
        """(3,) on level ground under an open sky (render/shaders/sky.glsl)."""
        return np.maximum(self.sky_harmonics[0] + self.sky_harmonics[2] + 2.0 * self.sky_harmonics[6], 0.0)

    @property
    def exposure(self) -> float:
        """By how much a picture of this light is to be brighter than one of full day: eyes follow a dusk half-way."""
        level = self.sun_irradiance * max(float(self.direction_w[2]), 0.0) + self.sky_harmonics[0]
        return float(np.clip((_DAY / max(float(level @ _LUMA), 1e-6)) ** _ADAPTATION, 1.0, 4.0))
