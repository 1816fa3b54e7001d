"""Plans for a vehicle that moves, one after the other, each going on from the last."""

import numpy as np

from sim.control.plan_following import Answered, Asked
from sim.integrators import integrator
from sim.planner.result.plan import Plan
from sim.planner.service.planner import Planner
from sim.planner.service.replan import aimed, replanned, route_of
from sim.planner.task.task import Task
from sim.vehicles.forms.form import State

FIRST_S, NEXT_S = 20.0, 0.5
"""Wall time for a plan without and with one to go on from."""
_USUAL_SHARE = 0.25
"""Of the way that the limit of speed allows: how far off a goal usually is."""


class Chase:
    """Keeps the last plan, and the problems that were built for its vehicle."""

    def __init__(self) -> None:
        self._planner: Planner | None = None
        self._last: Plan | None = None

    def answered(self, asked: Asked, task: Task) -> Answered:
        """A plan from where the vehicle will be; whatever goes wrong is told, in a line."""
        vehicle = asked.vehicle
        start = vehicle.state_at_node(asked.node)
        if self._last is not None and self._last.vehicle.name != vehicle.name:
            self._planner = self._last = None
        # However near the goal comes, the problem stays that of its usual distance.
        self._planner = self._planner or Planner(sized_by=_usual(task, start))
        limit_s = FIRST_S if self._last is None else NEXT_S
        try:
            scheme = integrator(asked.method, **asked.options)
            new = replanned(self._planner, vehicle, scheme, aimed(task, start), self._last, limit_s)
        except Exception as error:
            told = str(error).splitlines()[0] if str(error) else repr(error)
            return Answered(asked.number, None, 0.0, f"the planner failed: {told}")
        if new.plan is None:
            return Answered(asked.number, None, new.seconds, new.told)
        self._last = new.plan
        return Answered(asked.number, route_of(new.plan), new.seconds)


def _usual(task: Task, start: State) -> Task:
    """One whose goal is as far from the start as goals are."""
    assert start.group is not None
    place = start.node[start.group.position].copy()
    place[0] += _USUAL_SHARE * task.limits.speed_mps * task.duration_s
    return aimed(task, start, np.asarray(place))
