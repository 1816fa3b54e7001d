"""Contacts of one island where neither sweeps nor guesses settle: by convex problems, each solved for sure.

If what slides also opened by its coefficient of friction times how fast it slides, impulses would be the least of a
convex problem (M. Anitescu, "Optimization-based simulation of nonsmooth rigid multibody dynamics", 2006). It is solved
for the twists of all bodies by Newton's method with an exact search along each step, where each contact gives way a
little (A. Castro and others, "An unconstrained convex formulation of compliant contact", 2022). Aims are then lowered
by what slides would open, and contacts hold what they bear, until neither changes: that is Coulomb's law (V. Acary and
others, "A formulation of the linear discrete Coulomb friction problem via convex optimization", 2011). What resists
rolling and spinning is bounded by the load of the problem before.
"""

import numpy as np

from sim.contact.envelope import arranged, eliminate, envelope, is_dear, note_mass, note_reach
from sim.contact.pair_rows import (
    AIM,
    ANSWER,
    IMPULSE,
    LEFT,
    MU,
    NORMAL,
    ROLLS,
    SLIDES,
    SPINS,
    SWEPT,
    TORQUE,
    UNDONE,
    push_by,
    speeds_of,
    turning,
    turns_by,
    twist_by,
)
from sim.native.function import fastmath

_STIFF = 1e3
"""Times what a contact answers it is stiffer than that."""
_PROBLEMS, _STEPS, _LOOKS = 120, 30, 24
"""So many at most: convex problems, steps of Newton's method in each, looks along a step."""
_EXACT, _FOUND = 1e-2, 0.05
"""Of its slope at the beginning, to which a search goes; of what the law is missed by, to which a problem is solved."""
_SHY, _SHYEST = 0.8, 0.1
"""Where the law is missed by more than before, aims go only so much less of their way, and never less than that."""
# numbers of a row that this needs: speeds without its island's impulses, and stiffness, along six directions; impulses
# that it holds, and impulses now; by which its aim is lowered; bounds of spinning and rolling resistance
_FREE, _STIFFNESS, _HELD, _NOW, _LOWER, _BOUNDS, _WIDTH = 0, 6, 12, 18, 24, 25, 27


@fastmath
def _note(w, row, mobility):
    """Of a row: along which of the six directions it bears, and how stiffly."""
    k = row[_STIFFNESS : _STIFFNESS + 6]
    k[0] = _STIFF / w[ANSWER]
    k[1] = k[2] = _STIFF / max(w[ANSWER + 3], w[ANSWER + 5])
    k[3] = k[4] = k[5] = 0.0
    if w[SPINS] > 0.0:
        answer = turns_by(mobility, w, 0, 0)
        k[3] = _STIFF / answer if answer > 0.0 else 0.0
    if w[ROLLS] > 0.0:
        answer = max(turns_by(mobility, w, 1, 1), turns_by(mobility, w, 2, 2))
        k[4] = k[5] = _STIFF / answer if answer > 0.0 else 0.0
    for c in range(6):
        row[_HELD + c] = row[_NOW + c] = 0.0
    row[_LOWER] = row[_BOUNDS] = row[_BOUNDS + 1] = 0.0


