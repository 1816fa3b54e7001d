"""Contacts of one island solved all at once, by guesses of which of them bear and which stick, in compiled code.

Sweeps carry a load through a column contact by contact, and bend it more slowly still. Under a guess everything is
linear: a normal that bears reaches its aim, what sticks stands, what slides has the friction of the guess before. These
equations are solved for the twists of all bodies together (`envelope`); what follows from them is the next guess, as
Newton's method for Coulomb's law has it (P. Alart, A. Curnier, "A mixed formulation for frictional contact problems
prone to Newton like solution methods", 1991), until one agrees with itself. Each contact gives way by a millionth of
what it answers, so that four points under a side share their load. Impulses are found from none, whatever they were: of
the many that hold the same bodies these are the least, which are well inside their cones, where sweeps lead to some on
the edge, about which guesses go round in circles.
"""

import numpy as np

from sim.contact.envelope import arranged, eliminate, envelope, is_dear, note_mass, note_reach
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
    SLIDES,
    SWEPT,
    TORQUE,
    UNDONE,
    push_by,
    speeds_of,
    twist_by,
)
from sim.native.function import fastmath

_STIFF = 1e6
"""Times what a contact answers it is stiffer than that."""
_GUESSES, _ALIKE = 8, 1e3
"""So many at most; by so many tolerances friction of what slides may change in the last."""


@fastmath
def _begin_guess(w, speed):
    """Of a row: that it bears and sticks, or that it is open; into BEARS. Its impulses into EARLIER and UNDONE."""
    w[BEARS] = 2.0 if w[IMPULSE] > 0.0 or speed < w[AIM] else 0.0
    for c in range(3):
        w[EARLIER + c] = w[UNDONE + c] = w[IMPULSE + c]
        w[UNDONE + 3 + c] = w[TORQUE + c]


@fastmath
def _equation(w, direction):
    """(aim [m/s], stiffness [kg]) of a row along a direction."""
    if direction == 0:
        return w[AIM], _STIFF / w[ANSWER]
    return w[SLIDES + direction - 1], _STIFF / w[ANSWER + (3 if direction == 1 else 5)]


@fastmath
def _guess_again(w, s0, s1, s2, held, tolerance):
    """From speeds (s0, s1, s2) under the equations: impulses into EARLIER, and what is an equation then. Whether that
    is another guess. held: 1 where each contact holds the impulse that it has, and gives way by what is beyond; else 0.
    """
    was, pn = w[BEARS], 0.0
    e1, e2 = w[EARLIER + 1], w[EARLIER + 2]
    bears = s0 < w[AIM]
    if was > 0.0:
        pn = held * w[IMPULSE] + _STIFF / w[ANSWER] * (w[AIM] - s0)
        bears = pn > 0.0
    if not bears:
        w[BEARS] = w[EARLIER] = w[EARLIER + 1] = w[EARLIER + 2] = 0.0
        return was > 0.0
    w[EARLIER] = pn
    if was == 0.0:
        w[BEARS] = 2.0
        return True
    if was == 2.0:
        z1 = held * w[IMPULSE + 1] + _STIFF / w[ANSWER + 3] * (w[SLIDES] - s1)
        z2 = held * w[IMPULSE + 2] + _STIFF / w[ANSWER + 5] * (w[SLIDES + 1] - s2)
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
def _assemble(work, order, begin, end, xi, mobility, shared, held, rank, at, first, values, x):
    """The equations of an island: values and right-hand side x, as `eliminate` has them."""
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
                note_mass(block, mobility[k])
                for c in range(6):
                    for d in range(c + 1):
                        values[at[i + c] + i + d - first[i + c]] += block[c, d]
        for direction in range(3):
            unknown = w[BEARS] == 2.0 or (direction == 0 and w[BEARS] == 1.0)
            aim, weight = _equation(w, direction)
            speed = speeds[0] if direction == 0 else speeds[1] if direction == 1 else speeds[2]
            push = w[EARLIER + direction] - w[IMPULSE + direction]
            if unknown:
                push = weight * (aim - speed) - (1.0 - held) * w[IMPULSE + direction]
            elif push == 0.0:
                continue
            note_reach(w, direction, reach)
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
def _guess(work, order, begin, end, xi, mobility, shared, held, rank, at, first, values, x, tolerance):
    """Solve the equations of the present guess, and guess again: how many rows were wrong; below 0 where it fails."""
    _assemble(work, order, begin, end, xi, mobility, shared, held, rank, at, first, values, x)
    if not eliminate(values, at, first, x):
        return -1
    wrong = 0
    for p in range(begin, end):
        w = work[order[p]]
        s0, s1, s2 = _speeds_after(w, speeds_of(xi, shared, w), rank, x)
        wrong += _guess_again(w, s0, s1, s2, held, tolerance)
    return wrong


@fastmath
def _take(work, order, begin, end, xi, mobility, shared):
    """Have the impulses of the latest guess act."""
    for p in range(begin, end):
        w = work[order[p]]
        f0, f1, f2 = w[EARLIER] - w[IMPULSE], w[EARLIER + 1] - w[IMPULSE + 1], w[EARLIER + 2] - w[IMPULSE + 2]
        if f0 != 0.0 or f1 != 0.0 or f2 != 0.0:
            push_by(xi, mobility, shared, w, f0, f1, f2)
        for c in range(3):
            w[IMPULSE + c] = w[SWEPT + c] = w[EARLIER + c]


@fastmath
def solve_at_once(work, order, begin, end, xi, mobility, shared, tolerance):
    """Impulses and velocities of an island by the equations of what bears, by the last guess where none agrees with
    what follows from it. Whether it was done: not where that is dear."""
    rank, most = np.empty(mobility.shape[0], np.int64), min(2 * (end - begin), mobility.shape[0])
    lowest = np.empty(most, np.int64)
    count = arranged(work, order, begin, end, rank, lowest)
    if is_dear(lowest, count, end - begin):
        return False
    at, first, x = np.empty(6 * count, np.int64), np.empty(6 * count, np.int64), np.empty(6 * count)
    values = np.empty(envelope(lowest, count, at, first))
    for p in range(begin, end):
        w = work[order[p]]
        _begin_guess(w, speeds_of(xi, shared, w)[0])
    wrong = -1
    for _ in range(_GUESSES):
        wrong = _guess(
            work, order, begin, end, xi, mobility, shared, 0.0, rank, at, first, values, x, tolerance
        )
        if wrong < 0:
            return False
        if wrong == 0:
            break
    _take(work, order, begin, end, xi, mobility, shared)
    # What gave way by then is made good by the same equations for what lacks.
    if (
        wrong == 0
        and _guess(work, order, begin, end, xi, mobility, shared, 1.0, rank, at, first, values, x, tolerance)
        == 0
    ):
        _take(work, order, begin, end, xi, mobility, shared)
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
            twist_by(xi, mobility, w, c, w[UNDONE + 3 + c] - w[TORQUE + c])
            w[TORQUE + c] = w[UNDONE + 3 + c]
