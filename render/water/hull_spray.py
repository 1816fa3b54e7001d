"""Spray that a hull throws up where it runs into water, and the water that comes on its deck.

At each moment stations along its sides tell how fast they close with the water: by how the water climbs up the flare,
and by how the bow cleaves it. A jet leaves where that is fast, outwards and upwards along the side (H. Wagner, "Über
Stoß- und Gleitvorgänge an der Oberfläche von Flüssigkeiten", 1932: faster than the blow itself). Its drops take on the
wind by drag, the small ones soon, the large ones hardly. They fall into the sea, which hides them, or on deck, which
they wet; so does a wave that stands higher than the rail.

All of it follows from the hull's way, the sea and random numbers of each moment: a replay shows the same."""

import math
from dataclasses import fields, replace

import moderngl
import numpy as np

from render.frame import MOMENT_S, MOMENTS_KEPT, DrawnSea, DrawnVehicle, Film, HullWay
from render.passes.targets import PassContext
from render.programs import SAMPLER_UNITS, Programs, Resources
from render.water.crest_spray import MomentFields, Thrown, crest_puffs
from render.water.deck_film import ACROSS, ALONG, DeckFilm, DeckPlan
from render.water.sea_fields import SeaFields
from sim.platform.values import dataclass
from sim.vehicle_config.config import HullMesh
from sim.water.ocean import SeaState

MOST_LIFE_S = 1.5
_LEAST_LIFE_S = 0.35
_STATIONS = 10
_FROM, _TO = 0.42, 0.97
"""Where along the hull, 0..1 from the stern, jets leave."""
LEAST_MPS, _FULL_MPS = 1.2, 4.0
"""Closing speeds below which no jet leaves, and at which as many drops leave as are shown."""
_JET, _MOST_JET_MPS = 2.6, 10.0
"""How much faster than the blow a jet is, and how fast at most."""
_MIST_LAG_S, _DROP_LAG_S = (0.08, 0.30), (0.5, 1.6)
"""In which the finest and the coarsest take on the air's velocity: of mist, and of drops."""
_MIST = 0.3
"""Share of them that is mist."""
_FINGERS, _FINGER_RAD = 11, 0.09
"""In how many jets the sheet of a moment breaks up, and how far their drops go apart."""
_TAKEN_ALONG = 0.85
"""Share of the hull's velocity that jets have besides."""
_BURST = 7.0
"""How many times as many as fly evenly may leave in a moment: slams are short."""
_GRAVITY_MPS2 = 9.81
_BLUFF, _FLATTEST = 0.35, 0.9
"""Which share of the climb of the water a wall meets, as its pile-up, and which one the flattest flare."""
_TOUCHES_M = 0.03
"""So far over what is highest there a drop strikes the hull: on deck if it has risen over the rail."""
_LOOKED_BACK = 50
"""Moments that are gone through where the way is new: what was shipped before has dried."""
_LOOKS = np.linspace(0.08, 1.0, 10)
"""At which shares of its life it is looked whether a drop has come on deck."""


