"""Mechanics on CasADi SX that keeps generated code short: linear systems, poses, drag, and formulas along copies.

Stacks are columns of one size, one for each copy of a thing (a link, say). `along` is written once: where the stacks
are matrices, as for planners and tests, the formula is repeated for every copy; where the compiler hands its own stacks
in, one loop over the copies is generated.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np


def solve(A: ca.SX, b: ca.SX) -> ca.SX:
    """x with A x = b, straight-line and without pivoting; b (n, m) may have many columns.

    Up to 3x3 by cofactors; larger ones by Gaussian elimination, so A must be near a matrix whose
    leading minors are nonzero (an inertia plus O(h)). Structural zeros cost nothing.
    """
    n = A.shape[0]
    assert A.shape == (n, n)
    assert b.shape[0] == n
    if b.shape[1] > 1 and n <= 3:
        return ca.horzcat(*[solve(A, column) for column in ca.horzsplit(b)])
    if n == 1:
        return b / A
    if n == 2:
        det = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
        return ca.vertcat(A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]) / det
    if n == 3:
        return _solve3(A, b)
    return _eliminate(A, b)


def _solve3(A: ca.SX, b: ca.SX) -> ca.SX:
    if A.nnz() == 3 and all(A.sparsity().has_nz(i, i) for i in range(3)):
        return b / ca.diag(A)
    r = [ca.cross(A[:, 1], A[:, 2]), ca.cross(A[:, 2], A[:, 0]), ca.cross(A[:, 0], A[:, 1])]
    inverse_det = 1 / ca.dot(A[:, 0], r[0])
    return ca.vertcat(*[ca.dot(row, b) for row in r]) * inverse_det


def _eliminate(A: ca.SX, b: ca.SX) -> ca.SX:
    n = A.shape[0]
    rows = [[A[i, j] for j in range(n)] for i in range(n)]
    rhs = [b[i, :] for i in range(n)]
    zero = [[not A.sparsity().has_nz(i, j) for j in range(n)] for i in range(n)]
    for k in range(n):
        pivot = 1 / rows[k][k]
        for i in range(k + 1, n):
            if zero[i][k]:
                continue
            factor = rows[i][k] * pivot
            for j in range(k + 1, n):
                if not zero[k][j]:
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
                    zero[i][j] = False
            rhs[i] = rhs[i] - factor * rhs[k]
    x: list[ca.SX] = [ca.SX(1, b.shape[1])] * n
    for k in reversed(range(n)):
        s = rhs[k]
        for j in range(k + 1, n):
            if not zero[k][j]:
                s = s - rows[k][j] * x[j]
        x[k] = s / rows[k][k]
    return ca.vertcat(*x)


def collected(expressions: ca.SX, variables: ca.SX) -> ca.SX:
    """The same with rows that are affine in the variables written as constant + coefficients . variables.

    The coefficients can then be computed while the variables are still being solved for.
    """
    J, rows = ca.jacobian(expressions, variables), []
    for i in range(expressions.shape[0]):
        affine = independent_of(J[i, :].T, variables)
        constant = ca.substitute(expressions[i], variables, ca.SX.zeros(variables.shape[0]))
        rows.append(constant + J[i, :] @ variables if affine else expressions[i])
    return ca.vertcat(*rows) if rows else expressions


def independent_of(expression: ca.SX, variables: ca.SX) -> bool:
    """No variable occurs structurally in the expression."""
    return not any(ca.which_depends(expression, variables, 1, False))


def operations(expression: ca.SX) -> int:
    """How many it takes, what its entries share counted once."""
    count: int = ca.n_nodes(ca.cse(ca.densify(expression)))
    return count


def replaced(expressions: list[ca.SX], symbols: list[ca.SX], values: list[ca.SX]) -> list[ca.SX]:
    """The expressions with each column of symbols replaced by values of the same shape, sparse or not."""
    return ca.substitute(expressions, symbols, [ca.densify(ca.SX(v)) for v in values])


def turn_about(axis: str, angle: ca.SX) -> ca.SX:
    """(4, 4) rotation about a coordinate axis."""
    i = ("xyz".index(axis) + 1) % 3
    j = (i + 1) % 3
    T = ca.SX.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = ca.cos(angle), -ca.sin(angle), ca.sin(angle), ca.cos(angle)
    return T


def shift(x: ca.SX | float, y: ca.SX | float, z: ca.SX | float) -> ca.SX:
    """(4, 4) translation."""
    T = ca.SX.eye(4)
    T[:3, 3] = ca.vertcat(x, y, z)
    return T


def pose_along(up: ca.SX, x: ca.SX) -> ca.SX:
    """(4, 4) pose at x whose z axis is the unit vector `up`, by the shortest turn off upright."""
    a, b, c = ca.vertsplit(up)
    share = 1 / ca.fmax(1 + c, 1e-12)
    T = shift(x[0], x[1], x[2])
    T[:3, 0] = ca.vertcat(1 - share * a * a, -share * a * b, -a)
    T[:3, 1] = ca.vertcat(-share * a * b, 1 - share * b * b, -b)
    T[:3, 2] = up
    return T


_LEAST_MPS = 1e-6
"""Keeps the derivative finite at rest."""


def drag_over_velocity(factor: Any, square: Any) -> Any:
    """-factor |v|, which times v is the force, of |v|^2: of symbols, and of numbers where it is compiled."""
    return -factor * (square + _LEAST_MPS**2) ** 0.5


def quadratic_drag(factor: ca.SX | float, through_air: ca.SX) -> ca.SX:
    """(3,) force [N] -factor |v| v; factor in N s^2/m^2, v [m/s] the velocity through the air, in whatever frame."""
    return drag_over_velocity(factor, ca.dot(through_air, through_air)) * through_air


Step = Callable[..., Sequence[ca.SX]]
"""(carried, column of each stack...) -> (carried on, column of each result...)."""


class Stack(ABC):
    """`count` columns of `size` numbers that are no expressions: the compiler knows where they are kept."""

    size: int
    count: int

    @abstractmethod
    def along(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list["Stack"]:
        """As the function `along`."""


AnyStack = Any
"""A Stack, an SX matrix (size, count), or an array of that shape, which is constant."""


def along(step: Step, carried: ca.SX, *stacks: AnyStack, backward: bool = False) -> list[AnyStack]:
    """The stacks of results of `step`, which is handed what it carried on from the copy before, first `carried`.

    backward: from the last copy to the first.
    """
    for stack in stacks:
        if isinstance(stack, Stack):
            return list(stack.along(step, carried, stacks, backward=backward))
    matrices = [ca.SX(stack) for stack in stacks]
    count = max(matrix.shape[1] for matrix in matrices)
    found: list[Sequence[ca.SX]] = [()] * count
    for k in reversed(range(count)) if backward else range(count):
        carried, *found[k] = step(carried, *[matrix[:, k] for matrix in matrices])  # type: ignore[misc]
    return [ca.horzcat(*[ca.densify(ca.vec(column)) for column in each]) for each in zip(*found, strict=True)]


def stacked(column: Any, count: int) -> AnyStack:
    """A flat column as a stack; what is one stays."""
    return column if isinstance(column, Stack) else ca.reshape(column, column.shape[0] // count, count)


def flat(stack: AnyStack) -> Any:
    """An SX stack as a flat column; one of the compiler stays."""
    return stack if isinstance(stack, Stack) else ca.vec(stack)


def first_only(count: int) -> np.ndarray:
    """(1, count) 1 for the first copy, 0 for the others."""
    return (np.arange(count) == 0).astype(float)[None]


def last_only(count: int) -> np.ndarray:
    """(1, count) 1 for the last copy, 0 for the others."""
    return (np.arange(count) == count - 1).astype(float)[None]
