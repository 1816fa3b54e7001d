"""Plans for a vehicle that moves, one after the other, each from where the last one leads.

`receding_horizon` is the loop of `sim.control.mpc` around one vehicle without a window, with a fixed lag.

Nothing here looks at a clock but to measure, so that the same call gives the same motion on every machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sim.control.mpc import FlownPlan, MpcAnswer, MpcLoop, MpcRequest, predicted
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan, trajectory
from sim.planner.service.planner import Planner
from sim.planner.task.bodies import once_around, positions
from sim.planner.task.inputs import input_map_of
from sim.planner.task.mpc import with_goal_at
from sim.planner.task.task import Task
from sim.planner.transcription.transcription import PlannedMotion
from sim.platform.errors import InputError, number, quote
from sim.steppers.choice import stepper_of
from sim.steppers.dynamics import Dynamics
from sim.steppers.trajectory import Trajectory
from sim.vehicles import checked_vehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State


@dataclass(frozen=True, slots=True, eq=False)
class Replanned:
    """What a solve has come to."""

    plan: Plan | None
    """None where there is none."""
    seconds: float
    """Wall time."""
    reason: str = ""
    """Why there is none."""

    def answer(self, number: int) -> MpcAnswer:
        """To the request of that number."""
        return MpcAnswer(
            number, None if self.plan is None else flown_plan(self.plan), self.seconds, self.reason
        )

    @property
    def cost(self) -> float:
        return np.inf if self.plan is None else self.plan.cost


def replanned(
    planner: Planner, vehicle: Vehicle, scheme: Integrator, task: Task, warm: Plan | None, time_limit_s: float
) -> Replanned:
    """The plan of a task whose start has moved on, from the last plan; without one from the likeliest first guess."""
    begun = time.perf_counter()
    try:
        plan = planner.plan(
            vehicle,
            task,
            method=scheme,
            warm=warm,
            starts=1,
            explain=False,
            time_limit_s=time_limit_s,
            measured=True,
        )
    except InputError as refusal:
        # A goal that is out of reach now.
        return Replanned(None, time.perf_counter() - begun, str(refusal))
    seconds = time.perf_counter() - begun
    return Replanned(plan, seconds) if plan.solved else Replanned(None, seconds, plan.message)


def flown_plan(plan: Plan) -> FlownPlan:
    """A plan as it is flown."""
    vehicle, nodes = plan.vehicle, np.ascontiguousarray(plan.motion.nodes)
    inputs = input_map_of(vehicle)
    rest = inputs.controls(inputs.trim(nodes[-1, vehicle.node_layout.pose])[None])[0]
    controls = np.ascontiguousarray(plan.controls)
    return FlownPlan(plan.step_s, nodes, controls, rest, positions(vehicle, nodes), plan.cost)


def aimed(task: Task, start: State, wanted: Any = None) -> Task:
    """The task from another start. wanted: place (3,) or (2,) [m] or a `State` that is its goal; None: as it was."""
    if isinstance(wanted, State):
        task = replace(task, goal=replace(task.goal, state=wanted))
    elif wanted is not None:
        assert start.group is not None
        task = with_goal_at(start.group, task, np.asarray(wanted, float))
    return once_around(replace(task, start=start))


FIRST_S, NEXT_S = 20.0, 0.5
"""Wall time for a plan without and with one to go on from."""
_USUAL_SHARE = 0.25
"""Of the way that the limit of speed allows: how far off a goal usually is."""


class Replanner:
    """Answers a loop of model predictive control. Keeps the last plan, and the problems built for its vehicle."""

    def __init__(self) -> None:
        self._planner: Planner | None = None
        self._last: Plan | None = None

    def answered(self, request: MpcRequest, task: Task) -> MpcAnswer:
        """A plan from where the vehicle will be; whatever goes wrong is reported in a line."""
        vehicle = request.vehicle
        start = vehicle.state_at_node(request.node)
        if self._last is not None and self._last.vehicle.name != vehicle.name:
            self._planner = self._last = None
        # However near the goal comes, the problem stays that of its usual distance.
        self._planner = self._planner or Planner(sized_by=_usual(task, start))
        limit_s = FIRST_S if self._last is None else NEXT_S
        try:
            scheme = integrator(request.method, **request.options)
            new = replanned(self._planner, vehicle, scheme, aimed(task, start), self._last, limit_s)
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else repr(error)
            return MpcAnswer(request.number, None, 0.0, f"the planner failed: {reason}")
        self._last = new.plan or self._last
        return new.answer(request.number)


def _usual(task: Task, start: State) -> Task:
    """One whose goal is as far from the start as goals are."""
    assert start.group is not None
    place = start.node[start.group.position].copy()
    place[0] += _USUAL_SHARE * task.limits.speed_mps * task.duration_s
    return aimed(task, start, np.asarray(place))


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
class RecedingHorizon:
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
) -> RecedingHorizon:
    """Fly a vehicle for `duration_s`, planning anew every `period_s` from the state that it will have `lag_s` later.

    task: start, horizon (`duration_s` and `steps` of it), limits, obstacles, weights and goal. One whose position is
    free draws by `weights.terminal`, and can always be met; a velocity that is fixed at none has every plan brake at
    its end. aim: where the goal is at a time; None: it stays.
    step_s: of the flight, which has its controls from the plans. lag_s: until a plan takes over; None: the period.
    flown: what is flown where that is not what is planned for (in a wind that no plan knows). time_limit_s: of a solve,
    wall time. Raises InputError where the first plan is not found, and for times that do not fit.
    """
    flown = vehicle if flown is None else checked_vehicle(flown)
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
    flight = _Flight(flown, scheme, task.start, step_s)
    known = Dynamics(vehicle, stepper_of(vehicle, scheme), step_s, every_step=True)
    source = _Solved(planner, scheme, task, aim, first, 1.0 / period_s, time_limit_s)
    loop = MpcLoop(source, lag_s=lag_s)
    loop.begin(flown_plan(first), 0.0)
    horizons, ages = [], np.zeros(steps)
    for n in range(steps):
        now_s = n * step_s
        taken = loop.hand_over(now_s)
        if taken is not None:
            horizons.append(taken.plan.places_w)
        loop.ask(now_s, step_s, flight.node, known, partial(_held, loop))
        assert loop.flown is not None
        ages[n] = now_s - loop.flown.since_s
        flight.advance(_held(loop, now_s))
    return RecedingHorizon(flight.trajectory(), tuple(source.solves), tuple(horizons), ages)


def _held(loop: MpcLoop, time_s: float) -> np.ndarray:
    controls = loop.controls_at(time_s)
    assert controls is not None
    return controls


class _Solved:
    """Plans that are solved when they are asked for."""

    def __init__(
        self,
        planner: Planner,
        scheme: Integrator,
        task: Task,
        aim: AimAt | None,
        first: Plan,
        rate_hz: float,
        time_limit_s: float,
    ) -> None:
        self.rate_hz = rate_hz
        self.solves = [Replanning(0.0, 0.0, True, first.seconds, first.cost)]
        self._planner, self._scheme, self._task, self._aim = planner, scheme, task, aim
        self._last, self._time_limit_s = first, time_limit_s
        self._answers: list[MpcAnswer] = []

    def ask(self, request: MpcRequest) -> None:
        """Solve it."""
        vehicle, now_s = request.vehicle, request.asked_s
        start = vehicle.state_at_node(request.node)
        wanted = aimed(self._task, start, None if self._aim is None else self._aim(now_s))
        new = replanned(self._planner, vehicle, self._scheme, wanted, self._last, self._time_limit_s)
        self.solves.append(Replanning(now_s, request.since_s, new.plan is not None, new.seconds, new.cost))
        self._last = new.plan or self._last
        self._answers.append(new.answer(request.number))

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        """All at once."""
        answers, self._answers = self._answers, []
        return answers


class _Flight:
    """One vehicle under one method, step by step, with controls that are handed over."""

    def __init__(self, vehicle: Vehicle, scheme: Integrator, start: State, step_s: float) -> None:
        self.vehicle, self._scheme, self._step_s = vehicle, scheme, step_s
        self._dynamics = Dynamics(vehicle, stepper_of(vehicle, scheme), step_s, every_step=True)
        self.node = start.node.copy()
        self._nodes: list[np.ndarray] = [self.node]
        self._controls: list[np.ndarray] = []

    def advance(self, controls: np.ndarray) -> None:
        """One step."""
        self.node = predicted(self._dynamics, self.node, [controls])
        self._nodes.append(self.node)
        self._controls.append(controls)

    def trajectory(self) -> Trajectory:
        controls = np.array([*self._controls, self._controls[-1]])
        move = PlannedMotion(self._step_s, np.array(self._nodes), controls, controls)
        return trajectory(self.vehicle, self._scheme, move)
