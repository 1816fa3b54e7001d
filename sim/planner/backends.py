"""The two solvers: fatrop, fast by the stage structure, and IPOPT, robust and watched."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np

from sim.planner.oracle import Backend, Oracle
from sim.planner.transcription import Transcription

Watch = Callable[[int, float, float, np.ndarray], bool]
"""(iteration, objective, largest violation, variables) -> go on?"""

TOLERANCE = 1e-8
_DEFECT = 1e-9
"""Of a plan that is finished: its inputs land on its nodes."""
_ROUGH = 1e-3
Mode = Literal["cold", "near", "again", "warm"]
"""From a guess; from the plan of another grid; from an iterate of this very problem with its multipliers, to the
end; from the plan of a task that differs a little, no further than a dragging hand can see."""
FATROP_ITERATIONS: dict[Mode, int] = {"cold": 80, "near": 60, "again": 40, "warm": 25}
"""After these IPOPT is more likely to arrive."""
_FATROP: dict[Mode, dict[str, float]] = {
    # Coarse: what follows moves the obstacles' margins or goes on to the end.
    "cold": {"mu_init": 0.1, "tol": 1e-4},
    "near": {"mu_init": 1e-4, "tol": 1e-4},
    "again": {"mu_init": 1e-5, "bound_push": 1e-6, "bound_frac": 1e-6, "tol": TOLERANCE},
    "warm": {"mu_init": 1e-6, "bound_push": 1e-6, "bound_frac": 1e-6, "tol": 1e-6},
}
_FIRST_PUSH = {True: 0.1, False: 0.01}
"""How far inside their bounds first variables are moved, in space and on a plane; found by trial."""
_WARM_IPOPT = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-6,
    "warm_start_mult_bound_push": 1e-6,
    "warm_start_slack_bound_push": 1e-6,
    "warm_start_bound_frac": 1e-6,
    "warm_start_slack_bound_frac": 1e-6,
}


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
    converged: bool
    word: str
    """The solver's own."""
    backend: str
    rough: bool
    """Converged only so far that something is still to be decided, or the motion is not yet exact."""
    margin_m: np.ndarray | None = None
    """(N+1,) distances that were added at the nodes to keep clear between them."""


