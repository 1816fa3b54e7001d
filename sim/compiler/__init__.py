"""Turns a vehicle and an integrator into machine code: SX -> straight-line Python -> numba, cached on disk."""

from sim.compiler.kernel import (
    NEWTON_FAILED,
    NOT_FINITE,
    OK,
    Kernel,
    compile_kernel,
    kernel_text,
    load_module,
)

__all__ = [
    "NEWTON_FAILED",
    "NOT_FINITE",
    "OK",
    "Kernel",
    "compile_kernel",
    "kernel_text",
    "load_module",
]
