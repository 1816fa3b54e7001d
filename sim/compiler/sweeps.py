"""Formulas that go along the copies of a thing as loops of generated code: what `sim.stack.along` writes there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.printer import straight_line
from sim.stack import Stack, Step

Naming = tuple[ca.SX, Callable[[int], str]]


@dataclass(frozen=True, eq=False)
class Rows(Stack):
    """A stack in an array of the generated function: copy i has `array[start + size * i + k]`."""

    code: "Code"
    array: str
    start: str
    size: int
    count: int

    def along(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        return self.code.loop(step, carried, stacks, backward=backward)

    def entry(self, i: str) -> Callable[[int], str]:
        """Names of the numbers of copy i."""
        step = f"{self.size} * {i}" if self.size > 1 else i
        return lambda k: f"{self.array}[{self.start} + {step} + {k}]"


class Code:
    """Lines of one generated function, which keeps what it needs between its loops in the array `room`."""

    def __init__(self, known: Sequence[Naming], room: str, begin: int) -> None:
        """known: expressions that are no stacks; begin: from where on `room` is free."""
        self.lines: list[str] = []
        self.constants: dict[str, np.ndarray] = {}
        self.used = begin
        self._known, self._room, self._loops = tuple(known), room, 0

    def stack(self, size: int, count: int) -> Rows:
        """A new one."""
        start, self.used = self.used, self.used + size * count
        return Rows(self, self._room, str(start), size, count)

    def loop(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        """One loop over the copies; what it carries on is in scalars."""
        rows = [stack if isinstance(stack, Rows) else self._constant(stack) for stack in stacks]
        n, self._loops = self._loops, self._loops + 1
        count, carry = max(row.count for row in rows), ca.SX.sym("carried", carried.shape[0])
        columns = [ca.SX.sym("column", row.size) for row in rows]
        onward, *results = step(carry, *columns)
        found = [self.stack(result.numel(), count) for result in results]
        inputs = [
            (carry, lambda k: f"k{n}_{k}"),
            *[(column, row.entry("i")) for column, row in zip(columns, rows, strict=True)],
            *self._known,
        ]
        outputs = [(ca.vec(result), row.entry("i")) for result, row in zip(results, found, strict=True)] + [
            (ca.SX(onward), lambda k: f"n{n}_{k}")
        ]
        body = straight_line(inputs, outputs, f"t{n}_")
        begin = straight_line(self._known, [(ca.SX(carried), lambda k: f"k{n}_{k}")], f"b{n}_")
        order = f"range({count - 1}, -1, -1)" if backward else f"range({count})"
        carry_on = [f"k{n}_{k} = n{n}_{k}" for k in range(carried.shape[0])]
        self.lines += [*begin, f"for i in {order}:", *("    " + line for line in (*body, *carry_on))]
        return list(found)

    def _constant(self, numbers: np.ndarray) -> Rows:
        flat = np.ascontiguousarray(np.asarray(numbers, float).T).ravel()
        name = f"C{len(self.constants)}"
        self.constants[name] = flat
        return Rows(self, name, "0", *numbers.shape)
