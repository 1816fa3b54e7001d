"""Interpolation of many poses at once: what every picture asks for, of chains of two hundred links, too."""

import math
from functools import partial

import numpy as np

from sim.compiled import compiled, jitted
from sim.groups.numeric import inverse_share, rotation_vector, screw_shares

_log = jitted(rotation_vector, nogil=True)
_shares = jitted(screw_shares, nogil=True)
_inverse_share = jitted(inverse_share, nogil=True)


def poses_between(starts: np.ndarray, ends: np.ndarray, share: float) -> np.ndarray:
    """(n, 4, 4) start exp(share log(start^-1 end)), screw motions; `share` 0 gives the starts, 1 the ends."""
    if share <= 0.0:
        return np.array(starts, float)
    if share >= 1.0:
        return np.array(ends, float)
    out = np.array(starts, float)
    _move_on(np.ascontiguousarray(ends, float), float(share), out)
    return out


def pose_between(start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """(4, 4) of one."""
    pose: np.ndarray = poses_between(start[None], end[None], share)[0]
    return pose


@partial(jitted, nogil=True)
def _cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@compiled("(float64[:, :, ::1], float64, float64[:, :, ::1])")
def _move_on(ends: np.ndarray, share: float, poses: np.ndarray) -> None:
    """In cross products: matrix products of numba's take seconds to compile."""
    between, x, v = np.empty((3, 3)), np.empty(3), np.empty(3)
    first, second, w = np.empty(3), np.empty(3), np.empty(3)
    for k in range(poses.shape[0]):
        start, end = poses[k], ends[k]
        for i in range(3):
            x[i] = 0.0
            for m in range(3):
                x[i] += start[m, i] * (end[m, 3] - start[m, 3])
            for j in range(3):
                between[i, j] = start[0, i] * end[0, j] + start[1, i] * end[1, j] + start[2, i] * end[2, j]
        w[0], w[1], w[2] = _log(between)
        angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        _cross(w, x, first)
        _cross(w, first, second)
        inverse = _inverse_share(angle)
        for i in range(3):
            v[i] = x[i] - first[i] / 2.0 + inverse * second[i]
        a, b, c = _shares(angle, share)
        _cross(w, v, first)
        _cross(w, first, second)
        for i in range(3):
            x[i] = share * v[i] + b * first[i] + c * second[i]
        for i in range(3):
            row = start[i]
            row[3] += row[0] * x[0] + row[1] * x[1] + row[2] * x[2]
            _cross(row, w, first)
            _cross(first, w, second)
            for j in range(3):
                row[j] += a * first[j] + b * second[j]
