"""What functions of Python and numpy, and operations that only machine code has, are in LLVM's text."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sim.native.expressions import HANDLERS, Expressions
from sim.native.types import (
    BOOL,
    EIGHT,
    FLOAT,
    FLOAT32,
    INT,
    LANES,
    UINT,
    Array,
    Number,
    Tuple,
    called,
    column,
    counts_at,
    eight,
    eight_of,
    eight_rows,
    numbers_at,
    put_columns,
)
from sim.native.values import EMPTY, NotTranslated, Value, number


def _intrinsic(name: str) -> Any:
    return lambda body, given: body.function(name, *given)


def _library(name: str) -> Any:
    return lambda body, given: body.library(name, *given)


def _whole(name: str) -> Any:
    return lambda body, given: body.cast(body.function(name, *given), INT)


def _absolute(body: Expressions, given: list[Value]) -> Value:
    (x,) = given
    if x.known is not None:
        return number(abs(x.known))
    if isinstance(x.type, Number) and x.type.rank <= 1:
        x = body.cast(x, INT)
        found = body.chosen(body.compare("<", x, number(0)), body.negative(x), x)
        return Value(INT, found.parts, counts=True)
    return body.function("fabs", x)


def _extreme(op: str) -> Any:
    def handler(body: Expressions, given: list[Value]) -> Value:
        items = body.items(given[0]) if len(given) == 1 else given
        out = items[0]
        for x in items[1:]:
            if out.known is not None and x.known is not None:
                out = x if (x.known < out.known if op == "<" else x.known > out.known) else out
                continue
            kind = INT if out.type == x.type == INT else FLOAT
            if out.type != x.type or out.type == BOOL:
                out, x = body.cast(out, kind), body.cast(x, kind)
            counts = (out.counts or x.counts) if op == ">" else out.counts and x.counts
            found = body.chosen(body.compare(op, x, out), x, out)
            out = Value(found.type, found.parts, found.known, counts)
        return out

    return handler


def _length(body: Expressions, given: list[Value]) -> Value:
    if isinstance(given[0].type, Array):
        return body.length(given[0], 0)
    return number(len(body.items(given[0])))


def _full(body: Expressions, given: list[Value]) -> Value:
    shape, value = given
    assert isinstance(value.type, Number)
    kind = INT if value.type.rank == INT.rank else value.type
    array = body.array_of(body.shape(shape), kind)
    body.fill(array, value)
    return array


def _like(body: Expressions, given: list[Value]) -> Value:
    (array,) = given
    assert isinstance(array.type, Array)
    return body.array_of([body.length(array, k) for k in range(array.type.ndim)], array.type.element)


def _copied(body: Expressions, given: list[Value]) -> Value:
    array = _like(body, given)
    body.fill(array, given[0])
    return array


def _reshaped(body: Expressions, given: list[Value]) -> Value:
    """A view of the same entries under other lengths; one of them may be -1, for what is left."""
    array, *lengths = given
    kind = array.type
    assert isinstance(kind, Array)
    if not kind.contiguous:
        raise NotTranslated("an array with gaps has no other shape")
    left = body.entries(array)
    for length in lengths:
        if length.known != -1:
            left = body.arithmetic("//", left, replace(body.index(length), counts=True))
    told = [left if length.known == -1 else body.index(length) for length in lengths]
    return Value(Array(kind.element, len(told), True), (array.parts[0], *(x.parts[0] for x in told)))


def _int32(body: Expressions, given: list[Value]) -> Value:
    """A real one's is found in as few digits, which processors have for several at once."""
    (x,) = given
    if x.known is not None or x.type.rank <= INT.rank:  # type: ignore[union-attr]
        return body.cast(x, INT)
    short = body.new(f"fptosi {x.type.parts[0]} {x.parts[0]} to i32")
    return Value(INT, (body.new(f"sext i32 {short} to i64"),))


def _below_infinity(body: Expressions, given: list[Value]) -> Value:
    return body.compare("<", body.function("fabs", *given), number(math.inf))


def _infinite(body: Expressions, given: list[Value]) -> Value:
    return body.compare("==", body.function("fabs", *given), number(math.inf))


def _no_number(body: Expressions, given: list[Value]) -> Value:
    return body.compare("!=", given[0], given[0])


_NAMED: dict[Any, Any] = {
    abs: _absolute,
    min: _extreme("<"),
    max: _extreme(">"),
    len: _length,
    int: lambda body, given: body.cast(given[0], INT),
    float: lambda body, given: body.cast(given[0], FLOAT),
    bool: lambda body, given: body.truth(given[0]),
    np.float32: lambda body, given: body.cast(given[0], FLOAT32),
    np.uint64: lambda body, given: body.cast(given[0], UINT),
    np.int32: _int32,
    math.hypot: _library("hypot"),
    math.pow: _intrinsic("pow"),
    math.lgamma: _library("lgamma"),
    math.copysign: _intrinsic("copysign"),
    np.hypot: _library("hypot"),
    np.full: _full,
    np.empty_like: _like,
    np.ndarray.copy: _copied,
    np.ndarray.reshape: _reshaped,
    np.ndarray.ravel: lambda body, given: _reshaped(body, [*given, number(-1)]),
    np.round: _intrinsic("rint"),
    math.floor: _whole("floor"),
    math.ceil: _whole("ceil"),
    np.floor: _intrinsic("floor"),
    np.ceil: _intrinsic("ceil"),
    np.sqrt: _intrinsic("sqrt"),
    math.sqrt: _intrinsic("sqrt"),
    np.abs: _absolute,
    math.atan2: _library("atan2"),
    np.arctan2: _library("atan2"),
    **{f: _intrinsic(f.__name__) for f in (math.sin, math.cos, math.exp, math.log, np.sin, np.cos, np.exp, np.log)},
    **{f: _library(f.__name__) for f in (math.tan, math.asin, math.acos, math.atan, math.tanh, np.tan)},
    **dict.fromkeys((math.isfinite, np.isfinite), _below_infinity),
    **dict.fromkeys((math.isinf, np.isinf), _infinite),
    **dict.fromkeys((math.isnan, np.isnan), _no_number),
}  # fmt: skip
HANDLERS |= _NAMED


