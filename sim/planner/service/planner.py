"""Planning: pick a solver, start it well, check what it gives between the nodes, and say what went wrong."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from sim.integrators import Integrator, integrator
from sim.planner.guess.guess import guess, transferred
from sim.planner.result.explain import explained, settled, softened, unsettled
from sim.planner.result.plan import Plan, Status, cost_parts, distinct, retraced
from sim.planner.service.search import (
    PENETRATION_M,
    Found,
    Search,
    Warm,
    WarmMotion,
    checked_warm,
    grids,
    least_steps,
    resumed,
)
from sim.planner.solvers.attempt import Choice, Iterate, PlanCall, Show, attempted, order_of
from sim.planner.solvers.backends import Result, Solvers
from sim.planner.solvers.oracle import Backend
from sim.planner.solvers.time_limit import TimeLimit, time_limit
from sim.planner.task.check import TaskCheck
from sim.planner.task.check_kinds import check_kinds
from sim.planner.task.numbers import with_free
from sim.planner.task.open_start import is_lap, with_start
from sim.planner.task.task import Task, usual_method
from sim.planner.task.waypoints import waypoint_places
from sim.planner.transcription.funnel import outside_text
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.shape import problem_shape, scales_of, size_of
from sim.planner.transcription.transcription import Nodes, build_nodes, motion, transcribe
from sim.platform.errors import InputError, quote, whole
from sim.platform.processes import processes_at_once
from sim.platform.signals import interrupts_heard
from sim.vehicles import checked_vehicle
from sim.vehicles.forms.base import Vehicle

_SIMILAR = float(np.log(3.0))
"""Sizes within this factor share the scaling of one problem."""
_Built = TypeVar("_Built")


class LatestBuilt(Generic[_Built]):
    """By key, and by the size of the task that it was built for."""

    def __init__(self, at_most: int) -> None:
        """at_most: so many are kept; those that were not asked for longest go."""
        assert at_most > 0
        self._at_most = at_most
        self._kept: list[tuple[object, np.ndarray, _Built]] = []

    def find(self, key: object, size: np.ndarray) -> _Built | None:
        """What was built for a task of about this size (n,), natural logarithms; None where nothing was."""
        for k, (same, there, built) in enumerate(self._kept):
            if same == key and np.abs(there - size).max() < _SIMILAR:
                self._kept.append(self._kept.pop(k))
                return built
        return None

    def keep(self, key: object, size: np.ndarray, built: _Built) -> None:
        """From now on; the one that was not asked for longest makes room."""
        self._kept.append((key, size, built))
        del self._kept[: -self._at_most]


_EXPLAINING_S, _AFTERWARDS_S = 8.0, 1.0
"""How long a failure is looked into, at most: in what is left of the time limit, and so long where nothing is left, but
no longer than a plan was looked for."""
STARTS = 14
"""First guesses that are tried."""
_RESCUES = 4
"""After so many others that lead nowhere it is rather the task."""
_WORTH_RETIMING = 6.0
"""Times the least cost: such plans are moved in time to see whether that makes them cheaper, which it may by half."""
_KEPT = 12
"""Problems: a task that is edited goes back and forth among a few."""
_REACHES_S = (0.25, 0.6, 2.0)
"""How long a measured start that breaks bounds, or is about to, may take to turn back towards them, in turn."""
_TOLD = {"newton": "Newton's method", "ipopt": "IPOPT"}


def _nothing() -> None:
    pass


def _never() -> bool:
    return False


class Planner:
    """Plans for one vehicle class and method after another, keeping the problems that it has built last.

    A problem is built once for the shape of a task; new goals, obstacles, weights and vehicle parameters
    are numbers in it.
    """

    def __init__(self, *, sized_by: Task | None = None) -> None:
        """sized_by: a task of whose size all are that will be planned, for vehicles like the first one; else each is
        looked at, and one that is much larger or smaller gets a problem of its own."""
        self._sized_by = sized_by
        self._like: Vehicle | None = None
        self._solvers: LatestBuilt[Solvers] = LatestBuilt(_KEPT)
        self._nodes: LatestBuilt[Nodes] = LatestBuilt(_KEPT)
        self._check: Callable[[], None] = _nothing
        """Raises KeyboardInterrupt where a library has swallowed one since the call began."""
        self._latest: tuple[tuple[Vehicle, Integrator, Task, Solvers], ...] = ()
        """The two that were asked for last: while a goal is dragged, its task and the one before."""
        self._check_task = TaskCheck()

    def solvers(self, vehicle: Vehicle, method: Integrator, task: Task, **options: object) -> Solvers:
        """The problem of a task, built if it is not there yet."""
        known = None if options else self._known(vehicle, method, task)
        if known is not None:
            return known
        shape = problem_shape(vehicle, method, task, **options)  # type: ignore[arg-type]
        sized, like = self._sized_by or task, vehicle
        if self._sized_by is not None:
            if self._like is None or self._like.name != vehicle.name:
                self._like = vehicle
            like = self._like
        size = size_of(like, sized)
        solvers = self._solvers.find(shape.key, size)
        if solvers is None:
            scaled = replace(shape, scales=scales_of(like, sized))
            nodes = self._nodes.find(shape.node_key, size)
            if nodes is None:
                nodes = build_nodes(scaled)
                self._check()
                self._nodes.keep(shape.node_key, size, nodes)
            solvers = Solvers(transcribe(scaled, nodes))
            solvers.prepare()
            self._check()
            self._solvers.keep(shape.key, size, solvers)
        if not options:
            self._latest = (vehicle, method, task, solvers), *self._latest[:1]
        return solvers

    def _known(self, vehicle: Vehicle, method: Integrator, task: Task) -> Solvers | None:
        """Of these very objects."""
        asked = vehicle, method, task
        for *before, solvers in self._latest:
            if all(a is b for a, b in zip(before, asked, strict=True)):
                return solvers
        return None

    def build(self, vehicle: Vehicle, task: Task, *, method: str | Integrator | None = None) -> None:
        """Make the problems of a task ready, from the grid that is solved first on, and what guesses need.

        InputError where it cannot be.
        """
        scheme = _method(vehicle, method)
        self._check_task(vehicle, scheme, task)
        for steps in reversed(grids(vehicle, task)):
            sized = replace(task, steps=steps)
            solvers = self.solvers(vehicle, scheme, sized)
        w0, p = guess(solvers.t, vehicle, sized), parameters(solvers.t, vehicle, sized)
        solvers.rehearse(p, w0)

    def plan(
        self,
        vehicle: Vehicle,
        task: Task,
        *,
        method: str | Integrator | None = None,
        solver: Choice = "auto",
        warm: Any = None,
        time_limit_s: float | TimeLimit = 30.0,
        starts: int = STARTS,
        processes: int | None = None,
        show: Show | None = None,
        found: Callable[[Plan], bool] | None = None,
        given_up: Callable[[], bool] = _never,
        explain: bool = True,
        measured: bool = False,
    ) -> Plan:
        """Find the motion that costs least among those that are reached from several first guesses.

        warm: a plan of a similar task to go on from, or a motion: a trajectory, a take, arrays (nodes, controls); what
        it leads to is the answer. A plan's multipliers are of use where only numbers have changed, its motion in any
        case. time_limit_s: of the processor, of the thread that plans and its solvers'; by the clock ten times as long
        at most. starts: first guesses that are tried at most, of other ways around the obstacles first; 1: the
        likeliest alone. processes: how many of the others are solved at once, in
        forks of this process; None: as many as are worth it. The plan is the same. show: called with every iterate
        that comes before the first plan, and may stop it. found: called with the best plan as it stands after each
        guess, and answers whether to look on. given_up: asked again and again, also while others are tried, whether no
        more is wanted; what was found by then is the plan. measured: the start is where a vehicle has come to: what it
        breaks of the task's bounds is no mistake, the plan leads back inside and its message says so. Raises
        InputError, before solving, for a task that cannot be.
        """
        vehicle = checked_vehicle(vehicle)
        if isinstance(task, Task) and task.or_goals:
            options = {
                "method": method,
                "solver": solver,
                "warm": warm,
                "starts": starts,
                "processes": processes,
            }
            options |= {"show": show, "found": found, "given_up": given_up, "measured": measured}
            return self._to_any_goal(vehicle, task, time_limit_s, explain, options)
        scheme = _method(vehicle, method)
        order = order_of(solver)
        self._check_task(vehicle, scheme, task, measured=measured)
        known = checked_warm(warm, vehicle, task)
        for name, function in (("show", show), ("found", found), ("given_up", given_up)):
            if not (function is None or callable(function)):
                raise InputError(f"{name} = {quote(function)} is refused; allowed: a function, or None")
        whole("starts", starts, "first guesses")
        if processes is not None:
            whole("processes", processes, "processes")
        with interrupts_heard() as self._check:
            plan = self._planned(
                vehicle,
                scheme,
                task,
                order,
                known,
                time_limit_s,
                starts,
                processes,
                show,
                found,
                given_up,
                explain,
                measured,
            )
        self._check = _nothing
        return plan

    def _to_any_goal(
        self,
        vehicle: Vehicle,
        task: Task,
        time_limit_s: float | TimeLimit,
        explain: bool,
        options: dict[str, Any],
    ) -> Plan:
        """The cheapest of plans to each of the task's goals, the others beside it. InputError where all are refused."""
        check_kinds(task)
        goals, limit = (task.goal, *task.or_goals), time_limit(time_limit_s)
        plans: list[Plan] = []
        refusals: list[InputError] = []
        for i, goal in enumerate(goals):
            part = limit.part(1.0 / (len(goals) - i))
            alone = replace(task, goal=goal, or_goals=())
            try:
                plan = self.plan(vehicle, alone, time_limit_s=part, explain=explain and not plans, **options)
            except InputError as error:
                refusals.append(error)
                continue
            rest = tuple(other for other in goals if other is not goal)
            plans.append(replace(plan, task=replace(plan.task, or_goals=rest)))
            if plan.status == "stopped" or options["given_up"]():
                break
        if not plans:
            raise refusals[0]
        reached = [plan for plan in plans if plan.solved]
        if not reached:
            return plans[0]
        least, *others = sorted(reached, key=lambda plan: plan.cost)
        told = f"{least.message} Of {len(goals)} goals, {len(reached)} of which are reached, this one costs least."
        ways = sorted((*others, *least.alternatives), key=lambda plan: plan.cost)
        return replace(least, message=told, alternatives=tuple(ways), tried=sum(plan.tried for plan in plans))

    def _planned(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        task: Task,
        order: tuple[Backend, ...],
        warm: Warm | None,
        time_limit_s: float | TimeLimit,
        starts: int,
        processes: int | None,
        show: Show | None,
        found: Callable[[Plan], bool] | None,
        given_up: Callable[[], bool],
        explain: bool,
        measured: bool,
    ) -> Plan:
        """`plan` of arguments that are checked."""
        begun = time.perf_counter()
        if self.solvers(vehicle, scheme, task).t.model.underactuated:
            order = order[-1:]
        built = time.perf_counter() - begun
        run = PlanCall(time_limit(time_limit_s), show, check=self._check, given_up=given_up)
        search = Search(vehicle, scheme, task, order, partial(self.solvers, vehicle, scheme), run)
        begun = time.perf_counter()
        outside = outside_text(vehicle, task) if measured else ""
        reaches = (None,) if not measured else _REACHES_S if outside else (None, *_REACHES_S)
        # A motion that goes on is asked for in whatever room it takes before another, which may turn round on its way.
        for anew, reach_s in product((False, True) if warm is not None else (True,), reaches):
            search = replace(search, reach_s=reach_s)
            first = search.first() if anew else self._followed(search, warm)
            if run.stopped or run.out_of_time or (first is not None and first.result.converged):
                break
        followed, found_first = first is not None and not anew, first or search.first()
        if run.error is not None:
            raise InputError(f"show has raised {type(run.error).__name__}: {run.error}") from run.error
        plan = self._finished(search, found_first, time.perf_counter() - begun, built)
        if outside and plan.solved:
            plan = replace(plan, message=plan.message + outside)
        # Through waypoints there is one way around; a grid for other guesses is too coarse for a lap.
        once = plan.solved and bool(task.waypoints) and is_lap(vehicle, task)
        if not followed and starts > 1 and not (once or run.stopped or run.out_of_time):
            plan = self._least(search, plan, starts, processes or processes_at_once(), begun, found)
        if explain and not plan.solved and not run.stopped:
            plan = self._explained(search, plan)
        least = 0 if plan.solved else least_steps(vehicle, task)
        if task.steps < least:
            text = f" Its fastest swing grows by itself in such long steps: it wants {least} of them or more."
            plan = replace(plan, message=plan.message + text)
        return plan

    def _followed(self, search: Search, warm: Warm | None) -> Found | None:
        """What a plan or a motion leads to; None where there is none, or it leads nowhere."""
        if warm is None:
            return None
        known = self._carried(search.vehicle, search.scheme, search.task, warm)
        return search.followed(*known, dragged=not isinstance(warm, WarmMotion))

    def _carried(self, vehicle: Vehicle, scheme: Integrator, task: Task, warm: Warm) -> tuple[Task, Result]:
        """What to go on from: the task with times of waypoints, and the result, or the motion without multipliers."""
        if isinstance(warm, Plan) and warm.result is not None:
            asked = warm.vehicle, warm.integrator, warm.task
            before = self._known(*asked)
            key = before.t.shape.key if before is not None else problem_shape(*asked).key
            alike = self.solvers(vehicle, scheme, task).t.shape.key == key
            # Other waypoints have to be given times out of the motion.
            if alike and len(task.waypoints) == len(warm.task.waypoints):
                return warm.task, warm.result
        return resumed(self.solvers(vehicle, scheme, task).t, warm, vehicle, task)

    def _least(
        self,
        search: Search,
        first: Plan,
        starts: int,
        processes: int,
        begun: float,
        found: Callable[[Plan], bool] | None,
    ) -> Plan:
        """The cheapest of what is reached from other guesses too, with the others beside it."""
        search.run.show = None
        plans, tried = [first] if first.solved else [], 1
        if not plans:
            search = replace(search, eased=partial(self.solvers, search.vehicle, search.scheme, elastic=True))
        if plans and found is not None and not found(first):
            return first
        with closing(search.others(starts - 1, processes)) as others:
            for other in others:
                tried += 1
                if other.solved:
                    plan = self._finished(search, other, time.perf_counter() - begun, first.build_seconds)
                    if all(distinct(plan, known) for known in plans):
                        plans.append(plan)
                if not plans and tried > _RESCUES:
                    return first
                if plans and found is not None and not found(_with_others(plans, tried, begun)):
                    return _with_others(plans, tried, begun)
        worth = [plan for plan in plans if plan.cost < _WORTH_RETIMING * min(p.cost for p in plans)]
        as_found = [(plan.task, plan.motion, plan.cost) for plan in worth]
        with closing(search.all_retimed(as_found, processes)) as moved:
            for plan, retimed in zip(worth, moved, strict=False):
                if retimed is None:
                    continue
                plans.remove(plan)
                better = self._finished(search, retimed, time.perf_counter() - begun, first.build_seconds)
                if all(distinct(better, known) for known in plans):
                    plans.append(better)
                if found is not None and not found(_with_others(plans, tried, begun)):
                    break
        if plans or not search.run.stopped:
            return _with_others(plans, tried, begun) if plans else first
        return replace(
            first, status="stopped", message=f"{first.message} Stopped while other ways were tried."
        )

    # Telling.

    def _finished(self, search: Search, found: Found, seconds: float, built: float) -> Plan:
        result, run, t = found.result, search.run, self.solvers(search.vehicle, search.scheme, found.task).t
        short = float(found.clear.shortage_m.max())
        status, message = _status_line(result, short, run, found.iterations, seconds)
        vehicle, task = with_free(search.vehicle, found.task, t.free(result.w))
        as_is = run.dragged and not search.scheme.looks
        move = found.motion if as_is else retraced(t, vehicle, search.scheme, found.motion)
        task = with_start(vehicle, task, found.motion.nodes[0])
        return Plan(
            vehicle=vehicle,
            integrator=search.scheme,
            task=task,
            status=status,
            message=message,
            motion=move,
            cost=result.cost,
            costs=cost_parts(t, result.w, found.p),
            iterations=found.iterations,
            history=run.history,
            seconds=seconds,
            build_seconds=built,
            defect=result.defect,
            kkt=result.kkt,
            clearance_m=found.clear.least_m,
            backend=result.backend,
            result=result,
            problem=t,
            numbers=found.p,
        )

    def _explained(self, search: Search, plan: Plan) -> Plan:
        """Solve again with everything but the physics negotiable, and name what had to give.

        Where nothing had to, what was found is a motion that obeys: the plan is looked for once more from there.
        """
        vehicle, scheme, task = search.vehicle, search.scheme, plan.task
        soft = softened(task)
        solvers = self.solvers(vehicle, scheme, soft, elastic=True)
        places = waypoint_places(vehicle, soft, soft.steps)
        p = parameters(solvers.t, vehicle, soft, places=places)
        limit = search.run.limit
        within_s = max(limit.left_s, min(_AFTERWARDS_S, limit.limit_s))
        run = search.run.beside(TimeLimit(min(_EXPLAINING_S, within_s)))
        result = attempted(solvers, ("fatrop", "ipopt"), p, guess(solvers.t, vehicle, soft), run)
        if run.stopped:
            return plan
        again = self.solvers(vehicle, scheme, task)
        if not settled(result):
            places = waypoint_places(vehicle, task, task.steps)
            return unsettled(plan, vehicle, task, again.t, parameters(again.t, vehicle, task, places=places))
        told = explained(plan, vehicle, task, solvers.t, result, p)
        if told.violations or not result.converged:
            return told
        start = transferred(again.t, vehicle, task, motion(solvers.t, result.w, p))
        run.iterations = plan.iterations
        again_from = replace(search, run=run)
        begun = time.perf_counter()
        found = again_from.kept_clear(task, start, "near")
        seconds = plan.seconds + time.perf_counter() - begun
        better = self._finished(again_from, found, seconds, plan.build_seconds)
        return better if better.solved else told


