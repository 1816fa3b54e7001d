"""Plans and courses that are flown."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sim.integrators import Integrator
from sim.vehicles import Vehicle

if TYPE_CHECKING:
    from sim.control.plan_following import PlanSource


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


@dataclass(frozen=True, slots=True, eq=False)
class FollowCourse:
    """Have the flown vehicle follow, from where it is, a course that was planned for another one, and lie at its end.

    It is the vehicle's autopilot that does so; time goes on, and so does the weather.
    """

    places_w: np.ndarray = field(repr=False)
    """(n, 2) [m]."""
    headings_rad: np.ndarray = field(repr=False)
    """(n,)."""
    step_s: float
    """Between the places."""


@dataclass(frozen=True, slots=True)
class StopPlan:
    """Give the vehicle back to the pilot where it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Pursue:
    """Have the flown lane flown by plans that are made anew all the time."""

    source: "PlanSource"


@dataclass(frozen=True, slots=True)
class StopPursuit:
    """Give the vehicle back to the pilot of its flight mode."""
