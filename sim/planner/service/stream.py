"""Plans for a vehicle that moves, from a process of their own: what a window hands to the simulation."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sim.control.mpc import MpcAnswer, MpcRequest
from sim.planner.service.worker import Answer, PlanWorker, Replan
from sim.planner.task.mpc import RATE_HZ
from sim.planner.task.task import Task


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
    make_worker: Callable[[], Worker] = PlanWorker
    _worker: Worker | None = field(default=None, init=False)

    def ask(self, request: MpcRequest) -> None:
        """Begin with a plan; the process is started with the first one, and again where it has ended."""
        if self._worker is None or not self._worker.alive:
            self._worker = self.make_worker()
        with contextlib.suppress(OSError):
            self._worker.replan(Replan(request, self.task))

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
