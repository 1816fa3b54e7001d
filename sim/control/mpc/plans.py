"""What the loop of model predictive control and a planner exchange: requests from a future state, plans to be flown."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True, eq=False)
class FlownPlan:
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

    def controls_at(self, since_s: float) -> np.ndarray:
        """(n_controls,) so long after its begin; after its end, where it rests, those that balance it there."""
        row = self.row(since_s)
        return self.controls[row] if row < len(self.controls) - 1 else self.rest

    def row(self, since_s: float) -> int:
        """The step that is under way."""
        return max(int(since_s / self.step_s + 1e-6), 0)


@dataclass(frozen=True, slots=True, eq=False)
class MpcRequest:
    """From where a plan is wanted."""

    number: int
    """By which its answer is known."""
    vehicle: Vehicle
    method: str
    """Integrator by name: requests travel to other processes."""
    options: dict[str, float | str]
    """Of the integrator."""
    node: np.ndarray
    """Where the vehicle will be when the plan takes over, flat."""
    asked_s: float = 0.0
    """Simulated time at which it is asked for."""
    since_s: float = 0.0
    """Simulated time from which on it is to be flown."""


@dataclass(frozen=True, slots=True, eq=False)
class MpcAnswer:
    """What has come of a request."""

    number: int
    plan: FlownPlan | None
    """None where no plan was found."""
    seconds: float
    """Wall time of the solve."""
    reason: str = ""
    """Why there is none."""


class PlanSource(Protocol):
    """Makes plans beside the flight; asked for one at a time."""

    @property
    def rate_hz(self) -> float:
        """Plans a second that are wanted at most."""
        ...

    def ask(self, request: MpcRequest) -> None:
        """Begin with a plan; it is answered, or never where the maker is gone."""
        ...

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        """What has come since the last call; the first one is waited for so long [s of wall time]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StartMpc:
    """The command to have the flown lane flown by plans that are made anew all the time."""

    source: PlanSource
