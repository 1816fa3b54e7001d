"""Bodies that touch one another, the ground and what stays: steps of all of them together, in compiled code.

A step takes gravity in, finds the impulses under which no contact closes more than its gap and none leaves Coulomb's
cone (Moreau's sweeping process in the velocity form of Jean, as of the ground in `wrench`), and moves the bodies on:
places by their velocity, rotations by the midpoint rule of the free body, whose Cayley map keeps spin and energy. Where
a fast pair would meet before the step's end, the step is cut there.
"""

from typing import NamedTuple

import numpy as np

from sim.contact.approach import NEAR_M, meeting, moved_body, moved_pose, near_pairs, turn
from sim.contact.convex import WORKSPACE, Hulls, normal_between
from sim.contact.manifold import POINT_WIDTH, ground_points, touching_points
from sim.contact.pair_rows import (
    AIM,
    BASE,
    BEFORE,
    BOW,
    FIRST_BODY,
    GAP,
    GROUND,
    IMPULSE,
    MOBILITY,
    NORMAL,
    PAIR_WIDTH,
    PLACE,
    RESTITUTION,
    SECOND_BODY,
    SHARED,
    SLIDES,
    TORQUE,
    Shared,
    fill_row,
    islands,
    note_row,
    row_speeds,
    solve,
    solve_on,
)
from sim.contact.rebound import keep_energy
from sim.native.function import fastmath, native

STATE = 19
"""Numbers a body: R_wb row-major (9), x_w (3), omega_w and v_w (6), and for how long it has been at rest [s]; asleep
from SLEEPS_AFTER_S on."""
SLEEPS_AFTER_S = 0.5
SLOP_M = 1e-4
_PUSH_OUT, _PUSH_OUT_MPS = 0.1, 0.5
_REBOUND_MPS, _WAKES_MPS = 0.1, 0.05
_SLOW_MPS, _SLOW_RADPS = 0.02, 0.05
_SAME_M = 0.04
"""Within which the nearest point of the same two bodies is the one of the step before."""
_MOST_CUTS = 64
_BOW_M, _BOWS = 1e-5, 2
"""Points that turning bodies carry off their straight way by more than that are looked at where they end, so often;"""
_BENT, _SAME_NORMAL = 4.0, 0.99
"""by so many times what falls in a step they may leave it, and by no more their normal may turn: else it is a blow."""
KEPT = 14
"""Of a contact that is remembered: bodies (2,), place (3,), mean force in the world (3,), normal (3,), and mean torque
of rolling and spinning resistance (3,)."""


class Bodies(NamedTuple):
    """What does not change in time. The last ones are those of a mechanism, which others move."""

    hulls: Hulls
    mass: np.ndarray
    """(n,) kg; 0 of what stays."""
    inertia: np.ndarray
    """(n, 3) kg m^2, about the body's axes."""
    friction: np.ndarray
    restitution: np.ndarray
    rolling: np.ndarray
    """(n,) m: arm at which the normal force resists rolling; of two the greater one counts."""
    spinning: np.ndarray
    """(n,) m: the same of spinning about the normal."""
    heights: np.ndarray
    """(ny, nx) float32 [m] of the ground."""
    frame: np.ndarray
    """(6,) of the ground: x0_m, y0_m, spacing_m, friction, restitution, gravity_mps2."""
    reach: np.ndarray
    """(n, 3) half extents of each body's box in its axes."""


@fastmath
def _set_mobility(mobility, state, bodies, i):
    """What an own body answers; nothing of what stays."""
    m = mobility[i]
    for c in range(MOBILITY):
        m[c] = 0.0
    if bodies.mass[i] <= 0.0:
        return
    m[0] = 1.0 / bodies.mass[i]
    at = 1
    for c in range(3):
        for d in range(c, 3):
            for e in range(3):
                m[at] += state[i, 3 * c + e] * state[i, 3 * d + e] / bodies.inertia[i, e]
            at += 1


@fastmath
def _load(state, m, i, wrench, h):
    """Let a wrench (torque, force) in the world act on a body for h."""
    tx, ty, tz = h * wrench[0], h * wrench[1], h * wrench[2]
    state[i, 12] += m[1] * tx + m[2] * ty + m[3] * tz
    state[i, 13] += m[2] * tx + m[4] * ty + m[5] * tz
    state[i, 14] += m[3] * tx + m[5] * ty + m[6] * tz
    for c in range(3):
        state[i, 15 + c] += h * m[0] * wrench[3 + c]


