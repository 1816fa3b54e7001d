"""The structure of a residual: which unknowns can be solved before which, and which of them linearly.

SX does not cancel v x (m v) by itself. Evaluating the Jacobian at a few random points shows which
entries are identically zero; with those gone, the block-triangular form of what is left tells, for a
body of isotropic mass, that rotation decouples from translation and that translation is linear. Where
a large block remains, unknowns that enter it linearly once the others are known are eliminated: of a
rigid body's six, three are left. It comes from the vehicle's own declaration; nobody says it twice.
"""

from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from sim.integrators.base import Scheme
from sim.symbolic import solve

_SAMPLES = 4
_ZERO = 1e-11
SMALL = 3
"""Blocks up to this size are solved as they are."""


@dataclass(frozen=True)
class Block:
    """Unknowns that are solved together, after the blocks before them."""

    unknowns: tuple[int, ...]
    residual: ca.SX
    """(n,) free of the unknowns of later blocks."""
    jacobian: ca.SX
    """(n, n) with silent entries removed."""
    linear: bool
    """The Jacobian does not depend on the block's own unknowns."""


def silenced(expressions: ca.SX, unknowns: ca.SX, others: list[ca.SX]) -> tuple[ca.SX, np.ndarray]:
    """`expressions` with every unknown that a row does not really depend on set to zero there.

    Also returns the (rows, unknowns) mask of true dependence.
    """
    J = ca.densify(ca.jacobian(expressions, unknowns))
    f = ca.Function("J", [unknowns, *others], [J])
    mask = np.zeros(J.shape, bool)
    for sample in _random_points([unknowns, *others]):
        mask |= np.abs(np.array(f(*sample))) > _ZERO
    rows = []
    for i in range(expressions.shape[0]):
        silent = [j for j in range(unknowns.shape[0]) if not mask[i, j]]
        row = expressions[i]
        if silent:
            row = ca.substitute(row, ca.vertcat(*[unknowns[j] for j in silent]), ca.SX.zeros(len(silent)))
        rows.append(row)
    return ca.vertcat(*rows), mask


def solution_order(scheme: Scheme) -> list[Block]:
    """Blocks of the scheme's residual in the order in which they are solved; empty for explicit methods."""
    z = scheme.z
    if z.shape[0] == 0:
        return []
    others = [scheme.y, scheme.inputs.u, scheme.inputs.w, scheme.inputs.p, scheme.inputs.h]
    residual, mask = silenced(scheme.residual, z, others)
    rows, columns = np.nonzero(mask)
    pattern = ca.Sparsity.triplet(mask.shape[0], mask.shape[1], rows.tolist(), columns.tolist())
    count, row_order, column_order, row_starts, column_starts, _, _ = pattern.btf()
    blocks = []
    # The first block of this form depends on itself only, every further one on those before it.
    for b in range(count):
        block_rows = row_order[row_starts[b] : row_starts[b + 1]]
        unknowns = tuple(column_order[column_starts[b] : column_starts[b + 1]])
        r = residual[list(block_rows)]
        own = z[list(unknowns)]
        jacobian = ca.jacobian(r, own)
        own_mask = mask[np.ix_(block_rows, unknowns)]
        jacobian = ca.densify(jacobian) * ca.DM(own_mask.astype(float))
        jacobian = ca.sparsify(ca.SX(jacobian))
        block = Block(unknowns, r, jacobian, _constant_in(jacobian, own, z, others))
        blocks += [block] if block.linear or len(unknowns) <= SMALL else _condensed(block, z, others)
    return blocks


def _condensed(block: Block, z: ca.SX, others: list[ca.SX]) -> list[Block]:
    """A smaller nonlinear block, with the unknowns that its others determine linearly put in; then one of these.

    Row i is taken to be the equation of unknown i, as it is for a step of length zero.
    """
    n = len(block.unknowns)
    own = z[list(block.unknowns)]
    touched = [_depends(block.jacobian[i, :], own, z, others) for i in range(n)]
    for size in range(n - 1, 0, -1):
        for chosen in combinations(range(n), size):
            part = list(chosen)
            # Linear: none of their own entries in these rows' Jacobian varies with any of them.
            if any(touched[i][np.ix_(part, part)].any() for i in part):
                continue
            kept = [i for i in range(n) if i not in part]
            J = block.jacobian
            A, B = J[part, part], J[part, kept]
            at_zero = ca.substitute(block.residual[part], own[part], ca.SX.zeros(size))
            matrix = ca.substitute(A, own[part], ca.SX.zeros(size))
            value = solve(matrix, -at_zero)
            slope = solve(A, -B)
            residual, direct, through = ca.substitute(
                [block.residual[kept], ca.densify(J[kept, kept]), ca.densify(J[kept, part] @ slope)],
                [own[part]],
                [value],
            )
            names = tuple(block.unknowns[i] for i in kept)
            inner = Block(names, residual, ca.sparsify(direct + through), False)
            after = Block(tuple(block.unknowns[i] for i in part), block.residual[part], A, True)
            return [inner, after]
    return [block]


def _depends(row: ca.SX, own: ca.SX, z: ca.SX, others: list[ca.SX]) -> np.ndarray:
    """(n, n) whether entry j of a row of the Jacobian varies with unknown k."""
    n = own.shape[0]
    slopes = ca.densify(ca.jacobian(ca.densify(row).T, own))
    f = ca.Function("H", [z, *others], [slopes])
    mask = np.zeros((n, n), bool)
    for sample in _random_points([z, *others]):
        mask |= np.abs(np.array(f(*sample))) > _ZERO
    return mask


def _constant_in(jacobian: ca.SX, own: ca.SX, z: ca.SX, others: list[ca.SX]) -> bool:
    f = ca.Function("J", [z, *others], [ca.densify(jacobian)])
    indices = [int(k) for k in range(z.shape[0]) if ca.depends_on(own, z[k])]
    for sample in _random_points([z, *others]):
        first = np.array(f(*sample))
        for scale in (-3.0, 0.1):
            moved = sample[0].copy()
            moved[indices] = scale * moved[indices] + 0.3
            if np.abs(np.array(f(moved, *sample[1:])) - first).max() > 1e-10 * (1 + np.abs(first).max()):
                return False
    return True


def _random_points(symbols: list[ca.SX]) -> list[list[np.ndarray]]:
    """Everyday numbers, and small ones, at which nothing has run into a stop that would hide a dependence."""
    rng = np.random.default_rng(7)
    scales = (1.0, 0.03) * _SAMPLES
    return [[scale * rng.uniform(0.2, 1.4, x.shape[0]) for x in symbols] for scale in scales]
