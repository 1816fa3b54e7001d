"""Prints the loop over the steps of a rollout: a method's step as it is, composed of several, or divided."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.printer import NEWTON_FAILED, Named
from sim.compiler.vector_code import Function
from sim.integrators.base import Scheme
from sim.native.text import splat

OK, NOT_FINITE = 0, 2
"""How a rollout ends, or with `NEWTON_FAILED`."""
STEP = ("y", "u", "w", "p", "h", "node", "counts")
"""Table of a rollout: y is written to, node that of the last step's start, counts steps done and iterations."""
SMALLEST_SHARE = 1e-9
"""An adaptive method gives up where it would have to go below this share of the step."""

_POINTS = 6
"""Sampled controls of adaptive methods are the polynomial through as many points of the step: Chebyshev's, which leave
out its ends, where controls may jump."""

SAFETY, EXPONENT = 0.85, 0.25
LEAST, MOST = 0.2, 5.0
"""How adaptive methods choose their next step: the rule and the numbers of the mechanics survey's program."""


class State(ABC):
    """Where a rollout has its state: where the step begins, how far it has come, and what its last part has found."""

    begun: Any
    """Where the step begins."""
    far: Any
    """How far it has come."""

    @abstractmethod
    def take(self, to: Any, of: Any) -> None:
        """Print: what stands at one of these stands at the other, too."""

    @abstractmethod
    def advance(self, given: Named, over: str) -> tuple[str, str]:
        """Print what finds where the next part ends, or jumps to `over`. Registers: whether that is finite, its error
        estimate."""

    @abstractmethod
    def accept(self) -> None:
        """Print: it has come that far; of a step that is not taken in parts, the next one begins there."""

    def begin(self) -> None:
        """Print: a step in parts has come as far as where it begins."""
        self.take(self.far, self.begun)

    @abstractmethod
    def end(self) -> None:
        """Print: the last step has come to its end. It still tells where it begins."""

    def onward(self) -> None:
        """Print: the next step begins where this one, in parts, has ended."""
        self.take(self.begun, self.far)

    def fail(self) -> None:
        """Print: a step that fails has not gone anywhere."""
        self.take(self.far, self.begun)


class Rollout:
    """The loop, in a function with a table as `STEP`. After it the state is at the end and at the start of the last
    step."""

    def __init__(self, function: Function, given: Named, size: int) -> None:
        """given: registers of all that a step depends on beside its state, which has `size` numbers."""
        self._function, self._given, self._size = function, given, size
        self.status, self.iterations = function.variable("0", "i64"), function.variable("0", "i64")
        self._done = function.variable("0", "i64")
        self._trial = ""

    def plain(self, state: State) -> None:
        """Each step as it is."""

        def step() -> None:
            good, _ = state.advance(self._given, "failed")
            self._finite(good, "failed")

        self._loop(state, step, state.accept)

    def composed(self, state: State, substeps: Sequence[float], row: int) -> None:
        """The equations are solved with shares of the step, a global array; row: size of the controls of each, or 0."""
        function = self._function

        def step() -> None:
            state.begin()
            at = function.variable("0", "i64")
            part, whole = function.fresh("part"), function.fresh("whole")
            function.jump(part)
            function.label(part)
            k = function.read(at)
            (share,) = function.loaded(function.entry("@shares", k), 1)
            own = self._given | {"h": [function.new(f"fmul double {self._given['h'][0]}, {share}")]}
            if row:
                own["u"] = function.loaded(function.row("%u", row, k), row)
            good, _ = state.advance(own, "failed")
            self._finite(good, "failed")
            state.accept()
            more = function.new(f"icmp slt i64 {function.count(at)}, {len(substeps)}")
            function.branch(more, part, whole)
            function.label(whole)

        self._loop(state, step, state.onward)

    def divided(self, state: State, samples: tuple[float, ...], controls: int) -> None:
        """Inner steps as long as the error estimate allows; samples: moments of rows of so many controls."""
        function, whole = self._function, self._given["h"][0]
        behind = function.entry("%y", self._size)
        trial, tolerance = function.loaded(behind, 2)
        self._trial, left = function.variable(trial), function.variable()
        rows = _Polynomials(function, samples, controls) if samples else None

        def step() -> None:
            words = ("part", "accepted", "refused", "whole", "given_up")
            part, accepted, refused, after_all, given_up = (function.fresh(word) for word in words)
            state.begin()
            function.write(left, whole)
            function.jump(part)
            function.label(part)
            ahead, tried = function.read(left), function.read(self._trial)
            above = function.new(f"fcmp ogt double {tried}, {splat(0.0, 1)}")
            below = function.new(f"fcmp olt double {tried}, {ahead}")
            inner = function.new(f"and i1 {above}, {below}")
            h = function.new(f"select i1 {inner}, double {tried}, double {ahead}")
            own = self._given | {"h": [h]}
            if rows is not None:
                own["u"] = rows.at(ahead, h, whole)
            good, error = state.advance(own, "failed")
            function.count(self.iterations)
            e, allowed = ca.SX.sym("e"), ca.SX.sym("tolerance")
            known = [(e, [error]), (allowed, [tolerance])]
            grown = function.expression(known, growth(e, allowed))[0]
            factor = function.new(f"select i1 {good}, double {grown}, double {splat(LEAST, 1)}")
            following = function.new(f"fmul double {h}, {factor}")
            small = function.new(f"fcmp ole double {error}, {tolerance}")
            function.branch(function.new(f"and i1 {good}, {small}"), accepted, refused)
            function.label(accepted)
            state.accept()
            larger = function.new(f"fcmp ogt double {following}, {tried}")
            most = function.new(f"select i1 {larger}, double {following}, double {tried}")
            onward = function.new(f"select i1 {inner}, double {following}, double {most}")
            function.write(self._trial, onward)
            function.write(left, function.new(f"fsub double {ahead}, {h}"))
            function.branch(inner, part, after_all)
            function.label(refused)
            function.write(self._trial, following)
            least = function.new(f"fmul double {whole}, {splat(SMALLEST_SHARE, 1)}")
            function.branch(function.new(f"fcmp olt double {following}, {least}"), given_up, part)
            function.label(given_up)
            status = function.new(f"select i1 {good}, i64 {NEWTON_FAILED}, i64 {NOT_FINITE}")
            function.write(self.status, status)
            function.jump("failed")
            function.label(after_all)

        self._loop(state, step, state.onward)

    def report(self) -> None:
        """End the function: the counts, of divided steps what the next one tries, and the status."""
        function = self._function
        if self._trial:
            function.stored(function.entry("%y", self._size), [function.read(self._trial)])
        for k, count in enumerate((self._done, self.iterations)):
            at = function.new(f"getelementptr i64, ptr %counts, i64 {k}")
            function.put(f"store i64 {function.read(count)}, ptr {at}, align 8")
        function.end(f"i64 {function.read(self.status)}")

    def _loop(self, state: State, step: Callable[[], None], onward: Callable[[], None]) -> None:
        """Until all are done or one jumps to `failed`; what comes after it is then open."""
        function = self._function
        some = function.new("icmp slt i64 0, %n")
        function.branch(some, "step", "failed")
        function.label("step")
        step()
        more = function.new(f"icmp slt i64 {function.count(self._done)}, %n")
        function.branch(more, "next", "last")
        function.label("next")
        onward()
        function.jump("step")
        function.label("failed")
        state.fail()
        function.jump("over")
        function.label("last")
        state.end()
        function.jump("over")
        function.label("over")

    def _finite(self, good: str, over: str) -> None:
        """Leave where the next state is not."""
        function = self._function
        bad, onward = function.fresh("bad"), function.fresh("good")
        function.branch(good, onward, bad)
        function.label(bad)
        function.write(self.status, str(NOT_FINITE))
        function.jump(over)
        function.label(onward)