@fastmath
def _bear(w, row, v, slope):
    """Impulses of a row into its _NOW, from speeds v (6,) beyond those without impulses; into slope (6, 6), which is
    symmetric, by how much they fall as speeds grow. Whether it slides."""
    k, held, now, mu = (
        row[_STIFFNESS : _STIFFNESS + 6],
        row[_HELD : _HELD + 6],
        row[_NOW : _NOW + 6],
        w[MU],
    )
    for c in range(6):
        for d in range(6):
            slope[c, d] = 0.0
    z0 = held[0] + k[0] * (w[AIM] - row[_LOWER] - row[_FREE] - v[0])
    z1 = held[1] + k[1] * (w[SLIDES] - row[_FREE + 1] - v[1])
    z2 = held[2] + k[1] * (w[SLIDES + 1] - row[_FREE + 2] - v[2])
    size, slides = np.sqrt(z1 * z1 + z2 * z2), False
    now[0] = now[1] = now[2] = 0.0
    if size <= mu * z0:
        now[0], now[1], now[2] = z0, z1, z2
        for c in range(3):
            slope[c, c] = k[c]
    else:
        give = 1.0 / k[0] + mu * mu / k[1]
        pn = (z0 / k[0] + mu * size / k[1]) / give
        if pn > 0.0:
            slides = True
            x, y = (z1 / size, z2 / size) if size > 0.0 else (1.0, 0.0)
            now[0], now[1], now[2] = pn, mu * pn * x, mu * pn * y
            along, across = mu * mu / give, mu * pn * k[1] / max(size, 1e-300)
            slope[0, 0] = 1.0 / give
            slope[0, 1] = slope[1, 0] = mu * x / give
            slope[0, 2] = slope[2, 0] = mu * y / give
            slope[1, 1] = along * x * x + across * y * y
            slope[2, 2] = along * y * y + across * x * x
            slope[1, 2] = slope[2, 1] = (along - across) * x * y
    z3, z4, z5 = (
        held[3] - k[3] * (row[_FREE + 3] + v[3]),
        held[4] - k[4] * (row[_FREE + 4] + v[4]),
        held[5] - k[4] * (row[_FREE + 5] + v[5]),
    )
    bound = row[_BOUNDS]
    now[3] = min(max(z3, -bound), bound)
    if abs(z3) < bound:
        slope[3, 3] = k[3]
    bound, size = row[_BOUNDS + 1], np.sqrt(z4 * z4 + z5 * z5)
    now[4], now[5] = z4, z5
    if size < bound:
        slope[4, 4] = slope[5, 5] = k[4]
    else:
        x, y = (z4 / size, z5 / size) if size > 0.0 else (1.0, 0.0)
        now[4], now[5] = bound * x, bound * y
        across = bound * k[4] / max(size, 1e-300)
        slope[4, 4], slope[5, 5] = across * y * y, across * x * x
        slope[4, 5] = slope[5, 4] = -across * x * y
    return slides


@fastmath
def _along(reach, rank, w, x, v):
    """Speeds v (6,) of a row along its directions, of twists x of all bodies."""
    for c in range(6):
        v[c] = 0.0
    for side in range(2):
        i = int(w[LEFT + side])
        for c in range(6 if i >= 0 else 0):
            for d in range(6):
                v[c] += reach[c, 6 * side + d] * x[rank[i] + d]


@fastmath
def _reached(reach, rank, w, p, x):
    """Add to x what impulses p (6,) of a row do to the momenta of its bodies."""
    for side in range(2):
        i = int(w[LEFT + side])
        for c in range(6 if i >= 0 else 0):
            for d in range(6):
                x[rank[i] + d] += reach[c, 6 * side + d] * p[c]


@fastmath
def _add(reach, rank, w, slope, at, first, values):
    """Add a row's slope (6, 6) to the matrix of the twists of its bodies."""
    for side in range(2):
        i = int(w[LEFT + side])
        for other in range(2 if i >= 0 else 0):
            j = int(w[LEFT + other])
            if j < 0 or rank[j] > rank[i]:
                continue
            for a in range(6):
                for b in range(6):
                    if slope[a, b] == 0.0:
                        continue
                    for c in range(6):
                        begins = at[rank[i] + c] + rank[j] - first[rank[i] + c]
                        along = slope[a, b] * reach[a, 6 * side + c]
                        for d in range(c + 1 if i == j else 6):
                            values[begins + d] += along * reach[b, 6 * other + d]


