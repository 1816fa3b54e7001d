"""Eight numbers at once, in compiled code: columns of eight rows of an array, for what is done to every body alone.

They go through the processor's vector instructions, as many at a time as it takes. The formulas of `spatial` are as
good for them as for single numbers.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INDEX = ir.IntType(32)
_FLAGS = ("contract", "nsz", "arcp")
"""As of `spatial.OPTIONS`."""


class Simd(types.Type):  # type: ignore[misc] # numba has no types
    """Eight float64."""

    def __init__(self) -> None:
        super().__init__("simd")


simd = Simd()


@register_model(Simd)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Simd) -> None:
        super().__init__(manager, kind, _VECTOR)


def _shuffled(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INDEX, len(lanes)), lanes))


def _widened(builder: Any, value: Any) -> Any:
    """A number in all eight places."""
    if value.type == _VECTOR:
        return value
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, _INDEX(0))
    return _shuffled(builder, first, first, [0] * LANES)


def _between_simd(op: Callable[..., Any], instruction: str) -> None:
    @type_callable(op)
    def _(context: Any) -> Callable[[Any, Any], Any]:
        def typer(x: Any, y: Any) -> Any:
            return simd if simd in (x, y) and {x, y} <= {simd, types.float64} else None

        return typer

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, y = (_widened(builder, value) for value in args)
        return getattr(builder, instruction)(x, y, flags=_FLAGS)

    for pair in ((simd, simd), (simd, types.float64), (types.float64, simd)):
        lower_builtin(op, *pair)(lower)


for _op, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _between_simd(_op, _instruction)


def _place(context: Any, builder: Any, kind: Any, array: Any, *at: Any) -> Any:
    """Address of an element."""
    # Only what compiles needs these modules, not what loads kept machine code.
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    return cgutils.get_item_pointer(
        context, builder, kind, make_array(kind)(context, builder, array), list(at)
    )


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors as the columns of a square: neighbours change places, then pairs, then halves."""
    for span in (1, 2, 4):
        low = [k if not k & span else LANES + (k ^ span) for k in range(LANES)]
        high = [k ^ span if not k & span else LANES + k for k in range(LANES)]
        new = list(rows)
        for k in range(LANES):
            if not k & span:
                a, b = rows[k], rows[k | span]
                new[k], new[k | span] = _shuffled(builder, a, b, low), _shuffled(builder, a, b, high)
        rows = new
    return rows


@intrinsic
def eight(typing: Any, array: Any, at: Any) -> Any:
    """Entries at to at + 7 of an array of one dimension."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        begin = _place(context, builder, sig.args[0], args[0], args[1])
        return builder.load(builder.bitcast(begin, _VECTOR.as_pointer()), align=8)

    return simd(array, types.intp), lower


@intrinsic
def eight_of(typing: Any, array: Any, at: Any, i: Any) -> Any:
    """Entries of an array that are at places i to i + 7 of another."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = ir.Constant(_VECTOR, ir.Undefined)
        for k in range(LANES):
            place = builder.add(args[2], ir.Constant(args[2].type, k))
            entry = builder.load(_place(context, builder, sig.args[1], args[1], place))
            value = builder.load(_place(context, builder, sig.args[0], args[0], entry))
            found = builder.insert_element(found, value, _INDEX(k))
        return found

    return simd(array, at, types.intp), lower


@intrinsic
def eight_rows(typing: Any, array: Any, i: Any, j: Any) -> Any:
    """Columns j to j + 7 of rows i to i + 7 of an array, each column as one."""
    out = types.UniTuple(simd, LANES)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = []
        for k in range(LANES):
            row = builder.add(args[1], ir.Constant(args[1].type, k))
            begin = _place(context, builder, sig.args[0], args[0], row, args[2])
            rows.append(builder.load(builder.bitcast(begin, _VECTOR.as_pointer()), align=8))
        return context.make_tuple(builder, out, _transposed(builder, rows))

    return out(array, types.intp, types.intp), lower


@intrinsic
def column(typing: Any, array: Any, i: Any, j: Any) -> Any:
    """Column j of rows i to i + 7."""

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = ir.Constant(_VECTOR, ir.Undefined)
        for k in range(LANES):
            row = builder.add(args[1], ir.Constant(args[1].type, k))
            value = builder.load(_place(context, builder, sig.args[0], args[0], row, args[2]))
            found = builder.insert_element(found, value, _INDEX(k))
        return found

    return simd(array, types.intp, types.intp), lower


@intrinsic
def put_columns(typing: Any, array: Any, i: Any, j: Any, values: Any) -> Any:
    """Rows i to i + 7 of an array, from column j: one of the values a column, eight at most."""
    count = len(values)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        given = [builder.extract_value(args[3], k) for k in range(count)]
        given += [ir.Constant(_VECTOR, ir.Undefined)] * (LANES - count)
        for k, lanes in enumerate(_transposed(builder, given)):
            row = builder.add(args[1], ir.Constant(args[1].type, k))
            done = 0
            for size in (8, 4, 2, 1):
                if count - done >= size:
                    part = _shuffled(builder, lanes, lanes, list(range(done, done + size)))
                    column = builder.add(args[2], ir.Constant(args[2].type, done))
                    begin = _place(context, builder, sig.args[0], args[0], row, column)
                    kind = ir.VectorType(_DOUBLE, size).as_pointer()
                    builder.store(part, builder.bitcast(begin, kind), align=8)
                    done += size
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp, values), lower
