"""SO(3) x R^3: the same poses as SE(3), but the algebra is (omega body, velocity world).

Free translation is exact here, which it is not with a body velocity; it needs an isotropic mass.
"""

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup
from sim.groups.se3 import SE3, pose, position_of, rotation_of
from sim.groups.so3 import (
    hat,
    rotation_cay,
    rotation_cay_inv,
    rotation_ccsk,
    rotation_dcay_inv,
    rotation_dccsk_inv,
    rotation_dexp_inv,
    rotation_exp,
    rotation_log,
    turned_by_columns,
)


class _SO3R3(LieGroup):
    name = "SO3_R3"
    pose_dim = 12
    dim = 6
    position = slice(9, 12)

    def identity(self) -> np.ndarray:
        return SE3.identity()

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        return pose(rotation_of(g) @ rotation_of(k), position_of(g) + position_of(k))

    def inverse(self, g: ca.SX) -> ca.SX:
        return pose(rotation_of(g).T, -position_of(g))

    def exp(self, x: ca.SX) -> ca.SX:
        return pose(rotation_exp(x[:3]), x[3:])

    def log(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(rotation_log(rotation_of(g)), position_of(g))

    def cay(self, x: ca.SX) -> ca.SX:
        return pose(rotation_cay(x[:3]), x[3:])

    def cay_inv(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(rotation_cay_inv(rotation_of(g)), position_of(g))

    def Ad(self, g: ca.SX) -> ca.SX:
        return ca.diagcat(rotation_of(g), ca.SX.eye(3))

    def ad(self, x: ca.SX) -> ca.SX:
        return ca.diagcat(hat(x[:3]), ca.SX(3, 3))

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        return ca.diagcat(rotation_dexp_inv(x[:3]), ca.SX.eye(3))

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        return ca.diagcat(rotation_dcay_inv(x[:3]), ca.SX.eye(3))

    def ccsk(self, x: ca.SX) -> ca.SX:
        return pose(rotation_ccsk(x[:3]), x[3:])

    def dccsk_inv(self, x: ca.SX) -> ca.SX:
        return ca.diagcat(rotation_dccsk_inv(x[:3]), ca.SX.eye(3))

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return ca.diagcat(turned_by_columns(rotation_of(g)), ca.SX.eye(3))

    def embedded(self, g: ca.SX) -> ca.SX:
        return SE3.embedded(g)

    def from_space(self, T: np.ndarray) -> np.ndarray:
        return SE3.from_space(T)

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        return SE3.to_matrix(g)

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        return SE3.from_matrix(matrix)


SO3_R3 = _SO3R3()
