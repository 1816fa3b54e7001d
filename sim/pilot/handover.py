"""One plan after the other: which is flown at a time, from which moment it was planned, and which takes over when."""

from dataclasses import dataclass

import numpy as np

from sim.errors import InputError
from sim.pilot.plan_source import Route
from sim.steppers import Stepper
from sim.vehicles import Vehicle

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
    """The plan that is flown and the one that will take over from it."""

    def __init__(self) -> None:
        self.flown: Leading | None = None
        self.coming: Leading | None = None

    def expect(self, route: Route, planned_s: float, since_s: float) -> None:
        """This one next."""
        self.coming = Leading(route, planned_s, since_s)

    def turn(self, time_s: float) -> Leading | None:
        """What takes over at a time, if something does."""
        coming = self.coming
        if coming is None or time_s < coming.since_s - SAME_S:
            return None
        self.flown, self.coming = coming, None
        return coming

    def held(self, time_s: float) -> np.ndarray | None:
        """(n_controls,) of the plan that is flown at a time; None before the first one."""
        return None if self.flown is None else self.flown.route.held(time_s - self.flown.since_s)

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
