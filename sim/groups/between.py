"""Interpolation of many poses at once: what every picture asks for, of chains of two hundred links, too."""

import numba
import numpy as np

from sim.compiled import compiled
from sim.groups.numeric import rotation_log, screw_shares, translation_log

_log = numba.njit(nogil=True)(rotation_log)
_shares = numba.njit(nogil=True)(screw_shares)
_linear = numba.njit(nogil=True)(translation_log)


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


@compiled("(float64[:, :, ::1], float64, float64[:, :, ::1])")
def _move_on(ends: np.ndarray, share: float, poses: np.ndarray) -> None:
    W = np.zeros((3, 3))
    for k in range(poses.shape[0]):
        R = poses[k, :3, :3].copy()
        R_t = R.T.copy()
        w = _log(R_t @ ends[k, :3, :3].copy())
        angle = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        W[0, 1], W[0, 2], W[1, 2] = -w[2], w[1], -w[0]
        W[1, 0], W[2, 0], W[2, 1] = w[2], -w[1], w[0]
        W_W = W @ W
        v = _linear(angle, W, W_W, R_t @ (ends[k, :3, 3] - poses[k, :3, 3]))
        a, b, c = _shares(angle, share)
        poses[k, :3, :3] += R @ (a * W + b * W_W)
        poses[k, :3, 3] += R @ (share * v + (b * W + c * W_W) @ v)
