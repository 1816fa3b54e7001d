"""What stands on a world's ground, seen from above: boxes and discs that stay, and cones that do not."""

from dataclasses import dataclass

import numpy as np

from sim.world import World
from sim.world.grounds import Block

_LOW_M = 0.12
"""What is lower is driven over, as kerbs are."""
_HEADROOM_M = 2.0
"""What begins higher is driven under."""


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
    boxes = [_row(block) for block in blocks if block.height_m > _LOW_M and block.base_m < _HEADROOM_M]
    boxes += [
        (p.position_w[0], p.position_w[1], *p.half_m, p.heading_rad)
        for p in grounds.parked
        if p.position_w[2] < _HEADROOM_M
    ]
    return Solids(np.array(boxes, float).reshape(-1, 5), np.zeros((0, 3)), np.array(grounds.cones, float))


def _row(block: Block) -> tuple[float, ...]:
    return (*block.centre_m, *block.half_m, block.heading_rad)
