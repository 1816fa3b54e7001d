"""Rigid bodies that touch one another, the ground and what stays: rows, impulses and steps, in compiled code.

A step takes gravity in, finds the impulses under which no contact closes more than its gap and none leaves Coulomb's
cone (Moreau's sweeping process in the velocity form of Jean, as of the ground in `wrench`), and moves the bodies on:
places by their velocity, rotations by the midpoint rule of the free body, whose Cayley map keeps spin and energy. Where
a fast pair would meet before the step's end, the step is cut there.
"""

from typing import NamedTuple

import numpy as np

from sim.compiled import compiled, fastmath
from sim.contact.approach import NEAR_M, meeting, moved_pose, near_pairs, turn
from sim.contact.convex import WORKSPACE, Hulls, normal_between
from sim.contact.height_field import surface_patch
from sim.contact.manifold import POINT_WIDTH, touching_points
from sim.contact.rows import AIM, GAP, IMPULSE, INVERSE_MASS, ROW_WIDTH
from sim.contact.solver import note_answers_of, rows_solver

FIRST_BODY, SECOND_BODY, MU = ROW_WIDTH, ROW_WIDTH + 1, ROW_WIDTH + 2
PLACE = ROW_WIDTH + 3
"""Of the row's point in the world, three numbers, and its normal behind them."""
EARLIER, ALONG = ROW_WIDTH + 9, ROW_WIDTH + 12
"""Impulses before a sweep, and the direction that sweeps have taken together."""
PAIR_WIDTH = ROW_WIDTH + 15
STATE = 19
"""Numbers a body: R_wb row-major (9), x_w (3), omega_w and v_w (6), and for how long it has been at rest [s]; asleep
from SLEEPS_AFTER_S on."""
SLEEPS_AFTER_S = 0.5
SLOP_M = 1e-4
_PUSH_OUT, _PUSH_OUT_MPS = 0.1, 0.5
_REBOUND_MPS, _WAKES_MPS = 0.1, 0.05
_SLOW_MPS, _SLOW_RADPS = 0.02, 0.05
_RIGID = 1e-9
"""Least answer [1/kg] of a contact, where constraints let nothing give way."""
_GROUND, _AROUND = -1, 8
_MOST_CUTS = 64
KEPT = 11
"""Of a contact that is remembered: bodies (2,), place (3,), impulse in the world (3,), normal (3,)."""


class Bodies(NamedTuple):
    """What does not change in time. The last ones may be visitors, which are moved by others."""

    hulls: Hulls
    mass: np.ndarray
    """(n,) kg; 0 of what stays."""
    inertia: np.ndarray
    """(n, 3) kg m^2, about the body's axes."""
    friction: np.ndarray
    restitution: np.ndarray
    heights: np.ndarray
    """(ny, nx) float32 [m] of the ground."""
    frame: np.ndarray
    """(6,) of the ground: x0_m, y0_m, spacing_m, friction, restitution, gravity_mps2."""


@fastmath
def _speed(xi, response, work, k, direction):
    row = response[3 * k + direction]
    a, b = int(work[k, FIRST_BODY]), int(work[k, SECOND_BODY])
    total = 0.0
    if a >= 0:
        for c in range(6):
            total += row[c] * xi[a, c]
    for c in range(6):
        total += row[6 + c] * xi[b, c]
    return total


@fastmath
def _push(xi, response, work, k, direction, amount):
    if amount == 0.0:
        return
    row = response[3 * k + direction]
    a, b = int(work[k, FIRST_BODY]), int(work[k, SECOND_BODY])
    if a >= 0:
        for c in range(6):
            xi[a, c] += amount * row[12 + c]
    for c in range(6):
        xi[b, c] += amount * row[18 + c]


@fastmath
def _friction(response, work, k, friction):
    return work[k, MU]


_sweep, _ = rows_solver(_speed, _push, _friction)
"""Of many bodies: the state is their twists (n, 6) in the world, the response a row's reach and answer on both."""


