"""Spray for pictures: drops that leave a torn surface, fly freely, and are gone where they meet the water again.

Cells are far larger than drops. Where particles at the surface rise faster than the surface about them, as where a bow
slams or a wave breaks, they throw drops (the idea of M. Ihmsen et al., "Unified spray, foam and air bubbles for
particle-based fluids", 2012, whose trapped air this excess stands for). Drops take nothing from the water.
"""

import numpy as np

from sim.compiled import allocating_nothing
from sim.water.drops import Spray

_TORN_MPS = 0.7
"""Particles that rise faster than the surface about them by more than this throw drops."""
_DROPS_PER_M = 14.0
"""Thrown by one particle for every metre that it goes beyond that."""
_FASTER, _ASIDE = 0.8, 0.25
"""The fastest drop's speed beyond its particle's, and their spread aside, as shares of the particle's speed."""
_ABOUT = 3
"""Columns to each side whose mean is the surface about one."""
_NEAR = 0.8
"""Particles no deeper than this are at the surface [cells]."""


def thrown(
    place: np.ndarray,
    velocity: np.ndarray,
    height: np.ndarray,
    corner_w: tuple[float, float, float],
    cell_m: float,
    dt_s: float,
    seed: int,
) -> tuple[Spray, np.ndarray]:
    """Drops that particles (n, 3) [cells], [cells/s] throw within dt_s, and (ny, nx) how many leave each column.

    height (ny, nx) [cells] of the surface over the bottom of the box, infinite under a hull; equal seeds throw alike.
    """
    rise, count = np.zeros(height.shape, np.float32), np.zeros(height.shape, np.float32)
    _rising(place, velocity, height, rise, count)
    mean = np.empty_like(rise)
    _mean_about(rise, count, mean)
    picked = np.empty(len(place), np.int64)
    used = _torn(place, velocity, height, mean, np.float32(_TORN_MPS / cell_m), picked)
    picked = picked[:used]
    i, j = place[picked, :2].astype(int).T - 1
    excess_m = (velocity[picked, 2] - mean[j, i]) * cell_m - _TORN_MPS
    random = np.random.default_rng(seed)
    each = random.poisson(np.maximum(excess_m, 0.0) * dt_s * 30.0 * _DROPS_PER_M)
    drops = np.repeat(picked, each)
    v = velocity[drops] * np.float32(cell_m)
    speed = np.linalg.norm(v, axis=1, keepdims=True)
    v *= 1.0 + _FASTER * random.random((len(drops), 1), np.float32) ** 2
    v += np.float32(_ASIDE) * speed * random.standard_normal(v.shape, np.float32)
    scatter = random.uniform(-0.3, 0.3, v.shape) + dt_s * random.random((len(drops), 1)) * velocity[drops]
    places = (place[drops] - 1.0 + scatter) * cell_m + np.asarray(corner_w)
    left = np.zeros(height.shape, np.float32)
    np.add.at(left, (j, i), each.astype(np.float32))
    return Spray(places.astype(np.float32), v.astype(np.float32)), left


@allocating_nothing
def _rising(
    place: np.ndarray, velocity: np.ndarray, height: np.ndarray, rise: np.ndarray, count: np.ndarray
) -> None:
    """Sums of vertical speeds of the particles at the surface of each column, and how many there are."""
    for q in range(len(place)):
        i, j = int(place[q, 0]) - 1, int(place[q, 1]) - 1
        if place[q, 2] - np.float32(1.0) > height[j, i] - np.float32(_NEAR):
            rise[j, i] += velocity[q, 2]
            count[j, i] += np.float32(1.0)


@allocating_nothing
def _mean_about(rise: np.ndarray, count: np.ndarray, mean: np.ndarray) -> None:
    ny, nx = rise.shape
    for j in range(ny):
        for i in range(nx):
            total, number = np.float32(0.0), np.float32(1e-6)
            for b in range(max(j - _ABOUT, 0), min(j + _ABOUT + 1, ny)):
                for a in range(max(i - _ABOUT, 0), min(i + _ABOUT + 1, nx)):
                    total += rise[b, a]
                    number += count[b, a]
            mean[j, i] = total / number


@allocating_nothing
def _torn(
    place: np.ndarray,
    velocity: np.ndarray,
    height: np.ndarray,
    mean: np.ndarray,
    least: np.float32,
    out: np.ndarray,
) -> int:
    """Numbers of the particles at the surface that rise and leave the surface about them behind; how many."""
    used = 0
    for q in range(len(place)):
        i, j = int(place[q, 0]) - 1, int(place[q, 1]) - 1
        v = velocity[q, 2]
        if (
            v > least
            and v - mean[j, i] > least
            and place[q, 2] - np.float32(1.0) > height[j, i] - np.float32(_NEAR)
        ):
            out[used] = q
            used += 1
    return used
