"""Exponential, logarithm and interpolation of rotations and poses on numbers, for all that is not compiled.

The same maps as those of `SO3` and `SE3`, on matrices as pilots, pictures and tables have them.
"""

import math

import numpy as np

_HALF_TURN_COSINE = -0.99
"""Below, the antisymmetric part of a rotation fades and no longer tells the axis well."""


_GENERATORS = np.array(
    [[0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]], float
)
"""Of the rotations about x, y and z, row by row."""


def skew(w: np.ndarray) -> np.ndarray:
    """(..., 3, 3) with skew(w) b = w x b, of w (..., 3)."""
    return (w @ _GENERATORS).reshape(*w.shape, 3)


def rotation_exp(w: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations by the angle |w| [rad] about w (..., 3): Rodrigues' formula."""
    W, angle = skew(w), np.sqrt((w * w).sum(-1))[..., None, None]
    one = angle == 0.0
    sine, half = ((np.sin(a) + one) / (a + one) for a in (angle, angle / 2))
    return np.eye(3) + sine * W + half * half / 2 * (W @ W)


def rotation_log(R: np.ndarray) -> np.ndarray:
    """(3,) rotation vector of R (3, 3), angle in [0, pi]; either of the two at a half turn."""
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = math.sqrt(float(axis @ axis))
    cosine = 0.5 * (float(R[0, 0] + R[1, 1] + R[2, 2]) - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > _HALF_TURN_COSINE:
        return axis * (angle / sine) if sine > 1e-9 else axis
    # The axis comes from the symmetric part, its sign from the other.
    symmetric = R + R.T - 2 * cosine * np.eye(3)
    column = symmetric[:, int(np.argmax(np.diag(symmetric)))]
    direction = column / math.sqrt(float(column @ column))
    return direction * (angle if float(direction @ axis) >= 0.0 else -angle)


def _left_jacobian(w: np.ndarray) -> np.ndarray:
    """(3, 3) that takes the linear part of a twist to the translation of its exponential."""
    angle, W = math.sqrt(float(w @ w)), skew(w)
    if angle < 0.02:
        # The closed forms are differences of nearly equal numbers there.
        z = angle * angle
        first, second = 1 / 2 - z / 24 + z * z / 720, 1 / 6 - z / 120 + z * z / 5040
    else:
        first, second = (1 - math.cos(angle)) / angle**2, (angle - math.sin(angle)) / angle**3
    return np.eye(3) + first * W + second * (W @ W)


def pose_exp(twist: np.ndarray) -> np.ndarray:
    """(4, 4) pose reached in unit time with the body twist (omega, v) (6,)."""
    T = np.eye(4)
    T[:3, :3] = rotation_exp(twist[:3])
    T[:3, 3] = _left_jacobian(twist[:3]) @ twist[3:]
    return T


def pose_log(T: np.ndarray) -> np.ndarray:
    """(6,) twist (omega, v) whose exponential is the pose (4, 4)."""
    w = rotation_log(T[:3, :3])
    return np.concatenate([w, np.linalg.solve(_left_jacobian(w), T[:3, 3])])


def pose_between(T_start: np.ndarray, T_end: np.ndarray, share: float) -> np.ndarray:
    """(4, 4) T_start exp(share log(T_start^-1 T_end)), a screw motion; `share` 0 gives the start, 1 the end."""
    if share <= 0.0:
        return np.array(T_start, float)
    if share >= 1.0:
        return np.array(T_end, float)
    R = T_start[:3, :3]
    change = np.eye(4)
    change[:3, :3] = R.T @ T_end[:3, :3]
    change[:3, 3] = R.T @ (T_end[:3, 3] - T_start[:3, 3])
    return T_start @ pose_exp(share * pose_log(change))
