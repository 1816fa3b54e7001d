"""Exponential and logarithm of rotations and poses on numbers, for all that is not compiled.

The same maps as those of `SO3` and `SE3`, on matrices as pilots, pictures and tables have them; interpolation of many
poses at once, which every picture asks for; headings and attitudes as flight modes need them, without Euler angles.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sim.native.function import native

_HALF_TURN_COSINE = -0.99
"""Below, the antisymmetric part of a rotation fades and no longer tells the axis well."""


_GENERATORS = np.array(
    [[0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]], float
)
"""Of the rotations about x, y and z, row by row."""


def triple(x: np.ndarray) -> tuple[float, float, float]:
    """Three numbers as Python's own."""
    return float(x[0]), float(x[1]), float(x[2])


def median(values: np.ndarray) -> float:
    """Of (n,) numbers. NumPy's own loads its masked arrays, for which a first picture would wait."""
    ordered = np.sort(values)
    return float(np.mean(ordered[(len(values) - 1) // 2 : len(values) // 2 + 1]))


def skew(w: np.ndarray) -> np.ndarray:
    """(..., 3, 3) with skew(w) b = w x b, of w (..., 3)."""
    return (w @ _GENERATORS).reshape(*w.shape, 3)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(3,) a x b of two vectors (3,), to the bit what `np.cross` gives, without its search for axes."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def rotation_exp(w: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations by the angle |w| [rad] about w (..., 3): Rodrigues' formula."""
    W, angle = skew(w), np.sqrt((w * w).sum(-1))[..., None, None]
    one = angle == 0.0
    sine, half = ((np.sin(a) + one) / (a + one) for a in (angle, angle / 2))
    return np.eye(3) + sine * W + half * half / 2 * (W @ W)


def rotation_log(R: np.ndarray) -> np.ndarray:
    """(3,) rotation vector of R (3, 3), angle in [0, pi]; either of the two at a half turn."""
    return np.array(rotation_vector(R))


def rotation_vector(R: np.ndarray) -> tuple[float, float, float]:
    """The same in numbers, which compiled functions take without arrays."""
    x, y, z = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > _HALF_TURN_COSINE:
        scale = angle / sine if sine > 1e-9 else 1.0
        return scale * x, scale * y, scale * z
    # The axis comes from the symmetric part, its sign from the other.
    longest = 0
    for k in (1, 2):
        longest = k if R[k, k] > R[longest, longest] else longest
    a, b, c = R[0, longest] + R[longest, 0], R[1, longest] + R[longest, 1], R[2, longest] + R[longest, 2]
    a -= 2.0 * cosine if longest == 0 else 0.0
    b -= 2.0 * cosine if longest == 1 else 0.0
    c -= 2.0 * cosine if longest == 2 else 0.0
    length = math.sqrt(a**2 + b**2 + c**2)
    scale = angle / length if a * x + b * y + c * z >= 0.0 else -angle / length
    return a * scale, b * scale, c * scale


def screw_shares(angle: float, share: float = 1.0) -> tuple[float, float, float]:
    """(a, b, c) with exp(s W) = 1 + a W + b W^2 and its integral from 0 to s, s + b W + c W^2.

    W is the skew matrix of a vector of length `angle` and s the `share`.
    """
    turn = share * angle
    if abs(turn) < 0.02:
        # The closed forms are differences of nearly equal numbers there.
        z = turn * turn
        first, second = 1 / 2 - z / 24 + z * z / 720, 1 / 6 - z / 120 + z * z / 5040
        return share * (1.0 - z * second), share**2 * first, share**3 * second
    a = math.sin(turn) / angle
    return a, (1.0 - math.cos(turn)) / angle**2, (share - a) / angle**2


def inverse_share(angle: float) -> float:
    """c with 1 - W / 2 + c W^2 the inverse of the integral of exp(s W) over s from 0 to 1; |w| = `angle`."""
    if angle < 0.02:
        return 1 / 12 + angle**2 / 720 + angle**4 / 30240
    half = angle / 2
    return (1.0 - half / math.tan(half)) / angle**2


def pose_matrix(R: np.ndarray, x: ArrayLike) -> np.ndarray:
    """(4, 4) pose of a rotation (3, 3) and a place (3,)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, x
    return T


def pose_exp(twist: np.ndarray) -> np.ndarray:
    """(4, 4) pose reached in unit time with the body twist (omega, v) (6,)."""
    w = twist[:3]
    W = skew(w)
    W_W = W @ W
    a, b, c = screw_shares(math.sqrt(float(w @ w)))
    T = np.eye(4)
    T[:3, :3] += a * W + b * W_W
    T[:3, 3] = twist[3:] + (b * W + c * W_W) @ twist[3:]
    return T


def pose_log(T: np.ndarray) -> np.ndarray:
    """(6,) twist (omega, v) whose exponential is the pose (4, 4)."""
    w = rotation_log(T[:3, :3])
    W, x = skew(w), T[:3, 3]
    return np.concatenate([w, x - W @ x / 2 + inverse_share(math.sqrt(float(w @ w))) * (W @ (W @ x))])


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """(4,) (w, x, y, z) of a rotation (3, 3), w not negative."""
    q: np.ndarray = quaternions_of(R[None])[0]
    return q


def quaternions_of(R: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions (w, x, y, z) of rotations (n, 3, 3), w not negative."""
    x = R.reshape(-1, 9)
    xx, yy, zz = x[:, 0], x[:, 4], x[:, 8]
    squares = np.stack(
        [1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz], axis=1
    )
    wx, wy, wz = x[:, 7] - x[:, 5], x[:, 2] - x[:, 6], x[:, 3] - x[:, 1]
    xy, xz, yz = x[:, 1] + x[:, 3], x[:, 2] + x[:, 6], x[:, 5] + x[:, 7]
    # Four times the products of all pairs; by the row of the largest square nothing is divided by what is small.
    products = np.stack(
        [
            np.stack([squares[:, 0], wx, wy, wz], axis=1),
            np.stack([wx, squares[:, 1], xy, xz], axis=1),
            np.stack([wy, xy, squares[:, 2], yz], axis=1),
            np.stack([wz, xz, yz, squares[:, 3]], axis=1),
        ],
        axis=1,
    )
    best = products[np.arange(len(x)), squares.argmax(axis=1)]
    q: np.ndarray = best / np.linalg.norm(best, axis=1, keepdims=True)
    return np.where(q[:, :1] < 0.0, -q, q)


def mean_twists(starts: np.ndarray, ends: np.ndarray, dt_s: float) -> np.ndarray:
    """(n, 6) in the world: angular velocities by Cayley's map, and velocities, that lead poses (n, 4, 4) to others."""
    turned = quaternions_of(ends[:, :3, :3] @ starts[:, :3, :3].transpose(0, 2, 1))
    omega_w = 2.0 * turned[:, 1:] / np.maximum(turned[:, :1], 1e-3)
    return np.concatenate([omega_w, ends[:, :3, 3] - starts[:, :3, 3]], axis=1) / dt_s


def poses_of(rows: np.ndarray) -> np.ndarray:
    """(n, 4, 4) of places and quaternions (n, 7): x, y, z, then (w, x, y, z), made unit ones."""
    w, x, y, z = (rows[:, 3:] / np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)).T
    T = np.tile(np.eye(4), (len(rows), 1, 1))
    T[:, 0, :3] = np.stack(
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)], axis=1
    )
    T[:, 1, :3] = np.stack(
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)], axis=1
    )
    T[:, 2, :3] = np.stack(
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1
    )
    T[:, :3, 3] = rows[:, :3]
    return T


