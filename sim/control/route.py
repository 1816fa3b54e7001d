"""A polyline to fly along: smooth points, arc length, tangents, and the speed each place allows."""

from dataclasses import dataclass

import numpy as np

SPACING_M = 2.0
SMOOTHING_M = 14.0


@dataclass(frozen=True, slots=True)
class Spot:
    """One place on a route."""

    point_w: np.ndarray
    """(3,) [m]."""
    tangent_w: np.ndarray
    """(3,) unit."""
    bend_w: np.ndarray
    """(3,) derivative of the tangent by arc length [1/m]."""
    speed_mps: float


@dataclass(frozen=True)
class Route:
    """Resampled at equal arc length."""

    points: np.ndarray
    """(n, 3) [m]."""
    tangents: np.ndarray
    bends: np.ndarray
    speeds: np.ndarray
    """(n,) [m/s], zero at the end."""

    @property
    def length_m(self) -> float:
        return (len(self.points) - 1) * SPACING_M

    def nearest(self, x_w: np.ndarray, from_m: float | None = None) -> float:
        """Arc length [m] of the point nearest to `x_w` (3,).

        from_m: look only from a little before to 60 m beyond this arc length, so that nothing is cut short.
        """
        first, last = 0, len(self.points)
        if from_m is not None:
            first = max(int(from_m / SPACING_M) - 3, 0)
            last = min(first + 34, last)
        offsets = self.points[first:last] - x_w
        best = first + int(np.argmin(np.einsum("ij,ij->i", offsets, offsets)))
        beyond = float((x_w - self.points[best]) @ self.tangents[best])
        return min(max(best * SPACING_M + min(max(beyond, -SPACING_M), SPACING_M), 0.0), self.length_m)

    def at(self, arc_m: float) -> Spot:
        """Interpolated at an arc length [m], clamped to the ends."""
        place = min(max(arc_m / SPACING_M, 0.0), len(self.points) - 1.000001)
        i = int(place)
        w = place - i
        tangent = (1 - w) * self.tangents[i] + w * self.tangents[i + 1]
        return Spot(
            (1 - w) * self.points[i] + w * self.points[i + 1],
            tangent / np.linalg.norm(tangent),
            (1 - w) * self.bends[i] + w * self.bends[i + 1],
            float((1 - w) * self.speeds[i] + w * self.speeds[i + 1]),
        )


def make_route(
    polyline_w: np.ndarray,
    *,
    cruise_mps: float,
    sideways: float = 3.5,
    braking: float = 1.6,
    climb_mps: float = 4.0,
    smoothing_m: float = SMOOTHING_M,
) -> Route:
    """Route along a polyline (n, 3) [m].

    Its speed keeps to `cruise_mps`, to the acceleration `sideways` in bends and `braking` before them and
    before the end [m/s^2], and to `climb_mps` on slopes. Corners are rounded over `smoothing_m`.
    """
    points = _smoothed(_resampled(np.asarray(polyline_w, float)[:, :3], SPACING_M), smoothing_m)
    points = _resampled(points, SPACING_M)
    tangents = np.gradient(points, SPACING_M, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    bends = np.gradient(tangents, SPACING_M, axis=0)
    curvature = np.linalg.norm(bends[:, :2], axis=1)
    speeds = np.minimum(cruise_mps, np.sqrt(sideways / np.maximum(curvature, 1e-6)))
    speeds = np.minimum(speeds, climb_mps / np.maximum(np.abs(tangents[:, 2]), 1e-6))
    speeds[-1] = 0.0
    for i in range(len(speeds) - 2, -1, -1):
        speeds[i] = min(speeds[i], np.sqrt(speeds[i + 1] ** 2 + 2.0 * braking * SPACING_M))
    return Route(points, tangents, bends, speeds)


def _resampled(points: np.ndarray, spacing_m: float) -> np.ndarray:
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.r_[True, lengths > 1e-9]]
    arc = np.r_[0.0, np.cumsum(lengths[lengths > 1e-9])]
    count = max(int(arc[-1] / spacing_m), 2) + 1
    wanted = np.linspace(0.0, arc[-1], count)
    return np.column_stack([np.interp(wanted, arc, points[:, k]) for k in range(3)])


def _smoothed(points: np.ndarray, over_m: float) -> np.ndarray:
    """Corners rounded by a moving average that keeps both ends in place."""
    reach = int(over_m / SPACING_M)
    before = 2.0 * points[0] - points[reach:0:-1]
    after = 2.0 * points[-1] - points[-2 : -2 - reach : -1]
    padded = np.vstack((before, points, after))
    kernel = np.hanning(2 * reach + 3)[1:-1]
    kernel /= kernel.sum()
    return np.column_stack([np.convolve(padded[:, k], kernel, mode="valid") for k in range(3)])
