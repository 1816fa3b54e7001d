"""What may stand around exported vehicles: a piece of the land that they crossed, and the camera that followed them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from export.motion import Motion
from export.nodes import Track, continuous_quaternions
from render.frame import View
from sim.world import World

_MARGIN_M = 60.0
_CORNERS = 160
"""Of the piece of land, along each side."""
_SAND = (0.42, 0.27, 0.17)


@dataclass(frozen=True, eq=False)
class Ground:
    """A piece of land, or of the water above it, in world coordinates."""

    positions: np.ndarray
    """(n, 3) m."""
    normals: np.ndarray
    """(n, 3) unit vectors."""
    triangles: np.ndarray
    """(m, 3)."""
    colour: tuple[float, float, float] = _SAND
    """Linear RGB."""


@dataclass(frozen=True, eq=False)
class CameraTrack:
    """A camera that looks along its -z, y up, in world coordinates."""

    track: Track
    fov_y_rad: float
    aspect: float
    near_m: float
    far_m: float


def ground_under(world: World, motions: Sequence[Motion]) -> Ground:
    """The land under some motions and around them."""
    places = np.concatenate([motion.main[:, :2, 3] for motion in motions])
    low, high = places.min(axis=0) - _MARGIN_M, places.max(axis=0) + _MARGIN_M
    x, y = (np.linspace(a, b, _CORNERS) for a, b in zip(low, high, strict=True))
    X, Y = np.meshgrid(x, y, indexing="ij")
    Z = np.broadcast_to(world.surface_m(X, Y), X.shape)
    dx, dy = np.gradient(Z, x, y)
    normals = np.stack([-dx, -dy, np.ones_like(Z)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    k = np.arange(_CORNERS * _CORNERS).reshape(_CORNERS, _CORNERS)
    a, b, c, d = k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]
    triangles = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    return Ground(np.stack([X, Y, Z], axis=-1).reshape(-1, 3), normals.reshape(-1, 3), triangles)


def camera_track(time: Sequence[float], views: Sequence[View]) -> CameraTrack:
    """Of the views at moments that increase; the field of view is that of the first."""
    R = np.array([view.view[:3, :3].T for view in views])
    eyes = np.array([view.eye_w for view in views])
    count = len(views)
    P = views[0].projection
    near_m, far_m = float(P[2, 3] / (P[2, 2] - 1.0)), float(P[2, 3] / (P[2, 2] + 1.0))
    track = Track(
        np.asarray(time, float), eyes, continuous_quaternions(R), np.ones((count, 3)), np.ones(count, bool)
    )
    return CameraTrack(track, 2.0 * float(np.arctan(1.0 / P[1, 1])), float(P[1, 1] / P[0, 0]), near_m, far_m)
