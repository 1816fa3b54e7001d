"""A box: its corners, face by face."""

import numpy as np


def box_corners(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (24, 3) about the origin, four a face, counter-clockwise from outside, and their normals (24, 3)."""
    points, normals = np.zeros((6, 4, 3)), np.zeros((6, 4, 3))
    for face in range(6):
        axis, side = face // 2, 2.0 * (face % 2) - 1.0
        u, v = (axis + 1) % 3, (axis + 2) % 3
        normals[face, :, axis] = points[face, :, axis] = side
        points[face][:, [u, v]] = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[:: int(side)]
    return points.reshape(24, 3) * half, normals.reshape(24, 3)
