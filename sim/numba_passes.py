"""LLVM's passes over numba's functions, made for those that have a body.

Numba makes new passes for every function that a module names, most of which are only declared there: some hundred a
kernel. LLVM then goes through none of those, but of each builder of passes some 17 kB are never freed.
"""

from typing import Any

from numba.core.codegen import CPUCodeLibrary


def pass_over_bodies_only() -> None:
    """For the rest of the process; the machine code stays the same."""
    kind: Any = CPUCodeLibrary
    kind._optimize_functions = _optimize_functions


def _optimize_functions(self: Any, module: Any) -> None:
    module.data_layout = self._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = (
                self._codegen._function_pass_manager()
            )  # another builder each: LLVM keeps what it ran
            with self._recorded_timings.record(f"Function passes on {function.name!r}", builder):
                passes.run(function, builder)
