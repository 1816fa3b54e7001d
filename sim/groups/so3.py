"""SO(3): rotations R_wb, stored column by column; algebra: rotation vectors [rad]."""

import casadi as ca
import numpy as np

from sim.groups.base import (
    LieGroup,
    angle_minus_sin_over,
    cos_of,
    half_cot_remainder,
    one_minus_cos_over,
    sin_over,
)

ROTATION_COLUMNS = tuple(f"R_{row}{column}" for column in "123" for row in "123")
ANGULAR_COLUMNS = tuple(f"omega_{axis}_radps" for axis in "xyz")


def hat(w: ca.SX) -> ca.SX:
    """hat(a) b = a x b."""
    return ca.vertcat(
        ca.horzcat(0, -w[2], w[1]),
        ca.horzcat(w[2], 0, -w[0]),
        ca.horzcat(-w[1], w[0], 0),
    )


def vee(W: ca.SX) -> ca.SX:
    """vee(hat(w)) = w; takes the antisymmetric part."""
    return ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2


def rotation_exp(w: ca.SX) -> ca.SX:
    """Rodrigues' formula, 3x3 (vehicles paper, eq. 11)."""
    z, W = ca.dot(w, w), hat(w)
    return cos_of(z) * ca.SX.eye(3) + sin_over(z) * W + one_minus_cos_over(z) * (w @ w.T)


def left_jacobian(w: ca.SX) -> ca.SX:
    """sum W^k/(k+1)!, which carries the translation in exp on SE(3)."""
    z, W = ca.dot(w, w), hat(w)
    return ca.SX.eye(3) + one_minus_cos_over(z) * W + angle_minus_sin_over(z) * (W @ W)


def rotation_cay(w: ca.SX) -> ca.SX:
    """Cayley map, 3x3 (vehicles paper, eq. 12)."""
    W = hat(w)
    return ca.SX.eye(3) + 4 / (4 + ca.dot(w, w)) * (W + W @ W / 2)


def quaternion_of(R: ca.SX) -> ca.SX:
    """Unit quaternion (w, x, y, z) of a rotation, any angle: Shepperd's choice of the largest component."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    a = vee(R) * 2

    def with_largest(i: int) -> ca.SX:
        j, k = (i + 1) % 3, (i + 2) % 3
        s = ca.sqrt(ca.fmax(1 + R[i, i] - R[j, j] - R[k, k], 1e-30)) * 2
        q = ca.SX.zeros(4)
        q[0], q[1 + i] = a[i] / s, s / 4
        q[1 + j], q[1 + k] = (R[j, i] + R[i, j]) / s, (R[k, i] + R[i, k]) / s
        return q

    s = ca.sqrt(ca.fmax(1 + t, 1e-30)) * 2
    by_w = ca.vertcat(s / 4, a / s)
    by_axis = ca.if_else(
        ca.logic_and(R[0, 0] >= R[1, 1], R[0, 0] >= R[2, 2]),
        with_largest(0),
        ca.if_else(R[1, 1] >= R[2, 2], with_largest(1), with_largest(2)),
    )
    return ca.if_else(t > 0, by_w, by_axis)


def rotation_log(R: ca.SX) -> ca.SX:
    """Rotation vector, angle in [0, pi]."""
    q = quaternion_of(R)
    sign = ca.if_else(q[0] < 0, -1.0, 1.0)
    s2 = ca.dot(q[1:], q[1:])
    tiny = s2 < 1e-14
    s = ca.sqrt(ca.if_else(tiny, 1.0, s2))
    factor = ca.if_else(tiny, 2 * (1 + s2 / 6), 2 * ca.atan2(s, sign * q[0]) / s)
    return sign * factor * q[1:]


def turn_cosine(R: ca.SX) -> ca.SX:
    """Of the angle of a rotation."""
    return (ca.trace(R) - 1) / 2


def turn_sines(R: ca.SX) -> ca.SX:
    """(3,) axis times twice the sine of half the angle: a sine of the whole angle vanishes at half a turn, too."""
    return vee(R) / half_angle_cosine(turn_cosine(R))


def half_angle_cosine(cosine: ca.SX) -> ca.SX:
    """Of half an angle, with a derivative at half a turn."""
    return ca.sqrt((1 + cosine) / 2 + 1e-9)


def rotation_cay_inv(R: ca.SX) -> ca.SX:
    """cay(w) = R; the angle must stay below pi."""
    return 4 * vee(R) / (1 + R[0, 0] + R[1, 1] + R[2, 2])


def rotation_dexp_inv(w: ca.SX) -> ca.SX:
    """Right-trivialised: I - W/2 + g2 W^2 (mechanics survey, section 2.3, with alpha = |w|)."""
    W = hat(w)
    return ca.SX.eye(3) - W / 2 + half_cot_remainder(ca.dot(w, w)) * (W @ W)


def rotation_dcay_inv(w: ca.SX) -> ca.SX:
    """Right-trivialised: I - W/2 + w w'/4 (vehicles paper, eq. 14)."""
    return ca.SX.eye(3) - hat(w) / 2 + (w @ w.T) / 4


