"""What flies up where bodies strike each other, the ground or water: dust, chips, sparks and rings on the water.

All of it follows from the blow, its number as a seed and the time since, so that it stands still with the clock.
"""

import math
from collections.abc import Iterable

import numpy as np

from render.frame import Splash, Surface, View
from sim.contact.obstacles.blows import GROUND, WATER, Blow
from sim.platform.values import dataclass
from sim.world.path import Stream

EARTH, FOAM = (1.45, 1.08, 0.74), (2.1, 2.2, 2.3)
"""Linear radiance of what is thrown up, in the sun."""
_SPARK = (7.0, 2.6, 0.5)
_CHIP = {"wood": (0.62, 0.42, 0.20), "stone": (0.42, 0.30, 0.24)}
_SIDES, _SETTLES_S = 12, 3.2
_GRAVITY = np.array([0.0, 0.0, -9.81])
_CHIPS_FLY_S, _SPARKS_FLY_S, _RINGS_RUN_S = 1.1, 0.45, 9.0
_PUFFS, _CHIPS, _SPARKS = 12, 8, 14
"""Of one blow at most."""
_SEEN = 0.02
"""Of its distance, which a cloud has to be wide to be told from the ground."""
_DUSTY_MPS, _CHIPPING_MPS, _SPARKING_MPS = 0.8, 2.5, 2.5
_HARD = ("stone", "metal", GROUND)


