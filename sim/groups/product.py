"""Products of groups: every map part by part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from sim.groups.base import LieGroup


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
