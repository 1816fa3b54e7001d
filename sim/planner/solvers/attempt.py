"""One attempt at a problem: solvers in turn, until one converges, is stopped or runs out of time."""

import os
from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal, get_args

import numpy as np

from sim.planner.solvers.backends import FATROP_ITERATIONS, Mode, Result, Solvers
from sim.planner.solvers.contact_bounds import (
    NO_FORCE,
    Contacts,
    aloft,
    bears,
    held,
    revisions,
    told_apart,
    touching,
)
from sim.planner.solvers.oracle import Backend
from sim.planner.solvers.simulated import Simulated
from sim.planner.solvers.time_limit import TimeLimit
from sim.planner.transcription.transcription import ProgramBounds
from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass

Choice = Literal["auto", "fatrop", "ipopt"]

_RELAXED, _RELAXED_PUSHES, _RELAXED_STEPS = (1e-1, 1e-2, 1e-3, 1e-5, 1e-7), (1e-3, 1e-5, 1e-7), (1e-3, 1e-5)
"""Products of what does not go together, in turn; of what pushes or steps, whose first guess touches where it is to:
from afar forces turn with a box, and feet need not step."""
_LITTLE = 0.04
"""What bears less than such a share of all weight lets go, where a plan can do without."""
REVISIONS = 8
"""How often a plan is revised by what the simulation does."""
_ROUNDING = 1e-11
"""Violations of a plan through contact that is finished."""
_REPLANNING = 60
"""Iterations after which a plan with the contacts of another is given up: some goals want other ones."""
_ALOFT = 100
"""Iterations after which a plan that touches nothing is given up: some goals want contact."""
_SLOPE, _DRAGGED_SLOPE = 1e-5, 1e-3
"""Of the Lagrangian, that will do: while something is dragged the cost need not be the very least."""


@dataclass(frozen=True, slots=True)
class Iterate:
    """One iteration of a solver, for the eye."""

    iteration: int
    cost: float
    violation: float
    places_w: np.ndarray
    """(N+1, 3) m."""


Show = Callable[[Iterate], bool]
"""Answers whether to go on."""


@dataclass
class PlanCall:
    """What one call of `Planner.plan` gathers on its way."""

    limit: TimeLimit
    show: Show | None
    iterations: int = 0
    stopped: bool = False
    dragged: bool = False
    history: tuple[tuple[float, float], ...] = ()
    check: Callable[[], None] = lambda: None
    """Raises KeyboardInterrupt where a library has swallowed one."""
    error: Exception | None = None
    """That `show` has raised: solvers may not be left by an exception."""
    given_up: Callable[[], bool] = lambda: False
    """Whether whoever has asked no longer wants more; `ended` asks it."""
    process: int = field(default_factory=os.getpid)
    """That was asked: forks do not hear, they are ended."""

    @property
    def out_of_time(self) -> bool:
        return self.limit.left_s < 0.0

    def ended(self) -> bool:
        """Whether it is given up; what is asked is remembered."""
        self.stopped = self.stopped or (self.process == os.getpid() and self.given_up())
        return self.stopped

    def beside(self, limit: TimeLimit | None = None) -> "PlanCall":
        """For a part that is not shown and counts by itself. limit: of its own, else this one's."""
        return PlanCall(
            limit or self.limit, None, check=self.check, given_up=self.given_up, process=self.process
        )


def order_of(choice: Choice) -> tuple[Backend, ...]:
    """Solvers to try, in turn: the fast one first. InputError for one that there is not."""
    if not isinstance(choice, str) or choice not in get_args(Choice):
        raise InputError(f"unknown solver {quote(choice)}; allowed: {', '.join(get_args(Choice))}")
    return ("fatrop", "ipopt") if choice == "auto" else (choice,)


def attempted(
    solvers: Solvers,
    order: tuple[Backend, ...],
    p: np.ndarray,
    start: np.ndarray | Result,
    run: PlanCall,
    mode: Mode = "cold",
    bounds: ProgramBounds | None = None,
    most: int = 300,
) -> Result:
    """The first solver that converges, else what violates least. bounds: others than the transcription's. most:
    iterations of IPOPT."""
    if solvers.t.model.scheme.touches and bounds is None:
        return _through_contact(solvers, p, start, run)
    best: Result | None = None
    w0 = start.w if isinstance(start, Result) else start
    pair = (
        (start.lam_x, start.lam_g)
        if isinstance(start, Result) and mode in ("again", "warm", "finish")
        else None
    )
    slope = _DRAGGED_SLOPE if run.dragged else _SLOPE
    if isinstance(start, Result):
        near = solvers.follow(
            p, start, mode=mode, slope=slope, watch=_watcher(solvers, p, run), bounds=bounds
        )
        run.iterations += near.iterations if near else 0
        if near is not None and (near.converged or run.stopped or mode == "warm"):
            return near
    for backend in order:
        limit = max(0.05, run.limit.left_s)
        cap = FATROP_ITERATIONS[mode] if backend == "fatrop" and (len(order) > 1 or mode == "warm") else most
        result = solvers.solve(
            backend,
            p,
            w0,
            mode=mode,
            duals=pair,
            iterations=cap,
            seconds=limit,
            slope=slope,
            watch=_watcher(solvers, p, run),
            bounds=bounds,
        )
        run.iterations += max(result.iterations, 0)
        run.limit.spend(result.seconds)
        if best is None or (result.converged, -result.violation) > (best.converged, -best.violation):
            best = result
        if best.converged or run.stopped or run.out_of_time:
            break
        if mode == "finish" and isinstance(start, Result) and start.exact and start.kkt < _SLOPE:
            # Multipliers that are not unique keep a solver from its last digits, not the motion from being right.
            return replace(start, rough=False)
        if pair is not None:
            mode, pair = "near", None
    assert best is not None
    return best