@fastmath
def _carry(mechanism, state, own, velocity):
    """Twists of a mechanism's bodies under its velocities."""
    for v in range(mechanism.jacobian.shape[0]):
        for c in range(6):
            total = 0.0
            for d in range(velocity.shape[0]):
                total += mechanism.jacobian[v, c, d] * velocity[d]
            state[own + v, 12 + c] = total


@fastmath
def _moving(state, hulls, i):
    """How fast any point of a body moves at most, about [m/s]."""
    total = 0.0
    for c in range(3):
        total += abs(state[i, 15 + c]) + abs(state[i, 12 + c]) * hulls.numbers[i, 5]
    return total


@fastmath
def _wake(bodies, state, mobility, asleep, i, left):
    asleep[i], state[i, 18] = False, 0.0
    _set_mobility(mobility, state, bodies, i)
    state[i, 17] -= left * bodies.frame[5]


@fastmath
def _key(a, b, n):
    """By which pairs are in order, those with the ground last."""
    return (n if a < 0 else a) * (n + 1) + b


@fastmath
def _seek(bodies, mechanism, state, mobility, asleep, pairs, h, left, kept, work, simplex, found, points):
    """Note rows of all that touches or is near; how many. Whoever is awake and moves wakes what it touches."""
    n, own, used, met = state.shape[0], state.shape[0] - mechanism.jacobian.shape[0], 0, False
    first, hint = 0, found[9:12]
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        key = _key(a, b, n)
        while first < len(kept) and _key(kept[first, 0], kept[first, 1], n) < key:
            first += 1
        known = first < len(kept) and _key(kept[first, 0], kept[first, 1], n) == key
        for c in range(3):
            hint[c] = kept[first, 8 + c] if known else 0.0
        count = touching_points(
            bodies.hulls, a, b, state[a, :12], state[b, :12], NEAR_M, simplex, found, points, hint
        )
        if count == 0:
            continue
        met = met or b >= own
        for end in range(2):
            i, j = (a, b) if end == 0 else (b, a)
            if i >= own or not asleep[i] or bodies.mass[i] <= 0.0 or asleep[j]:
                continue
            if j >= own or _moving(state, bodies.hulls, j) > _WAKES_MPS + 3.0 * h * bodies.frame[5]:
                _wake(bodies, state, mobility, asleep, i, left)
        mu = np.sqrt(bodies.friction[a] * bodies.friction[b])
        restitution = min(bodies.restitution[a], bodies.restitution[b])
        rolling, spinning = (
            max(bodies.rolling[a], bodies.rolling[b]),
            max(bodies.spinning[a], bodies.spinning[b]),
        )
        for k in range(count):
            if used < work.shape[0]:
                note_row(work[used], a, b, points[k], mu, restitution, rolling, spinning)
                used += 1
    for i in range(state.shape[0]):
        if (i < own and asleep[i]) or (i >= own and not (met and mechanism.grounded)):
            continue
        near = NEAR_M + left * max(-state[i, 17], 0.0)
        near += 0.5 * left * (abs(state[i, 15]) + abs(state[i, 16]))
        mu = np.sqrt(bodies.frame[3] * bodies.friction[i])
        restitution = min(bodies.frame[4], bodies.restitution[i])
        count = ground_points(bodies.hulls, bodies.heights, bodies.frame, state, i, near, points)
        for k in range(count):
            if used < work.shape[0]:
                note_row(
                    work[used],
                    GROUND,
                    i,
                    points[k],
                    mu,
                    restitution,
                    bodies.rolling[i],
                    bodies.spinning[i],
                )
                used += 1
    return used


