"""The solver of last resort for one implicit step: it does not fail where a solution exists.

Plain Newton is not enough at large h |omega|. Here it is globalised by backtracking on the residual,
and if that stalls the solution is continued in h from zero, where it is explicit.
"""

import numpy as np

from sim.compiled import compiled


@compiled("boolean(float64[::1], float64[::1], int64)", error_model="numpy")
def solve_in_place(J: np.ndarray, r: np.ndarray, n: int) -> bool:
    """J d = r by Gaussian elimination with partial pivoting, J row-major (n*n,); d replaces r. False if singular."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(J[i * n + k]) > abs(J[pivot * n + k]):
                pivot = i
        if not abs(J[pivot * n + k]) > 0.0:
            return False
        if pivot != k:
            for j in range(n):
                J[k * n + j], J[pivot * n + j] = J[pivot * n + j], J[k * n + j]
            r[k], r[pivot] = r[pivot], r[k]
        for i in range(k + 1, n):
            factor = J[i * n + k] / J[k * n + k]
            for j in range(k + 1, n):
                J[i * n + j] -= factor * J[k * n + j]
            r[i] -= factor * r[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            r[k] -= J[k * n + j] * r[j]
        r[k] /= J[k * n + k]
    return True


@compiled("float64(float64[::1])", error_model="numpy")
def largest(r: np.ndarray) -> float:
    """max |r_i|, infinite if any is not a number."""
    out = 0.0
    for x in r:
        if not np.isfinite(x):
            return np.inf
        out = max(out, abs(x))
    return out


@compiled("void(float64[::1], float64[::1])")
def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """target <- source, without the checks of a slice assignment, which are slow to compile."""
    for i in range(len(source)):
        target[i] = source[i]


CONTINUATION = """
n = {size}
trial, good, before = np.empty({unknowns}), np.empty({unknowns}), np.empty({size})
r, J = np.empty({size}), np.empty({size} * {size})
{guess}(trial, y, u, w, p, 0.0)
copy_into(good, z)
for i in {indices}:
    good[i] = trial[i]
reached, stride, used = 0.0, 1.0, 0
while reached < 1.0:
    at = min(1.0, reached + stride)
    copy_into(z, good)
    if reached == 0.0 and at == 1.0:
        {guess}(trial, y, u, w, p, h)
        for i in {indices}:
            z[i] = trial[i]
    solved = False
    {evaluate}(z, y, u, w, p, at * h, r, J)
    error = largest(r)
    for sweep in range(40):
        used += 1
        if not solve_in_place(J, r, n):
            break
        change, size, k = 0.0, 1.0, 0
        for i in {indices}:
            change += abs(r[k])
            size += abs(z[i])
            k += 1
        small = change <= {tolerance} * size
        scale, moved = 1.0, False
        for halving in range(12):
            copy_into(trial, z)
            k = 0
            for i in {indices}:
                trial[i] = z[i] - scale * r[k]
                k += 1
            {evaluate}(trial, y, u, w, p, at * h, before, J)
            tried = largest(before)
            if small or tried <= (1.0 - 0.1 * scale) * error:
                moved = True
                break
            scale *= 0.5
        if not moved:
            break
        copy_into(z, trial)
        copy_into(r, before)
        error = tried
        if small:
            solved = True
            break
    if solved:
        copy_into(good, z)
        reached = at
        stride *= 2.0
    else:
        stride = 0.25 if stride == 1.0 else 0.5 * stride
        if stride < 1e-6:
            return -1
copy_into(z, good)
return used
"""
"""Body of the solver of one block, printed into the kernel module because numba's cache takes no functions as
arguments: Newton with backtracking at h; where that stalls, from h = 0 in strides that halve and double."""
