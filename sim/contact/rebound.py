"""Rebound of several contacts at once that takes energy and adds none, in compiled code.

Newton's law, contact by contact, may add energy where contacts share bodies or have friction. Then impulses are found
again without any rebound, which only take energy, and of the way from these to the others as much is gone as keeps it:
gaps stay closed and impulses in their cones, since both are convex, and energy is quadratic along the way.
"""

import numpy as np

from sim.contact.islands import solve
from sim.contact.pair_rows import AIM, BASE, BEFORE, IMPULSE, TORQUE, push_row, row_speeds
from sim.native.function import fastmath

_OTHER, _OTHER_SPEED = BEFORE + 3, BEFORE + 6
"""Impulses and speeds with rebound."""


@fastmath
def _gain(w, speeds):
    """Twice the work [J] of impulses that lead from a row's speeds before to these, beyond what parts overlaps."""
    total = -2.0 * max(w[BASE], 0.0) * w[IMPULSE]
    for c in range(3):
        total += w[IMPULSE + c] * (w[BEFORE + c] + speeds[c])
    return total


@fastmath
def _begin_again(workspace, shared, velocity_before):
    for k in range(1, workspace.live[0] + 1):
        i = workspace.live[k]
        for c in range(6):
            workspace.twists[i, c] = workspace.freely[i, c]
    for c in range(velocity_before.shape[0]):
        shared.velocity[c] = velocity_before[c]


@fastmath
def keep_energy(
    work, rows, order, begins, count, workspace, mobility, shared, sweeps, tolerance, velocity_before
):
    """After `solve`: where contacts have added energy, impulses and velocities as this module says.

    velocity_before: a mechanism's without contact. Returns the greatest change of the last sweep that it took [m/s].
    """
    xi = workspace.twists
    end = 0.0
    for k in range(rows):
        w = work[k]
        speeds = row_speeds(xi, shared, w)
        end += _gain(w, speeds)
        for c in range(3):
            w[_OTHER + c], w[_OTHER_SPEED + c] = w[IMPULSE + c], speeds[c]
    if end <= 0.0:
        return 0.0
    for k in range(rows):
        w = work[k]
        w[AIM] = w[BASE]
        for c in range(3):
            w[IMPULSE + c] = w[TORQUE + c] = 0.0
    _begin_again(workspace, shared, velocity_before)
    change = solve(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
    begin = bend = 0.0
    for k in range(rows):
        w = work[k]
        speeds = row_speeds(xi, shared, w)
        begin += _gain(w, speeds)
        for c in range(3):
            bend += (w[_OTHER + c] - w[IMPULSE + c]) * (w[_OTHER_SPEED + c] - speeds[c])
    # begin + slope s + bend s^2 = 0
    slope, share = end - begin - bend, 0.0
    if begin < 0.0:
        root = np.sqrt(max(slope * slope - 4.0 * bend * begin, 0.0))
        share = min(max(-2.0 * begin / max(slope + root, 1e-300), 0.0), 1.0)
    _begin_again(workspace, shared, velocity_before)
    for k in range(rows):
        w = work[k]
        for c in range(3):
            w[IMPULSE + c] += share * (w[_OTHER + c] - w[IMPULSE + c])
        push_row(xi, mobility, shared, w)
    return change
