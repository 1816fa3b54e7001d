"""What would overlap at the end of a step, and what does, in compiled code.

Rows hold gaps as straight motion closes them. Bodies that turn carry points off their straight way, and bring edges
down that no row has been at. So pairs that turn are looked at where they would end: a point that overlaps there
becomes a row of its own, that closes what is left of its gap, or has the row that it is of aim at that; and impulses
are found again.

What overlaps nevertheless is parted by moving places: bodies are pushed out of each other by the masses and inertias
that they answer impulses with, pair by pair (M. Mueller and others, "Position based dynamics", 2007, of rigid bodies).
Velocities stay, spin about the world's origin and momentum too; the energy that it takes is returned. Bodies of a
mechanism, which others move, stay where they are, as those that sleep do.
"""

import numpy as np

from sim.contact.aims import SAME_M, SAME_NORMAL
from sim.contact.approach import NEAR_M, moved_body, turn_about_third
from sim.contact.manifold import MOST_POINTS, ground_points, touching_points
from sim.contact.pair_rows import (
    AIM,
    ANEW,
    BASE,
    BOW,
    FIRST_BODY,
    GAP,
    GROUND,
    MU,
    NORMAL,
    PLACE,
    ROLLS,
    SECOND_BODY,
    SHARED,
    SLIDES,
    SPINS,
    fill_row,
    note_row,
    row_speeds,
)
from sim.native.function import fastmath

DEEP_M, _LEFT_M = 4e-5, 1e-5
"""From which depth overlaps are parted, and what is left of them."""
_TURNED_M = 5e-4
"""By which what touches at a whole side may turn before it is looked at where it ends."""
_FARTHEST_M = 0.01
"""By which one pair is parted at once."""
_BENT = 4.0
"""Times what falls in a step: no faster bodies are driven apart by what they would overlap by. Those of a mechanism,
which are not parted, are so by what falls in a step as well where they come apart as fast already."""
_ROUNDS, _SWEEPS = 40, 4
"""Looks at all pairs, and sweeps over the points of one."""


@fastmath
def set_mobility(mobility, state, bodies, i):
    """What an own body answers; nothing of what stays."""
    m = mobility[i]
    for c in range(7):
        m[c] = 0.0
    if bodies.mass[i] <= 0.0:
        return
    m[0] = 1.0 / bodies.mass[i]
    R, turned = state[i, :9], bodies.inertia[i, 3]
    turn_about_third(R, turned)
    at = 1
    for c in range(3):
        for d in range(c, 3):
            for e in range(3):
                m[at] += R[3 * c + e] * R[3 * d + e] / bodies.inertia[i, e]
            at += 1
    turn_about_third(R, -turned)


@fastmath
def _note_spin(state, bodies, i, spin):
    """A body's angular momentum about its place (3,), in the world; returns its energy [J]."""
    w, R, turned = state[i, 12:15], state[i, :9], bodies.inertia[i, 3]
    turn_about_third(R, turned)
    spin[0] = spin[1] = spin[2] = 0.0
    energy = bodies.mass[i] * bodies.frame[5] * state[i, 11]
    for e in range(3):
        about = R[e] * w[0] + R[3 + e] * w[1] + R[6 + e] * w[2]
        for c in range(3):
            spin[c] += R[3 * c + e] * bodies.inertia[i, e] * about
        energy += 0.5 * bodies.inertia[i, e] * about * about
    turn_about_third(R, -turned)
    return energy


@fastmath
def _answered(m, rx, ry, rz, n, turned):
    """How far a body's point moves along a normal under a unit push there; into turned (3,) how it turns."""
    tx, ty, tz = ry * n[2] - rz * n[1], rz * n[0] - rx * n[2], rx * n[1] - ry * n[0]
    turned[0] = m[1] * tx + m[2] * ty + m[3] * tz
    turned[1] = m[2] * tx + m[4] * ty + m[5] * tz
    turned[2] = m[3] * tx + m[5] * ty + m[6] * tz
    return m[0] + turned[0] * tx + turned[1] * ty + turned[2] * tz


