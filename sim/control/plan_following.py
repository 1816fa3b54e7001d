"""Flying a plan: its inputs as planned, or corrected on the way."""

import math
from dataclasses import dataclass, field

import numpy as np

from sim.control.pilot import Automatic, PilotInput, Sensed
from sim.control.tracking import Regulator
from sim.integrators import Integrator
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support


@dataclass(frozen=True, slots=True, eq=False)
class FlyPlan:
    """Put all lanes at the start of a plan and give them its inputs; the flown one steps as it was planned.

    At the end time stands still; running on gives the vehicle back to the pilot, with its former method.
    """

    vehicle: Vehicle
    integrator: str | Integrator
    step_s: float
    nodes: np.ndarray = field(repr=False)
    """(N+1, node size)."""
    controls: np.ndarray = field(repr=False)
    """(N+1, n_controls)."""
    tracked: bool = False
    """Feed errors back (LQR along the plan); otherwise open loop."""
    flown: Vehicle | None = None
    """What flies it where that is not what was planned for, such as one in wind; None: `vehicle`."""


_LEARNING_S = 0.5
"""In which what is not explained yet shrinks to 1/e."""


class PlannedPilot(Automatic):
    """Open loop gives out the planned inputs bit for bit; with a regulator, errors are fed back."""

    def __init__(
        self,
        controls: np.ndarray,
        step_s: float,
        regulator: Regulator | None = None,
        *,
        since_s: float = 0.0,
    ) -> None:
        """`controls` (N+1, n_controls) of the steps from the nodes of a plan, which are `step_s` apart.

        since_s: simulated time at which the plan begins.
        """
        self._controls, self._step_s, self._since_s = controls, step_s, since_s
        self._follower = None if regulator is None else _Follower(regulator)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The plan's inputs at this time, each row held over its step; sticks are not heard.

        Who steps otherwise gets the row of the middle of what it asks for.
        """
        # Counted in periods, which are whole: times are sums that are rounded.
        now = round((sensed.time_s - self._since_s) / dt_s)
        k = math.floor((now + 0.5) * dt_s / self._step_s)
        u = self._controls[min(k, len(self._controls) - 1)]
        if self._follower is None:
            return u
        return self._follower.corrected(round(now * dt_s / self._step_s), u, sensed, vehicle)


class _Follower:
    """Feeds errors back, and learns what steadily leads aside.

    Where the regulator's model and the inputs should have led is compared with where the vehicle has come to. The
    inputs are those that act, so nothing winds up while they are at their limits.
    """

    def __init__(self, regulator: Regulator) -> None:
        self._regulator = regulator
        self._step = 0
        self._error, self._drift = np.zeros((2, regulator.turned.shape[2]))
        """The error at the beginning of that step."""
        self._given: list[np.ndarray] = []
        """More than planned, since then."""

    def corrected(self, step: int, planned: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
        """The inputs at a time in a step of the plan; as they are after the last one."""
        if step >= len(self._regulator.gains):
            return planned
        error = self._regulator.error(step, sensed.node)
        if step != self._step:
            if step == self._step + 1 and not _carried(sensed, vehicle):
                self._learn(error)
            self._step, self._error, self._given = step, error, []
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        more = self._regulator.correction(step, error, self._drift)
        u = np.clip(planned + more, low, high)
        self._given.append(u - planned)
        return u

    def _learn(self, ended: np.ndarray) -> None:
        """From the step that has just ended."""
        seen = self._regulator.drift(self._step, self._error, np.mean(self._given, axis=0), ended)
        self._drift += -math.expm1(-self._regulator.step_s / _LEARNING_S) * (seen - self._drift)


def _carried(sensed: Sensed, vehicle: Vehicle) -> bool:
    """By the ground, which is no wind."""
    return vehicle.support is Support.NOTHING and sensed.clearance_m <= 0.0
