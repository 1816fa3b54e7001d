"""Contacts between any two of many bodies as rows: what each answers to an impulse.

Rigid bodies answer by their own inertia. What is jointed answers by velocities that it shares, a `Mechanism`: a row at
its bodies has its reach along these, and what a unit impulse does to all of them.
"""

from typing import NamedTuple

import numpy as np

from sim.native.function import fastmath, inline_fastmath

GROUND = -1
"""In place of a first body."""
# columns of a row
FIRST_BODY, SECOND_BODY = 0, 1
LEFT, RIGHT = 2, 3
"""The same where they answer by their own inertia; else -1."""
SHARED = 4
"""Which of the rows of `Shared` it has; -1: none."""
MU, RESTITUTION, GAP, AIM = 5, 6, 7, 8
PLACE = 9
"""Of the point in the world, three numbers; its normal, from the first body to the second, and two tangents behind."""
NORMAL = 12
ARMS = 21
"""From the place of LEFT and from that of RIGHT to the point, three numbers each."""
IMPULSE = 27
"""Along the normal and the tangents [N s]."""
ANSWER = 30
"""[1/kg] by normal and tangents: nn, ns, nt, ss, st, tt."""
EARLIER, SWEPT = 36, 39
"""Impulses before a sweep, and after the one before it."""
ROLLS, SPINS = 42, 43
"""Arms of rolling and spinning resistance [m]: so much torque a normal force it bears."""
TORQUE = 44
"""Angular impulse about the normal and the tangents [N m s]."""
BASE = 47
"""AIM without rebound."""
REBOUNDED = 48
"""What it has with rebound: impulses, speeds, angular impulses and turning speeds, three numbers each."""
BOW = 60
"""By how much more a gap opens within the step than its speed says [m]."""
SLIDES = 61
"""Speeds along the tangents at which a point that sticks begins, so that it is at rest on average over the step."""
ANEW = 63
"""Whether it is to be solved again, with its island."""
BEARS = 64
"""While an island's equations are solved: whether its normal is one (1), and its tangents as well (2)."""
UNDONE = 65
"""Impulses and angular impulses before they were solved at once."""
PAIR_WIDTH = 71
MOBILITY = 7
"""Numbers of a body's answer: 1 / mass, and the inverse of its inertia in the world: xx, xy, xz, yy, yz, zz."""
RIGID = 1e-9
"""Least answer [1/kg] of a contact, where constraints let nothing give way."""


NO_CORDS = np.zeros((0, 9))


class Mechanism(NamedTuple):
    """Bodies that share velocities (nu,): a vehicle of one body, or a tree of joints. They come last among bodies."""

    jacobian: np.ndarray
    """(bodies, 6, nu) of their twists about their places, in the world."""
    mobility: np.ndarray
    """(nu, nu) by which velocities answer generalised impulses."""
    velocity: np.ndarray
    """(nu,) over the time to come, if nothing is touched; then what it becomes."""
    meets: np.ndarray
    """(bodies, bodies) bool: which of them touch each other."""
    grounded: bool
    """Whether the ground bears what is pushed into it: by itself it does not move there."""
    cords: np.ndarray = NO_CORDS
    """(k, 9) to others: which, to which of its own bodies, the ends in their frames (3,) and (3,), and length [m]."""


class Shared(NamedTuple):
    """Of the rows at a mechanism: three directions each."""

    reach: np.ndarray
    """(3 k, nu)."""
    answer: np.ndarray
    """(3 k, nu)."""
    velocity: np.ndarray
    """(nu,) now."""