@dataclass(frozen=True, slots=True, eq=False)
class _Closing:
    """Of stations on both sides at one moment."""

    place_b: np.ndarray
    """(n, 3) m where water and side meet, body frame."""
    out_b: np.ndarray
    """(n, 3) unit vectors out of the side, level in the body frame."""
    speed_mps: np.ndarray
    """(n,) at which side and water close; 0 out of the water."""

    @property
    def hard(self) -> np.ndarray:
        """(n,) 0..1 of a blow that throws up all that is shown."""
        return np.minimum(np.maximum(self.speed_mps - LEAST_MPS, 0.0) / (_FULL_MPS - LEAST_MPS), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    """What there is when a hull has come so far along its way."""

    above_m: np.ndarray
    """(3, lines) height of the water over the body's plane z = 0, along its up: on the right, amid, on the left."""
    thrown: Thrown | None
    """Since the moment before."""
    cell: np.ndarray
    """(n,) where in the plan each drop comes on deck at the end of its life, or -1."""
    film: DeckFilm


class HullSpray:
    """Of one hull, at one moment after the other."""

    def __init__(self, fields: MomentFields | None = None) -> None:
        """`fields`: shared with others that look at the sea."""
        self._fields = fields or MomentFields()
        self._of: tuple[object, object, HullMesh] | None = None
        """Whose way, in which waves, and its surface."""
        self._plan: DeckPlan | None = None
        self._moments: dict[int, _Moment] = {}
        """By number, one after the other."""
        self._flying: tuple[int, Thrown | None] = (0, None)
        """All that may still fly at a moment."""

    def follow(self, state: SeaState, time_s: float, way: HullWay, surface: HullMesh, most: int) -> None:
        """Go on, or back, to a time along a hull's way; about `most` drops fly at most."""
        last = min(math.floor(time_s / MOMENT_S), way.first + len(way.poses) - 1)
        of, drawn = self._of, state.waves[3]
        if of is None or of[2] is not surface:
            self._plan = DeckPlan.of(surface)
        if of is None or of[0] != way.of or of[1] is not drawn or of[2] is not surface:
            self._of, self._moments = (way.of, drawn, surface), {}
        self._moments = {k: each for k, each in self._moments.items() if last - MOMENTS_KEPT < k <= last}
        known = max(self._moments, default=last)
        if not self._moments or known < way.first - 1:
            self._moments, known = {}, max(way.first, last - _LOOKED_BACK) - 1
        for moment in range(known + 1, last + 1):
            self._moments[moment] = self._gone_on(state, moment, way, most)
        thrown = [
            each.thrown
            for k, each in self._moments.items()
            if each.thrown is not None and last - k < MOST_LIFE_S / MOMENT_S + 1
        ]
        if self._flying[0] != last or (self._flying[1] is None) != (not thrown):
            self._flying = last, _together(thrown) if thrown else None

    def puffs(self, time_s: float) -> tuple[np.ndarray, np.ndarray]:
        """(n, 4) float32 where mist flies at a time, and its age as a share of its life; and the same of drops."""
        flying = self._flying[1]
        if flying is None:
            return np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32)
        points = flying.puffs(time_s).astype(np.float32)
        drops = np.ravel(flying.lag_s)[flying.lasts(time_s)] >= _DROP_LAG_S[0]
        begun = points[:, 3] >= 0.0
        return points[begun & ~drops], points[begun & drops]

    def film(self, time_s: float) -> DeckFilm | None:
        """On deck at a time, a moment late: between two that are known; None before any is."""
        if not self._moments:
            return None
        last = max(self._moments)
        after = self._moments[last].film
        before = self._moments[last - 1].film if last - 1 in self._moments else after
        return before.towards(after, min(max(time_s / MOMENT_S - last, 0.0), 1.0))

    def _gone_on(self, state: SeaState, moment: int, way: HullWay, most: int) -> _Moment:
        plan, before = self._plan, self._moments.get(moment - 1)
        assert plan is not None
        pose = way.poses[moment - way.first]
        above_m = _above_m(plan, pose, self._fields.at(state, moment), state.level_m)
        if before is None or moment == way.first:
            return _Moment(above_m, None, np.zeros(0, int), DeckFilm.dry(plan))
        velocity_w = (pose[:3, 3] - way.poses[moment - 1 - way.first][:3, 3]) / MOMENT_S
        closing = _closing(plan, pose, velocity_w, above_m, (above_m - before.above_m) / MOMENT_S)
        thrown, cell = _throw(plan, state, moment, pose, velocity_w, closing, most)
        sides = closing.place_b, closing.hard
        drops = self._landed(plan, moment) * (1000.0 / most)
        return _Moment(above_m, thrown, cell, before.film.stepped(pose[:3, :3], above_m, drops, sides))

    def _landed(self, plan: DeckPlan, moment: int) -> np.ndarray:
        """How many drops have come on deck since the moment before, by place in the plan."""
        counts = np.zeros(plan.tops_m.size)
        for k in range(moment - math.ceil(MOST_LIFE_S / MOMENT_S) - 1, moment):
            each = self._moments.get(k)
            if each is None or each.thrown is None:
                continue
            ends = (each.thrown.born_s + each.thrown.life_s) / MOMENT_S
            here = (each.cell >= 0) & (ends > moment - 1) & (ends <= moment)
            counts += np.bincount(each.cell[here], minlength=counts.size)
        return counts.reshape(plan.tops_m.shape)


def _together(thrown: list[Thrown]) -> Thrown:
    """Each drop with its own air and lag."""
    return Thrown(*(np.concatenate([getattr(each, f.name) for each in thrown]) for f in fields(Thrown)))


def _above_m(plan: DeckPlan, pose: np.ndarray, waves: SeaFields, level_m: float) -> np.ndarray:
    """(3, lines), as a moment has it."""
    at_w = pose[:3, 3] + plan.lines_b.reshape(-1, 3) @ pose[:3, :3].T
    heights = level_m + waves.heights_m(at_w[:, :2], searches=2)
    upright = max(float(pose[2, 2]), 0.3)
    return np.asarray(((heights - at_w[:, 2]) / upright).reshape(plan.lines_b.shape[:2]))


