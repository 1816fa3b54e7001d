"""The river of the canyon: the curve that the canyon is laid around, and its current as a field over the plane.

The current follows the bed, is faster where that is narrow, and rests at the banks; it is steady and averaged over the
depth. Of a section's discharge each strip gets its share by Manning's law for wide channels, depth to the power 5/3
(V. T. Chow, "Open-Channel Hydraulics", 1959), and the discharge is the same in all sections: a stream function, whose
curl is the flow per width, so that no water is lost anywhere and none goes through a bank.
"""

from dataclasses import dataclass

import numpy as np

from sim.native.function import native
from sim.world.terrain import Terrain


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


MEAN_MPS = 0.7
"""Through the section of median area."""
_WIDEST = 3.0
"""Half widths from the centre line within which water belongs to the river."""
_EVENED_M = 4.0
"""Along the river: what is shorter is roughness, not shape."""
_SHALLOW_M = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Velocities on a regular grid, bilinear between its points and none beyond them."""

    velocity_w: np.ndarray
    """(ny, nx, 2) float64 world x, y [m/s]."""
    frame: np.ndarray
    """(3,) x and y of the first point, spacing [m]."""

    @staticmethod
    def still() -> "Stream":
        """No current anywhere."""
        return Stream(np.zeros((0, 0, 2)), np.array([0.0, 0.0, 1.0]))

    def at(self, x_m: float, y_m: float) -> np.ndarray:
        """(2,) [m/s]."""
        out = np.zeros(2)
        add_stream(self.velocity_w, self.frame, x_m, y_m, out)
        return out


@native
def add_stream(velocity: np.ndarray, frame: np.ndarray, x: float, y: float, out: np.ndarray) -> None:
    """Add the velocity at world (x, y) to out (2,)."""
    rows, columns = velocity.shape[0], velocity.shape[1]
    u, v = (x - frame[0]) / frame[2], (y - frame[1]) / frame[2]
    if not (0.0 <= u < columns - 1 and 0.0 <= v < rows - 1):
        return
    i, j = int(u), int(v)
    u, v = u - i, v - j
    for c in range(2):
        low = velocity[j, i, c] * (1.0 - u) + velocity[j, i + 1, c] * u
        high = velocity[j + 1, i, c] * (1.0 - u) + velocity[j + 1, i + 1, c] * u
        out[c] += low * (1.0 - v) + high * v


def river_stream(terrain: Terrain, river: River) -> Stream:
    """Of the river in its bed."""
    from scipy.ndimage import gaussian_filter1d  # takes a while, and only what floats asks for the river

    x, y = terrain.axes
    centre, wide = np.asarray(river.centre(x)), _WIDEST * river.half_width_m
    rows = np.flatnonzero((y > centre.min() - wide) & (y < centre.max() + wide))
    y, spacing = y[rows], terrain.spacing_m
    depth = np.maximum(river.level_m - terrain.heights[rows].astype(float), 0.0)
    depth[~_of_river(depth, y, centre, wide)] = 0.0
    own = depth
    depth = gaussian_filter1d(own, _EVENED_M / spacing, axis=1, mode="nearest")
    conveyance = depth ** (5.0 / 3.0)
    strips = 0.5 * (conveyance[1:] + conveyance[:-1])
    within = np.vstack([np.zeros((1, len(x))), np.cumsum(strips, axis=0)])
    areas = depth.sum(axis=0) * spacing
    stream_function = MEAN_MPS * float(np.median(areas)) * within / np.maximum(within[-1], 1e-9)
    by_y, by_x = np.gradient(stream_function, spacing)
    velocity = np.stack([by_y, -by_x], axis=-1) / np.maximum(depth, _SHALLOW_M)[..., None]
    # What was evened out reaches over the banks: there Manning's speed at the depth that there is.
    velocity *= np.minimum(own / np.maximum(depth, 1e-9), 1.0)[..., None] ** (2.0 / 3.0)
    return Stream(np.ascontiguousarray(velocity), np.array([x[0], y[0], spacing]))


def _of_river(depth: np.ndarray, y: np.ndarray, centre: np.ndarray, wide: float) -> np.ndarray:
    """(ny, nx) which points are joined to the centre line by water along their column."""
    wet = (depth > 0.0) & (np.abs(y[:, None] - centre) < wide)
    above = y[:, None] >= centre
    up = np.logical_and.accumulate(wet | ~above, axis=0) & above
    down = np.logical_and.accumulate((wet | above)[::-1], axis=0)[::-1] & ~above
    return np.asarray(up | down)
