"""Going on from a plan whose task has changed a little: a primal-dual interior-point method that starts where the last
one ended.

fatrop begins from variables alone: its multipliers of bounds start at one. Those of a plan that is dragged are nearly
right, and from them two or three of Newton's steps are enough. Every quantity c between bounds low < high has a slack s
strictly inside them that Newton's method makes equal to c, and a multiplier for each finite bound whose product with
the distance to it is to be mu. Quantities with low = high are equations and left alone.
"""

import contextlib
import copy
from collections.abc import Callable

import numpy as np

from sim.native.function import native
from sim.planner.solvers.riccati import LastStage, NodeBlocks, carried_out, condensed, eliminated
from sim.planner.transcription.program import Program
from sim.platform.values import dataclass

_BOUNDARY = 0.995
"""Share of the way to a bound that a step may go."""


@native
def started(
    c: np.ndarray,
    lam: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
) -> None:
    """Slacks and the multipliers of lower and upper bounds, from values and multipliers (above - below) that were."""
    far = np.sqrt(mu)
    for i in range(c.size):
        s[i], below[i], above[i] = c[i], 0.0, 0.0
        if low[i] == high[i]:
            continue
        span = 0.25 * (high[i] - low[i])
        if np.isfinite(low[i]):
            s[i] = max(s[i], low[i] + min(mu / max(-lam[i], far), span))
        if np.isfinite(high[i]):
            s[i] = min(s[i], high[i] - min(mu / max(lam[i], far), span))
        if np.isfinite(low[i]):
            below[i] = max(-lam[i], mu / (s[i] - low[i]))
        if np.isfinite(high[i]):
            above[i] = max(lam[i], mu / (high[i] - s[i]))


@native
def barrier(
    c: np.ndarray,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
    curvature: np.ndarray,
    slope: np.ndarray,
) -> tuple[float, float]:
    """Second and first derivatives of the barriers by c; largest differences of s from c and of products from mu.

    Slopes are less the multipliers: what Newton's step adds to the Lagrangian's gradient.
    """
    gap = apart = 0.0
    for i in range(c.size):
        curvature[i] = slope[i] = 0.0
        if low[i] == high[i]:
            continue
        bounded = False
        if np.isfinite(low[i]):
            d = s[i] - low[i]
            curvature[i] += below[i] / d
            slope[i] -= mu / d - below[i]
            apart, bounded = max(apart, abs(below[i] * d - mu)), True
        if np.isfinite(high[i]):
            d = high[i] - s[i]
            curvature[i] += above[i] / d
            slope[i] += mu / d - above[i]
            apart, bounded = max(apart, abs(above[i] * d - mu)), True
        if bounded:
            slope[i] += curvature[i] * _missing(c[i], s[i])
            gap = max(gap, abs(c[i] - s[i]))
    return gap, apart


@native
def _missing(c: float, s: float) -> float:
    """c - s, without the rounding of its last digits, which a bound close by would make much of."""
    miss = c - s
    return 0.0 if abs(miss) < 1e-15 * max(1.0, abs(c)) else miss


@native
def moved(
    c: np.ndarray,
    dc: np.ndarray,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
) -> float:
    """Move slacks and multipliers along a step dc of c, as far as bounds allow; the share of it that slacks took."""
    primal = dual = 1.0
    for i in range(c.size):
        if low[i] == high[i]:
            continue
        ds = dc[i] + _missing(c[i], s[i])
        if np.isfinite(low[i]):
            d = s[i] - low[i]
            if ds < 0.0:
                primal = min(primal, -_BOUNDARY * d / ds)
            dz = (mu - below[i] * ds) / d - below[i]
            if dz < 0.0:
                dual = min(dual, -_BOUNDARY * below[i] / dz)
        if np.isfinite(high[i]):
            d = high[i] - s[i]
            if ds > 0.0:
                primal = min(primal, _BOUNDARY * d / ds)
            dz = (mu + above[i] * ds) / d - above[i]
            if dz < 0.0:
                dual = min(dual, -_BOUNDARY * above[i] / dz)
    for i in range(c.size):
        if low[i] == high[i]:
            continue
        ds = dc[i] + _missing(c[i], s[i])
        if np.isfinite(low[i]):
            below[i] += dual * ((mu - below[i] * ds) / (s[i] - low[i]) - below[i])
        if np.isfinite(high[i]):
            above[i] += dual * ((mu + above[i] * ds) / (high[i] - s[i]) - above[i])
        s[i] += primal * ds
    return primal


