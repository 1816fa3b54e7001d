"""Plans for a vehicle that moves, one after the other, each from where the last one leads."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.control.mpc import FlownPlan, MpcAnswer, MpcRequest
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan
from sim.planner.service.planner import Planner
from sim.planner.task.inputs import input_map_of
from sim.planner.task.mpc import with_goal_at
from sim.planner.task.poses import once_around, positions
from sim.planner.task.task import Task
from sim.platform.errors import InputError
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