def _through_contact(solvers: Solvers, p: np.ndarray, start: np.ndarray | Result, run: PlanCall) -> Result:
    """What does not go together is relaxed less and less; then the lesser of each two is nothing.

    From a result that is first tried with what touches in it, from a guess in which nothing does without any contact.
    """
    t = solvers.t
    relaxed = t.model.parameters.slice("relaxed")
    w = start.w if isinstance(start, Result) else start
    soon: Result | None = None
    if not bears(t, p, w):
        soon = _aloft(solvers, p, w, run, "replan" if isinstance(start, Result) else "cold")
    elif isinstance(start, Result):
        bounds = touching(t, p, w, start.known)
        soon = attempted(solvers, ("ipopt",), p, w, run, "replan", bounds, _REPLANNING)
    if soon is not None:
        known = start.known if isinstance(start, Result) else None
        done = _finished(solvers, p, soon, run, known) if soon.converged else soon
        if done.converged or run.stopped or run.out_of_time:
            return done
    mode: Mode = "cold"
    for most in _RELAXED_PUSHES if t.model.pushes else _RELAXED_STEPS if t.model.steps else _RELAXED:
        now = p.copy()
        now[relaxed] = most
        found = attempted(solvers, ("ipopt",), now, w, run, mode, t.bounds)
        if not (found.converged or t.model.pushes) or run.stopped or run.out_of_time:
            return found
        w, mode = found.w, "near"
    for little in (_LITTLE, NO_FORCE):
        near = attempted(solvers, ("ipopt",), p, w, run, "near", touching(t, p, w, little=little))
        if near.converged or run.stopped or run.out_of_time:
            break
    return _finished(solvers, p, near, run) if near.converged else near


def _aloft(solvers: Solvers, p: np.ndarray, w: np.ndarray, run: PlanCall, mode: Mode) -> Result:
    """What touches nothing on its way, to rounding; not converged where that leads nowhere soon."""
    bounds = aloft(solvers.t)
    near = attempted(solvers, ("ipopt",), p, w, run, mode, bounds, _ALOFT)
    exact = _exact(solvers, p, near, run, bounds) if near.converged else near
    return replace(exact, w=told_apart(solvers.t, exact.w))


def _finished(
    solvers: Solvers, p: np.ndarray, found: Result, run: PlanCall, known: Contacts | None = None
) -> Result:
    """The same to rounding, by contacts that the simulation finds as well: where it finds others these are planned.

    known: those that it was found with.
    """
    simulated, known, best = Simulated(solvers.t), known or {}, found
    missed: Contacts | None = None
    for _ in range(REVISIONS):
        exact = _exact(solvers, p, found, run, touching(solvers.t, p, found.w, known))
        others = simulated.astray(exact.w, p)
        if missed is None or len(others) < len(missed):
            best, missed = replace(exact, known=known), others
        if not (others and exact.converged):
            break
        for revised in revisions(solvers.t, p, exact.w, others, known):
            found = _revised(solvers, p, exact, run, known | revised)
            if found.converged or run.stopped or run.out_of_time:
                break
        if not found.converged:
            break
        known = known | revised
    if not missed:
        return best
    steps, first_s = solvers.t.shape.steps, min(missed) * solvers.t.step_s(best.w, p)
    word = f"the simulation does {len(missed)} of {steps} steps otherwise, the first at {first_s:.2f} s"
    return replace(best, converged=False, word=word)


def _exact(solvers: Solvers, p: np.ndarray, found: Result, run: PlanCall, bounds: ProgramBounds) -> Result:
    """The same to rounding: what stands on one foot falls another way for the least that is wrong."""
    if found.violation < _ROUNDING:
        return found
    limit, duals = max(0.05, run.limit.left_s), (found.lam_x, found.lam_g)
    exact = solvers.solve(
        "ipopt",
        p,
        found.w,
        mode="finish",
        duals=duals,
        seconds=limit,
        bounds=bounds,
    )
    run.iterations += max(exact.iterations, 0)
    run.limit.spend(exact.seconds)
    return exact if exact.converged else found


def _revised(solvers: Solvers, p: np.ndarray, found: Result, run: PlanCall, known: Contacts) -> Result:
    """With steps whose contacts are known; where the others have to be found anew, from what is relaxed."""
    t, w = solvers.t, found.w
    near = attempted(solvers, ("ipopt",), p, w, run, "near", touching(t, p, w, known))
    for most in () if near.converged else _RELAXED_STEPS:
        now = p.copy()
        now[t.model.parameters.slice("relaxed")] = most
        relaxed = attempted(solvers, ("ipopt",), now, w, run, "near", held(t, now, w, known))
        if not relaxed.converged or run.stopped or run.out_of_time:
            return near
        w = relaxed.w
    if not near.converged:
        near = attempted(solvers, ("ipopt",), p, w, run, "near", touching(t, p, w, known))
    return near


def _watcher(solvers: Solvers, p: np.ndarray, run: PlanCall) -> Callable[[int, np.ndarray], bool]:
    show = run.show

    def watch(_: int, w: np.ndarray) -> bool:
        if show is not None and run.error is None:
            cost, violation = solvers.progress(w, p)
            run.history = (*run.history, (cost, violation))
            try:
                run.stopped |= not show(Iterate(len(run.history) - 1, cost, violation, solvers.t.places(w)))
            except Exception as error:
                run.error, run.stopped = error, True
        return not run.ended()

    return watch
