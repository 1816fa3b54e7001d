"""SE(3): poses (R_wb, x_w), stored as R column by column then x; algebra: body twists (omega, v)."""

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup, half_cot_remainder, half_cot_remainder_slope
from sim.groups.so3 import (
    ANGULAR_COLUMNS,
    ROTATION_COLUMNS,
    hat,
    left_jacobian,
    rotation_cay,
    rotation_cay_inv,
    rotation_ccsk,
    rotation_dcay,
    rotation_dcay_inv,
    rotation_dccsk_inv,
    rotation_dexp_inv,
    rotation_exp,
    rotation_log,
    turned_by_columns,
)


def rotation_of(g: ca.SX) -> ca.SX:
    """R_wb, 3x3."""
    return ca.reshape(g[:9], 3, 3)


def position_of(g: ca.SX) -> ca.SX:
    """x_w, (3,) m."""
    return g[9:12]


def pose(R: ca.SX, x: ca.SX) -> ca.SX:
    """Flat element of R_wb and x_w."""
    return ca.vertcat(ca.vec(R), x)


def _translation_factor(w: ca.SX) -> ca.SX:
    """(I - W/2)^-1."""
    return (4 * ca.SX.eye(3) + 2 * hat(w) + w @ w.T) / (4 + ca.dot(w, w))


class _SE3(LieGroup):
    name = "SE3"
    pose_dim = 12
    dim = 6
    position = slice(9, 12)
    columns = (*ROTATION_COLUMNS, "x_m", "y_m", "z_m")
    velocity_columns = (*ANGULAR_COLUMNS, "v_x_mps", "v_y_mps", "v_z_mps")
    directions = ("omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z")
    twist_embedding = np.eye(6)

    def identity(self) -> np.ndarray:
        return np.r_[np.eye(3).ravel(), np.zeros(3)]

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        R = rotation_of(g)
        return pose(R @ rotation_of(k), position_of(g) + R @ position_of(k))

    def inverse(self, g: ca.SX) -> ca.SX:
        R = rotation_of(g)
        return pose(R.T, -(R.T @ position_of(g)))

    def exp(self, x: ca.SX) -> ca.SX:
        return pose(rotation_exp(x[:3]), left_jacobian(x[:3]) @ x[3:])

    def log(self, g: ca.SX) -> ca.SX:
        w, x = rotation_log(rotation_of(g)), position_of(g)
        W = hat(w)
        # Inverse of the left Jacobian: the same series as dexp^-1.
        inverse = ca.SX.eye(3) - W / 2 + half_cot_remainder(ca.dot(w, w)) * (W @ W)
        return ca.vertcat(w, inverse @ x)

    def cay(self, x: ca.SX) -> ca.SX:
        """Translation factor (I - W/2)^-1 (vehicles paper, eq. 13, corrected: the printed factor is dcay of SO(3))."""
        return pose(rotation_cay(x[:3]), _translation_factor(x[:3]) @ x[3:])

    def cay_inv(self, g: ca.SX) -> ca.SX:
        w = rotation_cay_inv(rotation_of(g))
        x = position_of(g)
        return ca.vertcat(w, x - ca.cross(w, x) / 2)

    def Ad(self, g: ca.SX) -> ca.SX:
        R = rotation_of(g)
        return ca.blockcat([[R, ca.SX(3, 3)], [hat(position_of(g)) @ R, R]])

    def ad(self, x: ca.SX) -> ca.SX:
        W = hat(x[:3])
        return ca.blockcat([[W, ca.SX(3, 3)], [hat(x[3:]), W]])

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        """[[A, 0], [D_v A, A]] with A that of SO(3): ad of (omega, v) is hat of the dual vector omega + eps v."""
        w, v = x[:3], x[3:]
        W, V, z = hat(w), hat(v), ca.dot(w, w)
        A = rotation_dexp_inv(w)
        along_v = (
            -V / 2
            + half_cot_remainder(z) * (W @ V + V @ W)
            + 2 * ca.dot(w, v) * half_cot_remainder_slope(z) * (W @ W)
        )
        return ca.blockcat([[A, ca.SX(3, 3)], [along_v, A]])

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        """Vehicles paper, eq. 14."""
        w, v = x[:3], x[3:]
        half = ca.SX.eye(3) - hat(w) / 2
        return ca.blockcat([[rotation_dcay_inv(w), ca.SX(3, 3)], [-(half @ hat(v)) / 2, half]])

    def dcay(self, x: ca.SX) -> ca.SX:
        D = rotation_dcay(x[:3])
        return ca.blockcat([[D, ca.SX(3, 3)], [hat(x[3:]) @ D / 2, _translation_factor(x[:3])]])

    def dcay_balance(self, x: ca.SX, mu: ca.SX, given: ca.SX) -> ca.SX:
        """dcay_inv' is [[A', v/2 x half'], [0, half']]: below it says what mu_v has to be, which is needed above."""
        w, v, push = x[:3], x[3:], given[3:]
        half_inv_push = (push - ca.cross(w, push) / 2 + w * (ca.dot(w, push) / 4)) / (1 + ca.dot(w, w) / 4)
        turning = rotation_dcay_inv(w).T @ mu[:3] + ca.cross(v, push) / 2
        return ca.vertcat(turning - given[:3], mu[3:] - half_inv_push)

    def ccsk(self, x: ca.SX) -> ca.SX:
        R = rotation_ccsk(x[:3])
        return pose(R, R @ x[3:])

    def dccsk_inv(self, x: ca.SX) -> ca.SX:
        """Rotations come first: d(R, R x) = (D dw, R dx) with D that of SO(3)."""
        return ca.diagcat(rotation_dccsk_inv(x[:3]), rotation_ccsk(x[:3]).T)

    def left_tangent(self, g: ca.SX) -> ca.SX:
        R = rotation_of(g)
        return ca.diagcat(turned_by_columns(R), R)

    def embedded(self, g: ca.SX) -> ca.SX:
        return ca.blockcat([[rotation_of(g), position_of(g)], [ca.SX(1, 3), ca.SX(1)]])

    def from_space(self, T: np.ndarray) -> np.ndarray:
        return self.from_matrix(T)

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        T = np.zeros((*g.shape[:-1], 4, 4))
        T[..., :3, :3] = g[..., :9].reshape(*g.shape[:-1], 3, 3).swapaxes(-1, -2)
        T[..., :3, 3] = g[..., 9:12]
        T[..., 3, 3] = 1.0
        return T

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        T = np.asarray(matrix, float)
        return np.r_[T[:3, :3].T.ravel(), T[:3, 3]]


SE3 = _SE3()