def rotation_dcay(w: ca.SX) -> ca.SX:
    """Inverse of it."""
    return (ca.SX.eye(3) + hat(w) / 2) / (1 + ca.dot(w, w) / 4)


def rotation_ccsk(w: ca.SX) -> ca.SX:
    """Canonical coordinates of the second kind: Rx(w1) Ry(w2) Rz(w3)."""
    return _about_x(w[0]) @ _about_y(w[1]) @ _about_z(w[2])


def rotation_dccsk_inv(w: ca.SX) -> ca.SX:
    """Right-trivialised inverse of d(Rx Ry Rz) = (e1, Rx e2, Rx Ry e3) dw; singular where |w2| = pi/2."""
    c1, s1, c2, s2 = ca.cos(w[0]), ca.sin(w[0]), ca.cos(w[1]), ca.sin(w[1])
    return ca.vertcat(
        ca.horzcat(1, s1 * s2 / c2, -c1 * s2 / c2),
        ca.horzcat(0, c1, s1),
        ca.horzcat(0, -s1 / c2, c1 / c2),
    )


def _about_x(a: ca.SX) -> ca.SX:
    c, s = ca.cos(a), ca.sin(a)
    return ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, c, -s), ca.horzcat(0, s, c))


def _about_y(a: ca.SX) -> ca.SX:
    c, s = ca.cos(a), ca.sin(a)
    return ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c))


def _about_z(a: ca.SX) -> ca.SX:
    c, s = ca.cos(a), ca.sin(a)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


def turned_by_columns(R: ca.SX) -> ca.SX:
    """(9, 3): derivative of vec(R exp(w)) by w at 0."""
    return ca.horzcat(*[ca.vec(R @ hat(ca.SX.eye(3)[:, i])) for i in range(3)])


class _SO3(LieGroup):
    name = "SO3"
    pose_dim = 9
    dim = 3
    columns = ROTATION_COLUMNS
    directions = ("omega_x", "omega_y", "omega_z")
    velocity_columns = ANGULAR_COLUMNS
    twist_embedding = np.eye(6)[:, :3]

    def identity(self) -> np.ndarray:
        return np.eye(3).ravel()

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        return ca.vec(ca.reshape(g, 3, 3) @ ca.reshape(k, 3, 3))

    def inverse(self, g: ca.SX) -> ca.SX:
        return ca.vec(ca.reshape(g, 3, 3).T)

    def exp(self, x: ca.SX) -> ca.SX:
        return ca.vec(rotation_exp(x))

    def log(self, g: ca.SX) -> ca.SX:
        return rotation_log(ca.reshape(g, 3, 3))

    def cay(self, x: ca.SX) -> ca.SX:
        return ca.vec(rotation_cay(x))

    def cay_inv(self, g: ca.SX) -> ca.SX:
        return rotation_cay_inv(ca.reshape(g, 3, 3))

    def Ad(self, g: ca.SX) -> ca.SX:
        return ca.reshape(g, 3, 3)

    def ad(self, x: ca.SX) -> ca.SX:
        return hat(x)

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        return rotation_dexp_inv(x)

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        return rotation_dcay_inv(x)

    def dcay(self, x: ca.SX) -> ca.SX:
        return rotation_dcay(x)

    def ccsk(self, x: ca.SX) -> ca.SX:
        return ca.vec(rotation_ccsk(x))

    def dccsk_inv(self, x: ca.SX) -> ca.SX:
        return rotation_dccsk_inv(x)

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return turned_by_columns(ca.reshape(g, 3, 3))

    def embedded(self, g: ca.SX) -> ca.SX:
        return ca.diagcat(ca.reshape(g, 3, 3), 1)

    def from_space(self, T: np.ndarray) -> np.ndarray:
        return self.from_matrix(T[:3, :3])

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        return np.swapaxes(g.reshape(*g.shape[:-1], 3, 3), -1, -2).copy()

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        return np.asarray(matrix, float).T.ravel().copy()


SO3 = _SO3()
