"""Impulses of all rows: islands of what hangs together, sweeps over each, and between them all of it at once."""

import numpy as np

from sim.contact.active_set import solve_at_once, undo
from sim.contact.coulomb import obeyed, steep
from sim.contact.pair_rows import (
    AIM,
    ANEW,
    ANSWER,
    EARLIER,
    IMPULSE,
    LEFT,
    MU,
    RIGHT,
    ROLLS,
    SHARED,
    SLIDES,
    SPINS,
    SWEPT,
    TORQUE,
    push_by,
    push_row,
    speeds_of,
    turning,
    turns_by,
    twist_by,
)
from sim.contact.relaxed import settle
from sim.contact.solver import stopped
from sim.native.function import fastmath

_ROWS_SWEPT, _LOOSE = 30_000, 100.0
"""So many rows are swept over in an island at least, until it is solved to so many tolerances: small ones may jam."""
_SMALL, _LARGE = 30, 120
"""Of more rows that is less, in proportion; more than the other are swept half as often if solved again in a step."""
_JAMS, _JAMMED_MPS = 4, 1e-2
"""So many times as often as that are swept those which change by more than so much still."""
_EXACT = 0.5
"""Of the sweeps asked for, from which on each contact is solved exactly."""
_GROWN, _LESS = 2.0, 0.9
"""Where changes grow by that, sweeps go back to none of their extrapolation, and never to more than a part of it."""
_SOLVED_FIRST, _SOLVED_EVERY, _FAILURES, _BETTER = 2, 4, 2, 0.5
"""Sweeps after which an island is solved at once, and between which it is again, until so often that has failed, or
changed by more than such a part of what the sweep before did."""
_LATER = 4
"""Times as many sweeps pass after each failure, by which guesses begin nearer to what is looked for."""


@fastmath
def _resist(xi, mobility, w):
    """Stop rolling and spinning as far as the normal impulse lets; returns by how much a rim's speed changed [m/s]."""
    change = 0.0
    if w[SPINS] > 0.0:
        answer = turns_by(mobility, w, 0, 0)
        if answer > 0.0:
            before, bound = w[TORQUE], w[SPINS] * w[IMPULSE]
            w[TORQUE] = min(max(before - turning(xi, w, 0) / answer, -bound), bound)
            twist_by(xi, mobility, w, 0, w[TORQUE] - before)
            change = max(change, abs(w[TORQUE] - before) * answer * w[SPINS])
    if w[ROLLS] > 0.0:
        ss, st, tt = (
            turns_by(mobility, w, 1, 1),
            turns_by(mobility, w, 1, 2),
            turns_by(mobility, w, 2, 2),
        )
        if ss * tt > st * st:
            # rolling any way costs the same: as friction, straight against where it rolls
            ps, pt = w[TORQUE + 1], w[TORQUE + 2]
            bound = w[ROLLS] * w[IMPULSE]
            qs, qt = stopped(ss, st, tt, ps, pt, turning(xi, w, 1), turning(xi, w, 2), bound)
            w[TORQUE + 1], w[TORQUE + 2] = qs, qt
            twist_by(xi, mobility, w, 1, qs - ps)
            twist_by(xi, mobility, w, 2, qt - pt)
            change = max(change, max(abs(qs - ps) * ss, abs(qt - pt) * tt) * w[ROLLS])
    return change


@fastmath
def _sweep(work, order, begin, end, xi, mobility, shared, exactly):
    """Once over rows order[begin:end], each of them exactly or those alone that need it; the greatest change of a
    velocity [m/s]."""
    change = 0.0
    for p in range(begin, end):
        w = work[order[p]]
        vn, vs, vt = speeds_of(xi, shared, w)
        q0, q1, q2 = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2]
        pn, ps, pt = q0, q1, q2
        slanting = exactly or steep(w)
        if slanting:
            pn, ps, pt = obeyed(w, vn, vs, vt)
            change = max(change, max(abs(ps - q1), abs(pt - q2)) * w[ANSWER])
        elif q0 > 0.0 or q1 != 0.0 or q2 != 0.0:
            ps, pt = stopped(
                w[ANSWER + 3],
                w[ANSWER + 4],
                w[ANSWER + 5],
                q1,
                q2,
                vs - w[SLIDES],
                vt - w[SLIDES + 1],
                w[MU] * q0,
            )
            change = max(change, max(abs(ps - q1), abs(pt - q2)) * w[ANSWER])
            vn += w[ANSWER + 1] * (ps - q1) + w[ANSWER + 2] * (pt - q2)
        if not slanting:
            pn = max(q0 + (w[AIM] - vn) / w[ANSWER], 0.0)
        change = max(change, abs(pn - q0) * w[ANSWER])
        if pn != q0 or ps != q1 or pt != q2:
            push_by(xi, mobility, shared, w, pn - q0, ps - q1, pt - q2)
            w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2] = pn, ps, pt
        if (w[ROLLS] > 0.0 or w[SPINS] > 0.0) and w[SHARED] < 0.0:
            change = max(change, _resist(xi, mobility, w))
    return change


