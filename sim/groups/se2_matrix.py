"""SE(2) stored as (cos theta, sin theta, x, y): composing poses needs no trigonometry at all.

With the Cayley map a whole step of a planar integrator is then rational. The algebra, and all
differentials, are those of SE(2).
"""

import casadi as ca
import numpy as np

from sim.groups.se2 import _SE2


class _SE2Matrix(_SE2):
    name = "SE2-matrix"
    pose_dim = 4

    def identity(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def from_angle(self, g: ca.SX) -> ca.SX:
        """Of a pose stored as (theta, x, y)."""
        return ca.vertcat(ca.cos(g[0]), ca.sin(g[0]), g[1:])

    def to_angle(self, g: ca.SX) -> ca.SX:
        """(theta, x, y) with theta in (-pi, pi]."""
        return ca.vertcat(ca.atan2(g[1], g[0]), g[2:])

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        # One Newton step of c^2 + s^2 towards 1 keeps rounding from adding up over millions of steps.
        unit = 1.5 - (g[0] * g[0] + g[1] * g[1]) / 2
        c, s = unit * (g[0] * k[0] - g[1] * k[1]), unit * (g[1] * k[0] + g[0] * k[1])
        return ca.vertcat(c, s, g[2] + g[0] * k[2] - g[1] * k[3], g[3] + g[1] * k[2] + g[0] * k[3])

    def inverse(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(g[0], -g[1], -(g[0] * g[2] + g[1] * g[3]), g[1] * g[2] - g[0] * g[3])

    def exp(self, x: ca.SX) -> ca.SX:
        """By half angles: a turn by w moves along its chord, which is shorter by sin(w/2)/(w/2)."""
        half = x[0] / 2
        s, c, none = ca.sin(half), ca.cos(half), half == 0
        shortened = (s + none) / (half + none)
        along, across = shortened * c, shortened * s
        rotation = ca.vertcat(1 - 2 * s * s, 2 * s * c)
        return ca.vertcat(rotation, along * x[1] - across * x[2], across * x[1] + along * x[2])

    def log(self, g: ca.SX) -> ca.SX:
        return super().log(self.to_angle(g))

    def cay(self, x: ca.SX) -> ca.SX:
        """Vehicles paper, appendix B, in t = w/2, the tangent of half the angle."""
        t = x[0] / 2
        k = 1 / (1 + t * t)
        return ca.vertcat((1 - t * t) * k, 2 * t * k, (x[1] - t * x[2]) * k, (x[2] + t * x[1]) * k)

    def pade(self, x: ca.SX) -> ca.SX:
        """Fourth diagonal Pade approximant of exp, of which cay is the first: rational, odd, and on the group.

        With e^{iw} = n / conj(n), its angle is that of exp to rounding while w < 0.1, to 1e-10 while w < 0.5.
        """
        w, z = x[0], x[0] * x[0]
        a, b = 1680 + z * (z - 180), w * (840 - 20 * z)
        k = 1 / (a * a + b * b)
        along, across = (1680 - 40 * z) * a * k, (1680 - 40 * z) * b * k
        rotation = ca.vertcat((a * a - b * b) * k, 2 * a * b * k)
        return ca.vertcat(rotation, along * x[1] - across * x[2], across * x[1] + along * x[2])

    def cay_inv(self, g: ca.SX) -> ca.SX:
        return super().cay_inv(self.to_angle(g))

    def Ad(self, g: ca.SX) -> ca.SX:
        return super().Ad(self.to_angle(g))

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(
            ca.horzcat(-g[1], 0, 0),
            ca.horzcat(g[0], 0, 0),
            ca.horzcat(0, g[0], -g[1]),
            ca.horzcat(0, g[1], g[0]),
        )

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        return super().to_matrix(np.stack([np.arctan2(g[..., 1], g[..., 0]), g[..., 2], g[..., 3]], -1))

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        T = np.asarray(matrix, float)
        return np.array([T[0, 0], T[1, 0], T[0, 2], T[1, 2]])


SE2_MATRIX = _SE2Matrix()
