"""Planning while moving: a plan from where the vehicle will be, again and again, each taking over from the last.

Every plan names the moment that it was planned from and the moment at which it takes over, and ends at rest: where a
solve fails or is late, the last plan goes on, brakes, and holds. Nothing here looks at a clock but to measure, so that
the same call gives the same motion on every machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.errors import InputError
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan, trajectory
from sim.planner.service.planner import Planner
from sim.planner.task.inputs import input_map_of
from sim.planner.task.poses import positions
from sim.planner.task.task import Goal, Task
from sim.planner.transcription.motion import Motion
from sim.steppers.choice import stepper_of
from sim.trajectory import Trajectory
from sim.vehicles.base import State, Vehicle

AimAt = Callable[[float], Any]
"""Time [s] -> place (3,) or (2,) [m] or a `State` that is wanted at that time."""


@dataclass(frozen=True, slots=True)
class Replanned:
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
    plans: tuple[Replanned, ...]
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
    flown = flown or vehicle
    lag_s = period_s if lag_s is None else lag_s
    steps, every, lag = (round(t / step_s) for t in (duration_s, period_s, lag_s))
    for name, value, count in (
        ("duration_s", duration_s, steps),
        ("period_s", period_s, every),
        ("lag_s", lag_s, lag),
    ):
        if not (step_s > 0.0 and count >= 1 and abs(count * step_s - value) < 1e-9 * max(value, 1.0)):
            raise InputError(
                f"receding_horizon: {name} = {value!r} is refused; allowed: whole steps of {step_s:g} s"
            )
    if flown.name != vehicle.name:
        raise InputError(f"receding_horizon: flown is a {flown.name}; allowed: a {vehicle.name}")
    scheme = integrator(method) if isinstance(method, str) else method
    planner = planner or Planner(sized_by=task)
    first = planner.plan(vehicle, _aimed(task, task.start, aim, 0.0), method=scheme)
    if not first.solved:
        raise InputError(f"receding_horizon: there is no first plan: {first.message}")
    flight = _Flight(flown, scheme, task.start, step_s)
    ahead = _Flight(vehicle, scheme, task.start, step_s)
    told = [Replanned(0.0, 0.0, True, first.seconds, first.cost)]
    horizons, current, since = [_places(vehicle, first)], first, 0
    coming: tuple[int, Plan] | None = None
    ages = np.zeros(steps)
    for n in range(steps):
        if coming is not None and coming[0] == n:
            since, current = coming
            horizons.append(_places(vehicle, current))
            coming = None
        if n and n % every == 0 and coming is None:
            start = ahead.foreseen(flight.node, current, n - since, lag)
            plan, told_now = _planned(
                planner, vehicle, scheme, task, aim, start, current, n * step_s, lag_s, time_limit_s
            )
            told.append(told_now)
            if plan is not None:
                coming = n + lag, plan
        ages[n] = (n - since) * step_s
        flight.advance(_controls(current, (n - since) * step_s))
    return Pursuit(flight.trajectory(), tuple(told), tuple(horizons), ages)


def _planned(
    planner: Planner,
    vehicle: Vehicle,
    scheme: Integrator,
    task: Task,
    aim: AimAt | None,
    start: State,
    current: Plan,
    now_s: float,
    lag_s: float,
    time_limit_s: float,
) -> tuple[Plan | None, Replanned]:
    """The next plan, from where the present one leads; None where there is none."""
    begun = time.perf_counter()
    wanted = _aimed(task, start, aim, now_s)
    try:
        plan = planner.plan(
            vehicle, wanted, method=scheme, warm=current, starts=1, explain=False, time_limit_s=time_limit_s
        )
    except InputError:
        # A start beside the task's bounds, or a goal that is out of reach now.
        return None, Replanned(now_s, now_s + lag_s, False, time.perf_counter() - begun, np.inf)
    seconds = time.perf_counter() - begun
    return (plan if plan.solved else None), Replanned(now_s, now_s + lag_s, plan.solved, seconds, plan.cost)


class _Flight:
    """One vehicle under one method, step by step, with controls that are handed over."""

    def __init__(self, vehicle: Vehicle, scheme: Integrator, start: State, step_s: float) -> None:
        self.vehicle, self._scheme, self._step_s = vehicle, scheme, step_s
        self._kernel = stepper_of(vehicle, scheme)
        self._p = vehicle.parameter_vector
        self.node = start.node.copy()
        self._nodes: list[np.ndarray] = [self.node]
        self._controls: list[np.ndarray] = []
        self._none = np.zeros(self._kernel.dim)

    def _stepped(self, node: np.ndarray, controls: list[np.ndarray]) -> np.ndarray:
        h, k = self._step_s, self._kernel
        y = k.start(node, controls[0], self._p, h)
        for u in controls:
            _, status, _ = k.advance(y, u, self._none, self._p, h, 1)
            if status:
                raise InputError(
                    f"{self.vehicle.name}: the motion cannot be continued: the step has no solution"
                )
        return k.node(y, controls[-1], self._p, h)

    def advance(self, controls: np.ndarray) -> None:
        """One step."""
        self.node = self._stepped(self.node, [controls])
        self._nodes.append(self.node)
        self._controls.append(controls)

    def foreseen(self, node: np.ndarray, plan: Plan, begun: int, count: int) -> State:
        """Where a plan that began so many steps ago leads in `count` more."""
        rows = [_controls(plan, (begun + k) * self._step_s) for k in range(count)]
        return self.vehicle.state_at_node(self._stepped(node, rows))

    def trajectory(self) -> Trajectory:
        controls = np.array([*self._controls, self._controls[-1]])
        move = Motion(self._step_s, np.array(self._nodes), controls, controls)
        return trajectory(self.vehicle, self._scheme, move)


def _controls(plan: Plan, since_s: float) -> np.ndarray:
    """Held over each of the plan's steps; after its end, where it rests, those that balance it there."""
    row = int(since_s / plan.step_s + 1e-9)
    if row < len(plan.controls) - 1:
        return plan.controls[row]
    inputs = input_map_of(plan.vehicle)
    return inputs.controls(inputs.trim(plan.motion.nodes[-1, plan.vehicle.node_layout.pose])[None])[0]


def _aimed(task: Task, start: State, aim: AimAt | None, time_s: float) -> Task:
    if aim is None:
        return replace(task, start=start)
    wanted = aim(time_s)
    goal: Goal = task.goal
    state = wanted if isinstance(wanted, State) else _placed(goal.state, np.asarray(wanted, float))
    return replace(task, start=start, goal=replace(goal, state=state))


def _placed(state: State, place_w: np.ndarray) -> State:
    node = state.node.copy()
    assert state.group is not None
    where = state.group.position
    node[where] = place_w[: where.stop - where.start]
    return replace(state, node=node)


def _places(vehicle: Vehicle, plan: Plan) -> np.ndarray:
    return positions(vehicle, plan.motion.nodes)
