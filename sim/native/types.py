"""Types of what machine code computes with, signatures as they are written beside functions, and the names of what only
machine code can do."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sim.platform.values import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or eight in a vector register."""

    name: str
    llvm: str
    """In registers."""
    stored: str
    """In arrays."""
    rank: int
    """Of two kinds the higher one can hold both."""
    dtype: str = ""
    """Of arrays, as numpy names it."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Registers that a value takes."""
        return (self.llvm,)

    @property
    def is_real(self) -> bool:
        return self.rank >= FLOAT32.rank

    def __getitem__(self, axes: Any) -> "Array":
        """As in `float64[:, ::1]`."""
        axes = axes if isinstance(axes, tuple) else (axes,)
        return Array(self, len(axes), axes[-1].step == 1)

    def __call__(self, *given: Any) -> "Signature":
        return Signature(self, given)


BOOL = Number("boolean", "i1", "i8", 0, "bool")
INT = Number("int64", "i64", "i64", 1, "int64")
INT32 = Number("int32", "i64", "i32", 1, "int32")
UINT8 = Number("uint8", "i64", "i8", 1, "uint8")
UINT = Number("uint64", "i64", "i64", 1, "uint64")
FLOAT32 = Number("float32", "float", "float", 2, "float32")
FLOAT = Number("float64", "double", "double", 3, "float64")
EIGHT = Number("simd", "<8 x double>", "<8 x double>", 4)
STORED = {np.dtype(kind.dtype): kind for kind in (BOOL, INT, INT32, UINT8, UINT, FLOAT32, FLOAT)}


@dataclass(frozen=True, slots=True)
class Array:
    """A view of numpy's: an address, lengths, and the distances between neighbours where these do not follow."""

    element: Number
    ndim: int
    contiguous: bool

    @property
    def parts(self) -> tuple[str, ...]:
        return ("ptr", *["i64"] * (self.ndim if self.contiguous else 2 * self.ndim))


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several values, with names where they have some."""

    items: tuple[Any, ...]
    names: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for item in self.items for part in item.parts)

    def __call__(self, *given: Any) -> "Signature":
        return Signature(self, given)


@dataclass(frozen=True, slots=True)
class Nothing:
    """What functions return that return nothing."""

    @property
    def parts(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where functions are translated, and has no value in registers: functions, modules, `None`."""

    value: Any

    @property
    def parts(self) -> tuple[str, ...]:
        return ()


NOTHING = Nothing()
Type = Number | Array | Tuple | Nothing | Known


@dataclass(frozen=True, slots=True)
class Signature:
    """Of a function that Python calls."""

    returns: Any
    takes: tuple[Any, ...]


_WRITTEN: dict[str, Any] = {
    **{kind.name: kind for kind in STORED.values()},
    "Tuple": lambda items: Tuple(tuple(items)),
    "UniTuple": lambda item, count: Tuple((item,) * count),
}


@lru_cache(maxsize=256)
def read_type(text: str) -> Any:
    """A type, as `Tuple((int64, float64[::1]))`, or the types taken; what is returned the function itself tells."""
    if text.startswith("void("):
        text = f"boolean({text[5:]}"
    return eval(text, {"__builtins__": {}}, _WRITTEN)  # a constant beside a function


def held(kind: Type) -> Type:
    """What a variable holds that is given such a value: whole numbers of all sizes are one kind, but for unsigned
    ones, whose products and shifts are others."""
    return INT if isinstance(kind, Number) and kind.rank == INT.rank and kind != UINT else kind


def common(a: Type, b: Type) -> Type | None:
    """What can hold either; None where nothing does."""
    if a == b:
        return a
    if isinstance(a, Number) and isinstance(b, Number):
        if EIGHT in (a, b):
            return None
        if {a.rank, b.rank} == {INT.rank, FLOAT32.rank}:
            return FLOAT
        return INT if a.rank == b.rank else a if a.rank > b.rank else b
    if isinstance(a, Array) and isinstance(b, Array) and (a.element, a.ndim) == (b.element, b.ndim):
        return Array(a.element, a.ndim, False)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = [common(x, y) for x, y in zip(a.items, b.items, strict=True)]
        if all(item is not None for item in items):
            return Tuple(tuple(items), a.names if a.names == b.names else ())
    return None


def holds_array(kind: Type) -> bool:
    """Whether there is an array in it."""
    return isinstance(kind, Array) or (isinstance(kind, Tuple) and any(map(holds_array, kind.items)))


def type_of(value: Any, annotation: Any = None) -> Type:
    """Of an argument. Raises TypeError for what machine code does not take."""
    if isinstance(value, np.ndarray):
        kind = STORED.get(value.dtype)
        if kind is not None:
            return Array(kind, value.ndim, bool(value.flags.c_contiguous))
    if isinstance(value, tuple):
        return Tuple(tuple(type_of(item) for item in value), getattr(value, "_fields", ()))
    for kind, names, number in _NUMBERS:
        if annotation in names or (annotation is None and isinstance(value, kind)):
            return number
    for kind, _, number in _NUMBERS:
        if isinstance(value, kind):
            return number
    raise TypeError(f"{type(value).__name__} is nothing that machine code takes")


_NUMBERS: Sequence[tuple[Any, tuple[Any, ...], Number]] = (
    ((bool, np.bool_), (bool, "bool"), BOOL),
    ((int, np.integer), (int, "int"), INT),
    ((np.float32,), (np.float32, "np.float32"), FLOAT32),
    ((float, np.floating), (float, "float"), FLOAT),
)

LANES = 8


class Operation:
    """A function that only machine code has (operations.py). Called from Python it raises TypeError."""

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = self.__qualname__ = name

    def __call__(self, *given: Any) -> Any:
        raise TypeError(f"{self.name} is an operation of machine code")


called = Operation("called")
"""What the code at an address returns for the address of a table and a whole number."""
numbers_at, counts_at = Operation("numbers_at"), Operation("counts_at")
"""An address as an array of numbers, or of whole ones, of these lengths."""
eight = Operation("eight")
"""(array, at): entries at to at + 7 of an array of one dimension."""
eight_of = Operation("eight_of")
"""(array, at, i): entries of an array that are at places i to i + 7 of another."""
eight_rows = Operation("eight_rows")
"""(array, i, j): columns j to j + 7 of rows i to i + 7 of an array, each column as one."""
column = Operation("column")
"""(array, i, j): column j of rows i to i + 7."""
put_columns = Operation("put_columns")
"""(array, i, j, values): rows i to i + 7 of an array, from column j: one of the values a column, eight at most."""
