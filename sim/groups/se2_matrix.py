"""SE(2) stored as (cos theta, sin theta, x, y): composing poses needs no trigonometry at all.

With a rational map from velocity to displacement a whole step of a planar integrator is then rational.
The algebra, and all differentials, are those of SE(2).

An odd map on SE(2) is a turn and a chord: the displacement of the velocity (w, v) is
V(w) v with V = along + i across in complex numbers, and the turn is 1 + i w V(w).
"""

from collections.abc import Callable

import casadi as ca
import numpy as np

from sim.groups.se2 import _SE2

Chord = Callable[[ca.SX], tuple[ca.SX, ca.SX]]


def exp_chord(w: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A turn by w moves along its chord, which is shorter than the arc by sin(w/2)/(w/2)."""
    half, none = w / 2, w == 0
    s = ca.sin(half)
    shortened = (s + none) / (half + none)
    return shortened * ca.cos(half), shortened * s


def cay_chord(w: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Vehicles paper, appendix B: w/2 is the tangent of half the angle."""
    half = w / 2
    k = 1 / (1 + half * half)
    return k, half * k


def pade_chord(w: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Of the third diagonal Pade approximant of exp, of which cay is the first: rational, odd, and on the group.

    The turn is n / conj(n) with n = a + i b. Its angle is that of exp to 1e-12 while w < 0.1, to 1e-7 while w < 0.5.
    """
    z = w * w
    a, b = 120 - 12 * z, w * (60 - z)
    k = (120 - 2 * z) / (a * a + b * b)
    return k * a, k * b


class _SE2Matrix(_SE2):
    name = "SE2-matrix"
    pose_dim = 4
    position = slice(2, 4)
    columns = ("cos_heading", "sin_heading", "x_m", "y_m")

    def identity(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def from_angle(self, g: ca.SX) -> ca.SX:
        """Of a pose stored as (theta, x, y)."""
        return ca.vertcat(ca.cos(g[0]), ca.sin(g[0]), g[1:])

    def to_angle(self, g: ca.SX) -> ca.SX:
        """(theta, x, y) with theta in (-pi, pi]."""
        return ca.vertcat(ca.atan2(g[1], g[0]), g[2:])

    def moved(self, g: ca.SX, x: ca.SX, chord: Chord) -> ca.SX:
        """g tau(x), the chord turned into the world first: it then serves both the turn and the displacement."""
        along, across = chord(x[0])
        # One Newton step of c^2 + s^2 towards 1 keeps rounding from adding up over millions of steps.
        unit = 1.5 - (g[0] * g[0] + g[1] * g[1]) / 2
        forward, left = g[0] * along - g[1] * across, g[0] * across + g[1] * along
        turned = ca.vertcat(unit * (g[0] - x[0] * left), unit * (g[1] + x[0] * forward))
        return ca.vertcat(turned, g[2] + x[1] * forward - x[2] * left, g[3] + x[1] * left + x[2] * forward)

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        c, s = g[0] * k[0] - g[1] * k[1], g[1] * k[0] + g[0] * k[1]
        return ca.vertcat(c, s, g[2] + g[0] * k[2] - g[1] * k[3], g[3] + g[1] * k[2] + g[0] * k[3])

    def between(self, g: ca.SX, k: ca.SX) -> ca.SX:
        return self.compose(self.inverse(g), k)

    def inverse(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(g[0], -g[1], -(g[0] * g[2] + g[1] * g[3]), g[1] * g[2] - g[0] * g[3])

    def exp(self, x: ca.SX) -> ca.SX:
        return self.moved(ca.SX(self.identity()), x, exp_chord)

    def log(self, g: ca.SX) -> ca.SX:
        return super().log(self.to_angle(g))

    def cay(self, x: ca.SX) -> ca.SX:
        return self.moved(ca.SX(self.identity()), x, cay_chord)

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

    def embedded(self, g: ca.SX) -> ca.SX:
        return super().embedded(self.to_angle(g))

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        return super().to_matrix(np.stack([np.arctan2(g[..., 1], g[..., 0]), g[..., 2], g[..., 3]], -1))

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        T = np.asarray(matrix, float)
        return np.array([T[0, 0], T[1, 0], T[0, 2], T[1, 2]])


SE2_MATRIX = _SE2Matrix()
