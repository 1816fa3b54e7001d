"""Values in registers, and the instructions that numbers and arrays need."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sim.native.text import Text, splat
from sim.native.types import (
    BOOL,
    EIGHT,
    FLOAT,
    FLOAT32,
    INT,
    LANES,
    NOTHING,
    UINT,
    UINT8,
    Array,
    Known,
    Number,
    Tuple,
    Type,
)
from sim.platform.values import dataclass

_REAL = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_WHOLE = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "ashr"}
_BYTES = {"i8": 1, "i32": 4, "float": 4}
_COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class NotTranslated(TypeError):
    """What a function has no machine code for."""


@dataclass(frozen=True, slots=True)
class Value:
    """Of an expression: its type and the registers that hold it."""

    type: Type
    parts: tuple[str, ...] = ()
    known: Any = None
    """A number that is known where the function is translated."""
    counts: bool = False
    """A whole number that is not negative."""


NONE = Value(Known(None))


def number(x: Any) -> Value:
    """Of a constant."""
    if isinstance(x, bool | np.bool_):
        return Value(BOOL, ("true" if x else "false",), bool(x))
    if isinstance(x, int | np.integer):
        x = int(x)
        return Value(INT, (str(x if x < 1 << 63 else x - (1 << 64)),), x, x >= 0)
    kind = FLOAT32 if isinstance(x, np.float32) else FLOAT
    return Value(kind, (splat(float(x)),), float(x))


class Instructions(Text):
    """Of values."""

    def __init__(self, flags: str) -> None:
        """flags: of sums, products and quotients."""
        super().__init__()
        self.flags = flags

    # numbers

    def cast(self, value: Value, kind: Any) -> Value:
        """The same as another type. Raises NotTranslated where it cannot be."""
        if value.type == kind:
            return value
        if isinstance(kind, Tuple) and isinstance(value.type, Tuple):
            items = self.items(value)
            if len(items) == len(kind.items):
                return self.together(
                    [self.cast(x, k) for x, k in zip(items, kind.items, strict=True)], kind.names
                )
        if isinstance(kind, Array) and isinstance(value.type, Array) and not kind.contiguous:
            return Value(
                kind, (value.parts[0], *self.lengths(value), *(s.parts[0] for s in self.strides(value)))
            )
        if not (isinstance(kind, Number) and isinstance(value.type, Number)):
            raise NotTranslated(f"{told(value.type)} is no {told(kind)}")
        if value.known is not None and kind != EIGHT:
            if kind == FLOAT32:
                return number(np.float32(value.known))
            python: Any = bool if kind == BOOL else int if kind.rank == 1 else float
            return replace(number(python(value.known)), type=kind)
        (x,), come = value.parts, value.type
        if kind == EIGHT:
            return Value(EIGHT, (self.spread(self.cast(value, FLOAT).parts[0], LANES),))
        if kind.rank == come.rank:
            return Value(kind, (x,), counts=value.counts or come in (UINT, UINT8))
        if kind == BOOL:
            return self.truth(value)
        if kind.rank == 1:
            word = "zext i1" if come == BOOL else f"fptosi {come.llvm}"
            return Value(kind, (self.new(f"{word} {x} to i64"),), counts=come == BOOL)
        if come.is_real:
            word = "fpext" if kind.rank > come.rank else "fptrunc"
        else:
            word = "uitofp" if come in (BOOL, UINT) else "sitofp"
        return Value(kind, (self.new(f"{word} {come.llvm} {x} to {kind.llvm}"),))

    def truth(self, value: Value) -> Value:
        """Whether a value counts as true."""
        if isinstance(value.type, Known):
            return number(bool(value.type.value))
        if value.type == BOOL:
            return value
        return self.compare("!=", value, number(0))

    def compare(self, op: str, a: Value, b: Value) -> Value:
        """Whether two numbers compare so."""
        kind = self._kind(a, b)
        if a.known is not None and b.known is not None:
            return number(_PYTHON[op](a.known, b.known))
        x, y = self.cast(a, kind).parts[0], self.cast(b, kind).parts[0]
        word = _COMPARED[op]
        if kind.is_real:
            word = f"{'u' if op == '!=' else 'o'}{word}"
            return Value(BOOL, (self.new(f"fcmp{self.flags} {word} {kind.llvm} {x}, {y}"),))
        word = word if op in ("==", "!=") else f"{'u' if kind in (BOOL, UINT) else 's'}{word}"
        return Value(BOOL, (self.new(f"icmp {word} {kind.llvm} {x}, {y}"),))

    def _kind(self, a: Value, b: Value) -> Number:
        if not (isinstance(a.type, Number) and isinstance(b.type, Number)):
            raise NotTranslated(f"numbers are wanted, not {told(a.type)} and {told(b.type)}")
        if {a.type.rank, b.type.rank} == {1, 2}:
            return FLOAT
        if UINT in (a.type, b.type) and all(x.type == UINT or (x.type == INT and x.counts) for x in (a, b)):
            return UINT
        kind = a.type if a.type.rank >= b.type.rank else b.type
        return INT if kind.rank == 1 else kind

    def arithmetic(self, op: str, a: Value, b: Value) -> Value:
        """Of two numbers, as Python has it."""
        kind = self._kind(a, b)
        if a.known is not None and b.known is not None and kind not in (FLOAT32, UINT):
            return number(_PYTHON[op](a.known, b.known))
        if op == "**":
            return self._power(a, b)
        if kind.rank <= 1:
            if op == "/":
                kind = FLOAT
            else:
                return self._whole(op, self.cast(a, kind), self.cast(b, kind), kind)
        x, y = self.cast(a, kind), self.cast(b, kind)
        if op in _REAL:
            return Value(
                kind,
                (self.new(f"{_REAL[op]}{self.flags} {kind.llvm} {x.parts[0]}, {y.parts[0]}"),),
            )
        if op == "//":
            return self.function("floor", self.arithmetic("/", x, y))
        raise NotTranslated(f"{op} of such numbers has no machine code")

    def _whole(self, op: str, a: Value, b: Value, kind: Number) -> Value:
        x, y = a.parts[0], b.parts[0]
        if kind == UINT:
            word = {">>": "lshr", "//": "udiv", "%": "urem"}.get(op) or _WHOLE[op]
            return Value(UINT, (self.new(f"{word} i64 {x}, {y}"),))
        counts = a.counts and b.counts
        if op in _WHOLE:
            keeps = op in ("+", "*", "&", ">>") and counts
            return Value(INT, (self.new(f"{_WHOLE[op]} i64 {x}, {y}"),), counts=keeps)
        if op not in ("//", "%"):
            raise NotTranslated(f"{op} of whole numbers has no machine code")
        word = "sdiv" if op == "//" else "srem"
        found = self.new(f"{word} i64 {x}, {y}")
        if counts:
            return Value(INT, (found,), counts=True)
        rest = found if op == "%" else self.new(f"srem i64 {x}, {y}")
        signs = self.new(f"icmp slt i64 {self.new(f'xor i64 {rest}, {y}')}, 0")
        off = self.new(f"and i1 {signs}, {self.new(f'icmp ne i64 {rest}, 0')}")
        moved = self.new(f"{'add' if op == '%' else 'sub'} i64 {found}, {y if op == '%' else '1'}")
        return Value(
            INT, (self.new(f"select i1 {off}, i64 {moved}, i64 {found}"),), counts=op == "%" and b.counts
        )

    def _power(self, a: Value, b: Value) -> Value:
        if isinstance(b.known, int) and abs(b.known) < 64:
            left, square, out = abs(b.known), a, number(1.0 if a.type.is_real else 1)  # type: ignore[union-attr]
            first = True
            while left:
                if left & 1:
                    out, first = (square if first else self.arithmetic("*", out, square)), False
                left >>= 1
                if left:
                    square = self.arithmetic("*", square, square)
            return out if b.known >= 0 else self.arithmetic("/", number(1.0), out)
        if a.known == 2 and a.type == INT and b.type == INT:
            return Value(INT, (self.new(f"shl i64 1, {b.parts[0]}"),), counts=True)
        return self.function("pow", a, b)

    def negative(self, a: Value) -> Value:
        if a.known is not None:
            found = number(-a.known)
            return replace(found, type=a.type) if a.type == FLOAT32 else found
        if isinstance(a.type, Number) and a.type.rank <= 1:
            return self.arithmetic("-", number(0), a)
        return Value(a.type, (self.new(f"fneg{self.flags} {a.type.parts[0]} {a.parts[0]}"),))

    def negation(self, a: Value) -> Value:
        x = self.truth(a)
        return (
            number(not x.known)
            if x.known is not None
            else Value(BOOL, (self.new(f"xor i1 {x.parts[0]}, true"),))
        )

    def both(self, a: Value, b: Value, word: str = "and") -> Value:
        """Of two that are either true or false."""
        for x, y in ((a, b), (b, a)):
            if x.known is not None:
                return y if bool(x.known) == (word == "and") else x
        return Value(BOOL, (self.new(f"{word} i1 {a.parts[0]}, {b.parts[0]}"),))

    def function(self, name: str, *given: Value) -> Value:
        """One of LLVM's of numbers, of the widest kind of those that are given."""
        kinds = {x.type for x in given}
        kind = EIGHT if EIGHT in kinds else FLOAT32 if kinds == {FLOAT32} else FLOAT
        parts = (self.cast(x, kind).parts[0] for x in given)
        return Value(kind, (self.intrinsic(name, kind.llvm, *parts, flags=self.flags),))

    def library(self, name: str, *given: Value) -> Value:
        """Of C's mathematics."""
        parts = (self.cast(x, FLOAT).parts[0] for x in given)
        return Value(FLOAT, (self.outside(name, "double", *parts, flags=self.flags),))

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """Of two numbers that are both there."""
        kind = self._kind(a, b) if a.type != b.type else a.type
        if condition.known is not None:
            return self.cast(a if condition.known else b, kind)
        x, y = self.cast(a, kind), self.cast(b, kind)
        llvm = kind.parts[0]
        flags = self.flags if kind.is_real else ""  # type: ignore[union-attr]
        text = f"select{flags} i1 {condition.parts[0]}, {llvm} {x.parts[0]}, {llvm} {y.parts[0]}"
        return Value(kind, (self.new(text),), counts=a.counts and b.counts)

    # tuples and arrays

    def items(self, value: Value) -> list[Value]:
        """Of a tuple."""
        if not isinstance(value.type, Tuple):
            raise NotTranslated(f"{told(value.type)} is no tuple")
        out, at = [], 0
        for k, kind in enumerate(value.type.items):
            size = len(kind.parts)
            own = value.known[k] if value.known is not None else None
            out.append(
                replace(own, type=kind) if own is not None else Value(kind, value.parts[at : at + size])
            )
            at += size
        return out

    def together(self, items: list[Value], names: tuple[str, ...] = ()) -> Value:
        """Of values, which it remembers as they are."""
        kind = Tuple(tuple(x.type for x in items), names)
        return Value(kind, tuple(part for x in items for part in x.parts), tuple(items))

    def lengths(self, array: Value) -> tuple[str, ...]:
        kind = _array(array)
        return array.parts[1 : 1 + kind.ndim]

    def length(self, array: Value, axis: int) -> Value:
        text = self.lengths(array)[axis]
        return number(int(text)) if text.isdecimal() else Value(INT, (text,), counts=True)

    def strides(self, array: Value) -> list[Value]:
        """Entries from one to the next, along each axis."""
        kind = _array(array)
        if not kind.contiguous:
            return [
                Value(INT, (s,)) if not s.isdecimal() else number(int(s))
                for s in array.parts[1 + kind.ndim :]
            ]
        out = [number(1)]
        for axis in range(kind.ndim - 1, 0, -1):
            out.insert(0, self.arithmetic("*", out[0], self.length(array, axis)))
        return out

    def index(self, value: Value) -> Value:
        """A whole number. Raises NotTranslated for a real one."""
        if not isinstance(value.type, Number) or value.type.rank > INT.rank:
            raise NotTranslated(f"an index is {told(value.type)}: is its name one of a real number, too?")
        return self.cast(value, INT)

    def _within(self, index: Value, length: Value) -> Value:
        """Negative ones count from the end."""
        if index.known is not None:
            return index if index.known >= 0 else self.arithmetic("+", length, index)
        if index.counts:
            return index
        ahead = self.arithmetic("+", index, length)
        return self.chosen(self.compare("<", index, number(0)), ahead, index)

    def _bound(self, value: Value | None, usual: Value, low: Value, high: Value) -> Value:
        """Of a slice."""
        if value is None:
            return usual
        value = self._within(self.index(value), high)
        if low.known != 0 or not value.counts:
            value = self.chosen(self.compare("<", value, low), low, value)
        return self.chosen(self.compare(">", value, high), high, value)

    def view(self, array: Value, at: list[Any]) -> Value:
        """What `array[at]` is, as a view; at: whole numbers, or (begin, end) with None where there is none."""
        kind = _array(array)
        at = at + [(None, None)] * (kind.ndim - len(at))
        strides, lengths, kept = self.strides(array), list[Value](), list[Value]()
        offset = number(0)
        for axis, index in enumerate(at):
            length = self.length(array, axis)
            if isinstance(index, tuple):
                begin = self._bound(index[0], number(0), number(0), length)
                end = self._bound(index[1], length, begin, length)
                lengths.append(self.arithmetic("-", end, begin) if begin.known != 0 else end)
                kept.append(strides[axis])
                index = begin
            else:
                index = self._within(self.index(index), length)
            offset = self.arithmetic("+", offset, self.arithmetic("*", index, strides[axis]))
        whole = next((k for k, i in enumerate(at) if i == (None, None)), len(at))
        first_slice = next((k for k, i in enumerate(at) if isinstance(i, tuple)), len(at))
        follows = (
            kind.contiguous
            and whole <= first_slice + 1
            and all(i == (None, None) for i in at[first_slice + 1 :])
        )
        address = self.new(
            f"getelementptr inbounds {kind.element.stored}, ptr {array.parts[0]}, i64 {offset.parts[0]}"
        )
        if not lengths:
            return Value(Array(kind.element, 0, True), (address,))
        view = Array(kind.element, len(lengths), follows)
        more = () if follows else tuple(s.parts[0] for s in kept)
        return Value(view, (address, *(x.parts[0] for x in lengths), *more))

    def loaded(self, place: Value) -> Value:
        """The number at a view without axes."""
        kind = _array(place).element
        return self.read(place.parts[0], kind)

    def read(self, address: str, kind: Number) -> Value:
        """A number from an array."""
        size = _BYTES.get(kind.stored, 8)
        x = self.new(f"load {kind.stored}, ptr {address}, align {size}")
        if kind == BOOL:
            return Value(BOOL, (self.new(f"trunc i8 {x} to i1"),))
        if kind.stored != kind.llvm:
            word = "zext" if kind == UINT8 else "sext"
            return Value(INT, (self.new(f"{word} {kind.stored} {x} to i64"),), counts=kind == UINT8)
        return Value(kind, (x,))

    def write(self, address: str, kind: Number, value: Value) -> None:
        """A number into an array."""
        x, size = self.cast(value, kind).parts[0], _BYTES.get(kind.stored, 8)
        if kind == BOOL:
            x = self.new(f"zext i1 {x} to i8")
        elif kind.stored != kind.llvm:
            x = self.new(f"trunc i64 {x} to {kind.stored}")
        self.put(f"store {kind.stored} {x}, ptr {address}, align {size}")


def known(x: Any) -> Value:
    """Of what is known: numbers as constants, all else as it is."""
    if isinstance(x, bool | int | float | np.bool_ | np.integer | np.floating):
        return number(x)
    return Value(Known(x))


def _array(value: Value) -> Array:
    if not isinstance(value.type, Array):
        raise NotTranslated(f"{told(value.type)} is no array")
    return value.type


def told(kind: Any) -> str:
    """For people."""
    if isinstance(kind, Number):
        return str(kind.name)
    if isinstance(kind, Array):
        return f"{kind.ndim}-dimensional array of {kind.element.name}"
    return repr(kind.value) if isinstance(kind, Known) else type(kind).__name__.lower()


def _divided(a: Any, b: Any) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return float(a / b)


_PYTHON: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
EMPTY = Value(NOTHING)
