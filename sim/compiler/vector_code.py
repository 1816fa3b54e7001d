"""Expressions as LLVM's instructions on vector registers or single numbers, and functions that are made of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from sim.native.text import Text, constants, register_types, splat

_ARITHMETIC = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_DIV: "fdiv"}
_COMPARED = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
_INTRINSIC = {
    ca.OP_SQRT: "sqrt",
    ca.OP_FABS: "fabs",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_COPYSIGN: "copysign",
}
_CHOSEN = {ca.OP_FMIN: "olt", ca.OP_FMAX: "ogt"}
"""Of two numbers the second one where it compares so with the first."""
_LIBRARY = {
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ATAN2: "atan2",
}
_BINARY = {
    *_ARITHMETIC,
    *_COMPARED,
    ca.OP_POW,
    ca.OP_CONSTPOW,
    ca.OP_COPYSIGN,
    *_CHOSEN,
    ca.OP_ATAN2,
    ca.OP_AND,
    ca.OP_OR,
    ca.OP_IF_ELSE_ZERO,
}


class Instructions(Text, ABC):
    """Those of an expression, in order."""

    flags = " contract"
    """Of sums and products: which of them may be rounded as one, as the processor has it."""

    def __init__(self, function: ca.Function, prefix: str, width: int) -> None:
        """prefix: of the registers' names. width: how many numbers stand side by side; 1: registers are numbers."""
        super().__init__(prefix)
        self._of_width(width)
        self._f = function
        self._read: dict[tuple[int, int], str] = {}
        self._work: dict[int, str] = {}
        self._reciprocals: dict[str, str] = {}
        self._truths: dict[str, str] = {}
        """Registers of numbers that are 1 where a condition holds, else 0 -> of the conditions."""
        for k in range(function.n_instructions()):
            self._instruction(k)

    def _of_width(self, width: int) -> None:
        """So many numbers stand side by side in the registers that follow."""
        self._width = width
        self._vector, self._bits = register_types(width)
        self._zero = "0.0" if width == 1 else "zeroinitializer"

    @abstractmethod
    def _load(self, argument: int, entry: int) -> str:
        """Register of an entry of an input."""

    @abstractmethod
    def _store(self, result: int, entry: int, register: str) -> None:
        """Put an entry of an output where it belongs."""

    def _instruction(self, k: int) -> None:
        f, work = self._f, self._work
        op, into, out = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_INPUT:
            place = into[0], into[1]
            if place not in self._read:
                self._read[place] = self._load(*place)
            work[out[0]] = self._read[place]
        elif op == ca.OP_OUTPUT:
            self._store(out[0], out[1], work[into[0]])
        elif op == ca.OP_CONST:
            work[out[0]] = self._splat(float(f.instruction_constant(k)))
        else:
            operands = [work[i] for i in (into if op in _BINARY else into[:1])]
            work[out[0]] = self._operation(op, operands)

    def _operation(self, op: int, x: list[str]) -> str:
        if op == ca.OP_DIV and x[1].startswith("%"):
            return self._quotient(*x)
        if op in _ARITHMETIC:
            return self.new(f"{_ARITHMETIC[op]}{self.flags} {self._vector} {x[0]}, {x[1]}")
        if op in _COMPARED:
            return self._number(self.new(f"fcmp {_COMPARED[op]} {self._vector} {x[0]}, {x[1]}"))
        if op in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[op], self._vector, *x)
        if op in _LIBRARY:
            return self._library(_LIBRARY[op], x)
        return self._composed(op, x)

    def _quotient(self, x: str, divisor: str) -> str:
        """A product with the reciprocal, which all share that divide by the same number."""
        one = self._splat(1.0)
        if divisor not in self._reciprocals:
            self._reciprocals[divisor] = self.new(f"fdiv{self.flags} {self._vector} {one}, {divisor}")
        shared = self._reciprocals[divisor]
        return shared if x == one else self._operation(ca.OP_MUL, [x, shared])

    def _composed(self, op: int, x: list[str]) -> str:
        """Operations of more than one instruction."""
        if op == ca.OP_ASSIGN:
            return x[0]
        if op == ca.OP_NEG:
            return self.new(f"fneg {self._vector} {x[0]}")
        if op == ca.OP_SQ:
            return self._operation(ca.OP_MUL, [x[0], x[0]])
        if op == ca.OP_TWICE:
            return self._operation(ca.OP_ADD, [x[0], x[0]])
        if op == ca.OP_INV:
            return self._operation(ca.OP_DIV, [self._splat(1.0), x[0]])
        if op in _CHOSEN:
            second = self.new(f"fcmp {_CHOSEN[op]} {self._vector} {x[1]}, {x[0]}")
            return self.new(f"select {self._bits} {second}, {self._vector} {x[1]}, {self._vector} {x[0]}")
        if op == ca.OP_NOT:
            return self._operation(ca.OP_EQ, [x[0], self._splat(0.0)])
        if op in (ca.OP_AND, ca.OP_OR):
            word = "and" if op == ca.OP_AND else "or"
            return self._number(self.new(f"{word} {self._bits} {self._true(x[0])}, {self._true(x[1])}"))
        if op == ca.OP_IF_ELSE_ZERO:
            return self._or_zero(x[0], x[1])
        if op == ca.OP_SIGN:
            return self._or_zero(x[0], self.intrinsic("copysign", self._vector, self._splat(1.0), x[0]))
        name = next((n[3:].lower() for n in dir(ca) if n.startswith("OP_") and getattr(ca, n) == op), str(op))
        raise TypeError(f"the operation {name!r} of a symbolic expression has no compiled form")

    def _or_zero(self, condition: str, value: str) -> str:
        true = self._true(condition)
        return self.new(f"select {self._bits} {true}, {self._vector} {value}, {self._vector} {self._zero}")

    def _true(self, x: str) -> str:
        """Of a condition itself, not of the number that stands for it."""
        return self._truths.get(x) or self.new(f"fcmp une {self._vector} {x}, {self._zero}")

    def _number(self, bits: str) -> str:
        number = self.new(f"uitofp {self._bits} {bits} to {self._vector}")
        self._truths[number] = bits
        return number

    def _library(self, name: str, x: list[str]) -> str:
        if self._width == 1:
            return self.outside(name, "double", *x)
        vector = "poison"
        for lane in range(self._width):
            ones = [self.new(f"extractelement {self._vector} {a}, i32 {lane}") for a in x]
            one = self.outside(name, "double", *ones)
            vector = self.new(f"insertelement {self._vector} {vector}, double {one}, i32 {lane}")
        return vector

    def _splat(self, x: float) -> str:
        return splat(x, self._width)


