"""What a crash leaves: parts of the model and chips as boxes that fly, hit the ground and come to rest, and dust.

Every piece sets out with the velocity that its place had, and with a share of the impulse that broke it off: all that
is seen follows from the last motion, the ground and a seed, so that it can be shown again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from render.frame import Surface, View
from render.vehicles.struck import EARTH, FOAM, Dust
from sim.groups.numeric import rotation_exp
from sim.models.solids import ModelAsset
from sim.vehicle_config.model import Model, moved

Height = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""z [m] of what a piece comes to lie on, at places x and y (n,) [m]."""
HULL = ""
"""The piece that all nodes are of which do not come off."""
STEP_S, LASTS_S = 1.0 / 120.0, 6.0
CHIPS = 16
_GRAVITY = 9.81
_BOUNCE, _FRICTION, _SLACKENS = 0.25, 0.7, 0.97
"""Of what hits the ground; and what is left of its turning, a step, while it touches."""
_REBOUND = 0.15
"""Of the hull, from what it has struck."""
_STILL_MPS = 0.25
_NEAR_M = 0.3
"""About a place, from whose heights the ground's slope there is told."""
_SPIN_LEFT = 0.3
"""Of a rotor's turning when its blades come off."""
_PUFFS = 30
_TIPS = 0.4
"""How much of its speed over its size the hull turns over with, as what is held back below."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a model, as the box that is drawn of it at rest, in the body's frame."""

    nodes: tuple[str, ...]
    """None for the hull, which is all the rest."""
    middle_b: np.ndarray
    half_m: np.ndarray
    spin_b: np.ndarray
    """(3,) rad/s against the body: of rotors."""


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
    return (
        _piece((), places[np.isin(owner, rest)], model),
        *(_piece(group, places[np.isin(owner, group)], model) for group in off),
    )


def hull_body(model: Model, asset: ModelAsset) -> str:
    """The body that most of the model is drawn with; "" for the main one, which may be no more than a place beneath, as
    a bicycle's on the ground."""
    body_of = {node: part.body for part in model.parts for node in part.nodes}
    bodies = [body_of.get(asset.nodes[k], "") for k in asset.vertices[:, 8].astype(int)]
    return max(sorted(set(bodies)), key=bodies.count)