class Solvers:
    """Solvers of one transcription, made when first asked for."""

    def __init__(self, transcription: Transcription) -> None:
        self.t = transcription
        self._oracle = Oracle(transcription.program)
        self._made: dict[tuple[str, str, int], ca.Function] = {}
        self._watched: tuple[ca.Function, _Watcher] | None = None

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
    ) -> Result:
        """Run one solver. duals: (lam_x, lam_g), which the modes "again" and "warm" start from.

        fatrop knows no time limit; its runs are short, and `iterations` bounds them. slope: the gradient of the
        Lagrangian at which a feasible result counts as converged, even where the solver wants more.
        """
        t = self.t
        if watch is not None and backend == "ipopt" and duals is None:
            solver, watcher = self._with_watcher(iterations)
            watcher.begin(_until(watch, seconds))
        else:
            solver = self._solver(backend, mode, iterations)
        extra = {"lam_x0": duals[0], "lam_g0": duals[1]} if duals is not None else {}
        begun = time.perf_counter()
        out = solver(x0=w0, p=p, lbx=t.low, ubx=t.high, lbg=t.row_low, ubg=t.row_high, **extra)
        taken = time.perf_counter() - begun
        rough = backend == "fatrop" and mode in ("cold", "near")
        return self._result(out, p, solver.stats(), taken, backend, slope, rough)

    def _result(
        self, out: dict, p: np.ndarray, stats: dict, seconds: float, backend: str, slope: float, rough: bool
    ) -> Result:
        w, lam_x, lam_g = (np.array(out[k]).ravel() for k in ("x", "lam_x", "lam_g"))
        violation, defect, kkt = self.residuals(w, lam_x, lam_g, p)
        # Rounding in large coordinates can keep a solver from its own last tolerance.
        close = violation < 1e-7 and defect < 1e-9 and kkt < slope
        return Result(
            w,
            lam_x,
            lam_g,
            float(out["f"]),
            violation,
            defect,
            kkt,
            int(stats.get("iter_count", -1)),
            seconds,
            bool(np.isfinite(w).all())
            and (bool(stats.get("success")) or close)
            and violation < (_ROUGH if rough else 1e-6),
            str(stats.get("return_status")),
            backend,
            rough=rough or defect > _DEFECT,
        )

    def prepare(self) -> None:
        """Make the solvers that are needed first, so that planning does not wait for them."""
        for mode in ("cold", "again", "warm"):
            self._solver("fatrop", mode, FATROP_ITERATIONS[mode])

    def residuals(
        self, w: np.ndarray, lam_x: np.ndarray, lam_g: np.ndarray, p: np.ndarray
    ) -> tuple[float, float, float]:
        """(largest violation, largest of an equality, largest entry of the Lagrangian's gradient)."""
        t = self.t
        g = t.program.constraints(w, p)
        over = [t.row_low - g, g - t.row_high, t.low - w, w - t.high]
        slope = t.program.lagrangian(w, p, 1.0, lam_g)[0] + lam_x
        equal = t.row_low == t.row_high
        defect = float(np.abs(g - t.row_low)[equal].max(initial=0.0))
        return float(max(0.0, *(o.max(initial=0.0) for o in over))), defect, float(np.abs(slope).max())

    def _solver(self, backend: Backend, mode: Mode, iterations: int) -> ca.Function:
        key = (backend, mode, iterations)
        if key not in self._made:
            make = self._fatrop if backend == "fatrop" else self._ipopt
            self._made[key] = make(mode, iterations, {})
        return self._made[key]

    def _fatrop(self, mode: Mode, iterations: int, extra: dict) -> ca.Function:
        t = self.t
        options: dict[str, Any] = {
            "print_level": 0,
            "max_iter": iterations,
            **_FATROP[mode],
        }
        if mode == "cold":
            push = _FIRST_PUSH[t.model.turns == 3]
            options |= {"bound_push": push, "bound_frac": push}
        return ca.nlpsol(
            "plan",
            "fatrop",
            self._oracle.values,
            {
                "print_time": False,
                "error_on_fail": False,
                "calc_lam_p": False,
                "equality": t.equality,
                "fatrop": options,
                "cache": self._oracle.derivatives("fatrop"),
                **t.structure,
                **extra,
            },
        )

    def _ipopt(self, mode: Mode, iterations: int, extra: dict) -> ca.Function:
        options: dict[str, Any] = {"print_level": 0, "sb": "yes", "tol": TOLERANCE, "max_iter": iterations}
        options["constr_viol_tol"] = TOLERANCE
        options["max_wall_time"] = 30.0
        if mode == "near":
            options["mu_init"] = 1e-2
        if mode in ("again", "warm"):
            options |= {"mu_init": 1e-4, **_WARM_IPOPT}
        return ca.nlpsol(
            "plan",
            "ipopt",
            self._oracle.values,
            {
                "print_time": False,
                "error_on_fail": False,
                "calc_lam_p": False,
                "ipopt": options,
                "cache": self._oracle.derivatives("ipopt"),
                **extra,
            },
        )

    def _with_watcher(self, iterations: int) -> tuple[ca.Function, "_Watcher"]:
        if self._watched is None:
            watcher = _Watcher(self)
            self._watched = self._ipopt("cold", iterations, {"iteration_callback": watcher}), watcher
        return self._watched


def _until(watch: Watch, seconds: float) -> Watch:
    """The same, and no longer than that."""
    end = time.perf_counter() + seconds

    def limited(iteration: int, cost: float, violation: float, w: np.ndarray) -> bool:
        return watch(iteration, cost, violation, w) and time.perf_counter() < end

    return limited


class _Watcher(ca.Callback):
    """Shows every iterate to a function, which may stop the solver."""

    def __init__(self, solvers: Solvers) -> None:
        ca.Callback.__init__(self)
        t = solvers.t
        self._sizes = {
            "f": 1,
            "x": t.low.size,
            "lam_x": t.low.size,
            "g": t.row_low.size,
            "lam_g": t.row_low.size,
            "lam_p": t.program.parameter_count,
        }
        self._t = t
        self._watch: Watch | None = None
        self._count = 0
        self.construct("watch", {})

    def begin(self, watch: Watch) -> None:
        self._watch, self._count = watch, 0

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return ca.nlpsol_out(i)

    def get_name_out(self, i: int) -> str:
        return "ret"

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes[ca.nlpsol_out(i)], 1)

    def eval(self, arguments: Sequence[ca.DM]) -> list:
        given = dict(zip(ca.nlpsol_out(), arguments, strict=True))
        g, t = np.array(given["g"]).ravel(), self._t
        violation = float(max(0.0, (t.row_low - g).max(), (g - t.row_high).max()))
        go_on = self._watch is None or self._watch(
            self._count, float(given["f"]), violation, np.array(given["x"]).ravel()
        )
        self._count += 1
        return [0 if go_on else 1]
