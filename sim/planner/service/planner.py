"""Planning: pick a solver, start it well, check what it gives between the nodes, and say what went wrong."""

import time
from dataclasses import replace
from typing import TypeVar

import numpy as np

from sim.integrators import Integrator, integrator
from sim.planner.guess.guess import guess
from sim.planner.guess.refine import transferred
from sim.planner.result.explain import explained, settled, softened, unsettled
from sim.planner.result.plan import Plan, Status, cost_parts
from sim.planner.solvers.attempt import Choice, Iterate, Run, Show, attempted, deadline_in, order_of
from sim.planner.solvers.backends import Mode, Result, Solvers
from sim.planner.solvers.oracle import Backend
from sim.planner.task.check import check_task
from sim.planner.task.clearance import Clearance, clearance
from sim.planner.task.task import Task
from sim.planner.task.waypoints import kept_times, waypoint_places, with_times
from sim.planner.transcription.motion import motion
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.shape import problem_shape, scales_of, size_of
from sim.planner.transcription.transcription import Nodes, Transcription, build_nodes, transcribe
from sim.vehicles.base import Vehicle

_PENETRATION_M = 1e-4
_EXPLAINING_S = 8.0
_DIRECT, _COARSEST = 64, 12
"""Steps up to which a guess is good enough, and down to which a coarser grid is worth trying."""
_SIMILAR = float(np.log(3.0))
"""Sizes within this factor share the scaling of one problem."""
_TOLD = {"newton": "Newton's method", "ipopt": "IPOPT"}
_Built = TypeVar("_Built")