@fastmath
def _move(state, i, moves):
    """Move a body's place by moves (6,), of which the first three turn it."""
    R = state[i, :9]
    a, b, c = 0.5 * moves[0], 0.5 * moves[1], 0.5 * moves[2]
    s = 2.0 / (1.0 + a * a + b * b + c * c)
    q00, q01, q02 = 1.0 - s * (b * b + c * c), s * (a * b - c), s * (a * c + b)
    q10, q11, q12 = s * (a * b + c), 1.0 - s * (a * a + c * c), s * (b * c - a)
    q20, q21, q22 = s * (a * c - b), s * (b * c + a), 1.0 - s * (a * a + b * b)
    for k in range(3):
        u, v, w = R[k], R[3 + k], R[6 + k]
        R[k] = q00 * u + q01 * v + q02 * w
        R[3 + k] = q10 * u + q11 * v + q12 * w
        R[6 + k] = q20 * u + q21 * v + q22 * w
        state[i, 9 + k] += moves[3 + k]


@fastmath
def _part(state, mobility, a, b, points, count, pushes, moves, turned, spin):
    """Move two bodies, one of which may stay or be the ground (-1), until their points (count, 7) do not overlap.

    pushes (k,), moves (2, 6) and turned (2, 3) are overwritten. spin (n, 3) of both is changed so that it is kept with
    that of their places.
    """
    for k in range(count):
        pushes[k] = 0.0
    for c in range(6):
        moves[0, c] = moves[1, c] = 0.0
    for _ in range(_SWEEPS):
        for k in range(count):
            p, n = points[k], points[k, 4:7]
            answer, gap = 0.0, p[3]
            for end in range(2):
                i = b if end else a
                if i < 0 or mobility[i, 0] <= 0.0:
                    continue
                d, sign = moves[end], 1.0 if end else -1.0
                rx, ry, rz = p[0] - state[i, 9], p[1] - state[i, 10], p[2] - state[i, 11]
                answer += _answered(mobility[i], rx, ry, rz, n, turned[end])
                gap += sign * n[0] * (d[3] + d[1] * rz - d[2] * ry)
                gap += sign * n[1] * (d[4] + d[2] * rx - d[0] * rz)
                gap += sign * n[2] * (d[5] + d[0] * ry - d[1] * rx)
            if answer <= 0.0:
                return False
            wanted = min(-gap - _LEFT_M, _FARTHEST_M)
            push = max(pushes[k] + wanted / answer, 0.0) - pushes[k]
            pushes[k] += push
            for end in range(2):
                i = b if end else a
                if i < 0 or mobility[i, 0] <= 0.0:
                    continue
                signed = push if end else -push
                for c in range(3):
                    moves[end, c] += signed * turned[end, c]
                    moves[end, 3 + c] += signed * mobility[i, 0] * n[c]
    for end in range(2):
        i = b if end else a
        if i >= 0 and mobility[i, 0] > 0.0:
            _move(state, i, moves[end])
    if a >= 0 and mobility[a, 0] > 0.0 and mobility[b, 0] > 0.0:
        # Their places' own spin about the origin has changed by m d x (v_b - v_a): theirs takes it up.
        d, m = moves[1], 0.5 / mobility[b, 0]
        ux, uy, uz = state[b, 15] - state[a, 15], state[b, 16] - state[a, 16], state[b, 17] - state[a, 17]
        for i in (a, b):
            spin[i, 0] -= m * (d[4] * uz - d[5] * uy)
            spin[i, 1] -= m * (d[5] * ux - d[3] * uz)
            spin[i, 2] -= m * (d[3] * uy - d[4] * ux)
    return True


