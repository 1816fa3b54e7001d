"""Formulas that go along the copies of a thing as loops of machine code: what `sim.stack.along` prints there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.native import NativeFunction, Place
from sim.stack import Stack, Step

Known = Sequence[tuple[ca.SX, Place]]


@dataclass(frozen=True, eq=False)
class Rows(Stack):
    """A stack in an array of the function: copy i has `size` numbers there."""

    code: "Code"
    place: Place
    size: int
    count: int

    def along(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        return self.code.loop(step, carried, stacks, backward=backward)


class Code:
    """A function under construction, which keeps what it needs between its loops in its first array."""

    def __init__(self, function: NativeFunction, known: Known, room: str, begin: int) -> None:
        """known: expressions that are no stacks; begin: from where on the array `room` is free."""
        self.used = begin
        self._function, self._known, self._room = function, known, room

    def rows(self, place: Place, count: int) -> Rows:
        """A stack that is there."""
        return Rows(self, place, place.stride, count)

    def loop(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        """One loop over the copies; what it carries on is in registers."""
        rows = [stack if isinstance(stack, Rows) else self._constant(stack) for stack in stacks]
        count, carry = max(row.count for row in rows), ca.SX.sym("carried", carried.shape[0])
        columns = [ca.SX.sym("column", row.size) for row in rows]
        onward, *results = step(carry, *columns)
        found = [self._new(result.numel(), count) for result in results]
        self._function.sweep(
            count,
            (carry, ca.SX(carried)),
            self._known,
            [(column, row.place) for column, row in zip(columns, rows, strict=True)],
            [(result, row.place) for result, row in zip(results, found, strict=True)],
            ca.SX(onward),
            backward=backward,
        )
        return list(found)

    def _new(self, size: int, count: int) -> Rows:
        begin, self.used = self.used, self.used + size * count
        return self.rows(Place(self._room, begin=begin, stride=size), count)

    def _constant(self, numbers: np.ndarray) -> Rows:
        flat = np.ascontiguousarray(np.asarray(numbers, float).T).ravel()
        return self.rows(Place(self._function.constant(flat), stride=numbers.shape[0]), numbers.shape[1])
