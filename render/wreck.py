"""What marks the place where a lane has stopped: a mast with a cross on it, in the lane's colour."""

import numpy as np

from render.frame import Polyline

Colour = tuple[float, float, float]


def wreck_marker(place_w: np.ndarray, size_m: float, colour: Colour) -> tuple[Polyline, ...]:
    """Lines about the place (3,) m: a ring, a cross in it, and a mast that is seen from afar."""
    angle = np.linspace(0.0, 2.0 * np.pi, 33)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(33)])
    arm = np.sqrt(0.5) * np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    turned = arm * [1.0, -1.0, 1.0]
    mast = np.array([[0.0, 0.0, -0.4], [0.0, 0.0, 3.0]])
    shapes = (ring, arm, turned, mast)
    return tuple(
        Polyline(place_w + size_m * shape, colour, np.full(len(shape), 0.9), width_px=3.0) for shape in shapes
    )
