"""The two solvers: fatrop, fast by the stage structure, and IPOPT, robust and watched.

A call that may never come back is made in a thread where it can be left behind.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import casadi as ca
import numpy as np

from sim.planner.solvers.contact_bounds import Contacts
from sim.planner.solvers.newton import FINE_SHIFTS, Newton, PrimalDualPoint
from sim.planner.solvers.oracle import Backend, Oracle
from sim.planner.solvers.time_limit import TimeLimit
from sim.planner.transcription.transcription import ProgramBounds, Transcription
from sim.platform.values import dataclass

_LOOK_S, _STILL = 0.25, 10.0
_T = TypeVar("_T")


class WatchedCall(Generic[_T]):
    """A call on a thread of its own, which is given up where it shows no sign of life for too long."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self._call = call
        self._seen_s = (0.0, time.monotonic())
        self._clock: int | None = None
        """Of the processor's time of its thread, where there is such a clock; it may be read after its end, too."""
        self.taken_s = 0.0
        """Of the processor, when last looked at."""
        self._answer: list[_T] = []
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the call has been made and has not come back yet."""
        return self._thread is not None and self._thread.is_alive()

    def alive(self) -> None:
        """To be called by what is called, now and then."""
        self._seen_s = time.thread_time(), time.monotonic()

    def answer(self, silence_s: float) -> _T | None:
        """What the call returns or raises; None where it has been silent for so long, and runs on behind.

        silence_s: of the processor, of its thread: on a busy machine it has to wait for its turns. Where it takes none,
        `_STILL` times as long by the clock.
        It cannot be ended, and may go round for ever: on Linux it gets no time any more that anything else wants.
        """
        thread = self._thread = threading.Thread(target=self._run, name="watched call", daemon=True)
        self._seen_s = 0.0, time.monotonic()
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_S)
            self.taken_s = max(self.taken_s, self._taken())
            (seen_s, at_s), still_s = self._seen_s, _STILL * silence_s
            if self.taken_s - seen_s > silence_s or time.monotonic() - at_s > still_s:
                _schedule(thread, "SCHED_IDLE")
                return None
        if self._error is not None:
            raise self._error
        return self._answer[0]

    def silent_s(self) -> float:
        """Seconds of the processor that it has been at work since it last showed a sign of life."""
        return self._taken() - self._seen_s[0]

    def hurry(self) -> None:
        """Give one that was left behind its turns again, where that is allowed."""
        if self._thread is not None:
            _schedule(self._thread, "SCHED_OTHER")

    def _run(self) -> None:
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(threading.get_ident())
        try:
            self._answer.append(self._call())
        except BaseException as error:
            self._error = error
        self.taken_s = time.thread_time()

    def _taken(self) -> float:
        """Seconds of the processor that its thread has taken; by the clock where nothing else is known."""
        if self._clock is None:
            seen_s, at_s = self._seen_s
            return seen_s + time.monotonic() - at_s
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # It has just ended.
            return self.taken_s


def _schedule(thread: threading.Thread, policy: Literal["SCHED_IDLE", "SCHED_OTHER"]) -> None:
    if sys.platform == "linux" and thread.native_id is not None:
        with suppress(OSError):  # it has just ended, or this is not allowed
            os.sched_setscheduler(thread.native_id, getattr(os, policy), os.sched_param(0))


Watch = Callable[[int, np.ndarray], bool]
"""(iteration, variables) -> go on?"""

TOLERANCE = 1e-8
_DEFECT = 1e-9
"""Of a plan that is finished: its inputs land on its nodes."""
_ROUGH = 1e-3
Mode = Literal["cold", "near", "again", "warm", "finish", "replan"]
"""From a guess; from the plan of another grid; with its multipliers from the plan of a task whose obstacles have
grown; of one that differs a little, no further than a dragging hand can see; of the task itself, to the end; from the
motion of a plan through contact of one that differs a little, to the end."""
FATROP_ITERATIONS: dict[Mode, int] = {"cold": 120, "near": 60, "again": 40, "warm": 80, "finish": 25}
"""After these IPOPT is more likely to arrive."""
_FATROP: dict[Mode, dict[str, float]] = {
    # Coarse: what follows moves the obstacles' margins or goes on to the end.
    "cold": {"tol": 1e-4},
    "near": {"mu_init": 1e-4, "tol": 1e-4},
    "again": {"mu_init": 1e-5, "bound_push": 1e-6, "bound_frac": 1e-6, "tol": TOLERANCE},
    "warm": {"mu_init": 1e-6, "bound_push": 1e-6, "bound_frac": 1e-6, "tol": 1e-7},
    "finish": {"mu_init": 1e-8, "bound_push": 1e-9, "bound_frac": 1e-9, "tol": TOLERANCE},
}
_PIVOT = {True: 1e-3, False: 1e-4}
"""What an input does to a goal in one step counts from here on, in space and on a plane. fatrop's own 1e-5 divides by
what is too small: its regularisation then grows for ever, and it does not come back."""
_SILENT_S, _HEARD_S = 5.0, 0.5
"""Without an iteration: a solver that is given up; and for how long one is waited at least, where less time is left,
since another has to be made then."""
_FIRST: dict[bool, dict[str, float]] = {
    True: {"mu_init": 0.1, "bound_push": 0.06, "bound_frac": 0.06},
    False: {"mu_init": 1.0, "bound_push": 0.02, "bound_frac": 0.02},
}
"""Of cold solutions in space and on a plane; found by trial. Gaits and corridors have many local optima; more of the
bad ones are passed by when bounds push harder at first."""
_ALONG_A_WAY = {"mu_init": 1e-3, "bound_push": 0.01, "bound_frac": 0.01}
"""The same of trees of joints, whose guesses keep clear of everything already."""
_AMD = 0
"""MUMPS's number of the order by approximate minimum degree."""
_WARM_IPOPT = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-6,
    "warm_start_mult_bound_push": 1e-6,
    "warm_start_slack_bound_push": 1e-6,
    "warm_start_bound_frac": 1e-6,
    "warm_start_slack_bound_frac": 1e-6,
}
_NEWTON: dict[Mode, float] = {"again": 1e-10, "warm": 1e-7, "finish": 1e-10}
"""Products of bounds' multipliers and distances that Newton's method goes down to."""
_FREED, _FREEING = 1e-4, 12
"""The same where it stays where it is, and in how many steps: from further within it comes around bounds that hold it,
and off a saddle."""
_LESS = 0.1
"""From there products become less by this much at a time: all at once, bounds would hold it again."""


