"""Derivatives of a program stage by stage, as dense blocks."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.compiled import compiled
from sim.planner.transcription.program import Program


class NodeBlocks:
    """Where the stages of a program are, and their derivatives."""

    def __init__(self, program: Program) -> None:
        g = self._program = program
        self.gaps, self.own, self.begin, self.end = g.places
        """Rows: (N, nx) gaps between states, (N, m) of the running nodes, besides of the first, of the last."""
        run, begin, end = g.run, g.begin, g.end
        size, last = (g.nv, g.nv), (g.nl, g.nl)
        self._next, self._rows = _Block(run.next_pattern, g.n), _Block(run.row_pattern, g.n)
        self._row_begin, self._row_end = _Block(begin.row_pattern, 1), _Block(end.row_pattern, 1)
        self._second = _Block(run.hessian_pattern, g.n)
        self._second_begin, self._second_end = (
            _Block(begin.hessian_pattern, 1),
            _Block(end.hessian_pattern, 1),
        )
        assert self._second.shape == size
        assert self._second_end.shape == last

    def jacobian(self, w: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the next states (N, nx, nv), of the running rows, of those besides of the first node, of the last."""
        following, own, begin, end = self._program.node_jacobian(w, p)
        F = self._next(following)
        np.negative(F, out=F)
        return F, self._rows(own), self._row_begin(begin)[0], self._row_end(end)[0]

    def hessian(self, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the running nodes (N, nv, nv), besides of the first, of the last, from `Program.lagrangian`'s blocks."""
        run, begin, end = self._program.node_hessian(blocks)
        return self._second(run), self._second_begin(begin)[0], self._second_end(end)[0]


class _Block:
    """Dense copies of blocks with one sparsity, given by their nonzeros one after another."""

    def __init__(self, pattern: ca.Sparsity, count: int) -> None:
        rows, columns = (np.array(x, int) for x in pattern.get_triplet())
        self.shape = pattern.shape
        self._count, self._places = count, rows * pattern.size2() + columns

    def __call__(self, nonzeros: np.ndarray) -> np.ndarray:
        out = np.zeros((self._count, self.shape[0] * self.shape[1]))
        _scattered(nonzeros.reshape(self._count, -1), self._places, out)
        return out.reshape(self._count, *self.shape)


@compiled()
def _scattered(values: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    for k in range(values.shape[0]):
        for i in range(places.size):
            out[k, places[i]] = values[k, i]


@compiled()
def condensed(
    Q: np.ndarray,
    G: np.ndarray,
    C: np.ndarray,
    curvature: np.ndarray,
    slope: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Add to Hessians Q (N, nv, nv) and gradients G what barriers of rows with Jacobians C have: (N, rows) curvatures
    and slopes; and the curvatures (N, nv) of variables' own bounds."""
    steps, count, nv = C.shape
    for k in range(steps):
        for i in range(count):
            for r in range(nv):
                x = C[k, i, r]
                if x != 0.0:
                    G[k, r] += slope[k, i] * x
                    for c in range(nv):
                        Q[k, r, c] += curvature[k, i] * x * C[k, i, c]
        for r in range(nv):
            Q[k, r, r] += bounds[k, r]


@dataclass(frozen=True)
class LastStage:
    """The last node's cost as one of its state alone."""

    curvature: np.ndarray
    """(nx, nx)."""
    slopes: np.ndarray
    """(nx, r): of the cost, then of the equations, which belong to their multipliers."""
    products: np.ndarray
    """(r, r): the second derivative by multipliers; in the first row the equations' misses."""
    gain: np.ndarray
    """Inputs of the node are this times (state, 1, multipliers)."""

    @classmethod
    def of(
        cls,
        Q: np.ndarray,
        slope: np.ndarray,
        C: np.ndarray,
        row_curvature: np.ndarray,
        row_slope: np.ndarray,
        E: np.ndarray,
        missed: np.ndarray,
        *,
        weight: float,
        states: int,
    ) -> "LastStage":
        """Cost with Hessian Q and gradient, rows C with barriers, equations E dv = -missed and their squares."""
        Q = Q + C.T @ (row_curvature[:, None] * C) + weight * E.T @ E
        slopes = np.column_stack([slope + C.T @ row_slope + weight * E.T @ missed, E.T])
        products = np.zeros((1 + len(E),) * 2)
        products[0, 1:] = missed
        x, u = slice(0, states), slice(states, None)
        gain = -np.linalg.solve(Q[u, u], np.concatenate([Q[u, x], slopes[u]], axis=1))
        return cls(
            Q[x, x] + Q[x, u] @ gain[:, x],
            slopes[x] + Q[x, u] @ gain[:, u],
            products + slopes[u].T @ gain[:, u],
            gain,
        )

    def inputs(self, state: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """(last node's own,) for its state and (1, multipliers)."""
        return self.gain @ np.concatenate([state, multipliers])
