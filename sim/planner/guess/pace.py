"""A way walked in time."""

import numpy as np


def paced(
    way: np.ndarray, count: int, *, from_rest: bool, to_rest: bool, gently: bool = False, smoothing: int = 40
) -> np.ndarray:
    """(count+1, 3): the polyline walked in equal times, slow where it starts or ends at rest, corners rounded.

    gently: with no jump of the velocity where it starts or ends at rest.
    """
    lengths = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))]
    t = np.linspace(0.0, 1.0, count + 1)
    progress = _progress(t, from_rest, to_rest, 0.0 if gently else 1.0)
    out = np.stack([np.interp(progress * lengths[-1], lengths, way[:, i]) for i in range(3)], axis=1)
    if len(way) > 2:
        for _ in range(smoothing):
            out[1:-1] = 0.25 * out[:-2] + 0.5 * out[1:-1] + 0.25 * out[2:]
    return out


def _progress(t: np.ndarray, from_rest: bool, to_rest: bool, jump: float) -> np.ndarray:
    """jump: 1: the velocity at rest is that of the usual pace; 0: it is 0."""
    if from_rest and to_rest:
        even = 0.5 * jump
        return even * t + (1.0 - even) * (10 * t**3 - 15 * t**4 + 6 * t**5)
    even = 0.4 * jump
    if from_rest:
        return even * t + (1.0 - even) * t**2
    if to_rest:
        return 1.0 - (even * (1 - t) + (1.0 - even) * (1 - t) ** 2)
    return t
