"""The solver of last resort for one implicit step: it does not fail where a solution exists.

Plain Newton is not enough at large h |omega|. Here it is globalised by backtracking on the residual,
and if that stalls the solution is continued in h from zero, where it is explicit.
"""

import ctypes
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from sim.compiler.printer import NEWTON_TOLERANCE, SETTLE, SOLVE
from sim.native.function import compiled_for_c, exported, fastmath, native
from sim.native.objects import Engine, loaded
from sim.native.types import FLOAT, INT, Number, called, counts_at, numbers_at

_MOST_SWEEPS, _MOST_HALVINGS, _LEAST_STRIDE = 40, 12, 1e-6


_TAKES = {SOLVE: (INT,) * 3, SETTLE: (*(INT,) * 11, FLOAT)}
_CTYPES: dict[Any, Any] = {INT: ctypes.c_int64, FLOAT: ctypes.c_double}


@cache
def announced() -> list[object]:
    """Have what kernels call by name; once a process, which then owns it.

    It is compiled, or loaded, when one first calls it: few flights ever do.
    """
    engine = loaded("\n".join(_through(name, kinds) for name, kinds in _TAKES.items()), optimised=True)
    owned: list[object] = [engine]
    for name, kinds in _TAKES.items():
        place = ctypes.c_void_p.from_address(engine.get_global_value_address(f"{name}.code"))
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *(_CTYPES[kind] for kind in kinds))
        first = prototype(partial(_first, name, place, prototype))
        place.value = ctypes.cast(first, ctypes.c_void_p).value
        llvm.add_symbol(name, engine.get_function_address(name))
        owned.append(first)
    return owned


def _through(name: str, kinds: Sequence[Number]) -> str:
    """LLVM's text of a function that calls what stands at a place."""
    taken = ", ".join(f"{kind.llvm} %x{k}" for k, kind in enumerate(kinds))
    return "\n".join(
        (
            f"@{name}.code = global ptr null",
            f"define i64 @{name}({taken}) {{",
            f"  %code = load ptr, ptr @{name}.code, align 8",
            f"  %found = call i64 %code({taken})",
            "  ret i64 %found",
            "}",
        )
    )


def _first(name: str, place: ctypes.c_void_p, prototype: Any, *given: float) -> int:
    """The first call; later ones go to the compiled function itself. What goes wrong here counts as no solution."""
    place.value = code = compiled().get_function_address(name)
    found: int = prototype(code)(*given)
    return found


@fastmath
def solve_in_place(A: np.ndarray, b: np.ndarray, n: int) -> bool:
    """A x = b by Gaussian elimination with partial pivoting; x replaces b (n,), and A is used up. False if singular.

    The matrix is what stands in the first n columns of A (n, at least n).
    """
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if not abs(A[pivot, k]) > 0.0:
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True


def _solve(J: int, r: int, n: int) -> int:
    """Of addresses, J row after row; 1 where there is a solution."""
    return int(solve_in_place(numbers_at(J, n * n).reshape(n, n), numbers_at(r, n), n))


def _largest(r: np.ndarray) -> float:
    """max |r_i|, infinite if any is not a number."""
    out = 0.0
    for x in r:
        if not np.isfinite(x):
            return np.inf
        out = max(out, abs(x))
    return out


def _settle(
    equations: int,
    guess: int,
    unknowns: int,
    n: int,
    count: int,
    z_at: int,
    y: int,
    u: int,
    w: int,
    p: int,
    work: int,
    h: float,
) -> int:
    """Newton with backtracking at h; where that stalls, from h = 0 in strides that halve and double.

    Code of the equations of n unknowns (their numbers at `unknowns`) out of `count` and of the guess, and
    addresses of what both depend on; `work` that of `printer.settling` numbers. z is written to. Returns how often
    equations were solved, -1 for in vain.
    """
    own, z = counts_at(unknowns, n), numbers_at(z_at, count)
    table, at = counts_at(work, 8), numbers_at(work + 64, 1)
    numbers = work + 72
    trial, good = numbers_at(numbers, count), numbers_at(numbers + 8 * count, count)
    numbers += 16 * count
    r, before = numbers_at(numbers, n), numbers_at(numbers + 8 * n, n)
    J = numbers_at(numbers + 16 * n, n * n).reshape(n, n)
    table[0], table[1], table[2], table[3], table[4] = work + 72, y, u, w, p
    table[5], table[6], table[7] = work + 64, numbers + 8 * n, numbers + 16 * n
    at[0] = 0.0
    called(guess, work, 0)
    for i in range(count):
        good[i] = z[i]
    for k in range(n):
        good[own[k]] = trial[own[k]]
    reached, stride, used = 0.0, 1.0, 0
    while reached < 1.0:
        share = min(1.0, reached + stride)
        if reached == 0.0 and share == 1.0:
            at[0] = h
            called(guess, work, 0)
            for i in range(count):
                z[i] = good[i]
            for k in range(n):
                z[own[k]] = trial[own[k]]
        else:
            for i in range(count):
                z[i] = good[i]
        at[0] = share * h
        for i in range(count):
            trial[i] = z[i]
        called(equations, work, 0)
        for k in range(n):
            r[k] = before[k]
        error, solved = _largest(r), False
        for _ in range(_MOST_SWEEPS):
            used += 1
            if not solve_in_place(J, r, n):
                break
            change, size = 0.0, 1.0
            for k in range(n):
                change += abs(r[k])
                size += abs(z[own[k]])
            small = change <= NEWTON_TOLERANCE * size
            scale, moved, tried = 1.0, False, np.inf
            for _ in range(_MOST_HALVINGS):
                for k in range(n):
                    trial[own[k]] = z[own[k]] - scale * r[k]
                called(equations, work, 0)
                tried = _largest(before)
                if small or tried <= (1.0 - 0.1 * scale) * error:
                    moved = True
                    break
                scale *= 0.5
            if not moved:
                break
            for k in range(n):
                z[own[k]] = trial[own[k]]
                r[k] = before[k]
            error = tried
            if small:
                solved = True
                break
        if solved:
            for i in range(count):
                good[i] = z[i]
            reached = share
            stride *= 2.0
        else:
            stride = 0.25 if stride == 1.0 else 0.5 * stride
            if stride < _LEAST_STRIDE:
                return -1
    for i in range(count):
        z[i] = good[i]
    return used


_FUNCTIONS = {
    SOLVE: (native(_solve, scalar=True), _TAKES[SOLVE]),
    SETTLE: (native(_settle, scalar=True), _TAKES[SETTLE]),
}


def text() -> str:
    """LLVM's text of both, for whoever takes kernels to another program."""
    return exported(_FUNCTIONS)


@cache
def compiled() -> Engine:
    """What owns both, which kernels call by name."""
    return compiled_for_c(_FUNCTIONS)
