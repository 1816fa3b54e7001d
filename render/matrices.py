"""Camera matrices for column vectors: p_clip = projection @ view @ p_world (float64, OpenGL depth -1..1)."""

import math

import numpy as np


def unit(vector: np.ndarray) -> np.ndarray:
    """`vector` (n,) at length one."""
    vector = np.asarray(vector, dtype=float)
    return vector / np.linalg.norm(vector)


def look_at(
    eye_w: np.ndarray, target_w: np.ndarray, up_w: tuple[float, float, float] = (0, 0, 1)
) -> np.ndarray:
    """(4, 4) world to camera; the camera looks along -z with y up. A vertical look takes +y for its up."""
    eye_w = np.asarray(eye_w, dtype=float)
    forward = unit(np.asarray(target_w, dtype=float) - eye_w)
    side = np.cross(forward, up_w)
    if np.linalg.norm(side) < 1e-6:
        side = np.cross(forward, (0.0, 1.0, 0.0))
    side = unit(side)
    matrix = np.eye(4)
    matrix[:3, :3] = side, np.cross(side, forward), -forward
    matrix[:3, 3] = -matrix[:3, :3] @ eye_w
    return matrix


def perspective(fov_y_rad: float, aspect: float, near_m: float, far_m: float) -> np.ndarray:
    """(4, 4) symmetric perspective projection."""
    scale = 1.0 / math.tan(0.5 * fov_y_rad)
    matrix = np.zeros((4, 4))
    matrix[0, 0] = scale / aspect
    matrix[1, 1] = scale
    matrix[2, 2] = (far_m + near_m) / (near_m - far_m)
    matrix[2, 3] = 2.0 * far_m * near_m / (near_m - far_m)
    matrix[3, 2] = -1.0
    return matrix


def orthographic(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(4, 4) parallel projection of the camera-space box from `low` to `high`, each (3,); near is high z."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    matrix = np.eye(4)
    span = high - low
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = 2.0 / span[0], 2.0 / span[1], -2.0 / span[2]
    matrix[:3, 3] = -(high[0] + low[0]) / span[0], -(high[1] + low[1]) / span[1], (high[2] + low[2]) / span[2]
    return matrix


TEXTURE_FROM_CLIP = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
"""Clip space -1..1 to texture coordinates and depth 0..1."""


def mirror(level_m: float) -> np.ndarray:
    """(4, 4) reflection in the plane z = level."""
    matrix = np.diag([1.0, 1.0, -1.0, 1.0])
    matrix[2, 3] = 2.0 * level_m
    return matrix
