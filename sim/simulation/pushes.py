"""The impulse on a lane at the moments at which its controls are evaluated."""

from dataclasses import dataclass

import numpy as np

from sim.commands import Pull
from sim.environment.environment import can_be_coupled
from sim.simulation.coupling import Coupling
from sim.simulation.footing import Footing
from sim.simulation.method import Method
from sim.simulation.pulling import pull_impulse
from sim.vehicles.impulses import whole
from sim.vehicles.observation import Observation


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Where a lane is then."""

    time_s: float
    node: np.ndarray
    """Pose and node velocity, flat."""
    state: np.ndarray
    """The integrator's own, flat."""
    controls: np.ndarray
    """(n_controls,)."""
    seen: Observation
    poses_w: np.ndarray
    """(bodies, 4, 4) body to world."""


def impulse_on(
    reached: Reached, method: Method, footing: Footing, coupling: Coupling | None, pull: Pull | None
) -> np.ndarray | None:
    """(impulse_size,) of what is coupled, of ground that strikes and of the hand that pulls, together; None of none."""
    at, given = reached, None
    if coupling is not None and can_be_coupled(method.vehicle):
        given = coupling.impulse(method, at.node, at.seen, at.poses_w[0], at.time_s)
    struck = footing.struck(at.node, method.control_period_s)
    given = struck if given is None else given
    given = None if given is None else whole(given, method.vehicle)
    if pull is None:
        return given
    pulled = pull_impulse(pull, method, at.state, at.controls, at.seen, at.poses_w)
    return pulled if given is None else given + pulled
