"""Flying plans: their inputs as planned or corrected on the way, and one plan after another as they come."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.control.pilot import PilotInput, Sensed
from sim.control.tracking import Track
from sim.platform.errors import InputError
from sim.steppers import Stepper
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """A plan as it is flown. Arrays are never written to."""

    step_s: float
    nodes: np.ndarray
    """(N+1, node size)."""
    controls: np.ndarray
    """(N+1, n_controls) each held over the plan's step."""
    rest: np.ndarray
    """(n_controls,) that balance the vehicle where the plan ends."""
    places_w: np.ndarray
    """(N+1, 3) m; z = 0 for what moves on a plane."""
    cost: float = 0.0

    @property
    def duration_s(self) -> float:
        return self.step_s * (len(self.controls) - 1)

    def held(self, since_s: float) -> np.ndarray:
        """(n_controls,) so long after its begin; after its end, where it rests, those that balance it there."""
        row = self.row(since_s)
        return self.controls[row] if row < len(self.controls) - 1 else self.rest

    def row(self, since_s: float) -> int:
        """The step that is under way."""
        return max(int(since_s / self.step_s + 1e-6), 0)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """From where a plan is wanted."""

    number: int
    """By which its answer is known."""
    vehicle: Vehicle
    method: str
    """Integrator by name: questions travel to other processes."""
    options: dict[str, float]
    """Of it."""
    node: np.ndarray
    """Where the vehicle will be when the plan takes over, flat."""


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What has come of it."""

    number: int
    route: Route | None
    """None where no plan was found."""
    seconds: float
    """Wall time of the solve."""
    told: str = ""
    """Why there is none."""


class PlanSource(Protocol):
    """Makes plans beside the flight; asked for one at a time."""

    @property
    def rate_hz(self) -> float:
        """Plans a second that are wanted at most."""
        ...

    def ask(self, asked: Asked) -> None:
        """Begin with a plan; it is answered, or never where the maker is gone."""
        ...

    def answers(self, wait_s: float = 0.0) -> list[Answered]:
        """What has come since the last call; the first one is waited for so long [s of wall time]."""
        ...


_LEARNING_S = 0.5
"""In which what is not explained yet shrinks to 1/e."""


class PlannedPilot:
    """Open loop gives out the planned inputs bit for bit; with a track, errors are fed back."""

    def __init__(self, controls: np.ndarray, step_s: float, track: Track | None = None) -> None:
        """`controls` (N+1, n_controls) of the steps from the nodes of a plan, which are `step_s` apart."""
        self._controls, self._step_s = controls, step_s
        self._follower = None if track is None else _Follower(track)
        self._calls = 0

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The plan's inputs at this time, each row held over its step; sticks are not heard.

        Who steps otherwise gets the row of the middle of what it asks for.
        """
        now, self._calls = self._calls, self._calls + 1
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

    def __init__(self, track: Track) -> None:
        self._track = track
        self._step = 0
        self._error, self._drift = np.zeros((2, track.turned.shape[2]))
        """The error at the beginning of that step."""
        self._given: list[np.ndarray] = []
        """More than planned, since then."""

    def corrected(self, step: int, planned: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
        """The inputs at a time in a step of the plan; as they are after the last one."""
        if step >= len(self._track.gains):
            return planned
        error = self._track.error(step, sensed.node)
        if step != self._step:
            if step == self._step + 1 and not _carried(sensed, vehicle):
                self._learn(error)
            self._step, self._error, self._given = step, error, []
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        more = self._track.correction(step, error, self._drift)
        u = np.clip(planned + more, low, high)
        self._given.append(u - planned)
        return u

    def _learn(self, ended: np.ndarray) -> None:
        """From the step that has just ended."""
        seen = self._track.drift(self._step, self._error, np.mean(self._given, axis=0), ended)
        self._drift += -math.expm1(-self._track.step_s / _LEARNING_S) * (seen - self._drift)


def _carried(sensed: Sensed, vehicle: Vehicle) -> bool:
    """By the ground, which is no wind."""
    return vehicle.support is Support.NOTHING and sensed.clearance_m <= 0.0


SAME_S = 1e-7
"""Sums of steps are rounded: moments this near are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Leading:
    """A plan with its times [s of simulated time]."""

    route: Route
    planned_s: float
    """At which it was asked for."""
    since_s: float
    """From which on it is flown: its own begin."""


class Handover:
    """The plan that is flown and those that will take over, one after the other."""

    def __init__(self) -> None:
        self.flown: Leading | None = None
        self.coming: list[Leading] = []

    def expect(self, route: Route, planned_s: float, since_s: float) -> None:
        """This one after all that are expected."""
        self.coming.append(Leading(route, planned_s, since_s))

    def turn(self, time_s: float) -> Leading | None:
        """What takes over at a time, if something does."""
        taken = None
        while self.coming and time_s >= self.coming[0].since_s - SAME_S:
            taken = self.flown = self.coming.pop(0)
        return taken

    def held(self, time_s: float) -> np.ndarray | None:
        """(n_controls,) at a time, now or later, as far as plans are known; None before the first one."""
        begun = [plan for plan in self.coming if time_s >= plan.since_s - SAME_S]
        leading = begun[-1] if begun else self.flown
        return None if leading is None else leading.route.held(time_s - leading.since_s)

    def age_s(self, time_s: float) -> float:
        """Since the moment that the flown plan was asked for at."""
        return 0.0 if self.flown is None else time_s - self.flown.planned_s


def stepped(
    vehicle: Vehicle,
    kernel: Stepper,
    step_s: float,
    node: np.ndarray,
    controls: list[np.ndarray],
    count: int = 1,
) -> np.ndarray:
    """The node that rows of controls lead to, each held over `count` steps; InputError where the motion ends."""
    p, nothing = vehicle.parameter_vector, np.zeros(kernel.dim)
    y = kernel.start(node, controls[0], p, step_s)
    for u in controls:
        _, status, _ = kernel.advance(y, u, nothing, p, step_s, count)
        if status:
            raise InputError(f"{vehicle.name}: the motion cannot be continued: the step has no solution")
    return kernel.node(y, controls[-1], p, step_s)
