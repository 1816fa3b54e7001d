"""A program's vectors from those of its nodes and back, in machine code."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.compiled import compiled


@dataclass(frozen=True, eq=False)
class Gather:
    """Nonzeros of a sparse matrix, column after column, out of the blocks that the nodes give."""

    sparsity: ca.Sparsity
    sources: np.ndarray
    """(summands, nonzeros): where they stand in the blocks; past their end where there is no further summand."""

    def __call__(self, blocks: np.ndarray, out: np.ndarray) -> None:
        """blocks: with a zero at the end."""
        _gathered(self.sources, blocks, out)


@compiled()
def _gathered(sources: np.ndarray, blocks: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = blocks[sources[0, i]]
    for k in range(1, sources.shape[0]):
        for i in range(out.size):
            out[i] += blocks[sources[k, i]]


def gather(
    places: list[tuple[np.ndarray, np.ndarray]], rows: int, columns: int, *, upper: bool = False
) -> Gather:
    """Of blocks at given places; those that occur twice are summed."""
    r = np.concatenate([a for a, _ in places])
    c = np.concatenate([b for _, b in places])
    kept = np.flatnonzero(r <= c) if upper else np.arange(r.size)
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


def block_places(pattern: ca.Sparsity, rows: object, columns: object) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the nonzeros of copies of a block, copy by copy."""
    r, c = (np.asarray(x, int) for x in pattern.get_triplet())
    return (
        (np.asarray(rows, int)[:, None] + r).ravel(),
        (np.asarray(columns, int)[:, None] + c).ravel(),
    )


@compiled()
def replaced(old: np.ndarray, new: np.ndarray) -> bool:
    """Copy new to old; whether they differed, which what is no number always does."""
    for i in range(old.size):
        if old[i] != new[i]:
            old[:] = new
            return True
    return False


@compiled()
def under_nodes(w: np.ndarray, starts: np.ndarray, scales: np.ndarray, where: np.ndarray) -> None:
    """(x, y) of the nodes, which stand in w at starts (N+1, 2), times scales."""
    for k in range(starts.shape[0]):
        for i in range(2):
            where[k, i] = w[starts[k, i]] * scales[i]


@compiled()
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


@compiled()
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


@compiled()
def completed(slope: np.ndarray, first: np.ndarray, following: np.ndarray, nv: int) -> None:
    """Add to the nodes' gradients the first one's besides, and what the gaps pull the next states by."""
    n, nx = following.shape
    for i in range(first.size):
        slope[i] += first[i]
    for k in range(n):
        for i in range(nx):
            slope[(k + 1) * nv + i] -= following[k, i]