class _Polynomials:
    """Sampled controls of divided steps: the polynomial through the rows of the whole step."""

    def __init__(self, function: Function, samples: tuple[float, ...], size: int) -> None:
        self._function, self._samples, self._size = function, samples, size
        at = divided_moments(samples)
        given = ca.SX.sym("u", size * len(at))
        inverse = ca.DM(np.linalg.inv(np.vander(at, increasing=True)))
        found = ca.reshape(given, size, len(at)) @ inverse.T
        numbers = function.loaded("%u", size * len(at))
        self._coefficients = function.expression([(given, numbers)], found)

    def at(self, left: str, h: str, whole: str) -> list[str]:
        """Registers of the controls at the moments of an inner step, what is left of the whole one."""
        coefficients = ca.SX.sym("c", self._size, _POINTS)
        remaining, inner, full = ca.SX.sym("left"), ca.SX.sym("h"), ca.SX.sym("whole")
        rows = []
        for share in self._samples:
            at, row = (full - remaining + share * inner) / full, coefficients[:, _POINTS - 1]
            for power in reversed(range(_POINTS - 1)):
                row = coefficients[:, power] + at * row
            rows.append(row)
        known = [
            (ca.vec(coefficients), self._coefficients),
            (remaining, [left]),
            (inner, [h]),
            (full, [whole]),
        ]
        return self._function.expression(known, ca.vertcat(*rows))


def moments(scheme: Scheme) -> tuple[float, ...]:
    """Shares of the whole step at which a scheme with sampled controls wants its rows, in their order."""
    if scheme.error is not None:
        return divided_moments(scheme.inputs.samples)
    begun = np.cumsum((0.0, *scheme.substeps[:-1]))
    return tuple(
        float(b + share * c)
        for b, share in zip(begun, scheme.substeps, strict=True)
        for c in scheme.inputs.samples
    )


def divided_moments(samples: tuple[float, ...]) -> tuple[float, ...]:
    """The same of methods that divide the step by themselves."""
    if not samples:
        return ()
    return tuple(float(x) for x in (1 - np.cos((np.arange(_POINTS) + 0.5) * np.pi / _POINTS)) / 2)


def growth(error: Any, tolerance: Any) -> Any:
    """By what the step is multiplied after one with that error estimate, accepted or not; of numbers or expressions."""
    share = SAFETY * (tolerance / ca.fmax(error, 1e-300)) ** EXPONENT
    return ca.fmax(LEAST, ca.fmin(MOST, share))