_LIGHT, _HEAVY = 1e3, 1e7
"""Weights of the squared misses of the last node's equations: no step changes, but costs to go become convex. A light
one costs no digits, a heavy one shows that a cost is convex along what the equations allow where the light does not."""
_SHIFTS = (1e-4, 1e-2, 1.0, 100.0)
"""Added to second derivatives, in turn, where the cost is not convex. What is added slows Newton's method down to a
crawl along directions in which the cost hardly bends: as little as will do."""
FINE_SHIFTS = (1e-4, 4e-4, 1.6e-3, 6.4e-3, 2.5e-2, 0.1, 1.0, 100.0)
"""The same from where the method stays: the less there is too much, the sooner it is off a saddle."""
_PROXIMAL = 1e-12
"""By which changes of the last equations' multipliers are held back: where some depend on each other, as those of a
tool's pose do in a singular pose of its arm, these are not unique. Where they are, no step changes by what counts, as
long as inputs tell on the ends by more: those that lead somewhere by their products alone, near rest, do by 1e-9."""
_CONTRACTED = 0.1
"""A residual that falls to so little of what it was needs no new second derivatives, where those cost the most."""
_ONE = np.ones(1)
_EXACT, _FLAT = 1e-9, 1e-6
"""Largest miss of a constraint, and entry of the Lagrangian's gradient, of a solution; scaled."""
_ROUGH, _WORSE = 1e-3, 1e3
"""A residual that has grown so much, from one that is not small, is not on its way to a solution."""

_JAMMED = 1e-3
"""Share of a step below which bounds hold the method where it is."""
_CREEPING, _CREPT = 0.9, 4
"""A residual that whole steps leave above so much of what it was, and how often in turn: it stays at a saddle."""


@dataclass(frozen=True)
class PrimalDualPoint:
    """Variables, multipliers of rows and of bounds of variables, as CasADi's solvers give them."""

    w: np.ndarray
    lam_g: np.ndarray
    lam_x: np.ndarray


@dataclass(frozen=True)
class NewtonRun:
    """Where it went."""

    point: PrimalDualPoint
    iterations: int
    converged: bool
    stayed: bool = False
    """Bounds held it where it was, or it did not get off a saddle."""


@dataclass(frozen=True)
class _Stages:
    """Derivatives of stages k = 0 ... N-1 by their variables, and of the last node's, with those of the barriers."""

    F: np.ndarray
    """(N, nx, nv) of the next states."""
    C: np.ndarray
    """(N, rows, nv)."""
    C_begin: np.ndarray
    C_end: np.ndarray
    Q: np.ndarray
    """(N, nv, nv)."""
    G: np.ndarray
    """(N, nv)."""
    Q_end: np.ndarray
    G_end: np.ndarray


_Step = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Changes of w, of (rows, variables) to first order, and of the equations' multipliers."""


