"""A planning session: a task that is edited, plans that follow it, the list of those that are kept, and what there is
to see of all that.

No thread and no waiting: whoever shows it calls `poll` once a frame."""

import contextlib
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from sim.control.mpc import MpcAnswer
from sim.control.plan_following import FlyPlan
from sim.integrators import integrator
from sim.planner.result.record import PlanRecord, repeated
from sim.planner.result.store import load_record, save_record, stored
from sim.planner.service.jobs import Answer, PlanJob, Planned, Progressed, Refused
from sim.planner.service.requests import (
    ChooseMethod,
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    MpcView,
    PlanRequest,
    SavePlan,
    ShowPlan,
    StartPlanning,
    StopPlanning,
    TakeAlternative,
)
from sim.planner.service.worker import PlanWorker
from sim.planner.task.refusal import Refusal
from sim.planner.task.task import Task
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.vehicles import Vehicle

Phase = Literal["idle", "building", "solving", "comparing", "following", "stopping"]
"""`comparing`: there is a plan, and other ways to do the task are tried."""

FADE_S = 1.5
"""Wall time for which an iterate stays visible."""


@dataclass(frozen=True, slots=True, eq=False)
class FadingIterate:
    """An iterate that is fading."""

    places_w: np.ndarray
    """(N+1, 3) m."""
    seen_s: float
    """Wall time at which it came."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanView:
    """What is to be shown of a session; replaced as a whole."""

    vehicle: Vehicle
    task: Task
    origin_w: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the world of the task has its origin in the world that is shown: at the fixed point of what has one."""
    method: str = "variational"
    """Integrator that is planned with."""
    options: dict[str, float | str] = field(default_factory=dict)
    """Of it."""
    phase: Phase = "idle"
    message: str = ""
    """One or a few sentences about the last plan, or why there is none."""
    plan: PlanRecord | None = None
    """The present one."""
    stale: bool = False
    """The task has changed since `plan`."""
    refusal: Refusal | None = None
    """Why the task as it stands cannot be."""
    outrun: bool = False
    """The plan could not follow the task, or not at once."""
    kept: tuple[PlanRecord, ...] = ()
    saved: frozenset[str] = frozenset()
    """Names of kept plans that are on disk."""
    hidden: frozenset[str] = frozenset()
    """Names of kept plans that the scene leaves out."""
    sailed_by: str = ""
    """Another vehicle, which follows the plan as a course; empty: the one that is planned for flies it."""
    mpc: MpcView | None = None
    """Plans in flight; None where nobody could ask for them."""
    iterates: tuple[FadingIterate, ...] = ()
    history: tuple[tuple[float, float], ...] = ()
    """(cost, largest violation) of each iteration of the run at hand, or the last one."""

    @property
    def obstacles_w(self) -> tuple[Shape, ...]:
        """What the task keeps clear of, in the world that is shown."""
        return tuple(obstacle.moved(self.origin_w) for obstacle in self.task.obstacles)

    @property
    def refused(self) -> bool:
        return self.refusal is not None

    @property
    def busy(self) -> bool:
        return self.phase != "idle"

    @property
    def dated(self) -> bool:
        """What is shown is of another task, and not about to catch up with this one."""
        return self.stale and (self.phase != "following" or self.outrun)


def stored_plans(folder: Path, vehicle: Vehicle, task: Task) -> tuple[PlanRecord, ...]:
    """Plans of this vehicle and this scene that can be read; a file that does not say is one of them."""
    found = []
    for path in stored(folder):
        try:
            record = load_record(path)
        except InputError:
            continue
        here = record.task is None or record.task.name == task.name
        if record.vehicle.name == vehicle.name and here:
            found.append(record)
    return tuple(found)


def kept_plan(view: PlanView, name: str) -> PlanRecord:
    """One of the list. InputError where there is none of that name."""
    for record in view.kept:
        if record.name == name:
            return record
    raise InputError(f'there is no plan "{name}"')