@fastmath
def _aim(bodies, state, work, rows, xi, shared, own, left, kept, told):
    """What each contact's normal velocity is to be at least, and the impulse that it starts from: that of the nearest
    contact of the same two bodies in the step before. Whether any rebounds."""
    n, first, sharing, rebounds = state.shape[0], 0, False, False
    for k in range(rows):
        w = work[k]
        speeds = row_speeds(xi, shared, w)
        closing, gap = -speeds[0], w[GAP]
        w[BEFORE], w[BEFORE + 1], w[BEFORE + 2] = speeds
        key = _key(w[FIRST_BODY], w[SECOND_BODY], n)
        if w[FIRST_BODY] != GROUND or w[SECOND_BODY] < own:
            told[3] = max(told[3], -gap)
        rebound = w[RESTITUTION] * (closing - bodies.frame[5] * left)
        if gap > 0.0:
            w[AIM] = -gap / left
        elif gap < -SLOP_M:
            w[AIM] = min(_PUSH_OUT * (-gap - SLOP_M) / left, _PUSH_OUT_MPS)
        else:
            w[AIM] = 0.0
        sharing = w[SHARED] >= 0.0
        if sharing and w[FIRST_BODY] == GROUND:
            # A mechanism's own step deals with the ground: here it only bears what others push it by.
            w[AIM] = min(w[AIM], -closing)
            rebound = 0.0
        w[BASE], w[BOW] = w[AIM], 0.0
        w[SLIDES] = w[SLIDES + 1] = 0.0
        if rebound > _REBOUND_MPS and closing * left > gap:
            w[AIM], rebounds = max(w[AIM], rebound), True
        while first < len(kept) and _key(kept[first, 0], kept[first, 1], n) < key:
            first += 1
        best, which = _SAME_M, -1
        for j in range(first, len(kept)):
            if _key(kept[j, 0], kept[j, 1], n) > key:
                break
            away = (
                abs(kept[j, 2] - w[PLACE]) + abs(kept[j, 3] - w[PLACE + 1]) + abs(kept[j, 4] - w[PLACE + 2])
            )
            if away < best:
                best, which = away, j
        # What a mechanism bears acts at once, and is in its velocities already.
        if which >= 0 and rebound <= _REBOUND_MPS and not sharing:
            for direction in range(3):
                for c in range(3):
                    along = w[NORMAL + 3 * direction + c]
                    w[IMPULSE + direction] += along * kept[which, 5 + c] * left
                    w[TORQUE + direction] += along * kept[which, 11 + c] * left
            w[IMPULSE] = max(w[IMPULSE], 0.0)
    return rebounds


@fastmath
def _straighten(
    bodies, state, xi, shared, work, rows, own, asleep, left, bows, ahead, spin, simplex, found, points
):
    """Aim at the gaps that there will be at the end, where bodies turn so far that these are not what speeds say.

    Whether anything is aimed at anew. bows (n,) and ahead (n, STATE) are overwritten.
    """
    most = 0.0
    for i in range(state.shape[0]):
        bow = moved_body(state, i, own, asleep, bodies.inertia, xi, left, ahead, spin)
        bows[i] = bow * bodies.hulls.numbers[i, 5]
        most = max(most, bows[i])
    if most <= _BOW_M:
        return False
    anew, begin, most = False, 0, _BENT * bodies.frame[5] * left * left
    while begin < rows:
        a, b = int(work[begin, FIRST_BODY]), int(work[begin, SECOND_BODY])
        end, bears, one = begin, 0, begin
        while end < rows and work[end, FIRST_BODY] == a and work[end, SECOND_BODY] == b:
            if work[end, IMPULSE] > 0.0:
                bears, one = bears + 1, end
            end += 1
        begin = end
        w, bow = work[one], bows[b] + (bows[a] if a >= 0 else 0.0)
        if bears != 1 or bow <= _BOW_M or w[AIM] > w[BASE] or (a == GROUND and b >= own):
            continue
        if a == GROUND:
            count = ground_points(bodies.hulls, bodies.heights, bodies.frame, ahead, b, NEAR_M, points)
        else:
            none = found[9:12]
            none[0] = none[1] = none[2] = 0.0
            pose_a, pose_b = ahead[a, :12], ahead[b, :12]
            count = touching_points(bodies.hulls, a, b, pose_a, pose_b, NEAR_M, simplex, found, points, none)
        least = 0
        for k in range(1, count):
            if points[k, 3] < points[least, 3]:
                least = k
        point, n = points[least], w[NORMAL : NORMAL + 3]
        if count == 0 or point[4] * n[0] + point[5] * n[1] + point[6] * n[2] < _SAME_NORMAL:
            continue
        bow = point[3] - w[GAP] - left * row_speeds(xi, shared, w)[0]
        bow = min(max(bow, -most), most)
        w[AIM] -= (bow - w[BOW]) / left
        w[BASE], w[BOW], anew = w[AIM], bow, True
        if a < own and b < own:
            _slide(w, ahead, a, b, point)
            fast = np.sqrt(w[SLIDES] ** 2 + w[SLIDES + 1] ** 2) * left
            if fast > most:
                w[SLIDES] *= most / fast
                w[SLIDES + 1] *= most / fast
    return anew


