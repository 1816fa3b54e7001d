"""Points at which two convex solids touch, in compiled code.

Where a flat side parts two solids as well as the normal between them does, the other's nearest side is clipped by it:
up to four points that span the most. Edges that lie along each other touch at their ends, all else at one point.
"""

import numpy as np

from sim.contact.convex import apart_along, farthest, normal_between
from sim.contact.height_field import surface_patch
from sim.native.function import fastmath
from sim.shapes.solid import MOST_CORNERS

_FLAT = 0.9
"""Cosine of the angle to its axis from which on a circle counts as a flat side."""
_AROUND = 8
"""Corners that a circle's flat side has."""
_FACE_M = 1e-3
"""By which a flat side may part two solids less well than the normal does."""
_BESIDE_M = 2e-5
"""By which points of a side may lie less deep than the solids do before these touch elsewhere as well."""
_PARALLEL = 0.9998
"""Cosine of the angle between sides that lie on each other."""
_LEANING, _CROSSING = 0.97, 1e-4
"""Squares, for edges that touch at their ends: of the cosine of the angle between them, and of its sine as seen along
the normal."""
_SUNK_M, _LOOKS, _SAME = 0.01, 4, 1.0 - 1e-10
"""How often the ground below what is round and has sunk in so far is looked at, until its normal there is the same."""
MOST_POINTS = 4
POINT_WIDTH = 7
"""Place (3,), gap, normal (3,) from the first body to the second, in the world."""


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
def _along_edges(a, b, nx, ny, nz, near, out):
    """Both ends of what two edges have in common that lie along each other seen along the normal; 0 where they do not.

    Where they lean towards each other, the far ends meet next, often within the step.
    """
    ux, uy, uz = a[1, 0] - a[0, 0], a[1, 1] - a[0, 1], a[1, 2] - a[0, 2]
    vx, vy, vz = b[1, 0] - b[0, 0], b[1, 1] - b[0, 1], b[1, 2] - b[0, 2]
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    across = nx * (uy * vz - uz * vy) + ny * (uz * vx - ux * vz) + nz * (ux * vy - uy * vx)
    if uu < 1e-12 or vv < 1e-12 or uv * uv < _LEANING * uu * vv or across * across > _CROSSING * uu * vv:
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


@fastmath
def _flat_points(work, count_a, count_b, by_a, near, out):
    """Points at which the side of one solid, clipped by that of the other, touches it: rows of `out`, how many.

    work: as `touching_points` has it, the sides in its first two parts. by_a: it is the first one's that clips.
    """
    side_a, side_b, spare = work[0], work[1], work[2]
    last = side_a.shape[0] - 1
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
    return _fewest(inner, inside, near, out)


@fastmath
def touching_points(hulls, a, b, pose_a, pose_b, near, work, found, out, hint):
    """Points of two solids that are nearer than `near` [m]: rows of `out` (MOST_POINTS + 1, POINT_WIDTH), how many.

    hint (3,): the normal at which they touched a step before, else zeros. Flat sides that face each other along it are
    looked at first: while they lie on each other nothing else parts the solids better.
    """
    side_a, side_b = work[0], work[1]
    last = side_a.shape[0] - 1
    if hint[0] != 0.0 or hint[1] != 0.0 or hint[2] != 0.0:
        count_a = _side(hulls, a, pose_a, hint[0], hint[1], hint[2], side_a)
        count_b = _side(hulls, b, pose_b, -hint[0], -hint[1], -hint[2], side_b)
        m, o = side_a[last], side_b[last]
        if count_a > 2 and count_b > 2 and m[0] * o[0] + m[1] * o[1] + m[2] * o[2] < -_PARALLEL:
            flat_a = apart_along(hulls, a, b, pose_a, pose_b, m[0], m[1], m[2])
            flat_b = apart_along(hulls, a, b, pose_a, pose_b, -o[0], -o[1], -o[2])
            if -_FACE_M < max(flat_a, flat_b) < near:
                chosen = _flat_points(work, count_a, count_b, flat_a >= flat_b - 1e-4, near, out)
                if chosen > 0:
                    return chosen
    apart = normal_between(hulls, a, b, pose_a, pose_b, work, found)
    if apart >= near:
        return 0
    nx, ny, nz = found[0], found[1], found[2]
    count_a = _side(hulls, a, pose_a, nx, ny, nz, side_a)
    count_b = _side(hulls, b, pose_b, -nx, -ny, -nz, side_b)
    flat_a, flat_b, best, used = -np.inf, -np.inf, apart, 0
    if count_a > 2:
        m = side_a[last]
        flat_a = apart_along(hulls, a, b, pose_a, pose_b, m[0], m[1], m[2])
    if count_b > 2:
        m = side_b[last]
        flat_b = apart_along(hulls, a, b, pose_a, pose_b, -m[0], -m[1], -m[2])
    if max(flat_a, flat_b) >= best - _FACE_M and (count_a > 2 or count_b > 2):
        chosen, deepest = _flat_points(work, count_a, count_b, flat_a >= flat_b - 1e-4, near, out), np.inf
        for k in range(chosen):
            deepest = min(deepest, out[k, 3])
        if chosen > 0 and deepest <= apart + _BESIDE_M:
            return chosen
        # What lies over the rim of a side touches that, where no point of the side does.
        used = chosen
    if used == 0 and count_a == 2 and count_b == 2:
        chosen = _along_edges(side_a, side_b, nx, ny, nz, near, out)
        if chosen > 0:
            return chosen
    na, nb = hulls.numbers[a], hulls.numbers[b]
    reach_a = (found[6] - found[3]) * nx + (found[7] - found[4]) * ny + (found[8] - found[5]) * nz
    # Each core's nearest point, brought to its own surface along the normal; half way between the two.
    ax, ay, az = farthest(hulls.circles, hulls.first[a], hulls.first[a + 1], na[0], na, pose_a, nx, ny, nz)
    bx, by, bz = farthest(hulls.circles, hulls.first[b], hulls.first[b + 1], nb[0], nb, pose_b, -nx, -ny, -nz)
    on_a = (ax - found[3]) * nx + (ay - found[4]) * ny + (az - found[5]) * nz
    on_b = reach_a + (bx - found[6]) * nx + (by - found[7]) * ny + (bz - found[8]) * nz
    middle = 0.5 * (on_a + on_b)
    share = middle / reach_a if abs(reach_a) > 1e-12 else 0.5
    share = min(max(share, 0.0), 1.0)
    for c in range(3):
        out[used, c] = found[3 + c] + share * (found[6 + c] - found[3 + c])
        out[used, 4 + c] = found[c]
    out[used, 3] = apart
    return used + 1


