"""The driving ground: a lap between cones with kerbs in its bends, a tunnel, and a parking bay."""

import numpy as np

from sim.world.props import (
    Bay,
    Block,
    Grounds,
    Kerb,
    Mark,
    Paving,
    Tunnel,
    arc_length,
    offset,
    resampled,
)
from sim.world.store import cached_arrays, package_digest

_DIGEST = package_digest(__file__, ("driving", "props"))
HALF_M = (130.0, 76.0)
ROAD_HALF_M = 5.0
CONES_HALF_M = 3.3
_KNOTS = np.array(
    [
        (-34.0, -34.0),
        (0.0, -34.0),
        (36.0, -34.0),
        (70.0, -26.0),
        (82.0, 0.0),
        (64.0, 24.0),
        (34.0, 24.0),
        (8.0, 9.0),
        (-20.0, 10.0),
        (-42.0, 30.0),
        (-70.0, 26.0),
        (-82.0, 0.0),
        (-66.0, -27.0),
    ]
)
_TUNNEL = Tunnel((8.0, -34.0), 0.0, 26.0, 4.8, 2.6)
_TIGHT_1PM = 1.0 / 38.0
_BAYS = 9
_BAY_HALF_M = (2.6, 1.35)
_BAY_ROW_M = (-4.0, -14.5)


def lap_line() -> np.ndarray:
    """(n, 2) m, closed, every half metre; counter-clockwise from the start line at its first point."""
    return cached_arrays("worlds", f"lap-{_DIGEST}", lambda: {"line": _lap_line()})["line"]


def _lap_line() -> np.ndarray:
    from scipy.interpolate import CubicSpline  # takes a while, and the lap is kept

    knots = np.vstack([_KNOTS, _KNOTS[:1]])
    # The straight stays straight: knots along it hold the spline down.
    spline = CubicSpline(arc_length(knots), knots, bc_type="periodic")
    fine = spline(np.linspace(0.0, spline.x[-1], 4000))
    length = arc_length(fine)[-1]
    return resampled(fine, np.linspace(0.0, length, round(2.0 * length) + 1))


def curvature(line: np.ndarray) -> np.ndarray:
    """(n,) 1/m, positive to the left, of a closed polyline."""
    around = np.vstack([line[-4:-1], line, line[1:4]])
    step = np.gradient(around, axis=0)
    bend = np.gradient(step, axis=0)
    cross = step[:, 0] * bend[:, 1] - step[:, 1] * bend[:, 0]
    return (cross / np.linalg.norm(step, axis=1) ** 3)[3:-3]


def _cones(line: np.ndarray) -> np.ndarray:
    """Pairs on both sides of the way, closer together in the bends; none within the tunnel."""
    s, bend = arc_length(line), np.abs(curvature(line))
    places, at = [], 6.0
    while at < s[-1] - 3.0:
        places.append(at)
        at += 5.0 if np.interp(at, s, bend) > _TIGHT_1PM else 10.0
    sides = [resampled(offset(line, side * (CONES_HALF_M + 0.35)), np.zeros(0)) for side in (1.0, -1.0)]
    for k, side in enumerate((1.0, -1.0)):
        shifted = offset(line, side * (CONES_HALF_M + 0.35))
        index = np.searchsorted(s, places)
        sides[k] = shifted[index]
    cones = np.concatenate(sides)
    along = np.abs(cones[:, 0] - _TUNNEL.centre_m[0])
    under = (along < 0.5 * _TUNNEL.length_m + 1.0) & (cones[:, 1] < -25.0)
    return cones[~under]


def _kerbs(line: np.ndarray) -> tuple[Kerb, ...]:
    """On the inner edge of every bend."""
    bend = curvature(line)
    kerbs = []
    for side in (1.0, -1.0):
        inside = side * bend > _TIGHT_1PM
        starts = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
        ends = np.flatnonzero(~inside[1:] & inside[:-1]) + 1
        edge = offset(line, side * (ROAD_HALF_M - 0.2))
        for first in starts:
            after = ends[ends > first]
            if len(after) and after[0] - first > 12:
                kerbs.append(Kerb(edge[first : after[0]]))
    return tuple(kerbs)


def _bays() -> tuple[Bay, ...]:
    x0, y = _BAY_ROW_M
    width = 2.0 * _BAY_HALF_M[1]
    return tuple(Bay((x0 + (k - _BAYS // 2) * width, y), 0.5 * np.pi, _BAY_HALF_M) for k in range(_BAYS))


def _bay_marks(bays: tuple[Bay, ...]) -> list[Mark]:
    depth, half = _BAY_HALF_M
    y = bays[0].centre_m[1]
    xs = [bay.centre_m[0] - half for bay in bays] + [bays[-1].centre_m[0] + half]
    lines = [Mark(np.array([(x, y - depth), (x, y + depth)]), 0.12, "white") for x in xs]
    back = np.array([(xs[0], y + depth), (xs[-1], y + depth)])
    return [*lines, Mark(back, 0.12, "white")]


def _road_marks(line: np.ndarray) -> list[Mark]:
    edges = [Mark(offset(line, side * (ROAD_HALF_M - 0.55)), 0.14, "white") for side in (1.0, -1.0)]
    s = arc_length(line)
    dashes = [
        Mark(resampled(line, np.linspace(at, at + 2.4, 5)), 0.12, "yellow")
        for at in np.arange(1.0, s[-1] - 6.0, 7.0)
    ]
    x, y = line[0]
    start = [
        Mark(np.array([(x + d, y - ROAD_HALF_M + 0.6), (x + d, y + ROAD_HALF_M - 0.6)]), 0.35, "white")
        for d in (0.0, 0.8)
    ]
    return edges + dashes + start


def driving_grounds() -> Grounds:
    """The driving ground; the start line is the first point of the lap."""
    line, bays = lap_line(), _bays()
    x0, y = _BAY_ROW_M
    apron = np.array([(x0 - 16.0, y - 2.0), (x0 + 16.0, y - 2.0)])
    link = np.array([(x0, y - 4.0), (x0, y - 16.0)])
    barrier = [Block((x, y + 3.6), (1.9, 0.28), 0.85) for x in np.arange(x0 - 12.0, x0 + 12.1, 4.0)]
    return Grounds(
        half_m=HALF_M,
        lap=line,
        lap_half_width_m=CONES_HALF_M,
        paving=(
            Paving(line, ROAD_HALF_M, "asphalt"),
            Paving(apron, 6.0, "asphalt"),
            Paving(link, 4.0, "asphalt"),
        ),
        marks=(*_road_marks(line), *_bay_marks(bays)),
        kerbs=_kerbs(line),
        blocks=tuple(barrier),
        tunnels=(_TUNNEL,),
        bays=bays,
        cones=_cones(line),
    )
