"""One row a contact point: the plane it faces, what a push on it does, and the impulse that it bears."""

import numpy as np

from sim.contact.height_field import first_crossing, surface_normal, surface_patch
from sim.native.function import fastmath, inline_fastmath

_SLOP_M = 5e-4
_PUSH_OUT = 0.2
_PUSH_OUT_MPS = 0.1
_PUSH_OUT_RATE = 1.0
_NEAR_M = 0.01
_TOUCHING_M = 1e-12
"""What rounding leaves of the gap of a point that rests."""
_REACH_M = 0.2
_SHORT_WAY = 0.25
_ALONG = 0.8
"""Fraction of a normal along an axis from which on another one gives the tangent."""

# columns of the working array, one row a contact point; 0:3 is the point in the body frame
NORMAL = 3  # ground normal, body frame
FIRST = 6  # first tangent
SECOND = 9  # second tangent
IMPULSE = 12  # impulse along normal and tangents [N s]
INVERSE_MASS = 15  # inverse effective mass: normal; tangents ss, st, tt where they have been asked for
AIM = 19  # normal velocity to keep at least [m/s]
GAP = 20
POINT = 21  # index of the contact point
ROW_WIDTH = 22

Inverse = tuple[float, float, float, float, float, float]
"""Of the inertia (J1, J2, J3, m, m, m)."""


@inline_fastmath
def all_finite(x: np.ndarray) -> bool:
    """Of six numbers, or twelve."""
    nothing = _nothing_of_six(x)
    if x.shape[0] > 6:
        nothing += _nothing_of_six(x[6:])
    return nothing == 0.0


@inline_fastmath
def _nothing_of_six(x: np.ndarray) -> float:
    """Zero, if all are finite."""
    return (x[0] * 0.0 + x[1] * 0.0) + (x[2] * 0.0 + x[3] * 0.0) + (x[4] * 0.0 + x[5] * 0.0)


@inline_fastmath
def put(to: np.ndarray, values: np.ndarray) -> None:
    """Copy; a slice's assignment would ask for memory."""
    for k in range(to.shape[0]):
        to[k] = values[k]


@inline_fastmath
def point_velocity(xi: np.ndarray, w: np.ndarray, column: int) -> float:
    """Velocity of the point of row `w` along the direction at `column`, for body twist xi."""
    vx = xi[3] + xi[1] * w[2] - xi[2] * w[1]
    vy = xi[4] + xi[2] * w[0] - xi[0] * w[2]
    vz = xi[5] + xi[0] * w[1] - xi[1] * w[0]
    return vx * w[column] + vy * w[column + 1] + vz * w[column + 2]


@inline_fastmath
def _inverse(inertia: np.ndarray) -> Inverse:
    return (
        1.0 / inertia[0],
        1.0 / inertia[1],
        1.0 / inertia[2],
        1.0 / inertia[3],
        1.0 / inertia[4],
        1.0 / inertia[5],
    )


@inline_fastmath
def _response(w: np.ndarray, a: int, b: int, inverse: Inverse) -> float:
    """Velocity along direction `a` that a unit impulse along direction `b` gives the point of row `w`."""
    ax, ay, az = w[a], w[a + 1], w[a + 2]
    bx, by, bz = w[b], w[b + 1], w[b + 2]
    turned = (
        (w[1] * az - w[2] * ay) * (w[1] * bz - w[2] * by) * inverse[0]
        + (w[2] * ax - w[0] * az) * (w[2] * bx - w[0] * bz) * inverse[1]
        + (w[0] * ay - w[1] * ax) * (w[0] * by - w[1] * bx) * inverse[2]
    )
    return turned + ax * bx * inverse[3] + ay * by * inverse[4] + az * bz * inverse[5]


@fastmath
def respond_along_ground(work: np.ndarray, inertia: np.ndarray) -> None:
    """Fill in what pushes along the tangents do, which sweeps ask for."""
    inverse = _inverse(inertia)
    for k in range(work.shape[0]):
        w = work[k]
        w[INVERSE_MASS + 1] = _response(w, FIRST, FIRST, inverse)
        w[INVERSE_MASS + 2] = _response(w, FIRST, SECOND, inverse)
        w[INVERSE_MASS + 3] = _response(w, SECOND, SECOND, inverse)


@fastmath
def push(xi: np.ndarray, w: np.ndarray, column: int, amount: float, inertia: np.ndarray) -> None:
    """Apply an impulse along the direction at `column` to the twist, in place."""
    for k in range(3):
        k1 = (k + 1) % 3
        k2 = (k + 2) % 3
        xi[3 + k] += amount * w[column + k] / inertia[3 + k]
        xi[k] += amount * (w[k1] * w[column + k2] - w[k2] * w[column + k1]) / inertia[k]