@fastmath
def _solve(work, xi, response, sweeps, tolerance):
    """Gauss-Seidel sweeps with conjugate directions between them, which high stacks need (M. Silcowitz-Hansen and
    others, "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", 2010). Returns by
    how much velocities changed in the last sweep [m/s], after which nothing but that sweep was done."""
    rows = work.shape[0]
    for k in range(rows):
        for direction in range(3):
            _push(xi, response, work, k, direction, work[k, IMPULSE + direction])
            work[k, ALONG + direction] = 0.0
    before, change = 0.0, 0.0
    for sweep in range(sweeps):
        for k in range(rows):
            for direction in range(3):
                work[k, EARLIER + direction] = work[k, IMPULSE + direction]
        change = _sweep(work, xi, response, 0.0)
        if change < tolerance:
            break
        size = 0.0
        for k in range(rows):
            for direction in range(3):
                size += (
                    work[k, INVERSE_MASS] * (work[k, IMPULSE + direction] - work[k, EARLIER + direction]) ** 2
                )
        share = size / before if before > 0.0 else 2.0
        before = size
        last = sweep + 2 >= sweeps
        for k in range(rows):
            for direction in range(3):
                made = work[k, IMPULSE + direction] - work[k, EARLIER + direction]
                further = share * work[k, ALONG + direction] if share <= 1.0 else 0.0
                work[k, ALONG + direction] = further + made
                if further != 0.0 and not last:
                    work[k, IMPULSE + direction] += further
                    _push(xi, response, work, k, direction, further)
    return change


@fastmath
def _note_row(w, a, b, point, mu, restitution):
    """A contact between bodies a (or _GROUND) and b at point (7,): place, gap, normal from a to b."""
    w[FIRST_BODY], w[SECOND_BODY], w[MU], w[GAP], w[AIM] = a, b, mu, point[3], restitution
    for c in range(3):
        w[PLACE + c], w[PLACE + 3 + c] = point[c], point[4 + c]
        w[IMPULSE + c] = 0.0


@fastmath
def _fill_row(work, response, k, mobility, state):
    """Reach and answer of a contact that was noted."""
    w = work[k]
    a, b = int(w[FIRST_BODY]), int(w[SECOND_BODY])
    point = w[PLACE : PLACE + 3]
    nx, ny, nz = w[PLACE + 3], w[PLACE + 4], w[PLACE + 5]
    if abs(nx) > 0.7:
        size = np.sqrt(nx * nx + nz * nz)
        sx, sy, sz = -nz / size, 0.0, nx / size
    else:
        size = np.sqrt(ny * ny + nz * nz)
        sx, sy, sz = 0.0, nz / size, -ny / size
    tx, ty, tz = ny * sz - nz * sy, nz * sx - nx * sz, nx * sy - ny * sx
    for direction in range(3):
        dx, dy, dz = nx, ny, nz
        if direction == 1:
            dx, dy, dz = sx, sy, sz
        elif direction == 2:
            dx, dy, dz = tx, ty, tz
        row = response[3 * k + direction]
        for end in range(2):
            i = b if end else a
            at, to, sign = 6 * end, 12 + 6 * end, 1.0 if end else -1.0
            if i < 0:
                for c in range(6):
                    row[at + c] = row[to + c] = 0.0
                continue
            rx, ry, rz = point[0] - state[i, 9], point[1] - state[i, 10], point[2] - state[i, 11]
            row[at] = sign * (ry * dz - rz * dy)
            row[at + 1] = sign * (rz * dx - rx * dz)
            row[at + 2] = sign * (rx * dy - ry * dx)
            row[at + 3], row[at + 4], row[at + 5] = sign * dx, sign * dy, sign * dz
            for c in range(6):
                total = 0.0
                for d in range(6):
                    total += mobility[i, c, d] * row[at + d]
                row[to + c] = total


@fastmath
def _frame_of(w, out):
    """The directions of a row, as `_fill_row` has them, into out (3, 3)."""
    nx, ny, nz = w[PLACE + 3], w[PLACE + 4], w[PLACE + 5]
    if abs(nx) > 0.7:
        size = np.sqrt(nx * nx + nz * nz)
        sx, sy, sz = -nz / size, 0.0, nx / size
    else:
        size = np.sqrt(ny * ny + nz * nz)
        sx, sy, sz = 0.0, nz / size, -ny / size
    out[0, 0], out[0, 1], out[0, 2] = nx, ny, nz
    out[1, 0], out[1, 1], out[1, 2] = sx, sy, sz
    out[2, 0], out[2, 1], out[2, 2] = ny * sz - nz * sy, nz * sx - nx * sz, nx * sy - ny * sx


@fastmath
def _set_mobility(mobility, state, bodies, i):
    """World inverse inertia of an own body; nothing of what stays."""
    m = mobility[i]
    for c in range(6):
        for d in range(6):
            m[c, d] = 0.0
    if bodies.mass[i] <= 0.0:
        return
    for c in range(3):
        m[3 + c, 3 + c] = 1.0 / bodies.mass[i]
        for d in range(3):
            total = 0.0
            for e in range(3):
                total += state[i, 3 * c + e] * state[i, 3 * d + e] / bodies.inertia[i, e]
            m[c, d] = total


