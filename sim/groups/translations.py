"""R^n as a group: its elements are added."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup


@dataclass(frozen=True)
class Translations(LieGroup):
    """Of momenta, positions in a frame of their own, and the like. All maps are the identity, all brackets zero."""

    dim: int

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"R{self.dim}"

    @property
    def pose_dim(self) -> int:  # type: ignore[override]
        return self.dim

    def identity(self) -> np.ndarray:
        return np.zeros(self.dim)

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        return g + k

    def inverse(self, g: ca.SX) -> ca.SX:
        return -g

    def exp(self, x: ca.SX) -> ca.SX:
        return x

    def log(self, g: ca.SX) -> ca.SX:
        return g

    def cay(self, x: ca.SX) -> ca.SX:
        return x

    def cay_inv(self, g: ca.SX) -> ca.SX:
        return g

    def Ad(self, g: ca.SX) -> ca.SX:
        return ca.SX.eye(self.dim)

    def ad(self, x: ca.SX) -> ca.SX:
        return ca.SX(self.dim, self.dim)

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        return ca.SX.eye(self.dim)

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        return ca.SX.eye(self.dim)

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return ca.SX.eye(self.dim)

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        g = np.asarray(g, float)
        T = np.zeros((*g.shape[:-1], self.dim + 1, self.dim + 1))
        T[...] = np.eye(self.dim + 1)
        T[..., :-1, -1] = g
        return T

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        return np.array(matrix, float)[:-1, -1]
