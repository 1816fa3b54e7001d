"""The planner in a process of its own: neither a crash of a solver nor a cancel takes the window along."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, Pipe
from typing import Protocol

import numpy as np

from sim.control.helm import Berth
from sim.control.mpc import MpcAnswer, MpcRequest
from sim.integrators import Integrator, integrator
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord, record_of
from sim.planner.service.planner import Iterate, Planner
from sim.planner.service.receding import Motion, Replanner
from sim.planner.task.mpc import RATE_HZ
from sim.planner.task.refusal import Refusal, refusal_of
from sim.planner.task.task import Task
from sim.planner.task.terrain import SafeGround
from sim.platform.errors import InputError
from sim.platform.processes import started
from sim.vehicles import Vehicle
from sim.vehicles.forms.custom import OwnClass, OwnRobot

TIME_LIMIT_S, FOLLOWING_S = 30.0, 2.0
"""For a plan that was asked for, and for one that follows a hand: what takes longer is looked for afresh."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanJob:
    """One thing to plan. Its ground stays behind: it is large and travels by itself, once."""

    number: int
    vehicle: Vehicle
    task: Task
    method: str
    warm: bool = False
    """Go on from `start` or else the last plan, and do not look into failures."""
    start: PlanRecord | None = None
    """What is shown, where that is not the last plan."""
    only_build: bool = False
    """Make the problem ready, so that planning will not wait for it."""
    options: dict[str, float | str] = field(default_factory=dict)
    """Of the method."""


@dataclass(frozen=True, slots=True, eq=False)
class Replan:
    """A plan for a vehicle that moves, from the last one where that is of such a task. Its ground stays behind, too."""

    request: MpcRequest
    task: Task
    guess: Motion | None = None
    """What a flight's first plan begins with."""


@dataclass(frozen=True, slots=True)
class SetGround:
    ground: SafeGround | None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Give up the job at hand."""


@dataclass(frozen=True, slots=True)
class Progressed:
    """An iterate of a job."""

    number: int
    iterate: Iterate


@dataclass(frozen=True, slots=True)
class Built:
    """The answer to a job that was only to be built."""

    number: int


@dataclass(frozen=True, slots=True)
class Planned:
    """The answer to a job, or the best one by now."""

    number: int
    record: PlanRecord
    last: bool = True
    """No better one will come."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A job that cannot be."""

    number: int
    refusal: Refusal


Answer = Progressed | Built | Planned | Refused


class PlanWorker:
    """Owns the process; the caller never waits for it."""

    def __init__(self) -> None:
        self._here, there = Pipe()
        self._process = started("planner", _serve, there)
        there.close()
        self._ground: SafeGround | None = None
        self._own: type[Vehicle] | None = None
        """That the process knows."""

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def submit(self, job: PlanJob) -> None:
        """Ask for a plan; OSError where the process is gone."""
        self._share(job.vehicle, job.task)
        self._here.send(replace(job, task=replace(job.task, ground=None)))

    def replan(self, job: Replan) -> None:
        """As `submit`, for a vehicle that moves."""
        self._share(job.request.vehicle, job.task)
        self._here.send(replace(job, task=replace(job.task, ground=None)))

    def _share(self, vehicle: Vehicle, task: Task) -> None:
        """What the process has to know before it can plan."""
        if task.ground is not self._ground:
            self._ground = task.ground
            self._here.send(SetGround(self._ground))
        kind = type(vehicle)
        own = OwnClass.of(kind)
        if own is not None and kind is not self._own:
            self._own = kind
            self._here.send(own)

    def cancel(self) -> None:
        """Ask it to give up; the job is answered nevertheless, as stopped or as it is by then."""
        self._here.send(Cancel())

    def answers(self, wait_s: float = 0.0) -> list[Answer | MpcAnswer]:
        """What has arrived since the last call; OSError or EOFError where the process is gone.

        wait_s: how long the first one is waited for.
        """
        out: list[Answer | MpcAnswer] = []
        if wait_s > 0.0 and not self._here.poll(wait_s):
            return out
        while self._here.poll():
            out.append(self._here.recv())
        return out

    def close(self) -> None:
        """End the process at once."""
        self._process.terminate()
        self._process.join(5.0)
        self._here.close()


def _serve(pipe: Connection) -> None:
    """The process: jobs in, answers out, until the other end closes."""
    server = PlanServer(pipe)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            server.take(pipe.recv())


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
                explain=False,
                time_limit_s=FOLLOWING_S,
            )

        def show(iterate: Iterate) -> bool:
            places = np.ascontiguousarray(iterate.places_w)
            self._pipe.send(Progressed(job.number, replace(iterate, places_w=places)))
            return not self._pipe.poll()

        shown: list[float] = []

        def found(plan: Plan) -> bool:
            if not shown or plan.cost < shown[-1]:
                shown.append(plan.cost)
                self._pipe.send(Planned(job.number, self._record(task, plan), last=False))
            return not self._pipe.poll()

        return self._planner.plan(
            job.vehicle, task, method=method, show=show, found=found, time_limit_s=TIME_LIMIT_S
        )

    def _record(self, task: Task, plan: Plan) -> PlanRecord:
        return record_of(plan, f"{task.name} {time.strftime('%H:%M:%S')}")


class Worker(Protocol):
    """What a stream needs of a planning process."""

    @property
    def alive(self) -> bool: ...
    def replan(self, job: Replan) -> None: ...
    def answers(self, wait_s: float = 0.0) -> list[Answer | MpcAnswer]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class PlanStream:
    """Its task and its rate may be replaced at any time, by any thread; plans that are asked for later have them.

    Everything else is for one thread alone, the one that asks.
    """

    task: Task
    rate_hz: float = RATE_HZ
    berth: Berth | None = None
    """Where a boat is to lie at last."""
    guess: Motion | None = None
    """What a flight's first plan begins with."""
    make_worker: Callable[[], Worker] = PlanWorker
    _worker: Worker | None = field(default=None, init=False)

    def ask(self, request: MpcRequest) -> None:
        """Begin with a plan; the process is started with the first one, and again where it has ended."""
        if self._worker is None or not self._worker.alive:
            self._worker = self.make_worker()
        with contextlib.suppress(OSError):
            self._worker.replan(Replan(request, self.task, self.guess))

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        """What has come since the last call; the first one is waited for so long."""
        try:
            heard = self._worker.answers(wait_s) if self._worker is not None else []
        except (OSError, EOFError):
            self.close()
            return []
        return [answer for answer in heard if isinstance(answer, MpcAnswer)]

    def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
