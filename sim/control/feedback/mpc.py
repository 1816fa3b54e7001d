"""Linear model predictive control: over a horizon the errors cost least, within the controls' ranges; then anew.

The model is that of `lqr`, held over a few of its steps at a time; behind the horizon LQR is taken to go on, whose cost
the Riccati equation gives.
"""

from typing import ClassVar

import numpy as np

from sim.control.feedback.lqr import Linearised, costs, linearised_at, solved
from sim.controllers import Controller, Gain, PilotInput
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle

HORIZON = 12
"""Moves that are chosen."""
MOVE_STEPS = 4
"""Periods that a move lasts in the prediction."""


@dataclass(slots=True, eq=False)
class Horizon:
    """The prediction as one linear map: what it costs is |free e + forced U|^2, of moves U one after the other."""

    at: Linearised
    of: tuple[float, float]
    free: np.ndarray
    forced: np.ndarray


class Mpc(Controller):
    """Holds the state that it starts from, and knows how much its controls can do."""

    rate_hz: ClassVar[float] = 50.0
    effort = Gain(1.0, 0.01, 100.0, "", "What controls cost, beside errors: larger is calmer.")
    speed = Gain(1.0, 0.1, 10.0, "", "What errors of velocities cost, beside those of places.")

    def start(self, vehicle: Vehicle, state: State) -> Horizon:
        """At rest there. Raises InputError where nothing keeps it at rest."""
        return self._ahead(linearised_at(vehicle, state, 1.0 / self.rate_hz))

    def control(self, t: float, state: State, sticks: PilotInput, memory: Horizon) -> np.ndarray:
        """(n_controls,): the first move of the best ones."""
        import scipy.optimize  # a second, when one is wanted

        if memory.of != (self.effort, self.speed):
            fresh = self._ahead(memory.at)
            memory.of, memory.free, memory.forced = fresh.of, fresh.free, fresh.forced
        at = memory.at
        error = at.error(state.node)
        low = np.tile(np.array([c.low for c in at.vehicle.controls]) - at.controls, HORIZON)
        high = np.tile(np.array([c.high for c in at.vehicle.controls]) - at.controls, HORIZON)
        found = scipy.optimize.lsq_linear(
            memory.forced,
            -memory.free @ error,
            (np.minimum(low, -1e-9), np.maximum(high, 1e-9)),
            method="bvls",
        )
        self.plot("cost", float(found.cost))
        move: np.ndarray = at.controls + found.x[: len(at.controls)]
        return move

    def _ahead(self, at: Linearised) -> Horizon:
        """Errors after each move by the first one and by the moves, scaled so that squares are costs."""
        n, m = at.B.shape
        A, B = np.eye(n), np.zeros((n, m))
        for _ in range(MOVE_STEPS):
            A, B = at.A @ A, at.A @ B + at.B
        errors, effort = costs(at, self.effort, self.speed)
        _, ahead = solved(at, self.effort, self.speed)
        weights = [np.sqrt(MOVE_STEPS) * errors] * (HORIZON - 1)
        weights.append(np.linalg.cholesky(ahead + 1e-12 * np.trace(ahead) * np.eye(n)).T)
        free, forced = [], []
        power, response = np.eye(n), np.zeros((n, HORIZON * m))
        for k, weight in enumerate(weights):
            response = A @ response
            response[:, k * m : (k + 1) * m] = B
            power = A @ power
            free.append(weight @ power)
            forced.append(weight @ response)
        free.append(np.zeros((HORIZON * m, n)))
        forced.append(np.diag(np.tile(np.sqrt(MOVE_STEPS * effort), HORIZON)))
        return Horizon(at, (self.effort, self.speed), np.vstack(free), np.vstack(forced))