class Workspace(NamedTuple):
    """What a step writes on, of n bodies, kept so that it costs nothing for those that sleep: of those that are awake
    alone anything is written or read."""

    twists: np.ndarray
    """(n, 6) omega and v, of a mechanism's too."""
    freely: np.ndarray
    """(n, 6) the same without contact."""
    ahead: np.ndarray
    """(n, width of a state) where they end."""
    asleep: np.ndarray
    """(n,) bool, of those that stay as well."""
    struck: np.ndarray
    """(n,) bool: woken in this step by a blow, a load or a mechanism, which goes through all that touches."""
    loaded: np.ndarray
    """(n,) bool: a force of its own acts on it, as a hand's; after a step, on what hangs together with it, too."""
    live: np.ndarray
    """(n + 1,) int64: how many are awake, a mechanism's among them, and these as they rise."""
    bows: np.ndarray
    """(n,) m."""
    above: np.ndarray
    """(2, n + 1) int64, of islands."""
    rested: np.ndarray
    """(2, n) s."""
    simplex: np.ndarray
    found: np.ndarray
    points: np.ndarray
    """Of distances: as `sim.contact.manifold.touching_points` has them."""
    poses: np.ndarray
    """(2, 12)."""
    turned: np.ndarray
    """(12,)."""

    @staticmethod
    def of(n: int, width: int, simplex: tuple[int, ...], point: int) -> "Workspace":
        return Workspace(
            np.zeros((n, 6)),
            np.zeros((n, 6)),
            np.zeros((n, width)),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros(n + 1, np.int64),
            np.zeros(n),
            np.zeros((2, n + 1), np.int64),
            np.zeros((2, n)),
            np.zeros(simplex),
            np.zeros(12),
            np.zeros((64, point)),
            np.zeros((2, 12)),
            np.zeros(12),
        )


@inline_fastmath
def speeds_of(xi, shared, w):
    """Velocity of a row's second body against its first at the point: along normal and tangents."""
    vx = vy = vz = 0.0
    i, j = int(w[LEFT]), int(w[RIGHT])
    if j >= 0:
        x, r = xi[j], w[ARMS + 3 : ARMS + 6]
        vx = x[3] + x[1] * r[2] - x[2] * r[1]
        vy = x[4] + x[2] * r[0] - x[0] * r[2]
        vz = x[5] + x[0] * r[1] - x[1] * r[0]
    if i >= 0:
        x, r = xi[i], w[ARMS : ARMS + 3]
        vx -= x[3] + x[1] * r[2] - x[2] * r[1]
        vy -= x[4] + x[2] * r[0] - x[0] * r[2]
        vz -= x[5] + x[0] * r[1] - x[1] * r[0]
    n = w[NORMAL : NORMAL + 9]
    along_n = vx * n[0] + vy * n[1] + vz * n[2]
    along_s = vx * n[3] + vy * n[4] + vz * n[5]
    along_t = vx * n[6] + vy * n[7] + vz * n[8]
    m = 3 * int(w[SHARED])
    if m >= 0:
        for c in range(shared.velocity.shape[0]):
            u = shared.velocity[c]
            along_n += shared.reach[m, c] * u
            along_s += shared.reach[m + 1, c] * u
            along_t += shared.reach[m + 2, c] * u
    return along_n, along_s, along_t


@inline_fastmath
def _turn(x, m, px, py, pz):
    """Give a body an angular impulse: x its twist, m its mobility."""
    x[0] += m[1] * px + m[2] * py + m[3] * pz
    x[1] += m[2] * px + m[4] * py + m[5] * pz
    x[2] += m[3] * px + m[5] * py + m[6] * pz


@inline_fastmath
def push_by(xi, mobility, shared, w, pn, ps, pt):
    """Apply an impulse along normal and tangents of a row to both bodies."""
    n = w[NORMAL : NORMAL + 9]
    px = pn * n[0] + ps * n[3] + pt * n[6]
    py = pn * n[1] + ps * n[4] + pt * n[7]
    pz = pn * n[2] + ps * n[5] + pt * n[8]
    i, j = int(w[LEFT]), int(w[RIGHT])
    if j >= 0:
        x, r, m = xi[j], w[ARMS + 3 : ARMS + 6], mobility[j]
        x[3] += m[0] * px
        x[4] += m[0] * py
        x[5] += m[0] * pz
        _turn(x, m, r[1] * pz - r[2] * py, r[2] * px - r[0] * pz, r[0] * py - r[1] * px)
    if i >= 0:
        x, r, m = xi[i], w[ARMS : ARMS + 3], mobility[i]
        x[3] -= m[0] * px
        x[4] -= m[0] * py
        x[5] -= m[0] * pz
        _turn(x, m, r[2] * py - r[1] * pz, r[0] * pz - r[2] * px, r[1] * px - r[0] * py)
    k = 3 * int(w[SHARED])
    if k >= 0:
        for c in range(shared.velocity.shape[0]):
            shared.velocity[c] += (
                pn * shared.answer[k, c] + ps * shared.answer[k + 1, c] + pt * shared.answer[k + 2, c]
            )