_SAID = {
    "Infeasible_Problem_Detected": "near its guess nothing does all that is asked for",
    "Maximum_Iterations_Exceeded": "as many as it is given",
    "Maximum_CpuTime_Exceeded": "its time is over",
    "Not_Enough_Degrees_Of_Freedom": "more is asked for than can be chosen",
    "Restoration_Failed": "it found no way back to what is asked for",
    "Search_Direction_Becomes_Too_Small": "it came no further",
    "Invalid_Number_Detected": "the equations have no value where it went",
    "Solved_To_Acceptable_Level": "not exactly enough",
    "Diverging_Iterates": "what it tried grows without bounds",
    "1": "it came no further",
    "2": "as many as it is given",
}
"""What solvers say, in words: IPOPT by names, fatrop by numbers."""


@dataclass(frozen=True)
class Result:
    """What one run of a solver gave."""

    w: np.ndarray
    lam_x: np.ndarray
    lam_g: np.ndarray
    cost: float
    violation: float
    """Largest violation of a scaled constraint or bound; solvers relax inequalities by 1e-8."""
    defect: float
    """Largest violation of a scaled equality: equations of motion, start, fixed parts of the goal."""
    kkt: float
    """Largest entry of the gradient of the Lagrangian, scaled variables."""
    iterations: int
    seconds: float
    """Of the processor, of the solver's thread."""
    converged: bool
    word: str
    """What the solver says of its end."""
    backend: str
    rough: bool
    """Converged only so far that something is still to be decided, or the motion is not yet exact."""
    margin_m: np.ndarray | None = None
    """(N+1,) distances that were added at the nodes to keep clear between them."""
    known: Contacts = field(default_factory=dict)
    """Of a plan through contact, steps whose contacts are those of the simulation."""

    @property
    def exact(self) -> bool:
        """Rounding in large coordinates can keep a solver from its own last tolerance where this holds."""
        return self.violation < 1e-7 and self.defect < _DEFECT


