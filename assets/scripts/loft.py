"""Superellipse lofts: bodies given by a few cross-sections along x."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from assets.scripts.mesh import FloatArray, Mesh
from assets.scripts.shapes import grid, outward

COLUMNS = ("x", "centre_z", "half_width", "above", "below", "exponent_above", "exponent_below")


@dataclass(frozen=True)
class Loft:
    """Sections (rows of `COLUMNS`) from nose to tail, joined by monotone cubics over their spacing."""

    sections: FloatArray

    def rings(self, parameter: FloatArray, sides: int, *, inset_m: float = 0.0) -> FloatArray:
        """(len(parameter), sides, 3) points; parameter 0..1 runs from the first section to the last.

        The points of a ring are spread evenly over its length, and `inset_m` shrinks the ring.
        """
        table = np.asarray(self.sections, float)
        knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(table[:, :5], axis=0), axis=1))])
        x, centre, width, above, below, high, low = PchipInterpolator(knots / knots[-1], table)(parameter).T
        dense = np.linspace(0, 2 * np.pi, 721)
        rings = []
        for k in range(len(parameter)):
            rise = np.sin(dense) >= 0
            exponent = 2 / np.where(rise, high[k], low[k])
            y = max(width[k] - inset_m, 1e-3) * _power(np.cos(dense), exponent)
            reach = np.where(rise, max(above[k] - inset_m, 1e-3), max(below[k] - inset_m, 1e-3))
            z = reach * _power(np.sin(dense), exponent)
            length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(y), np.diff(z)))])
            even = np.linspace(0, length[-1], sides, endpoint=False)
            ring_y, ring_z = np.interp(even, length, y), np.interp(even, length, z)
            rings.append(np.column_stack([np.full(sides, x[k]), ring_y, centre[k] + ring_z]))
        return np.array(rings)

    def parameter_at(self, x_m: float | FloatArray) -> FloatArray:
        """Loft parameter of stations given by x [m]."""
        table = np.asarray(self.sections, float)
        knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(table[:, :5], axis=0), axis=1))])
        dense = np.linspace(0, 1, 2001)
        x = PchipInterpolator(knots / knots[-1], table[:, 0])(dense)
        return np.interp(x_m, x[::-1], dense[::-1]) if x[0] > x[-1] else np.interp(x_m, x, dense)

    def skin(
        self, parameter: FloatArray, sides: int, *, inset_m: float = 0.0, crease_deg: float = 40.0
    ) -> Mesh:
        """Surface over the stations, facing outwards, open at both ends."""
        return outward(grid(self.rings(parameter, sides, inset_m=inset_m), crease_deg=crease_deg))


def stations(breaks: Sequence[float], spacing: Sequence[float]) -> FloatArray:
    """Parameters 0..1 with spacing chosen per interval between `breaks`."""
    parts = []
    for low, high, step in zip(breaks[:-1], breaks[1:], spacing, strict=True):
        count = max(int(np.ceil(abs(high - low) / step)), 1)
        parts.append(np.linspace(low, high, count, endpoint=False))
    return np.concatenate([*parts, [breaks[-1]]])


def _power(value: FloatArray, exponent: FloatArray) -> FloatArray:
    return np.sign(value) * np.abs(value) ** exponent
