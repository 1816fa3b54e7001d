"""The search for a motion that does a task: from one start until it is clear between the nodes, then from others. It
may go on from another plan, a trajectory or a take, or arrays of nodes and controls."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sim.integrators import Integrator
from sim.planner.guess.guess import guess, other_guesses, sooner_or_later, transferred
from sim.planner.result.explain import softened
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord
from sim.planner.solvers.attempt import PlanCall, attempted
from sim.planner.solvers.backends import Mode, Result, Solvers
from sim.planner.solvers.oracle import Backend
from sim.planner.task.bodies import fastest_radps, turns_missed
from sim.planner.task.clearance import Clearance, clearance
from sim.planner.task.inputs import input_map_of
from sim.planner.task.numbers import with_free
from sim.planner.task.open_start import is_lap
from sim.planner.task.task import Task
from sim.planner.task.waypoints import kept_times, waypoint_places, with_times
from sim.planner.transcription.funnel import funnel_of
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.transcription import PlannedMotion, Transcription, motion
from sim.platform.errors import InputError, array_of, numbers, quote
from sim.platform.processes import in_order
from sim.platform.values import dataclass
from sim.steppers.trajectory import Trajectory
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle

_T = TypeVar("_T")
_ALLOWED = "a plan, a trajectory, a take, arrays (nodes, controls), or None"


@dataclass(frozen=True, eq=False)
class WarmMotion:
    """A motion of the vehicle, which need not do the task."""

    step_s: float
    nodes: np.ndarray
    """(M+1, node size)."""
    controls: np.ndarray
    """(M+1, n_controls)."""


Warm = Plan | PlanRecord | WarmMotion


def checked_warm(warm: Any, vehicle: Vehicle, task: Task) -> Warm | None:
    """Raises InputError for what no plan goes on from."""
    if warm is None or isinstance(warm, Plan | PlanRecord):
        if warm is not None and warm.vehicle.name != vehicle.name:
            raise InputError(f"warm: a plan of {warm.vehicle.name}; allowed: one of {vehicle.name}")
        return warm
    size, inputs = vehicle.node_layout.size, len(vehicle.controls)
    if isinstance(warm, tuple | list) and len(warm) == 2:
        nodes = numbers("warm: nodes", warm[0])
        if nodes.ndim != 2 or nodes.shape[1] != size or len(nodes) < 2:
            raise InputError(f"warm: nodes are {nodes.shape}; allowed: (M+1, {size})")
        controls = numbers("warm: controls", warm[1])
        if controls.shape not in ((len(nodes), inputs), (len(nodes) - 1, inputs)):
            raise InputError(
                f"warm: controls are {controls.shape}; allowed: ({len(nodes)}, {inputs}), or one row less"
            )
        return _motion(task.duration_s / (len(nodes) - 1), nodes, controls)
    flown = getattr(warm, "trajectory", warm)
    if not isinstance(flown, Trajectory):
        raise InputError(f"warm = {quote(warm)} is refused; allowed: {_ALLOWED}")
    if flown.vehicle.name != vehicle.name:
        raise InputError(f"warm: a motion of {flown.vehicle.name}; allowed: one of {vehicle.name}")
    whole = np.isfinite(flown.nodes).all(axis=1)
    count = int(whole.argmin()) if not whole.all() else len(whole)
    if count < 2:
        raise InputError("warm: a motion that diverged at once; allowed: one of a step or more")
    return _motion(
        flown.step_s,
        array_of("warm: nodes", flown.nodes[:count], (count, size)),
        array_of("warm: controls", flown.controls[: count - 1], (count - 1, inputs)),
    )


def _motion(step_s: float, nodes: np.ndarray, controls: np.ndarray) -> WarmMotion:
    if len(controls) < len(nodes):
        controls = np.concatenate([controls, controls[-1:]])
    return WarmMotion(float(step_s), np.ascontiguousarray(nodes), np.ascontiguousarray(controls))


def resumed(t: Transcription, warm: Warm, vehicle: Vehicle, task: Task) -> tuple[Task, Result]:
    """The task with its waypoints' times, and the motion on the task's grid, without multipliers.

    Waypoints that are dragged keep the times they had; others get those of the motion's nearest nodes.
    """
    inputs, planned = input_map_of(vehicle).planned(warm.controls), not isinstance(warm, WarmMotion)
    nodes = warm.motion.nodes if isinstance(warm, Plan) else warm.nodes
    found = warm.motion.free if isinstance(warm, Plan) else None
    # What was flown for longer or shorter is done in the task's time, unless that is free.
    step_s = warm.step_s if planned or task.free_duration else task.duration_s / (len(nodes) - 1)
    w = transferred(t, vehicle, task, PlannedMotion(step_s, nodes, inputs, warm.controls, found))
    before = warm.task if isinstance(warm, Plan | PlanRecord) else None
    timed = with_times(vehicle, kept_times(task, before or task), t.places(w))
    return timed, Result(
        w=w,
        lam_x=np.zeros(t.low.size),
        lam_g=np.zeros(t.row_low.size),
        cost=np.inf if isinstance(warm, WarmMotion) else warm.cost,
        violation=np.inf,
        defect=np.inf if isinstance(warm, WarmMotion) else warm.defect,
        kkt=np.inf,
        iterations=0,
        seconds=0.0,
        converged=False,
        word="",
        backend="",
        rough=True,
    )


PENETRATION_M = 1e-4
_DIRECT, _COARSEST = 64, 12
"""Steps up to which a guess is good enough, and down to which a coarser grid is worth trying."""
_SILENT = 2
"""Solvers that the other guesses of one search may leave behind; each has cost five seconds."""
_CHEAPER, _RETIMED = 1e-4, 6
"""Of the cost that counts, and how often a motion is moved on in time in one direction."""
_PASSED = 24
"""Times that the waypoints of a lap are given to other nodes."""
_BETWEEN = 8
"""Steps between waypoints of a lap on the coarsest grid."""
_GIVEN = 1e-4
"""Of what is negotiable, in scaled units, that does not count as given up."""
_TURNS_MISSED = "it ends without the full turns that the goal's heading counts"
Known = tuple[Task, PlannedMotion, float]
"""A motion with its own task and its cost."""


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search has come to."""

    task: Task
    """With the waypoints' times filled in."""
    result: Result
    p: np.ndarray
    """Parameters of the problem that was solved."""
    motion: PlannedMotion
    clear: Clearance
    iterations: int

    @property
    def solved(self) -> bool:
        return self.result.converged and float(self.clear.shortage_m.max()) < 10 * PENETRATION_M


