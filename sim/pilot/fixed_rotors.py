"""Machines whose controls make torque and lift linearly, as rotors do that are fixed to the body."""

from dataclasses import dataclass

import numpy as np

from sim.pilot.airframe import LIFT_WEIGHTS, Airframe, scalar
from sim.pilot.effect import wrench_effect
from sim.vehicles import Vehicle

_TORQUE_AND_LIFT = (0, 1, 2, 5)
"""Components of a wrench."""


@dataclass(frozen=True, slots=True)
class FixedRotors(Airframe):
    """Torque and lift are `effect @ controls`."""

    effect: np.ndarray
    """(4, n_controls) torque about x, y, z [N m] and force along z [N]."""

    @classmethod
    def of(cls, vehicle: Vehicle) -> "FixedRotors":
        """Read off a vehicle's own wrench."""
        values = vehicle.values
        mass_kg, gravity = scalar(values["mass"]), scalar(values["gravity"])
        effect = wrench_effect(vehicle)[list(_TORQUE_AND_LIFT)]
        most = LIFT_WEIGHTS * mass_kg * max(gravity, 1.0) / max(float(effect[3].sum()), 1e-9)
        return cls(
            mass_kg=mass_kg,
            inertia=np.asarray(values["inertia"], float),
            gravity=gravity,
            drag=0.0,
            low=np.array([control.low for control in vehicle.controls]),
            high=np.minimum([control.high for control in vehicle.controls], most),
            effect=effect,
        )

    def angular_authority(self) -> np.ndarray:
        """About a hover, where the rotors share the weight."""
        hover = self.weight_N / max(float(self.effect[3].sum()), 1e-9)
        room = np.minimum(self.high - hover, hover - self.low).clip(1e-6)
        torque: np.ndarray = 0.5 * np.abs(self.effect[:3]) @ room
        return torque / self.inertia

    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Where a range ends turning about the lift gives way first, then lift, then roll and pitch."""
        inverse = np.linalg.pinv(self.effect)
        tilting = inverse @ np.array([torque_b[0], torque_b[1], 0.0, lift_N])
        turning = inverse[:, 2] * torque_b[2]
        controls = tilting + _share(tilting, turning, self.low, self.high) * turning
        over, under = float((controls - self.high).max()), float((self.low - controls).max())
        return np.clip(controls + (-over if over > 0.0 else max(under, 0.0)), self.low, self.high)


def _share(begin: np.ndarray, way: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """How much of a way stays within the ranges, 0..1."""
    room = np.where(way > 0.0, high - begin, begin - low).clip(0.0)
    return float(np.min(room / np.maximum(np.abs(way), 1e-9), initial=1.0))
