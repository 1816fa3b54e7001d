"""Bodies that touch one another, the ground and what stays: steps of all of them together, in compiled code.

A step takes gravity in, finds the impulses under which no contact closes more than its gap and none leaves Coulomb's
cone (Moreau's sweeping process in the velocity form of Jean, as of the ground in `wrench`), and moves the bodies on:
places by their velocity, rotations by the midpoint rule of the free body, whose Cayley map keeps spin and energy. Where
a fast pair would meet before the step's end, the step is cut there.
"""

from typing import NamedTuple

import numpy as np

from sim.contact.aims import aim_rows, pair_key, straighten
from sim.contact.approach import NEAR_M, meeting, moved_pose, turn
from sim.contact.broad_phase import SLEEPS_AFTER_S, Resting, near_pairs, note_rest
from sim.contact.convex import Hulls, normal_between
from sim.contact.islands import islands, solve, solve_on
from sim.contact.manifold import ground_points, touching_points
from sim.contact.pair_rows import (
    FIRST_BODY,
    GROUND,
    IMPULSE,
    NORMAL,
    PAIR_WIDTH,
    PLACE,
    SECOND_BODY,
    SHARED,
    TORQUE,
    Mechanism,
    Shared,
    Workspace,
    fill_row,
    note_row,
    row_speeds,
)
from sim.contact.parting import look_ahead, part, set_mobility
from sim.contact.rebound import keep_energy, told_work
from sim.native.function import fastmath, native

STATE = 19
"""Numbers a body: R_wb row-major (9), x_w (3), omega_w and v_w (6), and for how long it has been at rest [s]; asleep
from SLEEPS_AFTER_S on."""
_WAKES_MPS = 0.05
_CORD_MPS = 20.0
"""As fast as its ends may part, a cord that is slack is looked at."""
_MOST_CUTS, _BOWS, _LOOKS = 64, 2, 3
"""Cuts of a step, and looks at where turning bodies touch at its end, and at what overlaps there."""
KEPT = 14
"""Of a contact that is remembered: bodies (2,), place (3,), mean force in the world (3,), normal (3,), and mean torque
of rolling and spinning resistance (3,)."""


class Bodies(NamedTuple):
    """What does not change in time. The last ones are those of a mechanism, which others move."""

    hulls: Hulls
    mass: np.ndarray
    """(n,) kg; 0 of what stays."""
    inertia: np.ndarray
    """(n, 4) kg m^2 about axes that are the body's but for a turn about its third one, by the last number [rad]."""
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
    piece: np.ndarray
    """(n,) int64: its number among the pieces of what has broken, and who was on that; -1 of others."""
    within: np.ndarray
    """(m, m) bool: which of these have not come out of each other yet, and do not meet. Steps change it."""
    rest: Resting
    """Of those that stay or sleep; this and `workspace` are what steps change."""
    workspace: Workspace


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
def _wake(bodies, state, mobility, i, left):
    bodies.workspace.asleep[i], state[i, 18] = False, 0.0
    set_mobility(mobility, state, bodies, i)
    state[i, 17] -= left * bodies.frame[5]


@fastmath
def _note_cord(cord, state, own, left, point):
    """A cord as a contact that keeps its ends from parting further, into point; whether it may get taut."""
    a, b, square = state[int(cord[0])], state[own + int(cord[1])], 0.0
    for c in range(3):
        point[c] = a[9 + c] + a[3 * c] * cord[2] + a[3 * c + 1] * cord[3] + a[3 * c + 2] * cord[4]
        end = b[9 + c] + b[3 * c] * cord[5] + b[3 * c + 1] * cord[6] + b[3 * c + 2] * cord[7]
        point[4 + c] = point[c] - end
        square += point[4 + c] ** 2
    size = np.sqrt(square)
    point[3] = cord[8] - size
    if size < 1e-9 or point[3] > NEAR_M + left * _CORD_MPS:
        return False
    for c in range(3):
        point[4 + c] /= size
    return True


@fastmath
def _note_live(workspace, own):
    """Note who is awake; how many."""
    live, count = workspace.live, 0
    for i in range(workspace.asleep.shape[0]):
        if i >= own or not workspace.asleep[i]:
            count += 1
            live[count] = i
    live[0] = count
    return count


