"""The nonlinear program as numbers: values and exact derivatives over all nodes, by machine code of single nodes."""

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from sim.planner.model import StageModel
from sim.planner.node_functions import NodeFunctions


@dataclass(frozen=True, eq=False)
class _Gather:
    """Nonzeros of a sparse matrix, column after column, out of the blocks that the nodes give."""

    sparsity: ca.Sparsity
    sources: tuple[np.ndarray, ...]
    """Where the nonzeros' summands stand in the blocks; past their end where there is no further summand."""

    def __call__(self, blocks: np.ndarray, out: np.ndarray) -> None:
        """blocks: with a zero at the end."""
        np.take(blocks, self.sources[0], out=out)
        for source in self.sources[1:]:
            out += blocks[source]


class Program:
    """min f(w) with rows g(w), w = (v_0, ..., v_N) scaled and v = (state, controls), for parameters P.

    Rows are, node by node, the gap to the next state and then the node's own. Work arrays are reused, so one
    thread at a time.
    """

    def __init__(
        self, steps: int, model: StageModel, run: NodeFunctions, end: NodeFunctions, begin: NodeFunctions
    ) -> None:
        self.model, self.run, self.end, self.begin = model, run, end, begin
        self.n, self.nx = steps, model.state.size
        self.nv, self.nl = run.variables, end.variables
        self.cut = self.n * self.nv
        self.size = self.cut + self.nl
        self.parameter_count = model.parameters.size + (self.n + 1) * model.stage_parameters.size
        self._m, self._m_end, self._m_begin = run.row_count, end.row_count, begin.row_count
        per = self.nx + self._m
        self._gap = np.arange(self.n) * per + np.r_[0, np.full(self.n - 1, self._m_begin)].astype(int)
        self._own = self._gap + self.nx + np.r_[self._m_begin, np.zeros(self.n - 1)].astype(int)
        self.rows = self.n * per + self._m_begin + self._m_end
        self._plan = model.place_indices[:2]
        self._plan_scale = model.y_scale[self._plan]
        self._where = np.full((0, 2), np.nan)
        self._jet = np.zeros((self.n + 1, 6))
        self._solved_at: tuple[np.ndarray, np.ndarray] | None = None
        self._z = np.zeros((self.n + 1, model.unknowns))

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Which rows are the gaps (N, nx), the running nodes' own (N, m), those besides of the first, of the last."""
        gaps, own = self._gap[:, None] + np.arange(self.nx), self._own[:, None] + np.arange(self._m)
        return gaps, own, self.nx + np.arange(self._m_begin), self.rows - self._m_end + np.arange(self._m_end)

    # Values.

    def cost(self, w: np.ndarray, p: np.ndarray) -> float:
        """f."""
        run, end = np.empty((self.n, 1)), np.empty((1, 1))
        self.run.cost(self.n, self._running(w, p), [run])
        self.end.cost(1, self._last(w, p), [end])
        return float(run.sum() + end[0, 0])

    def constraints(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(rows,) g."""
        nx, out = self.nx, np.empty(self.rows)
        following, own = np.empty((self.n, nx)), np.empty((self.n, self._m))
        self.run.value(self.n, self._running(w, p), [following, own])
        body = out[self.nx + self._m_begin : self.rows - self._m_end]
        V, last = w[: self.cut].reshape(self.n, self.nv), w[self.cut :]
        gaps = np.concatenate([V[1:, :nx], last[None, :nx]]) - following
        out[:nx] = gaps[0]
        self.begin.value(1, self._first(w, p), [np.empty(0), out[nx : nx + self._m_begin]])
        body[: self._m] = own[0]
        body[self._m :] = np.concatenate([gaps[1:], own[1:]], axis=1).ravel()
        self.end.value(1, self._last(w, p), [np.empty(0), out[self.rows - self._m_end :]])
        return out

    # First derivatives.

    def gradient(self, w: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """(size,) df/dw."""
        self.run.gradient(self.n, self._running(w, p), [out[: self.cut]])
        self.end.gradient(1, self._last(w, p), [out[self.cut :]])

    def jacobian(self, w: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """Nonzeros of dg/dw."""
        self.stage_jacobian(w, p)
        self.jacobian_gather(self._jacobian_blocks[0], out)

    def stage_jacobian(self, w: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        """Nonzeros, node by node, of minus the next states, the rows, those besides of the first and of the last."""
        _, parts = self._jacobian_blocks
        self.run.jacobian(self.n, self._running(w, p), parts[:2])
        self.begin.jacobian(1, self._first(w, p), [np.empty(0), parts[2]])
        self.end.jacobian(1, self._last(w, p), [np.empty(0), parts[3]])
        return parts

    @cached_property
    def jacobian_gather(self) -> _Gather:
        columns, end = self.nv * np.arange(self.n), self.cut
        unit = np.arange(self.nx)
        to_next = np.r_[columns[1:], end]
        places = [
            _block_places(self.run.next_pattern, self._gap, columns),
            _block_places(self.run.row_pattern, self._own, columns),
            _block_places(self.begin.row_pattern, [self.nx], [0]),
            _block_places(self.end.row_pattern, [self.rows - self._m_end], [end]),
            ((self._gap[:, None] + unit).ravel(), (to_next[:, None] + unit).ravel()),
        ]
        return _gather(places, self.rows, self.size)

    @cached_property
    def _jacobian_blocks(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """The nodes' derivatives one after another, then the ones of the next states and a zero; and parts of it."""
        sizes = [
            self.n * self.run.next_pattern.nnz(),
            self.n * self.run.row_pattern.nnz(),
            self.begin.row_pattern.nnz(),
            self.end.row_pattern.nnz(),
        ]
        blocks = np.r_[np.zeros(sum(sizes)), np.ones(self.n * self.nx), 0.0]
        return blocks, np.split(blocks[: sum(sizes)], np.cumsum(sizes)[:-1])

    # Second derivatives.

    def lagrangian(
        self, w: np.ndarray, p: np.ndarray, lam_f: float, lam_g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(size,) gradient of lam_f f + lam_g' g, and the nodes' blocks of its Hessian.

        `full_hessian` and `upper_hessian` make the matrix of them.
        """
        n, nx = self.n, self.nx
        blocks, parts = self._hessian_blocks
        scale, gaps = np.array([lam_f]), lam_g[self._gap[:, None] + np.arange(nx)]
        own = np.ascontiguousarray(lam_g[self._own[:, None] + np.arange(self._m)])
        slope, first = np.empty(self.size), np.empty(self.nv)
        V = slope[: self.cut].reshape(n, self.nv)
        self.run.hessian(n, [*self._running(w, p), -gaps, own, scale], [V, parts[0]])
        none, at_begin = np.empty(0), lam_g[nx : nx + self._m_begin].copy()
        self.begin.hessian(1, [*self._first(w, p), none, at_begin, scale], [first, parts[1]])
        at_end = lam_g[self.rows - self._m_end :].copy()
        self.end.hessian(1, [*self._last(w, p), none, at_end, scale], [slope[self.cut :], parts[2]])
        V[0] += first
        V[1:, :nx] += gaps[:-1]
        slope[self.cut : self.cut + nx] += gaps[-1]
        return slope, blocks

    def stage_hessian(self, blocks: np.ndarray) -> list[np.ndarray]:
        """Nonzeros of the running nodes, besides of the first and of the last, in the blocks of `lagrangian`."""
        return np.split(blocks[:-1], np.cumsum([part.size for part in self._hessian_blocks[1]])[:-1])

    @cached_property
    def full_hessian(self) -> _Gather:
        return _gather(self._hessian_places, self.size, self.size)

    @cached_property
    def upper_hessian(self) -> _Gather:
        return _gather(self._hessian_places, self.size, self.size, upper=True)

    @property
    def _hessian_places(self) -> list[tuple[np.ndarray, np.ndarray]]:
        stages = self.nv * np.arange(self.n)
        return [
            _block_places(self.run.hessian_pattern, stages, stages),
            _block_places(self.begin.hessian_pattern, [0], [0]),
            _block_places(self.end.hessian_pattern, [self.cut], [self.cut]),
        ]

    @cached_property
    def _hessian_blocks(self) -> tuple[np.ndarray, list[np.ndarray]]:
        sizes = [self.n * self.run.hessian_pattern.nnz(), self.begin.hessian_pattern.nnz()]
        sizes.append(self.end.hessian_pattern.nnz())
        blocks = np.zeros(sum(sizes) + 1)
        return blocks, np.split(blocks[:-1], np.cumsum(sizes)[:-1])

    # What the functions of nodes are given.

    def unknowns(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(N+1, unknowns) of the steps, where they are eliminated; where the last node has none, those before."""
        at = self._solved_at
        if at is None or not (np.array_equal(at[0], w) and np.array_equal(at[1], p)):
            self._solve(
                self.run, self._z[:-1], w[: self.cut], p[self.model.parameters.size :], self._jets(w), p
            )
            if self.end.unknowns:
                here = p[p.size - self.model.stage_parameters.size :]
                self._solve(self.end, self._z[-1:], w[self.cut :], here, self._jets(w)[self.n :], p)
            else:
                self._z[-1] = self._z[-2]
            self._solved_at = w.copy(), p.copy()
        return self._z

    def imbalance(self, w: np.ndarray, p: np.ndarray) -> float:
        """Largest scaled residual that the unknowns leave: rounding, unless a step's equations have no solution."""
        left = [np.zeros(0)]
        for nodes, count, given in (
            (self.run, self.n, self._running(w, p)),
            (self.end, 1, self._last(w, p)),
        ):
            if nodes.unknowns:
                left.append(np.empty(count * nodes.unknowns))
                nodes.residual(count, given, left[-1:])
        return float(np.abs(np.concatenate(left)).max(initial=0.0))

    def _solve(
        self,
        nodes: NodeFunctions,
        z: np.ndarray,
        v: np.ndarray,
        s: np.ndarray,
        jets: np.ndarray,
        p: np.ndarray,
    ) -> None:
        """Newton's method at all nodes at once, from the method's own guess."""
        count = len(z)
        given = [v, s, jets, z, p[: self.model.parameters.size]]
        nodes.guess(count, given, [z])
        nodes.newton(count, given, [])

    def _running(self, w: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        count = self.model.parameters.size
        return [w[: self.cut], p[count:], self._jets(w), self._unknowns(self.run, w, p), p[:count]]

    def _unknowns(self, nodes: NodeFunctions, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        return self.unknowns(w, p) if nodes.unknowns else np.empty(0)

    def _first(self, w: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        """The first node's, which are the first columns of all."""
        return self._running(w, p)

    def _last(self, w: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        count = self.model.parameters.size
        here = p[p.size - self.model.stage_parameters.size :]
        z = self._unknowns(self.end, w, p)[-1:]
        return [w[self.cut :], here, self._jets(w)[self.n :], z, p[:count]]

    def _jets(self, w: np.ndarray) -> np.ndarray:
        """(N+1, 6) of the safe ground under the nodes; kept while these stay where they are."""
        ground = self.model.shape.ground
        if ground is not None:
            V = w[: self.cut].reshape(self.n, self.nv)
            where = np.concatenate([V[:, self._plan], w[None, self.cut :][:, self._plan]]) * self._plan_scale
            if not np.array_equal(where, self._where):
                self._where, self._jet = where, ground.jets(where)
        return self._jet


def _block_places(pattern: ca.Sparsity, rows: object, columns: object) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the nonzeros of copies of a block, copy by copy."""
    r, c = (np.asarray(x, int) for x in pattern.get_triplet())
    return (
        (np.asarray(rows, int)[:, None] + r).ravel(),
        (np.asarray(columns, int)[:, None] + c).ravel(),
    )


def _gather(
    places: list[tuple[np.ndarray, np.ndarray]], rows: int, columns: int, *, upper: bool = False
) -> _Gather:
    """Of blocks at given places; those that occur twice are summed."""
    r = np.concatenate([a for a, _ in places])
    c = np.concatenate([b for _, b in places])
    kept = np.flatnonzero(r <= c) if upper else np.arange(r.size)
    unique, inverse = np.unique(c[kept].astype(np.int64) * rows + r[kept], return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    first = np.searchsorted(inverse[order], np.arange(unique.size))
    count = np.diff(np.r_[first, order.size])
    zero = r.size
    sources = tuple(
        np.where(count > i, kept[order[np.minimum(first + i, order.size - 1)]], zero)
        for i in range(int(count.max(initial=1)))
    )
    sparsity = ca.Sparsity.triplet(rows, columns, (unique % rows).tolist(), (unique // rows).tolist())
    return _Gather(sparsity, sources)
