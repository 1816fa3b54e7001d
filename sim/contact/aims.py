"""What velocities of contacts are to be at least, in compiled code.

A gap may close but not more, what overlaps is parted slowly, what comes fast rebounds. Bodies that turn carry a point
off its straight way within the step: what touches at one point alone, as a stone that rocks or a disk that rolls on its
edge, is looked at where it is at the step's end, and aims at the gap that there has to be then, and at a contact that
is at rest on average. So rolling is of second order, and keeps energy.
"""

import numpy as np

from sim.contact.approach import NEAR_M, moved_body
from sim.contact.manifold import ground_points, touching_points
from sim.contact.pair_rows import (
    AIM,
    ANEW,
    BASE,
    BOW,
    FIRST_BODY,
    GAP,
    GROUND,
    IMPULSE,
    NORMAL,
    PLACE,
    RESTITUTION,
    ROLLS,
    SECOND_BODY,
    SHARED,
    SLIDES,
    SPINS,
    TORQUE,
    row_speeds,
)
from sim.native.function import fastmath

SLOP_M = 2e-5
_PUSH_OUT, _PUSH_OUT_MPS = 0.5, 0.5
_REBOUND_MPS = 0.1
SAME_M = 0.04
"""Within which the nearest point of the same two bodies is the one of the step before."""
_STRAIGHT = 1e-3
"""Points that turning bodies carry off their straight way by more than that of what falls in a step are looked at where
they end: a length would leave short steps without that look, and with a greater error than long ones;"""
_BENT, SAME_NORMAL = 4.0, 0.99
"""by so many times what falls in a step they may leave it, and by no more their normal may turn: else it is a blow."""


@fastmath
def pair_key(a, b, n):
    """By which pairs are in order, those with the ground last."""
    return (n if a < 0 else a) * (n + 1) + b


@fastmath
def aim_rows(bodies, state, work, rows, xi, shared, own, left, whole, kept, told):
    """What each contact's normal velocity is to be at least, and the impulse that it starts from: that of the nearest
    contact of the same two bodies in the step before. Whether any rebounds.

    whole: the step is uncut yet. From a cut on a mechanism's bodies are on their way to where they aim, no overlap of
    which is told.
    """
    n, first, sharing, rebounds = state.shape[0], 0, False, False
    for k in range(rows):
        w = work[k]
        closing, gap = -row_speeds(xi, shared, w)[0], w[GAP]
        key = pair_key(w[FIRST_BODY], w[SECOND_BODY], n)
        sharing = w[SHARED] >= 0.0
        if not sharing or (whole and w[FIRST_BODY] != GROUND):
            told[3] = max(told[3], -gap)
        rebound = w[RESTITUTION] * (closing - bodies.frame[5] * left)
        if gap > 0.0:
            w[AIM] = -gap / left
        elif sharing and gap < -SLOP_M:
            w[AIM] = min(_PUSH_OUT * (-gap - SLOP_M) / left, _PUSH_OUT_MPS)
        else:
            w[AIM] = 0.0
        if sharing and w[FIRST_BODY] == GROUND:
            # A mechanism's own step deals with the ground: here it only bears what others push it by.
            w[AIM] = min(w[AIM], -closing)
            rebound = 0.0
        w[BASE], w[BOW] = w[AIM], 0.0
        w[SLIDES] = w[SLIDES + 1] = 0.0
        if rebound > _REBOUND_MPS and closing * left > gap:
            w[AIM], rebounds = max(w[AIM], rebound), True
        while first < len(kept) and pair_key(kept[first, 0], kept[first, 1], n) < key:
            first += 1
        best, which = SAME_M, -1
        for j in range(first, len(kept)):
            if pair_key(kept[j, 0], kept[j, 1], n) > key:
                break
            away = (
                abs(kept[j, 2] - w[PLACE]) + abs(kept[j, 3] - w[PLACE + 1]) + abs(kept[j, 4] - w[PLACE + 2])
            )
            if away < best:
                best, which = away, j
        # What a mechanism bears acts at once, and is in its velocities already.
        if which >= 0 and rebound <= _REBOUND_MPS and not sharing:
            for direction in range(3):
                # Where the normal has turned, a torque about it has parts that this contact does not resist by.
                resists = w[ROLLS if direction > 0 else SPINS] > 0.0
                for c in range(3):
                    along = w[NORMAL + 3 * direction + c]
                    w[IMPULSE + direction] += along * kept[which, 5 + c] * left
                    w[TORQUE + direction] += along * kept[which, 11 + c] * left if resists else 0.0
            w[IMPULSE] = max(w[IMPULSE], 0.0)
    return rebounds


@fastmath
def straighten(bodies, state, shared, work, rows, own, left):
    """Aim at the gaps that there will be at the end, where bodies turn so far that these are not what speeds say.

    Whether anything is aimed at anew.
    """
    space = bodies.workspace
    xi, bows, ahead, simplex, found, points = (
        space.twists,
        space.bows,
        space.ahead,
        space.simplex,
        space.found,
        space.points,
    )
    for k in range(rows):
        for end in range(2):
            if work[k, FIRST_BODY + end] >= 0:
                bows[int(work[k, FIRST_BODY + end])] = 0.0
    for k in range(rows):
        w = work[k]
        w[ANEW] = 0.0
        if w[IMPULSE] > 0.0:
            for end in range(2):
                if w[FIRST_BODY + end] >= 0:
                    bows[int(w[FIRST_BODY + end])] += 1.0
    falls, most = bodies.frame[5] * left * left, 0.0
    for k in range(rows):
        w = work[k]
        for end in range(2 if w[IMPULSE] > 0.0 else 0):
            i = int(w[FIRST_BODY + end])
            if i < 0 or bows[i] <= 0.0:
                continue
            # Of others than what touches at one point the other points say what it does.
            alone = bows[i] == 1.0 or bodies.mass[i] <= 0.0 or i >= own
            bows[i] = -1.0
            if alone:
                bow = moved_body(state, i, own, bodies, left)
                bows[i] = -2.0 - bow * bodies.hulls.numbers[i, 5]
                most = max(most, -2.0 - bows[i])
    if most <= _STRAIGHT * falls:
        return False
    anew, begin, most = False, 0, _BENT * falls
    while begin < rows:
        a, b = int(work[begin, FIRST_BODY]), int(work[begin, SECOND_BODY])
        end, bears, one = begin, 0, begin
        while end < rows and work[end, FIRST_BODY] == a and work[end, SECOND_BODY] == b:
            if work[end, IMPULSE] > 0.0:
                bears, one = bears + 1, end
            end += 1
        begin = end
        w = work[one]
        if bears != 1 or bows[b] > -2.0 or (a >= 0 and bows[a] > -2.0):
            continue
        bow = -2.0 - bows[b] - (2.0 + bows[a] if a >= 0 else 0.0)
        if bow <= _STRAIGHT * falls or w[AIM] > w[BASE] or (a == GROUND and b >= own):
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
        if count == 0 or point[4] * n[0] + point[5] * n[1] + point[6] * n[2] < SAME_NORMAL:
            continue
        bow = point[3] - w[GAP] - left * row_speeds(xi, shared, w)[0]
        bow = min(max(bow, -most), most)
        w[AIM] -= (bow - w[BOW]) / left
        w[BASE], w[BOW], w[ANEW], anew = w[AIM], bow, 1.0, True
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
