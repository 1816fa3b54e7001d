"""A program as the functions that CasADi's solvers call, without copies between them and the machine code."""

import atexit
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal

import casadi as ca
import numpy as np

from sim.planner.transcription.program import Program

Backend = Literal["fatrop", "ipopt"]
_Arrays = Sequence[np.ndarray]
_Outputs = Sequence[np.ndarray | None]
_HELD_S, _LOST_S = 20.0, 3.0
"""How long Python's end waits for an abandoned solver to ask for something, so that it is not in the middle of it: on a
busy machine it may take seconds until it has its turn. Less where it has been at work for so long without a question:
one that looks for a direction for ever will not ask any more."""


class Oracle:
    """The functions of one program. The solvers hold no references to them, so this has to outlive them.

    Both solvers ask for the Jacobian once an iteration: there the iterate is shown to whoever watches. When nobody
    wants a further one IPOPT is given no further numbers and gives up; fatrop, which would not survive that, runs
    on unseen to its near end.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._watch: Callable[[np.ndarray], bool] | None = None
        self.stopped = self._gives_up = self._ended = False
        self._held = threading.Event()
        """A solver waits, and for ever."""
        self._running: Callable[[], bool] = bool
        self._hurry: Callable[[], object] = bool
        self._silent_s: Callable[[], float] = float
        x, p = ca.Sparsity.dense(program.size), ca.Sparsity.dense(program.parameter_count)
        g, one = ca.Sparsity.dense(program.rows), ca.Sparsity.dense(1)
        self._point, self._multipliers, self._g = {"x": x, "p": p}, {"lam_f": one, "lam_g": g}, g
        self.values = _Compiled("nlp", self._point, {"f": one, "g": g}, self._values)
        self._slope = _Compiled("nlp_grad_f", self._point, {"f": one, "grad_f_x": x}, self._gradient)
        self._steepness = _Compiled("nlp_grad_f", self._point, {"grad_f_x": x}, self._gradient_only)
        jacobian = {"g": g, "jac_g_x": program.jacobian_gather.sparsity}
        self._jacobian = _Compiled("nlp_jac_g", self._point, jacobian, self._derivatives)
        told = {"f": one, "g": g, "grad_gamma_x": x, "grad_gamma_p": p}
        self._summary = _Compiled("nlp_grad", self._point | self._multipliers, told, self._at_solution)
        self._hessians: dict[Backend, _Compiled] = {}

    def derivatives(self, backend: Backend) -> dict[str, ca.Function]:
        """What a solver asks for by name: fatrop and IPOPT want them in different forms."""
        if backend not in self._hessians:
            self._hessians[backend] = self._hessian(backend)
        return {
            "nlp_grad": self._summary,
            "nlp_jac_g": self._jacobian,
            "nlp_grad_f": self._steepness if backend == "fatrop" else self._slope,
            "nlp_hess_l": self._hessians[backend],
        }

    def begin(self, backend: Backend, watch: Callable[[np.ndarray], bool] | None) -> None:
        """watch: answers whether to go on from an iterate."""
        self._watch, self.stopped, self._gives_up = watch, False, backend == "ipopt"

    def abandon(
        self, running: Callable[[], bool], hurry: Callable[[], object], silent_s: Callable[[], float]
    ) -> None:
        """Keep a solver that nobody waits for any longer away from the program. running: is it at work? hurry: lets it
        come to its next question soon, also on a busy machine. silent_s: of the processor, how long has it been at work
        since the last one?"""
        self._watch, self.stopped, self._gives_up = None, True, True
        self._running, self._hurry, self._silent_s = running, hurry, silent_s
        atexit.register(self._end)

    def forget(self) -> None:
        """The abandoned solver has come back after all."""
        atexit.unregister(self._end)

    def _end(self) -> None:
        """Answer nothing any more: a thread that comes from a solver into Python when that has ended is unwound
        through the solver, which aborts the process."""
        self._ended, begun = True, time.monotonic()
        self._hurry()
        while self._running() and time.monotonic() - begun < _HELD_S and self._silent_s() < _LOST_S:
            if self._held.wait(0.02):
                break

    def _values(self, given: _Arrays, out: _Outputs) -> None:
        f, g = out
        if self._withheld(out):
            return
        if f is not None:
            f[0] = self._program.cost(*given)
        if g is not None:
            g[:] = self._program.constraints(*given)

    def _gradient(self, given: _Arrays, out: _Outputs) -> None:
        f, slope = out
        if self._withheld(out):
            return
        if f is not None:
            f[0] = self._program.cost(*given)
        if slope is not None:
            w, p = given
            self._program.gradient(w, p, slope)

    def _gradient_only(self, given: _Arrays, out: _Outputs) -> None:
        self._gradient(given, (None, *out))

    def _withheld(self, out: _Outputs) -> bool:
        if not (self.stopped and self._gives_up):
            return False
        if self._ended:
            self._held.set()
            threading.Event().wait()
        for array in out:
            if array is not None:
                array[:] = np.nan
        return True

    def _at_solution(self, given: _Arrays, out: _Outputs) -> None:
        """What is asked for once at a solution; prices of parameters are not."""
        if self._withheld(out):
            return
        self._values(given[:2], out[:2])
        if out[2] is not None:
            out[2][:] = self._program.pull(given[0], given[1], float(given[2][0]), given[3])

    def _derivatives(self, given: _Arrays, out: _Outputs) -> None:
        g, jacobian = out
        if self._watch is not None and not self.stopped:
            self.stopped = not self._watch(given[0].copy())
        if self._withheld(out):
            return
        if g is not None:
            g[:] = self._program.constraints(*given)
        if jacobian is not None:
            w, p = given
            self._program.jacobian(w, p, jacobian)

    def _hessian(self, backend: Backend) -> "_Compiled":
        full = backend == "fatrop"
        gather = self._program.full_hessian if full else self._program.upper_hessian
        own = "hess_gamma_x_x" if full else "triu_hess_gamma_x_x"

        def evaluated(given: _Arrays, out: _Outputs) -> None:
            if self._withheld(out):
                return
            w, p, lam_f, lam_g = given
            slope, blocks = self._program.lagrangian(w, p, float(lam_f[0]), lam_g)
            *slopes, hessian = out
            if slopes and slopes[0] is not None:
                slopes[0][:] = slope
            if hessian is not None:
                gather(blocks, hessian)

        outputs = {own: gather.sparsity}
        if full:
            outputs = {"grad_gamma_x": self._point["x"], **outputs}
        return _Compiled("nlp_hess_l", self._point | self._multipliers, outputs, evaluated)


class _Compiled(ca.Callback):
    """A function of arrays under CasADi's name and signature."""

    def __init__(
        self,
        name: str,
        inputs: dict[str, ca.Sparsity],
        outputs: dict[str, ca.Sparsity],
        evaluate: Callable[[_Arrays, _Outputs], None],
    ) -> None:
        ca.Callback.__init__(self)
        self._inputs, self._outputs = list(inputs.items()), list(outputs.items())
        self._evaluate = evaluate
        self._zeros = [np.zeros(sparsity.nnz()) for sparsity in inputs.values()]
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_name_in(self, i: int) -> str:
        return self._inputs[i][0]

    def get_name_out(self, i: int) -> str:
        return self._outputs[i][0]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self._inputs[i][1]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self._outputs[i][1]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Sequence[memoryview | None], out: Sequence[memoryview | None]) -> int:
        """CasADi leaves out inputs that are zero and outputs that nobody wants."""
        inputs = [z if a is None else np.frombuffer(a) for a, z in zip(given, self._zeros, strict=True)]
        self._evaluate(inputs, [None if a is None else np.frombuffer(a) for a in out])
        return 0