class Newton:
    """The method for one program, whose equations have to be its steps and conditions on its ends."""

    def __init__(
        self, program: Program, rows: tuple[np.ndarray, np.ndarray], variables: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """(low, high) of the rows and of the variables; equal ones are equations."""
        self._program, self._blocks = program, NodeBlocks(program)
        self._low, self._high = np.r_[rows[0], variables[0]], np.r_[rows[1], variables[1]]
        self._equal = self._low == self._high
        places = self._blocks
        fixed = self._equal[places.end]
        self._fixed, self._loose = np.flatnonzero(fixed), np.flatnonzero(~fixed)
        """Of the last node's rows."""
        elsewhere = self._equal.copy()
        for place in (places.gaps, places.begin, places.end):
            elsewhere[place] = False
        self.serves = bool(self._equal[places.begin].all()) and not elsewhere.any()
        """Whether it is such a program."""

    def within(
        self, rows: tuple[np.ndarray, np.ndarray], variables: tuple[np.ndarray, np.ndarray]
    ) -> "Newton":
        """The same method between other bounds; what is an equation or unbounded is so in both."""
        other = copy.copy(self)
        other._low, other._high = np.r_[rows[0], variables[0]], np.r_[rows[1], variables[1]]
        return other

    def __call__(
        self,
        p: np.ndarray,
        start: PrimalDualPoint,
        *,
        mu: float,
        most: int = 18,
        shifts: tuple[float, ...] = _SHIFTS,
        go_on: Callable[[np.ndarray], bool] | None = None,
    ) -> NewtonRun:
        """Solve for parameters p, up to products mu of bounds' multipliers and distances.

        shifts: to be added to second derivatives, in turn, where the cost is not convex. go_on: is shown every iterate
        and may end the run.
        """
        g, low, high = self._program, self._low, self._high
        w, lam = start.w.copy(), np.concatenate([start.lam_g, start.lam_x])
        c = np.concatenate([g.constraints(w, p), w])
        s, below, above, curvature, slope = (np.empty(c.size) for _ in range(5))
        started(c, lam, low, high, mu, s, below, above)
        iteration, best, before, share, shift, crept = 0, np.inf, np.inf, 0.0, 0.0, 0
        hessian = np.empty(0)
        while True:
            y = np.where(self._equal, lam, above - below)
            point = PrimalDualPoint(w, y[: g.rows], y[g.rows :])
            pull = g.pull(w, p, 1.0, point.lam_g) + point.lam_x
            gap, apart = barrier(c, s, below, above, low, high, mu, curvature, slope)
            missed = max(gap, float(np.abs((c - low)[self._equal]).max(initial=0.0)))
            steep = float(np.abs(pull).max())
            if missed < _EXACT and steep < _FLAT and apart < mu:
                return NewtonRun(point, iteration, True)
            residual = missed + steep + apart
            best = min(best, residual)
            near = share == 1.0 and shift == 0.0 and residual < _CONTRACTED * before
            crept = crept + 1 if share == 1.0 and residual > _CREEPING * before else 0
            before = residual
            lost = not residual < _WORSE * max(best, _ROUGH)
            ended = go_on is not None and iteration > 0 and not go_on(w)
            if ended or lost or iteration == most or crept == _CREPT:
                return NewtonRun(point, iteration, False, stayed=not ended and crept == _CREPT)
            if not (g.run.large and near):
                hessian = g.curvature()
            found = self._step(w, p, hessian, pull, c, curvature, slope, shifts)
            if found is None:
                return NewtonRun(point, iteration, False)
            (dw, dc, dlam), shift = found
            share = moved(c, dc, s, below, above, low, high, mu)
            if share < _JAMMED:
                return NewtonRun(point, iteration, False, stayed=True)
            w, lam = w + share * dw, lam + share * dlam
            c = np.concatenate([g.constraints(w, p), w])
            iteration += 1

    def _step(
        self,
        w: np.ndarray,
        p: np.ndarray,
        hessian: np.ndarray,
        pull: np.ndarray,
        c: np.ndarray,
        curvature: np.ndarray,
        slope: np.ndarray,
        shifts: tuple[float, ...],
    ) -> tuple[_Step, float] | None:
        """The first step that can be found and what was added to the second derivatives for it: nothing, else more
        and more. None where there is no step."""
        g, at = self._program, self._blocks
        cut = g.rows + g.cut
        F, C, C_begin, C_end = at.jacobian(w, p)
        Q, Q_begin, Q_end = at.hessian(hessian)
        G = (pull[: g.cut] + slope[g.rows : cut]).reshape(g.n, g.nv)
        condensed(Q, G, C, curvature[at.own], slope[at.own], curvature[g.rows : cut].reshape(g.n, g.nv))
        Q[0] += Q_begin
        Q_end = Q_end + np.diag(curvature[cut:])
        stages = _Stages(F, C, C_begin, C_end, Q, G, Q_end, pull[g.cut :] + slope[cut:])
        for weight, shift in ((_LIGHT, 0.0), (_HEAVY, 0.0), *((_HEAVY, shift) for shift in shifts)):
            with contextlib.suppress(np.linalg.LinAlgError):
                return self._solved(stages, c, curvature, slope, weight, shift), shift
        return None

    def _solved(
        self,
        stages: _Stages,
        c: np.ndarray,
        curvature: np.ndarray,
        slope: np.ndarray,
        weight: float,
        shift: float,
    ) -> _Step:
        """LinAlgError where costs are not convex or equations depend on each other."""
        g, at, fixed, loose = self._program, self._blocks, self._fixed, self._loose
        n, nx, nv, rows = g.n, g.nx, g.nv, g.rows
        met, held = at.end[fixed], at.end[loose]
        end = LastStage.of(
            stages.Q_end + shift * np.eye(g.nl) if shift else stages.Q_end,
            stages.G_end,
            stages.C_end[loose],
            curvature[held],
            slope[held],
            stages.C_end[fixed],
            c[met] - self._low[met],
            weight=weight,
            states=nx,
        )
        columns = end.products.shape[0]
        Q = stages.Q + shift * np.eye(nv) if shift else stages.Q.copy()
        P, q = np.empty((n + 1, nx, nx)), np.empty((n + 1, nx, columns))
        P[n], q[n] = end.curvature, end.slopes
        K, k = np.empty((n, nv - nx, nx)), np.empty((n, nv - nx, columns))
        slopes, f = np.zeros((n, nv, columns)), -c[at.gaps]
        slopes[:, :, 0] = stages.G
        if not eliminated(Q, slopes, stages.F, f, P, q, K, k, end.products):
            raise np.linalg.LinAlgError
        first = _first(Q[0], slopes[0], end.products, stages.C_begin, c[at.begin] - self._low[at.begin])
        begin = nv + len(at.begin)
        lam = np.concatenate([_ONE, first[begin:]])
        dv, last, gaps = np.empty((n, nv)), np.empty(nx), np.empty((n, nx))
        dv[0] = first[:nv]
        carried_out(stages.F, f, P, q, K, k, lam, dv, last, gaps)
        dw = np.concatenate([dv.ravel(), last, end.inputs(last, lam)])
        dc, dlam = np.zeros(c.size), np.zeros(c.size)
        dc[at.own] = (stages.C @ dv[:, :, None])[:, :, 0]
        dc[at.end] = stages.C_end @ dw[g.cut :]
        dc[rows:] = dw
        dlam[at.gaps], dlam[at.begin], dlam[met] = gaps, first[nv:begin], first[begin:]
        return dw, dc, dlam


def _first(Q: np.ndarray, slopes: np.ndarray, W: np.ndarray, C: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """(first variables, multipliers of the first node's equations C, of the last one's)."""
    nv, rows, ends = len(Q), len(C), len(W) - 1
    A = np.zeros((nv + rows + ends,) * 2)
    A[:nv, :nv], A[:nv, nv : nv + rows], A[:nv, nv + rows :] = Q, C.T, slopes[:, 1:]
    A[nv:, :nv] = A[:nv, nv:].T
    A[nv + rows :, nv + rows :] = W[1:, 1:] - _PROXIMAL * np.eye(ends)
    return -np.linalg.solve(A, np.concatenate([slopes[:, 0], missed, W[0, 1:]]))
