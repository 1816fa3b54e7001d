"""Turns a vehicle and an integrator into machine code: expressions -> blocks -> LLVM, kept on disk."""

from sim.compiler.kernel import Kernel, compile_kernel, kernel_text
from sim.compiler.loops import NOT_FINITE, OK
from sim.compiler.printer import NEWTON_FAILED

__all__ = [
    "NEWTON_FAILED",
    "NOT_FINITE",
    "OK",
    "Kernel",
    "compile_kernel",
    "kernel_text",
]
