"""Landing pads: where they go, and the ground levelled for them."""

from dataclasses import dataclass

import numpy as np

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