def _called(body: Expressions, given: list[Value]) -> Value:
    code, *numbers = (body.cast(x, INT).parts[0] for x in given)
    address = body.new(f"inttoptr i64 {code} to ptr")
    taken = ", ".join(f"i64 {x}" for x in numbers)
    return Value(INT, (body.new(f"call i64 {address}({taken})"),))


def _array_at(kind: Number) -> Any:
    def handler(body: Expressions, given: list[Value]) -> Value:
        address, *lengths = (body.cast(x, INT).parts[0] for x in given)
        return Value(Array(kind, len(lengths), True), (body.new(f"inttoptr i64 {address} to ptr"), *lengths))

    return handler


# Eight numbers at once: columns of eight rows of an array.


def _place(body: Expressions, array: Value, *at: Value) -> str:
    """Address of an entry."""
    kind = array.type
    assert isinstance(kind, Array)
    offset = number(0)
    for index, stride in zip(at, body.strides(array), strict=True):
        offset = body.arithmetic("+", offset, body.arithmetic("*", body.index(index), stride))
    return body.new(
        f"getelementptr inbounds {kind.element.stored}, ptr {array.parts[0]}, i64 {offset.parts[0]}"
    )


def _shuffled(body: Expressions, a: str, b: str, lanes: list[int]) -> str:
    told = ", ".join(f"i32 {k}" for k in lanes)
    return body.new(f"shufflevector <8 x double> {a}, <8 x double> {b}, <{len(lanes)} x i32> <{told}>")


def _transposed(body: Expressions, rows: list[str]) -> list[str]:
    """Eight vectors as the columns of a square: neighbours change places, then pairs, then halves."""
    for span in (1, 2, 4):
        low = [k if not k & span else LANES + (k ^ span) for k in range(LANES)]
        high = [k ^ span if not k & span else LANES + k for k in range(LANES)]
        new = list(rows)
        for k in range(LANES):
            if not k & span:
                a, b = rows[k], rows[k | span]
                new[k], new[k | span] = _shuffled(body, a, b, low), _shuffled(body, a, b, high)
        rows = new
    return rows


def _row_from(body: Expressions, array: Value, *at: Value) -> str:
    return body.new(f"load <8 x double>, ptr {_place(body, array, *at)}, align 8")


def _after(body: Expressions, at: Value, k: int) -> Value:
    return body.arithmetic("+", body.index(at), number(k))


def _inserted(body: Expressions, entries: list[str]) -> Value:
    found = "undef"
    for k, entry in enumerate(entries):
        found = body.new(f"insertelement <8 x double> {found}, double {entry}, i32 {k}")
    return Value(EIGHT, (found,))


def _eight(body: Expressions, given: list[Value]) -> Value:
    return Value(EIGHT, (_row_from(body, *given),))


def _eight_of(body: Expressions, given: list[Value]) -> Value:
    array, at, i = given
    places = [body.view(at, [_after(body, i, k)]) for k in range(LANES)]
    entries = [body.read(_place(body, array, body.loaded(p)), FLOAT).parts[0] for p in places]
    return _inserted(body, entries)


def _eight_rows(body: Expressions, given: list[Value]) -> Value:
    array, i, j = given
    rows = [_row_from(body, array, _after(body, i, k), j) for k in range(LANES)]
    return body.together([Value(EIGHT, (x,)) for x in _transposed(body, rows)])


def _column(body: Expressions, given: list[Value]) -> Value:
    array, i, j = given
    places = [_place(body, array, _after(body, i, k), j) for k in range(LANES)]
    return _inserted(body, [body.read(place, FLOAT).parts[0] for place in places])


def _put_columns(body: Expressions, given: list[Value]) -> Value:
    array, i, j, values = given
    if not isinstance(values.type, Tuple) or len(values.type.items) > LANES:
        raise NotTranslated("eight columns are put at most")
    rows = [body.cast(x, EIGHT).parts[0] for x in body.items(values)]
    count = len(rows)
    for k, lanes in enumerate(_transposed(body, rows + ["undef"] * (LANES - count))):
        done = 0
        for size in (8, 4, 2, 1):
            if count - done >= size:
                part = _shuffled(body, lanes, "undef", list(range(done, done + size)))
                place = _place(body, array, _after(body, i, k), _after(body, j, done))
                body.put(f"store <{size} x double> {part}, ptr {place}, align 8")
                done += size
    return EMPTY


HANDLERS |= {
    called: _called,
    numbers_at: _array_at(FLOAT),
    counts_at: _array_at(INT),
    eight: _eight,
    eight_of: _eight_of,
    eight_rows: _eight_rows,
    column: _column,
    put_columns: _put_columns,
}