def _method(vehicle: Vehicle, method: str | Integrator | None) -> Integrator:
    """What is asked for, or else the usual one."""
    if not (method is None or isinstance(method, str | Integrator)):
        raise InputError(f"method = {quote(method)} is refused; allowed: an integrator, its name, or None")
    return method if isinstance(method, Integrator) else integrator(method or usual_method(vehicle))


def _with_others(plans: list[Plan], tried: int, begun: float) -> Plan:
    """The cheapest, with the others as its alternatives."""
    least, *others = sorted(plans, key=lambda plan: plan.cost)
    told = f"The least of {len(plans)} motions" if others else "The only motion"
    guesses = f"{tried} first guess{'es' if tried != 1 else ''}"
    return replace(
        least,
        message=f"{least.message} {told} that {guesses} led to.",
        seconds=time.perf_counter() - begun,
        alternatives=tuple(others),
        tried=tried,
    )


def _status_line(
    result: Result, short_m: float, run: PlanCall, iterations: int, seconds: float
) -> tuple[Status, str]:
    if run.stopped:
        return "stopped", f"Stopped after {iterations} iterations."
    if result.converged and short_m < 10 * PENETRATION_M:
        times = f"{iterations} iteration{'s' if iterations != 1 else ''}"
        took = f"{1e3 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.2f} s"
        return "solved", f"Solved by {_TOLD.get(result.backend, result.backend)} in {times}, {took}."
    if run.out_of_time:
        return (
            "time limit",
            f"No solution within the time limit ({run.limit.spent_s:.1f} s of the processor, {seconds:.1f} s by the "
            f"clock, {iterations} iterations).",
        )
    if result.converged:
        between = f"between them an obstacle is entered by {short_m:.3f} m"
        return "stuck", f"Solved at the nodes, but {between}: use more steps."
    return (
        "stuck",
        f"{_TOLD.get(result.backend, result.backend)} stopped after {iterations} iterations ({result.word}).",
    )


__all__ = ["Iterate", "Planner"]