@inline_fastmath
def _set_directions(w: np.ndarray, pose: np.ndarray, nx: float, ny: float, nz: float) -> None:
    """Write the body-frame normal and two tangents of row `w` for a world normal."""
    x = pose[0] * nx + pose[1] * ny + pose[2] * nz
    y = pose[3] * nx + pose[4] * ny + pose[5] * nz
    z = pose[6] * nx + pose[7] * ny + pose[8] * nz
    # tangent = an axis made orthogonal to n, and the same one while n turns a little: forces are remembered along it
    least, fraction = (1, y) if abs(x) > _ALONG else (0, x)
    longer = 1.0 / np.sqrt(1.0 - fraction * fraction)
    sx = ((1.0 if least == 0 else 0.0) - fraction * x) * longer
    sy = ((1.0 if least == 1 else 0.0) - fraction * y) * longer
    sz = -fraction * z * longer
    w[NORMAL], w[NORMAL + 1], w[NORMAL + 2] = x, y, z
    w[FIRST], w[FIRST + 1], w[FIRST + 2] = sx, sy, sz
    w[SECOND], w[SECOND + 1], w[SECOND + 2] = y * sz - z * sy, z * sx - x * sz, x * sy - y * sx


@inline_fastmath
def world_point(pose: np.ndarray, r: np.ndarray) -> tuple[float, float, float]:
    return (
        pose[9] + pose[0] * r[0] + pose[3] * r[1] + pose[6] * r[2],
        pose[10] + pose[1] * r[0] + pose[4] * r[1] + pose[7] * r[2],
        pose[11] + pose[2] * r[0] + pose[5] * r[1] + pose[8] * r[2],
    )


@inline_fastmath
def farthest(xi: np.ndarray, h: float, frame: np.ndarray) -> float:
    """No point of the body moves farther than that within h [m]; by the body twist, first order."""
    turning = abs(xi[0]) + abs(xi[1]) + abs(xi[2])
    return h * (abs(xi[3]) + abs(xi[4]) + abs(xi[5]) + turning * frame[6])


@inline_fastmath
def world_step(pose: np.ndarray, xi: np.ndarray, r: np.ndarray, h: float) -> tuple[float, float, float]:
    """Displacement over h of the body-frame point r, world frame, first order."""
    vx = h * (xi[3] + xi[1] * r[2] - xi[2] * r[1])
    vy = h * (xi[4] + xi[2] * r[0] - xi[0] * r[2])
    vz = h * (xi[5] + xi[0] * r[1] - xi[1] * r[0])
    return (
        pose[0] * vx + pose[3] * vy + pose[6] * vz,
        pose[1] * vx + pose[4] * vy + pose[7] * vz,
        pose[2] * vx + pose[5] * vy + pose[8] * vz,
    )


@inline_fastmath
def _note(w: np.ndarray, points: np.ndarray, k: int, gap: float, normal: tuple[float, float, float]) -> None:
    """That a point faces a plane at distance `gap` with this world normal."""
    w[0], w[1], w[2] = points[k, 0], points[k, 1], points[k, 2]
    w[NORMAL], w[NORMAL + 1], w[NORMAL + 2] = normal
    w[GAP] = gap
    w[POINT] = k


@fastmath
def _note_ahead(
    w: np.ndarray,
    before: np.ndarray,
    pose: np.ndarray,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    step: tuple[float, float, float],
) -> bool:
    """For a point that touches and moves on along the ground: note what rises in its way, if anything.

    `before` is the row of the plane it touches; only ways longer than a part of a cell matter.
    """
    nx, ny, nz = before[NORMAL], before[NORMAL + 1], before[NORMAL + 2]
    into = step[0] * nx + step[1] * ny + step[2] * nz
    dx = step[0] - into * nx
    dy = step[1] - into * ny
    dz = step[2] - into * nz
    if dx * dx + dy * dy < (_SHORT_WAY * frame[2]) ** 2:
        return False
    x, y, z = world_point(pose, before)
    lift = _NEAR_M + max(-before[GAP], 0.0) / nz
    t = first_crossing(heights, frame, x, y, z + lift, dx, dy, dz)
    if not 0.0 < t <= 1.0:
        return False
    rising = surface_normal(heights, frame, x + t * dx, y + t * dy)
    gap = max(-t * (dx * rising[0] + dy * rising[1] + dz * rising[2]), 0.0)
    _note(w, points, int(before[POINT]), gap, rising)
    return True