@fastmath
def _slide(w, ahead, a, b, point):
    """Have a row begin as fast one way along its tangents as its point at the step's end goes the other way."""
    for direction in range(2):
        n, speed = w[NORMAL + 3 + 3 * direction : NORMAL + 6 + 3 * direction], 0.0
        for end in range(2):
            i = b if end else a
            if i < 0:
                continue
            x, sign = ahead[i], 1.0 if end else -1.0
            rx, ry, rz = point[0] - x[9], point[1] - x[10], point[2] - x[11]
            speed += sign * n[0] * (x[15] + x[13] * rz - x[14] * ry)
            speed += sign * n[1] * (x[16] + x[14] * rx - x[12] * rz)
            speed += sign * n[2] * (x[17] + x[12] * ry - x[13] * rx)
        w[SLIDES + direction] = -0.5 * (speed - w[SLIDES + direction])


@fastmath
def _until(bodies, state, pairs, asleep, h, left, pose_a, pose_b, simplex, found):
    """How long the bodies may move on as they do now, within what is left of a step: until a fast pair meets."""
    meet = left
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        if asleep[a] and asleep[b]:
            continue
        moved = 0.0
        for c in range(3):
            moved += (state[a, 15 + c] - state[b, 15 + c]) ** 2
        for end in range(2):
            i = b if end else a
            turned = state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2
            moved += turned * bodies.hulls.numbers[i, 5] ** 2
        if meet * np.sqrt(moved) <= 0.5 * NEAR_M:
            continue
        apart = normal_between(bodies.hulls, a, b, state[a, :12], state[b, :12], simplex, found)
        if apart >= NEAR_M:
            at = meeting(bodies.hulls, state, a, b, meet, pose_a, pose_b, simplex, found)
            meet = min(meet, max(at, 1e-3 * h))
            continue
        # They touch at one end: the other one must not turn through before it is looked at.
        turning, room = 0.0, NEAR_M
        for end in range(2):
            i = b if end else a
            size = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
            turning += size * bodies.hulls.numbers[i, 5]
            room += 0.25 * bodies.hulls.numbers[i, 6]
        meet = min(meet, max(room / max(turning, 1e-12), 1e-3 * h))
    return meet


@fastmath
def _keep(work, rows, left, kept):
    """Contacts with their mean forces over what was left of a step, into kept (rows, KEPT)."""
    for k in range(rows):
        w, to = work[k], kept[k]
        to[0], to[1] = w[FIRST_BODY], w[SECOND_BODY]
        for c in range(3):
            to[2 + c], to[8 + c] = w[PLACE + c], w[NORMAL + c]
            to[5 + c] = to[11 + c] = 0.0
            for direction in range(3):
                along = w[NORMAL + 3 * direction + c] / left
                to[5 + c] += along * w[IMPULSE + direction]
                to[11 + c] += along * w[TORQUE + direction]


