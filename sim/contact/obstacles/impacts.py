"""When and where a rectangle that moves by a constant twist meets boxes and discs in the plane.

The moment is found by conservative advancement (B. Mirtich, "Impulse-based dynamic simulation of rigid body systems",
1996): it steps on by no more than the distance divided by the greatest speed of any corner, so nothing is leapt over.
"""

import math

import numpy as np

from sim.native.function import native

TOUCH_M = 1e-3
"""Nearer than this counts as touching."""
MOST_ROWS = 8
_NEAR_M = 0.02
"""Corners that are no farther than the nearest one by this touch with it."""
_STEPS = 64


@native
def _to_box(
    x: float, y: float, cx: float, cy: float, hx: float, hy: float
) -> tuple[float, float, float, float, float]:
    """(distance, normal x, y, nearest x, y) of a point to a box along the axes; negative within, normal outward."""
    dx, dy = x - cx, y - cy
    qx, qy = min(max(dx, -hx), hx), min(max(dy, -hy), hy)
    ox, oy = dx - qx, dy - qy
    d = math.sqrt(ox * ox + oy * oy)
    if d > 1e-12:
        return d, ox / d, oy / d, cx + qx, cy + qy
    if hx - abs(dx) < hy - abs(dy):
        side = 1.0 if dx >= 0.0 else -1.0
        return abs(dx) - hx, side, 0.0, cx + side * hx, y
    side = 1.0 if dy >= 0.0 else -1.0
    return abs(dy) - hy, 0.0, side, x, cy + side * hy


@native
def contacts_at(
    x: float, y: float, theta: float, footprint: np.ndarray, solid: np.ndarray, rows: np.ndarray
) -> tuple[float, int]:
    """(least distance, rows used) of a footprint (4,) (centre x, y, half length, half width) at a planar pose.

    solid (5,): as in `Solids`; a disc has the half width 0 and its radius as half length, with heading nan.
    rows (MOST_ROWS, 5) get (distance, point x, y, normal x, y): the point on the footprint in the body frame, the
    normal out of the solid in the world.
    """
    c, s = math.cos(theta), math.sin(theta)
    fx, fy, hx, hy = footprint[0], footprint[1], footprint[2], footprint[3]
    used, least = 0, math.inf
    if math.isnan(solid[4]):
        dx, dy = solid[0] - x, solid[1] - y
        bx, by = c * dx + s * dy, c * dy - s * dx
        d, nx, ny, px, py = _to_box(bx, by, fx, fy, hx, hy)
        rows[0, 0], rows[0, 1], rows[0, 2] = d - solid[2], px, py
        rows[0, 3], rows[0, 4] = -(c * nx - s * ny), -(s * nx + c * ny)
        return d - solid[2], 1
    ct, st = math.cos(solid[4]), math.sin(solid[4])
    for k in range(4):  # corners of the footprint against the box
        bx = fx + (hx if k < 2 else -hx)
        by = fy + (hy if k % 2 == 0 else -hy)
        wx, wy = x + c * bx - s * by - solid[0], y + s * bx + c * by - solid[1]
        d, nx, ny, _, _ = _to_box(ct * wx + st * wy, ct * wy - st * wx, 0.0, 0.0, solid[2], solid[3])
        rows[used, 0], rows[used, 1], rows[used, 2] = d, bx, by
        rows[used, 3], rows[used, 4] = ct * nx - st * ny, st * nx + ct * ny
        used += 1
        least = min(least, d)
    for k in range(4):  # corners of the box against the footprint
        ux, uy = (solid[2] if k < 2 else -solid[2]), (solid[3] if k % 2 == 0 else -solid[3])
        dx, dy = solid[0] + ct * ux - st * uy - x, solid[1] + st * ux + ct * uy - y
        d, nx, ny, px, py = _to_box(c * dx + s * dy, c * dy - s * dx, fx, fy, hx, hy)
        rows[used, 0], rows[used, 1], rows[used, 2] = d, px, py
        rows[used, 3], rows[used, 4] = -(c * nx - s * ny), -(s * nx + c * ny)
        used += 1
        least = min(least, d)
    kept = 0
    for k in range(used):
        if rows[k, 0] <= least + _NEAR_M:
            for j in range(5):
                rows[kept, j] = rows[k, j]
            kept += 1
    return least, kept


@native
def first_impact(
    pose: np.ndarray,
    twist: np.ndarray,
    dt_s: float,
    footprint: np.ndarray,
    solid: np.ndarray,
    drift: np.ndarray,
    rows: np.ndarray,
) -> tuple[float, int]:
    """(share of dt at which they touch, rows used); a share above 1 where they do not within it.

    pose (3,) x, y, theta; twist (3,) omega, v_x, v_y in the body frame, constant; drift (2,) velocity of the solid.
    """
    omega, vx, vy = twist[0], twist[1], twist[2]
    reach = math.hypot(abs(footprint[0]) + footprint[2], abs(footprint[1]) + footprint[3])
    fastest = math.hypot(vx, vy) + abs(omega) * reach + math.hypot(drift[0], drift[1])
    share = 0.0
    for _ in range(_STEPS):
        t = share * dt_s
        angle = omega * t
        # The planar exponential: where the body frame has come to.
        if abs(angle) > 1e-9:
            a, b = math.sin(angle) / omega, (1.0 - math.cos(angle)) / omega
        else:
            a, b = t, 0.5 * omega * t * t
        mx, my = a * vx - b * vy, b * vx + a * vy
        c, s = math.cos(pose[2]), math.sin(pose[2])
        x = pose[0] + c * mx - s * my - drift[0] * t
        y = pose[1] + s * mx + c * my - drift[1] * t
        distance, used = contacts_at(x, y, pose[2] + angle, footprint, solid, rows)
        if distance <= TOUCH_M:
            return share, used
        if fastest * dt_s <= 0.0:
            return 2.0, 0
        share += max(distance - 0.5 * TOUCH_M, 0.25 * TOUCH_M) / (fastest * dt_s)
        if share > 1.0:
            return 2.0, 0
    return share, used