def _closing(
    plan: DeckPlan, pose: np.ndarray, velocity_w: np.ndarray, above_m: np.ndarray, climbs_mps: np.ndarray
) -> _Closing:
    ahead_mps = max(float(pose[:3, 0] @ velocity_w), 0.0)
    x = plan.corner_m[0] + np.linspace(_FROM, _TO, _STATIONS) * plan.size_m[0]
    lines = plan.lines_b[0, :, 0]
    z, climb = (
        np.concatenate([np.interp(x, lines, of[row]) for row in (0, 2)]) for of in (above_m, climbs_mps)
    )
    x, side = np.tile(x, 2), np.repeat([-1.0, 1.0], _STATIONS)
    low = plan.keel_at(x) + 0.02
    at = np.minimum(np.maximum(z, low), plan.rail_at(x))
    breadth, fore, flare = plan.side_at(x, at)
    out = np.column_stack([-fore, side, np.zeros(len(x))]) / np.hypot(fore, 1.0)[:, None]
    speed = np.maximum(climb, 0.0) * np.minimum(_BLUFF + np.maximum(flare, 0.0), _FLATTEST)
    speed += ahead_mps * np.maximum(out[:, 0], 0.0)
    return _Closing(np.column_stack([x, side * breadth, at]), out, np.where(z > low, speed, 0.0))


def _brought_down(
    plan: DeckPlan, thrown: Thrown, at_s: float, pose: np.ndarray, velocity_w: np.ndarray
) -> tuple[Thrown, np.ndarray]:
    """The same drops, those that strike the hull only until then; and where in the plan they come on deck, or -1."""
    count = len(thrown.life_s)
    age_s = (_LOOKS[:, None] * thrown.life_s)[..., None]
    hull_w = pose[:3, 3] + (thrown.born_s[:, None] + age_s - at_s) * velocity_w
    at_b = (thrown.places_w(age_s) - hull_w) @ pose[:3, :3]
    where = plan.cell_of(at_b.reshape(-1, 3)).reshape(at_b.shape[:2])
    over_m = at_b[..., 2] - plan.tops_m.ravel()[where]
    risen = np.logical_or.accumulate(at_b[..., 2] > plan.rail_at(at_b[..., 0]), axis=0)
    struck = (where >= 0) & (over_m < _TOUCHES_M)
    struck[0] &= risen[0]  # else it has just left
    first, each = struck.argmax(axis=0), np.arange(count)
    ends = struck.any(axis=0)
    life_s = np.where(ends, age_s[first, each, 0], thrown.life_s)
    return replace(thrown, life_s=life_s), np.where(ends & risen[first, each], where[first, each], -1)


