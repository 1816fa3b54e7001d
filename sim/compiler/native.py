"""Functions of arrays as LLVM text, which generated modules call by name: made once, whoever calls them.

Numba works out the types of every line of a function and compiles it anew in each function that calls it: of thousands
of lines that takes many seconds. Here the same expressions are printed as LLVM, and what is kept on disk is linked.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import llvmlite.binding as llvm
from numba import types

from sim.compiler.lane_printer import Lines
from sim.compiler.objects import loaded


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
    """Instructions on single numbers that stand in arrays.

    Every operation is rounded, so that they come to the same bits on every processor.
    """

    flags = ""

    def __init__(self, prefix: str, inputs: Sequence[tuple[ca.SX, str]], expression: ca.SX) -> None:
        """inputs: columns of symbols, and registers of where they stand."""
        self._at = [at for _, at in inputs]
        super().__init__(prefix, [(symbols, ()) for symbols, _ in inputs], [expression], 1)

    def _load(self, argument: int, entry: int) -> str:
        at = self._at[argument]
        if entry:
            at = self._new(f"getelementptr double, ptr {at}, i64 {entry}")
        return self._new(f"load double, ptr {at}, align 8")


class NativeFunction:
    """Text of a function of addresses of arrays and of whole numbers, which returns nothing."""

    def __init__(self, name: str, arguments: Sequence[str], arrays: Sequence[str]) -> None:
        """arrays: which of the arguments are addresses."""
        self.name, self.arguments = name, tuple(arguments)
        self.declarations: set[str] = set()
        self._lines = [f"  %{array}.at = inttoptr i64 %{array} to ptr" for array in arrays]
        self._count, self._block = 0, "entry"

    @property
    def text(self) -> str:
        """Its definition, without the declarations."""
        head = f"define void @{self.name}({', '.join(f'i64 %{a}' for a in self.arguments)}) {{"
        return "\n".join([head, "entry:", *self._lines, "  ret void", "}"])

    def loop(self, count: int, pieces: Sequence[Piece]) -> None:
        """The pieces of one copy after the other."""
        here, before = self._fresh("copies"), self._block
        index = f"%i.{here}"
        self._lines += [
            f"  br label %{here}",
            f"{here}:",
            f"  {index} = phi i64 [ 0, %{before} ], [ {index}.next, %{here} ]",
        ]
        for piece in pieces:
            self._piece(piece, index)
        self._block = f"{here}.after"
        self._lines += [
            f"  {index}.next = add i64 {index}, 1",
            f"  {index}.more = icmp slt i64 {index}.next, {count}",
            f"  br i1 {index}.more, label %{here}, label %{self._block}",
            f"{self._block}:",
        ]

    def _piece(self, piece: Piece, index: str) -> None:
        """All that it reads is read before anything is written."""
        inputs = [(symbols, self._address(place, index)) for symbols, place in piece.inputs]
        lines = _Numbers(f"{self._fresh('e')}.", inputs, piece.expression)
        self._lines += lines.lines
        self.declarations |= lines.declarations
        first = self._address(piece.result, index)
        for k, register in enumerate(lines.registers()):
            at = self._new(f"getelementptr double, ptr {first}, i64 {k}") if k else first
            self._lines.append(f"  store double {register}, ptr {at}, align 8")

    def _address(self, place: Place, index: str) -> str:
        """Register of where the numbers of a copy begin."""
        at = f"%{place.array}.at"
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


def native_source(functions: Sequence[NativeFunction]) -> str:
    """Lines of Python by which a generated module gets these functions under their names."""
    declarations = sorted(set().union(*(function.declarations for function in functions)))
    text = "\n".join([*(function.text for function in functions), *declarations])
    told = ", ".join(f"{function.name}={len(function.arguments)}" for function in functions)
    names = ", ".join(function.name for function in functions)
    return f'NATIVE = linked("""\n{text}\n""", {told})\n{names}, = NATIVE\n'


def linked(text: str, **arguments: int) -> tuple[types.ExternalFunction, ...]:
    """What numba calls of a module's text, in the order given: name of a function, how many arguments it has.

    The machine code is the process' own from then on, as what is called by name has to stay.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    if digest not in _ENGINES:
        engine = _ENGINES.setdefault(digest, loaded(text, optimised=True))
        for name in arguments:
            llvm.add_symbol(f"{name}_{digest}", engine.get_function_address(name))
    return tuple(
        types.ExternalFunction(f"{name}_{digest}", types.void(*[types.int64] * count))
        for name, count in arguments.items()
    )


_ENGINES: dict[str, llvm.ExecutionEngine] = {}
"""By digests of their texts; what numba has compiled holds their addresses."""