def with_kept(view: PlanView, plan: PlanRecord) -> PlanView:
    """With a plan at the end of the list."""
    others = tuple(record for record in view.kept if record.name != plan.name)
    return replace(view, kept=(*others, plan))


def saved(view: PlanView, name: str, folder: Path) -> PlanView:
    """With a plan of the list in a file. InputError where that cannot be written."""
    try:
        save_record(kept_plan(view, name), folder)
    except OSError as error:
        raise InputError(f"the plan could not be saved: {error}") from None
    return replace(view, saved=view.saved | {name})


def deleted(view: PlanView, name: str, folder: Path) -> PlanView:
    """Without a plan, in the list and in the folder."""
    for path in stored(folder) if name in view.saved else ():
        if _name_in(path) == name:
            path.unlink(missing_ok=True)
    kept = tuple(record for record in view.kept if record.name != name)
    return replace(view, kept=kept, saved=view.saved - {name}, hidden=view.hidden - {name})


def _name_in(path: Path) -> str:
    try:
        return load_record(path).name
    except InputError:
        return ""


_HISTORY = 400
"""Iterations, and plans that followed a hand, that are drawn."""
_LATE_S = 0.4
"""A plan that follows may be behind by as much before it looks out of date."""
_GIVE_UP_S, _BUILDING_S = 2.0, 20.0
"""After this a process that does not hear is ended: one that solves, and one that may be building a problem, which is
done once and not again."""


class Worker(Protocol):
    """What a session needs of a planning process."""

    @property
    def alive(self) -> bool: ...
    def submit(self, job: PlanJob) -> None: ...
    def cancel(self) -> None: ...
    def answers(self) -> list[Answer | MpcAnswer]: ...
    def close(self) -> None: ...


