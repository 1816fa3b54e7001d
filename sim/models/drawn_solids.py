"""The solids that are drawn of a vehicle: triangles in the frames of its bodies, wherever its parts can move to.

Ropes and cables are left out, which are drawn between bodies, and so are flames and what stands still about the point
at which something is held.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import casadi as ca
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from sim.models.asset import box_asset, cart_asset, has_model, load_model, on_wheels
from sim.models.solids import FINISHES, ModelAsset, capsules_of
from sim.multibody.shapes import ROPE, STAND
from sim.platform.values import dataclass
from sim.vehicle_config import Move, Part, Rotor, Term, VehicleConfig, config_of, named_values
from sim.vehicle_config.model import moved
from sim.vehicle_config.terms import constant
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.form import TREES, Form
from sim.vehicles.forms.observation import layout_of

_TURN_RAD = math.radians(15.0)
"""Between the places that are looked at of a part that turns."""
_FULL_TURN = 24
"""Places of what turns all the way round."""
_PLACES = 5
"""Of a part that is shifted or scaled, between its ends."""
_FAR = 1e9
"""What a number without bounds may come to: terms that stay within reach there are limited."""
_FLAME = FINISHES.index("flame")


@dataclass(frozen=True)
class _Range:
    """What a term may come to."""

    low: float
    high: float

    def values(self, turns: bool) -> list[float]:
        """Those that are looked at; `turns`: an angle, of which a full turn is enough."""
        if turns and self.high - self.low >= math.tau - _TURN_RAD:
            return list(_TURN_RAD * np.arange(_FULL_TURN))
        if self.high - self.low < 1e-12:
            return [self.low]
        count = math.ceil((self.high - self.low) / _TURN_RAD) + 1 if turns else _PLACES
        return list(np.linspace(self.low, self.high, max(count, 3)))


@dataclass(frozen=True, eq=False)
class DrawnSolids:
    """What is drawn of a vehicle."""

    of: dict[str, np.ndarray]
    """Body -> (m, 3, 3) triangles [m] in its frame, the main body first; bodies without any are left out."""
    endless: tuple[str, ...]
    """Nodes that move without bounds, which are left out."""


def drawn_solids(vehicle: Vehicle) -> DrawnSolids:
    """What is drawn of a vehicle with its parameters. Raises InputError, one line, for a model that cannot be read."""
    bodies = tuple(layout_of(vehicle).bodies)
    config = config_of(vehicle)
    found: dict[str, list[np.ndarray]] = {body: [] for body in bodies}
    endless: list[str] = []
    dressed = [(body, look) for body in bodies if (look := config.look_of(body)) is not None]
    for body, look in dressed:
        found[body] += _of_model(VEHICLES[look.name](), look, {}, endless).get("", [])
    for body in bodies:
        capsules = capsules_of([link for link in vehicle.links if link.finish != ROPE], body)
        found[body] += [] if capsules is None else [_triangles(capsules)]
    if has_model(config.name) or not (vehicle.links or dressed):
        for body, parts in _of_model(vehicle, config, found, endless).items():
            found[body or bodies[0]] += parts
    solids = {body: np.concatenate(parts) for body, parts in found.items() if parts}
    if vehicle.form not in TREES and vehicle.form is not Form.GROUP_ACTION:
        solids = _on_main(vehicle, solids, bodies[0])
    return DrawnSolids(solids, tuple(endless))


def _upright(vehicle: Vehicle) -> set[str]:
    """Bodies that turn about the vertical alone, whatever the shape."""
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    up = {
        body: ca.densify(T[2, :3])
        for body, T in vehicle.bodies(node, vehicle.symbols(p)).items()
        if not ca.depends_on(T[2, :3], ca.vertcat(node, p))
    }
    return {body for body, row in up.items() if np.allclose(np.array(ca.evalf(row)), (0.0, 0.0, 1.0))}


def _on_main(vehicle: Vehicle, solids: Mapping[str, np.ndarray], main: str) -> dict[str, np.ndarray]:
    """Those of bodies that lean or roll in the frame of the main one, about which the shape moves them; what turns
    about the vertical alone stays what it is."""
    shape, layout = vehicle.shape_coordinates, vehicle.node_layout
    found = [solids[main]] if main in solids else []
    upright = _upright(vehicle)
    own = {body: solids[body] for body in solids if body != main and body in upright}
    if others := [body for body in solids if body != main and body not in upright]:
        ranges = [_Range(max(r.low, -math.pi), min(r.high, math.pi)).values(r.unit == "rad") for r in shape]
        nodes = np.tile(vehicle.default_state().node, (math.prod(map(len, ranges)), 1))
        nodes[:, layout.shape] = list(product(*ranges))
        node, p = ca.SX.sym("node", layout.size), ca.SX.sym("p", vehicle.parameter_count)
        T = vehicle.bodies(node, vehicle.symbols(p))
        about = ca.Function("about", [node, p], [ca.vec(ca.inv(T[main]) @ T[body]) for body in others])
        for body, columns in zip(others, about(nodes.T, vehicle.parameter_vector), strict=True):
            poses = np.unique(np.round(np.array(columns).T, 9), axis=0).reshape(-1, 4, 4).transpose(0, 2, 1)
            points = solids[body].reshape(-1, 3)
            points = points[np.unique((_DIRECTIONS @ points.T).argmax(axis=1))]
            at_all = points @ poses[:, :3, :3].transpose(0, 2, 1) + poses[:, None, :3, 3]
            middle = at_all.reshape(-1, 3).mean(axis=0)
            found.append(_hull(middle + _OUTWARDS * (at_all.reshape(-1, 3) - middle)))
    return ({main: np.concatenate(found)} if found else {}) | own


def directions(count: int) -> np.ndarray:
    """(count, 3) unit vectors spread evenly."""
    k = np.arange(count) + 0.5
    up, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    flat = np.sqrt(1.0 - up * up)
    return np.column_stack([flat * np.cos(turn), flat * np.sin(turn), up])


_DIRECTIONS, _OUTWARDS = directions(512), 1.02
"""Of a body that the shape moves the points are kept that are farthest in these, and put out by what others may reach
beyond them."""


def _of_model(
    vehicle: Vehicle, config: VehicleConfig, bodies: Mapping[str, object], endless: list[str]
) -> dict[str, list[np.ndarray]]:
    """Body, empty for the main one -> its triangles in a vehicle's model, or in what stands in for it.

    Nodes that move without bounds are added to `endless`.
    """
    asset, model = _asset(config.name, config), config.model
    moving = {node: part for part in model.parts for node in part.nodes}
    found: dict[str, list[np.ndarray]] = {}
    for number, node in enumerate(asset.nodes):
        triangles, part = _triangles(asset, number), moving.get(node, Part((node,)))
        if not len(triangles) or part.body == STAND or (part.body and part.body not in bodies):
            continue
        pivot = np.zeros(3) if part.body else asset.pivots[number]
        swept = _swept(vehicle, part.moves, triangles)
        if swept is None:
            endless.append(node)
        else:
            found.setdefault(part.body, []).append(swept + pivot)
    for rotor in model.rotors:
        swept = _swept(vehicle, rotor.moves, _disc(rotor))
        if swept is None:
            endless.append("a rotor")
        else:
            found.setdefault("", []).append(swept)
    return found


def _asset(name: str, config: VehicleConfig) -> ModelAsset:
    if has_model(name):
        return load_model(name)
    return cart_asset() if on_wheels(name) else box_asset(config.model.box_half_m)


def _triangles(asset: ModelAsset, node: int | None = None) -> np.ndarray:
    """(m, 3, 3) of a node about its pivot, or of a model of one node, without its flames."""
    faces = np.concatenate([asset.opaque, asset.glass]).astype(np.int64)
    corner = asset.vertices[faces[:, 0]]
    kept = asset.materials[corner[:, 7].astype(int), 2, 3] != _FLAME
    if node is not None:
        kept &= corner[:, 8] == node
    found: np.ndarray = asset.vertices[faces[kept], :3].astype(float)
    return found


def _disc(rotor: Rotor) -> np.ndarray:
    """(m, 3, 3) the cone that a rotor's blades pass over, about its hub."""
    angles = np.arange(0.0, math.tau + 1e-9, _TURN_RAD)
    reach = rotor.radius_m / math.cos(0.5 * _TURN_RAD)
    flat, up = reach * math.cos(rotor.coning_rad), rotor.radius_m * math.sin(rotor.coning_rad)
    rim = np.column_stack([flat * np.cos(angles), flat * np.sin(angles), np.full(len(angles), up)])
    return np.stack([np.zeros((len(angles) - 1, 3)), rim[:-1], rim[1:]], axis=1)