Registers = str | Sequence[str]
"""Registers of the entries of something; or that of where its entries stand."""
Known = Sequence[tuple[ca.SX, Registers]]
"""Symbols with the registers of their entries."""
TABLE = "ptr noalias %table, i64 %n"
"""Arguments of functions that are called by others than their own module's: addresses of arrays, and a whole number."""


class Lines(Instructions):
    """Instructions of expressions whose inputs are in registers, or stand somewhere."""

    def __init__(self, prefix: str, known: Known, expressions: Sequence[ca.SX], width: int) -> None:
        self._given = [registers for _, registers in known]
        self._found: dict[tuple[int, int], str] = {}
        dense = [ca.densify(ca.vec(expression)) for expression in expressions]
        function = ca.Function("f", [symbols for symbols, _ in known], dense, {"cse": True})
        super().__init__(function, prefix, width)

    def _load(self, argument: int, entry: int) -> str:
        at = self._given[argument]
        if not isinstance(at, str):
            return at[entry]
        if entry:
            at = self.new(f"getelementptr {self._vector}, ptr {at}, i64 {entry}")
        return self.new(f"load {self._vector}, ptr {at}, align 8")

    def _store(self, result: int, entry: int, register: str) -> None:
        self._found[result, entry] = register

    def registers(self, k: int = 0) -> list[str]:
        """Registers of the entries of an expression."""
        zero = splat(0.0, self._width)
        return [self._found.get((k, entry), zero) for entry in range(self._f.size1_out(k))]


