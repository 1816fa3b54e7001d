"""The underpass: a road that runs straight through a long, lit tunnel."""

import numpy as np

from sim.world.grounds.props import Block, Grounds, Mark, Paving, Tunnel

HALF_M = (120.0, 60.0)
_MIDDLE_Y = 0.5
"""Of the road: half way between the limits of the task that is set here."""
_TUNNEL = Tunnel((21.0, _MIDDLE_Y), 0.0, 52.0, 4.9, 2.4, cutaway=True)
_ROAD_HALF_M = 4.5
_FAR_M = 96.0


def _lamps() -> tuple[Block, ...]:
    """Two rows along the springing of the vault."""
    first, last = (_TUNNEL.centre_m[0] + side * (0.5 * _TUNNEL.length_m - 3.0) for side in (-1.0, 1.0))
    top = _TUNNEL.spring_m + 1.3
    return tuple(
        Block(
            (x, _MIDDLE_Y + side * (_TUNNEL.half_width_m - 0.55)), (0.7, 0.09), top, 0.0, "lamp", top - 0.07
        )
        for x in np.arange(first, last + 0.1, 5.75)
        for side in (-1.0, 1.0)
    )


def _kerbs() -> tuple[Block, ...]:
    """A low walk along each wall, in pieces."""
    first = _TUNNEL.centre_m[0] - 0.5 * _TUNNEL.length_m + 1.0
    return tuple(
        Block((x, _MIDDLE_Y + side * (_TUNNEL.half_width_m - 0.15)), (1.0, 0.18), 0.16)
        for x in np.arange(first, first + _TUNNEL.length_m - 1.0, 2.0)
        for side in (-1.0, 1.0)
    )


def _along(aside_m: float) -> np.ndarray:
    """(n, 2) m, a point every metre: light and shade are kept there."""
    x = np.arange(-_FAR_M, _FAR_M + 0.5)
    return np.column_stack([x, np.full(len(x), _MIDDLE_Y + aside_m)])


def _marks() -> tuple[Mark, ...]:
    edges = (Mark(_along(side * (_ROAD_HALF_M - 0.4)), 0.12, "white") for side in (-1.0, 1.0))
    dashes = (
        Mark(np.array([(x, _MIDDLE_Y), (x + 2.4, _MIDDLE_Y)]), 0.12, "yellow")
        for x in np.arange(-_FAR_M + 2.0, _FAR_M - 4.0, 6.0)
    )
    return (*edges, *dashes)


def underpass_grounds() -> Grounds:
    """The road along x with its tunnel."""
    return Grounds(
        half_m=HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(_along(0.0), _ROAD_HALF_M + 0.5, "asphalt"),),
        marks=_marks(),
        blocks=(*_kerbs(), *_lamps()),
        tunnels=(_TUNNEL,),
    )
