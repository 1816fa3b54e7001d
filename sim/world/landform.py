"""The shape of the canyon as a function of the plane, before water has worked on it.

Distance to the river is bent by noise and read through a profile: river bed, bank, four tiers of
cliff with benches between, rim, plateau with mesas far out. Each tier is bent by its own noise as
well, so that the edges of the cliffs do not run parallel and benches widen, narrow and vanish.
The function is defined everywhere: the far field evaluates it kilometres outside the map.
"""

import numpy as np

from sim.compiled import compiled
from sim.world.noise import fractal_noise, gradient_noise, ridge_noise, smoothstep

# distance from the centre line [m] -> height [m] of everything that is not cliff
_GROUND_D = np.array([0.0, 9.0, 13.0, 18.0, 27.0, 58.0, 70.0, 100.0, 122.0, 150.0, 176.0, 250.0, 520.0])
_GROUND_Z = np.array([-3.4, -2.1, -0.3, 1.5, 3.6, 19.0, 22.0, 33.0, 36.0, 46.0, 49.0, 60.0, 66.0])
# tiers: distance where the cliff starts, its width, its height, how far its own noise moves it [m]
_TIERS = np.array(
    [
        [59.0, 5.5, 48.0, 5.0],
        [99.0, 5.0, 23.0, 13.0],
        [121.0, 8.0, 27.0, 12.0],
        [152.0, 5.0, 12.0, 16.0],
    ]
)
_LAYER_M = 6.5
_SEED_STRIDE = 1000


@compiled
def river_distance(x: float, y: float, river: np.ndarray) -> float:
    """Signed distance to the centre line [m], first order in the bend; positive on the +y side."""
    centre = river[0] * np.sin(x / river[1] + river[2]) + river[3] * np.sin(x / river[4] + river[5])
    slope = river[0] / river[1] * np.cos(x / river[1] + river[2])
    slope += river[3] / river[4] * np.cos(x / river[4] + river[5])
    return (y - centre) / np.sqrt(1.0 + slope * slope)


@compiled
def _clearing(x: float, y: float, sites: np.ndarray) -> float:
    """How far the walls stand back around the building sites [m]."""
    back = 0.0
    for k in range(sites.shape[0]):
        r2 = ((x - sites[k, 0]) / 60.0) ** 2 + ((y - sites[k, 1]) / 60.0) ** 2
        back = max(back, 55.0 * np.exp(-r2 * r2))
    return back


@compiled
def _bent_distance(d: float, x: float, y: float, side: float, seed: int) -> float:
    """Distance with buttresses, alcoves and side gullies: larger means higher up the wall."""
    wx = x + 9.0 * fractal_noise(x / 45.0, y / 45.0, 3, seed + 11)
    wy = y + 9.0 * fractal_noise(x / 45.0 + 9.0, y / 45.0, 3, seed + 17)
    away = smoothstep(16.0, 58.0, d)
    bend = 34.0 * fractal_noise(wx / 125.0, wy / 125.0 + 7.0 * side, 2, seed + 3)
    bend += 17.0 * fractal_noise(wx / 40.0, wy / 40.0, 4, seed + 5)
    deep = ridge_noise(wx / 150.0 + 31.0 * side, wy / 105.0, 2.3, seed + 41)
    gully = 40.0 * deep * deep * deep
    small = ridge_noise(wx / 47.0, wy / 40.0 + 13.0 * side, 2.2, seed + 43)
    gully += 9.0 * small * small
    shore = 3.5 * gradient_noise(x / 34.0, y / 34.0, seed + 47) * smoothstep(4.0, 14.0, d)
    bent = d + (1.0 - away) * shore + away * (bend - gully * smoothstep(30.0, 70.0, d) + 4.0)
    return max(bent, 0.40 * d)


@compiled
def _level(d: float) -> float:
    """Height of all that is not cliff at bent distance d >= 0. (`np.interp` takes a second to compile.)"""
    k = 0
    while k < len(_GROUND_D) - 2 and d >= _GROUND_D[k + 1]:
        k += 1
    slope = (_GROUND_Z[k + 1] - _GROUND_Z[k]) / (_GROUND_D[k + 1] - _GROUND_D[k])
    return slope * (min(d, _GROUND_D[k + 1]) - _GROUND_D[k]) + _GROUND_Z[k]


@compiled
def _cliff(t: float) -> float:
    """Rise of a cliff over its width: a steep face that leans back near the top."""
    t = min(max(t, 0.0), 1.0)
    return t * (1.55 - 0.55 * t)