class Solvers:
    """Solvers of one transcription, made when first asked for."""

    def __init__(self, transcription: Transcription) -> None:
        self.t = transcription
        self._oracle = Oracle(transcription.program)
        self._made: dict[tuple[str, str, int], ca.Function] = {}
        self._left_behind: tuple[tuple[WatchedCall[dict], Oracle, dict], ...] = ()
        """Solvers that have not come back, with what they still use."""
        self.given_up = 0
        """Times that a solver was silent for so long that it was left behind."""

    def solve(
        self,
        backend: Backend,
        p: np.ndarray,
        w0: np.ndarray,
        *,
        mode: Mode = "cold",
        duals: tuple[np.ndarray, np.ndarray] | None = None,
        iterations: int = 300,
        seconds: float = 60.0,
        slope: float = 1e-5,
        watch: Watch | None = None,
        bounds: ProgramBounds | None = None,
    ) -> Result:
        """Call one solver. duals: (lam_x, lam_g), which the modes "again", "warm" and "finish" start from.

        seconds: after these, or when `watch` says so, the run ends with the iterate that it has come to; one that has
        been silent all that time is left behind. slope: the gradient of the Lagrangian at which a feasible result
        counts as converged, even where the solver wants more. bounds: others than the transcription's.
        """
        t, solver, within = self.t, self._solver(backend, mode, iterations), bounds or self.t.bounds
        if not np.isfinite(t.program.constraints(w0, p)).all():
            return self._hopeless(w0, backend)
        extra = {"lam_x0": duals[0], "lam_g0": duals[1]} if duals is not None else {}
        limit, seen = TimeLimit(seconds), [w0]

        def go_on(w: np.ndarray) -> bool:
            call.alive()
            seen.append(w)
            wanted = watch is None or watch(len(seen) - 2, w)
            return wanted and limit.left_s > 0.0

        call: WatchedCall[dict] = WatchedCall(
            lambda: solver(
                x0=w0,
                p=p,
                lbx=within.low,
                ubx=within.high,
                lbg=within.row_low,
                ubg=within.row_high,
                **extra,
            )
        )
        self._oracle.begin(backend, go_on)
        out = call.answer(min(_SILENT_S, max(_HEARD_S, seconds)))
        taken, stopped = call.taken_s, self._oracle.stopped
        stats = {"return_status": "it does not come back"} if out is None else solver.stats()
        if out is None:
            self._leave_behind(call)
        else:
            self._oracle.begin(backend, None)
        if out is None or stopped:
            nothing = np.zeros_like(seen[-1]), np.zeros_like(t.row_low)
            out = {"x": seen[-1], "lam_x": nothing[0], "lam_g": nothing[1], "f": t.program.cost(seen[-1], p)}
        rough = backend == "fatrop" and mode in ("cold", "near")
        return self._result(out, p, stats, taken, backend, slope, rough, within)

    def _leave_behind(self, call: WatchedCall[dict]) -> None:
        """Go on with other solvers than those of which one is still at work."""
        self._oracle.abandon(lambda: call.running, call.hurry, call.silent_s)
        for before, oracle, _ in self._left_behind:
            if not before.running:
                oracle.forget()
        at_work = (entry for entry in self._left_behind if entry[0].running)
        self._left_behind = (*at_work, (call, self._oracle, self._made))
        self._oracle, self._made = Oracle(self.t.program), {}
        self.given_up += 1

    def _hopeless(self, w0: np.ndarray, backend: str) -> Result:
        """Where equations have no value at the start: fatrop would look for a direction for ever."""
        inf = float("inf")
        duals = np.zeros_like(w0), np.zeros_like(self.t.row_low)
        word = "the equations have no value at the first guess"
        return Result(w0, *duals, inf, inf, inf, inf, 0, 0.0, False, word, backend, rough=False)

    def follow(
        self,
        p: np.ndarray,
        start: Result,
        *,
        mode: Mode,
        slope: float = 1e-5,
        watch: Watch | None = None,
        bounds: ProgramBounds | None = None,
    ) -> Result | None:
        """Go on from a result with multipliers by Newton's method; None where that is not for this problem or mode."""
        if mode not in _NEWTON or not self._newton.serves or not start.lam_g.any():
            return None
        t, begun, seen = self.t, time.thread_time(), 0

        def go_on(w: np.ndarray) -> bool:
            nonlocal seen
            seen += 1
            return watch is None or watch(seen - 1, w)

        backend = "newton" if mode == "warm" else start.backend
        before, newton, within = (
            PrimalDualPoint(start.w, start.lam_g, start.lam_x),
            self._newton,
            bounds or t.bounds,
        )
        if bounds is not None:
            newton = newton.within((bounds.row_low, bounds.row_high), (bounds.low, bounds.high))
        run = newton(p, before, mu=_NEWTON[mode], go_on=go_on)
        if run.stayed:
            freed = newton(p, before, mu=_FREED, most=_FREEING, shifts=FINE_SHIFTS, go_on=go_on)
            iterations, mu = run.iterations + freed.iterations, _FREED
            while freed.converged and mu > _NEWTON[mode]:
                mu = max(_NEWTON[mode], _LESS * mu)
                run = freed = newton(p, freed.point, mu=mu, shifts=FINE_SHIFTS, go_on=go_on)
                iterations += run.iterations
            run = replace(run, iterations=iterations)
        point, stats = run.point, {"success": run.converged, "iter_count": run.iterations}
        out = {"x": point.w, "lam_x": point.lam_x, "lam_g": point.lam_g, "f": t.program.cost(point.w, p)}
        return self._result(out, p, stats, time.thread_time() - begun, backend, slope, False, within)

    @cached_property
    def _newton(self) -> Newton:
        t = self.t
        return Newton(t.program, (t.row_low, t.row_high), (t.low, t.high))

    def progress(self, w: np.ndarray, p: np.ndarray) -> tuple[float, float]:
        """Cost and largest violation of a row."""
        g, t = self.t.program.constraints(w, p), self.t
        return t.program.cost(w, p), float(max(0.0, (t.row_low - g).max(), (g - t.row_high).max()))

    def _result(
        self,
        out: dict,
        p: np.ndarray,
        stats: dict,
        seconds: float,
        backend: str,
        slope: float,
        rough: bool,
        bounds: ProgramBounds,
    ) -> Result:
        w, lam_x, lam_g = (np.array(out[k]).ravel() for k in ("x", "lam_x", "lam_g"))
        violation, defect, kkt = self.residuals(w, lam_x, lam_g, p, bounds)
        status = str(stats.get("return_status"))
        result = Result(
            w,
            lam_x,
            lam_g,
            float(out["f"]),
            violation,
            defect,
            kkt,
            int(stats.get("iter_count", -1)),
            seconds,
            False,
            _SAID.get(status, status),
            backend,
            rough=rough or defect > _DEFECT,
        )
        arrived = bool(stats.get("success")) or (result.exact and kkt < slope)
        within = violation < (_ROUGH if rough else 1e-6)
        return replace(result, converged=bool(np.isfinite(w).all()) and arrived and within)

    def prepare(self) -> None:
        """Make the solvers that are needed first, so that planning does not wait for them: where Newton's method goes
        on from what the first one has found, those that come after it are hardly ever asked for."""
        after: tuple[Mode, ...] = () if self._newton.serves else ("again", "warm", "finish")
        for mode in ("cold", *after):
            self._solver("fatrop", mode, FATROP_ITERATIONS[mode])

    def rehearse(self, p: np.ndarray, w0: np.ndarray) -> None:
        """Go through the program and Newton's method once, so that their machine code is there when it is needed."""
        nothing = PrimalDualPoint(w0, np.zeros_like(self.t.row_low), np.zeros_like(w0))
        # CasADi's arrays may not be written to, which is another type to the compiler.
        given = [np.frombuffer(a.tobytes()) for a in (w0, p, nothing.lam_g)]
        self.t.program.lagrangian(given[0], given[1], 1.0, given[2])
        if self._newton.serves:
            self._newton(p, nothing, mu=1.0, most=1)

    def residuals(
        self,
        w: np.ndarray,
        lam_x: np.ndarray,
        lam_g: np.ndarray,
        p: np.ndarray,
        bounds: ProgramBounds | None = None,
    ) -> tuple[float, float, float]:
        """(largest violation, largest of an equality, largest entry of the Lagrangian's gradient).

        bounds: others than the transcription's.
        """
        t, b = self.t, bounds or self.t.bounds
        g = t.program.constraints(w, p)
        over = [b.row_low - g, g - b.row_high, b.low - w, w - b.high]
        slope = t.program.pull(w, p, 1.0, lam_g) + lam_x
        equal = b.row_low == b.row_high
        defect = max(float(np.abs(g - b.row_low)[equal].max(initial=0.0)), t.program.imbalance(w, p))
        return float(max(defect, *(o.max(initial=0.0) for o in over))), defect, float(np.abs(slope).max())

    def _solver(self, backend: Backend, mode: Mode, iterations: int) -> ca.Function:
        key = (backend, mode, iterations)
        if key not in self._made:
            make = self._fatrop if backend == "fatrop" else self._ipopt
            self._made[key] = make(mode, iterations)
        return self._made[key]

    def _fatrop(self, mode: Mode, iterations: int) -> ca.Function:
        t = self.t
        options: dict[str, Any] = {
            "print_level": 0,
            "max_iter": iterations,
            "linsol_lu_fact_tol": _PIVOT[t.model.turns == 3],
            **_FATROP[mode],
        }
        if mode == "cold":
            options |= _ALONG_A_WAY if t.model.driven else _FIRST[t.model.turns == 3]
        return ca.nlpsol(
            "plan",
            "fatrop",
            self._oracle.values,
            {
                "print_time": False,
                "error_on_fail": False,
                "calc_lam_p": False,
                "show_eval_warnings": False,
                "inputs_check": False,  # else it prints where there are more equations than unknowns
                "equality": t.equality,
                "fatrop": options,
                "cache": self._oracle.derivatives("fatrop"),
                **t.structure,
            },
        )

    def _ipopt(self, mode: Mode, iterations: int) -> ca.Function:
        options: dict[str, Any] = {"print_level": 0, "sb": "yes", "tol": TOLERANCE, "max_iter": iterations}
        options["constr_viol_tol"] = TOLERANCE
        # Else it obeys a file ipopt.opt in the current folder, which may have it write files and load libraries.
        options["option_file_name"] = ""
        if mode in ("near", "replan"):
            options["mu_init"] = 1e-2
        if mode in ("again", "warm", "finish"):
            options |= {"mu_init": 1e-4, **_WARM_IPOPT}
        if self.t.model.pushes and mode in ("cold", "near", "replan"):
            options["mu_strategy"] = "adaptive"
        if self.t.model.pushes and mode == "replan":
            # It begins where it may end: to fall back on one weight of the barrier for long takes it elsewhere.
            options["adaptive_mu_globalization"] = "never-monotone-mode"
        if self.t.model.scheme.touches and mode in ("finish", "replan"):
            # A force that friction holds by a hundred-millionth too much is another motion a second later.
            options |= {"tol": 1e-11, "constr_viol_tol": 1e-11, "bound_relax_factor": 0.0}
        if mode == "replan":
            # A pusher's replan spends eight tenths of its time on the solver's linear equations, and takes six tenths
            # of what it took without this: variables and rows are scaled already, and MUMPS looks anew for scales and
            # an order at every step. What is sought from afar keeps MUMPS's own, by which it finds what it found.
            options |= {"mumps_pivot_order": _AMD, "mumps_permuting_scaling": 0, "mumps_scaling": 0}
        return ca.nlpsol(
            "plan",
            "ipopt",
            self._oracle.values,
            {
                "print_time": False,
                "error_on_fail": False,
                "calc_lam_p": False,
                "show_eval_warnings": False,
                "inputs_check": False,  # else it prints where there are more equations than unknowns
                "ipopt": options,
                "cache": self._oracle.derivatives("ipopt"),
            },
        )
