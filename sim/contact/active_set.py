"""Contacts of one island solved all at once, by guesses of which of them bear and which stick, in compiled code.

Sweeps carry a load through a column contact by contact, and bend it more slowly still. Under a guess everything is
linear: a normal that bears reaches its aim, what sticks stands, what slides has the friction of the guess before. These
equations are solved for the twists of all bodies together, by Cholesky's method within an envelope (E. Cuthill, J.
McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969); what follows from them is the next guess, as
Newton's method for Coulomb's law has it (P. Alart, A. Curnier, "A mixed formulation for frictional contact problems
prone to Newton like solution methods", 1991), until one agrees with itself. Each contact gives way by a millionth of
what it answers, so that four points under a side share their load.
"""

import numpy as np

from sim.contact.pair_rows import (
    AIM,
    ANSWER,
    ARMS,
    BEARS,
    EARLIER,
    IMPULSE,
    LEFT,
    MU,
    NORMAL,
    RIGHT,
    SLIDES,
    SWEPT,
    UNDONE,
    push_by,
    speeds_of,
)
from sim.native.function import fastmath

_STIFF = 1e6
"""Times what a contact answers it is stiffer than that."""
_GUESSES, _ALIKE = 8, 1e3
"""So many at most; by so many tolerances friction of what slides may change in the last."""
_HOPED, _WRONG, _FEW = 3, 0.3, 4
"""After so many guesses a further one is made only where less than that share of the rows, or so few, were wrong."""
_DEAR = 25.0
"""Squares of how many bodies lie between those that touch, a row: beyond, sweeps are cheaper."""
_STICKS = 0.9999
"""Of its bound, below which a tangential impulse is taken to stick at first."""
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
def _arranged(work, order, begin, end, place, lowest):
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
def _mass(block, m):
    """(6, 6) what a body of mobility m weighs: its moment of inertia in the world, and its mass."""
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
def _reach(w, direction, reach):
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
def _eliminate(values, at, first, x):
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
def _begin_guess(w, speed):
    """Whether a row's normal is an equation, and its tangents: from its impulses, into BEARS and EARLIER."""
    bound = _STICKS * w[MU] * w[IMPULSE]
    w[BEARS] = 1.0 if w[IMPULSE] > 0.0 or speed < w[AIM] else 0.0
    if w[IMPULSE + 1] * w[IMPULSE + 1] + w[IMPULSE + 2] * w[IMPULSE + 2] < bound * bound:
        w[BEARS] = 2.0
    for c in range(3):
        w[EARLIER + c] = w[IMPULSE + c]


@fastmath
def _equation(w, direction):
    """(aim [m/s], stiffness [kg]) of a row along a direction."""
    if direction == 0:
        return w[AIM], _STIFF / w[ANSWER]
    return w[SLIDES + direction - 1], _STIFF / w[ANSWER + (3 if direction == 1 else 5)]


@fastmath
def _guess_again(w, s0, s1, s2, tolerance):
    """From speeds (s0, s1, s2) under the equations: impulses into EARLIER, and what is an equation then. Whether that
    is another guess."""
    was, pn = w[BEARS], 0.0
    e1, e2 = w[EARLIER + 1], w[EARLIER + 2]
    bears = s0 < w[AIM]
    if was > 0.0:
        pn = w[IMPULSE] + _STIFF / w[ANSWER] * (w[AIM] - s0)
        bears = pn > 0.0
    if not bears:
        w[BEARS] = w[EARLIER] = w[EARLIER + 1] = w[EARLIER + 2] = 0.0
        return was > 0.0
    w[EARLIER] = pn
    if was == 2.0:
        z1 = w[IMPULSE + 1] + _STIFF / w[ANSWER + 3] * (w[SLIDES] - s1)
        z2 = w[IMPULSE + 2] + _STIFF / w[ANSWER + 5] * (w[SLIDES + 1] - s2)
    else:
        stiff = 1.0 / max(w[ANSWER + 3], w[ANSWER + 5])
        z1, z2 = e1 + stiff * (w[SLIDES] - s1), e2 + stiff * (w[SLIDES + 1] - s2)
    bound, size = w[MU] * pn, np.sqrt(z1 * z1 + z2 * z2)
    # What is at its bound and does not slip may stay so: others hold as well.
    if size < bound and (was == 2.0 or abs(s1 - w[SLIDES]) + abs(s2 - w[SLIDES + 1]) > tolerance):
        w[BEARS], w[EARLIER + 1], w[EARLIER + 2] = 2.0, z1, z2
        return was != 2.0
    w[BEARS] = 1.0
    share = bound / size if size > bound else 1.0
    w[EARLIER + 1], w[EARLIER + 2] = share * z1, share * z2
    moved = abs(w[EARLIER + 1] - e1) + abs(w[EARLIER + 2] - e2)
    return was != 1.0 or moved * w[ANSWER] > _ALIKE * tolerance


