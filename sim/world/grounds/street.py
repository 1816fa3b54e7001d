"""The street: two lanes between kerbs and pavements, with cars parked along both sides."""

import numpy as np

from sim.world.grounds.props import Block, Grounds, Mark, Parked, Paving

HALF_M = (96.0, 62.0)
_LENGTH_M = 74.0
_MIDDLE_Y = 0.9
"""Of the carriageway; the right kerb is where the task of parking has it."""
_KERB_HALF_M = 4.9
_PAVEMENT_M = 2.4
_KERB_TOP_M = 0.14
_GAP_M = (-12.0, 8.0)
"""Along the right kerb nothing else is parked: the task has its own cars there."""


def _pavement(side: float) -> tuple[Block, ...]:
    """Kerb stones, and a raised strip of slabs behind them."""
    edge = _MIDDLE_Y + side * _KERB_HALF_M
    kerb = Block((0.0, edge + side * 0.09), (_LENGTH_M, 0.09), _KERB_TOP_M)
    slab = Block(
        (0.0, edge + side * (0.18 + 0.5 * _PAVEMENT_M)),
        (_LENGTH_M, 0.5 * _PAVEMENT_M),
        _KERB_TOP_M - 0.01,
        0.0,
        "slabs",
    )
    wall_y = edge + side * (0.18 + _PAVEMENT_M + 0.15)
    wall = Block((0.0, wall_y), (_LENGTH_M, 0.15), 0.9)
    lamps = (part for x in np.arange(-54.0, 55.0, 18.0) for part in _lamp(x, edge + side * 0.6, side))
    return kerb, slab, wall, *lamps


def _lamp(x: float, y: float, side: float) -> tuple[Block, ...]:
    """A post with an arm over the road."""
    return (
        Block((x, y), (0.06, 0.06), 5.2, 0.0, "steel"),
        Block((x, y - side * 0.7), (0.05, 0.75), 5.25, 0.0, "steel", 5.14),
        Block((x, y - side * 1.35), (0.12, 0.3), 5.14, 0.0, "lamp", 5.06),
    )


def _marks() -> list[Mark]:
    dashes = [
        Mark(np.array([(at, _MIDDLE_Y + 0.5), (at + 2.6, _MIDDLE_Y + 0.5)]), 0.12, "white")
        for at in np.arange(-_LENGTH_M + 2.0, _LENGTH_M - 4.0, 7.0)
    ]
    bays = [
        Mark(np.array([(-_LENGTH_M, _MIDDLE_Y + s * 2.6), (_LENGTH_M, _MIDDLE_Y + s * 2.6)]), 0.10, "white")
        for s in (-1.0, 1.0)
    ]
    return [*dashes, *bays]


def _parked() -> tuple[Parked, ...]:
    """Cars along both kerbs, with gaps."""
    rng = np.random.default_rng(11)
    cars = []
    for side in (-1.0, 1.0):
        for at in np.arange(-60.0, 61.0, 6.6):
            x = at + rng.uniform(-0.5, 0.5)
            free = side < 0.0 and _GAP_M[0] - 3.0 < x < _GAP_M[1] + 3.0
            if free or rng.uniform() < 0.3:
                continue
            y = _MIDDLE_Y + side * (_KERB_HALF_M - 1.2) + rng.uniform(-0.08, 0.08)
            heading = (0.0 if side < 0.0 else np.pi) + rng.uniform(-0.03, 0.03)
            cars.append(Parked("saloon", (x, y, 0.0), heading, _PAINTS[rng.integers(len(_PAINTS))]))
    return tuple(cars)


_PAINTS = (
    (0.42, 0.43, 0.44),
    (0.55, 0.54, 0.51),
    (0.03, 0.07, 0.16),
    (0.30, 0.02, 0.02),
    (0.02, 0.022, 0.025),
    (0.05, 0.12, 0.09),
)


def street_grounds() -> Grounds:
    """The street along x."""
    way = np.array([(-_LENGTH_M, _MIDDLE_Y), (_LENGTH_M, _MIDDLE_Y)])
    return Grounds(
        half_m=HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(way, _KERB_HALF_M + 0.4, "asphalt"),),
        marks=tuple(_marks()),
        blocks=(*_pavement(-1.0), *_pavement(1.0)),
        parked=_parked(),
    )
