"""Distance of two convex solids and the normal between them, in compiled code.

Cores, which lie within the solids by a little on all sides, are apart while the solids touch: the shortest way between
two cores, by GJK (E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between
complex objects in three-dimensional space", 1988), is the normal, and how far the solids themselves lie apart along it
is the gap. Cores that overlap are parted along the flat side, or the way between the middles, along which they overlap
least.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.native.function import fastmath, native
from sim.shapes.solid import MOST_CORNERS, Solid

_ROUNDS = 40
_ENOUGH = 1e-10
"""Of the square of the distance."""
WORKSPACE = (4, 3 * MOST_CORNERS, 10)


class Hulls(NamedTuple):
    """Solids in flat arrays."""

    circles: np.ndarray
    first: np.ndarray
    """(n + 1,) where each one's circles begin."""
    core: np.ndarray
    core_first: np.ndarray
    numbers: np.ndarray
    """(n, 8) rounding, core's rounding, stretch (3,), reach, radius of the ball that fits, inset."""
    normals: np.ndarray
    corners: np.ndarray
    side_first: np.ndarray


def hulls_of(solids: Sequence[Solid]) -> Hulls:
    def begins(counts: list[int]) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    first = begins([len(s.circles) for s in solids])
    moved = [np.where(s.corners >= 0, s.corners + k, -1) for s, k in zip(solids, first[:-1], strict=True)]
    numbers = [[s.rounding_m, s.core_rounding_m, *s.stretch, s.reach_m, s.inner_m, 0.0] for s in solids]
    return Hulls(
        np.concatenate([s.circles for s in solids] or [np.zeros((0, 7))]),
        first,
        np.concatenate([s.core for s in solids] or [np.zeros((0, 7))]),
        begins([len(s.core) for s in solids]),
        np.array(numbers, float).reshape(-1, 8),
        np.concatenate([s.normals for s in solids] or [np.zeros((0, 3))]),
        np.concatenate([*moved, np.zeros((0, MOST_CORNERS), np.int64)]).astype(np.int64),
        begins([len(s.normals) for s in solids]),
    )


@fastmath
def farthest(rows, begin, end, rounding, numbers, pose, nx, ny, nz):
    """The point (x, y, z) of the hull of `rows` [m, world] that lies farthest along a unit direction.

    pose (12,): rotation row-major, then place.
    """
    sx, sy, sz = numbers[2], numbers[3], numbers[4]
    dx = (pose[0] * nx + pose[3] * ny + pose[6] * nz) * sx
    dy = (pose[1] * nx + pose[4] * ny + pose[7] * nz) * sy
    dz = (pose[2] * nx + pose[5] * ny + pose[8] * nz) * sz
    best, px, py, pz = -np.inf, 0.0, 0.0, 0.0
    for k in range(begin, end):
        c = rows[k]
        x, y, z = c[0], c[1], c[2]
        if c[6] > 0.0:
            a = c[3] * dx + c[4] * dy + c[5] * dz
            ox, oy, oz = dx - a * c[3], dy - a * c[4], dz - a * c[5]
            size = np.sqrt(ox * ox + oy * oy + oz * oz)
            if size > 1e-14:
                share = c[6] / size
                x, y, z = x + share * ox, y + share * oy, z + share * oz
        along = x * dx + y * dy + z * dz
        if along > best:
            best, px, py, pz = along, x, y, z
    if rounding > 0.0:
        share = rounding / np.sqrt(dx * dx + dy * dy + dz * dz)
        px, py, pz = px + share * dx, py + share * dy, pz + share * dz
    px, py, pz = px * sx, py * sy, pz * sz
    return (
        pose[9] + pose[0] * px + pose[1] * py + pose[2] * pz,
        pose[10] + pose[3] * px + pose[4] * py + pose[5] * pz,
        pose[11] + pose[6] * px + pose[7] * py + pose[8] * pz,
    )


@fastmath
def apart_along(hulls, a, b, pose_a, pose_b, nx, ny, nz):
    """How far two solids lie apart [m] along a unit direction from the first to the second; negative: overlap."""
    na, nb = hulls.numbers[a], hulls.numbers[b]
    x, y, z = farthest(hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, nx, ny, nz)
    u, v, w = farthest(hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -nx, -ny, -nz)
    return (u - x) * nx + (v - y) * ny + (w - z) * nz


