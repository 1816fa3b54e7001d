"""Pendula: one rod with motors is swung up and held on its head, all others are calmed.

Energy is pumped after K. Astrom and K. Furuta, "Swinging up a pendulum by energy control" (2000), here in a plane of
the sphere: what leads out of the plane is turned back. Calming opposes the motion, so that energy only falls.
"""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.vehicles import Vehicle

_UP = np.array([0.0, 0.0, 1.0])
_NUDGE = 0.5
"""Share of the motors that begins the swing of a rod that hangs still ..."""
_STILL = 0.01
"""... which has less than this share of the energy that leads from hanging to standing."""
_PUMP = 1.0
"""Moment by missing energy and turn rate, in units of 1/sqrt(g/length) ..."""
_OUT_RATE, _STAND_RATE = 1.5, 1.5
"""... and bandwidths of what keeps it in the plane and of what keeps it up, in units of sqrt(g/length)."""
_CAUGHT = 0.8
"""Share of the motors with which standing must be done with when it begins; it ends where they cannot do it."""
_LEAN_COS = 0.8
"""It stands only within this of upright."""
_LEAST_GRAVITY_MPS2 = 0.1
"""Paces are those of at least so much, that there are some without gravity."""


class SwingUpPilot(Automatic):
    """Serves rods in a chain whose state is a direction and a turn rate each; remembers the plane it swings in."""

    def __init__(self, errand: Errand) -> None:
        del errand
        self._normal: np.ndarray | None = None
        """(3,) level unit vector: of the plane in which it is swung."""
        self._stands = False

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(2,) pushes [N] on the last bob or moments [N m] on the first rod along world x and y."""
        rods = sensed.node.reshape(-1, 2, 3)
        masses, lengths = (np.ravel(np.asarray(vehicle.values[name], float)) for name in ("mass", "length"))
        gravity = float(np.asarray(vehicle.values["gravity"]))
        if not vehicle.counts["pivot_motor"]:
            moving = np.cross(rods[:, 1], rods[:, 0]).T @ lengths  # of the last bob, in the world
            rate = min(_pace(gravity, float(lengths[-1])), 0.4 / dt_s)
            wanted = -masses[-1] * rate * moving
        elif len(rods) > 1:
            rate = min(_pace(gravity, float(lengths.sum())), 0.4 / dt_s)
            wanted = -masses[0] * lengths[0] ** 2 * rate * rods[0, 1]
        else:
            most = min(control.high for control in vehicle.controls)
            wanted = self._swung(rods[0], float(masses[0]), float(lengths[0]), gravity, most)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted[:2], low, high)

    def _swung(self, rod: np.ndarray, mass: float, length: float, gravity: float, most: float) -> np.ndarray:
        """(3,) moment [N m], level: of what stands, or comes to stand."""
        direction, turning = rod
        inertia, lift = mass * length**2, mass * gravity * length
        pace = _pace(gravity, length)
        stand = lift + inertia * (_STAND_RATE * pace) ** 2
        upright = stand * np.cross(direction, _UP) - 2.0 * inertia * _STAND_RATE * pace * turning
        needed = math.hypot(upright[0], upright[1])
        self._stands = direction[2] > _LEAN_COS and needed < most * (1.0 if self._stands else _CAUGHT)
        if self._stands:
            return upright
        normal = self._plane(direction, turning)
        swing = float(turning @ normal)
        missing = 2.0 * lift - (0.5 * inertia * float(turning @ turning) + lift * (1.0 + direction[2]))
        still = missing > 2.0 * (1.0 - _STILL) * lift
        pump = _NUDGE * most if still else min(max(_PUMP / pace * missing * swing, -most), most)
        out, out_rate = float(direction @ normal), float(np.cross(turning, direction) @ normal)
        rate = _OUT_RATE * pace
        back = -direction[2] * inertia * (rate**2 * out + 2.0 * rate * out_rate)
        back = min(max(back, -most), most)
        return pump * normal + back * np.cross(_UP, normal)

    def _plane(self, direction: np.ndarray, turning: np.ndarray) -> np.ndarray:
        """That of the motion when it begins, as far as it is level."""
        if self._normal is None:
            level = np.array([turning[0], turning[1], 0.0])
            size = float(np.linalg.norm(level))
            self._normal = level / size if size > 1e-6 else np.array([0.0, 1.0, 0.0])
        return self._normal


def _pace(gravity: float, length: float) -> float:
    """sqrt(g/length) [rad/s]."""
    return math.sqrt(max(gravity, _LEAST_GRAVITY_MPS2) / length)