class Planner:
    """Plans for one vehicle class and method after another, keeping the problems that it has built.

    A problem is built once for the shape of a task; new goals, obstacles, weights and vehicle parameters
    are numbers in it.
    """

    def __init__(self) -> None:
        self._solvers: dict[tuple[object, ...], list[tuple[np.ndarray, Solvers]]] = {}
        self._nodes: dict[tuple[object, ...], list[tuple[np.ndarray, Nodes]]] = {}

    def solvers(self, vehicle: Vehicle, method: Integrator, task: Task, **options: object) -> Solvers:
        """The problem of a task, built if it is not there yet."""
        shape = problem_shape(vehicle, method, task, **options)  # type: ignore[arg-type]
        size = size_of(vehicle, task)
        known = self._solvers.setdefault(shape.key, [])
        solvers = _alike(known, size)
        if solvers is None:
            scaled = replace(shape, scales=scales_of(vehicle, task))
            ready = self._nodes.setdefault(shape.node_key, [])
            nodes = _alike(ready, size)
            if nodes is None:
                nodes = build_nodes(scaled)
                ready.append((size, nodes))
            solvers = Solvers(transcribe(scaled, nodes))
            solvers.prepare()
            known.append((size, solvers))
        return solvers

    def build(self, vehicle: Vehicle, task: Task, *, method: str | Integrator = "variational") -> None:
        """Make the problems of a task ready, from the grid that is solved first on, and what guesses need.

        InputError where it cannot be.
        """
        scheme = integrator(method) if isinstance(method, str) else method
        check_task(vehicle, scheme, task)
        grids = [task.steps]
        while grids[-1] > _DIRECT:
            grids.append(grids[-1] // 2)
        for steps in reversed(grids):
            sized = replace(task, steps=steps)
            solvers = self.solvers(vehicle, scheme, sized)
        w0, p = guess(solvers.t, vehicle, sized), parameters(solvers.t, vehicle, sized)
        solvers.rehearse(p, w0)

    def plan(
        self,
        vehicle: Vehicle,
        task: Task,
        *,
        method: str | Integrator = "variational",
        solver: Choice = "auto",
        warm: Plan | None = None,
        time_limit_s: float = 30.0,
        show: Show | None = None,
        explain: bool = True,
    ) -> Plan:
        """Find the motion that costs least.

        warm: a plan of a similar task to go on from. show: called with every iterate of IPOPT, and may stop it.
        Raises InputError, before solving, for a task that cannot be.
        """
        scheme = integrator(method) if isinstance(method, str) else method
        order = order_of(solver)
        check_task(vehicle, scheme, task)
        begun = time.perf_counter()
        solvers = self.solvers(vehicle, scheme, task)
        built = time.perf_counter() - begun
        run = Run(deadline_in(time_limit_s), show)
        task, result = self._solved(vehicle, scheme, task, solvers, order, warm, run)
        seconds = time.perf_counter() - begun - built
        plan = self._finished(vehicle, scheme, task, solvers.t, result, run, seconds, built)
        if explain and not plan.solved and not run.stopped:
            plan = self._explained(vehicle, scheme, task, plan, order)
        return plan

    # Solving.

    def _solved(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        task: Task,
        solvers: Solvers,
        order: tuple[Backend, ...],
        warm: Plan | None,
        run: Run,
    ) -> tuple[Task, tuple[Result, np.ndarray, Clearance]]:
        if warm is not None and warm.result is not None and _fits(warm.result, solvers.t):
            task = kept_times(task, warm.task)
            run.dragged = True
            # Where the hand has gone too far for the one, the other still finds the way from here.
            attempts: tuple[tuple[Mode, tuple[Backend, ...]], ...] = (("warm", order[:1]), ("near", order))
            for mode, solvers_in_turn in attempts:
                result = self._kept_clear(vehicle, task, solvers, solvers_in_turn, warm.result, run, mode)
                if result[0].converged:
                    return task, result
            run.dragged = False
        start, task, mode = self._start(vehicle, scheme, task, solvers, order, run, direct=_DIRECT)
        found = self._kept_clear(vehicle, task, solvers, order, start, run, mode)
        if not (found[0].converged or run.stopped or run.out_of_time) and task.steps // 2 >= _COARSEST:
            # Another way in: what is too hard to find on this grid may be easy on a coarser one.
            start, _, mode = self._start(vehicle, scheme, task, solvers, order, run, direct=task.steps // 2)
            if mode == "near":
                again = self._kept_clear(vehicle, task, solvers, order, start, run, mode)
                found = again if again[0].converged else found
        return task, found

    def _start(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        task: Task,
        solvers: Solvers,
        order: tuple[Backend, ...],
        run: Run,
        *,
        direct: int,
    ) -> tuple[np.ndarray, Task, Mode]:
        """First variables, and what they are: above `direct` steps those of the plan of a grid half as fine."""
        if task.steps <= direct:
            w0 = guess(solvers.t, vehicle, task)
            return w0, with_times(vehicle, task, solvers.t.places(w0)), "cold"
        coarse_task = replace(task, steps=task.steps // 2)
        coarse = self.solvers(vehicle, scheme, coarse_task)
        w0, coarse_task, mode = self._start(vehicle, scheme, coarse_task, coarse, order, run, direct=direct)
        places = waypoint_places(vehicle, coarse_task, coarse_task.steps)
        p = parameters(coarse.t, vehicle, coarse_task, places=places)
        result = attempted(coarse, order, p, w0, run, mode)
        task = replace(task, waypoints=coarse_task.waypoints)
        if not result.converged:
            return guess(solvers.t, vehicle, task), task, "cold"
        return transferred(solvers.t, vehicle, task, motion(coarse.t, result.w, p)), task, "near"

    def _kept_clear(
        self,
        vehicle: Vehicle,
        task: Task,
        solvers: Solvers,
        order: tuple[Backend, ...],
        start: np.ndarray | Result,
        run: Run,
        mode: Mode,
    ) -> tuple[Result, np.ndarray, Clearance]:
        """Solve; where a motion cuts a corner between two nodes, keep its ends further away and go on.

        Corners are looked for as soon as the motion is roughly known.
        """
        margin = np.zeros(solvers.t.shape.steps + 1)
        if isinstance(start, Result) and start.margin_m is not None:
            margin = start.margin_m.copy()
        for attempt in range(8):
            places = waypoint_places(vehicle, task, solvers.t.shape.steps)
            p = parameters(solvers.t, vehicle, task, margin_m=margin, places=places)
            result = attempted(solvers, order, p, start, run, mode)
            move = motion(solvers.t, result.w, p)
            clear = clearance(vehicle, move.nodes[:, vehicle.node_layout.pose], task)
            short = clear.shortage_m
            cut = short.max() >= _PENETRATION_M
            if not result.converged or run.out_of_time or not (cut or result.rough):
                return replace(result, margin_m=_needed(margin, clear, task)), p, clear
            margin += _growth(
                np.where(short < _PENETRATION_M, 0.0, short), reach=1 + attempt // 2, by=1.2 + attempt
            )
            start = replace(result, margin_m=None)
            mode = "finish" if not cut else "warm" if run.dragged else "again"
        return result, p, clear

    # Telling.

    def _finished(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        task: Task,
        t: Transcription,
        solved: tuple[Result, np.ndarray, Clearance],
        run: Run,
        seconds: float,
        built: float,
    ) -> Plan:
        result, p, clear = solved
        move = motion(t, result.w, p)
        short = float(clear.shortage_m.max())
        status, message = _verdict(result, short, run, seconds)
        return Plan(
            vehicle=vehicle,
            integrator=scheme,
            task=task,
            status=status,
            message=message,
            motion=move,
            cost=result.cost,
            costs=cost_parts(t, result.w, p),
            iterations=run.iterations,
            history=run.history,
            seconds=seconds,
            build_seconds=built,
            defect=result.defect,
            kkt=result.kkt,
            clearance_m=clear.least_m,
            backend=result.backend,
            result=result,
        )

    def _explained(
        self, vehicle: Vehicle, scheme: Integrator, task: Task, plan: Plan, order: tuple[Backend, ...]
    ) -> Plan:
        """Solve again with everything but the physics negotiable, and name what had to give.

        Where nothing had to, what was found is a motion that obeys: the plan is looked for once more from there.
        """
        soft = softened(task)
        solvers = self.solvers(vehicle, scheme, soft, elastic=True)
        places = waypoint_places(vehicle, soft, soft.steps)
        p = parameters(solvers.t, vehicle, soft, places=places)
        run = Run(time.perf_counter() + _EXPLAINING_S, None)
        result = attempted(solvers, ("fatrop", "ipopt"), p, guess(solvers.t, vehicle, soft), run)
        again = self.solvers(vehicle, scheme, task)
        if not settled(result):
            places = waypoint_places(vehicle, task, task.steps)
            return unsettled(plan, vehicle, task, again.t, parameters(again.t, vehicle, task, places=places))
        told = explained(plan, vehicle, task, solvers.t, result, p)
        if told.violations or not result.converged:
            return told
        start = transferred(again.t, vehicle, task, motion(solvers.t, result.w, p))
        run = Run(time.perf_counter() + _EXPLAINING_S, None, plan.iterations)
        found = self._kept_clear(vehicle, task, again, order, start, run, "near")
        seconds = plan.seconds + time.perf_counter() - run.deadline + _EXPLAINING_S
        better = self._finished(vehicle, scheme, task, again.t, found, run, seconds, plan.build_seconds)
        return better if better.solved else told


def _alike(known: list[tuple[np.ndarray, _Built]], size: np.ndarray) -> _Built | None:
    """What was built for a task of about this size."""
    return next((built for there, built in known if np.abs(there - size).max() < _SIMILAR), None)


def _growth(short: np.ndarray, reach: int, by: float) -> np.ndarray:
    """(N+1,) margin for the nodes within `reach` steps of an arc that comes too close: nodes slide along the way.

    by: how much more than what is short.
    """
    out = np.zeros(len(short) + 1)
    for k in np.flatnonzero(short):
        near = slice(max(0, k + 1 - reach), k + 1 + reach)
        out[near] = np.maximum(out[near], by * short[k])
    return out


def _needed(margin: np.ndarray, clear: Clearance, task: Task) -> np.ndarray:
    """The margins that still keep something away; a warm start goes on with them."""
    near = np.minimum(np.r_[clear.by_arc_m[0], clear.by_arc_m], np.r_[clear.by_arc_m, clear.by_arc_m[-1]])
    return np.where(near < task.clearance_m + 2.0 * margin, margin, 0.0)


def _fits(result: Result, t: Transcription) -> bool:
    """Whether a result is one of a problem of this shape: as many variables and as many constraints."""
    return result.w.size == t.low.size and result.lam_g.size == t.row_low.size


def _verdict(result: Result, short_m: float, run: Run, seconds: float) -> tuple[Status, str]:
    if run.stopped:
        return "stopped", f"Stopped after {run.iterations} iterations."
    if result.converged and short_m < 10 * _PENETRATION_M:
        times = f"{run.iterations} iteration{'s' if run.iterations != 1 else ''}"
        took = f"{1e3 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.2f} s"
        return "solved", f"Solved by {_TOLD.get(result.backend, result.backend)} in {times}, {took}."
    if run.out_of_time:
        return (
            "time limit",
            f"No solution within the time limit ({seconds:.1f} s, {run.iterations} iterations).",
        )
    if result.converged:
        between = f"between them an obstacle is entered by {short_m:.3f} m"
        return "stuck", f"Solved at the nodes, but {between}: use more steps."
    return (
        "stuck",
        f"{_TOLD.get(result.backend, result.backend)} stopped after {run.iterations} iterations ({result.word}).",
    )


__all__ = ["Iterate", "Planner"]
