"""A vertical pillar without ends."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.shapes.drum import Drum
from sim.shapes.shape import Shape, Vector, from_place, norm, round_gap
from sim.shapes.surface import Surface

_ENDLESS_M = 1e5


@dataclass(frozen=True, slots=True)
class Cylinder(Shape):
    """An endless vertical pillar."""

    centre_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "cylinder"
    size = 4
    is_body = False

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        return round_gap(x[:2], q[:2], q[3] + margin)

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        return norm(*from_place(self.centre_w, points_w)[:2]) - self.radius_m

    @property
    def core_w(self) -> np.ndarray:
        return np.array(self.centre_w, float) + np.outer([-1.0, 1.0], (0.0, 0.0, _ENDLESS_M))

    def between(self, low_m: float, high_m: float) -> Shape:
        x, y, _ = self.centre_w
        return Drum((x, y, 0.5 * (low_m + high_m)), self.radius_m, 0.5 * (high_m - low_m))

    def surface(self) -> Surface:
        return self.between(self.centre_w[2] - _ENDLESS_M, self.centre_w[2] + _ENDLESS_M).surface()
