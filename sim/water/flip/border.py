"""What the faces at the box's sides are told, and velocities beyond the water's surface."""

import numpy as np

from sim.compiled import allocating_nothing


@allocating_nothing
def hold_border(faces: np.ndarray, border: np.ndarray) -> None:
    """Faces on the sides get the velocity across that `border` (3, nz + 2, ny + 2, nx + 2) has there; along the sides
    the water slips, so that what lies outside is the mirror image of what lies inside."""
    _, nz, ny, nx = faces.shape
    for k in range(nz):
        for j in range(ny):
            faces[0, k, j, 1] = border[0, k, j, 1]
            faces[0, k, j, nx - 1] = border[0, k, j, nx - 1]
            faces[0, k, j, 0] = faces[0, k, j, 1]
            for c in range(1, 3):
                faces[c, k, j, 0] = faces[c, k, j, 1]
                faces[c, k, j, nx - 1] = faces[c, k, j, nx - 2]
    for k in range(nz):
        for i in range(nx):
            faces[1, k, 1, i] = border[1, k, 1, i]
            faces[1, k, ny - 1, i] = border[1, k, ny - 1, i]
            faces[1, k, 0, i] = faces[1, k, 1, i]
            for c in range(0, 3, 2):
                faces[c, k, 0, i] = faces[c, k, 1, i]
                faces[c, k, ny - 1, i] = faces[c, k, ny - 2, i]
    for j in range(ny):
        for i in range(nx):
            faces[2, 1, j, i] = border[2, 1, j, i]
            faces[2, nz - 1, j, i] = border[2, nz - 1, j, i]
            faces[2, 0, j, i] = faces[2, 1, j, i]
            for c in range(2):
                faces[c, 0, j, i] = faces[c, 1, j, i]
                faces[c, nz - 1, j, i] = faces[c, nz - 2, j, i]


@allocating_nothing
def extrapolate(faces: np.ndarray, valid: np.ndarray, layers: int) -> None:
    """Carry velocities into faces that have none, `layers` faces far: each gets the mean of its known neighbours.

    valid (3, nz + 2, ny + 2, nx + 2) uint8: 1 where a velocity is known; gets 2, 3, ... layer by layer.
    """
    _, nz, ny, nx = faces.shape
    for layer in range(layers):
        known = layer + 1
        for c in range(3):
            for k in range(1, nz - 1):
                for j in range(1, ny - 1):
                    for i in range(1, nx - 1):
                        if valid[c, k, j, i] != 0:
                            continue
                        total, count = np.float32(0.0), 0
                        if 0 < valid[c, k, j, i - 1] <= known:
                            total += faces[c, k, j, i - 1]
                            count += 1
                        if 0 < valid[c, k, j, i + 1] <= known:
                            total += faces[c, k, j, i + 1]
                            count += 1
                        if 0 < valid[c, k, j - 1, i] <= known:
                            total += faces[c, k, j - 1, i]
                            count += 1
                        if 0 < valid[c, k, j + 1, i] <= known:
                            total += faces[c, k, j + 1, i]
                            count += 1
                        if 0 < valid[c, k - 1, j, i] <= known:
                            total += faces[c, k - 1, j, i]
                            count += 1
                        if 0 < valid[c, k + 1, j, i] <= known:
                            total += faces[c, k + 1, j, i]
                            count += 1
                        if count:
                            faces[c, k, j, i] = total / np.float32(count)
                            valid[c, k, j, i] = known + 1
