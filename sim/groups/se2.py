"""SE(2): planar poses (theta, x, y); algebra: body velocities (omega, vx, vy) (vehicles paper, appendix B)."""

from collections.abc import Callable

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup, half_cot_remainder, one_minus_cos_over, sin_over


def plane_rotation(theta: ca.SX) -> ca.SX:
    """2x2."""
    c, s = ca.cos(theta), ca.sin(theta)
    return ca.blockcat([[c, -s], [s, c]])


def heading_of(g: ca.SX) -> ca.SX:
    """Angle of the body's x axis from the world's, counter-clockwise."""
    return g[0]


class _SE2(LieGroup):
    name = "SE2"
    pose_dim = 3
    dim = 3
    position = slice(1, 3)
    columns: tuple[str, ...] = ("heading_rad", "x_m", "y_m")
    velocity_columns = ("omega_z_radps", "v_x_mps", "v_y_mps")
    directions = ("omega", "v_x", "v_y")
    twist_embedding = np.eye(6)[:, [2, 3, 4]]

    def identity(self) -> np.ndarray:
        return np.zeros(3)

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        return ca.vertcat(g[0] + k[0], g[1:] + plane_rotation(g[0]) @ k[1:])

    def inverse(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(-g[0], -(plane_rotation(g[0]).T @ g[1:]))

    def between(self, g: ca.SX, k: ca.SX) -> ca.SX:
        apart = self.compose(self.inverse(g), k)
        return ca.vertcat(ca.atan2(ca.sin(apart[0]), ca.cos(apart[0])), apart[1:])

    def exp(self, x: ca.SX) -> ca.SX:
        z = x[0] * x[0]
        s, c = sin_over(z), one_minus_cos_over(z) * x[0]
        return ca.vertcat(x[0], s * x[1] - c * x[2], c * x[1] + s * x[2])

    def log(self, g: ca.SX) -> ca.SX:
        """Of the stored angle, which is not wrapped."""
        z = g[0] * g[0]
        a = 1 - z * half_cot_remainder(z)
        return ca.vertcat(g[0], a * g[1] + g[0] / 2 * g[2], a * g[2] - g[0] / 2 * g[1])

    def cay(self, x: ca.SX) -> ca.SX:
        """Diagonal 4 - w^2 (vehicles paper, appendix B, sign corrected); the angle is 2 atan(w/2)."""
        w, d = x[0], 4 + x[0] * x[0]
        return ca.vertcat(2 * ca.atan(w / 2), (4 * x[1] - 2 * w * x[2]) / d, (4 * x[2] + 2 * w * x[1]) / d)

    def cay_inv(self, g: ca.SX) -> ca.SX:
        w = 2 * ca.tan(g[0] / 2)
        return ca.vertcat(w, g[1] + w / 2 * g[2], g[2] - w / 2 * g[1])

    def Ad(self, g: ca.SX) -> ca.SX:
        R = plane_rotation(g[0])
        return ca.blockcat([[ca.SX(1), ca.SX(1, 2)], [ca.vertcat(g[2], -g[1]), R]])

    def ad(self, x: ca.SX) -> ca.SX:
        return ca.vertcat(
            ca.SX(1, 3),
            ca.horzcat(x[2], 0, -x[0]),
            ca.horzcat(-x[1], x[0], 0),
        )

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        a = self.ad(x)
        return ca.SX.eye(3) - a / 2 + half_cot_remainder(x[0] * x[0]) * (a @ a)

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        """I - ad/2 + (w/4) [x 0 0] (vehicles paper, appendix B)."""
        return ca.SX.eye(3) - self.ad(x) / 2 + x[0] / 4 * ca.horzcat(x, ca.SX(3, 2))

    def dcay(self, x: ca.SX) -> ca.SX:
        return (ca.SX.eye(3) + self.ad(x) / 2) / (1 + x[0] * x[0] / 4)

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return ca.diagcat(ca.SX(1), plane_rotation(g[0]))

    def embedded(self, g: ca.SX) -> ca.SX:
        R = ca.diagcat(plane_rotation(g[0]), 1)
        return ca.blockcat([[R, ca.vertcat(g[1:], 0)], [ca.SX(1, 3), ca.SX(1)]])

    def from_space(self, T: np.ndarray) -> np.ndarray:
        return self.from_matrix(T[np.ix_([0, 1, 3], [0, 1, 3])])

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        T = np.zeros((*g.shape[:-1], 3, 3))
        c, s = np.cos(g[..., 0]), np.sin(g[..., 0])
        T[..., 0, 0], T[..., 0, 1], T[..., 1, 0], T[..., 1, 1] = c, -s, s, c
        T[..., :2, 2] = g[..., 1:]
        T[..., 2, 2] = 1.0
        return T

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        T = np.asarray(matrix, float)
        return np.array([np.arctan2(T[1, 0], T[0, 0]), T[0, 2], T[1, 2]])


SE2 = _SE2()


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
