"""Trees on the lanes of all vehicles in steps of varying length: each step of the lane in equal parts."""

from typing import Any

import numpy as np

from sim.integrators.multibody import VariedMultibody
from sim.multibody.ground import felt_of
from sim.multibody.roots import RIQN
from sim.multibody.stepper import NO_RESIDUALS, NO_WRENCHES, TOLERANCE, TreeStepper
from sim.multibody.varied_steps import Room, room, varied_rollout
from sim.vehicles.forms.articulated import ArticulatedVehicle


class VariedTreeStepper(TreeStepper):
    """The private state is that of constant steps, then ln rho of the latest step and the number of its parts."""

    _MORE = 2

    def __init__(self, vehicle: ArticulatedVehicle, integrator: VariedMultibody) -> None:
        super().__init__(vehicle, integrator)
        self._turn_rad = integrator.turn_rad

    @property
    def private_size(self) -> int:
        return super().private_size + self._MORE

    def advance(
        self,
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = (),
    ) -> tuple[int, int, int]:
        """As in constant steps; iterations are those of all parts."""
        laid, ends = self._laid(p), y.size - self._MORE
        laid.tally[:] = 0.0
        done, status = varied_rollout(
            laid.tree.arrays,
            laid.ws,
            felt_of(env),
            self._room(),
            *self._moving(y[:ends]),
            y[ends:],
            self._vehicle.joint_forces(u, p),
            w,
            NO_WRENCHES,
            h,
            n,
            laid.limits_at(h),
            RIQN,
            self._turn_rad,
            TOLERANCE,
            laid.tally,
            NO_RESIDUALS,
        )
        return done, status, int(laid.tally[0])

    def parts(self, y: np.ndarray) -> int:
        """Of the latest step; 0 at the start."""
        return int(y[-1])

    def _room(self) -> Room:
        """In this thread."""
        kept: dict[str, Room] = self._local.__dict__
        if "room" not in kept:
            kept["room"] = room(self._nq, self._nv)
        return kept["room"]
