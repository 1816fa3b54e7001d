"""Newton's step of a problem in stages: eliminated backwards by a Riccati recursion, carried out forwards.

Stages k = 0 ... N-1 have variables v_k = (x_k, u_k); the step dv minimises the sum of dv' Q dv / 2 + g' dv, with
dx_{k+1} = F_k dv_k + f_k. What is asked of the last state comes in as further gradients, one a multiplier: its
multipliers are found together with the first stage's variables.
"""

import casadi as ca
import numpy as np

from sim.native.function import native
from sim.planner.transcription.program import Program
from sim.platform.values import dataclass

_FAST = {"contract", "reassoc", "nsz"}


@native(fastmath=_FAST)
def eliminated(
    Q: np.ndarray,
    g: np.ndarray,
    F: np.ndarray,
    f: np.ndarray,
    P: np.ndarray,
    q: np.ndarray,
    K: np.ndarray,
    k: np.ndarray,
    W: np.ndarray,
) -> bool:
    """Carry the cost to go back to the first stage; False where a stage's cost is not convex in its inputs.

    Q: (N, nv, nv) and g: (N, nv, r) costs of stages; the first ones then hold the whole cost to go. F: (N, nx, nv),
    f: (N, nx). P: (N+1, nx, nx) and q: (N+1, nx, r), of which the last are given, those after the first stage found.
    Gradients have r columns: one of the cost and one of each multiplier. K: (N, nu, nx), k: (N, nu, r): inputs
    u = K x + k (1, multipliers). W: (r, r) products of the columns, added to.
    """
    steps, nv, columns = g.shape
    nx = f.shape[1]
    nu = nv - nx
    PF, h = np.empty((nx, nv)), np.empty((nx, columns))
    for stage in range(steps - 1, -1, -1):
        A, M, G, later = F[stage], Q[stage], g[stage], P[stage + 1]
        PF[:] = 0.0
        for i in range(nx):
            for j in range(nx):
                a = later[i, j]
                for c in range(nv):
                    PF[i, c] += a * A[j, c]
            for c in range(columns):
                h[i, c] = q[stage + 1, i, c]
            for c in range(1, columns):
                W[0, c] += f[stage, i] * h[i, c]
            for j in range(nx):
                h[i, 0] += later[i, j] * f[stage, j]
        for j in range(nx):
            for r in range(nv):
                a = A[j, r]
                if a != 0.0:
                    for c in range(nv):
                        M[r, c] += a * PF[j, c]
                    for c in range(columns):
                        G[r, c] += a * h[j, c]
        if stage == 0:
            return True
        if not _factored(M[nx:, nx:]):
            return False
        gain, free = K[stage], k[stage]
        for r in range(nu):
            for c in range(nx):
                gain[r, c] = M[nx + r, c]
            for c in range(columns):
                free[r, c] = G[nx + r, c]
        L = M[nx:, nx:]
        _lower_solved(L, gain)
        _lower_solved(L, free)
        now, along = P[stage], q[stage]
        for i in range(nx):
            for j in range(nx):
                now[i, j] = M[i, j]
            for c in range(columns):
                along[i, c] = G[i, c]
        for r in range(nu):
            for i in range(nx):
                a = gain[r, i]
                for j in range(nx):
                    now[i, j] -= a * gain[r, j]
                for c in range(columns):
                    along[i, c] -= a * free[r, c]
            for i in range(columns):
                for c in range(columns):
                    W[i, c] -= free[r, i] * free[r, c]
        _upper_solved(L, gain)
        _upper_solved(L, free)
    return True


@native(fastmath=_FAST)
def _factored(M: np.ndarray) -> bool:
    """Cholesky's factor in the lower half, in place; False where there is none."""
    n = M.shape[0]
    for j in range(n):
        for i in range(j, n):
            total = M[i, j]
            for c in range(j):
                total -= M[i, c] * M[j, c]
            if i == j:
                if not total > 1e-12:
                    return False
                M[j, j] = np.sqrt(total)
            else:
                M[i, j] = total / M[j, j]
    return True


@native(fastmath=_FAST)
def _lower_solved(L: np.ndarray, b: np.ndarray) -> None:
    """b = L^-1 b."""
    for i in range(L.shape[0]):
        for c in range(b.shape[1]):
            total = b[i, c]
            for j in range(i):
                total -= L[i, j] * b[j, c]
            b[i, c] = total / L[i, i]


@native(fastmath=_FAST)
def _upper_solved(L: np.ndarray, b: np.ndarray) -> None:
    """b = -L^-T b."""
    n = L.shape[0]
    for i in range(n - 1, -1, -1):
        for c in range(b.shape[1]):
            total = -b[i, c]
            for j in range(i + 1, n):
                total -= L[j, i] * b[j, c]
            b[i, c] = total / L[i, i]


@native(fastmath=_FAST)
def carried_out(
    F: np.ndarray,
    f: np.ndarray,
    P: np.ndarray,
    q: np.ndarray,
    K: np.ndarray,
    k: np.ndarray,
    lam: np.ndarray,
    dv: np.ndarray,
    last: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """Steps of all stages after the first and of the last state, and of the multipliers of the gaps.

    lam: (r,) one, then the changes of what the last state's multipliers are. dv: (N, nv), of which the first is given.
    last: (nx,). multipliers: (N, nx), of dx_{k+1} - F_k dv_k = f_k.
    """
    steps, nx = f.shape
    nu = dv.shape[1] - nx
    for stage in range(steps):
        x = dv[stage + 1, :nx] if stage + 1 < steps else last
        for i in range(nx):
            total = f[stage, i]
            for c in range(nx + nu):
                total += F[stage, i, c] * dv[stage, c]
            x[i] = total
        for i in range(nx):
            total = 0.0
            for c in range(nx):
                total += P[stage + 1, i, c] * x[c]
            for c in range(lam.shape[0]):
                total += q[stage + 1, i, c] * lam[c]
            multipliers[stage, i] = -total
        if stage + 1 < steps:
            for r in range(nu):
                total = 0.0
                for c in range(nx):
                    total += K[stage + 1, r, c] * x[c]
                for c in range(lam.shape[0]):
                    total += k[stage + 1, r, c] * lam[c]
                dv[stage + 1, nx + r] = total


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


@native
def _scattered(values: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    for k in range(values.shape[0]):
        for i in range(places.size):
            out[k, places[i]] = values[k, i]


@native
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
