"""Rebound of several contacts at once that takes energy and adds none, in compiled code.

Newton's law, contact by contact, may add energy where contacts share bodies or have friction. Then impulses of that
island are found again without any rebound, which only take energy, and of the way from these to the others as much is
gone as keeps it: gaps stay closed and impulses in their cones, since both are convex, and energy is quadratic along the
way. Energy is that at the nodes of steps, which a ball that falls and bounces keeps: places half a step before, so that
impulses work on the mean of the velocities after them and of those before gravity was taken in.
"""

import numpy as np

from sim.contact.islands import solve_on
from sim.contact.pair_rows import (
    AIM,
    ANEW,
    BASE,
    IMPULSE,
    LEFT,
    NORMAL,
    REBOUNDED,
    RIGHT,
    SHARED,
    SLIDES,
    TORQUE,
    Shared,
    push_row,
    row_speeds,
    turning,
)
from sim.native.function import fastmath

_ROUNDED = 1e-9
"""Part of the work of what parts that counts as none."""


@fastmath
def told_work(w):
    """Work [J] that a row tells: what it aims at beyond rest."""
    along = w[IMPULSE + 1] * w[SLIDES] + w[IMPULSE + 2] * w[SLIDES + 1]
    return max(w[IMPULSE] * w[BASE], 0.0) + max(along, 0.0)


@fastmath
def _gain(freely, before, xi, shared, w, falls):
    """Twice the work [J] of a row's impulses beyond what it tells, those against rolling and spinning among them.

    freely (n, 6), before: velocities without contact; falls: by so much those of bodies were higher before gravity.
    """
    earlier, speeds = row_speeds(freely, before, w), row_speeds(xi, shared, w)
    higher = falls * ((1.0 if w[RIGHT] >= 0.0 else 0.0) - (1.0 if w[LEFT] >= 0.0 else 0.0))
    total = -2.0 * told_work(w)
    for c in range(3):
        total += w[IMPULSE + c] * (earlier[c] + speeds[c] + higher * w[NORMAL + 3 * c + 2])
        if w[TORQUE + c] != 0.0:
            total += w[TORQUE + c] * (turning(freely, w, c) + turning(xi, w, c))
    return total


@fastmath
def _begin_again(work, order, begin, end, freely, xi, before, shared):
    """Velocities without contact of all that rows order[begin:end] are at."""
    for p in range(begin, end):
        w = work[order[p]]
        for side in range(2):
            i = int(w[LEFT + side])
            for c in range(6 if i >= 0 else 0):
                xi[i, c] = freely[i, c]
        for c in range(before.velocity.shape[0] if w[SHARED] >= 0.0 else 0):
            shared.velocity[c] = before.velocity[c]


@fastmath
def keep_energy(
    work, order, begins, count, workspace, mobility, shared, sweeps, tolerance, velocity_before, falls
):
    """After impulses were found: where contacts have added energy, impulses and velocities as this module says, and
    aims that keep them.

    velocity_before: a mechanism's without contact. falls: gravity's part [m/s] in velocities without contact, beyond
    those that count. Returns the greatest change of the last sweep that it took [m/s].
    """
    xi, freely, ends, most = workspace.twists, workspace.freely, np.zeros(count), 0.0
    before = Shared(shared.reach, shared.answer, velocity_before)
    for island in range(count):
        total, size, rebounds = 0.0, 0.0, False
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            total += _gain(freely, before, xi, shared, w, falls)
            size += w[IMPULSE] * abs(row_speeds(xi, shared, w)[0])
            rebounds = rebounds or w[AIM] > w[BASE]
        gains = rebounds and total > _ROUNDED * size
        ends[island] = total if gains else 0.0
        most = max(most, ends[island])
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            w[ANEW] = 1.0 if gains else 0.0
            if not gains:
                continue
            speeds = row_speeds(xi, shared, w)
            for c in range(3):
                w[REBOUNDED + c], w[REBOUNDED + 3 + c] = w[IMPULSE + c], speeds[c]
                w[REBOUNDED + 6 + c], w[REBOUNDED + 9 + c] = w[TORQUE + c], turning(xi, w, c)
                w[IMPULSE + c] = w[TORQUE + c] = 0.0
            w[AIM] = w[BASE]
        if gains:
            _begin_again(work, order, begins[island], begins[island + 1], freely, xi, before, shared)
    if most == 0.0:
        return 0.0
    rows = int(begins[count])
    change = solve_on(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
    for island in range(count):
        begin, bend, end = 0.0, 0.0, ends[island]
        if end == 0.0:
            continue
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            speeds = row_speeds(xi, shared, w)
            begin += _gain(freely, before, xi, shared, w, falls)
            for c in range(3):
                bend += (w[REBOUNDED + c] - w[IMPULSE + c]) * (w[REBOUNDED + 3 + c] - speeds[c])
                bend += (w[REBOUNDED + 6 + c] - w[TORQUE + c]) * (w[REBOUNDED + 9 + c] - turning(xi, w, c))
        # begin + slope s + bend s^2 = 0
        slope, share = end - begin - bend, 0.0
        if begin < 0.0:
            root = np.sqrt(max(slope * slope - 4.0 * bend * begin, 0.0))
            share = min(max(-2.0 * begin / max(slope + root, 1e-300), 0.0), 1.0)
        _begin_again(work, order, begins[island], begins[island + 1], freely, xi, before, shared)
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            for c in range(3):
                w[IMPULSE + c] += share * (w[REBOUNDED + c] - w[IMPULSE + c])
                w[TORQUE + c] += share * (w[REBOUNDED + 6 + c] - w[TORQUE + c])
            push_row(xi, mobility, shared, w)
        for p in range(begins[island], begins[island + 1]):
            w = work[order[p]]
            if w[IMPULSE] > 0.0:
                w[AIM] = max(w[BASE], row_speeds(xi, shared, w)[0])
    return change
