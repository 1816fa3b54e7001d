"""Wheels about the y axis."""

import numpy as np

from assets.scripts.mesh import Mesh, join
from assets.scripts.shapes import box, hoop, lathe


def tyre(
    radius_m: float, width_m: float, *, sides: int = 36, treads: int = 0, shoulders: bool = True
) -> Mesh:
    """Rubber with rounded shoulders if wanted, and tread blocks where `treads` > 0."""
    w, r = width_m / 2, radius_m
    deep = 0.04 * r if treads else 0.0
    outer = r - deep
    profile = [
        (0.62 * r, -0.72 * w),
        (0.66 * r, -0.92 * w),
        (0.84 * r, -w),
        (0.95 * outer, -0.93 * w),
        (outer, -0.62 * w),
    ]
    if not shoulders:
        profile = [profile[0], profile[2], profile[4]]
    profile += [(radius, -height) for radius, height in reversed(profile)]
    parts = [hoop(profile, sides=sides, axis="y", crease_deg=30.0)]
    for k in range(treads):
        for side in (-1.0, 1.0):
            angle = 2 * np.pi * (k + 0.25 * side) / treads
            block = box((1.7 * r / treads * 2.0, 0.46 * width_m, deep * 2.0), bevel=0.004)
            block = block.moved((0.0, side * 0.26 * width_m, outer))
            parts.append(block.transformed(_about_y(angle)))
    return join(parts)


def rim(radius_m: float, width_m: float, *, spokes: int = 6, sides: int = 32, edges: bool = True) -> Mesh:
    """Barrel, spokes, bevelled if wanted, and hub cap; the face looks along +y."""
    w, r = width_m / 2, 0.63 * radius_m
    barrel = hoop(
        [(0.86 * r, -0.75 * w), (r, -0.75 * w), (r, 0.75 * w), (0.9 * r, 0.75 * w), (0.86 * r, 0.3 * w)],
        sides=sides,
        axis="y",
    )
    back = lathe(
        [(0, -0.2 * w), (0.86 * r, -0.2 * w), (0.86 * r, -0.1 * w), (0, -0.1 * w)], sides=sides, axis="y"
    )
    cap = lathe(
        [(0, 0.1 * w), (0.24 * r, 0.1 * w), (0.24 * r, 0.62 * w), (0.16 * r, 0.7 * w), (0, 0.7 * w)],
        sides=sides // 2,
        axis="y",
    )
    arm = box((0.20 * r, 0.22 * w, 0.80 * r), bevel=0.02 * r if edges else 0.0, taper=(0.75, 0.8)).moved(
        (0, 0.45 * w, 0.52 * r)
    )
    arms = [arm.transformed(_about_y(2 * np.pi * k / spokes)) for k in range(spokes)]
    return join([barrel, back, cap, *arms])


def _about_y(angle_rad: float) -> np.ndarray:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])
