"""Rotations as unit quaternions for files that are keyed by them."""

import numpy as np
from scipy.spatial.transform import Rotation


def continuous_quaternions(R: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions (x, y, z, w) of R (n, 3, 3), each within a quarter of the sphere of the one before.

    What is interpolated between two of them turns the short way.
    """
    q = Rotation.from_matrix(R).as_quat()
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.append(1.0, np.where(np.cumsum(flips) % 2, -1.0, 1.0))
    return q * signs[:, None]
