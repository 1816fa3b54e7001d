"""What stands in the way in a world, seen from above: boxes and discs that stay, and cones that do not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.world import World
from sim.world.boulders import LOW_M, boulder_discs
from sim.world.props import Block, Parked

_LOW_M = 0.12
"""What is lower is driven over, as kerbs are."""
_HEADROOM_M = 2.0
"""What begins higher is driven under."""
_DRAFT_M, _FREEBOARD_M = 0.3, 0.8
"""What ends deeper under the water's surface is sailed over, what begins higher above it is sailed under."""


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """In the plane of the vehicles."""

    boxes: np.ndarray
    """(n, 5) centre x, y, half length, half width [m], heading [rad]."""
    discs: np.ndarray
    """(m, 3) centre x, y, radius [m]."""
    cones: np.ndarray
    """(k, 2) where cones stand at first [m]."""

    def __bool__(self) -> bool:
        return bool(len(self.boxes) + len(self.discs) + len(self.cones))


def solids_of(world: World) -> Solids:
    """Boulders, and the walls, blocks and parked vehicles of the world's grounds where some are laid out."""
    discs, grounds = boulder_discs(world, higher_than_m=LOW_M)[:, :3], world.grounds
    if grounds is None:
        return Solids(np.zeros((0, 5)), discs, np.zeros((0, 2)))
    blocks = [*grounds.blocks, *(wall for tunnel in grounds.tunnels for wall in tunnel.walls)]
    standing = [block for block in blocks if block.height_m > _LOW_M and block.base_m < _HEADROOM_M]
    parked = [p for p in grounds.parked if p.position_w[2] < _HEADROOM_M]
    laid_out = _solids(standing, parked, np.array(grounds.cones, float))
    return replace(laid_out, discs=np.concatenate([laid_out.discs, discs]))


def solids_afloat(world: World) -> Solids:
    """Quays, pontoons, piles, buoys and moored boats: what reaches through the water's surface; nothing without any."""
    grounds, level_m = world.grounds, world.water_level_m
    if grounds is None or level_m is None:
        return Solids(np.zeros((0, 5)), np.zeros((0, 3)), np.zeros((0, 2)))
    through = [
        block
        for block in grounds.blocks
        if block.base_m < level_m + _FREEBOARD_M and block.height_m > level_m - _DRAFT_M
    ]
    moored = [p for p in grounds.parked if -_DRAFT_M < p.position_w[2] - level_m < _FREEBOARD_M]
    return _solids(through, moored, np.zeros((0, 2)))


def rounded(solids: Solids) -> np.ndarray:
    """(n, 6) of all that stays as boxes with a rounding [m]: discs are boxes of no size."""
    boxes = np.pad(solids.boxes, ((0, 0), (0, 1)))
    discs = np.zeros((len(solids.discs), 6))
    discs[:, :2], discs[:, 5] = solids.discs[:, :2], solids.discs[:, 2]
    return np.concatenate([boxes, discs])


def _solids(blocks: Sequence[Block], parked: Sequence[Parked], cones: np.ndarray) -> Solids:
    boxes = [(*block.centre_m, *block.half_m, block.heading_rad) for block in blocks]
    boxes += [(*p.position_w[:2], *p.half_m, p.heading_rad) for p in parked if not p.round]
    discs = [(*p.position_w[:2], p.half_m[0]) for p in parked if p.round]
    return Solids(np.array(boxes, float).reshape(-1, 5), np.array(discs, float).reshape(-1, 3), cones)
