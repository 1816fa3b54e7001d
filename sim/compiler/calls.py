"""Machine code at addresses: called from compiled functions, and compiled functions that it calls back."""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def _called(typing_context: Any, address: Any, table: Any, count: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        number = ir.IntType(64)
        code = ir.FunctionType(number, [number, number])
        return builder.call(builder.inttoptr(args[0], code.as_pointer()), args[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


def _pointer_to(number: Any) -> Any:
    @intrinsic
    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(number)(types.int64), generate

    return pointer


called: Any = _called
"""In compiled functions: what the code at an address returns for the address of a table and a whole number."""
pointer, whole_pointer = _pointer_to(types.float64), _pointer_to(types.int64)
"""In compiled functions: an address as one of numbers, or of whole numbers, for `carray`."""


def c_address(function: Any) -> int:
    """Of a compiled function with one signature that was made with `no_cfunc_wrapper=False`, as C calls it."""
    (made,) = function.overloads.values()
    address: int = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)
    return address


def announce(name: str, function: Any) -> None:
    """From now on machine code that is loaded finds the compiled function by a name."""
    llvm.add_symbol(name, c_address(function))