@fastmath
def _weigh(mass, x, momentum):
    """Momenta of all bodies of twists x."""
    for i in range(mass.shape[0]):
        for c in range(6):
            momentum[6 * i + c] = 0.0
            for d in range(6):
                momentum[6 * i + c] += mass[i, max(c, d), min(c, d)] * x[6 * i + d]


@fastmath
def _solve_convex(
    work, order, begin, rows, reach, rank, mass, at, first, values, x, step, momentum, speeds, missed
):
    """Twists x beyond those without impulses, and impulses of the rows, of the present convex problem, to a speed
    that the momentum may lack. Whether it could be solved."""
    slope = np.empty((6, 6))
    for _ in range(_STEPS):
        values[:] = 0.0
        _weigh(mass, x, momentum)
        for i in range(mass.shape[0]):
            for c in range(6):
                for d in range(c + 1):
                    values[at[6 * i + c] + 6 * i + d - first[6 * i + c]] = mass[i, c, d]
        for c in range(x.shape[0]):
            step[c] = -momentum[c]
        for k in range(rows.shape[0]):
            w, v = work[order[begin + k]], speeds[0, k]
            _along(reach[k], rank, w, x, v)
            _bear(w, rows[k], v, slope)
            _reached(reach[k], rank, w, rows[k, _NOW : _NOW + 6], step)
            _add(reach[k], rank, w, slope, at, first, values)
        lacks = 0.0
        for i in range(mass.shape[0]):
            for c in range(6):
                lacks = max(lacks, abs(step[6 * i + c]) / mass[i, c, c])
        if lacks < missed:
            return True
        if not eliminate(values, at, first, step):
            return False
        # Along the step the slope of what is least grows: it is nothing somewhere between two lengths.
        begins = bends = 0.0
        for c in range(x.shape[0]):
            begins += momentum[c] * step[c]
        _weigh(mass, step, momentum)
        for c in range(x.shape[0]):
            bends += momentum[c] * step[c]
        for k in range(rows.shape[0]):
            _along(reach[k], rank, work[order[begin + k]], step, speeds[1, k])
        low, high, length, known = 0.0, -1.0, 1.0, 0.0
        for look in range(_LOOKS):
            rises = begins + (length if look > 0 else 0.0) * bends
            for k in range(rows.shape[0]):
                w = work[order[begin + k]]
                for c in range(6):
                    speeds[2, k, c] = speeds[0, k, c] + (length if look > 0 else 0.0) * speeds[1, k, c]
                _bear(w, rows[k], speeds[2, k], slope)
                for c in range(6):
                    rises -= rows[k, _NOW + c] * speeds[1, k, c]
            if look == 0:
                known = abs(rises)
                continue
            if abs(rises) <= _EXACT * known:
                break
            if rises > 0.0:
                high = length
            else:
                low = length
            length = 2.0 * length if high < 0.0 else 0.5 * (low + high)
        for c in range(x.shape[0]):
            x[c] += length * step[c]
    return True


@fastmath
def _amend(w, row, v, share):
    """Have a row's aim, bounds and held impulses follow from the problem that was solved, where its speeds are v (6,)
    beyond those without impulses; share: of the way. By how much that misses the law [m/s]."""
    k, held, now = row[_STIFFNESS : _STIFFNESS + 6], row[_HELD : _HELD + 6], row[_NOW : _NOW + 6]
    missed, opens = 0.0, 0.0
    s1, s2 = v[1] + row[_FREE + 1] - w[SLIDES], v[2] + row[_FREE + 2] - w[SLIDES + 1]
    size = np.sqrt(now[1] * now[1] + now[2] * now[2])
    if now[0] > 0.0 and size >= (1.0 - 1e-9) * w[MU] * now[0]:
        opens = w[MU] * np.sqrt(s1 * s1 + s2 * s2)
    missed = max(missed, abs(opens - row[_LOWER]))
    row[_LOWER] += share * (opens - row[_LOWER])
    for c in range(3):
        missed = max(missed, abs(now[c] - held[c]) / k[c])
        held[c] = now[c]
    for c in range(2):
        arm = w[SPINS] if c == 0 else w[ROLLS]
        bound = arm * now[0]
        if k[3 + c] > 0.0:
            missed = max(missed, abs(bound - row[_BOUNDS + c]) / k[3 + c] * _STIFF * arm)
        row[_BOUNDS + c] = bound
    held[3] = min(max(now[3], -row[_BOUNDS]), row[_BOUNDS])
    size = np.sqrt(now[4] * now[4] + now[5] * now[5])
    fits = row[_BOUNDS + 1] / size if size > row[_BOUNDS + 1] else 1.0
    held[4], held[5] = fits * now[4], fits * now[5]
    return missed