@fastmath
def _nearest(simplex, used, weights):
    """Weights (4,) of the point of a simplex (4, 9) of differences that is nearest to the origin; what is not needed of
    it is dropped. Returns how many corners are left; 4: the origin is within."""
    best, kept = np.inf, 0
    w0 = w1 = w2 = w3 = 0.0
    for mask in range(1, 1 << used):
        i0 = i1 = i2 = i3 = -1
        count = 0
        for k in range(used):
            if mask >> k & 1:
                if count == 0:
                    i0 = k
                elif count == 1:
                    i1 = k
                elif count == 2:
                    i2 = k
                else:
                    i3 = k
                count += 1
        ax, ay, az = simplex[i0, 0], simplex[i0, 1], simplex[i0, 2]
        l0, l1, l2, l3 = 1.0, 0.0, 0.0, 0.0
        if count > 1:
            ux, uy, uz = simplex[i1, 0] - ax, simplex[i1, 1] - ay, simplex[i1, 2] - az
            uu, ua = ux * ux + uy * uy + uz * uz, ux * ax + uy * ay + uz * az
            if count == 2:
                if uu < 1e-28:
                    continue
                l1 = -ua / uu
            else:
                vx, vy, vz = simplex[i2, 0] - ax, simplex[i2, 1] - ay, simplex[i2, 2] - az
                vv, va = vx * vx + vy * vy + vz * vz, vx * ax + vy * ay + vz * az
                uv = ux * vx + uy * vy + uz * vz
                if count == 3:
                    det = uu * vv - uv * uv
                    if det <= 1e-12 * uu * vv:
                        continue
                    l1, l2 = (-ua * vv + va * uv) / det, (-va * uu + ua * uv) / det
                else:
                    wx, wy, wz = simplex[i3, 0] - ax, simplex[i3, 1] - ay, simplex[i3, 2] - az
                    cx, cy, cz = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx
                    det = ux * cx + uy * cy + uz * cz
                    ww = wx * wx + wy * wy + wz * wz
                    # A corner that is there twice spans nothing: both sides are 0 then.
                    if abs(det) <= 1e-9 * np.sqrt(uu * vv * ww):
                        continue
                    l1 = -(ax * cx + ay * cy + az * cz) / det
                    cx, cy, cz = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
                    l2 = -(ax * cx + ay * cy + az * cz) / det
                    cx, cy, cz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
                    l3 = -(ax * cx + ay * cy + az * cz) / det
            l0 = 1.0 - l1 - l2 - l3
            if l0 < 0.0 or l1 < 0.0 or l2 < 0.0 or l3 < 0.0:
                continue
        x = l0 * ax
        y = l0 * ay
        z = l0 * az
        if count > 1:
            x, y, z = x + l1 * simplex[i1, 0], y + l1 * simplex[i1, 1], z + l1 * simplex[i1, 2]
        if count > 2:
            x, y, z = x + l2 * simplex[i2, 0], y + l2 * simplex[i2, 1], z + l2 * simplex[i2, 2]
        square = x * x + y * y + z * z
        if count == 4:
            square = 0.0
        if square < best:
            best, kept, w0, w1, w2, w3 = square, mask, l0, l1, l2, l3
    count = 0
    for k in range(used):
        if kept >> k & 1:
            for c in range(9):
                simplex[count, c] = simplex[k, c]
            count += 1
    weights[0], weights[1], weights[2], weights[3] = w0, w1, w2, w3
    return count


@fastmath
def core_distance(hulls, a, b, pose_a, pose_b, simplex, found):
    """Distance [m] of two cores; 0 where they overlap. found (9,): the normal, and the nearest point of each."""
    na, nb = hulls.numbers[a], hulls.numbers[b]
    weights = simplex[4]
    nx, ny, nz = pose_b[9] - pose_a[9], pose_b[10] - pose_a[10], pose_b[11] - pose_a[11]
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    if size < 1e-12:
        nx, ny, nz, size = 0.0, 0.0, 1.0, 1.0
    nx, ny, nz = nx / size, ny / size, nz / size
    used, square = 0, np.inf
    for _ in range(_ROUNDS):
        ax, ay, az = farthest(
            hulls.core, hulls.core_first[a], hulls.core_first[a + 1], na[1], na, pose_a, nx, ny, nz
        )
        bx, by, bz = farthest(
            hulls.core, hulls.core_first[b], hulls.core_first[b + 1], nb[1], nb, pose_b, -nx, -ny, -nz
        )
        x, y, z = bx - ax, by - ay, bz - az
        if used > 0:
            # What this point would gain along the way to the nearest one so far.
            gain = square - np.sqrt(square) * (x * nx + y * ny + z * nz)
            if gain <= _ENOUGH * square:
                break
        row = simplex[used]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8] = (
            x,
            y,
            z,
            ax,
            ay,
            az,
            bx,
            by,
            bz,
        )
        used = _nearest(simplex, used + 1, weights)
        if used == 4:
            return 0.0
        x = y = z = 0.0
        for k in range(used):
            x, y, z = (
                x + weights[k] * simplex[k, 0],
                y + weights[k] * simplex[k, 1],
                z + weights[k] * simplex[k, 2],
            )
        before, square = square, x * x + y * y + z * z
        if square < 1e-20:
            return 0.0
        if square >= before:
            break
        size = np.sqrt(square)
        nx, ny, nz = x / size, y / size, z / size
    for c in range(9):
        found[c] = 0.0
    for k in range(used):
        for c in range(9):
            found[c] += weights[k] * simplex[k, c]
    size = np.sqrt(found[0] * found[0] + found[1] * found[1] + found[2] * found[2])
    if size < 1e-10:
        return 0.0
    for c in range(3):
        found[c] /= size
    return size


