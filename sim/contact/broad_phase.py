"""Which bodies come near each other, in compiled code: by a grid seen from above, at a cost that grows as their number.

Of what rests only what has changed is looked at again: boxes and grid of bodies that stay or sleep are kept from step
to step. `state` has a row a body, as `sim.contact.pile.STATE` says.
"""

from typing import NamedTuple

import numpy as np

from sim.contact.approach import NEAR_M
from sim.native.function import fastmath, native

_FAR = 1048576
"""Cells on either side of the origin."""
_CELL = 3.0
"""Its edge by the middle reach of bodies: whose box is larger is looked at by all."""
SLEEPS_AFTER_S = 0.5
_SLOW_MPS, _SLOW_RADPS = 0.02, 0.05


class Resting(NamedTuple):
    """What is known of bodies that rest."""

    boxes: np.ndarray
    """(n, 6) low and high corners [m]; of the others those of the last step."""
    poses: np.ndarray
    """(n, 12) that they have been looked at in."""
    known: np.ndarray
    """(n,) bool: who rests."""
    cells: np.ndarray
    """(n, 2) int64 of its middle; where its box is larger than a cell, -1."""
    heads: np.ndarray
    """(buckets,) int64: the last body of each bucket; -1: none."""
    following: np.ndarray
    """(n,) int64: the one before in its bucket."""
    wide: np.ndarray
    """(n + 1,) int64: how many of them are larger than a cell, and these."""
    cell_m: float

    @staticmethod
    def of(reach_m: np.ndarray) -> "Resting":
        """Nothing yet, of bodies that reach so far (n,)."""
        n = len(reach_m)
        return Resting(
            np.zeros((n, 6)),
            np.zeros((n, 12)),
            np.zeros(n, np.bool_),
            np.zeros((n, 2), np.int64),
            np.full(2 * n + 1, -1, np.int64),
            np.full(n, -1, np.int64),
            np.zeros(n + 1, np.int64),
            _CELL * float(np.median(reach_m)) if n else 1.0,
        )


@fastmath
def _bucket(x, y, count):
    return (x * 7919 + y * 104729) % count


@fastmath
def _look(bodies, state, i, dt, rest):
    """Note a body's box, swept by dt, and its cell."""
    box, reach, wide = rest.boxes[i], bodies.reach, False
    for c in range(3):
        # The box of what is stretched along one axis is far smaller than its ball's.
        extent = reach[i, 0] * abs(state[i, 3 * c])
        extent += reach[i, 1] * abs(state[i, 3 * c + 1]) + reach[i, 2] * abs(state[i, 3 * c + 2])
        turned = dt * np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
        extent += NEAR_M + min(turned, 2.0) * bodies.hulls.numbers[i, 5]
        moved = dt * state[i, 15 + c]
        box[c] = state[i, 9 + c] - extent + min(moved, 0.0)
        box[3 + c] = state[i, 9 + c] + extent + max(moved, 0.0)
        wide = wide or (c < 2 and not box[3 + c] - box[c] <= rest.cell_m)
    if not wide:
        x, y = 0.5 * (box[0] + box[3]) / rest.cell_m, 0.5 * (box[1] + box[4]) / rest.cell_m
        wide = not (abs(x) < _FAR and abs(y) < _FAR)
        rest.cells[i, 0], rest.cells[i, 1] = int(np.floor(x)) + _FAR, int(np.floor(y)) + _FAR
    if wide:
        rest.cells[i, 0] = rest.cells[i, 1] = -1


@fastmath
def _look_at_resting(bodies, state, asleep, own, rest):
    """Have boxes and grid of all that rests, anew where any of them has changed."""
    n, same = state.shape[0], True
    for i in range(n):
        rests = i < own and asleep[i]
        if rests != rest.known[i]:
            same = False
            break
        if rests:
            moved = 0.0
            for c in range(12):
                moved += abs(rest.poses[i, c] - state[i, c])
            if moved != 0.0:
                same = False
                break
    if same:
        return
    heads, wide = rest.heads, rest.wide
    for k in range(heads.shape[0]):
        heads[k] = -1
    wide[0] = 0
    for i in range(n):
        rest.known[i] = i < own and asleep[i]
        if not rest.known[i]:
            continue
        for c in range(12):
            rest.poses[i, c] = state[i, c]
        _look(bodies, state, i, 0.0, rest)
        _insert(rest, heads, wide, i)


@fastmath
def _insert(rest, heads, wide, i):
    if rest.cells[i, 0] < 0:
        wide[0] += 1
        wide[wide[0]] = i
        return
    at = _bucket(rest.cells[i, 0], rest.cells[i, 1], heads.shape[0])
    rest.following[i] = heads[at]
    heads[at] = i


@fastmath
def _candidates(rest, heads, wide, i, out, used):
    """Bodies of a grid that may be near a slim one, behind the first `used` of out; how many there are then."""
    for c in range(9):
        x, y = rest.cells[i, 0] + c % 3 - 1, rest.cells[i, 1] + c // 3 - 1
        j = heads[_bucket(x, y, heads.shape[0])]
        while j >= 0:
            if rest.cells[j, 0] == x and rest.cells[j, 1] == y:
                out[used] = j
                used += 1
            j = rest.following[j]
    for k in range(1, wide[0] + 1):
        out[used] = wide[k]
        used += 1
    return used


