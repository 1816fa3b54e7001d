"""Boulders and bushes as a camera meets them: it rises over what it comes near."""

import numpy as np

from render.geometry.vegetation import place_shrubs, shrub_mesh
from sim.world import World
from sim.world.boulders import boulder_discs

NEAR_M = 2.5
"""From the edge of a thing over which the eye rises to it."""
OVER_M = 0.4
"""Above its top."""


class Bumps:
    """Things on the ground, seen from above as discs."""

    def __init__(self, discs: np.ndarray) -> None:
        """discs (k, 4): x, y, radius, z of the top [m]."""
        self._discs = discs[np.argsort(discs[:, 0])]
        self._widest_m = float(discs[:, 2].max(initial=0.0))

    def floor_z(self, eye_w: np.ndarray) -> float:
        """Least z [m] of an eye over this place; it comes and goes without a jump. -inf where nothing is near."""
        reach_m = self._widest_m + NEAR_M
        first, last = np.searchsorted(self._discs[:, 0], (eye_w[0] - reach_m, eye_w[0] + reach_m))
        strip = self._discs[first:last]
        found = strip[np.abs(strip[:, 1] - eye_w[1]) <= reach_m]
        if not len(found):
            return -np.inf
        off = np.hypot(*(found[:, :2] - eye_w[:2]).T) - found[:, 2]
        share = np.clip(1.0 - off / NEAR_M, 0.0, 1.0)
        eased = share * share * (3.0 - 2.0 * share)
        lift = eased * (found[:, 3] + OVER_M - eye_w[2])
        return float(eye_w[2] + lift.max(initial=0.0))


def bumps_of(world: World) -> Bumps | None:
    """What lies and grows in a world; None where the ground is bare."""
    if world.layers is None:
        return None
    shrubs = place_shrubs(world).instances[:, :4].astype(float)
    points = shrub_mesh(quads=10).vertices[:, :3]
    radius, top = float(np.median(np.hypot(points[:, 0], points[:, 1]))), float(points[:, 2].max())
    size = shrubs[:, 3]
    grown = np.column_stack([shrubs[:, :2], radius * size, shrubs[:, 2] + top * size])
    return Bumps(np.concatenate([boulder_discs(world), grown]))