@fastmath
def _ground_points(bodies, state, i, near, out):
    """Points of a body that are nearer to the ground than `near`: rows of out (k, 7), how many."""
    hulls, used = bodies.hulls, 0
    n = hulls.numbers[i]
    s = state[i]
    height, nx, ny, nz = surface_patch(bodies.heights, bodies.frame, s[9], s[10])
    if (s[11] - height) * nz - n[5] > near + 0.5 * n[5]:
        return 0
    dx = -(s[0] * nx + s[3] * ny + s[6] * nz) * n[2]
    dy = -(s[1] * nx + s[4] * ny + s[7] * nz) * n[3]
    dz = -(s[2] * nx + s[5] * ny + s[8] * nz) * n[4]
    size = np.sqrt(dx * dx + dy * dy + dz * dz)
    share = n[0] / size
    for k in range(hulls.first[i], hulls.first[i + 1]):
        c = hulls.circles[k]
        ox = oy = oz = tx = ty = tz = 0.0
        around = 1
        if c[6] > 0.0:
            along = c[3] * dx + c[4] * dy + c[5] * dz
            ox, oy, oz = dx - along * c[3], dy - along * c[4], dz - along * c[5]
            length = np.sqrt(ox * ox + oy * oy + oz * oz)
            if length < 1e-3 * size:
                ox, oy, oz, length = 1.0 - c[3] * c[3], -c[3] * c[4], -c[3] * c[5], 0.0
                if abs(c[3]) > 0.8:
                    ox, oy, oz = -c[4] * c[3], 1.0 - c[4] * c[4], -c[4] * c[5]
                length = np.sqrt(ox * ox + oy * oy + oz * oz)
            ox, oy, oz = c[6] * ox / length, c[6] * oy / length, c[6] * oz / length
            tx, ty, tz = c[4] * oz - c[5] * oy, c[5] * ox - c[3] * oz, c[3] * oy - c[4] * ox
            around = _AROUND
        for j in range(around):
            turned = 2.0 * np.pi * j / _AROUND
            co, si = np.cos(turned), np.sin(turned)
            x = (c[0] + co * ox + si * tx + share * dx) * n[2]
            y = (c[1] + co * oy + si * ty + share * dy) * n[3]
            z = (c[2] + co * oz + si * tz + share * dz) * n[4]
            px = s[9] + s[0] * x + s[1] * y + s[2] * z
            py = s[10] + s[3] * x + s[4] * y + s[5] * z
            pz = s[11] + s[6] * x + s[7] * y + s[8] * z
            height, ux, uy, uz = surface_patch(bodies.heights, bodies.frame, px, py)
            gap = (pz - height) * uz
            if gap < near and used < out.shape[0]:
                row = out[used]
                row[0], row[1], row[2], row[3] = px, py, pz, gap
                row[4], row[5], row[6] = ux, uy, uz
                used += 1
    return used


@fastmath
def _key(a, b, n):
    """By which pairs are in order, those with the ground last."""
    return (n if a < 0 else a) * (n + 1) + b


