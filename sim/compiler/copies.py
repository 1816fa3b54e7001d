"""Prints functions that go from copy to copy of a thing in arrays, as LLVM: text does not grow with the copies.

A formula that goes along copies (`sim.stack.along`) becomes such a loop.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.printer import Lines
from sim.compiler.vector_code import splat
from sim.stack import Stack, Step


@dataclass(frozen=True)
class Place:
    """Where numbers stand in an array: in copy i, number k at `array[argument + begin + stride * i + k]`."""

    array: str
    argument: str = ""
    """Name of the argument that says where it begins; empty: at the array's own beginning."""
    begin: int = 0
    stride: int = 0


@dataclass(frozen=True, eq=False)
class Piece:
    """An expression for each copy: inputs are columns of symbols."""

    inputs: Sequence[tuple[ca.SX, Place]]
    expression: ca.SX
    result: Place


class _Numbers(Lines):
    """Instructions on single numbers, in registers or in arrays."""

    def __init__(
        self, prefix: str, inputs: Sequence[tuple[ca.SX, str | list[str]]], expressions: Sequence[ca.SX]
    ) -> None:
        """inputs: columns of symbols, and their registers, or that of where they stand."""
        self._at = [at for _, at in inputs]
        super().__init__(prefix, [(symbols, ()) for symbols, _ in inputs], expressions, 1)

    def _load(self, argument: int, entry: int) -> str:
        at = self._at[argument]
        if not isinstance(at, str):
            return at[entry]
        if entry:
            at = self._new(f"getelementptr double, ptr {at}, i64 {entry}")
        return self._new(f"load double, ptr {at}, align 8")


class NativeFunction:
    """Text of a function of addresses of arrays and of whole numbers, which returns nothing."""

    def __init__(self, name: str, arguments: Sequence[str], arrays: Sequence[str]) -> None:
        """arrays: which of the arguments are addresses; all but the first are only read."""
        self.name = name
        kinds = {array: "ptr noalias readonly" if k else "ptr" for k, array in enumerate(arrays)}
        self._arguments = ", ".join(f"{kinds.get(a, 'i64')} %{a}" for a in arguments)
        self.declarations: set[str] = set()
        self._constants: list[str] = []
        self._lines: list[str] = []
        self._count, self._block = 0, "entry"

    @property
    def text(self) -> str:
        """Its definition, without the declarations."""
        head = f"define void @{self.name}({self._arguments}) {{"
        return "\n".join([*self._constants, head, "entry:", *self._lines, "  ret void", "}"])

    def constant(self, numbers: np.ndarray) -> str:
        """Name of an array of numbers that are known."""
        name = f"{self.name}.{self._fresh('constant')}"
        entries = ", ".join(f"double {splat(float(x), 1)}" for x in numbers)
        self._constants.append(f"@{name} = internal constant [{len(numbers)} x double] [{entries}]")
        return f"@{name}"

    def loop(self, count: int, pieces: Sequence[Piece]) -> None:
        """The pieces of one copy after the other; all that a piece reads is read before anything of it is written."""

        def copy(index: str, carried: list[str]) -> list[str]:
            for piece in pieces:
                inputs = [(symbols, self._address(place, index)) for symbols, place in piece.inputs]
                (found,) = self._evaluated(inputs, [piece.expression])
                self._stored(piece.result, index, found)
            return carried

        self._copies(count, [], copy)

    def sweep(
        self,
        count: int,
        carried: tuple[ca.SX, ca.SX],
        known: Sequence[tuple[ca.SX, Place]],
        columns: Sequence[tuple[ca.SX, Place]],
        results: Sequence[tuple[ca.SX, Place]],
        onward: ca.SX,
        *,
        backward: bool,
    ) -> None:
        """Along the copies, something is carried on from each to the next: (its symbols, what it begins with).

        known: what is the same for all copies; columns: symbols of each; results: expressions of each; onward: what
        the next one is handed.
        """
        symbols, begin = carried
        (first,) = self._evaluated([(x, self._address(place, "0")) for x, place in known], [begin])

        def copy(index: str, carry: list[str]) -> list[str]:
            at = index
            if backward:
                at = self._new(f"sub i64 {count - 1}, {index}")
            inputs: list[tuple[ca.SX, str | list[str]]] = [(symbols, carry)]
            inputs += [(x, self._address(place, at)) for x, place in (*columns, *known)]
            *found, following = self._evaluated(inputs, [*(ca.vec(x) for x, _ in results), onward])
            for (_, place), registers in zip(results, found, strict=True):
                self._stored(place, at, registers)
            return following

        self._copies(count, first, copy)

    def _copies(
        self, count: int, carried: Sequence[str], copy: Callable[[str, list[str]], list[str]]
    ) -> None:
        """A loop: `copy` is given registers of the count and of what is carried, and returns those of what is next."""
        here, before = self._fresh("copies"), self._block
        index, after = f"%i.{here}", f"{here}.after"
        self._lines += [f"  br label %{here}", f"{here}:"]
        begin = len(self._lines)
        carry = [f"%{self._fresh('carry')}" for _ in carried]
        following = copy(index, carry)
        pairs = zip(carry, carried, following, strict=True)
        self._lines[begin:begin] = [
            f"  {index} = phi i64 [ 0, %{before} ], [ {index}.next, %{here} ]",
            *(
                f"  {name} = phi double [ {first}, %{before} ], [ {later}, %{here} ]"
                for name, first, later in pairs
            ),
        ]
        self._lines += [
            f"  {index}.next = add i64 {index}, 1",
            f"  {index}.more = icmp slt i64 {index}.next, {count}",
            f"  br i1 {index}.more, label %{here}, label %{after}",
            f"{after}:",
        ]
        self._block = after

    def _evaluated(
        self, inputs: Sequence[tuple[ca.SX, str | list[str]]], expressions: Sequence[ca.SX]
    ) -> list[list[str]]:
        """Registers of expressions."""
        lines = _Numbers(f"{self._fresh('e')}.", inputs, expressions)
        self._lines += lines.lines
        self.declarations |= lines.declarations
        return [lines.registers(k) for k in range(len(expressions))]

    def _stored(self, place: Place, index: str, registers: Sequence[str]) -> None:
        first = self._address(place, index)
        for k, register in enumerate(registers):
            at = self._new(f"getelementptr double, ptr {first}, i64 {k}") if k else first
            self._lines.append(f"  store double {register}, ptr {at}, align 8")

    def _address(self, place: Place, index: str) -> str:
        """Register of where the numbers of a copy begin."""
        at = place.array if place.array.startswith("@") else f"%{place.array}"
        if place.argument:
            at = self._new(f"getelementptr double, ptr {at}, i64 %{place.argument}")
        if place.stride:
            copy = self._new(f"mul i64 {index}, {place.stride}")
            at = self._new(f"getelementptr double, ptr {at}, i64 {copy}")
        return self._new(f"getelementptr double, ptr {at}, i64 {place.begin}") if place.begin else at

    def _new(self, text: str) -> str:
        name = f"%{self._fresh('v')}"
        self._lines.append(f"  {name} = {text}")
        return name

    def _fresh(self, word: str) -> str:
        self._count += 1
        return f"{word}{self._count}"


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