@fastmath
def _assemble(work, order, begin, end, xi, mobility, shared, rank, at, first, values, x):
    """The equations of an island: values and right-hand side x, as `_eliminate` has them."""
    block, reach = np.zeros((6, 6)), np.zeros(12)
    values[:] = 0.0
    x[:] = 0.0
    for p in range(begin, end):
        w = work[order[p]]
        speeds = speeds_of(xi, shared, w)
        for side in range(2):
            k = int(w[LEFT + side])
            i = rank[k] if k >= 0 else 0
            if k >= 0 and values[at[i] + i - first[i]] == 0.0:
                _mass(block, mobility[k])
                for c in range(6):
                    for d in range(c + 1):
                        values[at[i + c] + i + d - first[i + c]] += block[c, d]
        for direction in range(3):
            unknown = w[BEARS] == 2.0 or (direction == 0 and w[BEARS] == 1.0)
            aim, weight = _equation(w, direction)
            speed = speeds[0] if direction == 0 else speeds[1] if direction == 1 else speeds[2]
            push = w[EARLIER + direction] - w[IMPULSE + direction]
            if unknown:
                push = weight * (aim - speed)
            elif push == 0.0:
                continue
            _reach(w, direction, reach)
            for side in range(2):
                k, other = int(w[LEFT + side]), int(w[LEFT + 1 - side])
                if k < 0:
                    continue
                row, mine = rank[k], reach[6 * side : 6 * side + 6]
                for c in range(6):
                    x[row + c] += push * mine[c]
                if not unknown:
                    continue
                for c in range(6):
                    here = values[
                        at[row + c] + row - first[row + c] : at[row + c] + row - first[row + c] + c + 1
                    ]
                    for d in range(c + 1):
                        here[d] += weight * mine[c] * mine[d]
                if other >= 0 and rank[other] < row:
                    column, theirs = rank[other], reach[6 - 6 * side : 12 - 6 * side]
                    for c in range(6):
                        begins = at[row + c] + column - first[row + c]
                        here = values[begins : begins + 6]
                        for d in range(6):
                            here[d] += weight * mine[c] * theirs[d]


@fastmath
def _speeds_after(w, speeds, rank, x):
    """Speeds of a row, now (3,), once twists have changed by x."""
    vx = vy = vz = 0.0
    n = w[NORMAL : NORMAL + 9]
    for side in range(2):
        k = int(w[LEFT + side])
        if k < 0:
            continue
        sign, r, d = 1.0 if side else -1.0, w[ARMS + 3 * side : ARMS + 3 * side + 3], x[rank[k] : rank[k] + 6]
        vx += sign * (d[3] + d[1] * r[2] - d[2] * r[1])
        vy += sign * (d[4] + d[2] * r[0] - d[0] * r[2])
        vz += sign * (d[5] + d[0] * r[1] - d[1] * r[0])
    return (
        speeds[0] + vx * n[0] + vy * n[1] + vz * n[2],
        speeds[1] + vx * n[3] + vy * n[4] + vz * n[5],
        speeds[2] + vx * n[6] + vy * n[7] + vz * n[8],
    )


@fastmath
def solve_at_once(work, order, begin, end, xi, mobility, shared, tolerance):
    """Impulses and velocities of an island by the equations of what bears. Whether it was done: not where that is
    dear, or no guess of what bears and sticks agrees with what follows from it."""
    rank, most = np.empty(mobility.shape[0], np.int64), min(2 * (end - begin), mobility.shape[0])
    lowest = np.empty(most, np.int64)
    count, dear = _arranged(work, order, begin, end, rank, lowest), 0.0
    for i in range(count):
        dear += (i - lowest[i] + 1) ** 2
    if dear > _DEAR * (end - begin):
        return False
    at, first, x, size = np.empty(6 * count, np.int64), np.empty(6 * count, np.int64), np.empty(6 * count), 0
    for i in range(6 * count):
        first[i], at[i] = 6 * lowest[i // 6], size
        size += i - first[i] + 1
    values = np.empty(size)
    for p in range(begin, end):
        w = work[order[p]]
        _begin_guess(w, speeds_of(xi, shared, w)[0])
    wrong, guess = end - begin, 0
    while wrong > 0:
        if guess == _GUESSES or (guess >= _HOPED and wrong > max(_FEW, _WRONG * (end - begin))):
            return False
        guess += 1
        _assemble(work, order, begin, end, xi, mobility, shared, rank, at, first, values, x)
        if not _eliminate(values, at, first, x):
            return False
        wrong = 0
        for p in range(begin, end):
            w = work[order[p]]
            s0, s1, s2 = _speeds_after(w, speeds_of(xi, shared, w), rank, x)
            wrong += _guess_again(w, s0, s1, s2, tolerance)
    for p in range(begin, end):
        w = work[order[p]]
        f0, f1, f2 = w[EARLIER] - w[IMPULSE], w[EARLIER + 1] - w[IMPULSE + 1], w[EARLIER + 2] - w[IMPULSE + 2]
        if f0 != 0.0 or f1 != 0.0 or f2 != 0.0:
            push_by(xi, mobility, shared, w, f0, f1, f2)
        for c in range(3):
            w[UNDONE + c] = w[IMPULSE + c]
            w[IMPULSE + c] = w[SWEPT + c] = w[EARLIER + c]
    return True


@fastmath
def undo(work, order, begin, end, xi, mobility, shared):
    """Impulses and velocities of an island as they were before the last time that it was solved at once."""
    for p in range(begin, end):
        w = work[order[p]]
        f0, f1, f2 = w[UNDONE] - w[IMPULSE], w[UNDONE + 1] - w[IMPULSE + 1], w[UNDONE + 2] - w[IMPULSE + 2]
        push_by(xi, mobility, shared, w, f0, f1, f2)
        for c in range(3):
            w[IMPULSE + c] = w[SWEPT + c] = w[UNDONE + c]