def poses_between(starts: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """As `poses_along`, but not beyond the starts and the ends."""
    return poses_along(starts, ends, min(max(share, 0.0), 1.0))


def poses_along(starts: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """(n, 4, 4) start exp(share log(start^-1 end)), screw motions; `share` 0 gives the starts, 1 the ends, exactly."""
    if share in (0.0, 1.0):
        return np.array(ends if share else starts, float)
    out = np.array(starts, float)
    _move_on(np.ascontiguousarray(ends, float), float(share), out)
    return out


def pose_between(start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """(4, 4) of one."""
    pose: np.ndarray = poses_between(start[None], end[None], share)[0]
    return pose


@native
def _cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@native("void(float64[:, :, ::1], float64, float64[:, :, ::1])")
def _move_on(ends: np.ndarray, share: float, poses: np.ndarray) -> None:
    """In cross products."""
    between, x, v = np.empty((3, 3)), np.empty(3), np.empty(3)
    first, second, w = np.empty(3), np.empty(3), np.empty(3)
    for k in range(poses.shape[0]):
        start, end = poses[k], ends[k]
        for i in range(3):
            x[i] = 0.0
            for m in range(3):
                x[i] += start[m, i] * (end[m, 3] - start[m, 3])
            for j in range(3):
                between[i, j] = start[0, i] * end[0, j] + start[1, i] * end[1, j] + start[2, i] * end[2, j]
        w[0], w[1], w[2] = rotation_vector(between)
        angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        _cross(w, x, first)
        _cross(w, first, second)
        inverse = inverse_share(angle)
        for i in range(3):
            v[i] = x[i] - first[i] / 2.0 + inverse * second[i]
        a, b, c = screw_shares(angle, share)
        _cross(w, v, first)
        _cross(w, first, second)
        for i in range(3):
            x[i] = share * v[i] + b * first[i] + c * second[i]
        for i in range(3):
            row = start[i]
            row[3] += row[0] * x[0] + row[1] * x[1] + row[2] * x[2]
            _cross(row, w, first)
            _cross(first, w, second)
            for j in range(3):
                row[j] += a * first[j] + b * second[j]


def turned_to(along: np.ndarray) -> np.ndarray:
    """(3, 3) a rotation that takes z to that direction."""
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return np.eye(3)
    z = along / length
    x = cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.array([x, cross(z, x), z]).T


def rotation_about(axis: int, angle_rad: float | np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations about a coordinate axis by angles (...)."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*np.shape(angle_rad), 3, 3))
    R[..., axis, axis] = 1.0
    R[..., i, i], R[..., i, j], R[..., j, i], R[..., j, j] = c, -s, s, c
    return R


def upright(heading_rad: float) -> np.ndarray:
    """(3, 3) rotation about the vertical."""
    return rotation_about(2, heading_rad)


def euler_angles(R: np.ndarray) -> tuple[float, float, float]:
    """Heading, pitch and roll [rad] by which a rotation (3, 3) turns about z, then y, then x of the turned axes."""
    pitch_rad = math.asin(min(max(-float(R[2, 0]), -1.0), 1.0))
    return math.atan2(R[1, 0], R[0, 0]), pitch_rad, math.atan2(R[2, 1], R[2, 2])


def level_axes(R_wb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal unit vectors (3,) ahead of and to the left of the body, in the world frame.

    They are where nose and left side come to when the roof is turned upright the shortest way, so they exist
    with the nose straight up or down too; upside down the nose alone counts.
    """
    nose, roof = R_wb[:, 0], R_wb[:, 2]
    raised = 1.0 + float(roof[2])
    share = float(nose[2]) / raised if raised > 1e-9 else 0.0
    x, y = float(nose[0] - share * roof[0]), float(nose[1] - share * roof[1])
    length = math.hypot(x, y)
    if length < 1e-6:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    x, y = x / length, y / length
    return np.array([x, y, 0.0]), np.array([-y, x, 0.0])


def heading_of(R_wb: np.ndarray) -> float:
    """Direction of `level_axes(R_wb)[0]` [rad], counter-clockwise from world x."""
    ahead, _ = level_axes(R_wb)
    return math.atan2(float(ahead[1]), float(ahead[0]))


def turn_between(from_rad: float, to_rad: float) -> float:
    """The shorter way from one heading to another, in [-pi, pi)."""
    return (to_rad - from_rad + math.pi) % (2.0 * math.pi) - math.pi


def attitude_of(up_w: np.ndarray, heading_rad: float) -> np.ndarray:
    """R_wb (3, 3) whose roof points along the unit vector `up_w`, not straight down.

    It comes from the level attitude of that heading by the shortest turn, so `heading_of` gives the heading back.
    """
    a, b, c = (float(component) for component in up_w)
    tilt = np.array(
        [
            [1.0 - a * a / (1.0 + c), -a * b / (1.0 + c), a],
            [-a * b / (1.0 + c), 1.0 - b * b / (1.0 + c), b],
            [-a, -b, c],
        ]
    )
    return tilt @ upright(heading_rad)
