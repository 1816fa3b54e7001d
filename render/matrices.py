"""Camera matrices for column vectors: p_clip = projection @ view @ p_world (float64, OpenGL depth -1..1).

Pyrr makes them for row vectors, hence the transposition; of pyrr only these functions on arrays are used.
"""

import math

import numpy as np
from pyrr import matrix44


def unit(vector: np.ndarray) -> np.ndarray:
    """`vector` (n,) at length one."""
    vector = np.asarray(vector, dtype=float)
    return vector / np.linalg.norm(vector)


def look_at(
    eye_w: np.ndarray, target_w: np.ndarray, up_w: tuple[float, float, float] = (0, 0, 1)
) -> np.ndarray:
    """(4, 4) world to camera; the camera looks along -z with y up. A vertical look takes +y for its up."""
    eye_w, target_w = np.asarray(eye_w, dtype=float), np.asarray(target_w, dtype=float)
    if np.linalg.norm(np.cross(unit(target_w - eye_w), up_w)) < 1e-6:
        up_w = (0.0, 1.0, 0.0)
    return matrix44.create_look_at(eye_w, target_w, np.asarray(up_w, dtype=float), dtype=float).T


def perspective(fov_y_rad: float, aspect: float, near_m: float, far_m: float) -> np.ndarray:
    """(4, 4) symmetric perspective projection."""
    fov_y_deg = math.degrees(fov_y_rad)
    return matrix44.create_perspective_projection(fov_y_deg, aspect, near_m, far_m, dtype=float).T


def orthographic(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(4, 4) parallel projection of the camera-space box from `low` to `high`, each (3,); near is high z."""
    (left, bottom, far), (right, top, near) = np.asarray(low, float), np.asarray(high, float)
    return matrix44.create_orthogonal_projection(left, right, bottom, top, -near, -far, dtype=float).T


TEXTURE_FROM_CLIP = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
"""Clip space -1..1 to texture coordinates and depth 0..1."""


def mirror(level_m: float) -> np.ndarray:
    """(4, 4) reflection in the plane z = level."""
    matrix = np.diag([1.0, 1.0, -1.0, 1.0])
    matrix[2, 3] = 2.0 * level_m
    return matrix
