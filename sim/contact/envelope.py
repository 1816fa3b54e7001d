"""Linear equations for the twists of all bodies of an island of contacts, in compiled code.

Bodies are put into an order in which those that touch are near each other; a symmetric matrix is kept within the
envelope that this leaves, and factorised there (E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric
matrices", 1969).
"""

import numpy as np

from sim.contact.pair_rows import ARMS, LEFT, NORMAL, RIGHT
from sim.native.function import fastmath

_DEAR = 25.0
"""Squares of how many bodies lie between those that touch, a row: beyond, sweeps are cheaper."""
_LEAST_PIVOT = 1e-13


@fastmath
def _rank(start, others, begin_at, queue, rank):
    """Rank bodies (m,) by how far they are from one of them, over those that they touch: others[start[i] : start[i +
    1]]. Returns the last."""
    for i in range(rank.shape[0]):
        rank[i] = -1
    queue[0], rank[begin_at] = begin_at, 0
    used, at = 1, 0
    while at < used:
        i = queue[at]
        at += 1
        for k in range(start[i], start[i + 1]):
            if rank[others[k]] < 0:
                rank[others[k]] = used
                queue[used] = others[k]
                used += 1
    return queue[used - 1]


@fastmath
def arranged(work, order, begin, end, place, lowest):
    """Order the bodies of an island so that those that touch are near each other. Into place[body] six times its rank,
    into lowest[rank] the least rank that it touches; how many."""
    count, pairs, known_a, known_b = 0, 0, -1, -1
    for p in range(begin, end):
        for side in range(2):
            i = int(work[order[p], LEFT + side])
            if i >= 0:
                place[i] = -1
    for p in range(begin, end):
        for side in range(2):
            i = int(work[order[p], LEFT + side])
            if i >= 0 and place[i] < 0:
                place[i] = count
                count += 1
    start, ends = np.zeros(count + 2, np.int64), np.empty((end - begin, 2), np.int64)
    for p in range(begin, end):
        i, j = int(work[order[p], LEFT]), int(work[order[p], RIGHT])
        if i < 0 or j < 0 or (i == known_a and j == known_b):
            continue
        known_a, known_b = i, j
        ends[pairs, 0], ends[pairs, 1] = place[i], place[j]
        start[place[i] + 2] += 1
        start[place[j] + 2] += 1
        pairs += 1
    for i in range(count):
        start[i + 2] += start[i + 1]
    others, queue, rank = np.empty(2 * pairs, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    for k in range(pairs):
        for side in range(2):
            i = ends[k, side]
            others[start[i + 1]] = ends[k, 1 - side]
            start[i + 1] += 1
    _rank(start, others, _rank(start, others, 0, queue, rank), queue, rank)
    for i in range(count):
        lowest[i] = i
    for k in range(pairs):
        i, j = rank[ends[k, 0]], rank[ends[k, 1]]
        lowest[max(i, j)] = min(lowest[max(i, j)], min(i, j))
    for p in range(begin, end):
        for side in range(2):
            i = int(work[order[p], LEFT + side])
            # Those that are done are below zero.
            if i >= 0 and place[i] >= 0:
                place[i] = -6 * rank[place[i]] - 1
    for p in range(begin, end):
        for side in range(2):
            i = int(work[order[p], LEFT + side])
            if i >= 0 and place[i] < 0:
                place[i] = -place[i] - 1
    return count


@fastmath
def note_mass(block, m):
    """Into (6, 6) what a body of mobility m weighs: its moment of inertia in the world, and its mass."""
    a, b, c, d, e, f = m[1], m[2], m[3], m[4], m[5], m[6]
    aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d
    det = a * aa + b * ab + c * ac
    block[0, 0], block[1, 0], block[2, 0] = aa / det, ab / det, ac / det
    block[1, 1], block[2, 1], block[2, 2] = (
        (a * f - c * c) / det,
        (b * c - a * e) / det,
        (a * d - b * b) / det,
    )
    for i in range(3):
        block[3 + i, 3 + i] = 1.0 / m[0]


@fastmath
def note_reach(w, direction, reach):
    """(12,) of a row along a direction: what the twists of its LEFT and of its RIGHT body add to its speed."""
    n = w[NORMAL + 3 * direction : NORMAL + 3 * direction + 3]
    for side in range(2):
        r, sign = w[ARMS + 3 * side : ARMS + 3 * side + 3], 1.0 if side else -1.0
        at = 6 * side
        reach[at] = sign * (r[1] * n[2] - r[2] * n[1])
        reach[at + 1] = sign * (r[2] * n[0] - r[0] * n[2])
        reach[at + 2] = sign * (r[0] * n[1] - r[1] * n[0])
        reach[at + 3], reach[at + 4], reach[at + 5] = sign * n[0], sign * n[1], sign * n[2]


@fastmath
def eliminate(values, at, first, x):
    """Solve a symmetric system in place, of which each row (at[i], from column first[i]) is kept up to its diagonal.
    Whether it could be."""
    n = x.shape[0]
    for i in range(n):
        here, f, known = values[at[i] : at[i] + i - first[i] + 1], first[i], 0.0
        for j in range(f, i):
            g = first[j]
            low = max(f, g)
            there, mine, total = values[at[j] + low - g : at[j] + j - g], here[low - f : j - f], 0.0
            for k in range(j - low):
                total += mine[k] * there[k]
            here[j - f] = (here[j - f] - total) * values[at[j] + j - g]
        pivot = here[i - f]
        for k in range(i - f):
            pivot -= here[k] * here[k]
            known += here[k] * x[f + k]
        if not pivot > _LEAST_PIVOT * here[i - f]:
            return False
        # The diagonal is kept as its inverse.
        here[i - f] = 1.0 / np.sqrt(pivot)
        x[i] = (x[i] - known) * here[i - f]
    for i in range(n - 1, -1, -1):
        f = first[i]
        here = values[at[i] : at[i] + i - f + 1]
        x[i] *= here[i - f]
        for k in range(i - f):
            x[f + k] -= here[k] * x[i]
    return True


@fastmath
def is_dear(lowest, count, rows):
    """Whether to factorise the matrix of so many bodies is dearer than to sweep over their rows."""
    dear = 0.0
    for i in range(count):
        dear += (i - lowest[i] + 1) ** 2
    return dear > _DEAR * rows


@fastmath
def envelope(lowest, count, at, first):
    """Where each row of the matrix of so many bodies is kept, and from which column on, into at and first (6 count,);
    how many numbers that takes."""
    size = 0
    for i in range(6 * count):
        first[i], at[i] = 6 * lowest[i // 6], size
        size += i - first[i] + 1
    return size
