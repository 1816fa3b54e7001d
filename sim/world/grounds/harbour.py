"""The harbour: a lake in the desert with a mole, pontoons, boats made fast to them, and buoys."""

import numpy as np

from sim.world.grounds.lake import Lake
from sim.world.grounds.props import Block, Grounds, Mark, Parked, Paving

HALF_M = (104.0, 76.0)
_LAKE = Lake((14.0, -2.0), (64.0, 46.0), level_m=-0.9, depth_m=4.2, shore_m=24.0)
_BED_M = -4.0
_MOLE_X, _MOLE_Y, _MOLE_HALF = -5.0, 26.0, (57.0, 3.2)
_FINGERS_X = (24.6, 33.4, 42.2)
_FINGER_HALF = (0.8, 9.4)
_DECK_M = _LAKE.level_m + 0.45
_BUOY_M = 0.98


def _mole() -> tuple[Block, ...]:
    """A concrete pier with a parapet on its far side and bollards along the near one."""
    x, half = _MOLE_X, _MOLE_HALF
    parapet = Block((x, _MOLE_Y + half[1] - 0.25), (half[0], 0.25), 1.0)
    bollards = (
        Block((at, _MOLE_Y - half[1] + 0.5), (0.14, 0.14), 0.42, 0.0, "steel")
        for at in np.arange(x - half[0] + 3.0, x + half[0], 6.0)
    )
    return Block((x, _MOLE_Y), half, 0.05, base_m=_BED_M), parapet, *bollards


def _finger(x: float) -> tuple[Block, ...]:
    """A floating pontoon from the mole, between piles."""
    y = _MOLE_Y - _MOLE_HALF[1] - _FINGER_HALF[1]
    deck = Block((x, y), _FINGER_HALF, _DECK_M, 0.0, "wood", _LAKE.level_m - 0.4)
    piles = (
        Block((x + side * (_FINGER_HALF[0] + 0.16), y + along), (0.15, 0.15), 1.1, 0.3, "wood", base_m=_BED_M)
        for side in (-1.0, 1.0)
        for along in (-8.6, 0.0, 8.2)
    )
    return deck, *piles


def _buoys() -> tuple[Parked, ...]:
    """Of the fairway along the south and east, with the lake's level at their waterline."""
    places = ((26.0, -24.0), (44.0, -20.0), (44.0, -8.0))
    return tuple(
        Parked("buoy", (x, y, _LAKE.level_m), 0.0, half_m=(_BUOY_M, _BUOY_M), round=True) for x, y in places
    )


def _moored() -> tuple[Parked, ...]:
    """At the pontoons whose berths are taken, bows to the mole and to the open water."""
    level, half = _LAKE.level_m, 0.5 * np.pi
    places = (
        (31.6, 11.0, half),
        (35.2, 16.2, half),
        (40.4, 9.5, -half),
        (26.5, 18.5, half),
        (44.0, 12.0, half),
    )
    return tuple(Parked("skiff", (x, y, level), heading, half_m=(1.75, 0.85)) for x, y, heading in places)


def harbour_grounds() -> Grounds:
    """The harbour; the water south of the pontoons is free."""
    road = np.array([(-96.0, _MOLE_Y), (-61.5, _MOLE_Y)])
    fingers = (block for x in _FINGERS_X for block in _finger(x))
    edge = _MOLE_Y - _MOLE_HALF[1] + 0.25
    return Grounds(
        half_m=HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(road, 3.0, "asphalt"),),
        marks=(Mark(np.array([(-95.0, _MOLE_Y), (-62.5, _MOLE_Y)]), 0.12, "white"),),
        blocks=(*_mole(), *fingers, Block((_MOLE_X, edge), (_MOLE_HALF[0], 0.12), 0.16, 0.0, "wood", 0.05)),
        parked=(*_moored(), *_buoys()),
        lake=_LAKE,
    )