@native
def near_pairs(bodies, state, meets, asleep, dt, rest):
    """(k, 2) of bodies whose boxes, swept by dt, come near each other: rising; not of two that stay or sleep.

    meets (m, m): which of the last m bodies touch each other. rest: `Resting`. Pieces that are within each other still
    are not near.
    """
    n = state.shape[0]
    own = n - meets.shape[0]
    _look_at_resting(bodies, state, asleep, own, rest)
    live, count = np.empty(n, np.int64), 0
    for i in range(n):
        if not rest.known[i]:
            live[count] = i
            count += 1
    heads, wide, about = (
        np.empty(2 * count + 1, np.int64),
        np.empty(count + 1, np.int64),
        np.empty(n, np.int64),
    )
    for k in range(2 * count + 1):
        heads[k] = -1
    wide[0] = 0
    found = np.empty((64, 2), np.int64)
    used = 0
    for p in range(count):
        i = live[p]
        _look(bodies, state, i, dt, rest)
        near, box = 0, rest.boxes[i]
        if rest.cells[i, 0] >= 0:
            near = _candidates(rest, rest.heads, rest.wide, i, about, near)
            near = _candidates(rest, heads, wide, i, about, near)
        else:
            for j in range(n):
                if rest.known[j]:
                    about[near] = j
                    near += 1
            for q in range(p):
                about[near] = live[q]
                near += 1
        _insert(rest, heads, wide, i)
        for q in range(near):
            j = about[q]
            other, apart = rest.boxes[j], i >= own and j >= own and not meets[i - own, j - own]
            if bodies.piece[i] >= 0 and bodies.piece[j] >= 0:
                apart = apart or bodies.within[bodies.piece[i], bodies.piece[j]]
            for c in range(3):
                apart = apart or other[c] > box[3 + c] or box[c] > other[3 + c]
            if apart:
                continue
            if used == found.shape[0]:
                more = np.empty((2 * used, 2), np.int64)
                more[:used] = found
                found = more
            found[used, 0], found[used, 1] = min(i, j), max(i, j)
            used += 1
    keys, pairs = np.empty(used, np.int64), np.empty((used, 2), np.int64)
    for p in range(used):
        keys[p] = found[p, 0] * n + found[p, 1]
    order = _ranked(keys)
    for p in range(used):
        pairs[p] = found[order[p]]
    return pairs


@native
def _ranked(keys):
    """Places of keys (n,) as they rise; equal ones keep their order."""
    n, width = len(keys), 1
    order, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    while width < n:
        begin = 0
        while begin < n:
            left, right = begin, min(begin + width, n)
            middle, end = right, min(begin + 2 * width, n)
            for k in range(begin, end):
                if left < middle and (right >= end or keys[order[left]] <= keys[order[right]]):
                    other[k] = order[left]
                    left += 1
                else:
                    other[k] = order[right]
                    right += 1
            begin = end
        order, other = other, order
        width *= 2
    return order


@fastmath
def note_rest(state, own, workspace, kept, h):
    """For how long each has rested; one falls asleep once it and all that it touches have rested long enough.

    So a row that has fallen sleeps while its other end still falls; whoever is pushed wakes. Nobody sleeps in a heap of
    which one is loaded, as by a vehicle that leans on it.
    """
    live, asleep, rested, least = workspace.live, workspace.asleep, workspace.rested[0], workspace.rested[1]
    loaded, spreads = workspace.loaded, False
    for k in range(len(kept)):
        a, b = int(kept[k, 0]), int(kept[k, 1])
        if 0 <= a < own <= b and kept[k, 5] ** 2 + kept[k, 6] ** 2 + kept[k, 7] ** 2 > 0.0:
            loaded[a] = not asleep[a]
    for k in range(1, live[0] + 1):
        spreads = spreads or (live[k] < own and loaded[live[k]])
    while spreads:
        spreads = False
        for k in range(len(kept)):
            a, b = int(kept[k, 0]), int(kept[k, 1])
            if a < 0 or a >= own or b >= own or asleep[a] or asleep[b] or loaded[a] == loaded[b]:
                continue
            loaded[a] = loaded[b] = spreads = True
    for k in range(len(kept)):
        for side in range(2):
            i = int(kept[k, side])
            if i >= 0:
                rested[i] = least[i] = SLEEPS_AFTER_S if i < own and asleep[i] else 0.0
    for k in range(1, live[0] + 1):
        i = live[k]
        if i >= own:
            continue
        moving = np.sqrt(state[i, 15] ** 2 + state[i, 16] ** 2 + state[i, 17] ** 2)
        turning = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
        rests = moving < _SLOW_MPS and turning < _SLOW_RADPS and not loaded[i]
        state[i, 18] = state[i, 18] + h if rests else 0.0
        rested[i] = least[i] = state[i, 18]
    for k in range(len(kept)):
        a, b = int(kept[k, 0]), int(kept[k, 1])
        if a >= 0:
            least[a] = min(least[a], rested[b])
            least[b] = min(least[b], rested[a])
    for k in range(1, live[0] + 1):
        i = live[k]
        if i >= own:
            continue
        if least[i] >= SLEEPS_AFTER_S - 0.25 * h:
            state[i, 12:18] = 0.0
            state[i, 18] = SLEEPS_AFTER_S
        else:
            # Nobody sleeps before all about it may.
            state[i, 18] = min(state[i, 18], SLEEPS_AFTER_S - 0.1 * h)
