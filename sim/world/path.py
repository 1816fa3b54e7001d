"""Landing pads, the ground levelled for them, and a safe way down the canyon from one to the other."""

from dataclasses import dataclass

import numpy as np

from sim.world.river import River
from sim.world.terrain import Terrain

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
        c, s = np.cos(self.heading_rad), np.sin(self.heading_rad)
        T_wb = np.eye(4)
        T_wb[:2, :2] = [[c, -s], [s, c]]
        T_wb[:3, 3] = self.centre_w + np.array([0.0, 0.0, height_m])
        return T_wb


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
    from scipy.ndimage import gaussian_filter1d  # takes a while, and grown worlds are kept

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
        y = gaussian_filter1d(np.clip(y, low + margin, high - margin), 2.5, mode="nearest")
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
    begin, by = path[:-1, :2], np.diff(path[:, :2], axis=0)
    length_2 = np.maximum((by**2).sum(axis=1), 1e-12)
    fraction = np.clip(((x_w[:2] - begin) * by).sum(axis=1) / length_2, 0.0, 1.0)
    off = np.linalg.norm(begin + fraction[:, None] * by - x_w[:2], axis=1)
    k = int(np.argmin(off))
    arc_m = arc_length(path)
    return float(arc_m[k] + fraction[k] * (arc_m[k + 1] - arc_m[k]))
