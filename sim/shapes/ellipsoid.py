"""An ellipsoid turned about the vertical."""

from dataclasses import dataclass, replace
from typing import Self

import casadi as ca
import numpy as np

from sim.shapes.shape import Oriented, from_place
from sim.shapes.solid import Solid, points_of, pose
from sim.shapes.surface import Surface, ellipsoid_surface, upright

_ROUNDS, _BISECTIONS = 8, 60
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Ellipsoid(Oriented):
    """An ellipsoid turned about the vertical; on a plane it is met at its own height."""

    kind = "ellipsoid"
    size = 7
    turns = True

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        c, s = ca.cos(q[6]), ca.sin(q[6])
        d, half = x - q[:3], q[3:6]
        local = ca.vertcat(c * d[0] + s * d[1], -s * d[0] + c * d[1], d[2])
        out = ca.sqrt(ca.sumsqr(local / half) + _LEAST)
        # The nearest point is half^2 local / (half^2 + t), whose t Newton's method finds from the one of a ball, along
        # a function that is straight for a ball.
        t = ca.SX(0)
        for _ in range(_ROUNDS):
            spread = half**2 + t
            square = ca.sumsqr(half * local / spread) + _LEAST
            slope = ca.sum1((half * local) ** 2 / spread**3) / (square * ca.sqrt(square)) + _LEAST
            t = ca.fmax(t + (1.0 - 1.0 / ca.sqrt(square)) / slope, 0)
        away = ca.sqrt(ca.sumsqr(t * local / (half**2 + t)) + _LEAST)
        return ca.if_else(out > 1, away, (out - 1) * ca.mmin(half)) - margin

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        d = from_place(self.centre_w, points_w).T @ upright(self.heading_rad)
        half = np.array(self.half_m, float)
        # On an axis or in the middle of it every way out is as short: a hair beside is like any of them.
        local = np.maximum(np.abs(d), 1e-9 * half.min())
        # By bisection for t, between where the point would lie on a thinnest ellipsoid and far outside.
        low, high = np.full(len(d), -(half.min() ** 2)), half.max() * np.linalg.norm(local, axis=1)
        for _ in range(_BISECTIONS):
            t = 0.5 * (low + high)
            over = ((half * local / np.maximum(half**2 + t[:, None], 1e-300)) ** 2).sum(axis=1) > 1.0
            low, high = np.where(over, t, low), np.where(over, high, t)
        nearest = half**2 * local / np.maximum(half**2 + high[:, None], 1e-300)
        away: np.ndarray = np.linalg.norm(local - nearest, axis=1)
        return np.where(((local / half) ** 2).sum(axis=1) > 1.0, away, -away)

    def thickened(self, half_m: float) -> Self:
        share = max(half_m / max(self.half_thickness_m, 1e-9), 1.0)
        x, y, z = (share * half for half in self.half_m)
        return replace(self, half_m=(x, y, z))

    def solid(self) -> Solid:
        half, point = np.array(self.half_m, float), points_of(np.zeros((1, 3)))
        volume, gyration = 4.0 / 3.0 * np.pi * float(half.prod()), (np.sum(half**2) - half**2) / 5.0
        T_w, inner = pose(upright(self.heading_rad), self.centre_w), float(half.min())
        return Solid(T_w, volume, gyration, point, point, 1.0, 0.8, stretch=half, inner_m=inner)

    def surface(self) -> Surface:
        return self.placed(ellipsoid_surface(np.array(self.half_m, float)))
