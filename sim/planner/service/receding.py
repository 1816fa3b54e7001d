"""Plans for a vehicle that moves, one after the other, each from where the last one leads.

`receding_horizon` is the loop of `sim.control.mpc` around one vehicle without a window, with a fixed lag.

Nothing here looks at a clock but to measure, so that the same call gives the same motion on every machine.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sim.control.calm_water import CalmWater, CalmWaterObserver, floating, sensed_afloat
from sim.control.helm import Berth
from sim.control.mpc import FIRST_REQUEST, FlownPlan, MpcAnswer, MpcLoop, MpcRequest
from sim.environment.environment import Environment, environment_of
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan, trajectory
from sim.planner.service.planner import Planner
from sim.planner.task.bodies import once_around, positions
from sim.planner.task.check_kinds import check_kinds
from sim.planner.task.inputs import input_map_of
from sim.planner.task.mpc import with_goal_at
from sim.planner.task.task import Task, Waypoint
from sim.planner.transcription.transcription import PlannedMotion
from sim.platform.errors import InputError, number, quote
from sim.platform.values import dataclass
from sim.steppers.dynamics import Dynamics, between, stepper_of
from sim.steppers.trajectory import Trajectory
from sim.vehicles import checked_vehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State, Support

Motion = tuple[np.ndarray, np.ndarray]
"""Nodes and controls."""


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
    planner: Planner,
    vehicle: Vehicle,
    scheme: Integrator,
    task: Task,
    last: Plan | Motion | None,
    gone_s: float,
    time_limit_s: float,
) -> Replanned:
    """The plan of a task whose start has moved on, from the last plan, which began `gone_s` before it, or from a motion
    that leads there; without either from the likeliest first guess."""
    begun = time.perf_counter()
    warm = last
    if isinstance(last, Plan) and task.free_duration is not None:
        task, warm = rest_of(task, last, gone_s)
    options: dict[str, Any] = {"starts": 1, "explain": False, "time_limit_s": time_limit_s, "measured": True}
    try:
        plan = planner.plan(vehicle, task, method=scheme, warm=warm, **options)
        if plan.solved and task.free_duration is not None and task.waypoints:
            earlier = planner.plan(vehicle, sooner(plan), method=scheme, warm=plan, **options)
            plan = earlier if earlier.solved and earlier.cost < plan.cost else plan
        elif cut_short(plan):
            anew = planner.plan(vehicle, longer(task), method=scheme, **options)
            plan = anew if anew.solved and anew.cost < plan.cost else plan
    except InputError as refusal:
        # A goal that is out of reach now.
        return Replanned(None, time.perf_counter() - begun, str(refusal))
    seconds = time.perf_counter() - begun
    return Replanned(plan, seconds) if plan.solved else Replanned(None, seconds, plan.message)


def rest_of(task: Task, last: Plan, gone_s: float) -> tuple[Task, Plan | Motion]:
    """The task whose final time is free, after so long under the last plan, and what to go on from: waypoints that were
    passed by then are done, and others are met by the nodes that come nearest."""
    assert task.free_duration is not None
    shortest_s, longest_s = task.free_duration
    left_s = min(max(last.duration_s - gone_s, shortest_s), longest_s)
    # One that is less than a step ahead is no node's any more: the way that leads through it is under way.
    coming = sum(w.time_s is not None and w.time_s > gone_s + last.step_s for w in last.task.waypoints)
    waypoints = task.waypoints[len(task.waypoints) - coming :]
    task = replace(task, duration_s=left_s, waypoints=waypoints)
    if not last.task.waypoints:
        return task, last
    # On the grid of what is left: which node is nearest to a waypoint changes on the way there.
    nodes, at = last.motion.nodes, np.linspace(gone_s / last.step_s, len(last.controls) - 1.0, task.steps + 1)
    rows = np.clip(at.astype(int), 0, len(nodes) - 2)
    left = [between(last.vehicle, nodes[k], nodes[k + 1], t - k) for k, t in zip(rows, at, strict=True)]
    return task, (np.array(left), last.controls[rows])


def sooner(plan: Plan) -> Task:
    """The plan's task with its waypoints met a node sooner: on the way there fewer and fewer nodes lie before them, and
    one step of flight alone moves none to the next node."""
    step_s, task = plan.step_s, replace(plan.task, duration_s=plan.duration_s)
    moved: list[Waypoint] = []
    for waypoint in task.waypoints:
        assert waypoint.time_s is not None
        moved.append(replace(waypoint, time_s=max(waypoint.time_s - step_s, (len(moved) + 1) * step_s)))
    return replace(task, waypoints=tuple(moved))


_AT_LEAST = 1.01
"""Of the shortest time: a plan that takes less is held at it."""
_FAR_OFF = 4.0
"""Half the squares of what a plan misses over its tolerances, from which on another is worth looking for."""


def cut_short(plan: Plan) -> bool:
    """Whether a plan whose final time is free takes the shortest one and still misses what it is to come near: while
    its craft is driven off, a little more time makes it worse, and enough to come back is not next to that."""
    task = plan.task
    if not plan.solved or task.free_duration is None:
        return False
    held = plan.duration_s < _AT_LEAST * task.free_duration[0]
    return held and plan.costs.get("terminal", 0.0) > _FAR_OFF * task.weights.terminal


def longer(task: Task) -> Task:
    """The task of a free final time without the shorter half of the times it may take, in the logarithm."""
    assert task.free_duration is not None
    shortest_s, longest_s = task.free_duration
    least_s = float(np.sqrt(shortest_s * longest_s))
    return replace(task, free_duration=(least_s, longest_s), duration_s=min(1.5 * least_s, longest_s))


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
        self._since_s = 0.0
        """Simulated time at which that begins."""

    def answered(self, request: MpcRequest, task: Task, guess: Motion | None = None) -> MpcAnswer:
        """A plan from where the vehicle will be; whatever goes wrong is reported in a line. guess: what the first plan
        of a flight begins with; None: the likeliest one."""
        vehicle = request.vehicle
        start = vehicle.state_at_node(request.node)
        if self._last is not None and self._last.vehicle.name != vehicle.name:
            self._planner = self._last = None
        # However near the goal comes, the problem stays that of its usual distance.
        self._planner = self._planner or Planner(sized_by=_usual(task, start))
        self._last = None if request.number == FIRST_REQUEST else self._last
        last = guess if self._last is None else self._last
        limit_s = FIRST_S if self._last is None else NEXT_S
        try:
            scheme = integrator(request.method, **request.options)
            gone_s = 0.0 if self._last is None else request.since_s - self._since_s
            new = replanned(self._planner, vehicle, scheme, aimed(task, start), last, gone_s, limit_s)
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else repr(error)
            return MpcAnswer(request.number, None, 0.0, f"the planner failed: {reason}")
        if new.plan is not None:
            self._last, self._since_s = new.plan, request.since_s
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
    around: Environment | None = None,
    until: Callable[[float, State], bool] | None = None,
    planner: Planner | None = None,
    time_limit_s: float = 5.0,
) -> RecedingHorizon:
    """Fly a vehicle for `duration_s`, planning anew every `period_s` from the state that it will have `lag_s` later.

    task: start, horizon (`duration_s` and `steps` of it), limits, obstacles, weights and goal. One whose position is
    free draws by `weights.terminal`, and can always be met; a velocity that is fixed at none has every plan brake at
    its end. Where its final time is free, all that is left of it is planned each time, the waypoints still to come with
    it. aim: where the goal is at a time; None: it stays.
    step_s: of the flight, which has its controls from the plans. lag_s: until a plan takes over; None: the period.
    flown: what is flown where that is not what is planned for: in a wind that no plan knows, or on waves, as a craft
    whose `calm_water` is planned for; plans then know the current and the steady force as they are found out on the way
    (`CalmWaterObserver`). around: what surrounds it; None: as usual, open water about what floats. until: ends it
    after the first step at whose end (time [s], state) it holds. time_limit_s: of a solve, of the processor. Raises
    InputError where the first plan is not found, and for times that do not fit.
    """
    vehicle = checked_vehicle(vehicle)
    check_kinds(task)
    flown = vehicle if flown is None else checked_vehicle(flown)
    afloat = isinstance(vehicle, CalmWater) and flown.support is Support.WATER
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
    if flown.name != vehicle.name and not afloat:
        raise InputError(f"receding_horizon: flown is a {flown.name}; allowed: a {vehicle.name}")
    if (not afloat and flown.node_layout.size != vehicle.node_layout.size) or len(flown.controls) != len(
        vehicle.controls
    ):
        raise InputError(
            f"receding_horizon: flown has {flown.node_layout.size} numbers of state and {len(flown.controls)} "
            f"controls; allowed: {vehicle.node_layout.size} and {len(vehicle.controls)}, as what is planned for"
        )
    scheme = integrator(method) if isinstance(method, str) else method
    planner = planner or Planner(sized_by=task)
    first = planner.plan(vehicle, aimed(task, task.start, None if aim is None else aim(0.0)), method=scheme)
    if not first.solved:
        raise InputError(f"receding_horizon: there is no first plan: {first.message}")
    began = floating(flown, task.start) if afloat else task.start
    flight = Flight(flown, scheme, began, step_s, environment_of(flown) if around is None else around)
    known = Dynamics(vehicle, stepper_of(vehicle, scheme), step_s, every_step=True)
    observer = CalmWaterObserver(flown, scheme, step_s, every_step=True) if afloat else None
    source = _Solved(planner, scheme, task, aim, first, 1.0 / period_s, time_limit_s)
    loop = MpcLoop(source, lag_s=lag_s)
    loop.begin(flown_plan(first), 0.0)
    horizons, ages = [], np.zeros(steps)
    for n in range(steps):
        now_s, node = n * step_s, flight.node
        taken = loop.hand_over(now_s)
        if taken is not None:
            horizons.append(taken.plan.places_w)
        controls = _held(loop, now_s)
        if observer is not None:
            sensed = sensed_afloat(flown.state_at_node(node))
            observer.see(sensed, controls, step_s)
            if loop.asks(now_s):
                observer.learn()
            node, known = observer.seen(sensed).node, observer.known
        loop.ask(now_s, step_s, node, known, partial(_held, loop))
        assert loop.flown is not None
        ages[n] = now_s - loop.flown.since_s
        flight.advance(controls)
        if until is not None and until((n + 1) * step_s, flown.state_at_node(flight.node)):
            ages = ages[: n + 1]
            break
    return RecedingHorizon(flight.trajectory(), tuple(source.solves), tuple(horizons), ages)


def _held(loop: MpcLoop, time_s: float) -> np.ndarray:
    controls = loop.controls_at(time_s)
    assert controls is not None
    return controls


class _Solved:
    """Plans that are solved when they are asked for."""

    berth: Berth | None = None

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
        self._last, self._since_s, self._time_limit_s = first, 0.0, time_limit_s
        self._answers: list[MpcAnswer] = []

    def ask(self, request: MpcRequest) -> None:
        """Solve it."""
        vehicle, now_s = request.vehicle, request.asked_s
        start = vehicle.state_at_node(request.node)
        wanted = aimed(self._task, start, None if self._aim is None else self._aim(now_s))
        gone_s = request.since_s - self._since_s
        new = replanned(self._planner, vehicle, self._scheme, wanted, self._last, gone_s, self._time_limit_s)
        self.solves.append(Replanning(now_s, request.since_s, new.plan is not None, new.seconds, new.cost))
        if new.plan is not None:
            self._last, self._since_s = new.plan, request.since_s
        self._answers.append(new.answer(request.number))

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        """All at once."""
        answers, self._answers = self._answers, []
        return answers


class Flight:
    """One vehicle under one method, step by step, with controls that are handed over."""

    def __init__(
        self, vehicle: Vehicle, scheme: Integrator, start: State, step_s: float, around: Environment
    ) -> None:
        self.vehicle, self._scheme, self._step_s, self._around = vehicle, scheme, step_s, around
        self._kernel = stepper_of(vehicle, scheme, around.inline)
        self.parameters = vehicle.parameter_vector
        """(n,) of the vehicle from now on: a wind may change under way."""
        self._nothing = np.zeros(self._kernel.dim)
        self._y: np.ndarray | None = None
        self.node = start.node.copy()
        self._nodes: list[np.ndarray] = [self.node]
        self._controls: list[np.ndarray] = []

    def advance(self, controls: np.ndarray) -> None:
        """One step."""
        kernel, p, h, around = self._kernel, self.parameters, self._step_s, self._around
        y = self._y if around.acts else None
        if y is None:
            y = self._y = kernel.start(self.node, controls, p, h, around.probe().env)
        _, status, _ = kernel.advance(y, controls, self._nothing, p, h, 1, around.env)
        if status:
            raise InputError(f"{self.vehicle.name}: the motion cannot be continued: the step has no solution")
        self.node = kernel.node(y, controls, p, h, env=around.probe().env)
        self._nodes.append(self.node)
        self._controls.append(controls)

    def trajectory(self) -> Trajectory:
        controls = np.array([*self._controls, self._controls[-1]])
        move = PlannedMotion(self._step_s, np.array(self._nodes), controls, controls)
        return trajectory(self.vehicle, self._scheme, move)
