"""An expression as LLVM's instructions on vector registers, or on numbers: one pass over columns side by side."""

import struct
from dataclasses import dataclass

import casadi as ca

WIDTH = 4
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


@dataclass(frozen=True)
class Repeated:
    """A function (..., z, ...) -> (z, change), carried out again and again."""

    argument: int
    """Which input z is: it is overwritten."""
    below: float
    """Until the changes (1,) of columns that stand side by side are below this, or not a number."""
    most: int
    """Times."""


@dataclass(frozen=True)
class Along:
    """A function that is linear in one of its inputs, for every column of the others along each unit vector."""

    argument: int
    """Which input that is: it is given as the identity."""


class Body:
    """The loop's instructions."""

    flags = " contract"
    """Of sums and products: which of them may be rounded as one, as the processor has it."""

    def __init__(
        self,
        function: ca.Function,
        shared: frozenset[int],
        repeated: Repeated | None,
        *,
        prefix: str = "v",
        width: int = WIDTH,
        along: Along | None = None,
    ) -> None:
        """prefix: of the registers' names. width: how many numbers stand side by side; 1: registers are numbers."""
        self._prefix, self._width = prefix, width
        self._vector, self._bits = register_types(width)
        self._zero = "0.0" if width == 1 else "zeroinitializer"
        self.lines: list[str] = []
        self.results: dict[int, dict[int, str]] = {0: {}, 1: {}}
        """Outputs of a repeated function, which are stored only when all inputs have been read."""
        self.declarations: set[str] = set()
        self._count = 0
        self._f, self._shared = function, shared
        self._starts: dict[str, list[str]] = {}
        self._read: dict[tuple[int, int], str] = {}
        self._work: dict[int, str] = {}
        self._reciprocals: dict[str, str] = {}
        self._truths: dict[str, str] = {}
        """Registers of numbers that are 1 where a condition holds, else 0 -> of the conditions."""
        self._repeated, self._along = repeated, along
        for k in range(function.n_instructions()):
            self._instruction(k)
        if repeated is not None:
            for entry, vector in self.results[0].items():
                self._store(f"in{repeated.argument}", function.size1_in(repeated.argument), entry, vector)

    def _instruction(self, k: int) -> None:
        f, work = self._f, self._work
        op, into, out = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_INPUT:
            place = into[0], into[1]
            if place not in self._read:
                self._read[place] = self._load(*place)
            work[out[0]] = self._read[place]
        elif op == ca.OP_OUTPUT:
            if self._repeated is None:
                self._store(f"out{out[0]}", f.size1_out(out[0]), out[1], work[into[0]])
            else:
                self.results[out[0]][out[1]] = work[into[0]]
        elif op == ca.OP_CONST:
            work[out[0]] = self._splat(float(f.instruction_constant(k)))
        else:
            operands = [work[i] for i in (into if op in _BINARY else into[:1])]
            work[out[0]] = self._operation(op, operands)

    def _new(self, text: str) -> str:
        self._count += 1
        name = f"%{self._prefix}{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _start(self, array: str, size: int) -> list[str]:
        """Where the columns of this pass start in an array."""
        if array not in self._starts:
            which = self._counter(array)
            offsets = [self._new(f"mul i64 %{which}{lane}, {size}") for lane in range(self._width)]
            self._starts[array] = [
                self._new(f"getelementptr double, ptr %{array}, i64 {offset}") for offset in offsets
            ]
        return self._starts[array]

    def _counter(self, array: str) -> str:
        """What counts the columns of an array."""
        if self._along is None or array.startswith("out"):
            return "c"
        return "direction" if array == f"in{self._along.argument}" else "column"

    def _load(self, argument: int, entry: int) -> str:
        array = f"in{argument}"
        if argument in self._shared:
            at = self._new(f"getelementptr double, ptr %{array}, i64 {entry}")
            one = self._new(f"load double, ptr {at}, align 8")
            first = self._new(f"insertelement {self._vector} poison, double {one}, i32 0")
            zeros = f"<{self._width} x i32> zeroinitializer"
            return self._new(f"shufflevector {self._vector} {first}, {self._vector} poison, {zeros}")
        vector = "poison"
        for lane, start in enumerate(self._start(array, self._f.size1_in(argument))):
            at = self._new(f"getelementptr double, ptr {start}, i64 {entry}")
            one = self._new(f"load double, ptr {at}, align 8")
            vector = self._new(f"insertelement {self._vector} {vector}, double {one}, i32 {lane}")
        return vector

    def _store(self, array: str, size: int, entry: int, vector: str) -> None:
        for lane, start in enumerate(self._start(array, size)):
            at = self._new(f"getelementptr double, ptr {start}, i64 {entry}")
            one = self._new(f"extractelement {self._vector} {vector}, i32 {lane}")
            self.lines.append(f"  store double {one}, ptr {at}, align 8")

    def _operation(self, op: int, x: list[str]) -> str:
        if op == ca.OP_DIV and x[1].startswith("%"):
            return self._quotient(*x)
        if op in _ARITHMETIC:
            return self._new(f"{_ARITHMETIC[op]}{self.flags} {self._vector} {x[0]}, {x[1]}")
        if op in _COMPARED:
            return self._number(self._new(f"fcmp {_COMPARED[op]} {self._vector} {x[0]}, {x[1]}"))
        if op in _INTRINSIC:
            return self._intrinsic(_INTRINSIC[op], x)
        if op in _LIBRARY:
            return self._library(_LIBRARY[op], x)
        return self._composed(op, x)

    def _quotient(self, x: str, divisor: str) -> str:
        """A product with the reciprocal, which all share that divide by the same number."""
        one = self._splat(1.0)
        if divisor not in self._reciprocals:
            self._reciprocals[divisor] = self._new(f"fdiv{self.flags} {self._vector} {one}, {divisor}")
        shared = self._reciprocals[divisor]
        return shared if x == one else self._operation(ca.OP_MUL, [x, shared])

    def _composed(self, op: int, x: list[str]) -> str:
        """Operations of more than one instruction."""
        if op == ca.OP_ASSIGN:
            return x[0]
        if op == ca.OP_NEG:
            return self._new(f"fneg {self._vector} {x[0]}")
        if op == ca.OP_SQ:
            return self._operation(ca.OP_MUL, [x[0], x[0]])
        if op == ca.OP_TWICE:
            return self._operation(ca.OP_ADD, [x[0], x[0]])
        if op == ca.OP_INV:
            return self._operation(ca.OP_DIV, [self._splat(1.0), x[0]])
        if op in _CHOSEN:
            second = self._new(f"fcmp {_CHOSEN[op]} {self._vector} {x[1]}, {x[0]}")
            return self._new(f"select {self._bits} {second}, {self._vector} {x[1]}, {self._vector} {x[0]}")
        if op == ca.OP_NOT:
            return self._operation(ca.OP_EQ, [x[0], self._splat(0.0)])
        if op in (ca.OP_AND, ca.OP_OR):
            word = "and" if op == ca.OP_AND else "or"
            return self._number(self._new(f"{word} {self._bits} {self._true(x[0])}, {self._true(x[1])}"))
        if op == ca.OP_IF_ELSE_ZERO:
            return self._or_zero(x[0], x[1])
        if op == ca.OP_SIGN:
            return self._or_zero(x[0], self._intrinsic("copysign", [self._splat(1.0), x[0]]))
        name = next((n[3:].lower() for n in dir(ca) if n.startswith("OP_") and getattr(ca, n) == op), str(op))
        raise TypeError(f"the operation {name!r} of a symbolic expression has no compiled form")

    def _or_zero(self, condition: str, value: str) -> str:
        true = self._true(condition)
        return self._new(f"select {self._bits} {true}, {self._vector} {value}, {self._vector} {self._zero}")

    def _true(self, x: str) -> str:
        """Of a condition itself, not of the number that stands for it."""
        return self._truths.get(x) or self._new(f"fcmp une {self._vector} {x}, {self._zero}")

    def _number(self, bits: str) -> str:
        number = self._new(f"uitofp {self._bits} {bits} to {self._vector}")
        self._truths[number] = bits
        return number

    def _intrinsic(self, name: str, x: list[str]) -> str:
        full = f"@llvm.{name}.{type_suffix(self._width)}"
        self.declarations.add(f"declare {self._vector} {full}({', '.join([self._vector] * len(x))})")
        return self._new(f"call {self._vector} {full}({', '.join(f'{self._vector} {a}' for a in x)})")

    def _library(self, name: str, x: list[str]) -> str:
        self.declarations.add(f"declare double @{name}({', '.join(['double'] * len(x))})")
        if self._width == 1:
            return self._new(f"call double @{name}({', '.join(f'double {a}' for a in x)})")
        vector = "poison"
        for lane in range(self._width):
            ones = [self._new(f"extractelement {self._vector} {a}, i32 {lane}") for a in x]
            one = self._new(f"call double @{name}({', '.join(f'double {a}' for a in ones)})")
            vector = self._new(f"insertelement {self._vector} {vector}, double {one}, i32 {lane}")
        return vector

    def _splat(self, x: float) -> str:
        return splat(x, self._width)


def register_types(width: int) -> tuple[str, str]:
    """Of registers of so many numbers, and of as many truth values; one number stands alone."""
    return ("double", "i1") if width == 1 else (f"<{width} x double>", f"<{width} x i1>")


def type_suffix(width: int) -> str:
    """Of an intrinsic function of such registers."""
    return "f64" if width == 1 else f"v{width}f64"


def splat(x: float, width: int = WIDTH) -> str:
    """A vector of equal numbers; of one, the number."""
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    if width == 1:
        return f"0x{bits:016X}"
    return "<" + ", ".join([f"double 0x{bits:016X}"] * width) + ">"