@inline_fastmath
def seek_rows(
    work: np.ndarray,
    pose: np.ndarray,
    xi: np.ndarray,
    h: float,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    ceiling: float,
) -> tuple[int, bool, float]:
    """Note in `work` (>= 2 k, ROW_WIDTH) what the points face within the step: point, gap and, as NORMAL, the normal in
    the world. Returns the rows used, whether any point meets the ground, and the lowest clearance."""
    used, touches, lowest = 0, False, np.inf
    most = ceiling + _REACH_M + 4.0 * farthest(xi, h, frame)
    short = (_SHORT_WAY * frame[2]) ** 2
    for k in range(points.shape[0]):
        above = pose[11] + pose[2] * points[k, 0] + pose[5] * points[k, 1] + pose[8] * points[k, 2] - ceiling
        if above + ceiling > most:
            lowest = min(lowest, above)
            continue
        x, y, z = world_point(pose, points[k])
        step = world_step(pose, xi, points[k], h)
        far = _REACH_M + 2.0 * (abs(step[0]) + abs(step[1]) + abs(step[2]))
        if above > far:
            lowest = min(lowest, above)
            continue
        ground, nx, ny, nz = surface_patch(heights, frame, x, y)
        above = z - ground
        lowest = min(lowest, above)
        t = 0.0
        if above > _TOUCHING_M:
            t = first_crossing(heights, frame, x, y, z, step[0], step[1], step[2])
        touches = touches or t <= 1.0
        if 0.0 < t <= 1.0:
            normal = surface_normal(heights, frame, x + t * step[0], y + t * step[1])
            gap = max(-t * (step[0] * normal[0] + step[1] * normal[1] + step[2] * normal[2]), 0.0)
        else:
            normal = (nx, ny, nz)
            gap = above * nz
            if gap > far:
                continue
        _note(work[used], points, k, gap, normal)
        used += 1
        if gap >= _NEAR_M or step[0] ** 2 + step[1] ** 2 + step[2] ** 2 < short:
            continue
        if _note_ahead(work[used], work[used - 1], pose, heights, frame, points, step):
            used += 1
    return used, touches, lowest


@inline_fastmath
def face_rows(work: np.ndarray, pose: np.ndarray, inertia: np.ndarray, h: float) -> None:
    """Fill in the rest of rows that `seek_rows` noted: directions in the body frame, response, aim; no impulse."""
    inverse = _inverse(inertia)
    nx = ny = nz = 0.0
    for k in range(work.shape[0]):
        w = work[k]
        if w[NORMAL] == nx and w[NORMAL + 1] == ny and w[NORMAL + 2] == nz:
            put(w[NORMAL : NORMAL + 9], work[k - 1, NORMAL : NORMAL + 9])  # points of one plane
        else:
            nx, ny, nz = w[NORMAL], w[NORMAL + 1], w[NORMAL + 2]
            _set_directions(w, pose, nx, ny, nz)
        w[IMPULSE] = w[IMPULSE + 1] = w[IMPULSE + 2] = 0.0
        w[INVERSE_MASS] = _response(w, NORMAL, NORMAL, inverse)
        gap = w[GAP]
        sunk = -gap - _SLOP_M
        if sunk > 0.0:
            w[AIM] = min(_PUSH_OUT * sunk / h, _PUSH_OUT_MPS + _PUSH_OUT_RATE * sunk)
        else:
            w[AIM] = -max(gap, 0.0) / h


@fastmath
def gather_rows(
    work: np.ndarray,
    pose: np.ndarray,
    xi: np.ndarray,
    inertia: np.ndarray,
    h: float,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    ceiling: float,
) -> int:
    """Fill `work` (>= 2 k, ROW_WIDTH) with what the points face within the step; returns the rows used."""
    used, _, _ = seek_rows(work, pose, xi, h, heights, frame, points, ceiling)
    face_rows(work[:used], pose, inertia, h)
    return used


@inline_fastmath
def touch_speed(w: np.ndarray, xi: np.ndarray, h: float, gravity: float, report: np.ndarray) -> float:
    """Speed [m/s] at which the point of row `w` meets its plane, from the twists at both ends of the step.

    Uniform acceleration between them: s^2 = s0^2 + 2 a gap. Without a previous twist, a point that
    starts on the ground is taken to have been at rest there.
    """
    gap = max(w[GAP], 0.0)
    if report[13] > 0.0:
        start = -point_velocity(report[4:10], w, NORMAL)
        if gap == 0.0:
            return max(start, 0.0)
        end = -point_velocity(xi, w, NORMAL)
        square = start * abs(start) + 2.0 * (end - start) / h * gap
        return np.sqrt(max(square, 0.0))
    end = -point_velocity(xi, w, NORMAL)
    if gap > _NEAR_M:
        return max(end, 0.0)
    return max(end - gravity * h, 0.0)
