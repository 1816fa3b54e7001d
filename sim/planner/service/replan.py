"""A plan from where the last one leads: what is solved again and again while a vehicle moves."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.control.plan_following import Route
from sim.integrators import Integrator
from sim.planner.result.plan import Plan
from sim.planner.service.planner import Planner
from sim.planner.task.inputs import input_map_of
from sim.planner.task.poses import once_around, positions
from sim.planner.task.pursuit import with_goal_at
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
    told: str = ""
    """Why there is none."""

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


def route_of(plan: Plan) -> Route:
    """A plan as it is flown."""
    vehicle, nodes = plan.vehicle, np.ascontiguousarray(plan.motion.nodes)
    inputs = input_map_of(vehicle)
    rest = inputs.controls(inputs.trim(nodes[-1, vehicle.node_layout.pose])[None])[0]
    controls = np.ascontiguousarray(plan.controls)
    return Route(plan.step_s, nodes, controls, rest, positions(vehicle, nodes), plan.cost)


def aimed(task: Task, start: State, wanted: Any = None) -> Task:
    """The task from another start. wanted: place (3,) or (2,) [m] or a `State` that is its goal; None: as it was."""
    if isinstance(wanted, State):
        task = replace(task, goal=replace(task.goal, state=wanted))
    elif wanted is not None:
        assert start.group is not None
        task = with_goal_at(start.group, task, np.asarray(wanted, float))
    return once_around(replace(task, start=start))
