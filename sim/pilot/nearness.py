"""What it costs a boat to come near what stands about her berth: squares of how far discs along her hull are too near.

Solids are boxes (centre x, y, half length, half width [m], heading [rad], rounding [m]); a disc is a box of no size
that is rounded. The hull is discs on her axis (ahead [m], radius [m]).
"""

import math

import numpy as np

from sim.compiled import compiled
from sim.pilot.planar_craft import THETA, X, Y

MARGIN_M = 0.3
"""Nearer than this costs."""
_TOLERATED_M = 0.1
"""Of the margin: costs a half for each disc."""


@compiled
def nearness(
    solids: np.ndarray, hull: np.ndarray, state: np.ndarray, slope: np.ndarray, curve: np.ndarray
) -> float:
    """The cost; its gradient is added to slope (6,), its Gauss-Newton curvature to curve (6, 6)."""
    total = 0.0
    c, s = math.cos(state[THETA]), math.sin(state[THETA])
    for i in range(len(solids)):
        cs, sn = math.cos(solids[i, 4]), math.sin(solids[i, 4])
        for j in range(len(hull)):
            ahead = hull[j, 0]
            dx, dy = state[X] + c * ahead - solids[i, 0], state[Y] + s * ahead - solids[i, 1]
            qx, qy = cs * dx + sn * dy, -sn * dx + cs * dy
            ox, oy = abs(qx) - solids[i, 2], abs(qy) - solids[i, 3]
            if ox > 0.0 and oy > 0.0:
                away = math.sqrt(ox * ox + oy * oy)
                nx, ny = ox / away, oy / away
            elif ox > oy:
                away, nx, ny = ox, 1.0, 0.0
            else:
                away, nx, ny = oy, 0.0, 1.0
            short = (MARGIN_M + hull[j, 1] + solids[i, 5] - away) / _TOLERATED_M
            if short <= 0.0:
                continue
            total += 0.5 * short * short
            nx, ny = math.copysign(nx, qx), math.copysign(ny, qy)
            wx, wy = cs * nx - sn * ny, sn * nx + cs * ny
            at = (X, Y, THETA)
            turned = (-wx / _TOLERATED_M, -wy / _TOLERATED_M, ahead * (s * wx - c * wy) / _TOLERATED_M)
            for a in range(3):
                slope[at[a]] += short * turned[a]
                for b in range(3):
                    curve[at[a], at[b]] += turned[a] * turned[b]
    return total


def hull_discs(centre_m: tuple[float, float], half_m: tuple[float, float]) -> np.ndarray:
    """(n, 2) for a footprint that is longer than wide."""
    reach = max(half_m[0] - half_m[1], 0.0)
    count = max(math.ceil(2.0 * reach / max(half_m[1], 1e-6)), 1) + 1
    return np.column_stack([centre_m[0] + np.linspace(-reach, reach, count), np.full(count, half_m[1])])


def framed(solids: np.ndarray, place_w: np.ndarray, heading_rad: float) -> np.ndarray:
    """Solids (n, 6) as they are seen from a place (2,) with a heading."""
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    seen = solids.copy()
    seen[:, :2] = (solids[:, :2] - place_w) @ np.array([[c, -s], [s, c]])
    seen[:, 4] -= heading_rad
    return seen
