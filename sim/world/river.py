"""The river: the one curve that the whole canyon is laid around."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class River:
    """A meandering river that runs along +x with its surface at one level.

    Centre line: y(x) = sum_k amplitude_m[k] * sin(x / length_m[k] + phase_rad[k]).
    """

    level_m: float
    """z of the water surface."""
    half_width_m: float
    """Typical distance from the centre line to the shore."""
    amplitude_m: tuple[float, float]
    length_m: tuple[float, float]
    """Wavelengths over 2 pi."""
    phase_rad: tuple[float, float]

    @staticmethod
    def meandering(seed: int) -> "River":
        """The canyon's river for a seed; seeds differ in where the bends fall."""
        rng = np.random.default_rng([seed, 101])
        phases = rng.uniform(0.0, 2.0 * np.pi, 2)
        return River(0.0, 13.0, (66.0, 26.0), (170.0, 71.0), (float(phases[0]), float(phases[1])))

    @property
    def coefficients(self) -> np.ndarray:
        """(6,) amplitude, length and phase of both waves, for compiled code."""
        waves = zip(self.amplitude_m, self.length_m, self.phase_rad, strict=True)
        return np.array([value for wave in waves for value in wave])

    def centre(self, x_m: np.ndarray | float) -> np.ndarray | float:
        """y of the centre line at x [m]."""
        waves = zip(self.amplitude_m, self.length_m, self.phase_rad, strict=True)
        return sum(a * np.sin(np.asarray(x_m) / length + phase) for a, length, phase in waves)

    def slope(self, x_m: np.ndarray | float) -> np.ndarray | float:
        """dy/dx of the centre line at x."""
        waves = zip(self.amplitude_m, self.length_m, self.phase_rad, strict=True)
        return sum(a / length * np.cos(np.asarray(x_m) / length + phase) for a, length, phase in waves)