@fastmath
def _around(c, dx, dy, dz, size):
    """From a circle's middle to its point that lies farthest along a direction of that size."""
    along = c[3] * dx + c[4] * dy + c[5] * dz
    ox, oy, oz = dx - along * c[3], dy - along * c[4], dz - along * c[5]
    length = np.sqrt(ox * ox + oy * oy + oz * oz)
    if length < 1e-3 * size:
        ox, oy, oz, length = 1.0 - c[3] * c[3], -c[3] * c[4], -c[3] * c[5], 0.0
        if abs(c[3]) > 0.8:
            ox, oy, oz = -c[4] * c[3], 1.0 - c[4] * c[4], -c[4] * c[5]
        length = np.sqrt(ox * ox + oy * oy + oz * oz)
    return c[6] * ox / length, c[6] * oy / length, c[6] * oz / length


@fastmath
def _downwards(n, s, nx, ny, nz):
    """Against a normal of the ground, in a body's axes before it is stretched; and its size."""
    dx = -(s[0] * nx + s[3] * ny + s[6] * nz) * n[2]
    dy = -(s[1] * nx + s[4] * ny + s[7] * nz) * n[3]
    dz = -(s[2] * nx + s[5] * ny + s[8] * nz) * n[4]
    return dx, dy, dz, np.sqrt(dx * dx + dy * dy + dz * dz)


@fastmath
def ground_points(hulls, heights, frame, state, i, near, out):
    """Points of a body that are nearer to the ground than `near`: rows of out (k, 7), how many.

    What is round and has sunk in touches where its own normal is the ground's: else its spin would seem to lift it.
    """
    used = 0
    n = hulls.numbers[i]
    s = state[i]
    height, nx, ny, nz = surface_patch(heights, frame, s[9], s[10])
    if (s[11] - height) * nz - n[5] > near + 0.5 * n[5]:
        return 0
    for k in range(hulls.first[i], hulls.first[i + 1]):
        c = hulls.circles[k]
        dx, dy, dz, size = _downwards(n, s, nx, ny, nz)
        ox = oy = oz = tx = ty = tz = 0.0
        around = 1
        if c[6] > 0.0:
            ox, oy, oz = _around(c, dx, dy, dz, size)
            tx, ty, tz = c[4] * oz - c[5] * oy, c[5] * ox - c[3] * oz, c[3] * oy - c[4] * ox
            around = _AROUND
        for j in range(around):
            turned = 2.0 * np.pi * j / _AROUND
            co, si = np.cos(turned), np.sin(turned)
            dx, dy, dz, size = _downwards(n, s, nx, ny, nz)
            ux, uy, uz = nx, ny, nz
            px = py = pz = 0.0
            for _ in range(_LOOKS):
                share = n[0] / size
                x = (c[0] + co * ox + si * tx + share * dx) * n[2]
                y = (c[1] + co * oy + si * ty + share * dy) * n[3]
                z = (c[2] + co * oz + si * tz + share * dz) * n[4]
                px = s[9] + s[0] * x + s[1] * y + s[2] * z
                py = s[10] + s[3] * x + s[4] * y + s[5] * z
                pz = s[11] + s[6] * x + s[7] * y + s[8] * z
                bx, by, bz = ux, uy, uz
                height, ux, uy, uz = surface_patch(heights, frame, px, py)
                shallow = (pz - height) * uz > -_SUNK_M
                if n[0] == 0.0 or shallow or bx * ux + by * uy + bz * uz > _SAME:
                    break
                dx, dy, dz, size = _downwards(n, s, ux, uy, uz)
            gap = (pz - height) * uz
            if gap < near and used < out.shape[0]:
                row = out[used]
                row[0], row[1], row[2], row[3] = px, py, pz, gap
                row[4], row[5], row[6] = ux, uy, uz
                used += 1
    return used
