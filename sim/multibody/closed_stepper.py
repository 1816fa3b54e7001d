"""Trees with closed loops on the lanes of all vehicles: steps of the open tree, with impulses that close the loops."""

from typing import Any

import numpy as np

from sim.integrators.base import Integrator
from sim.multibody.closing import closed_rollout
from sim.multibody.ground import felt_of
from sim.multibody.loops import Closure
from sim.multibody.stepper import NO_RESIDUALS, NO_WRENCHES, TOLERANCE, VARIATIONAL, TreeStepper
from sim.vehicles.forms.articulated import ClosedVehicle


class ClosedTreeStepper(TreeStepper):
    """By a variational method. The private state is that of the open tree, and the impulses of the latest step.

    (None at first: `TreeStepper.start` leaves zeros where it puts nothing.)
    """

    def __init__(self, vehicle: ClosedVehicle, integrator: Integrator) -> None:
        super().__init__(vehicle, integrator)
        self._closed_vehicle = vehicle
        self._more = 3 * len(vehicle.loops_with(vehicle.parameter_vector))

    @property
    def private_size(self) -> int:
        return super().private_size + self._more

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = ()
    ) -> np.ndarray:
        """As without loops, from where these are closed. Raises InputError where one is far from it."""
        q, v = self._closure(p).closed(node[: self._nq], node[self._nq :], TOLERANCE)
        return super().start(np.concatenate([q, v]), u, p, h, env)

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
        """As without loops; iterations are those of all trials."""
        laid, closure, ends = self._laid(p), self._closure(p), y.size - self._more
        laid.tally[:] = 0.0
        done, status = closed_rollout(
            laid.tree.arrays,
            laid.ws,
            felt_of(env),
            closure.arrays,
            closure.room,
            *self._moving(y[:ends]),
            y[ends:],
            self._vehicle.joint_forces(u, p),
            w,
            NO_WRENCHES,
            h,
            n,
            laid.limits_at(h),
            VARIATIONAL[self.integrator.name],
            TOLERANCE,
            laid.tally,
            NO_RESIDUALS,
        )
        return done, status, int(laid.tally[0])

    def node(
        self,
        y: np.ndarray,
        u: np.ndarray,
        p: np.ndarray,
        h: float,
        *,
        w: np.ndarray | None = None,
        env: tuple[Any, ...] = (),
    ) -> np.ndarray:
        """Coordinates and velocities, these with the impulse that keeps the loops closed."""
        node = super().node(y, u, p, h, w=w, env=env)
        node[self._nq :] = self._closure(p).tangent(node[: self._nq], node[self._nq :])
        return node

    def answer(self, q: np.ndarray, impulse: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(nv,) by how much a generalised impulse changes the velocities, with those of the loops that it calls up."""
        return self._closure(p).tangent(q, super().answer(q, impulse, p))

    def _closure(self, p: np.ndarray) -> Closure:
        """With these parameters, in this thread."""
        laid = self._laid(p)
        kept: dict[int, tuple[object, Closure]] = self._local.__dict__.setdefault("closures", {})
        found = kept.get(id(laid))
        if found is None or found[0] is not laid:
            if len(kept) >= 4:
                kept.clear()
            found = kept[id(laid)] = (laid, Closure(laid.tree, self._closed_vehicle.loops_with(p)))
        return found[1]
