"""The skate plaza: concrete slabs with ledges, low walls, benches and planters round an open middle."""

import numpy as np

from sim.world.grounds.props import Block, Grounds, Mark, Paving

HALF_M = (60.0, 44.0)
_SLAB_HALF_M = (30.0, 20.0)
OPEN_RADIUS_M = 9.0
"""Nothing stands within this distance of the middle."""


def _bench(x: float, y: float, heading_rad: float) -> tuple[Block, ...]:
    """A plank on two feet."""
    c, s = np.cos(heading_rad), np.sin(heading_rad)
    feet = tuple(
        Block((x + d * c, y + d * s), (0.12, 0.22), 0.40, heading_rad, "concrete") for d in (-0.75, 0.75)
    )
    return (*feet, Block((x, y), (1.1, 0.26), 0.48, heading_rad, "wood", 0.40))


def _planter(x: float, y: float, half_m: tuple[float, float]) -> tuple[Block, ...]:
    """A trough of earth."""
    inner = (half_m[0] - 0.16, half_m[1] - 0.16)
    return Block((x, y), half_m, 0.55), Block((x, y), inner, 0.58, 0.0, "soil")


def _ledge(x: float, y: float, half_m: tuple[float, float], height_m: float) -> tuple[Block, ...]:
    """A block with a steel edge to grind along."""
    edge = Block(
        (x, y - half_m[1] + 0.03), (half_m[0], 0.035), height_m + 0.012, 0.0, "steel", height_m - 0.06
    )
    return Block((x, y), half_m, height_m), edge


def plaza_grounds() -> Grounds:
    """The plaza; its middle is free to ride."""
    hx, hy = _SLAB_HALF_M
    walls = (
        Block((0.0, hy - 0.4), (hx, 0.4), 0.9),
        Block((-hx + 0.4, 4.0), (0.4, hy - 5.0), 0.55),
        Block((hx - 0.4, -6.0), (0.4, hy - 10.0), 0.55),
    )
    blocks = (
        *walls,
        *_ledge(12.0, 6.0, (3.2, 0.5), 0.42),
        *_ledge(-13.0, -7.0, (4.0, 0.6), 0.32),
        *_ledge(15.0, -9.0, (2.4, 0.9), 0.25),
        Block((-14.0, 7.5), (2.6, 1.6), 0.18),
        Block((-14.0, 8.1), (2.6, 1.0), 0.36),
        *(block for x in (-6.0, 0.0, 6.0) for block in _bench(x, hy - 2.2, 0.0)),
        *(block for y in (-3.0, 3.0) for block in _bench(hx - 3.0, y, 0.5 * np.pi)),
        *(block for x in (-20.0, -9.0, 9.0, 20.0) for block in _planter(x, hy - 5.0, (2.0, 0.9))),
        *_planter(-22.0, -13.0, (1.4, 1.4)),
        *_planter(23.0, -14.0, (1.4, 1.4)),
        # A rail on two posts.
        Block((3.0, -11.0), (2.6, 0.03), 0.42, 0.0, "steel", 0.36),
        Block((1.0, -11.0), (0.03, 0.03), 0.38, 0.0, "steel"),
        Block((5.0, -11.0), (0.03, 0.03), 0.38, 0.0, "steel"),
    )
    turn = np.linspace(0.0, 2.0 * np.pi, 97)
    ring = OPEN_RADIUS_M * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return Grounds(
        half_m=HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(np.array([(-hx, 0.0), (hx, 0.0)]), hy, "slabs"),),
        marks=(Mark(ring, 0.10, "white"),),
        blocks=blocks,
    )
