"""What the simulation makes of the steps of a plan through contact: which of its contacts bear, stick and slide.

With friction a step may have several answers. The simulation finds one of them; a plan whose step is another one is
solved again with what the simulation does there.
"""

from functools import cached_property

import casadi as ca
import numpy as np

from sim.contact.rows import IMPULSE, POINT
from sim.control.plan_following import planned_on
from sim.integrators.multibody import GRAVITY_MPS2, reached
from sim.multibody.shapes import touching_points
from sim.planner.transcription.transcription import Transcription, motion
from sim.steppers.dynamics import stepper_of
from sim.vehicles.forms.articulated import ArticulatedVehicle

_ASTRAY = 1e-7
"""By which a step's coordinates end beside the plan's, where it is another answer [m or rad]."""
_STICKS_MPS, _BEARS = 1e-8, 1e-7
"""Slower than this is no slip, and less of all weight no force."""


class Simulated:
    """Steps of the simulation from the nodes of a plan."""

    def __init__(self, t: Transcription) -> None:
        self._t, vehicle = t, t.model.vehicle
        assert isinstance(vehicle, ArticulatedVehicle)
        self._vehicle, self._count = vehicle, len(t.model.scheme.touches)
        self._stepper = stepper_of(vehicle, t.shape.integrator)

    @cached_property
    def _reached(self) -> ca.Function:
        q, moved = (ca.SX.sym(name, self._vehicle.tree.nq) for name in ("q", "moved"))
        return ca.Function("reached", [q, moved], [reached(self._vehicle, q, moved)])

    @cached_property
    def _contacts(self) -> dict[int, int]:
        """Which of the plan's contacts each row of the ground's may be, by its point."""
        vehicle, pushed = self._vehicle, len(self._vehicle.pushing.balls)
        ends = list(zip(*touching_points(vehicle.tree, vehicle.shapes()), strict=True))
        feet = zip(*touching_points(vehicle.tree, vehicle.bearing), strict=True)
        named = {(int(body), *sphere.tolist()): k for k, (body, sphere) in enumerate(feet)}
        found = {k: named.get((int(body), *sphere.tolist())) for k, (body, sphere) in enumerate(ends)}
        known = {k: contact for k, contact in found.items() if contact is not None}
        return known | {len(ends) + k: len(named) + k for k in range(pushed)}

    def astray(self, w: np.ndarray, p: np.ndarray) -> dict[int, np.ndarray]:
        """Of each step that ends elsewhere than the plan's: the parts of its contacts as the scheme has them,
        with spare friction that is nothing or something. Impulses are remembered from step to step, as in flight."""
        t, vehicle, stepper = self._t, self._vehicle, self._stepper
        ground = planned_on(vehicle, t.shape.integrator)
        assert ground is not None
        y, _, _ = t.rows_of(w, p)
        move, numbers, found = motion(t, w, p), t.vehicle_numbers(w, p), {}
        nq, h, nothing = vehicle.tree.nq, move.step_s, np.zeros(stepper.dim)
        for k, u in enumerate(move.controls[: len(y) - 1]):
            state = stepper.start(move.nodes[k], u, numbers, h)
            state[: y.shape[1]] = y[k]
            ground.contact.work[:] = 0.0
            stepper.advance(state, u, nothing, numbers, h, 1, ground.env)
            if not np.abs(state[:nq] - y[k + 1, :nq]).max() < _ASTRAY:
                found[k] = self._parts(y[k, :nq], state[:nq], ground.contact.work, h)
        return found

    def _parts(self, q: np.ndarray, ended: np.ndarray, work: np.ndarray, h: float) -> np.ndarray:
        weight = float(self._vehicle.tree.arrays.mass.sum()) * GRAVITY_MPS2
        gaps, *ways = np.array(self._reached(q, ended)).reshape(-1, self._count)
        slips, up = np.array(ways) / h, np.zeros(self._count)
        for row in work:
            contact = self._contacts.get(int(row[POINT]))
            # Where a trunk lies on the ground no contact of the plan's could.
            if contact is not None and row[IMPULSE] > _BEARS * weight * h:
                up[contact] += row[IMPULSE] / (h * weight)
        bears = up > 0.0
        slips[bears & (np.abs(slips) < _STICKS_MPS)] = 0.0
        told = (
            (slips,)
            if self._t.model.scheme.touches[0].signed
            else (np.maximum(slips, 0.0), np.maximum(-slips, 0.0))
        )
        gaps = np.where(bears, 0.0, np.maximum(gaps, 0.0))
        return np.concatenate(
            [gaps, up, *(x.ravel() for x in (*told, up * (slips <= 0.0), up * (slips >= 0.0)))]
        )