@dataclass(frozen=True, eq=False)
class Search:
    """The task, its problem, the solvers to try in turn, and what this call of the planner has gathered so far."""

    vehicle: Vehicle
    scheme: Integrator
    task: Task
    order: tuple[Backend, ...]
    problem: Callable[[Task], Solvers]
    """Built if it is not there yet."""
    run: PlanCall
    reach_s: float | None = None
    """Of a start that was measured and may be outside of the task's bounds: how long it may take to turn back."""

    eased: Callable[[Task], Solvers] | None = None
    """The problem of a task in which all but the physics is negotiable, where plain ones have led nowhere yet."""

    def followed(self, before: Task, result: Result, *, dragged: bool = True) -> Found | None:
        """From the result of a task that differs a little; None where that leads nowhere.

        dragged: soon, rather than to the very least cost.
        """
        task = kept_times(self.task, before)
        self.run.dragged = dragged
        # Through contact both are one.
        modes: tuple[Mode, ...] = ("warm",) if self.problem(task).t.model.scheme.touches else ("warm", "near")
        # By the fast solver alone: where it does not arrive the motion has mostly ceased to be one, and it is sooner
        # there from the first guess than the robust one is in finding that out.
        for mode in modes:
            found = self.kept_clear(task, result, mode, self.order[:1])
            if found.result.converged:
                return found if dragged else self.passing(found)
        self.run.dragged = False
        return None

    def first(self) -> Found:
        """From the first guess; where that is too hard on this grid, by a coarser one."""
        task, run = self.task, self.run
        direct = direct_steps(self.vehicle, task)
        if is_lap(self.vehicle, task):
            direct = max(direct, _BETWEEN * len(task.waypoints))
        start, task, mode = self._start(task, direct=direct)
        found = self.kept_clear(task, start, mode)
        given_up = found.result.converged or run.stopped or run.out_of_time
        if not given_up and task.steps // 2 >= max(_COARSEST, least_steps(self.vehicle, task)):
            start, _, mode = self._start(task, direct=task.steps // 2)
            if mode == "near":
                again = self.kept_clear(task, start, mode)
                found = again if again.result.converged else found
        return self.passing(found)

    def passing(self, found: Found) -> Found:
        """Of a closed lap: its waypoints that have no time are met by the nodes that come nearest to them, as long as
        that makes it cheaper. When it passes where decides how long a lap takes."""
        if not (is_lap(self.vehicle, self.task) and found.solved):
            return found
        t = self.problem(found.task).t
        for _ in range(_PASSED):
            asked = replace(found.task, waypoints=self.task.waypoints)
            task = with_times(self.vehicle, asked, t.places(found.result.w))
            if task.waypoints == found.task.waypoints or self.run.stopped or self.run.out_of_time:
                break
            again = self.kept_clear(task, found.result, "warm", self.order[:1])
            if not (again.solved and again.result.cost < found.result.cost):
                break
            found = again
        return found

    def others(self, most: int, processes: int) -> Generator[Found, None, None]:
        """From as many other guesses as time allows, by the first solver alone; what does not arrive is given up."""
        size = replace(self.task, steps=grids(self.vehicle, self.task)[-1])
        solvers = self.problem(size)
        guesses = list(other_guesses(solvers.t, self.vehicle, size, most))
        if self.eased is not None:
            self.eased(softened(size))  # Built before forks are made.

        def led_to(number: int) -> tuple[Found, int] | None:
            """What a guess leads to, and how many solvers were left behind meanwhile; None without time."""
            if self.run.out_of_time or self.run.ended():
                return None
            before = solvers.given_up
            found = self._from_guess(size, guesses[number])
            return replace(found, task=found.task.plain), solvers.given_up - before

        answers = self._shared(led_to, len(guesses), processes)
        silent = 0
        with closing(answers):
            for answer in answers:
                if answer is not None:
                    found, given_up = answer
                    silent += given_up
                    yield replace(found, task=found.task.enriched(self.task))
                if self.run.out_of_time or silent >= _SILENT:
                    return

    def _from_guess(self, size: Task, w0: np.ndarray) -> Found:
        """By the first solver alone; size: the task on the grid of the guess."""
        solvers = self.problem(size)
        alone = replace(self, order=self.order[:1], run=self.run.beside())
        task = with_times(self.vehicle, size, solvers.t.places(w0))
        found = alone.kept_clear(task, w0, "cold")
        if not (found.solved or alone.run.stopped) and self.eased is not None:
            start = alone.obeying(task, w0)
            again = alone.kept_clear(task, start, "near") if start is not None else found
            found = again if again.solved else found
        if found.solved and task.steps != self.task.steps:
            task = replace(task, steps=self.task.steps)
            start = transferred(self.problem(task).t, self.vehicle, task, found.motion)
            found = alone.kept_clear(task, start, "near")
        return replace(found, iterations=alone.run.iterations)

    def obeying(self, task: Task, w0: np.ndarray) -> np.ndarray | None:
        """Variables of a motion near a guess that obeys where it need not, at a price for what it breaks; None where it
        breaks something all the same. That way leads around what stops a solver on the straight way there."""
        assert self.eased is not None
        own, soft = self.problem(task), softened(task)
        solvers = self.eased(soft)
        p, price = [], solvers.t.model.parameters.slice("price")
        for each in (solvers.t, own.t):
            of = soft if each is solvers.t else task
            p.append(parameters(each, self.vehicle, of, places=waypoint_places(self.vehicle, of, of.steps)))
        start = transferred(solvers.t, self.vehicle, soft, motion(own.t, w0, p[1]))
        result = attempted(solvers, self.order[:1], p[0], start, self.run)
        free = p[0].copy()
        free[price] = 0.0
        given = result.cost - solvers.t.program.cost(result.w, free)
        if not result.converged or given > _GIVEN * float(p[0][price][0]):
            return None
        return transferred(own.t, self.vehicle, task, motion(solvers.t, result.w, p[0]))

    def all_retimed(self, known: Sequence[Known], processes: int) -> Generator[Found | None, None, None]:
        """`retimed` of each, in their order, as far as that is wanted."""

        def moved(number: int) -> Found | None:
            found = self.retimed(*known[number])
            return found and replace(found, task=found.task.plain)

        answers = self._shared(moved, len(known), processes)
        with closing(answers):
            for found in answers:
                yield found and replace(found, task=found.task.enriched(self.task))

    def _shared(
        self, work: Callable[[int], _T], count: int, processes: int
    ) -> Generator[_T | None, None, None]:
        """What `work` gives for each number, in their order, until time is over or it is given up."""
        run = self.run
        return in_order(work, count, processes=processes, until_s=run.limit.until_s, given_up=run.ended)

    def retimed(self, task: Task, move: PlannedMotion, cost: float) -> Found | None:
        """What a motion becomes when it is done a little sooner or later, as long as that makes it cheaper; else None.

        Obstacles are kept away from at the nodes, and which node it is that comes by an obstacle, or at which gears
        change, is a choice that the solver does not make. task: the motion's own.
        """
        if not (task.obstacles or task.ground or task.waypoints):
            return None
        best: Found | None = None
        for bows in (1, 2):
            for direction in (1.0, -1.0):
                found = self._moved_on(task, move, cost, bows, direction)
                if found is not None:
                    best, cost, move = found, found.result.cost, found.motion
                    break
        return best

    def _moved_on(
        self, task: Task, move: PlannedMotion, cost: float, bows: int, direction: float
    ) -> Found | None:
        """By one node after the other, until that is no longer cheaper."""
        solvers, best = self.problem(task), None
        given_up = solvers.given_up
        asked = replace(task, waypoints=self.task.waypoints)
        for _ in range(_RETIMED):
            if self.run.out_of_time or self.run.ended() or solvers.given_up > given_up:
                break
            shares = sooner_or_later(task.steps, bows, direction)
            start = transferred(solvers.t, self.vehicle, task, move, shares)
            timed = with_times(self.vehicle, asked, solvers.t.places(start))
            alone = replace(self, order=self.order[:1], run=self.run.beside())
            found = alone.kept_clear(timed, start, "near")
            if not found.solved or found.result.cost > (1.0 - _CHEAPER) * cost:
                break
            best, cost, move = found, found.result.cost, found.motion
        return best

    def _start(self, task: Task, *, direct: int) -> tuple[np.ndarray, Task, Mode]:
        """First variables, and what they are: above `direct` steps those of the plan of a grid half as fine."""
        vehicle, solvers = self.vehicle, self.problem(task)
        if task.steps <= direct:
            w0 = guess(solvers.t, vehicle, task)
            return w0, with_times(vehicle, task, solvers.t.places(w0)), "cold"
        coarse_task = replace(task, steps=task.steps // 2)
        coarse = self.problem(coarse_task)
        w0, coarse_task, mode = self._start(coarse_task, direct=direct)
        if is_lap(vehicle, task):
            lap = self.passing(self.kept_clear(coarse_task, w0, mode))
            if lap.solved:
                start = transferred(solvers.t, vehicle, task, lap.motion)
                return start, replace(task, waypoints=lap.task.waypoints), "near"
        places = waypoint_places(vehicle, coarse_task, coarse_task.steps)
        p = parameters(coarse.t, vehicle, coarse_task, places=places)
        result = attempted(coarse, self.order, p, w0, self.run, mode)
        task = replace(task, waypoints=coarse_task.waypoints)
        by_contact = bool(
            coarse.t.model.scheme.touches
        )  # what the simulation does is asked on the finest grid
        if not (result.converged or (by_contact and result.exact)):
            return guess(solvers.t, vehicle, task), task, "cold"
        return transferred(solvers.t, vehicle, task, motion(coarse.t, result.w, p)), task, "near"

    def kept_clear(
        self,
        task: Task,
        start: np.ndarray | Result,
        mode: Mode,
        order: tuple[Backend, ...] | None = None,
    ) -> Found:
        """Solve; where a motion cuts a corner between two nodes, keep its ends further away and go on.

        Corners are looked for as soon as the motion is roughly known.
        """
        vehicle, run, solvers = self.vehicle, self.run, self.problem(task)
        funnel = None if self.reach_s is None else funnel_of(solvers.t, vehicle, task, self.reach_s)
        margin = np.zeros(solvers.t.shape.steps + 1)
        if isinstance(start, Result) and start.margin_m is not None:
            margin = start.margin_m.copy()
        for attempt in range(8):
            run.check()
            places = waypoint_places(vehicle, task, solvers.t.shape.steps)
            opened = margin if funnel is None else margin - funnel.margin_m
            p = parameters(solvers.t, vehicle, task, margin_m=opened, places=places)
            bounds = None if funnel is None else funnel.bounds
            result = attempted(solvers, order or self.order, p, start, run, mode, bounds)
            move = motion(solvers.t, result.w, p)
            if turns_missed(vehicle, task, move.nodes):
                result = replace(result, converged=False, word=_TURNS_MISSED)
            made, _ = with_free(vehicle, task, solvers.t.free(result.w))
            clear = clearance(made, move.nodes, task, move.step_s * (len(move.nodes) - 1))
            if funnel is not None:
                clear = replace(clear, shortage_m=np.maximum(clear.shortage_m - funnel.arc_margin_m, 0.0))
            short = clear.shortage_m
            cut = short.max() >= PENETRATION_M
            if not result.converged or run.stopped or run.out_of_time or not (cut or result.rough):
                kept = replace(result, margin_m=_needed(margin, clear, task))
                return Found(task, kept, p, move, clear, run.iterations)
            margin += _growth(
                np.where(short < PENETRATION_M, 0.0, short), reach=1 + attempt // 2, by=1.2 + attempt
            )
            start = replace(result, margin_m=None)
            mode = "finish" if not cut else "warm" if run.dragged else "again"
        return Found(task, result, p, move, clear, run.iterations)


def least_steps(vehicle: Vehicle, task: Task) -> int:
    """Below which a tree would swing up by itself about its goal; of others any number will do."""
    if not isinstance(vehicle, ArticulatedVehicle) or isinstance(vehicle, ClosedVehicle):
        return 1
    pose = task.goal.state.node[vehicle.node_layout.pose]
    return max(1, int(np.ceil(0.5 * task.duration_s * fastest_radps(vehicle, pose))))


def direct_steps(vehicle: Vehicle, task: Task) -> int:
    """Up to which no grid half as fine is solved first."""
    return _DIRECT if task.steps <= _DIRECT else max(_DIRECT, 2 * least_steps(vehicle, task) - 1)


def grids(vehicle: Vehicle, task: Task) -> list[int]:
    """Steps of the grids that a task is solved on, the finest first; on the last one a guess is good enough."""
    found, direct = [task.steps], direct_steps(vehicle, task)
    while found[-1] > direct:
        found.append(found[-1] // 2)
    return found


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
    arcs_m = clear.by_arc_m
    near = np.minimum(np.concatenate([arcs_m[:1], arcs_m]), np.concatenate([arcs_m, arcs_m[-1:]]))
    return np.where(near < task.clearance_m + 2.0 * margin, margin, 0.0)
