"""The balls that stand for a vehicle in a plan: few that cover all that is drawn of it."""

import hashlib
import inspect
import logging
from functools import lru_cache
from itertools import islice
from pathlib import Path

import casadi as ca
import numpy as np

from sim.models import drawn_solids as drawing
from sim.models.asset import model_file
from sim.models.drawn_solids import directions, drawn_solids
from sim.native.function import native
from sim.planner.task.bodies import body_names, jointed, own_space, planar
from sim.planner.task.task import Ball
from sim.platform.cache import Arrays, cached_arrays, source_digest
from sim.platform.errors import InputError
from sim.platform.user_files import source_of
from sim.platform.values import dataclass
from sim.vehicle_config import VehicleConfig, config_of
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.homogeneous import ActionVehicle

_DIGEST = source_digest(__file__, drawing.__file__)
_log = logging.getLogger(__name__)
_MOST = 4
"""Balls of a body."""
_WORTH = 0.8
"""One more is taken where the room of all shrinks to this share, or by more."""
_CLOSE = 0.15
"""What discs may reach beyond what they cover, as a share of half its width: none more is taken then."""
_FINE = 0.1
"""Size of the pieces that are covered, each by one ball, as a share of the largest extent."""
_SLENDER = 0.05
"""Thickness over length of what counts as a rod or a cable."""
_ROUNDS = 8
_GRAIN_M = 1e-3
"""Balls are told in millimetres."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What stands for a vehicle in a plan."""

    balls: tuple[Ball, ...] = ((0.0, 0.0, 0.0, 0.0),)
    bodies: tuple[str, ...] = ()
    """Whose frame each ball is in, of what has several bodies."""
    around: Ball = (0.0, 0.0, 0.0, 0.0)
    """Around all that is drawn, in the main body's frame: what is kept over ground. Of several bodies, about the main
    one's origin, as far as any reaches from its own."""


def cover(vehicle: Vehicle) -> Cover:
    """Balls around all that is drawn of a vehicle, and the body whose frame each is in, as a Task takes them.

    On a plane they are discs around what is seen from above. Rods and cables that other bodies hang on are left out,
    and so is what stands still. What cannot be covered of a model is said in one line, and a point stands for a vehicle
    of which nothing can.
    """
    return _cover(vehicle, config_of(vehicle))


@lru_cache(maxsize=16)
def _cover(vehicle: Vehicle, config: VehicleConfig) -> Cover:
    """config: another one when the files of a vehicle have changed. Those of the project are kept in the cache."""
    try:
        if source_of(type(vehicle)) or config.solids:
            return _of_arrays(_fitted(vehicle))
        name = _name(vehicle, config)
        return _of_arrays(cached_arrays("covers", name, lambda: _fitted(vehicle)))
    except InputError as error:
        _log.warning("holonomy: plans take %s for a point: %s", vehicle.name, error)
        return Cover()


def _name(vehicle: Vehicle, config: VehicleConfig) -> str:
    """By all that what is drawn of a vehicle depends on."""
    looks = [config, *config.looks.values()]
    said = (vehicle.name, sorted(vehicle.values.items()), vehicle.links, [look.model for look in looks])
    digest = hashlib.sha256(repr(said).encode())
    files = [Path(inspect.getfile(type(vehicle))), *(model_file(look.name) for look in looks)]
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"")
    return f"{vehicle.name}-{_DIGEST}-{digest.hexdigest()[:32]}"


def _of_arrays(arrays: Arrays) -> Cover:
    if not len(arrays["balls"]):
        return Cover()
    balls = tuple((x, y, z, r) for x, y, z, r in arrays["balls"].tolist())
    return Cover(balls, tuple(arrays["bodies"].tolist()), tuple(arrays["around"].tolist()))


