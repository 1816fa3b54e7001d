"""Products of groups, every map part by part: SO(3) x R^3 and R^n among them.

SO(3) x R^3 has the same poses as SE(3), but its algebra is (omega in the body, velocity in the world): free
translation is exact, which it is not with a body velocity.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup
from sim.groups.se3 import SE3, pose, position_of, rotation_of
from sim.groups.so3 import (
    hat,
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
from sim.platform.values import dataclass


@dataclass(frozen=True)
class ProductGroup(LieGroup):
    """Elements, and those of the algebra, are those of the parts one after the other."""

    parts: tuple[LieGroup, ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        return " x ".join(part.name for part in self.parts)

    @property
    def pose_dim(self) -> int:  # type: ignore[override]
        return sum(part.pose_dim for part in self.parts)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return sum(part.dim for part in self.parts)

    def elements(self, g: ca.SX) -> list[ca.SX]:
        """Of the parts."""
        return _cut(g, [part.pose_dim for part in self.parts])

    def vectors(self, x: ca.SX) -> list[ca.SX]:
        """Of the parts' algebras."""
        return _cut(x, [part.dim for part in self.parts])

    def identity(self) -> np.ndarray:
        return np.concatenate([part.identity() for part in self.parts])

    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        pairs = zip(self.parts, self.elements(g), self.elements(k), strict=True)
        return ca.vertcat(*[part.compose(a, b) for part, a, b in pairs])

    def between(self, g: ca.SX, k: ca.SX) -> ca.SX:
        pairs = zip(self.parts, self.elements(g), self.elements(k), strict=True)
        return ca.vertcat(*[part.between(a, b) for part, a, b in pairs])

    def inverse(self, g: ca.SX) -> ca.SX:
        return self._of_element(g, LieGroup.inverse.__name__)

    def exp(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.exp.__name__)

    def log(self, g: ca.SX) -> ca.SX:
        return self._of_element(g, LieGroup.log.__name__)

    def cay(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.cay.__name__)

    def cay_inv(self, g: ca.SX) -> ca.SX:
        return self._of_element(g, LieGroup.cay_inv.__name__)

    def Ad(self, g: ca.SX) -> ca.SX:
        return self._of_element(g, LieGroup.Ad.__name__, ca.diagcat)

    def ad(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.ad.__name__, ca.diagcat)

    def dexp_inv(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.dexp_inv.__name__, ca.diagcat)

    def dcay_inv(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.dcay_inv.__name__, ca.diagcat)

    def dcay(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.dcay.__name__, ca.diagcat)

    def ccsk(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.ccsk.__name__)

    def dccsk_inv(self, x: ca.SX) -> ca.SX:
        return self._of_vector(x, LieGroup.dccsk_inv.__name__, ca.diagcat)

    def left_tangent(self, g: ca.SX) -> ca.SX:
        return self._of_element(g, LieGroup.left_tangent.__name__, ca.diagcat)

    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        """Block-diagonal homogeneous matrices."""
        g = np.asarray(g, float)
        bounds = np.cumsum([0, *(part.pose_dim for part in self.parts)])
        blocks = [
            part.to_matrix(g[..., a:b]) for part, a, b in zip(self.parts, bounds, bounds[1:], strict=False)
        ]
        size = sum(block.shape[-1] for block in blocks)
        T, at = np.zeros((*g.shape[:-1], size, size)), 0
        for block in blocks:
            end = at + block.shape[-1]
            T[..., at:end, at:end] = block
            at = end
        return T

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        elements, at = [], 0
        for part in self.parts:
            end = at + part.to_matrix(part.identity()).shape[-1]
            elements.append(part.from_matrix(matrix[at:end, at:end]))
            at = end
        return np.concatenate(elements)

    def _of_element(self, g: ca.SX, name: str, join: Callable[..., ca.SX] = ca.vertcat) -> ca.SX:
        pairs = zip(self.parts, self.elements(g), strict=True)
        return join(*[getattr(part, name)(element) for part, element in pairs])

    def _of_vector(self, x: ca.SX, name: str, join: Callable[..., ca.SX] = ca.vertcat) -> ca.SX:
        pairs = zip(self.parts, self.vectors(x), strict=True)
        return join(*[getattr(part, name)(vector) for part, vector in pairs])


def power(group: LieGroup, count: int) -> ProductGroup:
    """group x ... x group."""
    return ProductGroup((group,) * count)


def _cut(column: ca.SX, sizes: Sequence[int]) -> list[ca.SX]:
    bounds = np.cumsum([0, *sizes]).tolist()
    return [column[a:b] for a, b in pairwise(bounds)]


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

    def dcay(self, x: ca.SX) -> ca.SX:
        return ca.diagcat(rotation_dcay(x[:3]), ca.SX.eye(3))

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

    def dcay(self, x: ca.SX) -> ca.SX:
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
