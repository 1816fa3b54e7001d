"""What a crash leaves: parts of the model and chips as bodies among others, and dust.

Every piece sets out with the velocity that its place had, and with a share of the impulse that broke it off: all that
is seen follows from the last motion, what is about and a seed, so that it can be shown again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from render.frame import Surface, View
from render.vehicles.struck import EARTH, FOAM, Dust
from sim.models.solids import ModelAsset
from sim.platform.values import dataclass
from sim.shapes import Box, ConvexMesh, Shape
from sim.vehicle_config.model import Model, moved
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed

HULL = ""
"""The piece that all nodes are of which do not come off."""
CHIPS = 16
_SHEET_KGPM2 = 8.0
"""Of what is drawn: sheet, which a piece is made of."""
_BOUNCE, _FRICTION = 0.25, 0.7
_CRUMPLED = 0.25
"""Of half its thickness: the arm at which what it bears holds back its rolling."""
_DARK = (0.05, 0.05, 0.05)
_REBOUND = 0.15
"""Of the hull, from what it has struck."""
_THIN_M = 0.02
_WAYS = np.array([*np.eye(3), *-np.eye(3), *product((-1.0, 1.0), repeat=3)])
"""Few enough that a hull has as many sides as a shape may."""
_SPIN_LEFT = 0.3
"""Of a rotor's turning when its blades come off."""
_PUFFS = 30
_TIPS = 0.4
"""How much of its speed over its size the hull turns over with, as what is held back below."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a model, by what is drawn of it at rest, in the body's frame."""

    nodes: tuple[str, ...]
    """None for the hull, which is all the rest."""
    middle_b: np.ndarray
    half_m: np.ndarray
    spin_b: np.ndarray
    """(3,) rad/s against the body: of rotors."""
    shape_b: Shape
    """By which it is met."""
    mass_kg: float


def pieces_of(
    model: Model, asset: ModelAsset, placed: Mapping[str, np.ndarray] = MappingProxyType({})
) -> tuple[Piece, ...]:
    """The hull without who is thrown off it, then what comes off. placed: (4, 4) poses of nodes in the hull's frame;
    others rest in it."""
    places = asset.vertices[:, :3] + asset.pivots[asset.vertices[:, 8].astype(int)]
    owner = np.array(asset.nodes)[asset.vertices[:, 8].astype(int)]
    for node, T in placed.items():
        places[owner == node] = asset.vertices[owner == node, :3] @ T[:3, :3].T + T[:3, 3]
    off = [tuple(node for node in group if node in asset.nodes) for group in model.comes_off]
    off = [group for group in off if group]
    gone = {node for group in off for node in group} | set(() if model.rider is None else model.rider.nodes)
    rest = [node for node in asset.nodes if node not in gone]
    triangles = np.concatenate([asset.opaque, asset.glass])

    def piece(named: tuple[str, ...], nodes: Sequence[str]) -> Piece:
        corners = places[triangles[np.isin(owner[triangles[:, 0]], nodes)]]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        mass_kg = _SHEET_KGPM2 * 0.5 * float(np.linalg.norm(across, axis=1).sum())
        return _piece(named, places[np.isin(owner, nodes)], mass_kg, model)

    return piece((), rest), *(piece(group, group) for group in off)


def hull_body(model: Model, asset: ModelAsset) -> str:
    """The body that most of the model is drawn with; "" for the main one, which may be no more than a place beneath, as
    a bicycle's on the ground."""
    body_of = {node: part.body for part in model.parts for node in part.nodes}
    bodies = [body_of.get(asset.nodes[k], "") for k in asset.vertices[:, 8].astype(int)]
    return max(sorted(set(bodies)), key=bodies.count)


