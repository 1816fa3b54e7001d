"""How rigid bodies move between touches: which come near each other, when they would meet, in compiled code.

Places move by their velocity, rotations of free bodies by the midpoint rule. `state` has a row a body, as
`sim.contact.pile.STATE` says.
"""

import numpy as np

from sim.contact.convex import normal_between
from sim.native.function import fastmath

NEAR_M = 0.02
"""What is nearer gets a row."""
_ADVANCES = 40


@fastmath
def turn(state, i, J, h, spin):
    """Rotate a free body for h by the midpoint rule: spin in the world stays as it is to rounding, energy too.

    J: principal moments, perhaps with the angle of the first two's axes about the third. spin: (12,) of workspace.
    """
    R, w = state[i, :9], state[i, 12:15]
    if J.shape[0] > 3:
        turn_about_third(R, J[3])
    x, y, z = J[0], J[1], J[2]
    wx = R[0] * w[0] + R[3] * w[1] + R[6] * w[2]
    wy = R[1] * w[0] + R[4] * w[1] + R[7] * w[2]
    wz = R[2] * w[0] + R[5] * w[1] + R[8] * w[2]
    px, py, pz = x * wx, y * wy, z * wz
    lx = R[0] * px + R[1] * py + R[2] * pz
    ly = R[3] * px + R[4] * py + R[5] * pz
    lz = R[6] * px + R[7] * py + R[8] * pz
    # J w = p + h/2 (J w) x w for the mean w, by Newton's method.
    a, b, c, g = wx, wy, wz, 0.5 * h
    for _ in range(8):
        fx = x * a - px - g * (y - z) * b * c
        fy = y * b - py - g * (z - x) * c * a
        fz = z * c - pz - g * (x - y) * a * b
        m01, m02 = -g * (y - z) * c, -g * (y - z) * b
        m10, m12 = -g * (z - x) * c, -g * (z - x) * a
        m20, m21 = -g * (x - y) * b, -g * (x - y) * a
        c00, c01, c02 = y * z - m12 * m21, m12 * m20 - m10 * z, m10 * m21 - y * m20
        det = x * c00 + m01 * c01 + m02 * c02
        da = (c00 * fx + (m02 * m21 - m01 * z) * fy + (m01 * m12 - m02 * y) * fz) / det
        db = (c01 * fx + (x * z - m02 * m20) * fy + (m02 * m10 - x * m12) * fz) / det
        dc = (c02 * fx + (m01 * m20 - x * m21) * fy + (x * y - m01 * m10) * fz) / det
        a, b, c = a - da, b - db, c - dc
        if abs(da) + abs(db) + abs(dc) <= 1e-15 * (abs(a) + abs(b) + abs(c)):
            break
    # Cayley map of h w.
    a, b, c = g * a, g * b, g * c
    s = 2.0 / (1.0 + a * a + b * b + c * c)
    q = spin
    q[0], q[1], q[2] = 1.0 - s * (b * b + c * c), s * (a * b - c), s * (a * c + b)
    q[3], q[4], q[5] = s * (a * b + c), 1.0 - s * (a * a + c * c), s * (b * c - a)
    q[6], q[7], q[8] = s * (a * c - b), s * (b * c + a), 1.0 - s * (a * a + b * b)
    for row in range(3):
        u, v, t = R[3 * row], R[3 * row + 1], R[3 * row + 2]
        for column in range(3):
            R[3 * row + column] = u * q[column] + v * q[3 + column] + t * q[6 + column]
    # What rounding leaves of its columns' lengths and right angles goes away: R (3 - R'R) / 2.
    xx, yy, zz = 1.5, 1.5, 1.5
    xy = xz = yz = 0.0
    for row in range(3):
        u, v, t = R[3 * row], R[3 * row + 1], R[3 * row + 2]
        xx, yy, zz = xx - 0.5 * u * u, yy - 0.5 * v * v, zz - 0.5 * t * t
        xy, xz, yz = xy - 0.5 * u * v, xz - 0.5 * u * t, yz - 0.5 * v * t
    for row in range(3):
        u, v, t = R[3 * row], R[3 * row + 1], R[3 * row + 2]
        R[3 * row] = u * xx + v * xy + t * xz
        R[3 * row + 1] = u * xy + v * yy + t * yz
        R[3 * row + 2] = u * xz + v * yz + t * zz
    wx = (R[0] * lx + R[3] * ly + R[6] * lz) / x
    wy = (R[1] * lx + R[4] * ly + R[7] * lz) / y
    wz = (R[2] * lx + R[5] * ly + R[8] * lz) / z
    w[0] = R[0] * wx + R[1] * wy + R[2] * wz
    w[1] = R[3] * wx + R[4] * wy + R[5] * wz
    w[2] = R[6] * wx + R[7] * wy + R[8] * wz
    if J.shape[0] > 3:
        turn_about_third(R, -J[3])