class PlanSession:
    """Owns the planner's process, started by `prepare` or the first plan. Times are `time.perf_counter()` seconds."""

    def __init__(
        self,
        vehicle: Vehicle,
        task: Task,
        method: str,
        folder: Path,
        *,
        origin_w: tuple[float, float, float] = (0.0, 0.0, 0.0),
        make_worker: Callable[..., Any] = PlanWorker,
    ) -> None:
        """`folder`: where the user's plans are stored; those of this task are in the list from the start. origin_w: as
        in `PlanView`."""
        self._folder, self._make_worker = folder, make_worker
        self._worker: Worker | None = None
        self._number = 0
        self._asked: PlanJob | None = None
        self._asked_s = 0.0
        """Wall time at which it was asked to follow."""
        self._built: set[tuple[object, ...]] = set()
        self._given_up_s: float | None = None
        """Wall time at which the process is ended, once a job was cancelled."""
        self._edited = False
        self._by_itself = False
        self._chosen: PlanRecord | None = None
        """What is shown, while that is none of the worker's own last plans."""
        kept = stored_plans(folder, vehicle, task)
        self.view = PlanView(
            vehicle, task, origin_w, method, kept=kept, saved=frozenset(record.name for record in kept)
        )

    def handle(self, request: PlanRequest, now_s: float) -> FlyPlan | None:
        """Do what was asked for; returns what the simulation is to be told for it. InputError where it cannot be."""
        view = self.view
        match request:
            case StartPlanning():
                self._edited = False
                self._start(now_s)
            case StopPlanning():
                self._stop(now_s)
            case EditTask(task):
                self.view = replace(view, task=task, stale=view.plan is not None)
                self._edited = view.plan is not None
            case ChooseMethod(name):
                self.view = replace(view, method=name, options={}, stale=view.plan is not None)
                self._edited = view.plan is not None
            case FlyShown():
                return flight(view.plan, request)
            case KeepPlan() if view.plan is not None:
                self.view = with_kept(view, view.plan)
            case ChoosePlan(name):
                self._choose(kept_plan(view, name))
            case TakeAlternative(index) if view.plan is not None and index < len(view.plan.alternatives):
                self._take_alternative(view.plan, index)
            case ShowPlan(name, shown):
                hidden = view.hidden - {name} if shown else view.hidden | {kept_plan(view, name).name}
                self.view = replace(view, hidden=hidden)
            case DeletePlan(name):
                self.view = deleted(view, name, self._folder)
            case SavePlan(name):
                self.view = saved(view, name, self._folder)
        return None

    def prepare(self) -> None:
        """Start the process and have the problem built, so that the first plan will not wait for either."""
        if self._worker is None:
            self._worker = self._make_worker()
            view = self.view
            self._builds(view)
            with contextlib.suppress(OSError):
                self._worker.submit(self._job(only_build=True))

    def poll(self, now_s: float) -> None:
        """Take in what the planner has done by now, and let the plan follow the task."""
        try:
            for answer in self._worker.answers() if self._worker else ():
                self._take(answer, now_s)
        except (OSError, EOFError):
            self._lost("The planner's process ended unexpectedly; the next plan starts another one.")
        if self._given_up_s is not None and now_s > self._given_up_s:
            self._lost("Stopped: the solver did not hear, so its process was ended.")
        fresh = tuple(i for i in self.view.iterates if now_s - i.seen_s < FADE_S)
        if len(fresh) != len(self.view.iterates):
            self.view = replace(self.view, iterates=fresh)
        comparing = self.view.phase == "comparing"
        if self._edited and (self._asked is None or self._by_itself or comparing):
            self._edited = self._by_itself = False
            self._asked_s = now_s
            self._submit(warm=True)
        if self.view.phase == "following" and not self.view.outrun and now_s - self._asked_s > _LATE_S:
            self.view = replace(self.view, outrun=True)

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None

    def _start(self, now_s: float) -> None:
        if self._asked is not None and not self._asked.warm:
            return
        self._by_itself = False
        self.view = replace(self.view, iterates=(), history=(), refusal=None)
        self._submit(warm=False)

    def _submit(self, *, warm: bool) -> None:
        if self._worker is None or not self._worker.alive:
            self._worker = self._make_worker()
        self._number += 1
        self._given_up_s = None
        view = self.view
        start = self._chosen if warm else None
        self._asked = self._job(warm=warm, start=start)
        try:
            self._worker.submit(self._asked)
        except OSError:
            self._lost("The planner's process ended unexpectedly; the next plan starts another one.")
            return
        builds = self._builds(view)
        self.view = replace(view, phase="following" if warm and not builds else "building")

    def _job(
        self, *, warm: bool = False, start: PlanRecord | None = None, only_build: bool = False
    ) -> PlanJob:
        view = self.view
        return PlanJob(
            self._number, view.vehicle, view.task, view.method, warm, start, only_build, view.options
        )

    def _builds(self, view: PlanView) -> bool:
        """Whether a problem of this shape has not been asked for yet, so that it is built first."""
        # With the clearances, which few windows need.
        from sim.planner.transcription.shape import problem_shape

        key = problem_shape(view.vehicle, integrator(view.method, **view.options), view.task).key
        known = key in self._built
        self._built.add(key)
        return not known

    def _stop(self, now_s: float) -> None:
        self._edited = False
        if self._asked is None or self._worker is None or self._given_up_s is not None:
            return
        self._given_up_s = now_s + (_BUILDING_S if self.view.phase == "building" else _GIVE_UP_S)
        self._worker.cancel()
        self.view = replace(self.view, phase="stopping")

    def _take(self, answer: Answer | MpcAnswer, now_s: float) -> None:
        if isinstance(answer, MpcAnswer) or self._asked is None or answer.number != self._asked.number:
            return
        view = self.view
        if isinstance(answer, Progressed):
            iterate = answer.iterate
            self.view = replace(
                view,
                phase="solving" if view.phase == "building" else view.phase,
                iterates=(*view.iterates, FadingIterate(iterate.places_w, now_s)),
                history=(*view.history, (iterate.cost, iterate.violation)),
            )
            return
        if isinstance(answer, Planned) and not answer.last:
            record = answer.record
            self.view = replace(
                view, phase="comparing", plan=record, refusal=None, outrun=False, message=record.message
            )
            self._chosen = None
            return
        warm = self._asked.warm
        changed = self._asked.task is not view.task or self._asked.method != view.method
        cancelled = self._given_up_s is not None
        self._asked = self._given_up_s = None
        self._by_itself = False
        if isinstance(answer, Planned):
            record = answer.record
            followed = (*view.history, (record.cost, record.defect))[-_HISTORY:]
            history = followed if warm and record.solved else view.history if warm else record.history
            # A drag that leads nowhere keeps the last plan in sight, marked as stale, with the reason; so does a stop
            # before there is another one.
            old = view.plan
            keeps_old = not record.solved and old is not None and (warm or (cancelled and old.solved))
            plan = old if keeps_old else record
            self._chosen = self._chosen if keeps_old else None
            stale = changed or (keeps_old and (warm or view.stale))
            self.view = replace(
                view,
                phase="idle",
                plan=plan,
                stale=stale,
                refusal=None,
                outrun=keeps_old and warm,
                message=record.message,
                history=history,
            )
            if keeps_old and not (changed or cancelled):
                # The hand rests where following failed: look for another way, or for words why there is none.
                self.view = replace(self.view, iterates=(), history=())
                self._submit(warm=False)
                self._by_itself = True
        elif isinstance(answer, Refused):
            self.view = replace(
                view,
                phase="idle",
                message=answer.refusal.text,
                refusal=None if changed else answer.refusal,
                outrun=True,
                stale=view.plan is not None,
            )

    def _lost(self, message: str) -> None:
        self.close()
        self._asked = self._given_up_s = None
        plan = self.view.plan
        self._chosen = plan if plan is not None and plan.solved else None
        self.view = replace(self.view, phase="idle", message=message)

    def _give_up(self) -> None:
        """What is under way, and what would be next."""
        self._edited = self._by_itself = False
        if self._asked is not None and self._worker is not None:
            self._worker.cancel()
            self._asked = self._given_up_s = None

    def _choose(self, chosen: PlanRecord) -> None:
        """The plan as it was made: what is under way for another task is given up."""
        self._give_up()
        self._chosen = chosen if chosen.solved else None
        self.view = replace(
            self.view,
            phase="idle",
            plan=chosen,
            history=chosen.history,
            message=chosen.message,
            iterates=(),
            refusal=None,
            outrun=False,
        )
        task = chosen.task
        if task is not None:
            task = replace(task, ground=self.view.task.ground)
            self.view = replace(
                self.view,
                vehicle=chosen.vehicle,
                task=task,
                method=chosen.integrator,
                options=chosen.options,
                stale=False,
            )

    def _take_alternative(self, plan: PlanRecord, index: int) -> None:
        """What is under way is given up: a way has been chosen."""
        taken = plan.alternatives[index]
        others = (*plan.alternatives[:index], replace(plan, alternatives=()), *plan.alternatives[index + 1 :])
        cheapest_first = tuple(sorted(others, key=lambda record: record.cost))
        self._give_up()
        self._chosen = replace(taken, alternatives=cheapest_first, tried=plan.tried)
        self.view = replace(self.view, phase="idle", plan=self._chosen, message=taken.message)


def flight(plan: PlanRecord | None, request: FlyShown) -> FlyPlan:
    """What tells the simulation to fly it as asked for, a gait again and again. InputError where there is no plan that
    leads there."""
    if plan is None or not plan.solved:
        raise InputError("there is no solved plan to fly")
    blown = in_wind(plan.vehicle, request.wind_mps)
    nodes, controls = repeated(plan)
    return FlyPlan(plan.vehicle, plan.method, plan.step_s, nodes, controls, request.tracked, blown)


def in_wind(vehicle: Vehicle, more_mps: tuple[float, float]) -> Vehicle | None:
    """The vehicle in a horizontal wind that comes on top of its own; None where there is none, or it feels none."""
    if not any(more_mps) or "wind" not in vehicle.values:
        return None
    wind = np.array(vehicle.values["wind"], float)
    wind[:2] += more_mps
    return vehicle.with_parameters(wind=tuple(wind))