@fastmath
def normal_between(hulls, a, b, pose_a, pose_b, work, found):
    """How far two solids lie apart [m], with the normal (3,) and the two nearest points of the cores in `found`.

    Exact of flat sides and of what is round while it is apart; of edges and corners as if they were rounded by the
    inset of the core. work: WORKSPACE.
    """
    distance = core_distance(hulls, a, b, pose_a, pose_b, work[3, :, :], found)
    if distance > 0.0:
        return apart_along(hulls, a, b, pose_a, pose_b, found[0], found[1], found[2])
    best = -np.inf
    mx, my, mz = pose_b[9] - pose_a[9], pose_b[10] - pose_a[10], pose_b[11] - pose_a[11]
    size = np.sqrt(mx * mx + my * my + mz * mz)
    if size > 1e-9:
        mx, my, mz = mx / size, my / size, mz / size
    else:
        mx, my, mz = 0.0, 0.0, 1.0
    best = apart_along(hulls, a, b, pose_a, pose_b, mx, my, mz)
    found[0], found[1], found[2] = mx, my, mz
    for second in range(2):
        which, pose = (b, pose_b) if second else (a, pose_a)
        sign = -1.0 if second else 1.0
        sides = hulls.side_first[which + 1] - hulls.side_first[which]
        rounds = hulls.first[which + 1] - hulls.first[which] if sides == 0 else 0
        for f in range(sides + 2 * rounds):
            if f < sides:
                n = hulls.normals[hulls.side_first[which] + f]
                x, y, z, flip = n[0], n[1], n[2], 1.0
            else:
                c = hulls.circles[hulls.first[which] + (f - sides) // 2]
                flip = 1.0 if (f - sides) % 2 else -1.0
                x, y, z = c[3], c[4], c[5]
            x, y, z = sign * flip * x, sign * flip * y, sign * flip * z
            nx = pose[0] * x + pose[1] * y + pose[2] * z
            ny = pose[3] * x + pose[4] * y + pose[5] * z
            nz = pose[6] * x + pose[7] * y + pose[8] * z
            along = apart_along(hulls, a, b, pose_a, pose_b, nx, ny, nz)
            if along > best:
                best, found[0], found[1], found[2] = along, nx, ny, nz
    for c in range(3):
        found[3 + c], found[6 + c] = pose_a[9 + c], pose_b[9 + c]
    na, nb = hulls.numbers[a], hulls.numbers[b]
    found[3], found[4], found[5] = farthest(
        hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, found[0], found[1], found[2]
    )
    found[6], found[7], found[8] = farthest(
        hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -found[0], -found[1], -found[2]
    )
    return best


@native
def gaps(hulls, poses):
    """(n, n) how far solids at poses (n, 12) lie apart from each other [m]."""
    n = poses.shape[0]
    found, work, between = np.zeros((n, n)), np.zeros(WORKSPACE), np.zeros(9)
    for i in range(n):
        for j in range(i):
            found[i, j] = found[j, i] = normal_between(hulls, i, j, poses[i], poses[j], work, between)
    return found


@native
def any_nearer(hulls, poses, stays, meets, ways, room_m, self_m):
    """Whether any of the last m solids at poses (n, 12) may come nearer to another one than room_m, or than self_m to
    one of the last that it meets, as meets (m, m) says, on ways (n, 6): by how much each turns [rad] and moves [m]; not
    two of which it stays (n,)."""
    work, between = np.zeros(WORKSPACE), np.zeros(9)
    own = poses.shape[0] - meets.shape[0]
    for i in range(own, poses.shape[0]):
        for j in range(i):
            if (stays[i] and stays[j]) or (j >= own and not meets[i - own, j - own]):
                continue
            square = way = turn_i = turn_j = 0.0
            for c in range(3):
                square += (poses[i, 9 + c] - poses[j, 9 + c]) ** 2
                way += (ways[i, 3 + c] - ways[j, 3 + c]) ** 2
                turn_i += ways[i, c] ** 2
                turn_j += ways[j, c] ** 2
            near = (
                np.sqrt(way) + hulls.numbers[i, 5] * np.sqrt(turn_i) + hulls.numbers[j, 5] * np.sqrt(turn_j)
            )
            near += self_m if j >= own else room_m
            reach = near + hulls.numbers[i, 5] + hulls.numbers[j, 5]
            if (
                square < reach * reach
                and normal_between(hulls, i, j, poses[i], poses[j], work, between) < near
            ):
                return True
    return False