def _piece(nodes: tuple[str, ...], places_b: np.ndarray, mass_kg: float, model: Model) -> Piece:
    low, high = places_b.min(axis=0), places_b.max(axis=0)
    middle, spin = 0.5 * (low + high), np.zeros(3)
    for rotor in model.rotors if nodes else ():
        T_bd = moved(rotor.moves, {}, None, np.eye(4), False)
        if np.linalg.norm(T_bd[:3, 3] - middle) < 0.3 * rotor.radius_m:
            spin = rotor.spin_radps * T_bd[:3, 2]
    half = np.maximum(0.5 * (high - low), _THIN_M)
    return Piece(nodes, middle, half, spin, _shape_about(places_b, middle, half), mass_kg)


def _shape_about(places_b: np.ndarray, middle: np.ndarray, half: np.ndarray) -> Shape:
    """The hull of the farthest of places (n, 3) along the axes and between them, as large as that of all; a box about
    what is flat."""
    from scipy.spatial import ConvexHull  # takes a while, and few things break

    own = (places_b - middle) / half
    farthest = places_b[np.unique((own @ _WAYS.T).argmax(axis=0))]
    if np.ptp(own @ _WAYS.T, axis=0).min() < 1.0 or len(farthest) < 4:
        return _box(middle, half)
    found = ConvexMesh(tuple((x, y, z) for x, y, z in farthest.tolist()))
    return found.scaled(float(np.cbrt(ConvexHull(places_b).volume / found.solid().volume_m3)))


@dataclass(frozen=True, slots=True)
class Blow:
    """The last motion of what has crashed."""

    T_wb: np.ndarray
    """(4, 4) where it broke."""
    twist_b: np.ndarray
    """(6,) before."""
    impulse_w: np.ndarray
    """(3,) m/s, what the blow took from its velocity, or gave to it."""
    wet: bool
    """It struck water."""


def blow_of(T_wb: np.ndarray, before_b: np.ndarray, after_b: np.ndarray, *, wet: bool) -> Blow:
    """From the twists before and after, of which the second may have been taken while it was struck.

    The blow came from where the velocity was changed to, or, where that says nothing, from below or ahead.
    """
    R = T_wb[:3, :3]
    changed, velocity = R @ (after_b[3:] - before_b[3:]), R @ before_b[3:]
    speed = float(np.linalg.norm(velocity))
    if np.linalg.norm(changed) < 0.1 * speed:
        down = np.array([0.0, 0.0, min(velocity[2], 0.0)])
        changed = -down if abs(down[2]) > 0.3 * speed else -velocity
    towards = changed / max(float(np.linalg.norm(changed)), 1e-9)
    size = max(float(np.linalg.norm(changed)), -(1.0 + _REBOUND) * float(velocity @ towards))
    return Blow(T_wb, before_b, size * towards, wet)


_SEED = 1
"""Of how it is strewn."""