@fastmath
def _groups(bodies, state, shared, work, rows, own, moved, begins, dirty):
    """Where the rows of each pair begin, into begins (rows + 1,), and which of them may overlap after all have moved on
    for `moved`, into dirty; how many, and whether any may."""
    begin, count, any_dirty, xi, asleep = 0, 0, False, bodies.workspace.twists, bodies.workspace.asleep
    while begin < rows:
        a, b, end = int(work[begin, FIRST_BODY]), int(work[begin, SECOND_BODY]), begin
        bend = turning = 0.0
        for side in range(2):
            i = b if side else a
            if i >= 0:
                x = state[i] if i >= own else xi[i]
                w = x[12:15] if i >= own else x[0:3]
                size = 0.0 if i < own and asleep[i] else moved * np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
                turning += size * bodies.hulls.numbers[i, 5]
                bend += 0.5 * size * size * bodies.hulls.numbers[i, 5]
        least = NEAR_M
        while end < rows and work[end, FIRST_BODY] == a and work[end, SECOND_BODY] == b:
            least = min(least, work[end, GAP] + moved * row_speeds(xi, shared, work[end])[0])
            end += 1
        # Fewer points than a side has: its other end may come down. All of a side's may leave it for an edge.
        turns = DEEP_M if end - begin < MOST_POINTS - 1 else _TURNED_M
        dirty[count] = least - bend < -DEEP_M or (a >= 0 and turning > turns)
        any_dirty = any_dirty or dirty[count]
        begins[count] = begin
        count, begin = count + 1, end
    begins[count] = rows
    return count, any_dirty


@fastmath
def look_ahead(bodies, mechanism, state, mobility, shared, work, rows, sharing, own, left):
    """Note a row for each point that would overlap at the end, behind the rows there are, in what room there is.

    Returns how many rows there are then, how many of a mechanism, and whether anything is to be solved again.
    """
    space = bodies.workspace
    xi, asleep, ahead = space.twists, space.asleep, space.ahead
    simplex, found, points = space.simplex, space.found, space.points
    begins, dirty = np.empty(rows + 1, np.int64), np.zeros(rows + 1, np.bool_)
    count, any_dirty = _groups(bodies, state, shared, work, rows, own, left, begins, dirty)
    if not any_dirty:
        return rows, sharing, False
    anew, there = False, np.zeros(state.shape[0], np.bool_)
    falls = bodies.frame[5] * left
    jump = _BENT * falls
    for g in range(count):
        w = work[begins[g]]
        a, b = int(w[FIRST_BODY]), int(w[SECOND_BODY])
        if not dirty[g] or (a == GROUND and b >= own):
            continue
        for side in range(2):
            i = b if side else a
            if i >= 0 and not there[i]:
                there[i] = True
                moved_body(state, i, own, bodies, left)
        if a == GROUND:
            used = ground_points(bodies.hulls, bodies.heights, bodies.frame, ahead, b, 0.0, points)
        else:
            pose_a, pose_b, hint = ahead[a, :12], ahead[b, :12], w[NORMAL : NORMAL + 3]
            used = touching_points(bodies.hulls, a, b, pose_a, pose_b, 0.0, simplex, found, points, hint)
        for k in range(used):
            if points[k, 3] > -DEEP_M:
                continue
            old, best = -1, SAME_M
            for j in range(rows):  # also those that were noted here, behind all others
                o, along = work[j], 0.0
                if o[FIRST_BODY] != a or o[SECOND_BODY] != b:
                    continue
                for c in range(3):
                    along += o[NORMAL + c] * points[k, 4 + c]
                for side in range(2 if along > SAME_NORMAL else 0):
                    i, away = b if side else a, 0.0
                    for c in range(3):
                        way = ahead[i, 9 + c] - state[i, 9 + c] if i >= 0 else 0.0
                        away += abs(o[PLACE + c] + way - points[k, c])
                    if away < best:
                        old, best = j, away
            if old >= 0:
                o = work[old]
                speed = row_speeds(xi, shared, o)[0]
                most = max(jump, speed + falls) if o[SHARED] >= 0.0 else jump
                aim = min(speed - points[k, 3] / left, most)
                o[AIM], o[BASE], o[ANEW], anew = max(o[AIM], aim), max(o[BASE], aim), 1.0, True
                continue
            if rows >= work.shape[0] or 3 * sharing >= shared.reach.shape[0]:
                continue
            new = work[rows]
            note_row(new, a, b, points[k], w[MU], 0.0, w[ROLLS], w[SPINS])
            if not fill_row(new, mobility, mechanism, shared, own, ahead, asleep, sharing):
                continue
            speed = row_speeds(xi, shared, new)[0]
            aim = speed - points[k, 3] / left
            most = max(jump, speed + falls) if new[SHARED] >= 0.0 else jump
            new[GAP], new[AIM] = -aim * left, min(aim, most)
            new[BASE], new[BOW], new[SLIDES], new[SLIDES + 1], new[ANEW] = new[AIM], 0.0, 0.0, 0.0, 1.0
            sharing += new[SHARED] >= 0.0
            rows, anew = rows + 1, True
    return rows, sharing, anew