def _fitted(vehicle: Vehicle) -> Arrays:
    """The fields of a cover. Raises InputError, one line, for a model that cannot be read."""
    solids = covered_solids(vehicle)
    balls: list[Ball] = []
    bodies: list[str] = []
    for body, triangles in solids.items():
        found = fitted_balls(
            triangles, most=_MOST if len(solids) == 1 or jointed(vehicle) or planar(vehicle) else 1
        )
        balls += found
        bodies += [body] * len(found)
    several = own_space(vehicle) or len(solids) > 1
    if len(solids) == 1:
        ((around,),) = (fitted_balls(triangles, most=1) for triangles in solids.values())
    else:
        reach_m = max((float(np.linalg.norm(each, axis=2).max()) for each in solids.values()), default=0.0)
        around = 0.0, 0.0, 0.0, reach_m
    return {
        "balls": np.array(balls).reshape(-1, 4),
        "bodies": np.array(bodies if several else [], str),
        "around": np.array(around),
    }


def covered_solids(vehicle: Vehicle) -> dict[str, np.ndarray]:
    """Body -> (m, 3, 3) triangles [m] in its frame that the balls of a plan are to cover: of what moves and is no rod.

    Raises InputError, one line, for a model that cannot be read.
    """
    drawn = drawn_solids(vehicle)
    if drawn.endless:
        _log.warning(
            "holonomy: plans of %s leave out parts of its model that move without bounds: %s",
            vehicle.name,
            ", ".join(drawn.endless),
        )
    if jointed(vehicle):
        solids = {body: found for body, found in drawn.of.items() if body in body_names(vehicle)}
    elif own_space(vehicle):
        solids = {body: found for body, found in drawn.of.items() if body in _bodies(vehicle)}
    elif planar(vehicle):
        solids = {body: found * (1.0, 1.0, 0.0) for body, found in drawn.of.items()}
    else:
        solids = dict(islice(drawn.of.items(), 1))
    thick = {body: found for body, found in solids.items() if not _slender(found)}
    return thick or solids


def _bodies(vehicle: Vehicle) -> set[str]:
    """Those that move with the state, and are no target."""
    assert isinstance(vehicle, ActionVehicle)
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    poses = vehicle.bodies(node, vehicle.symbols(p))
    return {body for body, T in poses.items() if ca.depends_on(T, node) and body != vehicle.leader}


def _slender(triangles: np.ndarray) -> bool:
    points = triangles.reshape(-1, 3)
    extents = np.sort(np.linalg.svd(points - points.mean(axis=0), compute_uv=False))
    return bool(extents[1] < _SLENDER * extents[2])


def fitted_balls(triangles: np.ndarray, *, most: int = _MOST) -> tuple[Ball, ...]:
    """Few balls of which one holds each small piece of triangles (m, 3, 3): balls are convex, so that none sticks out.

    Each further one has to save room; discs around what is flat are to keep close to its sides, too: a boat has to come
    alongside.
    """
    points = triangles.reshape(-1, 3)
    extent = points.max(axis=0) - points.min(axis=0)
    flat, size_m = bool(extent[2] == 0.0), _FINE * float(extent.max())
    points, cells = _in_cells(_in_pieces(triangles, size_m), size_m)
    best = _around(points, cells, np.zeros(cells.max() + 1, int))
    for count in range(2, most + 1):
        if flat and _beyond_m(best, points) < _CLOSE * 0.5 * float(extent[:2].min()):
            break
        more = _clustered(points, cells, count, 8 if flat else 3)
        if flat and _beyond_m(more, points) > _WORTH * _beyond_m(best, points):
            break
        if not flat and (more[:, 3] ** 3).sum() > _WORTH * (best[:, 3] ** 3).sum():
            break
        best = more
    return tuple((round(x, 3), round(y, 3), round(z, 3), round(r, 3)) for x, y, z, r in best.tolist())


def _beyond_m(discs: np.ndarray, points: np.ndarray) -> float:
    """How far discs (k, 4) reach beyond points (n, 3) to either side of what is longer than wide."""
    across = int(np.ptp(points[:, :2], axis=0).argmin())
    high, low = discs[:, across] + discs[:, 3], discs[:, across] - discs[:, 3]
    own = points[:, across]
    return float(max(high.max() - own.max(), own.min() - low.min()))