def _swept(vehicle: Vehicle, moves: Sequence[Move], triangles: np.ndarray) -> np.ndarray | None:
    """(n, 3, 3) around all places that the moves bring them to; each sweep is filled up to its convex hull.

    None where there is no end to them.
    """
    for move in reversed([move for move in moves if not move.wreck_only]):
        if move.kind == "upright":
            triangles = _ball(float(np.linalg.norm(triangles, axis=2).max()))
            continue
        chosen = _choices(vehicle, move)
        if not chosen:
            return None
        poses = np.stack([moved((one,), {}, None, np.eye(4), False) for one in chosen])
        if len(chosen) == 1:
            triangles = triangles @ poses[0, :3, :3].T + poses[0, :3, 3]
            continue
        points = triangles.reshape(-1, 3)
        if move.kind in ("turn", "steer"):
            axis = "xyz".index(move.axis or "z")
            if len(chosen) == _FULL_TURN:
                points = _outline(points, axis)
            points = points * np.where(np.arange(3) == axis, 1.0, 1.0 / math.cos(0.5 * _TURN_RAD))
        at_all = points @ poses[:, :3, :3].transpose(0, 2, 1) + poses[:, None, :3, 3]
        triangles = _hull(at_all.reshape(-1, 3))
    return triangles


def _outline(points: np.ndarray, axis: int) -> np.ndarray:
    """(m, 3) of points (n, 3), in one half plane about an axis, that have the same hull once they have turned round."""
    up, out = points[:, axis], np.linalg.norm(np.delete(points, axis, axis=1), axis=1)
    flat = np.column_stack([np.concatenate([out, -out]), np.concatenate([up, up])])
    try:
        flat = flat[ConvexHull(flat).vertices]
    except QhullError:  # a flat disc
        flat = flat[[np.argmax(flat[:, 0])]]
    kept = np.zeros((len(flat), 3))
    kept[:, axis], kept[:, (axis + 1) % 3] = flat[:, 1], flat[:, 0]
    return kept[flat[:, 0] >= 0.0]


