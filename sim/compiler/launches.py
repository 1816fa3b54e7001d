"""Kernels of columns with the arrays that they work on, run in turn by one call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sim.compiled import compiled
from sim.compiler.columns import ColumnKernel, table

Launch = tuple[ColumnKernel, int, Sequence[np.ndarray], Sequence[np.ndarray]]
"""(kernel, columns, inputs, outputs)."""


class Launches:
    """Kernels to be run again and again on the same arrays."""

    def __init__(self, *launches: Launch) -> None:
        self._kept = [(kernel, table(given, out), given, out) for kernel, _, given, out in launches]
        rows = [
            (kernel.address, addresses.ctypes.data, launch[1])
            for (kernel, addresses, _, _), launch in zip(self._kept, launches, strict=True)
        ]
        self._table = np.array(rows, np.int64).reshape(-1, 3)

    def __call__(self) -> None:
        _launched(self._table)


@intrinsic
def _called(typing_context: Any, address: Any, arrays: Any, count: Any) -> Any:
    """Run the machine code of a kernel."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        number = ir.IntType(64)
        kernel = ir.FunctionType(ir.VoidType(), [number, number])
        builder.call(builder.inttoptr(args[0], kernel.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@compiled()
def _launched(table: np.ndarray) -> None:
    """Run kernels in turn: rows of (machine code, its table of arrays, columns)."""
    for i in range(table.shape[0]):
        # Numba gives the typing context, which the annotations of an intrinsic count in.
        _called(table[i, 0], table[i, 1], table[i, 2])  # type: ignore[call-arg]
