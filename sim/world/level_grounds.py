"""Level grounds in the desert: the driving ground, a skate plaza, a street, a harbour and an underpass.

The driving ground has a lap between cones with kerbs and guard rails in its bends, a tunnel, and a parking bay.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sim.platform.cache import cached_arrays, package_digest
from sim.world.path import arc_length
from sim.world.props import (
    Bay,
    Block,
    Grounds,
    Kerb,
    Lake,
    Mark,
    Parked,
    Paving,
    Tunnel,
    offset,
    resampled,
)

_DIGEST = package_digest(__file__, ("level_grounds", "props"))
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
_RAIL_AWAY_M, _RAIL_PIECE_M, _RAIL_LEAST_M = 1.2, 4.0, 12.0
"""Guard rails stand so far from the asphalt, in pieces so long, where a bend is at least so long."""
_BAYS = 9
_BAY_HALF_M = (2.6, 1.35)
_BAY_ROW_M = (-4.0, -14.5)
_LINK_WEST_M = 9.0
"""Of the middle of the bays, clear of the tunnel's walls: where one drives from them to the lap."""


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


def _guard_rails(line: np.ndarray) -> Iterator[Block]:
    """Of steel on posts, in straight pieces beyond the outer edge of every long bend."""
    bend, s = curvature(line), arc_length(line)
    for side in (1.0, -1.0):
        edge = offset(line, side * (ROAD_HALF_M + _RAIL_AWAY_M))
        outside = np.flatnonzero(-side * bend > _TIGHT_1PM)
        for run in np.split(outside, np.flatnonzero(np.diff(outside) > 1) + 1):
            if s[run[-1]] - s[run[0]] < _RAIL_LEAST_M:
                continue
            along = arc_length(edge[run[0] : run[-1] + 1])
            pieces = max(round(along[-1] / _RAIL_PIECE_M), 1)
            ends = resampled(edge[run[0] : run[-1] + 1], np.linspace(0.0, along[-1], pieces + 1))
            for first, last in pairwise(ends):
                (x, y), (dx, dy) = 0.5 * (first + last), last - first
                heading = float(np.arctan2(dy, dx))
                half = 0.5 * float(np.hypot(dx, dy)) + 0.02
                yield Block((x, y), (half, 0.04), 0.74, heading, "steel", 0.44)
                post = first + side * 0.09 * np.array([-np.sin(heading), np.cos(heading)])
                yield Block((post[0], post[1]), (0.06, 0.05), 0.70, heading, "steel")


def _tunnel_lamps(tunnel: Tunnel) -> tuple[Block, ...]:
    """Two rows along the springing of the vault of a tunnel along x."""
    (x, y), top = tunnel.centre_m, tunnel.spring_m + 1.3
    reach, aside = 0.5 * tunnel.length_m - 3.0, tunnel.half_width_m - 0.55
    return tuple(
        Block((x + along, y + side * aside), (0.7, 0.09), top, 0.0, "lamp", top - 0.07)
        for along in np.linspace(-reach, reach, round(2.0 * reach / 5.75) + 1)
        for side in (-1.0, 1.0)
    )


def driving_grounds() -> Grounds:
    """The driving ground; the start line is the first point of the lap."""
    line, bays = lap_line(), _bays()
    x0, y = _BAY_ROW_M
    apron = np.array([(x0 - 16.0, y - 2.0), (x0 + 16.0, y - 2.0)])
    link = np.array([(x0 - _LINK_WEST_M, y - 4.0), (x0 - _LINK_WEST_M, line[0, 1] + ROAD_HALF_M - 0.4)])
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
        blocks=(*barrier, *_guard_rails(line), *_tunnel_lamps(_TUNNEL)),
        tunnels=(_TUNNEL,),
        bays=bays,
        cones=_cones(line),
    )


PLAZA_HALF_M = (60.0, 44.0)
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
        half_m=PLAZA_HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(np.array([(-hx, 0.0), (hx, 0.0)]), hy, "slabs"),),
        marks=(Mark(ring, 0.10, "white"),),
        blocks=blocks,
    )


STREET_HALF_M = (96.0, 62.0)
_STREET_HALF_LENGTH_M = 74.0
_STREET_Y = 0.9
"""Of the carriageway; the right kerb is where the task of parking has it."""
_STREET_HALF_WIDTH_M = 4.9
_PAVEMENT_M = 2.4
_KERB_TOP_M = 0.14
_STREET_GAP_M = (-12.0, 8.0)
"""Along the right kerb nothing else is parked: the task has its own cars there."""