@compiled
def advance(bodies, state, visitors, mobility, reach, wrenches, remembered, h, sweeps, tolerance, sleeping):
    """Go on by h, in place. Returns contacts (k, KEPT), the impulses (visitors, 6) on visitors in the world about their
    places, and (4,) the greatest change of the last sweep [m/s], rows, cuts and the deepest overlap [m].

    state (n, STATE): the last `visitors` of it are moved by others and answer by their mobility (n, 6, 6), which they
    bring. reach (n, 3): half extents of each body's box in its axes. wrenches (n, 6): forces of this step in the world,
    (torque, force). remembered (k, KEPT): contacts of the step before. sleeping: whether what rests may sleep.
    """
    n, own = state.shape[0], state.shape[0] - visitors
    xi = np.empty((n, 6))
    told = np.zeros(4)
    asleep = np.zeros(n, np.bool_)
    still = np.zeros(n, np.bool_)
    begin = np.zeros((visitors, 6))
    simplex, found, points = np.zeros(WORKSPACE), np.zeros(9), np.zeros((64, POINT_WIDTH))
    pose_a, pose_b, q, axes = np.zeros(12), np.zeros(12), np.zeros(12), np.zeros((3, 3))
    for i in range(own):
        still[i] = bodies.mass[i] <= 0.0
        asleep[i] = still[i] or (sleeping and state[i, 18] >= SLEEPS_AFTER_S)
        if not still[i] and (wrenches[i] != 0.0).any():
            asleep[i], state[i, 18] = False, 0.0
        if not asleep[i]:
            _set_mobility(mobility, state, bodies, i)
            state[i, 17] -= h * bodies.frame[5]
            for c in range(6):
                for d in range(6):
                    state[i, 12 + c] += h * mobility[i, c, d] * wrenches[i, d]
    for v in range(visitors):
        begin[v] = state[own + v, 12:18]
    given = np.zeros((visitors, 6))
    left, kept = h, remembered
    for cut in range(_MOST_CUTS):
        pairs = near_pairs(bodies, state, reach, asleep, left)
        for i in range(own if cut > 0 else 0):
            if not asleep[i]:
                _set_mobility(mobility, state, bodies, i)
        work = np.zeros((4 * len(pairs) + 16 * n + 16, PAIR_WIDTH))
        response = np.zeros((3 * len(work), 24))
        used = 0
        for p in range(len(pairs)):
            a, b = pairs[p]
            count = touching_points(
                bodies.hulls, a, b, state[a, :12], state[b, :12], NEAR_M, simplex, found, points
            )
            if count == 0:
                continue
            for end in range(2):
                # Whoever is awake and moves wakes what it touches.
                i, j = (a, b) if end == 0 else (b, a)
                if asleep[i] and not still[i] and not asleep[j]:
                    moving = 0.0
                    for c in range(3):
                        moving += abs(state[j, 15 + c]) + abs(state[j, 12 + c]) * bodies.hulls.numbers[j, 5]
                    if moving > _WAKES_MPS + 3.0 * h * bodies.frame[5] or j >= own:
                        asleep[i], state[i, 18] = False, 0.0
                        _set_mobility(mobility, state, bodies, i)
                        state[i, 17] -= left * bodies.frame[5]
            mu = np.sqrt(bodies.friction[a] * bodies.friction[b])
            for k in range(count):
                if used < len(work):
                    restitution = min(bodies.restitution[a], bodies.restitution[b])
                    _note_row(work[used], a, b, points[k], mu, restitution)
                    used += 1
        for i in range(own):
            if asleep[i]:
                continue
            near = NEAR_M + left * max(-state[i, 17], 0.0)
            near += 0.5 * left * (abs(state[i, 15]) + abs(state[i, 16]))
            for k in range(_ground_points(bodies, state, i, near, points)):
                mu = np.sqrt(bodies.frame[3] * bodies.friction[i])
                if used < len(work):
                    _note_row(
                        work[used], _GROUND, i, points[k], mu, min(bodies.frame[4], bodies.restitution[i])
                    )
                    used += 1
        for i in range(n):
            for c in range(6):
                xi[i, c] = 0.0 if asleep[i] else state[i, 12 + c]
            if asleep[i]:
                mobility[i] = 0.0
        live = 0
        for k in range(used):
            a, b = int(work[k, FIRST_BODY]), int(work[k, SECOND_BODY])
            if (a < 0 or asleep[a]) and asleep[b]:
                continue
            if live < k:
                work[live] = work[k]
            _fill_row(work, response, live, mobility, state)
            w = work[live]
            note_answers_of(w, response[3 * live : 3 * live + 3, :12], response[3 * live : 3 * live + 3, 12:])
            if w[INVERSE_MASS] > _RIGID:
                w[INVERSE_MASS + 1] += _RIGID
                w[INVERSE_MASS + 3] += _RIGID
                live += 1
        used = live
        work, response = work[:used], response[: 3 * used]
        first = 0
        for k in range(used):
            w = work[k]
            closing = -_speed(xi, response, work, k, 0)
            gap, restitution = w[GAP], w[AIM]
            key = _key(w[FIRST_BODY], w[SECOND_BODY], n)
            told[3] = max(told[3], -gap)
            rebound = restitution * (closing - bodies.frame[5] * left)
            if gap > 0.0:
                w[AIM] = -gap / left
            elif gap < -SLOP_M:
                w[AIM] = min(_PUSH_OUT * (-gap - SLOP_M) / left, _PUSH_OUT_MPS)
            else:
                w[AIM] = 0.0
            if rebound > _REBOUND_MPS and closing * left > gap:
                w[AIM] = max(w[AIM], rebound)
            # The impulse of the nearest contact of the same two bodies in the step before.
            while first < len(kept) and _key(kept[first, 0], kept[first, 1], n) < key:
                first += 1
            best, which = 0.04, -1
            for j in range(first, len(kept)):
                if _key(kept[j, 0], kept[j, 1], n) > key:
                    break
                away = (
                    abs(kept[j, 2] - w[PLACE])
                    + abs(kept[j, 3] - w[PLACE + 1])
                    + abs(kept[j, 4] - w[PLACE + 2])
                )
                if away < best:
                    best, which = away, j
            if which >= 0 and rebound <= _REBOUND_MPS:
                _frame_of(w, axes)
                for direction in range(3):
                    for c in range(3):
                        w[IMPULSE + direction] += axes[direction, c] * kept[which, 5 + c] * left
                w[IMPULSE] = max(w[IMPULSE], 0.0)
        told[0] = max(told[0], _solve(work, xi, response, sweeps, tolerance))
        told[1], told[2] = used, cut
        for i in range(n):
            if not asleep[i]:
                state[i, 12:18] = xi[i]
        meet = left
        if cut < _MOST_CUTS - 1:
            for p in range(len(pairs)):
                a, b = pairs[p]
                if asleep[a] and asleep[b]:
                    continue
                moved = 0.0
                for c in range(3):
                    moved += (state[a, 15 + c] - state[b, 15 + c]) ** 2
                for i in (a, b):
                    turned = state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2
                    moved += turned * bodies.hulls.numbers[i, 5] ** 2
                if meet * np.sqrt(moved) > 0.5 * NEAR_M:
                    apart = normal_between(bodies.hulls, a, b, state[a, :12], state[b, :12], simplex, found)
                    if apart >= NEAR_M:
                        at = meeting(bodies.hulls, state, a, b, meet, pose_a, pose_b, simplex, found)
                        meet = min(meet, max(at, 1e-3 * h))
                    else:
                        # They touch at one end: the other one must not turn through before it is looked at.
                        turning, room = 0.0, NEAR_M
                        for i in (a, b):
                            size = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
                            turning += size * bodies.hulls.numbers[i, 5]
                            room += 0.25 * bodies.hulls.numbers[i, 6]
                        meet = min(meet, max(room / max(turning, 1e-12), 1e-3 * h))
        for i in range(n):
            if asleep[i]:
                continue
            for c in range(3):
                state[i, 9 + c] += meet * state[i, 15 + c]
            if i < own:
                turn(state, i, bodies.inertia[i], meet, q)
            else:
                moved_pose(state, i, meet, q)
                for c in range(9):
                    state[i, c] = q[c]
        kept = np.zeros((used, KEPT))
        for k in range(used):
            w = work[k]
            _frame_of(w, axes)
            kept[k, 0], kept[k, 1] = w[FIRST_BODY], w[SECOND_BODY]
            for c in range(3):
                kept[k, 2 + c], kept[k, 8 + c] = w[PLACE + c], axes[0, c]
                for direction in range(3):
                    kept[k, 5 + c] += axes[direction, c] * w[IMPULSE + direction] / left
            for end in range(2):
                i = int(w[FIRST_BODY + end])
                if i >= own:
                    for direction in range(3):
                        for c in range(6):
                            reached = response[3 * k + direction, 6 * end + c]
                            given[i - own, c] += w[IMPULSE + direction] * reached
        left -= meet
        if left <= 1e-12 * h:
            break
    if sleeping:
        _note_rest(bodies, state, own, asleep, still, kept, h)
    for v in range(visitors):
        for c in range(6):
            state[own + v, 12 + c] = begin[v, c]
    return kept, given, told