def _hull(points: np.ndarray) -> np.ndarray:
    """(m, 3, 3) triangles of the convex hull of points (n, 3)."""
    try:
        return points[ConvexHull(points).simplices]
    except QhullError:  # all of them lie in a plane
        return points[ConvexHull(points, qhull_options="QJ").simplices]


def _choices(vehicle: Vehicle, move: Move) -> list[Move]:
    """A move at all that is looked at of its numbers; equal ones go together. None where one has no bounds."""
    terms = tuple(dict.fromkeys(move.terms))
    values = []
    for term in terms:
        reach, turns = _range(vehicle, term), move.kind == "turn"
        if not turns and max(abs(reach.low), abs(reach.high)) > 1e-3 * _FAR:
            return []
        values.append(reach.values(turns))
    return [
        Move(move.kind, tuple(constant(numbers[terms.index(term)]) for term in move.terms), move.axis)
        for numbers in product(*values)
    ]


def _range(vehicle: Vehicle, term: Term) -> _Range:
    """Over all that the controls, the shape and what is observed may come to."""
    known = named_values(vehicle, parameters=vehicle.values)
    bounds = {c.name: (c.low, c.high) for c in vehicle.controls}
    bounds |= {r.name: (r.low, r.high) for r in vehicle.shape_coordinates}
    free = [name for name in dict.fromkeys((*term.of, *term.over)) if name not in known or name in bounds]
    corners = []
    for name in free:
        low, high = bounds.get(name, (-math.inf, math.inf))
        low, high = max(low, -_FAR), min(high, _FAR)
        corners.append((low, 0.0, high) if low < 0.0 < high else (low, high))
    values = [
        term.value({**known, **dict(zip(free, corner, strict=True))}, time_s)
        for corner in product(*corners)
        for time_s in (
            (None,) if term.spin_radps is None else (0.0, (math.tau - 1e-9) / abs(term.spin_radps or 1.0))
        )
    ]
    kept = [value for value in values if math.isfinite(value)] or [0.0]
    return _Range(min(kept), max(kept))


def _ball(radius_m: float) -> np.ndarray:
    """(8, 3, 3) an octahedron around a ball about the origin."""
    reach = math.sqrt(3.0) * radius_m * np.eye(3)
    return np.array(
        [(a * reach[0], b * reach[1], c * reach[2]) for a, b, c in product((1.0, -1.0), repeat=3)]
    )
