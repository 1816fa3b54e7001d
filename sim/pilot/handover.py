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