@fastmath
def _solve_island(work, order, begin, end, xi, mobility, shared, sweeps, tolerance, again):
    """Gauss-Seidel sweeps, between which Nesterov's method extrapolates impulses, begun again where that leads back (H.
    Mazhar and others, "Using Nesterov's method to accelerate multibody dynamics with friction and contact", 2015).
    Returns by how much velocities changed in the last sweep [m/s], after which nothing but that sweep was done."""
    change, t, least, most = 0.0, 1.0, np.inf, 1.0
    enough, count = sweeps, max(end - begin, 1)
    if again and count > _LARGE:
        sweeps = sweeps // 2
    sweeps = max(sweeps, _ROWS_SWEPT * min(_SMALL, count) // (count * count))
    for p in range(begin, end):
        w = work[order[p]]
        w[SWEPT], w[SWEPT + 1], w[SWEPT + 2] = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2]
    failed, hoped, exact = 0, np.inf, _EXACT * enough
    due, pause, settles = _SOLVED_FIRST, _SOLVED_EVERY, count <= _SMALL
    for p in range(begin, end):
        w = work[order[p]]
        settles = settles and w[SHARED] < 0.0
        if w[SHARED] >= 0.0 or w[ROLLS] > 0.0 or w[SPINS] > 0.0:
            failed = _FAILURES
    for sweep in range(_JAMS * sweeps):
        if failed < _FAILURES and sweep == due:
            due += _SOLVED_EVERY
            if solve_at_once(work, order, begin, end, xi, mobility, shared, tolerance):
                t, least, hoped = 1.0, np.inf, _BETTER * change
            else:
                failed, pause = failed + 1, _LATER * pause
                due = sweep + pause
        jams = settles and sweep == enough and change > _LOOSE * tolerance
        if jams and settle(work, order, begin, end, xi, mobility, shared, tolerance):
            t, least, hoped = 1.0, np.inf, _BETTER * change
        for p in range(begin, end):
            w = work[order[p]]
            w[EARLIER], w[EARLIER + 1], w[EARLIER + 2] = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2]
        change = _sweep(work, order, begin, end, xi, mobility, shared, sweep >= exact)
        if change > hoped:
            failed += 1
        if change * _BETTER > hoped:
            undo(work, order, begin, end, xi, mobility, shared)
            hoped = np.inf
            continue
        hoped = np.inf
        if change < tolerance or (sweep >= enough and change < _LOOSE * tolerance):
            break
        if sweep + 2 >= (_JAMS * sweeps if change > _JAMMED_MPS else sweeps):
            break
        back = 0.0
        for p in range(begin, end):
            w = work[order[p]]
            for c in range(3):
                back += w[ANSWER] * (w[EARLIER + c] - w[IMPULSE + c]) * (w[IMPULSE + c] - w[SWEPT + c])
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        share, t = min((t - 1.0) / after, most), after
        grown = change > _GROWN * least
        if grown:
            most *= _LESS
        if back > 0.0 or grown:
            share, t, least = 0.0, 1.0, np.inf
        least = min(least, change)
        for p in range(begin, end):
            w = work[order[p]]
            f0, f1, f2 = (
                share * (w[IMPULSE] - w[SWEPT]),
                share * (w[IMPULSE + 1] - w[SWEPT + 1]),
                share * (w[IMPULSE + 2] - w[SWEPT + 2]),
            )
            w[SWEPT], w[SWEPT + 1], w[SWEPT + 2] = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2]
            if f0 != 0.0 or f1 != 0.0 or f2 != 0.0:
                w[IMPULSE] += f0
                w[IMPULSE + 1] += f1
                w[IMPULSE + 2] += f2
                push_by(xi, mobility, shared, w, f0, f1, f2)
    return change


@fastmath
def _root(above, i):
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


@fastmath
def islands(work, rows, bodies, above, order, begins):
    """Rows that hang together by what moves: `order` (rows,) has them one after the other, `begins` (rows + 1,) where
    each island does, and the end of all; how many islands. above (2, bodies + 1) is overwritten; a mechanism is one
    body."""
    root, place = above[0], above[1]
    for k in range(rows):
        w = work[k]
        for i in (int(w[LEFT]), int(w[RIGHT]), bodies):
            if i >= 0:
                root[i], place[i] = i, 0
    for k in range(rows):
        i, j = int(work[k, LEFT]), int(work[k, RIGHT])
        if work[k, SHARED] >= 0.0:
            i, j = max(i, j), bodies
        if i >= 0 and j >= 0:
            a, b = _root(root, i), _root(root, j)
            root[max(a, b)] = min(a, b)
    for k in range(rows):
        place[_root(root, _mover(work[k], bodies))] += 1
    count, used = 0, 0
    for k in range(rows):
        i = _root(root, _mover(work[k], bodies))
        # Below zero once it has its place.
        if place[i] > 0:
            begins[count] = used
            used += place[i]
            place[i] = -1 - begins[count]
            count += 1
    begins[count] = used
    for k in range(rows):
        i = _root(root, _mover(work[k], bodies))
        order[-1 - place[i]] = k
        place[i] -= 1
    return count


@fastmath
def _mover(w, bodies):
    """A body of the row that moves."""
    i = max(int(w[LEFT]), int(w[RIGHT]))
    return bodies if i < 0 else i


@fastmath
def solve(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance):
    """Impulses of all rows and velocities after them, from the impulses that the rows have. Returns the greatest change
    of a velocity in the last sweep of any island [m/s]."""
    for k in range(rows):
        push_row(xi, mobility, shared, work[k])
        work[k, ANEW] = 1.0
    return _solve_all(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance, False)


@fastmath
def solve_on(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance):
    """The same, of rows whose impulses act already, in islands with some that are anew."""
    return _solve_all(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance, True)


@fastmath
def _solve_all(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance, again):
    change = 0.0
    for island in range(count):
        anew = False
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            anew = anew or w[ANEW] != 0.0
        if not anew:
            continue
        change = max(
            change,
            _solve_island(
                work,
                order,
                begins[island],
                begins[island + 1],
                xi,
                mobility,
                shared,
                sweeps,
                tolerance,
                again,
            ),
        )
    return change
