"""What plans in the process of its own: jobs come through a pipe, and answers go back."""

import time
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

from sim.control.plan_following import planned_on
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord, record_of
from sim.planner.service.jobs import (
    FOLLOWING_S,
    TIME_LIMIT_S,
    TOUCHING_S,
    Answer,
    Built,
    PlanJob,
    Planned,
    Progressed,
    Refused,
    Replan,
    SetGround,
)
from sim.planner.service.planner import Iterate, Planner
from sim.planner.service.receding import Replanner
from sim.planner.task.refusal import Refusal, refusal_of
from sim.planner.task.task import Task
from sim.planner.task.terrain import SafeGround
from sim.platform.errors import InputError
from sim.vehicles.forms.custom import OwnClass, OwnRobot


class PlanServer:
    """What runs in the process: carries out messages that come through a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._planner = pipe, Planner()
        self._ground: SafeGround | None = None
        self._last: Plan | None = None
        self._replanner = Replanner()

    def take(self, message: object) -> None:
        """Carry out one message. Every job is answered; one that others wait behind is not worth doing."""
        if isinstance(message, SetGround):
            self._ground = message.ground
        if isinstance(message, OwnClass | OwnRobot):
            message()
        if isinstance(message, Replan):
            task = replace(message.task, ground=self._ground)
            self._pipe.send(self._replanner.answered(message.request, task, message.guess))
        if not isinstance(message, PlanJob):
            return
        if self._pipe.poll():
            self._pipe.send(Refused(message.number, Refusal("Stopped.")))
            return
        try:
            answer: Answer = self._answered(message)
        except InputError as error:
            answer = Refused(message.number, refusal_of(error))
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else repr(error)
            answer = Refused(message.number, Refusal(f"The planner failed: {reason}"))
        self._pipe.send(answer)

    def _answered(self, job: PlanJob) -> Answer:
        task, method = replace(job.task, ground=self._ground), integrator(job.method, **job.options)
        if job.only_build:
            self._planner.build(job.vehicle, task, method=method)
            return Built(job.number)
        plan = self._planned(job, task, method)
        if plan.solved:
            self._last = plan
        return Planned(job.number, self._record(task, plan))

    def _planned(self, job: PlanJob, task: Task, method: Integrator) -> Plan:
        if job.warm:
            start = job.start or self._last
            if start is not None and start.vehicle.name != job.vehicle.name:
                start = None
            return self._planner.plan(
                job.vehicle,
                task,
                method=method,
                warm=start,
                starts=1,
                given_up=self._pipe.poll,
                explain=False,
                time_limit_s=FOLLOWING_S,
            )

        def show(iterate: Iterate) -> bool:
            places = np.ascontiguousarray(iterate.places_w)
            self._pipe.send(Progressed(job.number, replace(iterate, places_w=places)))
            return True

        shown: list[float] = []

        def found(plan: Plan) -> bool:
            if not shown or plan.cost < shown[-1]:
                shown.append(plan.cost)
                self._pipe.send(Planned(job.number, self._record(task, plan), last=False))
            return True

        return self._planner.plan(
            job.vehicle,
            task,
            method=method,
            show=show,
            found=found,
            given_up=self._pipe.poll,
            time_limit_s=TIME_LIMIT_S if planned_on(job.vehicle, method) is None else TOUCHING_S,
        )

    def _record(self, task: Task, plan: Plan) -> PlanRecord:
        return record_of(plan, f"{task.name} {time.strftime('%H:%M:%S')}")
