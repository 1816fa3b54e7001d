"""A step of rods hinged one below the other, in linear time: places by one multiplier a rod, then velocities.

The discrete Lagrangian of Lee, Leok and McClamroch (2009) on products of spheres, kinetic energy of the straight way
between two nodes less the mean potential of both, is stationary where each bob is pushed along the rods of the node
that the step begins at, so that the rods at its end have their lengths: N quadratic equations, tridiagonal. Velocities
at the end are those of its discrete Legendre transform.
"""

import numpy as np

from sim.compiled import allocating_nothing

SWEEPS = 50
ACCURACY = 1e-15
"""Of the squared lengths, as a share."""
ROOM = 10
"""Rows of numbers, one each rod, that the functions here work in."""


@allocating_nothing
def take(source: np.ndarray, target: np.ndarray) -> None:
    """`target` (N, 3) becomes equal to `source`; a slice's assignment compiles for seconds, to word its error."""
    for i in range(source.shape[0]):
        for k in range(3):
            target[i, k] = source[i, k]


@allocating_nothing
def solve_tridiagonal(lower: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, right: np.ndarray) -> None:
    """`right` becomes the solution; all are (N,), `lower[0]` and `upper[-1]` count for nothing."""
    n = right.shape[0]
    for i in range(1, n):
        share = lower[i] / diagonal[i - 1]
        diagonal[i] -= share * upper[i - 1]
        right[i] -= share * right[i - 1]
    for i in range(n - 1, -1, -1):
        after = upper[i] * right[i + 1] if i + 1 < n else 0.0
        right[i] = (right[i] - after) / diagonal[i]


@allocating_nothing
def pulled(q: np.ndarray, pull: np.ndarray, mass: np.ndarray, i: int, k: int) -> float:
    """Component k of what rods along q that pull so do to bob i, by its mass; none to the fixed point, i = -1."""
    if i < 0:
        return 0.0
    onward = pull[i + 1] * q[i + 1, k] if i + 1 < q.shape[0] else 0.0
    return (onward - pull[i] * q[i, k]) / mass[i]


@allocating_nothing
def move(
    q: np.ndarray,
    v: np.ndarray,
    mass: np.ndarray,
    length: np.ndarray,
    h: float,
    pull: np.ndarray,
    room: np.ndarray,
) -> int:
    """Directions q (N, 3) and velocities v (N, 3), half of the forces' impulse in them, over a step.

    v becomes the mean velocity over the step. pull (N,): the multipliers, on entry a guess of them.
    Returns the sweeps of Newton's method, -1 where they do not lead to a solution.
    """
    n = q.shape[0]
    lower, diagonal, upper, right = room[0], room[1], room[2], room[3]
    for sweep in range(1, SWEEPS):
        worst = 0.0
        for i in range(n):
            square = along = before = after = 0.0
            for k in range(3):
                free = h * (v[i, k] - (v[i - 1, k] if i else 0.0))
                d = length[i] * q[i, k] + free + pulled(q, pull, mass, i, k) - pulled(q, pull, mass, i - 1, k)
                room[4 + k, i] = d
                square += d * d
                along += d * q[i, k]
                before += d * q[i - 1, k] if i else 0.0
                after += d * q[i + 1, k] if i + 1 < n else 0.0
            inverse_before = 1.0 / mass[i - 1] if i else 0.0
            right[i] = 0.5 * (length[i] * length[i] - square)
            diagonal[i] = -(1.0 / mass[i] + inverse_before) * along
            lower[i], upper[i] = before * inverse_before, after / mass[i]
            worst = max(worst, abs(right[i]) / (length[i] * length[i]))
        if not worst < 1e300:
            return -1
        if worst <= ACCURACY * (1.0 + sweep):
            for i in range(n):
                for k in range(3):
                    room[7 + k, i] = pulled(q, pull, mass, i, k)
            for i in range(n):
                size = 0.0
                for k in range(3):
                    v[i, k] += room[7 + k, i] / h
                    size += room[4 + k, i] * room[4 + k, i]
                size = np.sqrt(size)
                for k in range(3):
                    q[i, k] = room[4 + k, i] / size
            return sweep
        solve_tridiagonal(lower, diagonal, upper, right)
        for i in range(n):
            pull[i] += right[i]
    return -1


@allocating_nothing
def stretch_nothing(q: np.ndarray, v: np.ndarray, mass: np.ndarray, room: np.ndarray) -> None:
    """Take from the velocities v (N, 3), by pulls along the rods, what would change the rods' lengths."""
    n = q.shape[0]
    lower, diagonal, upper, right = room[0], room[1], room[2], room[3]
    for i in range(n):
        inverse_before = 1.0 / mass[i - 1] if i else 0.0
        right[i] = before = after = 0.0
        for k in range(3):
            right[i] += (v[i, k] - (v[i - 1, k] if i else 0.0)) * q[i, k]
            before += q[i, k] * q[i - 1, k] if i else 0.0
            after += q[i, k] * q[i + 1, k] if i + 1 < n else 0.0
        diagonal[i] = 1.0 / mass[i] + inverse_before
        lower[i], upper[i] = -before * inverse_before, -after / mass[i]
    solve_tridiagonal(lower, diagonal, upper, right)
    for i in range(n):
        for k in range(3):
            room[4 + k, i] = pulled(q, right, mass, i, k)
    for i in range(n):
        for k in range(3):
            v[i, k] += room[4 + k, i]