@dataclass(frozen=True, slots=True)
class Dust:
    """Puffs that fly out over the ground, slow down, grow and thin out."""

    place_w: np.ndarray
    velocity_w: np.ndarray
    """(n, 3) m/s at first."""
    born_s: np.ndarray
    size_m: np.ndarray

    @staticmethod
    def of(
        rng: np.random.Generator,
        place_w: np.ndarray,
        size_m: float,
        speed_mps: float,
        velocity_w: np.ndarray,
        puffs: int,
    ) -> "Dust":
        """Thrown up at a place (3,) by what is of that size and moved so."""
        angle, born = rng.uniform(0.0, 2.0 * np.pi, puffs), rng.uniform(0.0, 0.35, puffs)
        out = np.column_stack([np.cos(angle), np.sin(angle), rng.uniform(0.15, 0.8, puffs)])
        v = (0.8 + 0.35 * min(speed_mps, 15.0)) * rng.uniform(0.3, 1.0, (puffs, 1)) * out
        v[:, :2] += 0.35 * velocity_w[:2]
        start = place_w + 0.5 * size_m * rng.uniform(-1.0, 1.0, (puffs, 3)) * [1.0, 1.0, 0.0]
        return Dust(start, v, born, size_m * rng.uniform(0.10, 0.22, puffs))

    def surface(
        self,
        age_s: float,
        view: View,
        colour: tuple[float, float, float],
        *,
        settles_s: float = _SETTLES_S,
        alpha: float = 0.42,
    ) -> Surface | None:
        """What hangs in the air so long after, facing the eye; None once it has settled."""
        age = age_s - self.born_s
        seen = (age > 0.0) & (age < settles_s)
        if not seen.any():
            return None
        age = age[seen]
        drag_s = 0.7
        radius = self.size_m[seen] * (1.0 + 3.2 * np.sqrt(age))
        middle = self.place_w[seen] + drag_s * (1.0 - np.exp(-age / drag_s))[:, None] * self.velocity_w[seen]
        middle[:, 2] += 0.7 * radius
        thin = alpha * np.minimum(age / 0.08, 1.0) * (1.0 - age / settles_s) ** 1.5
        order = np.argsort(-np.linalg.norm(middle - view.eye_w, axis=1))
        right, up = view.view[0, :3], view.view[1, :3]
        turn = np.linspace(0.0, 2.0 * math.pi, _SIDES + 1)
        rim = np.cos(turn)[:, None] * right + np.sin(turn)[:, None] * up
        corners = np.zeros((len(order), _SIDES, 3, 3))
        corners[:, :, 0] = middle[order][:, None]
        corners[:, :, 1] = middle[order][:, None] + radius[order][:, None, None] * rim[:-1]
        corners[:, :, 2] = middle[order][:, None] + radius[order][:, None, None] * rim[1:]
        shade = np.zeros((len(order), _SIDES, 3))
        shade[:, :, 0] = thin[order][:, None]
        facing = np.tile(view.view[2, :3], (corners.size // 3, 1))
        return Surface(corners.reshape(-1, 3), facing, colour, shade.ravel())


def thrown_up(blows: Iterable[Blow], time_s: float, view: View) -> tuple[Surface, ...]:
    """Dust off the ground, foam off the water, chips and sparks off bodies at a simulated moment, the dust last."""
    chips: dict[tuple[float, float, float], list[np.ndarray]] = {}
    sparks: list[np.ndarray] = []
    dust: list[Surface] = []
    for blow in blows:
        age_s = time_s - blow.time_s
        if not 0.0 <= age_s < _SETTLES_S:
            continue
        rng = np.random.default_rng(blow.number)
        slip = np.array(blow.slip_w)
        slide_mps = float(np.linalg.norm(slip))
        speed_mps = max(blow.struck_mps, 0.5 * slide_mps)
        if blow.on in (GROUND, WATER) and speed_mps > _DUSTY_MPS:
            dust += _cloud(blow, rng, age_s, speed_mps, slip, view)
        if age_s < _CHIPS_FLY_S and blow.of in _CHIP and blow.on != WATER and blow.struck_mps > _CHIPPING_MPS:
            chips.setdefault(_CHIP[blow.of], []).append(_chips(blow, rng, age_s))
        if age_s < _SPARKS_FLY_S and blow.of == "metal" and blow.on in _HARD and slide_mps > _SPARKING_MPS:
            sparks.append(_sparks(blow, rng, age_s, slip, view))
    solid = [_flat(np.concatenate(each), colour, view) for colour, each in chips.items()]
    return (*solid, *((_flat(np.concatenate(sparks), _SPARK, view),) if sparks else ()), *dust)


def splashes_of(blows: Iterable[Blow], time_s: float, stream: Stream) -> tuple[Splash, ...]:
    """Rings where bodies have fallen into water, and where that has gone since."""
    return tuple(
        Splash.carried(blow.place_w, time_s - blow.time_s, blow.struck_mps, stream)
        for blow in blows
        if blow.on == WATER and 0.0 <= time_s - blow.time_s < _RINGS_RUN_S
    )


def _cloud(
    blow: Blow, rng: np.random.Generator, age_s: float, speed_mps: float, slip: np.ndarray, view: View
) -> list[Surface]:
    puffs, size_m, place_w = (
        min(2 + round(2.0 * speed_mps), _PUFFS),
        1.5 * blow.size_m,
        np.array(blow.place_w),
    )
    if size_m < _SEEN * np.linalg.norm(place_w - view.eye_w):
        return []
    thrown = Dust.of(rng, place_w, size_m, 0.6 * speed_mps, 0.6 * slip, puffs)
    wet = blow.on == WATER
    found = thrown.surface(
        age_s, view, FOAM if wet else EARTH, settles_s=1.1 if wet else 1.8, alpha=0.5 if wet else 0.16
    )
    return [] if found is None else [found]


def _chips(blow: Blow, rng: np.random.Generator, age_s: float) -> np.ndarray:
    """(n, 3, 3) corners of splinters that tumble."""
    n = min(round(1.2 * blow.struck_mps), _CHIPS)
    velocity = rng.normal((0.0, 0.0, 0.3 * blow.struck_mps), 0.35 * blow.struck_mps, (n, 3))
    middle = np.array(blow.place_w) + velocity * age_s + 0.5 * _GRAVITY * age_s**2
    middle[:, 2] = np.maximum(middle[:, 2], blow.place_w[2] - 0.5 * blow.size_m)
    axis = rng.normal(0.0, 1.0, (n, 2, 3))
    axis /= np.linalg.norm(axis, axis=2)[..., None]
    angle = (rng.uniform(4.0, 15.0, n) * min(age_s, 0.7))[:, None]
    along = np.cos(angle) * axis[:, 0] + np.sin(angle) * axis[:, 1]
    across = np.cross(along, axis[:, 1])
    size = blow.size_m * rng.uniform(0.03, 0.09, (n, 1)) * min((_CHIPS_FLY_S - age_s) / 0.3, 1.0)
    return np.stack([middle + size * along, middle + 0.4 * size * across, middle - size * along], axis=1)


def _sparks(blow: Blow, rng: np.random.Generator, age_s: float, slip: np.ndarray, view: View) -> np.ndarray:
    """(n, 3, 3) corners of streaks along their ways, as broad as they look to the eye."""
    speed = float(np.linalg.norm(slip))
    n = min(round(2.0 * speed), _SPARKS)
    velocity = 0.8 * slip + rng.normal((0.0, 0.0, 0.25 * speed), 0.25 * speed, (n, 3))
    gone = rng.uniform(0.3, 1.0, (n, 1)) * _SPARKS_FLY_S
    now = velocity + _GRAVITY * age_s
    head = np.array(blow.place_w) + velocity * age_s + 0.5 * _GRAVITY * age_s**2
    head[:, 2] = np.maximum(head[:, 2], blow.place_w[2])
    side = np.cross(now, head - view.eye_w)
    side *= 0.008 / np.maximum(np.linalg.norm(side, axis=1), 1e-9)[:, None] * (age_s < gone)
    return np.stack([head + side, head - side, head - 0.03 * now], axis=1)


def _flat(corners: np.ndarray, colour: tuple[float, float, float], view: View) -> Surface:
    facing = np.tile(view.view[2, :3], (corners.size // 3, 1))
    return Surface(corners.reshape(-1, 3), facing, colour, 1.0)