def _in_pieces(triangles: np.ndarray, longest_m: float) -> np.ndarray:
    """The same triangles, halved along their longest edges until none is longer."""
    done = []
    while len(triangles):
        edges = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
        small = edges.max(axis=1) <= longest_m
        done.append(triangles[small])
        triangles, edges = triangles[~small], edges[~small]
        first = edges.argmax(axis=1)[:, None] + np.arange(3)
        a, b, c = np.take_along_axis(triangles, (first % 3)[:, :, None], axis=1).transpose(1, 0, 2)
        middle = 0.5 * (a + b)
        triangles = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)


def _in_cells(pieces: np.ndarray, size_m: float) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) corners of pieces, to the grain, and the cell (n,) of a grid that their pieces' middles lie in.

    What shares a cell shares a ball.
    """
    middles, corners = pieces.mean(axis=1), np.round(pieces / _GRAIN_M).astype(int).reshape(-1, 3)
    at = ((middles - middles.min(axis=0)) / size_m).astype(int)
    _, cell = np.unique(at @ (1, 1 << 8, 1 << 16), return_inverse=True)
    owner, places = np.repeat(cell.reshape(-1), 3), corners
    order = np.lexsort((*places.T[::-1], owner))  # in half the time of `unique`, of whatever size
    owner, places = owner[order], places[order]
    new = np.r_[True, (owner[1:] != owner[:-1]) | (places[1:] != places[:-1]).any(axis=1)]
    return places[new] * _GRAIN_M, owner[new]


def _around(points: np.ndarray, cells: np.ndarray, of: np.ndarray) -> np.ndarray:
    """(balls, 4) around points, by the ball (cells,) that each cell has."""
    own = of[cells]
    return np.array([_smallest_ball(points[own == k]) for k in np.unique(of)])


def _clustered(points: np.ndarray, cells: np.ndarray, count: int, solid: int) -> np.ndarray:
    """(count or fewer, 4) balls of little room: cells go by turns to the ball that they are deepest in.

    They begin as slices across each axis, of equal thickness and of equal content.
    """
    weight = np.bincount(cells)
    middles = np.column_stack([np.bincount(cells, points[:, k]) / weight for k in range(3)])
    best, least = np.zeros(len(middles), int), np.inf
    for along in middles.T:
        shares = np.linspace(0.0, 1.0, count + 1)[1:-1]
        for edges in (along.min() + shares * np.ptp(along), np.quantile(along, shares)):
            of = np.searchsorted(edges, along)
            for _ in range(_ROUNDS):
                balls = np.array([_smallest_ball(middles[of == k]) for k in np.unique(of)])
                room = float((balls[:, 3] ** solid).sum())
                if room >= least:
                    break
                best, least = of, room
                depth = np.linalg.norm(middles[:, None] - balls[:, :3], axis=2) - balls[:, 3]
                of = depth.argmin(axis=1)
    return _around(points, cells, best)


def _smallest_ball(points: np.ndarray) -> np.ndarray:
    """(4,) centre and radius of about the smallest ball around points (n, 3), rounded outwards."""
    centre = 0.5 * (points.max(axis=0) + points.min(axis=0))
    outer = (
        points
        if len(points) < len(_DIRECTIONS)
        else points[np.unique((_DIRECTIONS @ points.T).argmax(axis=1))]
    )
    _draw_to_farthest(np.ascontiguousarray(outer, float), centre)
    centre = np.round(centre / _GRAIN_M) * _GRAIN_M
    reach = np.linalg.norm(points - centre, axis=1).max() + _GRAIN_M  # corners are rounded by less
    return np.array([*centre, np.ceil(reach / _GRAIN_M) * _GRAIN_M])


@native
def _draw_to_farthest(points: np.ndarray, centre: np.ndarray) -> None:
    """Move a centre (3,) towards the farthest of points (n, 3), again and again, each time by less."""
    step = 0.5
    for _ in range(100):
        far, most = 0, -1.0
        for i in range(points.shape[0]):
            x, y, z = points[i, 0] - centre[0], points[i, 1] - centre[1], points[i, 2] - centre[2]
            square = x * x + y * y + z * z
            if square > most:
                far, most = i, square
        for k in range(3):
            centre[k] += step * (points[far, k] - centre[k])
        step *= 0.94


_DIRECTIONS = directions(128)
