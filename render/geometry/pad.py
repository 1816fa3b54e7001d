"""The slab of a landing pad, and the apron of earth about it.

Vertices (n, 8) float32: position 3 (world), normal 3, uv 2 = metres in the pad's frame, u along its
heading and v to the left: the paint is drawn from uv. The top is the ground of the physics.
"""

from itertools import pairwise

import numpy as np

from render.geometry.mesh import Mesh, quad_indices
from sim.world import Pad

_BEVEL_M = 0.12
_EDGE_M = 0.03
"""How far down the slab's side is to be seen."""
_APRON_M, _FALL_M, _DEPTH_M = (2.0, 4.0), (0.06, 0.30), 0.6
"""How far the earth about it reaches out and down, first gently, and how deep it ends: the drawn ground is sunk under
the slab, and between its vertices there would be a trench beside it."""


def _ring(half_m: float, z_m: float) -> np.ndarray:
    """Corners of a square, counter-clockwise seen from above, (4, 3)."""
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * half_m
    return np.column_stack([corners, np.full(4, z_m)])


def _quad(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (4, 3) and the face normal repeated."""
    normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
    return corners, np.repeat(normal[None, :] / np.linalg.norm(normal), 4, axis=0)


def pad_mesh(pad: Pad) -> Mesh:
    """A bevelled square slab of half side `pad.radius_m`, its top at the pad's centre height, in its apron."""
    rings = [
        _ring(pad.radius_m + _APRON_M[1], -_DEPTH_M),
        _ring(pad.radius_m + _APRON_M[1], -_FALL_M[1]),
        _ring(pad.radius_m + _APRON_M[0], -_FALL_M[0]),
        _ring(pad.radius_m, -_EDGE_M),
        _ring(pad.radius_m - _BEVEL_M, 0.0),
    ]
    faces = [_quad(rings[-1])]
    for low, high in pairwise(rings):
        for k in range(4):
            ahead = (k + 1) % 4
            faces.append(_quad(np.array([low[k], low[ahead], high[ahead], high[k]])))
    local = np.concatenate([corners for corners, _ in faces])
    normals = np.concatenate([normal for _, normal in faces])
    c, s = np.cos(pad.heading_rad), np.sin(pad.heading_rad)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    vertices = np.hstack([local @ turn.T + pad.centre_w, normals @ turn.T, local[:, :2]])
    return Mesh(vertices.astype(np.float32), quad_indices(len(faces)))
