"""Ground that a plan must stay above: a smooth surface over the terrain grown by the vehicle's own size.

Height over a cliff says nothing about the distance to its wall. Heights are therefore first dilated by
a ball of the wanted distance; above the dilated ground a point is that far from the real one in every
direction. A cubic B-spline whose control points are local maxima of it lies on top of it and is twice
differentiable everywhere.
"""

import hashlib
import math
from functools import cached_property

import numpy as np

from sim.native.function import native
from sim.platform.values import dataclass
from sim.world.terrain import Terrain

_VALUE = np.array([[1, 4, 1, 0], [-3, 0, 3, 0], [3, -6, 3, 0], [-1, 3, -3, 1]]) / 6.0
_SLOPE = np.diag([1.0, 2.0, 3.0], 1)
_BASIS = np.stack([_VALUE, _SLOPE @ _VALUE, _SLOPE @ _SLOPE @ _VALUE])
"""(derivative, power of t, control point): the uniform cubic B-spline's four pieces over one cell."""
_FAR_M = 1e4


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
    held_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What of a vehicle is to stay above: a point in the frame of its main body [m], middle of the ball around it."""

    @cached_property
    def key(self) -> str:
        """Names this very surface."""
        numbers = np.array([*self.origin_m, self.spacing_m, self.margin_m, *self.held_b])
        return hashlib.sha256(self.control_m.tobytes() + numbers.tobytes()).hexdigest()[:16]

    @classmethod
    def level(cls, height_m: float) -> "SafeGround":
        """A floor at that height, which trees of joints keep above."""
        flat = Terrain(np.full((2, 2), height_m, np.float32), (-_FAR_M, -_FAR_M), 2.0 * _FAR_M)
        return cls(np.full((4, 4), float(height_m)), (-3.0 * _FAR_M, -3.0 * _FAR_M), 2.0 * _FAR_M, flat, 0.0)

    @property
    def highest_m(self) -> float:
        """The surface is nowhere above that."""
        return float(self.control_m.max())

    @property
    def domain(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners (low, high) of the part of the plane where it is defined."""
        low = np.array(self.origin_m)
        return low + self.spacing_m, low + self.spacing_m * (np.array(self.control_m.shape) - 2)

    def held_w(self, T_wb: np.ndarray) -> np.ndarray:
        """(n, 3) where what is held is, of main bodies at poses (n, 4, 4)."""
        return np.asarray(T_wb[:, :3, :3] @ np.array(self.held_b) + T_wb[:, :3, 3])

    def above_m(self, T_wb: np.ndarray) -> np.ndarray:
        """(n,) how far above the surface that is."""
        held_w = self.held_w(T_wb)
        return np.asarray(held_w[:, 2] - self.height(held_w[:, 0], held_w[:, 1]))

    def upright_m(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
        """About the least z [m] of the frame of an upright body at points (n,), whatever its heading."""
        return self.height(x_m, y_m) - self.held_b[2]

    def height(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
        """z [m] of the surface at points (n,), clamped to the domain."""
        at_w = np.stack([np.atleast_1d(x_m), np.atleast_1d(y_m)], axis=1)
        return self.jets(np.clip(at_w, *self.domain))[:, 0]

    def jets(self, at_w: np.ndarray) -> np.ndarray:
        """(n, 6) height, gradient (2) and second derivatives (xx, xy, yy) at points (n, 2); extrapolated outside."""
        out = np.empty((len(at_w), 6))
        spline_jets(self.control_m, *self.origin_m, self.spacing_m, np.asarray(at_w, float), out)
        return out


@native
def spline_jets(
    control: np.ndarray, x0: float, y0: float, spacing: float, at_w: np.ndarray, out: np.ndarray
) -> None:
    """Write the jets of a bicubic spline at points (n, 2) to out (n, 6)."""
    along_x, along_y, rows = np.empty((3, 4)), np.empty((3, 4)), np.empty((3, 4))
    for k in range(at_w.shape[0]):
        i = _weights((at_w[k, 0] - x0) / spacing, spacing, control.shape[0], along_x)
        j = _weights((at_w[k, 1] - y0) / spacing, spacing, control.shape[1], along_y)
        for d in range(3):
            for c in range(4):
                rows[d, c] = 0.0
                for r in range(4):
                    rows[d, c] += along_x[d, r] * control[i + r, j + c]
        entry = 0
        for order in range(3):
            for d in range(order + 1):
                total = 0.0
                for c in range(4):
                    total += rows[order - d, c] * along_y[d, c]
                out[k, entry] = total
                entry += 1


@native
def _weights(u: float, spacing: float, count: int, out: np.ndarray) -> int:
    """First control point of the cell of u, and in out (3, 4) the weights of value and derivatives there."""
    floor = np.floor(u)
    # Asked this way round, a number that is none gets a cell too.
    if not floor >= 1.0:
        floor = 1.0
    if floor > count - 3.0:
        floor = count - 3.0
    t, unit = u - floor, 1.0
    for d in range(3):
        for c in range(4):
            out[d, c] = unit * (
                _BASIS[d, 0, c] + t * (_BASIS[d, 1, c] + t * (_BASIS[d, 2, c] + t * _BASIS[d, 3, c]))
            )
        unit /= spacing
    return int(floor) - 1


def safe_ground(
    terrain: Terrain,
    *,
    margin_m: float,
    low_m: tuple[float, float],
    high_m: tuple[float, float],
    spacing_m: float = 3.0,
    held_b: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> SafeGround:
    """The surface over the part of `terrain` between two corners, `margin_m` away from the ground everywhere.

    held_b: what of a vehicle stays above it, in the frame of its main body.
    """
    from scipy.ndimage import maximum_filter  # takes a while, and few tasks are over ground

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
        np.ascontiguousarray(control),
        (float(axes[0][0]), float(axes[1][0])),
        spacing_m,
        terrain,
        margin_m,
        held_b,
    )


def _dilated(heights: np.ndarray, radius_m: float, spacing_m: float) -> np.ndarray:
    """Upper envelope of balls of a radius rolled over the heights."""
    from scipy.ndimage import grey_dilation  # as above

    if radius_m <= 0.0:
        return heights
    n = int(radius_m / spacing_m)
    offset = spacing_m * np.arange(-n, n + 1)
    square = radius_m**2 - offset[:, None] ** 2 - offset[None, :] ** 2
    ball = np.where(square >= 0, np.sqrt(np.maximum(square, 0.0)), -np.inf)
    lift = np.where(np.isfinite(ball), ball, -1e9)
    return grey_dilation(heights, footprint=square >= 0, structure=lift, mode="nearest")
