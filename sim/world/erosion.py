"""Hydraulic erosion by droplets, with hard and soft layers of rock.

Each droplet runs downhill, takes up rock where it is fast and steep and drops it where it slows.
Soft strata give way faster, which cuts flutes into the cliffs and gullies into the slopes.
"""

import numpy as np

from sim.compiled import compiled

_STEPS = 64
_INERTIA = 0.3
_CAPACITY = 3.0
_TAKE = 0.12
_DROP = 0.3
_GRAVITY = 0.2


@compiled
def _softness(z: float) -> float:
    """How readily rock at height z gives way, 0.35..1: the strata."""
    return 0.35 + 0.65 * (0.5 + 0.5 * np.sin(0.9 * z + 2.0 * np.sin(0.37 * z)))


@compiled
def _take(heights: np.ndarray, i: int, j: int, amount: float) -> None:
    """Remove `amount` of rock around (i, j): a 3 x 3 brush, so that droplets carve grooves, not pits."""
    for b in range(-1, 2):
        for a in range(-1, 2):
            heights[j + b, i + a] -= amount / float((2 + 2 * a * a) * (2 + 2 * b * b))


@compiled
def _droplet(heights: np.ndarray, sediment: np.ndarray, x: float, y: float, floor_m: float) -> None:
    rows, columns = heights.shape
    dx = dy = load = 0.0
    speed = water = 1.0
    for _ in range(_STEPS):
        i = int(x)
        j = int(y)
        u = x - i
        v = y - j
        z00 = heights[j, i]
        z10 = heights[j, i + 1]
        z01 = heights[j + 1, i]
        z11 = heights[j + 1, i + 1]
        z = (z00 * (1.0 - u) + z10 * u) * (1.0 - v) + (z01 * (1.0 - u) + z11 * u) * v
        dx = _INERTIA * dx - (1.0 - _INERTIA) * ((z10 - z00) * (1.0 - v) + (z11 - z01) * v)
        dy = _INERTIA * dy - (1.0 - _INERTIA) * ((z01 - z00) * (1.0 - u) + (z11 - z10) * u)
        length = np.sqrt(dx * dx + dy * dy)
        if length < 1e-6:
            return
        dx /= length
        dy /= length
        x += dx
        y += dy
        if x < 2.0 or y < 2.0 or x > columns - 4.0 or y > rows - 4.0:
            return
        a = int(x)
        b = int(y)
        u2 = x - a
        v2 = y - b
        low = heights[b, a] * (1.0 - u2) + heights[b, a + 1] * u2
        high = heights[b + 1, a] * (1.0 - u2) + heights[b + 1, a + 1] * u2
        drop = z - (low * (1.0 - v2) + high * v2)
        if z - drop < floor_m:
            return
        capacity = max(min(drop, 4.0), 0.02) * speed * water * _CAPACITY
        if drop < 0.0 or load > capacity:
            moved = min(-drop, load) if drop < 0.0 else (load - capacity) * _DROP
            load -= moved
            heights[j, i] += moved * (1.0 - u) * (1.0 - v)
            heights[j, i + 1] += moved * u * (1.0 - v)
            heights[j + 1, i] += moved * (1.0 - u) * v
            heights[j + 1, i + 1] += moved * u * v
            sediment[j, i] += moved
        else:
            moved = min((capacity - load) * _TAKE * _softness(z), 0.5 * drop)
            load += moved
            _take(heights, i, j, moved)
        speed = np.sqrt(min(max(speed * speed + drop * _GRAVITY, 0.05), 9.0))
        water *= 0.985


@compiled
def erode(heights: np.ndarray, sediment: np.ndarray, starts: np.ndarray, floor_m: float) -> None:
    """Run one droplet after another from `starts` (n, 2) (column, row); arrays float64, changed in place.

    Droplets end in the river, at `floor_m`. One thread: the order of the droplets is part of the result.
    """
    for k in range(starts.shape[0]):
        _droplet(heights, sediment, starts[k, 0], starts[k, 1], floor_m)
