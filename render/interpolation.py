"""Poses between two poses: along the one-parameter group that joins them (a screw motion)."""

import numpy as np


def skew(w: np.ndarray) -> np.ndarray:
    """(3, 3) with skew(w) @ b = w x b."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation_exp(w: np.ndarray) -> np.ndarray:
    """(3, 3) rotation by |w| about w."""
    angle, W = float(np.linalg.norm(w)), skew(w)
    if angle < 1e-6:
        return np.eye(3) + W + 0.5 * W @ W
    return np.eye(3) + np.sin(angle) / angle * W + (1 - np.cos(angle)) / angle**2 * (W @ W)


def rotation_log(R: np.ndarray) -> np.ndarray:
    """(3,) rotation vector, |w| <= pi; either of the two at a half turn."""
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(R)) - 1.0)
    angle = float(np.arctan2(sine, cosine))
    if cosine > -0.99:
        return axis * (angle / sine) if sine > 1e-9 else axis
    # Near a half turn the antisymmetric part fades: the axis comes from the symmetric part, its sign from the other.
    symmetric = R + R.T - 2 * cosine * np.eye(3)
    column = symmetric[:, int(np.argmax(np.diag(symmetric)))]
    direction = column / np.linalg.norm(column)
    return (angle if direction @ axis >= 0 else -angle) * direction


def _left_jacobian(w: np.ndarray) -> np.ndarray:
    """(3, 3) that takes the linear part of a twist to the translation of its exponential."""
    angle, W = float(np.linalg.norm(w)), skew(w)
    if angle < 1e-4:
        return np.eye(3) + 0.5 * W + W @ W / 6
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * W + (angle - np.sin(angle)) / angle**3 * (W @ W)


def pose_exp(twist: np.ndarray) -> np.ndarray:
    """(4, 4) pose reached in unit time with the body twist (omega, v) (6,)."""
    T = np.eye(4)
    T[:3, :3] = rotation_exp(twist[:3])
    T[:3, 3] = _left_jacobian(twist[:3]) @ twist[3:]
    return T


def pose_log(T: np.ndarray) -> np.ndarray:
    """(6,) twist (omega, v) whose exponential is the pose."""
    w = rotation_log(T[:3, :3])
    return np.concatenate([w, np.linalg.solve(_left_jacobian(w), T[:3, 3])])


def pose_between(T_start: np.ndarray, T_end: np.ndarray, share: float) -> np.ndarray:
    """(4, 4) T_start exp(share log(T_start^-1 T_end)); `share` 0 gives the start, 1 the end."""
    if share <= 0.0:
        return np.array(T_start, float)
    if share >= 1.0:
        return np.array(T_end, float)
    R = T_start[:3, :3]
    change = np.eye(4)
    change[:3, :3] = R.T @ T_end[:3, :3]
    change[:3, 3] = R.T @ (T_end[:3, 3] - T_start[:3, 3])
    return T_start @ pose_exp(share * pose_log(change))