@compiled
def _tiers(d: float, x: float, y: float, side: float, seed: int) -> float:
    """Summed height of the cliffs at bent distance d."""
    height = 0.0
    for k in range(_TIERS.shape[0]):
        if d < _TIERS[k, 0] - 2.0 * _TIERS[k, 3]:
            continue
        own = fractal_noise(x / 64.0 + 17.0 * k, y / 64.0 + 5.0 * side, 3, seed + 61 + 7 * k)
        flutes = fractal_noise(x / 9.0 + 3.0 * k, y / 9.0, 2, seed + 63 + 7 * k)
        at = d - _TIERS[k, 0] + 2.0 * _TIERS[k, 3] * own + 2.2 * flutes
        height += _TIERS[k, 2] * _cliff(at / _TIERS[k, 1])
    return height


@compiled
def _ledges(z: float, x: float, y: float, seed: int) -> float:
    """Height pulled towards hard layers: treads and risers of the bedding, dipping gently."""
    phase = (z + 0.012 * x + 2.5 * gradient_noise(z / 13.0, x / 700.0, seed + 83)) / _LAYER_M
    phase += 0.35 * gradient_noise(x / 90.0, y / 90.0, seed + 85)
    part = phase - np.floor(phase)
    riser = smoothstep(0.55, 1.0, part)
    return z + _LAYER_M * 0.85 * (riser - part)


@compiled
def _mesas(d: float, x: float, y: float, seed: int) -> float:
    """Table mountains on the plateau, only well away from the canyon."""
    if d < 520.0:
        return 0.0
    field = fractal_noise(x / 1500.0, y / 1500.0, 4, seed + 91) * smoothstep(520.0, 1400.0, d)
    field += 0.03 * fractal_noise(x / 120.0, y / 120.0, 3, seed + 95)
    steps = 75.0 * smoothstep(0.115, 0.124, field) + 60.0 * smoothstep(0.19, 0.197, field)
    return steps + 60.0 * smoothstep(-0.05, 0.115, field) * smoothstep(520.0, 1400.0, d)


@compiled
def canyon_point(x: float, y: float, river: np.ndarray, sites: np.ndarray, seed: int) -> tuple[float, float]:
    """Height [m] and looseness 0..1 of the uneroded canyon at (x, y) [m]."""
    seed = seed * _SEED_STRIDE
    signed = river_distance(x, y, river)
    side = 1.0 if signed > 0.0 else -1.0
    d = abs(signed)
    away = smoothstep(16.0, 58.0, d)
    bent = _bent_distance(d, x, y, side, seed)
    back = _clearing(x, y, sites)
    if bent > 30.0:
        bent = max(bent - back, min(bent, 30.0))
    z = _level(bent) + _tiers(bent, x, y, side, seed)
    rough = fractal_noise(x / 22.0, y / 22.0, 4, seed + 23)
    if z > 9.0:
        z += smoothstep(9.0, 16.0, z) * smoothstep(190.0, 165.0, z) * (_ledges(z, x, y, seed) - z)
    z += rough * (0.8 + 2.2 * away) + _mesas(d, x, y, seed)
    loose = smoothstep(5.0, 2.0, z) * smoothstep(60.0, 30.0, bent)
    # scree cones lean on the lower cliff and on the bench above it
    for k in range(2):
        foot = _TIERS[k, 0]
        if d < 19.0 or bent > foot + 9.0:
            continue
        crest = (28.0 if k == 0 else 88.0) + 24.0 * fractal_noise(x / 52.0, y / 52.0, 3, seed + 77 + k)
        scree = crest - 0.67 * max(foot - bent, -7.0)
        if scree > z and (k == 0 or bent > _TIERS[0, 0] + 8.0):
            loose = max(loose, min(0.5 * (scree - z), 1.0))
            runnel = ridge_noise(x / 17.0, y / 17.0, 2.0, seed + 97)
            z = scree + 1.1 * fractal_noise(x / 7.0, y / 7.0, 3, seed + 93) - 1.8 * runnel * runnel
    return z, loose


@compiled
def canyon_rows(
    first: int,
    end: int,
    xs: np.ndarray,
    ys: np.ndarray,
    river: np.ndarray,
    sites: np.ndarray,
    seed: int,
    heights: np.ndarray,
    loose: np.ndarray,
) -> None:
    """Fill rows first..end of heights and loose, both (len(ys), len(xs))."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            heights[j, i], loose[j, i] = canyon_point(xs[i], ys[j], river, sites, seed)