@fastmath
def _seek(bodies, mechanism, state, mobility, pairs, h, left, kept, work):
    """Note rows of all that touches or is near; how many. Whoever is awake and moves wakes what it touches."""
    space, used, met, first = bodies.workspace, 0, False, 0
    n, own, hint = state.shape[0], state.shape[0] - mechanism.jacobian.shape[0], space.found[9:12]
    asleep, struck, points = space.asleep, space.struck, space.points
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        key = pair_key(a, b, n)
        while first < len(kept) and pair_key(kept[first, 0], kept[first, 1], n) < key:
            first += 1
        known = first < len(kept) and pair_key(kept[first, 0], kept[first, 1], n) == key
        for c in range(3):
            hint[c] = kept[first, 8 + c] if known else 0.0
        count = touching_points(
            bodies.hulls,
            a,
            b,
            state[a, :12],
            state[b, :12],
            NEAR_M,
            space.simplex,
            space.found,
            points,
            hint,
        )
        if count == 0:
            continue
        met = met or b >= own
        for end in range(2):
            i, j = (a, b) if end == 0 else (b, a)
            if i >= own or not asleep[i] or bodies.mass[i] <= 0.0 or asleep[j]:
                continue
            if (
                struck[j]
                or j >= own
                or _moving(state, bodies.hulls, j) > _WAKES_MPS + 3.0 * h * bodies.frame[5]
            ):
                struck[i] = True
                _wake(bodies, state, mobility, i, left)
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
    for k in range(_note_live(space, own)):
        i = space.live[k + 1]
        if i >= own and not (met and mechanism.grounded):
            continue
        near = NEAR_M + left * max(-state[i, 17], 0.0)
        near += 0.5 * left * (abs(state[i, 15]) + abs(state[i, 16]))
        turning = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
        near += left * turning * bodies.hulls.numbers[i, 5]
        mu = np.sqrt(bodies.frame[3] * bodies.friction[i])
        restitution = min(bodies.frame[4], bodies.restitution[i])
        count = ground_points(bodies.hulls, bodies.heights, bodies.frame, state, i, near, points)
        rolling, spinning = bodies.rolling[i], bodies.spinning[i]
        for p in range(count):
            if used < work.shape[0]:
                note_row(work[used], GROUND, i, points[p], mu, restitution, rolling, spinning)
                used += 1
    for k in range(mechanism.cords.shape[0]):
        if _note_cord(mechanism.cords[k], state, own, left, points[0]) and used < work.shape[0]:
            a, b = int(mechanism.cords[k, 0]), own + int(mechanism.cords[k, 1])
            if asleep[a] and bodies.mass[a] > 0.0:
                _wake(bodies, state, mobility, a, left)
            note_row(work[used], a, b, points[0], 0.0, 0.0, 0.0, 0.0)
            used += 1
    return used


@fastmath
def _strays(bodies, state, left):
    """Whether impulses have turned any body so far off its way that it may come near others than were looked for."""
    live, before = bodies.workspace.live, bodies.workspace.freely
    for k in range(live[0]):
        i = live[k + 1]
        moved = turned = 0.0
        for c in range(3):
            turned += (state[i, 12 + c] - before[i, c]) ** 2
            moved += (state[i, 15 + c] - before[i, 3 + c]) ** 2
        if left * (np.sqrt(moved) + np.sqrt(turned) * bodies.hulls.numbers[i, 5]) > NEAR_M:
            return True
    return False


@fastmath
def _until(bodies, state, pairs, h, left):
    """How long the bodies may move on as they do now, within what is left of a step: until a fast pair meets."""
    meet, space = left, bodies.workspace
    asleep, simplex, found = space.asleep, space.simplex, space.found
    pose_a, pose_b = space.poses[0], space.poses[1]
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


@fastmath
def _come_out(bodies, state):
    """Of pieces that were within each other note those that lie apart: they meet from now on."""
    space, piece, within = bodies.workspace, bodies.piece, bodies.within
    for j in range(state.shape[0] if within.shape[0] > 0 else 0):
        for i in range(j if piece[j] >= 0 else 0):
            if piece[i] < 0 or not within[piece[i], piece[j]]:
                continue
            pose_i, pose_j = state[i, :12], state[j, :12]
            if normal_between(bodies.hulls, i, j, pose_i, pose_j, space.simplex, space.found) > 0.0:
                within[piece[i], piece[j]] = within[piece[j], piece[i]] = False


