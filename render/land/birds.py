"""Birds that soar over a river's banks: where they are at any time, as triangles of body and wings.

A flock turns in an updraught, each bird on a circle of its own that drifts and breathes; now and then one beats its
wings. All of it follows from the world's seed and the time, so that a picture of a time is the same however it was come
to. They are some 1.7 m wide, which tells how large the walls behind them are.
"""

import math

import numpy as np

from render.frame import Surface
from sim.world import World

_FLOCKS, _BIRDS = 7, 6
_HEIGHT_M, _RADIUS_M = (38.0, 95.0), (14.0, 34.0)
"""Of flocks above the water, and of the circles."""
_ASIDE_M = 45.0
"""Of a flock from the middle of the river, at most."""
_SPEED_MPS = 11.0
_HALF_SPAN_M, _CHORD_M, _LENGTH_M = 0.85, 0.3, 0.75
_BEATS_HZ, _BEAT_RAD, _SOARING_RAD = 2.3, 0.55, 0.14
"""How fast and how far wings beat, and how far they are raised at rest."""
_FAR_M, _FADE_M = 420.0, 120.0
"""Beyond it a bird is too small to be seen; over the last part of it they come and go."""
_PLUMAGE = (0.012, 0.010, 0.009)

# Of one bird, ahead along x and left along y, in its own length and half span: body, tail, and a wing in two parts.
_BODY = np.array([(0.5, 0.0, 0.0), (-0.1, 0.09, 0.0), (-0.1, -0.09, 0.0)])
_TAIL = np.array([(-0.05, 0.0, 0.0), (-0.5, 0.13, 0.0), (-0.5, -0.13, 0.0)])
_FRONT, _BACK, _BEND, _TRAIL, _TIP = np.array(
    [(0.22, 0.0), (-0.2, 0.0), (0.18, 0.5), (-0.22, 0.5), (-0.14, 1.0)]
)
_WING = np.array([_FRONT, _BACK, _BEND, _BACK, _BEND, _TRAIL, _BEND, _TRAIL, _TIP])


class Birds:
    """Of one world; none where no river has banks."""

    def __init__(self, world: World | None) -> None:
        river = None if world is None or world.layers is None else world.river
        rng = np.random.default_rng([0 if world is None else world.seed, 909])
        count = _FLOCKS * _BIRDS if river is not None else 0
        self._centre_w = np.zeros((count, 3))
        if world is not None and river is not None:
            (low, high), flock = (world.terrain.low_m[0], world.terrain.high_m[0]), np.arange(count) // _BIRDS
            x = low + (high - low) * (np.arange(_FLOCKS) + rng.uniform(0.2, 0.8, _FLOCKS)) / _FLOCKS
            y = np.asarray(river.centre(x)) + rng.uniform(-_ASIDE_M, _ASIDE_M, _FLOCKS)
            z = river.level_m + rng.uniform(*_HEIGHT_M, _FLOCKS)
            self._centre_w = np.column_stack([x, y, z])[flock] + rng.normal(size=(count, 3)) * (9.0, 9.0, 6.0)
            self._way = np.repeat(rng.choice((-1.0, 1.0), _FLOCKS), _BIRDS)
        self._radius_m = rng.uniform(*_RADIUS_M, count)
        self._phase = rng.uniform(0.0, 2.0 * math.pi, (count, 3))

    def surfaces(self, time_s: float, eye_w: np.ndarray) -> tuple[Surface, ...]:
        """Those that can be seen from there, as one body of triangles; nothing where there are none."""
        near = np.linalg.norm(self._centre_w - eye_w, axis=1) < _FAR_M + _RADIUS_M[1]
        if not near.any():
            return ()
        place_w, heading, bank, raised = (part[near] for part in self._flying(time_s))
        corners_b = _corners(raised)
        ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)], axis=1)
        level = np.stack([-ahead[:, 1], ahead[:, 0], np.zeros_like(heading)], axis=1)
        up = np.array([0.0, 0.0, 1.0])
        left = np.cos(bank)[:, None] * level + np.sin(bank)[:, None] * up
        over = np.cos(bank)[:, None] * up - np.sin(bank)[:, None] * level
        frame = np.stack([ahead, left, over], axis=1)
        corners_w = place_w[:, None] + np.einsum("bck,bkx->bcx", corners_b, frame)
        away_m = np.linalg.norm(place_w - eye_w, axis=1)
        alpha = np.clip((_FAR_M - away_m) / _FADE_M, 0.0, 1.0)
        each = corners_w.shape[1]
        normals = np.repeat(over, each, axis=0)
        return (Surface(corners_w.reshape(-1, 3), normals, _PLUMAGE, np.repeat(alpha, each)),)

    def _flying(self, time_s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Places (n, 3) [m], headings, banks and how far wings are raised, each (n,) rad."""
        slow = np.sin(0.11 * time_s + self._phase[:, 1])
        radius_m = self._radius_m * (1.0 + 0.12 * slow)
        turned = self._phase[:, 0] + self._way * _SPEED_MPS / self._radius_m * time_s
        place_w = self._centre_w.copy()
        place_w[:, 0] += radius_m * np.cos(turned)
        place_w[:, 1] += radius_m * np.sin(turned)
        place_w[:, 2] += 4.0 * slow
        heading = turned + self._way * 0.5 * math.pi
        bank = -self._way * np.arctan(_SPEED_MPS**2 / (9.81 * radius_m))
        beating = np.clip(4.0 * np.sin(0.37 * time_s + self._phase[:, 2]) - 2.6, 0.0, 1.0)
        beat = np.sin(2.0 * math.pi * _BEATS_HZ * time_s + self._phase[:, 1])
        return place_w, heading, bank, _SOARING_RAD + beating * _BEAT_RAD * beat


def _corners(raised_rad: np.ndarray) -> np.ndarray:
    """(n, k, 3) m in their own frames: ahead, left, up."""
    wing = np.column_stack([_WING, np.zeros(len(_WING))])
    out = np.concatenate([_BODY, _TAIL, wing, wing * (1.0, -1.0, 1.0)])
    fixed = len(_BODY) + len(_TAIL)
    corners = np.tile(out * (_LENGTH_M, _HALF_SPAN_M, 0.0), (len(raised_rad), 1, 1))
    corners[:, fixed:, 0] *= _CHORD_M / (0.4 * _LENGTH_M)
    span = np.abs(corners[:, :, 1])
    corners[:, fixed:, 2] = (np.sin(raised_rad)[:, None] * span)[:, fixed:]
    corners[:, fixed:, 1] *= np.cos(raised_rad)[:, None]
    return corners