@fastmath
def turn_about_third(R, angle):
    """Turn a frame (9,) about its own third axis."""
    if angle != 0.0:
        c, s = np.cos(angle), np.sin(angle)
        for row in range(3):
            x, y = R[3 * row], R[3 * row + 1]
            R[3 * row], R[3 * row + 1] = c * x + s * y, c * y - s * x


@fastmath
def moved_pose(state, i, t, out):
    """Where a body is after t of its present twist, into out (12,)."""
    wx, wy, wz = state[i, 12], state[i, 13], state[i, 14]
    a, b, c = 0.5 * t * wx, 0.5 * t * wy, 0.5 * t * wz
    s = 2.0 / (1.0 + a * a + b * b + c * c)
    q00, q01, q02 = 1.0 - s * (b * b + c * c), s * (a * b - c), s * (a * c + b)
    q10, q11, q12 = s * (a * b + c), 1.0 - s * (a * a + c * c), s * (b * c - a)
    q20, q21, q22 = s * (a * c - b), s * (b * c + a), 1.0 - s * (a * a + b * b)
    for k in range(3):
        u, v, w = state[i, k], state[i, 3 + k], state[i, 6 + k]
        out[k] = q00 * u + q01 * v + q02 * w
        out[3 + k] = q10 * u + q11 * v + q12 * w
        out[6 + k] = q20 * u + q21 * v + q22 * w
        out[9 + k] = state[i, 9 + k] + t * state[i, 15 + k]


@fastmath
def moved_body(state, i, own, bodies, t):
    """A body's row after t, in the workspace: under its twist there, or as it moves where it is a mechanism's, from
    `own` on. Returns how far its outermost points leave their straight way meanwhile, by a unit of its size."""
    space = bodies.workspace
    out, turned = space.ahead, space.turned
    for c in range(state.shape[1]):
        out[i, c] = state[i, c]
    if i < own and space.asleep[i]:
        return 0.0
    if i < own:
        for c in range(6):
            out[i, 12 + c] = space.twists[i, c]
        for c in range(3):
            out[i, 9 + c] += t * space.twists[i, 3 + c]
        turn(out, i, bodies.inertia[i], t, turned)
    else:
        moved_pose(state, i, t, turned)
        for c in range(12):
            out[i, c] = turned[c]
    w = out[i]
    return 0.5 * t * t * (w[12] * w[12] + w[13] * w[13] + w[14] * w[14])


@fastmath
def meeting(hulls, state, a, b, dt, pose_a, pose_b, work, found):
    """When, within dt, two bodies come within half of NEAR_M by conservative advancement; dt where they do not."""
    t = 0.0
    turning = 0.0
    for i in (a, b):
        size = np.sqrt(state[i, 12] ** 2 + state[i, 13] ** 2 + state[i, 14] ** 2)
        turning += size * hulls.numbers[i, 5]
    for _ in range(_ADVANCES):
        moved_pose(state, a, t, pose_a)
        moved_pose(state, b, t, pose_b)
        gap = normal_between(hulls, a, b, pose_a, pose_b, work, found) - 0.5 * NEAR_M
        if gap <= 0.1 * NEAR_M:
            return t
        closing = turning
        for c in range(3):
            closing -= found[c] * (state[b, 15 + c] - state[a, 15 + c])
        if closing <= 0.0 or t + gap / closing >= dt:
            # Along this normal they do not meet; no other way is shorter while both move straight on.
            return dt
        t += gap / closing
    return t
