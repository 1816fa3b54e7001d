"""Planning while moving: a plan from where the vehicle will be, again and again, each taking over from the last.

Every plan names the moment that it was planned from and the moment at which it takes over, and ends at rest: where a
solve fails or is late, the last plan goes on, brakes, and holds. Nothing here looks at a clock but to measure, so that
the same call gives the same motion on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.control.plan_following import Handover, stepped
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import trajectory
from sim.planner.service.planner import Planner
from sim.planner.service.replan import aimed, replanned, route_of
from sim.planner.task.task import Task
from sim.planner.transcription.motion import Motion
from sim.platform.errors import InputError, quote
from sim.platform.validation import number
from sim.steppers.choice import stepper_of
from sim.trajectory import Trajectory, given_vehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

AimAt = Callable[[float], Any]
"""Time [s] -> place (3,) or (2,) [m] or a `State` that is wanted at that time."""


@dataclass(frozen=True, slots=True)
class Replanning:
    """One plan of many."""

    asked_s: float
    """Simulated time that it was planned at."""
    takes_over_s: float
    """Simulated time from which on it is flown, if it was found."""
    solved: bool
    seconds: float
    """Wall time of the solve."""
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class Pursuit:
    """What `sim.receding_horizon` answers."""

    trajectory: Trajectory
    """As it was flown."""
    plans: tuple[Replanning, ...]
    horizons_w: tuple[np.ndarray, ...]
    """(N+1, 3) places [m] of every plan that took over."""
    age_s: np.ndarray
    """(n,) simulated time since the flown plan took over, at each step."""

    @property
    def found(self) -> float:
        """Share of the solves that gave a plan."""
        return float(np.mean([plan.solved for plan in self.plans])) if self.plans else 0.0

    @property
    def solves_per_s(self) -> float:
        """By the median wall time of a solve, the first one aside."""
        return (
            1.0 / float(np.median([plan.seconds for plan in self.plans[1:]])) if len(self.plans) > 1 else 0.0
        )


def receding_horizon(
    vehicle: Vehicle,
    task: Task,
    duration_s: float,
    *,
    aim: AimAt | None = None,
    method: str | Integrator = "variational",
    step_s: float = 0.01,
    period_s: float = 0.05,
    lag_s: float | None = None,
    flown: Vehicle | None = None,
    planner: Planner | None = None,
    time_limit_s: float = 5.0,
) -> Pursuit:
    """Fly a vehicle for `duration_s`, planning anew every `period_s` from the state that it will have `lag_s` later.

    task: start, horizon (`duration_s` and `steps` of it), limits, obstacles, weights and goal. One whose position is
    free draws by `weights.terminal`, and can always be met; a velocity that is fixed at none has every plan brake at
    its end. aim: where the goal is at a time; None: it stays.
    step_s: of the flight, which has its controls from the plans. lag_s: until a plan takes over; None: the period.
    flown: what is flown where that is not what is planned for (in a wind that no plan knows). time_limit_s: of a solve,
    wall time. Raises InputError where the first plan is not found, and for times that do not fit.
    """
    flown = vehicle if flown is None else given_vehicle(flown)
    number("receding_horizon: step_s", step_s, above=0.0)
    lag_s = period_s if lag_s is None else lag_s
    for name, value in (("duration_s", duration_s), ("period_s", period_s), ("lag_s", lag_s)):
        number(f"receding_horizon: {name}", value, above=0.0)
    if not (aim is None or callable(aim)):
        raise InputError(
            f"receding_horizon: aim = {quote(aim)} is refused; allowed: a function of time, or None"
        )
    steps, every, lag = (round(t / step_s) for t in (duration_s, period_s, lag_s))
    for name, value, count in (
        ("duration_s", duration_s, steps),
        ("period_s", period_s, every),
        ("lag_s", lag_s, lag),
    ):
        if not (step_s > 0.0 and count >= 1 and abs(count * step_s - value) < 1e-9 * max(value, 1.0)):
            raise InputError(
                f"receding_horizon: {name} = {quote(value)} is refused; allowed: whole steps of {step_s:g} s"
            )
    if flown.name != vehicle.name:
        raise InputError(f"receding_horizon: flown is a {flown.name}; allowed: a {vehicle.name}")
    if flown.node_layout.size != vehicle.node_layout.size or len(flown.controls) != len(vehicle.controls):
        raise InputError(
            f"receding_horizon: flown has {flown.node_layout.size} numbers of state and {len(flown.controls)} "
            f"controls; allowed: {vehicle.node_layout.size} and {len(vehicle.controls)}, as what is planned for"
        )
    scheme = integrator(method) if isinstance(method, str) else method
    planner = planner or Planner(sized_by=task)
    first = planner.plan(vehicle, aimed(task, task.start, None if aim is None else aim(0.0)), method=scheme)
    if not first.solved:
        raise InputError(f"receding_horizon: there is no first plan: {first.message}")
    flight, handover = _Flight(flown, scheme, task.start, step_s), Handover()
    kernel = stepper_of(vehicle, scheme)
    told = [Replanning(0.0, 0.0, True, first.seconds, first.cost)]
    handover.expect(route_of(first), 0.0, 0.0)
    horizons, warm, ages = [], first, np.zeros(steps)
    for n in range(steps):
        taken = handover.turn(n * step_s)
        if taken is not None:
            horizons.append(taken.route.places_w)
        if n and n % every == 0 and not handover.coming:
            rows = [_held(handover, (n + k) * step_s) for k in range(lag)]
            start = vehicle.state_at_node(stepped(vehicle, kernel, step_s, flight.node, rows))
            wanted = aimed(task, start, None if aim is None else aim(n * step_s))
            new = replanned(planner, vehicle, scheme, wanted, warm, time_limit_s)
            told.append(
                Replanning(n * step_s, (n + lag) * step_s, new.plan is not None, new.seconds, new.cost)
            )
            if new.plan is not None:
                warm = new.plan
                handover.expect(route_of(new.plan), n * step_s, (n + lag) * step_s)
        assert handover.flown is not None
        ages[n] = n * step_s - handover.flown.since_s
        flight.advance(_held(handover, n * step_s))
    return Pursuit(flight.trajectory(), tuple(told), tuple(horizons), ages)


def _held(handover: Handover, time_s: float) -> np.ndarray:
    controls = handover.held(time_s)
    assert controls is not None
    return controls


class _Flight:
    """One vehicle under one method, step by step, with controls that are handed over."""

    def __init__(self, vehicle: Vehicle, scheme: Integrator, start: State, step_s: float) -> None:
        self.vehicle, self._scheme, self._step_s = vehicle, scheme, step_s
        self._kernel = stepper_of(vehicle, scheme)
        self.node = start.node.copy()
        self._nodes: list[np.ndarray] = [self.node]
        self._controls: list[np.ndarray] = []

    def advance(self, controls: np.ndarray) -> None:
        """One step."""
        self.node = stepped(self.vehicle, self._kernel, self._step_s, self.node, [controls])
        self._nodes.append(self.node)
        self._controls.append(controls)

    def trajectory(self) -> Trajectory:
        controls = np.array([*self._controls, self._controls[-1]])
        move = Motion(self._step_s, np.array(self._nodes), controls, controls)
        return trajectory(self.vehicle, self._scheme, move)