def _throw(
    plan: DeckPlan,
    state: SeaState,
    moment: int,
    pose: np.ndarray,
    velocity_w: np.ndarray,
    closing: _Closing,
    most: int,
) -> tuple[Thrown | None, np.ndarray]:
    hard = closing.hard
    full = _BURST * most * MOMENT_S / (0.5 * (MOST_LIFE_S + _LEAST_LIFE_S))
    count = round(full * min(2.0 * float(hard.mean()), 1.0))
    if not count:
        return None, np.zeros(0, int)
    at_s, rng = moment * MOMENT_S, np.random.default_rng([moment % 2**32, 1])
    chosen = rng.choice(len(hard), count, p=hard / hard.sum())
    R = pose[:3, :3]
    along_b = 0.5 * (_TO - _FROM) / _STATIONS * plan.size_m[0]
    place_b = closing.place_b[chosen] + np.column_stack(
        [along_b * rng.uniform(-1.0, 1.0, count), np.zeros((count, 2))]
    )
    finger = rng.integers(0, _FINGERS, count)
    # A sheet that breaks up into jets: steep at its root, more level to its tip.
    rise = rng.uniform(0.7, 1.3, _FINGERS)[finger] + _FINGER_RAD * rng.standard_normal(count)
    turn = rng.uniform(-0.5, 0.5, _FINGERS)[finger] + _FINGER_RAD * rng.standard_normal(count)
    jet = np.minimum(_JET * closing.speed_mps[chosen], _MOST_JET_MPS)
    jet *= rng.uniform(0.6, 1.0, _FINGERS)[finger] * rng.uniform(0.35, 1.0, count) ** 0.7
    out, up_b = closing.out_b[chosen], np.array([0.0, 0.0, 1.0])
    level = np.cos(turn)[:, None] * out + np.sin(turn)[:, None] * np.cross(up_b, out)
    way_b = np.cos(rise)[:, None] * level + np.sin(rise)[:, None] * up_b
    velocity = (
        _TAKEN_ALONG * velocity_w + (jet[:, None] * way_b) @ R.T + 0.2 * rng.standard_normal((count, 3))
    )
    coarse = np.arange(count) >= _MIST * count
    low, high = np.where(coarse[:, None], _DROP_LAG_S, _MIST_LAG_S).T
    lag_s = (low * (high / low) ** rng.uniform(0.0, 1.0, count))[:, None]
    wind_mps, bearing_rad = state.numbers(at_s)[:2]
    wind_w = 0.8 * wind_mps * np.array([math.cos(bearing_rad), math.sin(bearing_rad), 0.0])
    air_w = wind_w - _GRAVITY_MPS2 * lag_s * up_b
    born_s = at_s - MOMENT_S * rng.uniform(0.0, 1.0, count)
    life_s = rng.uniform(_LEAST_LIFE_S, MOST_LIFE_S, count)
    # Each has left from where the hull was then.
    place_w = pose[:3, 3] + place_b @ R.T - (at_s - born_s)[:, None] * velocity_w
    thrown = Thrown(born_s, place_w, velocity, air_w, life_s, lag_s)
    return _brought_down(plan, thrown, at_s, pose, velocity_w)


_MIST_LOOK, _DROP_LOOK = (0.04, 0.24, 0.17, 5.0), (0.017, 0.004, 0.85, 3.0)
"""As `crest_puffs` has them, of the mist of `_MANY`: where fewer puffs fly, each is larger and holds back more."""
_MANY = 6000


def _mist_look(most: int) -> tuple[float, float, float, float]:
    first_m, last_m, cover, seen_m = _MIST_LOOK
    fewer = max(_MANY / most, 1.0)
    return fewer**0.15 * first_m, fewer**0.15 * last_m, min(fewer**0.5, 2.2) * cover, seen_m


class ShippedWater:
    """Owns the points and the map of the first hull that has a way."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, waves: MomentFields, *, most: int) -> None:
        """`waves`: shared with others that look at the sea. `most`: about so many drops fly at most."""
        self._resources, self._most = Resources(), most
        self._spray = HullSpray(waves)
        looks = _mist_look(most), _DROP_LOOK
        self._flying = [self._resources.own(crest_puffs(ctx, programs, look)) for look in looks]
        self._map = self._resources.own(ctx.texture((ALONG, ACROSS), 2, dtype="f4"))
        self._map.filter = moderngl.LINEAR, moderngl.LINEAR
        self._map.repeat_x = self._map.repeat_y = False
        self._wet: tuple[DrawnVehicle, DeckFilm] | None = None

    def prepare(self, sea: DrawnSea, vehicles: tuple[DrawnVehicle, ...]) -> None:
        """Go on to a frame's moment."""
        self._wet = None
        for each in self._flying:
            each.take_up(np.zeros((0, 4)))
        for vehicle in vehicles:
            hull, way = vehicle.config.hull, vehicle.way
            if way is None or hull is None or hull.surface is None:
                continue
            self._spray.follow(sea.state, sea.time_s, way, hull.surface, self._most)
            for each, points in zip(self._flying, self._spray.puffs(sea.time_s), strict=True):
                each.take_up(points)
            film = self._spray.film(sea.time_s)
            if film is not None:
                self._map.write(film.texels())
                self._wet = vehicle, film
            return

    def about(self, vehicle: DrawnVehicle) -> Film | None:
        """Of the hull whose film was prepared; None of others."""
        if self._wet is None or vehicle is not self._wet[0]:
            return None
        film = self._wet[1]
        plan_from_world = np.linalg.inv(vehicle.T_wb)[:2]
        plan_from_world[:, 3] -= film.plan.corner_m
        run_x, run_y = film.run_m.tolist()
        return plan_from_world, (*film.plan.size_m, run_x, run_y)

    def bind(self) -> None:
        """Keep the map where the models' shaders look for it."""
        self._map.use(SAMPLER_UNITS["film_map"])

    def draw(self, context: PassContext) -> None:
        """Drops, in the blended pass."""
        for each in self._flying:
            each.draw(context)

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()