def _pavement(side: float) -> tuple[Block, ...]:
    """Kerb stones, and a raised strip of slabs behind them."""
    edge = _STREET_Y + side * _STREET_HALF_WIDTH_M
    kerb = Block((0.0, edge + side * 0.09), (_STREET_HALF_LENGTH_M, 0.09), _KERB_TOP_M)
    slab = Block(
        (0.0, edge + side * (0.18 + 0.5 * _PAVEMENT_M)),
        (_STREET_HALF_LENGTH_M, 0.5 * _PAVEMENT_M),
        _KERB_TOP_M - 0.01,
        0.0,
        "slabs",
    )
    wall_y = edge + side * (0.18 + _PAVEMENT_M + 0.15)
    wall = Block((0.0, wall_y), (_STREET_HALF_LENGTH_M, 0.15), 0.9)
    lamps = (part for x in np.arange(-54.0, 55.0, 18.0) for part in _lamp(x, edge + side * 0.6, side))
    return kerb, slab, wall, *lamps


def _lamp(x: float, y: float, side: float) -> tuple[Block, ...]:
    """A post with an arm over the road."""
    return (
        Block((x, y), (0.06, 0.06), 5.2, 0.0, "steel"),
        Block((x, y - side * 0.7), (0.05, 0.75), 5.25, 0.0, "steel", 5.14),
        Block((x, y - side * 1.35), (0.12, 0.3), 5.14, 0.0, "lamp", 5.06),
    )


def _street_marks() -> list[Mark]:
    dashes = [
        Mark(np.array([(at, _STREET_Y + 0.5), (at + 2.6, _STREET_Y + 0.5)]), 0.12, "white")
        for at in np.arange(-_STREET_HALF_LENGTH_M + 2.0, _STREET_HALF_LENGTH_M - 4.0, 7.0)
    ]
    bays = [
        Mark(
            np.array(
                [(-_STREET_HALF_LENGTH_M, _STREET_Y + s * 2.6), (_STREET_HALF_LENGTH_M, _STREET_Y + s * 2.6)]
            ),
            0.10,
            "white",
        )
        for s in (-1.0, 1.0)
    ]
    return [*dashes, *bays]


def _street_cars() -> tuple[Parked, ...]:
    """Cars along both kerbs, with gaps."""
    rng = np.random.default_rng(11)
    cars = []
    for side in (-1.0, 1.0):
        for at in np.arange(-60.0, 61.0, 6.6):
            x = at + rng.uniform(-0.5, 0.5)
            free = side < 0.0 and _STREET_GAP_M[0] - 3.0 < x < _STREET_GAP_M[1] + 3.0
            if free or rng.uniform() < 0.3:
                continue
            y = _STREET_Y + side * (_STREET_HALF_WIDTH_M - 1.2) + rng.uniform(-0.08, 0.08)
            heading = (0.0 if side < 0.0 else np.pi) + rng.uniform(-0.03, 0.03)
            paint = _STREET_PAINTS[rng.integers(len(_STREET_PAINTS))]
            body = ("saloon", "estate", "saloon", "van")[rng.integers(4)]
            cars.append(Parked(body, (x, y, 0.0), heading, paint))
    return tuple(cars)


_STREET_PAINTS = (
    (0.42, 0.43, 0.44),
    (0.55, 0.54, 0.51),
    (0.03, 0.07, 0.16),
    (0.30, 0.02, 0.02),
    (0.02, 0.022, 0.025),
    (0.05, 0.12, 0.09),
)


def street_grounds() -> Grounds:
    """The street along x."""
    way = np.array([(-_STREET_HALF_LENGTH_M, _STREET_Y), (_STREET_HALF_LENGTH_M, _STREET_Y)])
    return Grounds(
        half_m=STREET_HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(way, _STREET_HALF_WIDTH_M + 0.4, "asphalt"),),
        marks=tuple(_street_marks()),
        blocks=(*_pavement(-1.0), *_pavement(1.0)),
        parked=_street_cars(),
    )


HARBOUR_HALF_M = (104.0, 76.0)
_HARBOUR = Lake((14.0, -2.0), (64.0, 46.0), level_m=-0.9, depth_m=4.2, shore_m=24.0)
_HARBOUR_BED_M = -4.0
_MOLE_X, _MOLE_Y, _MOLE_HALF = -5.0, 26.0, (57.0, 3.2)
_FINGERS_X = (24.6, 33.4, 42.2)
_FINGER_HALF = (0.8, 9.4)
_DECK_M = _HARBOUR.level_m + 0.45
_BUOY_M = 0.98