@fastmath
def _got_before(visiting, late, left):
    """A mechanism as it answers what it gets `late` before the rest of a step: by as much further at its end."""
    if late <= 0.0:
        return visiting
    answers = visiting.mobility.copy()
    for c in range(answers.shape[0]):
        for d in range(answers.shape[1]):
            answers[c, d] *= 1.0 + late / left
    return Mechanism(
        visiting.jacobian, answers, visiting.velocity, visiting.meets, visiting.grounded, visiting.cords
    )


@fastmath
def _tell_got(visiting, state, own, velocity, before, late, left, meet):
    """Of the velocities that `_got_before` has led to, those that the impulses leave, in place; and in its bodies'
    twists those that within `meet` lead to where they come to be."""
    if late <= 0.0:
        return
    for c in range(before.shape[0]):
        gained = (velocity[c] - before[c]) * left / (left + late)
        velocity[c] = before[c] + gained * (1.0 + late / meet)
        before[c] += gained
    _carry(visiting, state, own, velocity)
    for c in range(before.shape[0]):
        velocity[c] = before[c]


@native
def advance(bodies, visiting, state, mobility, wrenches, remembered, h, late, sweeps, tolerance, sleeping):
    """Go on by h, in place. Returns contacts (k, KEPT), the impulse (nu,) on a mechanism, and (7,) the greatest change
    of the last sweep [m/s], rows, cuts, the deepest overlap [m], the work of pushing overlaps apart [J]; of the
    mechanism's contacts the sum of normal impulses [N s], and how fast the fastest that bears slips [m/s].

    state (n, STATE): the last of it is the mechanism's bodies, whose velocity becomes what it is after this.
    mobility (n, MOBILITY) is overwritten. wrenches (n, 6) or (0, 6): forces of this step in the world, (torque, force).
    remembered (k, KEPT): contacts of the step before. sleeping: whether what rests may sleep. late: before this step by
    that, and not within it, the mechanism gets its impulses [s].
    """
    n, nu, velocity, space = state.shape[0], visiting.velocity.shape[0], visiting.velocity, bodies.workspace
    own, xi, asleep, live = n - visiting.jacobian.shape[0], space.twists, space.asleep, space.live
    told, pushed = np.zeros(7), np.zeros(nu)
    _come_out(bodies, state)
    for i in range(own):
        still = bodies.mass[i] <= 0.0
        asleep[i] = still or (sleeping and state[i, 18] >= SLEEPS_AFTER_S)
        loaded = False
        for c in range(6 if i < wrenches.shape[0] else 0):
            loaded = loaded or wrenches[i, c] != 0.0
        mobility[i, 0] = 0.0
        # Whoever slept would stand like a wall in the way of what is pulled.
        space.loaded[i] = space.struck[i] = loaded and not still
        if loaded and not still:
            asleep[i], state[i, 18] = False, 0.0
        if not asleep[i]:
            set_mobility(mobility, state, bodies, i)
            state[i, 17] -= h * bodies.frame[5]
            if loaded:
                _load(state, mobility[i], i, wrenches[i], h)
    left, kept = h, remembered
    for cut in range(_MOST_CUTS):
        mechanism = _got_before(visiting, late + h - left, left)
        _carry(mechanism, state, own, velocity)
        awake, woken = _note_live(space, own), True
        for k in range(1, live[0] + 1 if cut > 0 else 0):
            if live[k] < own:
                set_mobility(mobility, state, bodies, live[k])
        # What wakes touches others, of which nobody has asked while both slept.
        while woken:
            pairs = near_pairs(bodies, state, mechanism.meets, asleep, left, bodies.rest)
            work = np.empty((4 * len(pairs) + 24 * awake + 64, PAIR_WIDTH))
            used = _seek(bodies, mechanism, state, mobility, pairs, h, left, kept, work)
            woken, awake = live[0] > awake, live[0]
        sharing = 0
        for k in range(used):
            sharing += work[k, FIRST_BODY] >= own or work[k, SECOND_BODY] >= own
        room = 3 * sharing + (0 if n == own else 96)
        shared = Shared(np.empty((room, nu)), np.empty((room, nu)), velocity)
        for k in range(1, live[0] + 1):
            i = live[k]
            for c in range(6):
                xi[i, c] = space.freely[i, c] = state[i, 12 + c]
        rows = sharing = 0
        for k in range(used):
            if rows < k:
                work[rows] = work[k]
            if fill_row(work[rows], mobility, mechanism, shared, own, state, asleep, sharing):
                sharing += work[rows, SHARED] >= 0.0
                rows += 1
        rebounds = aim_rows(bodies, state, work, rows, xi, shared, own, left, cut == 0, kept, told)
        velocity_before = velocity.copy()
        order, begins = np.empty(rows, np.int64), np.empty(rows + 1, np.int64)
        count = islands(work, rows, own, space.above, order, begins)
        change = solve(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
        falls, looked = bodies.frame[5] * (2.0 * left - h), False
        if rebounds:
            again = keep_energy(
                work, order, begins, count, space, mobility, shared, sweeps, tolerance, velocity_before, falls
            )
            change = max(change, again)
        for _ in range(_BOWS):
            _carry(mechanism, state, own, velocity)
            if not straighten(bodies, state, shared, work, rows, own, left):
                break
            again = solve_on(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
            change, looked = max(change, again), True
        for _ in range(_LOOKS):
            _carry(mechanism, state, own, velocity)
            known = rows
            rows, sharing, anew = look_ahead(
                bodies, mechanism, state, mobility, shared, work, rows, sharing, own, left
            )
            if not anew:
                break
            if rows > known:
                order, begins = np.empty(rows, np.int64), np.empty(rows + 1, np.int64)
                count = islands(work, rows, own, space.above, order, begins)
            again = solve_on(work, rows, order, begins, count, xi, mobility, shared, sweeps, tolerance)
            change, looked = max(change, again), True
        if rebounds and looked:
            again = keep_energy(
                work, order, begins, count, space, mobility, shared, sweeps, tolerance, velocity_before, falls
            )
            change = max(change, again)
        told[0] = max(told[0], change)
        told[1], told[2] = rows, cut
        for k in range(1, live[0] + 1):
            if live[k] < own:
                for c in range(6):
                    state[live[k], 12 + c] = xi[live[k], c]
        _carry(mechanism, state, own, velocity)
        meet = left
        if _strays(bodies, state, left):
            pairs = near_pairs(bodies, state, mechanism.meets, asleep, left, bodies.rest)
        if cut < _MOST_CUTS - 1:
            meet = _until(bodies, state, pairs, h, left)
        _tell_got(visiting, state, own, velocity, velocity_before, late + h - left, left, meet)
        for k in range(1, live[0] + 1):
            i = live[k]
            for c in range(3):
                state[i, 9 + c] += meet * state[i, 15 + c]
            if i < own:
                turn(state, i, bodies.inertia[i], meet, space.turned)
            else:
                moved_pose(state, i, meet, space.turned)
                for c in range(9):
                    state[i, c] = space.turned[c]
        _carry(visiting, state, own, velocity)
        taken = part(bodies, state, mobility, shared, work, rows, own, meet)
        told[4] += max(taken, 0.0)
        kept = np.empty((rows, KEPT))
        _keep(work, rows, left, kept)
        for k in range(rows):
            w = work[k]
            told[4] += told_work(w)
            m = 3 * int(work[k, SHARED])
            if m >= 0 and w[IMPULSE] > 0.0:
                _, first, second = row_speeds(xi, shared, w)
                told[5] += w[IMPULSE]
                told[6] = max(told[6], np.sqrt(first * first + second * second))
            for direction in range(3 if m >= 0 else 0):
                for c in range(nu):
                    pushed[c] += work[k, IMPULSE + direction] * shared.reach[m + direction, c]
        left -= meet
        if left <= 1e-12 * h:
            break
    if sleeping:
        note_rest(state, own, space, kept, h)
    return kept, pushed, told