@fastmath
def part(bodies, state, mobility, shared, work, rows, own, moved):
    """Part what overlaps after all have moved on for `moved`, by the rows that they did so with. Returns the energy [J]
    that it takes."""
    begins, dirty, space = np.empty(rows + 1, np.int64), np.zeros(rows + 1, np.bool_), bodies.workspace
    count, any_dirty = _groups(bodies, state, shared, work, rows, own, moved, begins, dirty)
    if not any_dirty:
        return 0.0
    n, simplex, found, points = state.shape[0], space.simplex, space.found, space.points
    spin, energy, touched = np.empty((n, 3)), np.empty(n), np.zeros(n, np.bool_)
    pushes, moves, turned, none = np.zeros(64), np.zeros((2, 6)), np.zeros((2, 3)), np.zeros(3)
    for _ in range(_ROUNDS):
        parted = False
        for g in range(count):
            if not dirty[g]:
                continue
            dirty[g] = False
            w = work[begins[g]]
            a, b = int(w[FIRST_BODY]), int(w[SECOND_BODY])
            if mobility[b, 0] <= 0.0 and (a == GROUND or mobility[a, 0] <= 0.0):
                continue
            if a == GROUND:
                used = ground_points(bodies.hulls, bodies.heights, bodies.frame, state, b, DEEP_M, points)
            else:
                hint = w[NORMAL : NORMAL + 3]
                pose_a, pose_b = state[a, :12], state[b, :12]
                used = touching_points(
                    bodies.hulls, a, b, pose_a, pose_b, DEEP_M, simplex, found, points, hint
                )
            deepest = 0.0
            for k in range(used):
                deepest = min(deepest, points[k, 3])
            if deepest >= -DEEP_M:
                continue
            for side in range(2):
                i = b if side else a
                if i >= 0 and mobility[i, 0] > 0.0 and not touched[i]:
                    touched[i], energy[i] = True, _note_spin(state, bodies, i, spin[i])
            if not _part(state, mobility, a, b, points, used, pushes, moves, turned, spin):
                continue
            parted = True
            for other in range(count):
                o = work[begins[other]]
                i, j = int(o[FIRST_BODY]), int(o[SECOND_BODY])
                for c in (a, b):
                    dirty[other] = dirty[other] or (c >= 0 and mobility[c, 0] > 0.0 and (i == c or j == c))
        if not parted:
            break
    taken = 0.0
    for k in range(1, space.live[0] + 1):
        i = space.live[k]
        if touched[i]:
            set_mobility(mobility, state, bodies, i)
            m, s = mobility[i], spin[i]
            state[i, 12] = m[1] * s[0] + m[2] * s[1] + m[3] * s[2]
            state[i, 13] = m[2] * s[0] + m[4] * s[1] + m[5] * s[2]
            state[i, 14] = m[3] * s[0] + m[5] * s[1] + m[6] * s[2]
            taken += _note_spin(state, bodies, i, none) - energy[i]
    return taken
