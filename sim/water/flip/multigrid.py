"""Multigrid for the pressure's system: eight cells joined make a coarser one, damped Jacobi smooths.

Coarse rows are sums of fine ones (unsmoothed aggregation), whose corrections fall short: they are stretched. One
V-cycle with equal smoothing before and after is symmetric, so that it may stand inside conjugate gradients.
"""

import numpy as np

from sim.native.function import native, unordered
from sim.platform.values import dataclass

_DAMPING = np.float32(0.67)
_STRETCH = np.float32(1.8)
_COARSEST_SWEEPS = 12
_SMALLEST = 4


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Arrays of every level, the finest first, each (nz + 2, ny + 2, nx + 2) float32."""

    diagonal: tuple[np.ndarray, ...]
    inverse: tuple[np.ndarray, ...]
    along_x: tuple[np.ndarray, ...]
    along_y: tuple[np.ndarray, ...]
    along_z: tuple[np.ndarray, ...]
    right: tuple[np.ndarray, ...]
    rough: tuple[np.ndarray, ...]
    smooth: tuple[np.ndarray, ...]

    @staticmethod
    def of(shape: tuple[int, int, int]) -> "Levels":
        """For arrays of this shape: halved while every side is even and longer than the smallest."""
        sizes = [tuple(n - 2 for n in shape)]
        while min(sizes[-1]) > _SMALLEST and not any(n % 2 for n in sizes[-1]):
            sizes.append(tuple(n // 2 for n in sizes[-1]))
        made = [tuple(np.zeros(tuple(n + 2 for n in size), np.float32) for size in sizes) for _ in range(8)]
        return Levels(*made)

    @property
    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the finest level."""
        return self.along_x[0], self.along_y[0], self.along_z[0]

    @property
    def system(self) -> tuple[tuple[np.ndarray, ...], ...]:
        """What compiled functions take."""
        return (
            self.diagonal,
            self.inverse,
            self.along_x,
            self.along_y,
            self.along_z,
            self.right,
            self.rough,
            self.smooth,
        )


@native
def coarsen(system) -> None:  # type: ignore[no-untyped-def]
    """Fill all levels below the finest."""
    diagonal, inverse, along_x, along_y, along_z, _, _, _ = system
    for level in range(1, len(diagonal)):
        d, ax, ay, az = diagonal[level - 1], along_x[level - 1], along_y[level - 1], along_z[level - 1]
        coarse, inverted = diagonal[level], inverse[level]
        x_links, y_links, z_links = along_x[level], along_y[level], along_z[level]
        nz, ny, nx = coarse.shape
        for kc in range(1, nz - 1):
            for jc in range(1, ny - 1):
                for ic in range(1, nx - 1):
                    i, j, k = 2 * ic - 1, 2 * jc - 1, 2 * kc - 1
                    total, inner = np.float32(0.0), np.float32(0.0)
                    for a in range(2):
                        for b in range(2):
                            total += d[k + a, j + b, i] + d[k + a, j + b, i + 1]
                            inner += (
                                ax[k + a, j + b, i + 1] + ay[k + a, j + 1, i + b] + az[k + 1, j + a, i + b]
                            )
                    total -= inner + inner
                    solid = total <= np.float32(1e-4)
                    coarse[kc, jc, ic] = np.float32(0.0) if solid else total
                    inverted[kc, jc, ic] = np.float32(0.0) if solid else np.float32(1.0) / total
                    x_links[kc, jc, ic] = (
                        ax[k, j, i] + ax[k, j + 1, i] + ax[k + 1, j, i] + ax[k + 1, j + 1, i]
                    )
                    y_links[kc, jc, ic] = (
                        ay[k, j, i] + ay[k, j, i + 1] + ay[k + 1, j, i] + ay[k + 1, j, i + 1]
                    )
                    z_links[kc, jc, ic] = (
                        az[k, j, i] + az[k, j, i + 1] + az[k, j + 1, i] + az[k, j + 1, i + 1]
                    )


@unordered
def apply_rows(
    d: np.ndarray, ax: np.ndarray, ay: np.ndarray, az: np.ndarray, x: np.ndarray, out: np.ndarray
) -> float:
    """out = A x; returns x . A x."""
    nz, ny, nx = d.shape
    total = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            part = np.float32(0.0)
            for i in range(1, nx - 1):
                value = d[k, j, i] * x[k, j, i]
                value -= ax[k, j, i] * x[k, j, i - 1] + ax[k, j, i + 1] * x[k, j, i + 1]
                value -= ay[k, j, i] * x[k, j - 1, i] + ay[k, j + 1, i] * x[k, j + 1, i]
                value -= az[k, j, i] * x[k - 1, j, i] + az[k + 1, j, i] * x[k + 1, j, i]
                out[k, j, i] = value
                part += value * x[k, j, i]
            total += float(part)
    return total


