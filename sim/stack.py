"""Columns of one size, one for each copy of a thing (a link, say), and formulas that go along them.

`along` is written once for both: where the stacks are matrices, as for planners and tests, the formula is repeated for
every copy; where the compiler hands its own stacks in, one loop over the copies is generated.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

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