@fastmath
def note_row(w, a, b, point, mu, restitution, rolls, spins):
    """A contact between bodies a (or GROUND) and b at point (7,): place, gap, normal from a to b."""
    w[FIRST_BODY], w[SECOND_BODY], w[MU], w[RESTITUTION], w[GAP] = a, b, mu, restitution, point[3]
    w[ROLLS], w[SPINS] = rolls, spins
    for c in range(3):
        w[PLACE + c] = point[c]
        w[IMPULSE + c] = w[TORQUE + c] = 0.0
    nx, ny, nz = point[4], point[5], point[6]
    if abs(nx) > 0.7:
        size = np.sqrt(nx * nx + nz * nz)
        sx, sy, sz = -nz / size, 0.0, nx / size
    else:
        size = np.sqrt(ny * ny + nz * nz)
        sx, sy, sz = 0.0, nz / size, -ny / size
    n = w[NORMAL : NORMAL + 9]
    n[0], n[1], n[2], n[3], n[4], n[5] = nx, ny, nz, sx, sy, sz
    n[6], n[7], n[8] = ny * sz - nz * sy, nz * sx - nx * sz, nx * sy - ny * sx


@fastmath
def _add_own(w, arms, m):
    """To a row's answer that of a body of mobility m, at arms (3,) from its place."""
    n = w[NORMAL : NORMAL + 9]
    at = 0
    for c in range(3):
        x, y, z = n[3 * c], n[3 * c + 1], n[3 * c + 2]
        tx, ty, tz = arms[1] * z - arms[2] * y, arms[2] * x - arms[0] * z, arms[0] * y - arms[1] * x
        ax = m[1] * tx + m[2] * ty + m[3] * tz
        ay = m[2] * tx + m[4] * ty + m[5] * tz
        az = m[3] * tx + m[5] * ty + m[6] * tz
        for d in range(c, 3):
            u, v, s = n[3 * d], n[3 * d + 1], n[3 * d + 2]
            along = arms[1] * s - arms[2] * v
            across = arms[2] * u - arms[0] * s
            up = arms[0] * v - arms[1] * u
            w[ANSWER + at] += ax * along + ay * across + az * up
            if c == d:
                w[ANSWER + at] += m[0]
            at += 1


@fastmath
def _add_shared(w, mechanism, shared, own, state):
    """The same of a mechanism, whose bodies come from `own` on, and the row's reach and answer with it."""
    k = 3 * int(w[SHARED])
    nu = shared.velocity.shape[0]
    for direction in range(3):
        n = w[NORMAL + 3 * direction : NORMAL + 3 * direction + 3]
        for c in range(nu):
            shared.reach[k + direction, c] = 0.0
        for end in range(2):
            i = int(w[FIRST_BODY + end])
            if i < own:
                continue
            rx, ry, rz = w[PLACE] - state[i, 9], w[PLACE + 1] - state[i, 10], w[PLACE + 2] - state[i, 11]
            sign = 1.0 if end else -1.0
            t0, t1, t2 = ry * n[2] - rz * n[1], rz * n[0] - rx * n[2], rx * n[1] - ry * n[0]
            J = mechanism.jacobian[i - own]
            for c in range(nu):
                shared.reach[k + direction, c] += sign * (
                    J[0, c] * t0
                    + J[1, c] * t1
                    + J[2, c] * t2
                    + J[3, c] * n[0]
                    + J[4, c] * n[1]
                    + J[5, c] * n[2]
                )
        for c in range(nu):
            total = 0.0
            for d in range(nu):
                total += mechanism.mobility[c, d] * shared.reach[k + direction, d]
            shared.answer[k + direction, c] = total
    at = 0
    for c in range(3):
        for d in range(c, 3):
            total = 0.0
            for e in range(nu):
                total += shared.reach[k + c, e] * shared.answer[k + d, e]
            w[ANSWER + at] += total
            at += 1