@native
def advance(bodies, mechanism, state, mobility, wrenches, remembered, h, sweeps, tolerance, sleeping):
    """Go on by h, in place. Returns contacts (k, KEPT), the impulse (nu,) on a mechanism, and (5,) the greatest change
    of the last sweep [m/s], rows, cuts, the deepest overlap [m], and the work of pushing overlaps apart [J].

    state (n, STATE): the last of it is the mechanism's bodies, whose velocity becomes what it is after this.
    mobility (n, MOBILITY) is overwritten. wrenches (n, 6): forces of this step in the world, (torque, force).
    remembered (k, KEPT): contacts of the step before. sleeping: whether what rests may sleep.
    """
    n, nu = state.shape[0], mechanism.velocity.shape[0]
    own = n - mechanism.jacobian.shape[0]
    xi, told, pushed = np.zeros((n, 6)), np.zeros(5), np.zeros(nu)
    asleep = np.zeros(n, np.bool_)
    simplex, found, points = np.zeros(WORKSPACE), np.zeros(12), np.zeros((64, POINT_WIDTH))
    pose_a, pose_b, q = np.zeros(12), np.zeros(12), np.zeros(12)
    bows, ahead = np.zeros(n), np.zeros((n, STATE))
    velocity = mechanism.velocity
    for i in range(own):
        still = bodies.mass[i] <= 0.0
        asleep[i] = still or (sleeping and state[i, 18] >= SLEEPS_AFTER_S)
        loaded = False
        for c in range(6):
            loaded = loaded or wrenches[i, c] != 0.0
        if loaded and not still:
            asleep[i], state[i, 18] = False, 0.0
        if not asleep[i]:
            _set_mobility(mobility, state, bodies, i)
            state[i, 17] -= h * bodies.frame[5]
            _load(state, mobility[i], i, wrenches[i], h)
    left, kept = h, remembered
    for cut in range(_MOST_CUTS):
        _carry(mechanism, state, own, velocity)
        pairs = near_pairs(bodies, state, mechanism.meets, asleep, left)
        for i in range(own if cut > 0 else 0):
            if not asleep[i]:
                _set_mobility(mobility, state, bodies, i)
        work = np.empty((4 * len(pairs) + 16 * n + 16, PAIR_WIDTH))
        used = _seek(
            bodies, mechanism, state, mobility, asleep, pairs, h, left, kept, work, simplex, found, points
        )
        sharing = 0
        for k in range(used):
            sharing += work[k, FIRST_BODY] >= own or work[k, SECOND_BODY] >= own
        shared = Shared(np.empty((3 * sharing, nu)), np.empty((3 * sharing, nu)), velocity)
        for i in range(own):
            if not asleep[i]:
                for c in range(6):
                    xi[i, c] = state[i, 12 + c]
        rows = sharing = 0
        for k in range(used):
            if rows < k:
                work[rows] = work[k]
            if fill_row(work[rows], mobility, mechanism, shared, own, state, asleep, sharing):
                sharing += work[rows, SHARED] >= 0.0
                rows += 1
        rebounds = _aim(bodies, state, work, rows, xi, shared, own, left, kept, told)
        xi_before, velocity_before = xi.copy(), velocity.copy()
        above, order, begins = (
            np.empty((2, own + 1), np.int64),
            np.empty(rows, np.int64),
            np.empty(own + 2, np.int64),
        )
        count = islands(work, rows, own, above, order, begins)
        change = solve(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
        if rebounds:
            change = max(
                change,
                keep_energy(
                    work,
                    rows,
                    order,
                    begins,
                    count,
                    xi,
                    mobility,
                    shared,
                    sweeps,
                    tolerance,
                    xi_before,
                    velocity_before,
                ),
            )
        for _ in range(_BOWS):
            _carry(mechanism, state, own, velocity)
            if not _straighten(
                bodies,
                state,
                xi,
                shared,
                work,
                rows,
                own,
                asleep,
                left,
                bows,
                ahead,
                q,
                simplex,
                found,
                points,
            ):
                break
            change = solve_on(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
        told[0] = max(told[0], change)
        told[1], told[2] = rows, cut
        for i in range(own):
            if not asleep[i]:
                for c in range(6):
                    state[i, 12 + c] = xi[i, c]
        _carry(mechanism, state, own, velocity)
        meet = left
        if cut < _MOST_CUTS - 1:
            meet = _until(bodies, state, pairs, asleep, h, left, pose_a, pose_b, simplex, found)
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
        kept = np.empty((rows, KEPT))
        _keep(work, rows, left, kept)
        for k in range(rows):
            w = work[k]
            told[4] += max(w[IMPULSE] * w[BASE], 0.0)
            told[4] += max(w[IMPULSE + 1] * w[SLIDES] + w[IMPULSE + 2] * w[SLIDES + 1], 0.0)
            m = 3 * int(work[k, SHARED])
            for direction in range(3 if m >= 0 else 0):
                for c in range(nu):
                    pushed[c] += work[k, IMPULSE + direction] * shared.reach[m + direction, c]
        left -= meet
        if left <= 1e-12 * h:
            break
    if sleeping:
        _note_rest(bodies, state, own, asleep, kept, h)
    return kept, pushed, told


@native
def _note_rest(bodies, state, own, asleep, kept, h):
    """For how long each has rested; one falls asleep once it and all that it touches have rested long enough.

    So a row that has fallen sleeps while its other end still falls; whoever is pushed wakes.
    """
    n = state.shape[0]
    rested = np.zeros(n)
    for i in range(own):
        if asleep[i]:
            rested[i] = SLEEPS_AFTER_S
            continue
        moving = np.sqrt(state[i, 15] ** 2 + state[i, 16] ** 2 + state[i, 17] ** 2)
        turning = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
        state[i, 18] = state[i, 18] + h if moving < _SLOW_MPS and turning < _SLOW_RADPS else 0.0
        rested[i] = state[i, 18]
    least = rested.copy()
    for k in range(len(kept)):
        a, b = int(kept[k, 0]), int(kept[k, 1])
        if a >= 0:
            least[a] = min(least[a], rested[b])
            least[b] = min(least[b], rested[a])
    for i in range(own):
        if asleep[i]:
            continue
        if least[i] >= SLEEPS_AFTER_S - 0.25 * h:
            state[i, 12:18] = 0.0
            state[i, 18] = SLEEPS_AFTER_S
        else:
            # Nobody sleeps before all about it may.
            state[i, 18] = min(state[i, 18], SLEEPS_AFTER_S - 0.1 * h)
