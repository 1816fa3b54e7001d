"""Distance of two convex solids and the points at which they touch, in compiled code.

Cores, which lie within the solids by a little on all sides, are apart while the solids touch: the shortest way between
two cores, by GJK (E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between
complex objects in three-dimensional space", 1988), is the normal, and how far the solids themselves lie apart along it
is the gap. Cores that overlap are parted along the flat side, or the way between the middles, along which they overlap
least. Where a flat side parts them as well as that normal does, the other's nearest side is clipped by it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.compiled import fastmath
from sim.shapes.solid import MOST_CORNERS, Solid

_ROUNDS = 40
_ENOUGH = 1e-10
"""Of the square of the distance."""
_FLAT = 0.9
"""Cosine of the angle to its axis from which on a circle counts as a flat side."""
_AROUND = 8
"""Corners that a circle's flat side has."""
_FACE_M = 1e-3
"""By which a flat side may part two solids less well than the normal does."""
MOST_POINTS = 4
POINT_WIDTH = 7
"""Place (3,), gap, normal (3,) from the first body to the second, in the world."""
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
def _farthest(rows, begin, end, rounding, numbers, pose, nx, ny, nz):
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
    x, y, z = _farthest(hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, nx, ny, nz)
    u, v, w = _farthest(hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -nx, -ny, -nz)
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
                    if det < 1e-12 * uu * vv:
                        continue
                    l1, l2 = (-ua * vv + va * uv) / det, (-va * uu + ua * uv) / det
                else:
                    wx, wy, wz = simplex[i3, 0] - ax, simplex[i3, 1] - ay, simplex[i3, 2] - az
                    cx, cy, cz = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx
                    det = ux * cx + uy * cy + uz * cz
                    ww = wx * wx + wy * wy + wz * wz
                    if abs(det) < 1e-9 * np.sqrt(uu * vv * ww):
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
        ax, ay, az = _farthest(
            hulls.core, hulls.core_first[a], hulls.core_first[a + 1], na[1], na, pose_a, nx, ny, nz
        )
        bx, by, bz = _farthest(
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
def _side(hulls, a, pose, nx, ny, nz, out):
    """The flat side of a solid that faces a direction most, or the ends of its edge: corners in `out` (k, 3), how many.

    The last row of `out` gets its normal; without a flat side zeros.
    """
    n = hulls.numbers[a]
    normal = out[out.shape[0] - 1]
    normal[0] = normal[1] = normal[2] = 0.0
    dx = pose[0] * nx + pose[3] * ny + pose[6] * nz
    dy = pose[1] * nx + pose[4] * ny + pose[7] * nz
    dz = pose[2] * nx + pose[5] * ny + pose[8] * nz
    used, mx, my, mz = 0, 0.0, 0.0, 0.0
    begin, end = hulls.side_first[a], hulls.side_first[a + 1]
    if end > begin:
        best, which = -2.0, begin
        for f in range(begin, end):
            along = hulls.normals[f, 0] * dx + hulls.normals[f, 1] * dy + hulls.normals[f, 2] * dz
            if along > best:
                best, which = along, f
        mx, my, mz = hulls.normals[which, 0], hulls.normals[which, 1], hulls.normals[which, 2]
        for k in range(MOST_CORNERS):
            c = hulls.corners[which, k]
            if c < 0:
                break
            for i in range(3):
                out[used, i] = hulls.circles[c, i]
            used += 1
    else:
        flat = -1
        for k in range(hulls.first[a], hulls.first[a + 1]):
            c = hulls.circles[k]
            along = c[3] * dx + c[4] * dy + c[5] * dz
            # A circle is a flat side where no other one lies farther out along its axis.
            if c[6] > 0.0 and abs(along) > _FLAT:
                sign = 1.0 if along > 0.0 else -1.0
                outmost = True
                for j in range(hulls.first[a], hulls.first[a + 1]):
                    o = hulls.circles[j]
                    ahead = (o[0] - c[0]) * c[3] + (o[1] - c[1]) * c[4] + (o[2] - c[2]) * c[5]
                    outmost = outmost and sign * ahead < 1e-9
                if outmost:
                    flat, mx, my, mz = k, sign * c[3], sign * c[4], sign * c[5]
        begin, end = hulls.first[a], hulls.first[a + 1]
        if flat >= 0:
            begin, end = flat, flat + 1
        for k in range(begin, end):
            c = hulls.circles[k]
            if c[6] == 0.0:
                out[used, 0], out[used, 1], out[used, 2] = c[0], c[1], c[2]
                used += 1
                continue
            along = c[3] * dx + c[4] * dy + c[5] * dz
            ox, oy, oz = dx - along * c[3], dy - along * c[4], dz - along * c[5]
            size = np.sqrt(ox * ox + oy * oy + oz * oz)
            if size < 1e-3:
                # Any way round will do, but always the same one.
                i = 0 if abs(c[3]) < 0.8 else 1
                ox, oy, oz = (1.0 if i == 0 else 0.0), (1.0 if i == 1 else 0.0), 0.0
                ox, oy, oz = ox - c[3 + i] * c[3], oy - c[3 + i] * c[4], oz - c[3 + i] * c[5]
                size = np.sqrt(ox * ox + oy * oy + oz * oz)
            ox, oy, oz = ox / size, oy / size, oz / size
            tx, ty, tz = my * oz - mz * oy, mz * ox - mx * oz, mx * oy - my * ox
            for j in range(_AROUND if flat >= 0 else 1):
                turned = 2.0 * np.pi * j / _AROUND
                co, si = c[6] * np.cos(turned), c[6] * np.sin(turned)
                out[used, 0] = c[0] + co * ox + si * tx
                out[used, 1] = c[1] + co * oy + si * ty
                out[used, 2] = c[2] + co * oz + si * tz
                used += 1
    rounding = n[0]
    size = np.sqrt((dx * n[2]) ** 2 + (dy * n[3]) ** 2 + (dz * n[4]) ** 2)
    for k in range(used):
        x = (out[k, 0] + rounding * dx * n[2] / size) * n[2]
        y = (out[k, 1] + rounding * dy * n[3] / size) * n[3]
        z = (out[k, 2] + rounding * dz * n[4] / size) * n[4]
        out[k, 0] = pose[9] + pose[0] * x + pose[1] * y + pose[2] * z
        out[k, 1] = pose[10] + pose[3] * x + pose[4] * y + pose[5] * z
        out[k, 2] = pose[11] + pose[6] * x + pose[7] * y + pose[8] * z
    normal[0] = pose[0] * mx + pose[1] * my + pose[2] * mz
    normal[1] = pose[3] * mx + pose[4] * my + pose[5] * mz
    normal[2] = pose[6] * mx + pose[7] * my + pose[8] * mz
    return used


@fastmath
def _clipped(inner, count, px, py, pz, qx, qy, qz, spare):
    """A polygon, segment or point (count, 3), in place, cut by the half-space q . (x - p) <= 0; how many are left."""
    used = 0
    for k in range(count):
        j = (k + 1) % count
        here = (inner[k, 0] - px) * qx + (inner[k, 1] - py) * qy + (inner[k, 2] - pz) * qz
        there = (inner[j, 0] - px) * qx + (inner[j, 1] - py) * qy + (inner[j, 2] - pz) * qz
        if here <= 0.0:
            for c in range(3):
                spare[used, c] = inner[k, c]
            used += 1
        if (here < 0.0 < there or there < 0.0 < here) and not (count == 2 and k == 1):
            share = here / (here - there)
            for c in range(3):
                spare[used, c] = inner[k, c] + share * (inner[j, c] - inner[k, c])
            used += 1
        if used >= spare.shape[0] - 2:
            break
    for k in range(used):
        for c in range(3):
            inner[k, c] = spare[k, c]
    return used


@fastmath
def _fewest(points, count, near, out):
    """Of points (count, 4) with their gaps those MOST_POINTS that span the most, into `out`; how many.

    The deepest one, the one farthest from it, and those farthest from their line to either side.
    """
    deepest = -1
    for k in range(count):
        if points[k, 3] < near and (deepest < 0 or points[k, 3] < points[deepest, 3] - 1e-6):
            deepest = k
    if deepest < 0:
        return 0
    chosen, far, best = 1, -1, 1e-8
    for k in range(count):
        if points[k, 3] < near:
            d = 0.0
            for c in range(3):
                d += (points[k, c] - points[deepest, c]) ** 2
            if d > best:
                best, far = d, k
    for c in range(4):
        out[0, c] = points[deepest, c]
    if far < 0:
        return chosen
    for c in range(4):
        out[1, c] = points[far, c]
    ux, uy, uz = (
        points[far, 0] - points[deepest, 0],
        points[far, 1] - points[deepest, 1],
        points[far, 2] - points[deepest, 2],
    )
    nx, ny, nz = out[0, 4], out[0, 5], out[0, 6]
    ax, ay, az = uy * nz - uz * ny, uz * nx - ux * nz, ux * ny - uy * nx
    left, right, low, high = -1, -1, -1e-8, 1e-8
    for k in range(count):
        if points[k, 3] < near:
            side = 0.0
            side += (points[k, 0] - points[deepest, 0]) * ax
            side += (points[k, 1] - points[deepest, 1]) * ay
            side += (points[k, 2] - points[deepest, 2]) * az
            if side < low - 1e-9:
                low, left = side, k
            if side > high + 1e-9:
                high, right = side, k
    chosen = 2
    for which in (left, right):
        if which >= 0:
            for c in range(4):
                out[chosen, c] = points[which, c]
            chosen += 1
    return chosen


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
    found[3], found[4], found[5] = _farthest(
        hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, found[0], found[1], found[2]
    )
    found[6], found[7], found[8] = _farthest(
        hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -found[0], -found[1], -found[2]
    )
    return best


@fastmath
def touching_points(hulls, a, b, pose_a, pose_b, near, work, found, out):
    """Points of two solids that are nearer than `near` [m]: rows of `out` (MOST_POINTS, POINT_WIDTH), how many."""
    apart = normal_between(hulls, a, b, pose_a, pose_b, work, found)
    if apart >= near:
        return 0
    nx, ny, nz = found[0], found[1], found[2]
    side_a, side_b = work[0], work[1]
    count_a = _side(hulls, a, pose_a, nx, ny, nz, side_a)
    count_b = _side(hulls, b, pose_b, -nx, -ny, -nz, side_b)
    last = side_a.shape[0] - 1
    flat_a, flat_b, best = -np.inf, -np.inf, apart
    if count_a > 2:
        m = side_a[last]
        flat_a = apart_along(hulls, a, b, pose_a, pose_b, m[0], m[1], m[2])
    if count_b > 2:
        m = side_b[last]
        flat_b = apart_along(hulls, a, b, pose_a, pose_b, -m[0], -m[1], -m[2])
    by_a = flat_a >= flat_b - 1e-4
    spare = work[2]
    if max(flat_a, flat_b) >= best - _FACE_M and (count_a > 2 or count_b > 2):
        outer, count, inner, sign = side_b, count_b, side_a, -1.0
        inside = count_a
        if by_a:
            outer, count, inner, sign = side_a, count_a, side_b, 1.0
            inside = count_b
        mx, my, mz = outer[last, 0], outer[last, 1], outer[last, 2]
        for k in range(count):
            j = (k + 1) % count
            ux, uy, uz = outer[j, 0] - outer[k, 0], outer[j, 1] - outer[k, 1], outer[j, 2] - outer[k, 2]
            qx, qy, qz = uy * mz - uz * my, uz * mx - ux * mz, ux * my - uy * mx
            inside = _clipped(inner, inside, outer[k, 0], outer[k, 1], outer[k, 2], qx, qy, qz, spare)
            if inside == 0:
                break
        for k in range(inside):
            gap = 0.0
            for c in range(3):
                gap += (inner[k, c] - outer[0, c]) * outer[last, c]
            # Half way between the two, so that both are pushed at the same place.
            for c in range(3):
                inner[k, c] -= 0.5 * gap * outer[last, c]
            inner[k, 3] = gap
        for k in range(MOST_POINTS):
            out[k, 4], out[k, 5], out[k, 6] = sign * mx, sign * my, sign * mz
        chosen = _fewest(inner, inside, near, out)
        if chosen > 0:
            return chosen
    elif count_a == 2 and count_b == 2:
        chosen = _along_edges(side_a, side_b, nx, ny, nz, near, out)
        if chosen > 0:
            return chosen
    na, nb = hulls.numbers[a], hulls.numbers[b]
    reach_a = (found[6] - found[3]) * nx + (found[7] - found[4]) * ny + (found[8] - found[5]) * nz
    # Each core's nearest point, brought to its own surface along the normal; half way between the two.
    ax, ay, az = _farthest(hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, nx, ny, nz)
    bx, by, bz = _farthest(
        hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -nx, -ny, -nz
    )
    on_a = (ax - found[3]) * nx + (ay - found[4]) * ny + (az - found[5]) * nz
    on_b = reach_a + (bx - found[6]) * nx + (by - found[7]) * ny + (bz - found[8]) * nz
    middle = 0.5 * (on_a + on_b)
    share = middle / reach_a if abs(reach_a) > 1e-12 else 0.5
    share = min(max(share, 0.0), 1.0)
    for c in range(3):
        out[0, c] = found[3 + c] + share * (found[6 + c] - found[3 + c])
        out[0, 4 + c] = found[c]
    out[0, 3] = apart
    return 1


@fastmath
def _along_edges(a, b, nx, ny, nz, near, out):
    """Both ends of what two parallel edges have in common; 0 where they are not parallel."""
    ux, uy, uz = a[1, 0] - a[0, 0], a[1, 1] - a[0, 1], a[1, 2] - a[0, 2]
    vx, vy, vz = b[1, 0] - b[0, 0], b[1, 1] - b[0, 1], b[1, 2] - b[0, 2]
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    if uu < 1e-12 or vv < 1e-12 or uv * uv < 0.9999 * uu * vv:
        return 0
    s0 = ((b[0, 0] - a[0, 0]) * ux + (b[0, 1] - a[0, 1]) * uy + (b[0, 2] - a[0, 2]) * uz) / uu
    s1 = ((b[1, 0] - a[0, 0]) * ux + (b[1, 1] - a[0, 1]) * uy + (b[1, 2] - a[0, 2]) * uz) / uu
    low, high = max(min(s0, s1), 0.0), min(max(s0, s1), 1.0)
    if high <= low:
        return 0
    used = 0
    for k in range(2):
        s = low if k == 0 else high
        t = (s - s0) / (s1 - s0)
        gap = 0.0
        gap += (b[0, 0] + t * vx - a[0, 0] - s * ux) * nx
        gap += (b[0, 1] + t * vy - a[0, 1] - s * uy) * ny
        gap += (b[0, 2] + t * vz - a[0, 2] - s * uz) * nz
        if gap >= near:
            continue
        out[used, 0] = 0.5 * (b[0, 0] + t * vx + a[0, 0] + s * ux)
        out[used, 1] = 0.5 * (b[0, 1] + t * vy + a[0, 1] + s * uy)
        out[used, 2] = 0.5 * (b[0, 2] + t * vz + a[0, 2] + s * uz)
        out[used, 3], out[used, 4], out[used, 5], out[used, 6] = gap, nx, ny, nz
        used += 1
    return used
