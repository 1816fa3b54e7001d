"""What stands in the way in a world, seen from above: boxes and discs that stay, and cones that do not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.world import World
from sim.world.grounds import Block, Parked

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
    """Walls, blocks and parked vehicles of the world's grounds; nothing where none are laid out."""
    grounds = world.grounds
    if grounds is None:
        return Solids(np.zeros((0, 5)), np.zeros((0, 3)), np.zeros((0, 2)))
    blocks = [*grounds.blocks, *(wall for tunnel in grounds.tunnels for wall in tunnel.walls)]
    standing = [block for block in blocks if block.height_m > _LOW_M and block.base_m < _HEADROOM_M]
    parked = [p for p in grounds.parked if p.position_w[2] < _HEADROOM_M]
    return _solids(standing, parked, np.array(grounds.cones, float))


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


def _solids(blocks: Sequence[Block], parked: Sequence[Parked], cones: np.ndarray) -> Solids:
    boxes = [(*block.centre_m, *block.half_m, block.heading_rad) for block in blocks]
    boxes += [(*p.position_w[:2], *p.half_m, p.heading_rad) for p in parked if not p.round]
    discs = [(*p.position_w[:2], p.half_m[0]) for p in parked if p.round]
    return Solids(np.array(boxes, float).reshape(-1, 5), np.array(discs, float).reshape(-1, 3), cones)
