"""Rotations as unit quaternions."""

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.spaces.base import Space

_LEAST = 1e-30


@dataclass(frozen=True)
class UnitQuaternions(Space):
    """Four numbers (w, x, y, z); displacements are rotation vectors in the frame that turns."""

    name: str = "rotation"
    size = 4
    dim = 3

    @property
    def slices(self) -> Mapping[str, slice]:
        return {self.name: slice(0, 4)}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{part}" for part in ("qw", "qx", "qy", "qz"))

    def origin(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def defect(self, a: ca.SX) -> ca.SX:
        """Of the length from 1."""
        return ca.dot(a, a) - 1

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        """Up to a whole turn: the two signs of a rotation are two points, which motions do not jump between."""
        w = ca.dot(a, b)
        v = a[0] * b[1:] - b[0] * a[1:] - ca.cross(a[1:], b[1:])
        length = ca.sqrt(ca.dot(v, v) + _LEAST)
        return 2 * ca.atan2(length, w) / length * v

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: self.difference(about, a)}

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        half = ca.sqrt(ca.dot(d, d) + _LEAST) / 2
        w, v = ca.cos(half), ca.sin(half) / (2 * half) * d
        turned = ca.vertcat(a[0] * w - ca.dot(a[1:], v), a[0] * v + w * a[1:] + ca.cross(a[1:], v))
        return turned / ca.sqrt(ca.dot(turned, turned))