def _mole() -> tuple[Block, ...]:
    """A concrete pier with a parapet on its far side and bollards along the near one."""
    x, half = _MOLE_X, _MOLE_HALF
    parapet = Block((x, _MOLE_Y + half[1] - 0.25), (half[0], 0.25), 1.0)
    bollards = (
        Block((at, _MOLE_Y - half[1] + 0.5), (0.14, 0.14), 0.42, 0.0, "steel")
        for at in np.arange(x - half[0] + 3.0, x + half[0], 6.0)
    )
    return Block((x, _MOLE_Y), half, 0.05, base_m=_HARBOUR_BED_M), parapet, *bollards


def _finger(x: float) -> tuple[Block, ...]:
    """A floating pontoon from the mole, between piles."""
    y = _MOLE_Y - _MOLE_HALF[1] - _FINGER_HALF[1]
    deck = Block((x, y), _FINGER_HALF, _DECK_M, 0.0, "wood", _HARBOUR.level_m - 0.4)
    piles = (
        Block(
            (x + side * (_FINGER_HALF[0] + 0.16), y + along),
            (0.15, 0.15),
            1.1,
            0.3,
            "wood",
            base_m=_HARBOUR_BED_M,
        )
        for side in (-1.0, 1.0)
        for along in (-8.6, 0.0, 8.2)
    )
    return deck, *piles


def _buoys() -> tuple[Parked, ...]:
    """Of the fairway along the south and east, with the lake's level at their waterline."""
    places = ((26.0, -24.0), (44.0, -20.0), (44.0, -8.0))
    return tuple(
        Parked("buoy", (x, y, _HARBOUR.level_m), 0.0, half_m=(_BUOY_M, _BUOY_M), round=True)
        for x, y in places
    )


def _moored() -> tuple[Parked, ...]:
    """At the pontoons whose berths are taken, bows to the mole and to the open water."""
    level, half = _HARBOUR.level_m, 0.5 * np.pi
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
        half_m=HARBOUR_HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(road, 3.0, "asphalt"),),
        marks=(Mark(np.array([(-95.0, _MOLE_Y), (-62.5, _MOLE_Y)]), 0.12, "white"),),
        blocks=(*_mole(), *fingers, Block((_MOLE_X, edge), (_MOLE_HALF[0], 0.12), 0.16, 0.0, "wood", 0.05)),
        parked=(*_moored(), *_buoys()),
        lake=_HARBOUR,
    )


UNDERPASS_HALF_M = (120.0, 60.0)
_UNDERPASS_Y = 0.5
"""Of the road: half way between the limits of the task that is set here."""
_UNDERPASS = Tunnel((21.0, _UNDERPASS_Y), 0.0, 52.0, 4.9, 2.4, cutaway=True)
_UNDERPASS_HALF_WIDTH_M = 4.5
_UNDERPASS_HALF_LENGTH_M = 96.0


def _walks() -> tuple[Block, ...]:
    """A low walk along each wall, in pieces."""
    first = _UNDERPASS.centre_m[0] - 0.5 * _UNDERPASS.length_m + 1.0
    return tuple(
        Block((x, _UNDERPASS_Y + side * (_UNDERPASS.half_width_m - 0.15)), (1.0, 0.18), 0.16)
        for x in np.arange(first, first + _UNDERPASS.length_m - 1.0, 2.0)
        for side in (-1.0, 1.0)
    )


def _underpass_line(aside_m: float) -> np.ndarray:
    """(n, 2) m, a point every metre: light and shade are kept there."""
    x = np.arange(-_UNDERPASS_HALF_LENGTH_M, _UNDERPASS_HALF_LENGTH_M + 0.5)
    return np.column_stack([x, np.full(len(x), _UNDERPASS_Y + aside_m)])


def _underpass_marks() -> tuple[Mark, ...]:
    edges = (
        Mark(_underpass_line(side * (_UNDERPASS_HALF_WIDTH_M - 0.4)), 0.12, "white") for side in (-1.0, 1.0)
    )
    dashes = (
        Mark(np.array([(x, _UNDERPASS_Y), (x + 2.4, _UNDERPASS_Y)]), 0.12, "yellow")
        for x in np.arange(-_UNDERPASS_HALF_LENGTH_M + 2.0, _UNDERPASS_HALF_LENGTH_M - 4.0, 6.0)
    )
    return (*edges, *dashes)


def underpass_grounds() -> Grounds:
    """The road along x with its tunnel."""
    return Grounds(
        half_m=UNDERPASS_HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(_underpass_line(0.0), _UNDERPASS_HALF_WIDTH_M + 0.5, "asphalt"),),
        marks=_underpass_marks(),
        blocks=(*_walks(), *_tunnel_lamps(_UNDERPASS)),
        tunnels=(_UNDERPASS,),
    )