@unordered
def _smooth(
    d: np.ndarray,
    inverse: np.ndarray,
    ax: np.ndarray,
    ay: np.ndarray,
    az: np.ndarray,
    right: np.ndarray,
    x: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = x + damping (right - A x) / diagonal."""
    nz, ny, nx = d.shape
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                value = d[k, j, i] * x[k, j, i]
                value -= ax[k, j, i] * x[k, j, i - 1] + ax[k, j, i + 1] * x[k, j, i + 1]
                value -= ay[k, j, i] * x[k, j - 1, i] + ay[k, j + 1, i] * x[k, j + 1, i]
                value -= az[k, j, i] * x[k - 1, j, i] + az[k + 1, j, i] * x[k + 1, j, i]
                out[k, j, i] = x[k, j, i] + _DAMPING * inverse[k, j, i] * (right[k, j, i] - value)


@unordered
def _begin(inverse: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    nz, ny, nx = inverse.shape
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                out[k, j, i] = _DAMPING * inverse[k, j, i] * right[k, j, i]


@unordered
def _restrict(
    d: np.ndarray,
    ax: np.ndarray,
    ay: np.ndarray,
    az: np.ndarray,
    right: np.ndarray,
    x: np.ndarray,
    work: np.ndarray,
    coarse: np.ndarray,
) -> None:
    """coarse = the sums of the residual right - A x over eight cells."""
    apply_rows(d, ax, ay, az, x, work)
    nz, ny, nx = coarse.shape
    for kc in range(1, nz - 1):
        for jc in range(1, ny - 1):
            for ic in range(1, nx - 1):
                i, j, k = 2 * ic - 1, 2 * jc - 1, 2 * kc - 1
                total = np.float32(0.0)
                for a in range(2):
                    for b in range(2):
                        if d[k + a, j + b, i] > np.float32(0.0):
                            total += right[k + a, j + b, i] - work[k + a, j + b, i]
                        if d[k + a, j + b, i + 1] > np.float32(0.0):
                            total += right[k + a, j + b, i + 1] - work[k + a, j + b, i + 1]
                coarse[kc, jc, ic] = total


@unordered
def _prolong(d: np.ndarray, coarse: np.ndarray, x: np.ndarray) -> None:
    nz, ny, nx = coarse.shape
    for kc in range(1, nz - 1):
        for jc in range(1, ny - 1):
            for ic in range(1, nx - 1):
                value = _STRETCH * coarse[kc, jc, ic]
                i, j, k = 2 * ic - 1, 2 * jc - 1, 2 * kc - 1
                for a in range(2):
                    for b in range(2):
                        for c in range(2):
                            if d[k + a, j + b, i + c] > np.float32(0.0):
                                x[k + a, j + b, i + c] += value


@native
def v_cycle(system, right: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    """One V-cycle for A x = right from x = 0; the result is the finest level's `smooth`."""
    diagonal, inverse, along_x, along_y, along_z, given, rough, smooth = system
    last = len(diagonal) - 1
    for level in range(last + 1):
        d, inverted, x, y = diagonal[level], inverse[level], rough[level], smooth[level]
        ax, ay, az = along_x[level], along_y[level], along_z[level]
        b = right if level == 0 else given[level]
        _begin(inverted, b, x)
        _smooth(d, inverted, ax, ay, az, b, x, y)
        if level < last:
            _restrict(d, ax, ay, az, b, y, x, given[level + 1])
        elif level:
            for _ in range(_COARSEST_SWEEPS // 2):
                _smooth(d, inverted, ax, ay, az, b, y, x)
                _smooth(d, inverted, ax, ay, az, b, x, y)
    for level in range(last - 1, -1, -1):
        d, inverted, x, y = diagonal[level], inverse[level], rough[level], smooth[level]
        ax, ay, az = along_x[level], along_y[level], along_z[level]
        b = right if level == 0 else given[level]
        _prolong(d, smooth[level + 1], y)
        _smooth(d, inverted, ax, ay, az, b, y, x)
        _smooth(d, inverted, ax, ay, az, b, x, y)
