"""The least impulses of loops that change their gaps' rates as is wanted, where constraints may imply one another.

Of all that do, those of least norm: by a pivoted Cholesky root L of the response, as many columns as it has rank, and
the Cholesky factor C of L' L. `room` is a `closing.ClosingWorkspace`.
"""

import math

from sim.multibody.spatial import jit

_RANK = 1e-9
"""A constraint that others imply, as across a plane, has less than this of the largest one's response left."""


@jit
def decompose(room):
    """Pivoted Cholesky root of the response, and the factor of root' root: what `least_impulses` needs."""
    A, L, C, left = room.response, room.root, room.inner, room.spare
    m = A.shape[0]
    most = 0.0
    for j in range(m):
        left[j] = A[j, j]
        most = max(most, A[j, j])
    rank = 0
    for column in range(m):
        pivot = 0
        for j in range(1, m):
            if left[j] > left[pivot]:
                pivot = j
        if not left[pivot] > _RANK * most:
            break
        size = math.sqrt(left[pivot])
        for j in range(m):
            total = A[j, pivot]
            for k in range(column):
                total -= L[j, k] * L[pivot, k]
            L[j, column] = total / size
            left[j] -= L[j, column] * L[j, column]
        left[pivot] = 0.0
        rank += 1
    room.rank[0] = rank
    for j in range(rank):
        for k in range(j + 1):
            total = 0.0
            for i in range(m):
                total += L[i, j] * L[i, k]
            for i in range(k):
                total -= C[j, i] * C[k, i]
            C[j, k] = math.sqrt(total) if j == k else total / C[k, k]


@jit
def within(C, x, rank):
    """Solve C C' y = x in place, C a Cholesky factor."""
    for j in range(rank):
        for i in range(j):
            x[j] -= C[j, i] * x[i]
        x[j] /= C[j, j]
    for j in range(rank - 1, -1, -1):
        for i in range(j + 1, rank):
            x[j] -= C[i, j] * x[i]
        x[j] /= C[j, j]


@jit
def least_impulses(room, jump, scale):
    """room.change: the least impulses that change the gaps' rates by scale times `jump` (m,), as far as any can."""
    L, C, x, out = room.root, room.inner, room.spare, room.change
    m, rank = jump.shape[0], room.rank[0]
    for j in range(rank):
        total = 0.0
        for i in range(m):
            total += L[i, j] * jump[i]
        x[j] = scale * total
    for _ in range(2):
        within(C, x, rank)
    for i in range(m):
        total = 0.0
        for j in range(rank):
            total += L[i, j] * x[j]
        out[i] = total


@jit
def answer_to(room, a):
    """Change of joint velocity a by the impulses room.change."""
    total = 0.0
    for k in range(room.change.shape[0]):
        total += room.answers[k, a] * room.change[k]
    return total
