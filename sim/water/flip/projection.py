"""Pressure and the body's motion in one solve: conjugate gradients on A + J' W J.

A takes divergence out of the water, J is what a body's twist adds to it, and W is how that twist answers an impulse. A
body lighter than the water that it moves stays stable, since neither waits for the other (monolithic coupling).
"""

import numpy as np

from sim.compiled import allocating_nothing
from sim.water.flip.multigrid import apply_rows, v_cycle

MOST_ITERATIONS = 60


@allocating_nothing
def gather(cells: np.ndarray, column: np.ndarray, count: int, x: np.ndarray, out: np.ndarray) -> None:
    """out (6,) = J x, summed over the body's cells."""
    out[:] = 0.0
    for q in range(count):
        value = float(x[cells[q, 0], cells[q, 1], cells[q, 2]])
        for c in range(6):
            out[c] += column[q, c] * value


@allocating_nothing
def scatter(cells: np.ndarray, column: np.ndarray, count: int, twist: np.ndarray, out: np.ndarray) -> None:
    """out += J' twist."""
    for q in range(count):
        total = 0.0
        for c in range(6):
            total += column[q, c] * twist[c]
        out[cells[q, 0], cells[q, 1], cells[q, 2]] += np.float32(total)


@allocating_nothing
def _apply(  # type: ignore[no-untyped-def]
    system,
    cells: np.ndarray,
    column: np.ndarray,
    count: int,
    response: np.ndarray,
    push: np.ndarray,
    answer: np.ndarray,
    x: np.ndarray,
    out: np.ndarray,
) -> float:
    """out = (A + J' W J) x; returns x . out."""
    total = apply_rows(system[0][0], system[2][0], system[3][0], system[4][0], x, out)
    if count:
        gather(cells, column, count, x, push)
        for a in range(6):
            answer[a] = 0.0
            for b in range(6):
                answer[a] += response[a, b] * push[b]
            total += push[a] * answer[a]
        scatter(cells, column, count, answer, out)
    return total


@allocating_nothing(fastmath=True)
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    nz, ny, nx = a.shape
    total = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            part = np.float32(0.0)
            for i in range(1, nx - 1):
                part += a[k, j, i] * b[k, j, i]
            total += float(part)
    return total


@allocating_nothing(fastmath=True)
def _advance(
    by: np.float32, p: np.ndarray, residual: np.ndarray, way: np.ndarray, image: np.ndarray
) -> np.float32:
    """p += by way, residual -= by image; returns the greatest residual."""
    nz, ny, nx = p.shape
    most = np.float32(0.0)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                p[k, j, i] += by * way[k, j, i]
                left = residual[k, j, i] - by * image[k, j, i]
                residual[k, j, i] = left
                most = max(most, abs(left))
    return most


@allocating_nothing
def solve(  # type: ignore[no-untyped-def]
    system,
    cells: np.ndarray,
    column: np.ndarray,
    count: int,
    response: np.ndarray,
    push: np.ndarray,
    answer: np.ndarray,
    pressure: np.ndarray,
    residual: np.ndarray,
    way: np.ndarray,
    image: np.ndarray,
    tolerance: float,
    report: np.ndarray,
) -> None:
    """Solve for the pressure, from the one given, until no divergence is left above tolerance times the greatest.

    push (6,) gets J p. report (2,): iterations, the greatest divergence that is left over the greatest at first.
    """
    right, diagonal = system[5][0], system[0][0]
    nz, ny, nx = right.shape
    most = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                most = max(most, abs(right[k, j, i]))
                if diagonal[k, j, i] <= 0.0:
                    pressure[k, j, i] = 0.0
                    right[k, j, i] = 0.0
    report[0], report[1] = 0.0, 0.0
    if most == 0.0:
        pressure[:] = 0.0
        gather(cells, column, count, pressure, push)
        return
    _apply(system, cells, column, count, response, push, answer, pressure, image)
    left = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                residual[k, j, i] = right[k, j, i] - image[k, j, i]
                left = max(left, abs(residual[k, j, i]))
    smooth = system[7][0]
    along = 0.0
    for iteration in range(MOST_ITERATIONS):
        if left <= tolerance * most:
            break
        v_cycle(system, residual)
        now = _dot(smooth, residual)
        turn = np.float32(0.0 if iteration == 0 else now / along)
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                for i in range(1, nx - 1):
                    way[k, j, i] = smooth[k, j, i] + turn * way[k, j, i]
        along = now
        curvature = _apply(system, cells, column, count, response, push, answer, way, image)
        if not curvature > 0.0:
            break
        left = _advance(np.float32(along / curvature), pressure, residual, way, image)
        report[0] = iteration + 1
    report[1] = left / most
    gather(cells, column, count, pressure, push)
