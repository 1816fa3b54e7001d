"""The nonlinear program as numbers: values and exact derivatives over all nodes, by machine code of single nodes.

Its vectors are assembled from those of its nodes and taken apart again in machine code, too.
"""

from functools import cached_property

import casadi as ca
import numpy as np

from sim.compiler.columns import Launch, Launches
from sim.native.function import native
from sim.planner.task.motions import CHANNELS, spline_jets_in_time
from sim.planner.task.terrain import spline_jets
from sim.planner.transcription.model import GROUND_JET, NodeModel
from sim.planner.transcription.node_functions import NodeFunctions
from sim.platform.values import dataclass


@dataclass(frozen=True, eq=False)
class Gather:
    """Nonzeros of a sparse matrix, column after column, out of the blocks that the nodes give."""

    sparsity: ca.Sparsity
    sources: np.ndarray
    """(summands, nonzeros): where they stand in the blocks; past their end where there is no further summand."""

    def __call__(self, blocks: np.ndarray, out: np.ndarray) -> None:
        """blocks: with a zero at the end."""
        _gathered(self.sources, blocks, out)


@native
def _gathered(sources: np.ndarray, blocks: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = blocks[sources[0, i]]
    for k in range(1, sources.shape[0]):
        for i in range(out.size):
            out[i] += blocks[sources[k, i]]


_Places = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows and columns of entries, and which of these may be other than nothing."""


def gather(places: list[_Places], rows: int, columns: int, *, upper: bool = False) -> Gather:
    """Of blocks at given places; those that occur twice are summed."""
    r, c, filled = (np.concatenate(each) for each in zip(*places, strict=True))
    kept = np.flatnonzero(filled & (r <= c) if upper else filled)
    unique, inverse = np.unique(c[kept].astype(np.int64) * rows + r[kept], return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    first = np.searchsorted(inverse[order], np.arange(unique.size))
    count = np.diff(np.r_[first, order.size])
    zero = r.size
    sources = [
        np.where(count > i, kept[order[np.minimum(first + i, order.size - 1)]], zero)
        for i in range(int(count.max(initial=1)))
    ]
    sparsity = ca.Sparsity.triplet(rows, columns, (unique % rows).tolist(), (unique // rows).tolist())
    return Gather(sparsity, np.array(sources, np.int32))


def block_places(pattern: ca.Sparsity, filled: np.ndarray, rows: object, columns: object) -> _Places:
    """Of the nonzeros of copies of a block, copy by copy."""
    r, c = (np.asarray(x, int) for x in pattern.get_triplet())
    at = np.asarray(rows, int)[:, None]
    return (at + r).ravel(), (np.asarray(columns, int)[:, None] + c).ravel(), np.tile(filled, len(at))


@native
def replaced(old: np.ndarray, new: np.ndarray) -> bool:
    """Copy new to old; whether they differed, which what is no number always does."""
    for i in range(old.size):
        if old[i] != new[i]:
            old[:] = new
            return True
    return False


@native
def laid_out(
    w: np.ndarray,
    nv: int,
    following: np.ndarray,
    own: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    out: np.ndarray,
) -> None:
    """Rows from the nodes' values: gap to the next state, first node's besides, own rows; those of the end."""
    n, nx = following.shape
    at = 0
    for k in range(n):
        for i in range(nx):
            out[at] = w[(k + 1) * nv + i] - following[k, i]
            at += 1
        if k == 0:
            for i in range(begin.size):
                out[at] = begin[i]
                at += 1
        for i in range(own.shape[1]):
            out[at] = own[k, i]
            at += 1
    for i in range(end.size):
        out[at] = end[i]
        at += 1


@native
def dealt_out(
    lam: np.ndarray, following: np.ndarray, own: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> None:
    """The rows' multipliers to the nodes: the inverse of `laid_out`; a next state has minus its gap's."""
    n, nx = following.shape
    at = 0
    for k in range(n):
        for i in range(nx):
            following[k, i] = -lam[at]
            at += 1
        if k == 0:
            for i in range(begin.size):
                begin[i] = lam[at]
                at += 1
        for i in range(own.shape[1]):
            own[k, i] = lam[at]
            at += 1
    for i in range(end.size):
        end[i] = lam[at]
        at += 1


@native
def completed(slope: np.ndarray, first: np.ndarray, following: np.ndarray, nv: int) -> None:
    """Add to the nodes' gradients the first one's besides, and what the gaps pull the next states by."""
    n, nx = following.shape
    for i in range(first.size):
        slope[i] += first[i]
    for k in range(n):
        for i in range(nx):
            slope[(k + 1) * nv + i] -= following[k, i]


_Nodes = tuple[NodeFunctions, int, list[np.ndarray]]
"""(functions, how many, what they are given)."""


@dataclass(frozen=True, eq=False)
class _Second:
    """What finds second derivatives, with its arrays."""

    pull: Launches
    """For the Lagrangian's gradient."""
    rest: Launches
    """What its Hessian needs after that."""
    blocks: np.ndarray
    """With a zero at the end."""
    parts: list[np.ndarray]
    """Of the blocks: of the running nodes, besides of the first one, of the last one."""
    slope: np.ndarray
    first: np.ndarray
    """The first node's gradient besides."""
    multipliers: list[np.ndarray]


class Program:
    """min f(w) with rows g(w), w = (v_0, ..., v_N) scaled and v = (state, controls), for parameters P.

    Rows are, node by node, the gap to the next state and then the node's own. Work arrays are reused, so one
    thread at a time.
    """

    def __init__(
        self, steps: int, model: NodeModel, run: NodeFunctions, end: NodeFunctions, begin: NodeFunctions
    ) -> None:
        self.model, self.run, self.end, self.begin = model, run, end, begin
        n, nx = self.n, self.nx = steps, model.state.size
        self.nv, self.nl = run.variables, end.variables
        self.cut = n * self.nv
        self.size = self.cut + self.nl
        shared, own = model.parameters.size, model.node_parameters.size
        self.parameter_count = shared + (n + 1) * own
        m, m_begin, m_end = run.row_count, begin.row_count, end.row_count
        self.rows = n * (nx + m) + m_begin + m_end
        gaps = np.arange(n) * (nx + m) + np.r_[0, np.full(n - 1, m_begin)].astype(int)
        self._own = gaps + nx + np.r_[m_begin, np.zeros(n - 1)].astype(int)
        self.places = (
            gaps[:, None] + np.arange(nx),
            self._own[:, None] + np.arange(m),
            nx + np.arange(m_begin),
            self.rows - m_end + np.arange(m_end),
        )
        """Which rows are the gaps (N, nx), the running nodes' own (N, m), those besides of the first, of the last."""
        # Where it is evaluated; what the nodes are given are parts of these.
        self._w, self._p = np.full(self.size, np.nan), np.full(self.parameter_count, np.nan)
        self._z, self._jets = np.zeros((n + 1, model.unknowns)), np.zeros((n + 1, model.jet.shape[0]))
        w, p, z, jets = self._w, self._p, self._z, self._jets
        running = [w[: self.cut], p[shared:], jets, z, p[:shared]]
        last = [w[self.cut :], p[p.size - own :], jets[n:], z[n:], p[:shared]]
        self._running: _Nodes = (run, n, running)
        self._first: _Nodes = (begin, 1, running)
        self._last: _Nodes = (end, 1, last)
        self._lam_f = np.ones(1)
        self._valued = False

    # Where it is evaluated.

    def _move(self, w: np.ndarray, p: np.ndarray) -> None:
        """To other variables or parameters: what the nodes depend on besides is found once for all functions."""
        moved = replaced(self._w, w)
        if replaced(self._p, p) or moved:
            self._valued = False
            ground = self.model.shape.ground
            if ground is not None:
                launches, under_w = self._under
                launches()
                spline_jets(ground.control_m, *ground.origin_m, ground.spacing_m, under_w, self._jets)
            if self.model.shape.motions:
                splines, spacing_s = self._splines
                spline_jets_in_time(splines, float(spacing_s[0]), self._times(), GROUND_JET, self._jets)
            self._solve()
            if self.run.unknowns and not self.end.unknowns:
                self._z[-1] = self._z[-2]

    @cached_property
    def _under(self) -> tuple[Launches, np.ndarray]:
        """(to be run, (N+1, 2) where the ground is looked at)."""
        where_w = np.empty((self.n + 1, 2))
        outputs = where_w[: self.n], where_w[self.n :]
        calls = [
            (functions.under, count, given, [out])
            for (functions, count, given), out in zip((self._running, self._last), outputs, strict=True)
        ]
        return Launches(*calls), where_w

    @cached_property
    def _splines(self) -> tuple[np.ndarray, np.ndarray]:
        """(motions, coefficients, channels) and (1,) the knots' distance, as they are in the parameters."""
        at, count = self.model.parameters, self.model.shape.motions
        splines = self._p[at.slice("motions")].reshape(count, -1, CHANNELS)
        return splines, self._p[at.slice("motion_spacing")]

    def _times(self) -> np.ndarray:
        """(N+1,) s, of the nodes."""
        model, k = self.model, np.arange(self.n + 1)
        if model.shape.free_time:
            steps_s = self._w[self.nv * k + model.state.slice("h").start] * model.scales.step_s
            return np.asarray(k * steps_s)
        return np.asarray(k * (self._p[model.parameters.slice("duration").start] / self.n))

    @cached_property
    def _solve(self) -> Launches:
        """Newton's method for the unknowns at all nodes at once, from the integration method's own guess."""
        launches: list[Launch] = []
        for nodes, count, given in (self._running, self._last):
            if nodes.unknowns:
                launches += [(nodes.guess, count, given, given[3:4]), (nodes.newton, count, given, [])]
        return Launches(*launches)

    def unknowns(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(N+1, unknowns) of the steps, where they are eliminated; where the last node has none, those before."""
        self._move(w, p)
        return self._z.copy()

    def imbalance(self, w: np.ndarray, p: np.ndarray) -> float:
        """Largest scaled residual that the unknowns leave: rounding, unless a step's equations have no solution."""
        self._move(w, p)
        launches, left = self._residual
        launches()
        return float(np.abs(left).max(initial=0.0))

    @cached_property
    def _residual(self) -> tuple[Launches, np.ndarray]:
        nodes = [some for some in (self._running, self._last) if some[0].unknowns]
        left, parts = _parts([count * functions.unknowns for functions, count, _ in nodes])
        calls = [
            (functions.residual, count, given, [part])
            for (functions, count, given), part in zip(nodes, parts, strict=True)
        ]
        return Launches(*calls), left

    # Values.

    def cost(self, w: np.ndarray, p: np.ndarray) -> float:
        """f."""
        self._value(w, p)
        return float(self._values[2].sum())

    def constraints(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(rows,) g."""
        self._value(w, p)
        return self._values[1].copy()

    def _value(self, w: np.ndarray, p: np.ndarray) -> None:
        self._move(w, p)
        if not self._valued:
            launches, rows, _, nodes = self._values
            following, own, begin, end = nodes
            launches()
            laid_out(self._w, self.nv, following, own, begin, end, rows)
            self._valued = True

    @cached_property
    def _values(self) -> tuple[Launches, np.ndarray, np.ndarray, list[np.ndarray]]:
        """(to be run, rows, costs of the nodes, what the nodes give)."""
        n, none = self.n, np.empty(0)
        following, own = np.empty((n, self.nx)), np.empty((n, self.run.row_count))
        begin, end = np.empty(self.begin.row_count), np.empty(self.end.row_count)
        cost = np.zeros(n + 1)
        launches = self._all(
            "value", [following, own, cost[:n]], [none, begin, np.empty(1)], [none, end, cost[n:]]
        )
        return launches, np.empty(self.rows), cost, [following, own, begin, end]

    @property
    def _kinds(self) -> tuple[_Nodes, _Nodes, _Nodes]:
        """The running nodes, the first and the last one."""
        return self._running, self._first, self._last

    def _all(self, function: str, *outputs: list[np.ndarray]) -> Launches:
        """A function of all kinds of nodes."""
        calls = [
            (getattr(functions, function), count, given, out)
            for (functions, count, given), out in zip(self._kinds, outputs, strict=True)
        ]
        return Launches(*calls)

    # First derivatives.

    def gradient(self, w: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """(size,) df/dw."""
        self._move(w, p)
        launches, slope = self._slope
        launches()
        out[:] = slope

    @cached_property
    def _slope(self) -> tuple[Launches, np.ndarray]:
        slope, (run, end) = _parts([self.cut, self.nl])
        nothing = np.empty(self.nv)
        return self._all("gradient", [run], [nothing], [end]), slope

    def jacobian(self, w: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """Nonzeros of dg/dw."""
        self.node_jacobian(w, p)
        self.jacobian_gather(self._jacobian[1], out)

    def node_jacobian(self, w: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        """Nonzeros, node by node, of minus the next states, the rows, those besides of the first and of the last.

        To be read before the next call.
        """
        self._move(w, p)
        self._jacobian[0]()
        return self._jacobian[2]

    @cached_property
    def jacobian_gather(self) -> Gather:
        columns, end = self.nv * np.arange(self.n), self.cut
        gaps, last = self.places[0], self.places[3]
        to_next = np.r_[columns[1:], end]
        places = [
            block_places(self.run.next_pattern, self.run.next_filled, gaps[:, 0], columns),
            block_places(self.run.row_pattern, self.run.row_filled, self._own, columns),
            block_places(self.begin.row_pattern, self.begin.row_filled, [self.nx], [0]),
            block_places(self.end.row_pattern, self.end.row_filled, [self.rows - last.size], [end]),
            (gaps.ravel(), (to_next[:, None] + np.arange(self.nx)).ravel(), np.ones(gaps.size, bool)),
        ]
        return gather(places, self.rows, self.size)

    @cached_property
    def _jacobian(self) -> tuple[Launches, np.ndarray, list[np.ndarray]]:
        """(to be run, the nodes' derivatives one after another, the ones of the next states and a zero; parts)."""
        run, begin, end, none = self.run, self.begin, self.end, np.empty(0)
        sizes = [self.n * run.next_pattern.nnz(), self.n * run.row_pattern.nnz()]
        sizes += [begin.row_pattern.nnz(), end.row_pattern.nnz(), self.n * self.nx, 1]
        blocks, parts = _parts(sizes)
        parts[4][:] = 1.0
        outputs = (parts[:2], [none, parts[2]], [none, parts[3]])
        found = [
            functions.first(count, given, out)
            for (functions, count, given), out in zip(self._kinds, outputs, strict=True)
        ]
        launches = [launch for some, _ in found for launch in some]
        return Launches(*launches, after=[fill for _, fills in found for fill in fills]), blocks, parts[:4]

    # Second derivatives.

    def lagrangian(
        self, w: np.ndarray, p: np.ndarray, lam_f: float, lam_g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(size,) gradient of lam_f f + lam_g' g, and the nodes' blocks of its Hessian.

        `full_hessian` and `upper_hessian` make the matrix of them. To be read before the next call.
        """
        return self.pull(w, p, lam_f, lam_g), self.curvature()

    def pull(self, w: np.ndarray, p: np.ndarray, lam_f: float, lam_g: np.ndarray) -> np.ndarray:
        """(size,) gradient of lam_f f + lam_g' g."""
        self._move(w, p)
        self._lam_f[0] = lam_f
        at = self._hessian
        following, own, begin, end = at.multipliers
        dealt_out(lam_g, following, own, begin, end)
        at.pull()
        completed(at.slope, at.first, following, self.nv)
        return at.slope.copy()

    def curvature(self) -> np.ndarray:
        """The nodes' blocks of the Hessian, where `pull` was asked for last. To be read before the next call."""
        self._hessian.rest()
        return self._hessian.blocks

    def node_hessian(self, blocks: np.ndarray) -> list[np.ndarray]:
        """Nonzeros of the running nodes, besides of the first and of the last, in the blocks of `lagrangian`."""
        run, begin, end = (part.size for part in self._hessian.parts)
        return [blocks[:run], blocks[run : run + begin], blocks[run + begin : run + begin + end]]

    @cached_property
    def full_hessian(self) -> Gather:
        return gather(self._hessian_places, self.size, self.size)

    @cached_property
    def upper_hessian(self) -> Gather:
        return gather(self._hessian_places, self.size, self.size, upper=True)

    @property
    def _hessian_places(self) -> list[_Places]:
        stages = self.nv * np.arange(self.n)
        nodes = (self.run, stages), (self.begin, [0]), (self.end, [self.cut])
        return [block_places(some.hessian_pattern, some.hessian_filled, at, at) for some, at in nodes]

    @cached_property
    def _hessian(self) -> "_Second":
        run, begin, end, none = self.run, self.begin, self.end, np.empty(0)
        blocks, parts = _parts(
            [self.n * run.hessian_pattern.nnz(), begin.hessian_pattern.nnz(), end.hessian_pattern.nnz(), 1]
        )
        slope, (slope_run, slope_end) = _parts([self.cut, self.nl])
        first = np.empty(self.nv)
        following, own = np.empty((self.n, self.nx)), np.empty((self.n, run.row_count))
        at_begin, at_end, scale = np.empty(begin.row_count), np.empty(end.row_count), self._lam_f
        outputs = ((slope_run, parts[0]), (first, parts[1]), (slope_end, parts[2]))
        extra: tuple[list[np.ndarray], ...] = (
            [following, own, scale],
            [none, at_begin, scale],
            [none, at_end, scale],
        )
        calls = [
            functions.second(count, [*given, *more], *out)
            for (functions, count, given), more, out in zip(self._kinds, extra, outputs, strict=True)
        ]
        pulls: list[Launch] = [pull for pull, _, _ in calls]
        rest: list[Launch] = [launch for _, more, _ in calls for launch in more]
        fills = [fill for _, _, some in calls for fill in some]
        multipliers = [following, own, at_begin, at_end]
        return _Second(
            Launches(*pulls), Launches(*rest, after=fills), blocks, parts[:3], slope, first, multipliers
        )


def _parts(sizes: list[int]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Zeros and consecutive parts of them."""
    whole = np.zeros(sum(sizes))
    return whole, np.split(whole, np.cumsum(sizes)[:-1]) if sizes else []