@fastmath
def fill_row(w, mobility, mechanism, shared, own, state, asleep, used):
    """What a noted contact answers; `used` rows of `shared` are taken. Whether anything gives way to it."""
    w[LEFT] = w[RIGHT] = w[SHARED] = -1.0
    for c in range(6):
        w[ANSWER + c] = 0.0
    for end in range(2):
        i = int(w[FIRST_BODY + end])
        if i >= own:
            w[SHARED] = used
        elif i >= 0 and not asleep[i]:
            w[LEFT + end] = i
            arms = w[ARMS + 3 * end : ARMS + 3 * end + 3]
            for c in range(3):
                arms[c] = w[PLACE + c] - state[i, 9 + c]
            _add_own(w, arms, mobility[i])
    if w[SHARED] >= 0.0:
        _add_shared(w, mechanism, shared, own, state)
    if w[ANSWER] <= RIGID:
        return False
    w[ANSWER + 3] += RIGID
    w[ANSWER + 5] += RIGID
    return True


@fastmath
def row_speeds(xi, shared, w):
    """(3,) [m/s] of a row's second body against its first: along normal and tangents."""
    return speeds_of(xi, shared, w)


@fastmath
def push_row(xi, mobility, shared, w):
    """Let the impulses of a row act."""
    push_by(xi, mobility, shared, w, w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2])
    for direction in range(3):
        twist_by(xi, mobility, w, direction, w[TORQUE + direction])


@inline_fastmath
def twist_by(xi, mobility, w, direction, p):
    """Apply an angular impulse p about the normal or a tangent of a row to both bodies."""
    i, j = int(w[LEFT]), int(w[RIGHT])
    n = w[NORMAL + 3 * direction : NORMAL + 3 * direction + 3]
    if p != 0.0 and i >= 0:
        _turn(xi[i], mobility[i], -p * n[0], -p * n[1], -p * n[2])
    if p != 0.0 and j >= 0:
        _turn(xi[j], mobility[j], p * n[0], p * n[1], p * n[2])


@fastmath
def turning(xi, w, direction):
    """Along a direction of the row, of its second body against its first [rad/s]."""
    i, j = int(w[LEFT]), int(w[RIGHT])
    n = w[NORMAL + 3 * direction : NORMAL + 3 * direction + 3]
    found = 0.0
    for end in range(2):
        k = j if end else i
        if k >= 0:
            x = xi[k]
            found += (1.0 if end else -1.0) * (x[0] * n[0] + x[1] * n[1] + x[2] * n[2])
    return found


@fastmath
def turns_by(mobility, w, direction, along):
    """By how much that changes along one direction by an impulse of 1 N m s along another [1/(kg m^2)]."""
    i, j = int(w[LEFT]), int(w[RIGHT])
    n = w[NORMAL + 3 * direction : NORMAL + 3 * direction + 3]
    t = w[NORMAL + 3 * along : NORMAL + 3 * along + 3]
    found = 0.0
    for end in range(2):
        k = j if end else i
        if k >= 0:
            m = mobility[k]
            found += m[1] * n[0] * t[0] + m[4] * n[1] * t[1] + m[6] * n[2] * t[2]
            found += m[2] * (n[0] * t[1] + n[1] * t[0]) + m[3] * (n[0] * t[2] + n[2] * t[0])
            found += m[5] * (n[1] * t[2] + n[2] * t[1])
    return found
