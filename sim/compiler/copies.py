"""Prints loops that go from copy to copy of a thing in arrays, as LLVM: text does not grow with the copies.

A formula that goes along copies (`sim.symbolic.along`) becomes such a loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.vector_code import Function, Known, Registers
from sim.symbolic import Stack, Step


@dataclass(frozen=True)
class Place:
    """Where numbers stand in an array: in copy i, number k at `array[argument + begin + stride * i + k]`."""

    array: str
    """Its register, or a constant's name."""
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


def loop(function: Function, count: int, pieces: Sequence[Piece]) -> None:
    """The pieces of one copy after the other; all that a piece reads is read before anything of it is written."""

    def copy(index: str, carried: list[str]) -> list[str]:
        for piece in pieces:
            inputs = [(symbols, _address(function, place, index)) for symbols, place in piece.inputs]
            found = function.expression(inputs, piece.expression)
            function.stored(_address(function, piece.result, index), found)
        return carried

    function.times(count, [], copy)


def sweep(
    function: Function,
    count: int,
    carried: tuple[ca.SX, ca.SX],
    known: Known,
    columns: Sequence[tuple[ca.SX, Place]],
    results: Sequence[tuple[ca.SX, Place]],
    onward: ca.SX,
    *,
    backward: bool,
) -> list[str]:
    """Along the copies, something is carried on from each to the next: (its symbols, what it begins with).

    known: what is the same for all copies; columns: symbols of each; results: expressions of each; onward: what
    the next one is handed. Returns registers of what is carried on after the last one.
    """
    symbols, begin = carried

    def copy(index: str, carry: list[str]) -> list[str]:
        at = function.value(f"sub i64 {count - 1}, {index}") if backward else index
        inputs: list[tuple[ca.SX, Registers]] = [(symbols, carry), *known]
        inputs += [(x, _address(function, place, at)) for x, place in columns]
        *found, following = function.expressions(inputs, *(ca.vec(x) for x, _ in results), onward)
        for (_, place), registers in zip(results, found, strict=True):
            function.stored(_address(function, place, at), registers)
        return following

    return function.times(count, function.expression(known, begin), copy)


def _address(function: Function, place: Place, index: str) -> str:
    """Register of where the numbers of a copy begin."""
    at = place.array if place.array[0] in "@%" else f"%{place.array}"
    if place.argument:
        at = function.entry(at, f"%{place.argument}")
    if place.stride:
        at = function.row(at, place.stride, index)
    return function.entry(at, place.begin)


@dataclass(frozen=True, eq=False)
class Rows(Stack):
    """A stack in an array of the function: copy i has `size` numbers there."""

    code: "Code"
    place: Place
    size: int
    count: int

    def along(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        return list(self.code.loop(step, carried, stacks, backward=backward)[1])


class Code:
    """A function under construction, which keeps what it needs between its loops in one of its arrays."""

    def __init__(self, function: Function, known: Known, room: str, begin: int = 0) -> None:
        """known: expressions that are no stacks; begin: from where on the array `room` is free."""
        self.used = begin
        self._function, self._known, self._room = function, known, room

    def rows(self, place: Place, count: int) -> Rows:
        """A stack that is there."""
        return Rows(self, place, place.stride, count)

    def room(self, size: int, count: int) -> Rows:
        """A stack that is to be filled."""
        begin, self.used = self.used, self.used + size * count
        return self.rows(Place(self._room, begin=begin, stride=size), count)

    def loop(
        self,
        step: Step,
        carried: ca.SX,
        stacks: Sequence[Any],
        *,
        backward: bool = False,
        into: Sequence[Rows | None] = (),
    ) -> tuple[list[str], list[Rows]]:
        """One loop over the copies. Registers of what it carries on at the end, and the results.

        into: stacks for the first results, instead of new ones.
        """
        rows = [stack if isinstance(stack, Rows) else self._constant(stack) for stack in stacks]
        count, carry = max(row.count for row in rows), ca.SX.sym("carried", carried.shape[0])
        columns = [ca.SX.sym("column", row.size) for row in rows]
        onward, *results = step(carry, *columns)
        given = [*into, *[None] * (len(results) - len(into))]
        found = [own or self.room(result.numel(), count) for own, result in zip(given, results, strict=True)]
        last = sweep(
            self._function,
            count,
            (carry, ca.SX(carried)),
            self._known,
            [(column, row.place) for column, row in zip(columns, rows, strict=True)],
            [(result, row.place) for result, row in zip(results, found, strict=True)],
            ca.SX(onward),
            backward=backward,
        )
        return last, found

    def _constant(self, numbers: np.ndarray) -> Rows:
        flat = np.ascontiguousarray(np.asarray(numbers, float).T).ravel()
        return self.rows(Place(self._function.constant(flat), stride=numbers.shape[0]), numbers.shape[1])
