"""A body in splashing water: the shape by which the water meets it, how it moves, and how it answers an impulse."""

from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import rotation_exp
from sim.vehicle_config.hull import Hull
from sim.water.flip.box import WATER_DENSITY
from sim.water.flip.solid import Distance
from sim.water.immersion import GRAVITY


@dataclass(frozen=True, slots=True, eq=False)
class Floating:
    """A body as the water meets it: the distance to its hull, in its body frame."""

    distance: Distance

    @staticmethod
    def of(hull: Hull, cell_m: float) -> "Floating":
        return Floating(Distance.of(hull, 0.5 * cell_m))


@dataclass(slots=True, eq=False)
class Body:
    """Where a body is and how it moves, world axes; its inertia about its origin, body frame (omega, v)."""

    T_wb: np.ndarray
    twist_w: np.ndarray
    inertia_b: np.ndarray

    def falling(self, dt_s: float, cell_m: float) -> np.ndarray:
        """(6,) its twist after dt_s of weight alone [rad/s, cells/s]."""
        falling = self.twist_w.copy()
        falling[5] -= GRAVITY * dt_s
        falling[3:] /= cell_m
        return falling

    def response(self, cell_m: float) -> np.ndarray:
        """(6, 6) by which its twist [rad/s, cells/s] answers the sum of the pressures on its faces."""
        turned = np.kron(np.eye(2), self.T_wb[:3, :3])
        mobility = turned @ np.linalg.inv(self.inertia_b) @ turned.T
        to_cells = np.repeat([1.0, 1.0 / cell_m], 3)
        return np.asarray(WATER_DENSITY * cell_m**5 * to_cells[:, None] * mobility * to_cells)

    def go_on(self, push: np.ndarray, dt_s: float, cell_m: float) -> np.ndarray:
        """Move on by dt_s under the sum of the pressures and the weight; (6,) impulse of the first [N m s, N s]."""
        impulse = np.asarray(WATER_DENSITY * cell_m**4 * push * np.repeat([cell_m, 1.0], 3))
        R = self.T_wb[:3, :3]
        turned = np.kron(np.eye(2), R)
        self.twist_w += turned @ np.linalg.solve(self.inertia_b, turned.T @ impulse)
        self.twist_w[5] -= GRAVITY * dt_s
        self.T_wb[:3, 3] += dt_s * self.twist_w[3:]
        self.T_wb[:3, :3] = rotation_exp(dt_s * self.twist_w[:3]) @ R
        return impulse