class Function(Text):
    """One function under construction, which returns a whole number or nothing."""

    def __init__(self, width: int = 1) -> None:
        """width: how many numbers stand side by side in its registers."""
        super().__init__()
        self.width = width
        self.vector, self.bits = register_types(width)
        self.constants: list[str] = []
        self._name = ""
        self.named: set[str] = set()
        """Registers of addresses out of the table."""
        self._variables: dict[str, str] = {}
        """What each holds."""
        self._entry = 0

    def begin(self, name: str, arguments: str = TABLE, result: str = "i64") -> None:
        """result: "void" of one that returns nothing."""
        self._name = name
        self.lines.append(f"define {result} @{name}({arguments}) {{")
        self.label("entry")
        self._entry = len(self.lines)

    def end(self, result: str = "i64 0") -> None:
        """With what it returns."""
        self.put(f"ret {result}")
        self.lines[self._entry : self._entry] = self.allocated
        self.lines.append("}")

    def constant(self, numbers: np.ndarray) -> str:
        """Name of an array of numbers that are known."""
        name = f"@{self._name}.{self.fresh('constant')}"
        self.constants.append(constants(name, "double", numbers))
        return name

    def variable(self, begin: str | None = None, kind: str = "") -> str:
        """Something that may be written again: LLVM keeps it in a register. kind: of a register, where none is said."""
        name = self.room(f"{kind or self.vector}, align 8", "var")
        self._variables[name] = kind or self.vector
        if begin is not None:
            self.write(name, begin)
        return name

    def variables(self, begin: Sequence[str]) -> list[str]:
        return [self.variable(register) for register in begin]

    def read(self, variable: str) -> str:
        return self.new(f"load {self._variables[variable]}, ptr {variable}, align 8")

    def write(self, variable: str, register: str) -> None:
        self.put(f"store {self._variables[variable]} {register}, ptr {variable}, align 8")

    def read_all(self, variables: Sequence[str]) -> list[str]:
        return [self.read(variable) for variable in variables]

    def write_all(self, variables: Sequence[str], registers: Sequence[str]) -> None:
        for variable, register in zip(variables, registers, strict=True):
            self.write(variable, register)

    def times(
        self, count: int | str, begin: Sequence[str], body: Callable[[str, list[str]], Sequence[str]]
    ) -> list[str]:
        """Registers of what `body` carries on, after so many times.

        It is given registers of the number of the time, from 0 on, and of what it carried on before, first `begin`.
        """
        before, again, after = self.block, self.fresh("again"), self.fresh("after")
        certain = isinstance(count, int) and count > 0
        if certain:
            self.jump(again)
        else:
            self.branch(self.new(f"icmp slt i64 0, {count}"), again, after)
        self.label(again)
        index, at = f"%{self.fresh('k')}", len(self.lines)
        carry = [f"%{self.fresh('carried')}" for _ in begin]
        following = body(index, carry)
        later = self.new(f"add i64 {index}, 1")
        more, end = self.new(f"icmp slt i64 {later}, {count}"), self.block
        self.branch(more, again, after)
        self.label(after)
        phis = [f"  {index} = phi i64 [ 0, %{before} ], [ {later}, %{end} ]"]
        phis += [
            f"  {name} = phi {self.vector} [ {first}, %{before} ], [ {last}, %{end} ]"
            for name, first, last in zip(carry, begin, following, strict=True)
        ]
        self.lines[at:at] = phis
        if certain:
            return list(following)
        return [
            self.new(f"phi {self.vector} [ {first}, %{before} ], [ {last}, %{end} ]")
            for first, last in zip(begin, following, strict=True)
        ]

    def count(self, variable: str, by: str = "1") -> str:
        """Make a whole number larger; returns its register."""
        more = self.new(f"add i64 {self.read(variable)}, {by}")
        self.write(variable, more)
        return more

    def array(self, registers: Sequence[str]) -> str:
        """Address of numbers that are written down for another function."""
        at = self.variable(kind=f"[{max(len(registers), 1)} x {self.vector}]")
        self.stored(at, registers)
        return at

    def expression(self, known: Known, wanted: ca.SX) -> list[str]:
        """Registers of an expression's entries."""
        return self.expressions(known, wanted)[0]

    def expressions(self, known: Known, *wanted: ca.SX) -> list[list[str]]:
        """Registers of the entries of expressions that share what they have in common."""
        if all(each.numel() == 0 for each in wanted):
            return [[] for _ in wanted]
        lines = Lines(f"{self.fresh('e')}.", known, wanted, self.width)
        self.lines += lines.lines
        self.declared |= lines.declared
        return [lines.registers(k) for k in range(len(wanted))]

    def pointers(self, *names: str) -> None:
        """Addresses out of the table, as registers of these names."""
        self.named |= set(names)
        for k, name in enumerate(names):
            self.put(f"%at_{name} = getelementptr ptr, ptr %table, i64 {k}")
            self.put(f"%{name} = load ptr, ptr %at_{name}, align 8")

    def row(self, array: str, size: int, k: str) -> str:
        """Where the k-th row of an array (rows, size, width) begins; k: a register."""
        return self.entry(array, self.new(f"mul i64 {k}, {size}"))

    def entry(self, array: str, entry: int | str) -> str:
        """Where an entry of an array stands."""
        return self.new(f"getelementptr {self.vector}, ptr {array}, i64 {entry}") if entry else array

    def loaded(self, array: str, size: int) -> list[str]:
        """Entries at an address."""
        found = []
        for entry in range(size):
            at = self.entry(array, entry)
            found.append(self.new(f"load {self.vector}, ptr {at}, align 8"))
        return found

    def stored(self, array: str, registers: Sequence[str]) -> None:
        """Entries to an address."""
        for entry, register in enumerate(registers):
            at = self.entry(array, entry)
            self.put(f"store {self.vector} {register}, ptr {at}, align 8")

    def all(self, bits: str) -> str:
        if self.width == 1:
            return bits
        name = f"@llvm.vector.reduce.and.v{self.width}i1"
        self.declared.add(f"declare i1 {name}({self.bits})")
        return self.new(f"call i1 {name}({self.bits} {bits})")

    def finite(self, registers: Sequence[str]) -> str:
        """Whether all of them are: their sum less itself is no number where one is not."""
        total = splat(0.0, self.width)
        for register in registers:
            total = self.new(f"fadd {self.vector} {total}, {register}")
        nothing = self.new(f"fsub {self.vector} {total}, {total}")
        return self.all(self.new(f"fcmp ord {self.vector} {nothing}, {nothing}"))


def module(functions: Sequence[Function], *more: str) -> str:
    """Text of functions, with further lines before them."""
    declared = set[str]().union(*(function.declared for function in functions))
    lines = [line for function in functions for line in (*function.constants, *function.lines)]
    return "\n".join([*more, *lines, *sorted(declared)]) + "\n"
