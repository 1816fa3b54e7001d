"""Ground that a plan must stay above: a smooth surface over the terrain grown by the vehicle's own size.

Height over a cliff says nothing about the distance to its wall. Heights are therefore first dilated by
a ball of the wanted distance; above the dilated ground a point is that far from the real one in every
direction. A cubic B-spline whose control points are local maxima of it lies on top of it and is twice
differentiable everywhere.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from scipy.interpolate import BSpline
from scipy.ndimage import grey_dilation, maximum_filter

from sim.world.terrain import Terrain


@dataclass(frozen=True, eq=False)
class SafeGround:
    """Uniform bicubic B-spline over world (x, y)."""

    control_m: np.ndarray
    """(nx, ny) heights of the control points."""
    origin_m: tuple[float, float]
    """(x, y) of control point [0, 0]."""
    spacing_m: float
    terrain: Terrain
    """What it was made of."""
    margin_m: float
    """Distance from the terrain that staying above guarantees."""

    @cached_property
    def key(self) -> str:
        """Names this very surface."""
        numbers = np.array([*self.origin_m, self.spacing_m, self.margin_m])
        return hashlib.sha256(self.control_m.tobytes() + numbers.tobytes()).hexdigest()[:16]

    @property
    def knots(self) -> tuple[np.ndarray, np.ndarray]:
        """Knots along x and y."""
        along_x, along_y = (
            o + self.spacing_m * (np.arange(n + 4) - 2.0)
            for o, n in zip(self.origin_m, self.control_m.shape, strict=True)
        )
        return along_x, along_y

    @property
    def domain(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners (low, high) of the part of the plane where it is defined."""
        kx, ky = self.knots
        return np.array([kx[3], ky[3]]), np.array([kx[-4], ky[-4]])

    def height(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
        """z [m] of the surface at points (n,), clamped to the domain."""
        low, high = self.domain
        kx, ky = self.knots
        x = np.clip(np.atleast_1d(x_m), low[0], high[0] - 1e-9)
        y = np.clip(np.atleast_1d(y_m), low[1], high[1] - 1e-9)
        rows = BSpline.design_matrix(x, kx, 3) @ self.control_m
        return np.einsum("ij,ij->i", rows, BSpline.design_matrix(y, ky, 3).toarray())

    def jet(self) -> ca.Function:
        """(x, y) -> height, gradient (2), second derivatives (xx, xy, yy), as a (6, 1) column."""
        at = ca.MX.sym("at", 2)
        coefficients = ca.DM(self.control_m.T.ravel())
        height = ca.bspline(at, coefficients, [list(k) for k in self.knots], [3, 3], 1, {})
        gradient = ca.jacobian(height, at).T
        second = ca.jacobian(gradient, at)
        return ca.Function(
            "jet", [at], [ca.vertcat(height, gradient, second[0, 0], second[0, 1], second[1, 1])]
        )


def safe_ground(
    terrain: Terrain,
    *,
    margin_m: float,
    low_m: tuple[float, float],
    high_m: tuple[float, float],
    spacing_m: float = 3.0,
) -> SafeGround:
    """The surface over the part of `terrain` between two corners, `margin_m` away from the ground everywhere."""
    pad = margin_m + 4.0 * spacing_m
    count = [max(4, math.ceil((b - a + 2 * pad) / spacing_m) + 1) for a, b in zip(low_m, high_m, strict=True)]
    fine = max(1, round(spacing_m / max(terrain.spacing_m, spacing_m / 3.0)))
    axes = [
        a - pad + spacing_m / fine * np.arange((n - 1) * fine + 1) for a, n in zip(low_m, count, strict=True)
    ]
    ground = terrain.height(axes[0][:, None], axes[1][None, :])
    grown = _dilated(ground, margin_m, spacing_m / fine)
    reach = 3 * fine
    control = maximum_filter(grown, size=reach if reach % 2 else reach + 1, mode="nearest")[::fine, ::fine]
    return SafeGround(
        np.ascontiguousarray(control), (float(axes[0][0]), float(axes[1][0])), spacing_m, terrain, margin_m
    )


def _dilated(heights: np.ndarray, radius_m: float, spacing_m: float) -> np.ndarray:
    """Upper envelope of balls of a radius rolled over the heights."""
    if radius_m <= 0.0:
        return heights
    n = int(radius_m / spacing_m)
    offset = spacing_m * np.arange(-n, n + 1)
    square = radius_m**2 - offset[:, None] ** 2 - offset[None, :] ** 2
    ball = np.where(square >= 0, np.sqrt(np.maximum(square, 0.0)), -np.inf)
    lift = np.where(np.isfinite(ball), ball, -1e9)
    return grey_dilation(heights, footprint=square >= 0, structure=lift, mode="nearest")
