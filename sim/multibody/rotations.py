"""Rotation matrices as unit quaternions; plain NumPy."""

import numpy as np


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """(4,) (w, x, y, z) of a rotation (3, 3), w not negative: the eigenvector of Bar-Itzhack's symmetric matrix."""
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    q = np.linalg.eigh(K)[1][:, -1]
    return q if q[0] >= 0.0 else -q
