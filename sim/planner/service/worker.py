"""The planner in a process of its own: neither a crash of a solver nor a cancel takes the window along."""

import contextlib
from collections.abc import Callable
from dataclasses import field, replace
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Protocol

from sim.control.helm import Berth
from sim.control.mpc import MpcAnswer, MpcRequest
from sim.planner.service.jobs import Answer, Cancel, PlanJob, Replan, SetGround
from sim.planner.task.mpc import RATE_HZ
from sim.planner.task.task import Task
from sim.planner.task.terrain import SafeGround
from sim.platform.processes import started
from sim.platform.values import dataclass
from sim.vehicles import Vehicle
from sim.vehicles.forms.custom import OwnClass

if TYPE_CHECKING:
    from sim.planner.service.receding import Motion


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
    from sim.planner.service.server import PlanServer  # with all that solves: who only asks does not load it

    server = PlanServer(pipe)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            server.take(pipe.recv())


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
    guess: "Motion | None" = None
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
