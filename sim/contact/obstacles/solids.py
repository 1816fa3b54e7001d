"""What stands in the way in a world, seen from above: boxes and discs that stay, and cones that do not."""

from dataclasses import dataclass, field

import numpy as np

from sim.shapes import footprints
from sim.world import World
from sim.world.boulders import LOW_M, boulder_discs

_LOW_M = 0.12
"""What is lower is driven over, as kerbs are."""
_HEADROOM_M = 2.0
"""What begins higher is driven under."""
_DRAFT_M, _FREEBOARD_M = 0.3, 0.8
"""What ends deeper under the water's surface is sailed over, what begins higher above it is sailed under."""


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """In the plane of the vehicles."""

    standing: np.ndarray
    """(n, 6) footprints of shapes that stay: centre x, y, half length, half width [m], heading [rad], rounding [m]."""
    cones: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(k, 2) where cones stand at first [m]."""

    def __bool__(self) -> bool:
        return bool(len(self.standing) + len(self.cones))


def solids_of(world: World) -> Solids:
    """Boulders, and the walls, blocks and parked vehicles of the world's grounds where some are laid out."""
    discs, grounds = boulder_discs(world, higher_than_m=LOW_M), world.grounds
    boulders = np.zeros((len(discs), 6))
    boulders[:, :2], boulders[:, 5] = discs[:, :2], discs[:, 2]
    if grounds is None:
        return Solids(boulders)
    blocks = [*grounds.blocks, *(wall for tunnel in grounds.tunnels for wall in tunnel.walls)]
    standing = [block.shape for block in blocks if block.height_m > _LOW_M and block.base_m < _HEADROOM_M]
    parked = [p.shape for p in grounds.parked if p.position_w[2] < _HEADROOM_M]
    laid_out = footprints([*standing, *parked])
    return Solids(np.concatenate([laid_out, boulders]), np.array(grounds.cones, float))


def solids_afloat(world: World) -> Solids:
    """Quays, pontoons, piles, buoys and moored boats: what reaches through the water's surface; nothing without any."""
    grounds, level_m = world.grounds, world.water_level_m
    if grounds is None or level_m is None:
        return Solids(np.zeros((0, 6)))
    through = [
        block.shape
        for block in grounds.blocks
        if block.base_m < level_m + _FREEBOARD_M and block.height_m > level_m - _DRAFT_M
    ]
    moored = [p.shape for p in grounds.parked if -_DRAFT_M < p.position_w[2] - level_m < _FREEBOARD_M]
    return Solids(footprints([*through, *moored]))
