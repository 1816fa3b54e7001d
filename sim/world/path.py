"""The river of the canyon: the curve that the canyon is laid around, its current as a field over the plane; landing
pads, the ground levelled for them, and a safe way down from one to the other.

The current follows the bed, is faster where that is narrow, and rests at the banks; it is steady and averaged over the
depth. Of a section's discharge each strip gets its share by Manning's law for wide channels, depth to the power 5/3
(V. T. Chow, "Open-Channel Hydraulics", 1959), and the discharge is the same in all sections: a stream function, whose
curl is the flow per width, so that no water is lost anywhere and none goes through a bank."""

import numpy as np

from sim.groups.numeric import median, pose_matrix, upright
from sim.native.function import native
from sim.platform.values import dataclass
from sim.world.smoothing import smoothed
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

    def along(self, places_w: np.ndarray) -> np.ndarray:
        """(..., 2) [m/s] at places (..., 2) [m]."""
        found = [self.at(x, y) for x, y in places_w.reshape(-1, 2)]
        return np.array(found).reshape(places_w.shape)


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
    x, y = terrain.axes
    centre, wide = np.asarray(river.centre(x)), _WIDEST * river.half_width_m
    rows = np.flatnonzero((y > centre.min() - wide) & (y < centre.max() + wide))
    y, spacing = y[rows], terrain.spacing_m
    depth = np.maximum(river.level_m - terrain.heights[rows].astype(float), 0.0)
    depth[~_of_river(depth, y, centre, wide)] = 0.0
    own = depth
    depth = smoothed(own, (0.0, _EVENED_M / spacing), beyond="edge")
    conveyance = depth ** (5.0 / 3.0)
    strips = 0.5 * (conveyance[1:] + conveyance[:-1])
    within = np.vstack([np.zeros((1, len(x))), np.cumsum(strips, axis=0)])
    areas = depth.sum(axis=0) * spacing
    stream_function = MEAN_MPS * median(areas) * within / np.maximum(within[-1], 1e-9)
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


LEVEL_RADIUS_M = 13.0
_BLEND_M = 16.0


@dataclass(frozen=True, slots=True, eq=False)
class Pad:
    """A level place to land."""

    name: str
    centre_w: np.ndarray
    """(3,) m, on the surface."""
    radius_m: float
    """Half the side of the slab."""
    heading_rad: float
    """Direction, about +z from +x, in which what has landed stands on it."""

    def standing_pose(self, height_m: float) -> np.ndarray:
        """(4, 4) T_wb of a body whose origin is `height_m` above its soles."""
        return pose_matrix(upright(self.heading_rad), self.centre_w + np.array([0.0, 0.0, height_m]))


def level_ground(
    heights: np.ndarray, xs: np.ndarray, ys: np.ndarray, site: np.ndarray, z_m: float
) -> np.ndarray:
    """Flatten `heights` to `z_m` around `site` (x, y), in place; returns the blend weight 0..1 per cell.

    Exactly flat within LEVEL_RADIUS_M, back to the natural ground over the next metres.
    """
    r = np.hypot(xs[None, :] - site[0], ys[:, None] - site[1])
    t = np.clip((LEVEL_RADIUS_M + _BLEND_M - r) / _BLEND_M, 0.0, 1.0)
    weight = t * t * (3.0 - 2.0 * t)
    heights += weight * (z_m - heights)
    heights[weight >= 1.0] = z_m
    return weight


_SPACING_M = 10.0
_CRUISE_M = 52.0
_HOVER_M = 22.0
_CLIMB_M = 170.0
_WALL_M = 24.0


def _free_interval(
    terrain: Terrain, x: np.ndarray, z: np.ndarray, centre: np.ndarray
) -> tuple[np.ndarray, ...]:
    """y of the nearest ground above z - 12 m on each side of the river, at each x."""
    offsets = np.arange(0.0, 260.0, 1.0)
    floor = z[:, None] - 12.0
    blocked_left = terrain.height(x[:, None], centre[:, None] + offsets) > floor
    blocked_right = terrain.height(x[:, None], centre[:, None] - offsets) > floor
    return centre - offsets[blocked_right.argmax(axis=1)], centre + offsets[blocked_left.argmax(axis=1)]


def canyon_path(terrain: Terrain, river: River, start: Pad, landing: Pad) -> np.ndarray:
    """(n, 3) points [m], 10 m apart in x, from above `start` to above `landing`.

    The way keeps between the walls at cruising height: the middle of the free width, smoothed, and
    pushed back wherever smoothing brought it within _WALL_M of a wall.
    """
    x = np.arange(start.centre_w[0], landing.centre_w[0] + 0.5 * _SPACING_M, _SPACING_M)
    x[-1] = landing.centre_w[0]
    from_start, to_end = x - x[0], x[-1] - x
    climb = np.clip(np.minimum(from_start, to_end) / _CLIMB_M, 0.0, 1.0)
    climb = climb * climb * (3.0 - 2.0 * climb)
    base = np.where(from_start < to_end, start.centre_w[2], landing.centre_w[2]) + _HOVER_M
    z = base + climb * (river.level_m + _CRUISE_M - base)
    low, high = _free_interval(terrain, x, z, np.asarray(river.centre(x)))
    margin = np.minimum(_WALL_M, 0.45 * (high - low))
    y = 0.5 * (low + high)
    near_pad = np.exp(-((np.minimum(from_start, to_end) / 42.0) ** 2))
    pad_y = np.where(from_start < to_end, start.centre_w[1], landing.centre_w[1])
    for _ in range(12):
        y = smoothed(np.clip(y, low + margin, high - margin), 2.5, beyond="edge")
        y = y + near_pad * (pad_y - y)
    return np.stack([x, y, z], axis=1)


def headings(path: np.ndarray) -> np.ndarray:
    """(n,) heading [rad] about +z from +x along a polyline (n, 3)."""
    step = np.gradient(path, axis=0)
    return np.unwrap(np.arctan2(step[:, 1], step[:, 0]))


def arc_length(path: np.ndarray) -> np.ndarray:
    """(n,) m from the first point of a polyline (n, 2 or 3) along it."""
    return np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]


def along_m(path: np.ndarray, x_w: np.ndarray) -> float:
    """How far along a polyline (n, 3) its nearest point to x_w (3,) is, seen from above [m]."""
    return float(_along(np.ascontiguousarray(path, float), float(x_w[0]), float(x_w[1])))


@native
def _along(path: np.ndarray, x_m: float, y_m: float) -> float:
    nearest, along, before = np.inf, 0.0, 0.0
    for k in range(path.shape[0] - 1):
        bx, by, bz = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1], path[k + 1, 2] - path[k, 2]
        dx, dy = x_m - path[k, 0], y_m - path[k, 1]
        part = min(max((dx * bx + dy * by) / max(bx * bx + by * by, 1e-12), 0.0), 1.0)
        off = (dx - part * bx) ** 2 + (dy - part * by) ** 2
        length = np.sqrt(bx * bx + by * by + bz * bz)
        if off < nearest:
            nearest, along = off, before + part * length
        before += length
    return along
