"""Conditions of generated code as selections: thousands of branches would take minutes to compile."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def where(typing_context: Any, condition: Any, value: Any) -> Any:
    """`value` where `condition` (a float) is not zero, else 0."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        zero = ir.Constant(ir.DoubleType(), 0.0)
        return builder.select(builder.fcmp_unordered("!=", args[0], zero), args[1], zero)

    return types.float64(types.float64, types.float64), generate