def _piece(nodes: tuple[str, ...], places_b: np.ndarray, model: Model) -> Piece:
    low, high = places_b.min(axis=0), places_b.max(axis=0)
    middle, spin = 0.5 * (low + high), np.zeros(3)
    for rotor in model.rotors if nodes else ():
        T_bd = moved(rotor.moves, {}, None, np.eye(4), False)
        if np.linalg.norm(T_bd[:3, 3] - middle) < 0.3 * rotor.radius_m:
            spin = rotor.spin_radps * T_bd[:3, 2]
    return Piece(nodes, middle, np.maximum(0.5 * (high - low), 0.02), spin)


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
    """Pieces and chips from the blow on, simulated as far as they are asked for."""

    def __init__(self, blow: Blow, pieces: Sequence[Piece], height: Height) -> None:
        self.blow, self._pieces, self._height = blow, tuple(pieces), height
        rng = np.random.default_rng(_SEED)
        hull = pieces[0]
        size_m = float(np.linalg.norm(hull.half_m))
        R, origin = blow.T_wb[:3, :3], blow.T_wb[:3, 3]
        chips_b = hull.middle_b + rng.uniform(-0.8, 0.8, (CHIPS, 3)) * hull.half_m
        middles = np.vstack([[piece.middle_b for piece in pieces], chips_b])
        chip = size_m * rng.uniform(0.02, 0.07, (CHIPS, 1)) * [1.0, 0.22, 0.22]
        self.chip_half_m = chip
        self._half = np.vstack([[piece.half_m for piece in pieces], chip])
        self._inertia = (self._half**2).sum(axis=1) * 2.0 / 9.0
        self._x = origin + middles @ R.T
        self._R = np.broadcast_to(R, (len(middles), 3, 3)).copy()
        count, loose = len(middles), np.ones(len(middles))
        loose[0] = 0.0
        speed = float(np.linalg.norm(blow.impulse_w)) + 0.5
        turn_w, velocity_w = R @ blow.twist_b[:3], R @ blow.twist_b[3:]
        outward = (middles - hull.middle_b) @ R.T
        outward /= np.maximum(np.linalg.norm(outward, axis=1), 1e-6)[:, None]
        part = np.where(loose[:, None] > 0.0, rng.uniform(0.3, 1.3, (count, 1)), 1.0)
        self._v = velocity_w + np.cross(turn_w, self._x - origin) + part * blow.impulse_w
        thrown = 0.30 * outward + rng.normal(0.0, 0.16, (count, 3)) + [0.0, 0.0, 0.12]
        self._v += loose[:, None] * speed * thrown
        spins = np.vstack([[piece.spin_b for piece in pieces], np.zeros((CHIPS, 3))]) @ R.T
        tumble = rng.normal(0.0, 0.35, (count, 3)) * speed / np.linalg.norm(self._half, axis=1)[:, None]
        self._w = turn_w + _SPIN_LEFT * spins + loose[:, None] * np.clip(tumble, -25.0, 25.0)
        tips_w = np.cross([0.0, 0.0, 1.0], velocity_w) + rng.normal(0.0, 0.5 * speed, 3) * [1.0, 1.0, 0.4]
        self._w[0] += np.clip(_TIPS * tips_w / size_m, -4.0, 4.0)
        self._corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], float)
        self._rest_R, self._rest_x = self._R.copy(), self._x.copy()
        self._kept: list[tuple[np.ndarray, np.ndarray]] = [(self._x.copy(), self._R.copy())]
        place = origin + R @ hull.middle_b
        place[2] = float(height(place[:1], place[1:2])[0])
        self._dust = Dust.of(rng, place, size_m, speed, velocity_w, _PUFFS)

    @property
    def chips(self) -> int:
        """How many there are."""
        return len(self.chip_half_m)

    def _at(self, age_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Middles (n, 3) and attitudes (n, 3, 3) so long after the blow."""
        wanted = round(min(max(age_s, 0.0), LASTS_S) / STEP_S)
        while len(self._kept) <= wanted:
            self._step()
            self._kept.append((self._x.copy(), self._R.copy()))
        return self._kept[wanted]

    def moved(self, age_s: float) -> Mapping[str, np.ndarray]:
        """By node, and for all others under HULL, (4, 4) from where it was at the blow to where it is, in the world."""
        x, R = self._at(age_s)
        D = np.tile(np.eye(4), (len(self._pieces), 1, 1))
        count = len(self._pieces)
        D[:, :3, :3] = R[:count] @ self._rest_R[:count].transpose(0, 2, 1)
        D[:, :3, 3] = x[:count] - np.einsum("nij,nj->ni", D[:, :3, :3], self._rest_x[:count])
        found = {HULL: D[0]}
        for piece, matrix in zip(self._pieces[1:], D[1:], strict=True):
            found |= dict.fromkeys(piece.nodes, matrix)
        return found

    def chip_poses(self, age_s: float) -> np.ndarray:
        """(chips, 4, 4), long along x."""
        x, R = self._at(age_s)
        T = np.tile(np.eye(4), (self.chips, 1, 1))
        T[:, :3, :3], T[:, :3, 3] = R[-self.chips :], x[-self.chips :]
        return T

    def dust(self, age_s: float, view: View) -> Surface | None:
        """What was thrown up, facing the eye; None once it has settled."""
        return self._dust.surface(age_s, view, FOAM if self.blow.wet else EARTH)

    def _step(self) -> None:
        self._v[:, 2] -= _GRAVITY * STEP_S
        self._x += STEP_S * self._v
        self._R = rotation_exp(STEP_S * self._w) @ self._R
        for _ in range(2):
            self._touch()

    def _touch(self) -> None:
        """The deepest corner of each piece meets the ground."""
        arms = np.einsum("nij,kj,nj->nki", self._R, self._corners, self._half)
        places = self._x[:, None] + arms
        depth = self._height(places[..., 0].ravel(), places[..., 1].ravel()).reshape(places.shape[:2])
        depth = depth - places[..., 2]
        deepest = depth.argmax(axis=1)
        rows = np.arange(len(deepest))
        deep, arm = depth[rows, deepest], arms[rows, deepest]
        touching = deep > 0.0
        if not touching.any():
            return
        normal = self._normals(places[rows, deepest])
        velocity = self._v + np.cross(self._w, arm)
        against = (velocity * normal).sum(axis=1)
        closing = np.minimum(against, 0.0) * touching
        lever = np.cross(arm, normal)
        push = -(1.0 + _BOUNCE * (closing < -1.0)) * closing
        push /= 1.0 + (lever**2).sum(axis=1) / self._inertia
        along = velocity - against[:, None] * normal
        slide = np.linalg.norm(along, axis=1)
        rub = np.minimum(_FRICTION * push, 0.5 * slide * touching)
        impulse = push[:, None] * normal - (rub / np.maximum(slide, 1e-9))[:, None] * along
        self._v += impulse
        self._w += np.cross(arm, impulse) / self._inertia[:, None]
        self._w[touching] *= _SLACKENS
        slow = touching & (np.linalg.norm(self._v, axis=1) < _STILL_MPS)
        self._v[slow] *= 0.8
        self._w[slow] *= 0.8
        self._x += (0.5 * np.where(touching, deep * normal[:, 2], 0.0))[:, None] * normal

    def _normals(self, places: np.ndarray) -> np.ndarray:
        """(n, 3) of the ground at places (n, 3): out of a wall it leads sideways, not up it."""
        x, y = places[:, 0], places[:, 1]
        ahead, aside = np.array([_NEAR_M, 0.0]), np.array([0.0, _NEAR_M])
        rise = [self._height(x + dx, y + dy) - self._height(x - dx, y - dy) for dx, dy in (ahead, aside)]
        normals = np.column_stack([-rise[0], -rise[1], np.full(len(x), 2.0 * _NEAR_M)])
        return normals / np.linalg.norm(normals, axis=1)[:, None]