@fastmath
def settle(work, order, begin, end, xi, mobility, shared, tolerance):
    """Impulses and velocities of an island of which no mechanism is. Whether anything was done: not where that is
    dear."""
    n, most = end - begin, min(2 * (end - begin), mobility.shape[0])
    rank, lowest = np.empty(mobility.shape[0], np.int64), np.empty(most, np.int64)
    count = arranged(work, order, begin, end, rank, lowest)
    if is_dear(lowest, count, n):
        return False
    at, first = np.empty(6 * count, np.int64), np.empty(6 * count, np.int64)
    values = np.empty(envelope(lowest, count, at, first))
    x, step, momentum = np.zeros(6 * count), np.empty(6 * count), np.empty(6 * count)
    mass, reach, rows = np.zeros((count, 6, 6)), np.zeros((n, 6, 12)), np.empty((n, _WIDTH))
    speeds = np.empty((3, n, 6))
    for k in range(n):
        w = work[order[begin + k]]
        push_by(xi, mobility, shared, w, -w[IMPULSE], -w[IMPULSE + 1], -w[IMPULSE + 2])
        for c in range(3):
            twist_by(xi, mobility, w, c, -w[TORQUE + c])
            w[UNDONE + c], w[UNDONE + 3 + c] = w[IMPULSE + c], w[TORQUE + c]
            note_reach(w, c, reach[k, c])
            for side in range(2):
                for d in range(3):
                    along = w[NORMAL + 3 * c + d]
                    reach[k, 3 + c, 6 * side + d] = along if side else -along
        for side in range(2):
            i = int(w[LEFT + side])
            if i >= 0:
                note_mass(mass[rank[i] // 6], mobility[i])
        _note(w, rows[k], mobility)
    for k in range(n):
        w, row = work[order[begin + k]], rows[k]
        speed, first_speed, second_speed = speeds_of(xi, shared, w)
        row[_FREE], row[_FREE + 1], row[_FREE + 2] = speed, first_speed, second_speed
        for c in range(3):
            row[_FREE + 3 + c] = turning(xi, w, c)
    share, before, missed = 1.0, np.inf, 1.0
    for _ in range(_PROBLEMS):
        if not _solve_convex(
            work,
            order,
            begin,
            rows,
            reach,
            rank,
            mass,
            at,
            first,
            values,
            x,
            step,
            momentum,
            speeds,
            max(_FOUND * missed, 0.1) * tolerance,
        ):
            break
        lacks = 0.0
        for k in range(n):
            w = work[order[begin + k]]
            lacks = max(lacks, _amend(w, rows[k], speeds[0, k], share))
        missed = lacks / tolerance
        if missed < 1.0:
            break
        if lacks > before:
            share = max(_SHY * share, _SHYEST)
        before = lacks
    for k in range(n):
        w, held = work[order[begin + k]], rows[k, _HELD : _HELD + 6]
        push_by(xi, mobility, shared, w, held[0], held[1], held[2])
        for c in range(3):
            twist_by(xi, mobility, w, c, held[3 + c])
            w[IMPULSE + c] = w[SWEPT + c] = held[c]
            w[TORQUE + c] = held[3 + c]
    return True