class Wreckage:
    """Pieces and chips as they set out, as bodies that all others meet."""

    def __init__(self, blow: Blow, pieces: Sequence[Piece], world: World) -> None:
        self.blow, self._pieces = blow, tuple(pieces)
        rng = np.random.default_rng(_SEED)
        hull = pieces[0]
        size_m = float(np.linalg.norm(hull.half_m))
        R, origin = blow.T_wb[:3, :3], blow.T_wb[:3, 3]
        chips_b = hull.middle_b + rng.uniform(-0.8, 0.8, (CHIPS, 3)) * hull.half_m
        self.chip_half_m = size_m * rng.uniform(0.02, 0.07, (CHIPS, 1)) * [1.0, 0.22, 0.22]
        half = np.vstack([[piece.half_m for piece in pieces], self.chip_half_m])
        shapes_b: list[Shape] = [piece.shape_b for piece in pieces]
        shapes_b += [_box(middle, own) for middle, own in zip(chips_b, self.chip_half_m, strict=True)]
        rest_b = np.array([shape.solid().T_w for shape in shapes_b])
        places = origin + rest_b[:, :3, 3] @ R.T
        count, loose = len(places), np.ones(len(places))
        loose[0] = 0.0
        speed = float(np.linalg.norm(blow.impulse_w)) + 0.5
        turn_w, velocity_w = R @ blow.twist_b[:3], R @ blow.twist_b[3:]
        outward = (rest_b[:, :3, 3] - hull.middle_b) @ R.T
        outward /= np.maximum(np.linalg.norm(outward, axis=1), 1e-6)[:, None]
        part = np.where(loose[:, None] > 0.0, rng.uniform(0.3, 1.3, (count, 1)), 1.0)
        v = velocity_w + np.cross(turn_w, places - origin) + part * blow.impulse_w
        thrown = 0.30 * outward + rng.normal(0.0, 0.16, (count, 3)) + [0.0, 0.0, 0.12]
        v += loose[:, None] * speed * thrown
        spins = np.vstack([[piece.spin_b for piece in pieces], np.zeros((CHIPS, 3))]) @ R.T
        tumble = rng.normal(0.0, 0.35, (count, 3)) * speed / np.linalg.norm(half, axis=1)[:, None]
        w = turn_w + _SPIN_LEFT * spins + loose[:, None] * np.clip(tumble, -25.0, 25.0)
        tips_w = np.cross([0.0, 0.0, 1.0], velocity_w) + rng.normal(0.0, 0.5 * speed, 3) * [1.0, 1.0, 0.4]
        w[0] += np.clip(_TIPS * tips_w / size_m, -4.0, 4.0)
        self._rest_w = blow.T_wb @ rest_b
        self._shapes_b, self._motion_w = shapes_b, np.hstack([w, v])
        x, y, z = 2.0 * self.chip_half_m.T
        self._mass_kg = [*(piece.mass_kg for piece in pieces), *_SHEET_KGPM2 * 2.0 * (x * y + y * z + z * x)]
        place = origin + R @ hull.middle_b
        place[2] = float(world.surface_m(place[0], place[1]))
        self._dust = Dust.of(rng, place, size_m, speed, velocity_w, _PUFFS)

    @property
    def count(self) -> int:
        """Of pieces and chips."""
        return len(self._rest_w)

    @property
    def chips(self) -> int:
        """How many there are."""
        return len(self.chip_half_m)

    def placed(self) -> "tuple[Placed, ...]":
        """Pieces, then chips, as they set out."""
        each = zip(self._shapes_b, self._mass_kg, self._rest_w, self._motion_w, strict=True)
        return tuple(_placed(*one) for one in each)

    def moved(self, moves_w: np.ndarray) -> Mapping[str, np.ndarray]:
        """By node, and for all others under HULL, one of moves_w.

        moves_w (n, 4, 4): of each as `placed`, from where it was at the blow to where it is, in the world.
        """
        found = {HULL: moves_w[0]}
        for piece, matrix in zip(self._pieces[1:], moves_w[1:], strict=False):
            found |= dict.fromkeys(piece.nodes, matrix)
        return found

    def chip_poses(self, moves_w: np.ndarray) -> np.ndarray:
        """(chips, 4, 4), long along x, by moves as `moved` takes them."""
        return moves_w[-self.chips :] @ self._rest_w[-self.chips :]

    def dust(self, age_s: float, view: View) -> Surface | None:
        """What was thrown up, facing the eye; None once it has settled."""
        return self._dust.surface(age_s, view, FOAM if self.blow.wet else EARTH)


def _placed(shape_b: Shape, mass_kg: float, T_w: np.ndarray, motion_w: np.ndarray) -> "Placed":
    from sim.contact.bodies import Prop  # its kernels are loaded where bodies touch
    from sim.contact.obstacles.prop_kinds import Placed

    rolling_m = _CRUMPLED * shape_b.half_thickness_m
    wx, wy, wz, vx, vy, vz = motion_w.tolist()
    there = Placed(Prop(shape_b, mass_kg, _FRICTION, _BOUNCE, rolling_m), _DARK, material="metal").at(T_w)
    prop = replace(there.prop, velocity_w=(vx, vy, vz), omega_w=(wx, wy, wz), piece=True)
    return replace(there, prop=prop)


def _box(middle: np.ndarray, half: np.ndarray) -> Box:
    (x, y, z), (a, b, c) = middle.tolist(), half.tolist()
    return Box((x, y, z), (a, b, c))