@compiled
def _note_rest(bodies, state, own, asleep, still, kept, h):
    """For how long each has rested; one falls asleep once it and all that it touches have rested long enough.

    So a row that has fallen sleeps while its other end still falls; whoever is pushed wakes.
    """
    n = state.shape[0]
    rested = np.zeros(n)
    for i in range(own):
        if still[i] or asleep[i]:
            rested[i] = SLEEPS_AFTER_S
            continue
        moving = np.sqrt((state[i, 15:18] ** 2).sum())
        turning = np.sqrt((state[i, 12:15] ** 2).sum())
        state[i, 18] = state[i, 18] + h if moving < _SLOW_MPS and turning < _SLOW_RADPS else 0.0
        rested[i] = state[i, 18]
    least = rested.copy()
    for k in range(len(kept)):
        a, b = int(kept[k, 0]), int(kept[k, 1])
        if a >= 0:
            least[a] = min(least[a], rested[b])
            least[b] = min(least[b], rested[a])
    for i in range(own):
        if still[i] or asleep[i]:
            continue
        if least[i] >= SLEEPS_AFTER_S - 0.25 * h:
            state[i, 12:18] = 0.0
            state[i, 18] = SLEEPS_AFTER_S
        else:
            # Nobody sleeps before all about it may.
            state[i, 18] = min(state[i, 18], SLEEPS_AFTER_S - 0.1 * h)
